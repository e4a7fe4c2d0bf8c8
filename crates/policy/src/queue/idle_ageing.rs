//! RED's average during idle times.

use subflow_quantity::Duration;

use super::{FULL_PACKET, Speed};
use crate::catalogue::Choice;

/// How the average decreases while the queue is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleAgeing {
    /// As in the paper: as if m = idle time / s packets had come to an empty queue, that is avg ← (1 − w_q)^m avg,
    /// where s is the transmission time of `packet` bytes.
    Packets {
        /// The size of that packet.
        packet: u32,
    },
    /// As in the code of FreeBSD's dummynet, which differs from the paper: its table has powers of (1 − w_q) per clock
    /// tick instead of per packet, in 256 steps up to 3 s / w_q, where s is the number of ticks in which the link sends
    /// 512 bytes. An idle time beyond the table sets the average to zero (`config_red` in ip_dummynet.c, `red_drops` in
    /// ip_dn_io.c).
    Dummynet {
        /// Clock ticks per second (`kern.hz`, 1000 by default).
        hz: u32,
    },
}

impl IdleAgeing {
    /// The ways by name.
    pub(super) const ALL: [Choice<Self>; 2] = [
        Choice::new("packets", Self::Packets { packet: FULL_PACKET }, "as if packets of 1500 bytes had passed")
            .source("Floyd, Jacobson, ToN 1993, section 4"),
        Choice::new("dummynet", Self::Dummynet { hz: 1000 }, "one step per millisecond").source("FreeBSD dummynet"),
    ];

    /// Its name, whatever its size of packets or its clock.
    pub(super) const fn name(self) -> &'static str {
        let choice = match self {
            Self::Packets { .. } => &Self::ALL[0],
            Self::Dummynet { .. } => &Self::ALL[1],
        };
        choice.description.name
    }

    /// The factor for the average when a packet comes after the queue was empty for `idle`.
    pub(super) fn factor(self, w_q: f64, idle: Duration, speed: Speed) -> f64 {
        match self {
            Self::Packets { packet } => {
                let s = speed.transmission_time(packet).as_nanos();
                idle.as_nanos().checked_div(s).map_or(0.0, |m| power(1.0 - w_q, m))
            }
            Self::Dummynet { hz } => dummynet_factor(w_q, hz, idle, speed.transmission_time(512)),
        }
    }
}

/// `base` to the power `exponent`, by squaring: the last bit of `powi` may differ between machines.
fn power(base: f64, exponent: u64) -> f64 {
    let (mut result, mut square, mut left) = (1.0, base, exponent);
    while left > 0 {
        if left & 1 == 1 {
            result *= square;
        }
        square *= square;
        left >>= 1;
    }
    result
}

/// The factor from dummynet's table after `idle`; `s` is the transmission time of its "medium" packet.
fn dummynet_factor(w_q: f64, hz: u32, idle: Duration, s: Duration) -> f64 {
    const LOOKUP_DEPTH: u64 = 256;
    let ticks = |span: Duration| span.as_secs_f64() * f64::from(hz);
    let lookup_step = ((ticks(s) * 3.0 / w_q) as u64 / LOOKUP_DEPTH).max(1);
    let t = ticks(idle) as u64 / lookup_step;
    if t < LOOKUP_DEPTH { power(1.0 - w_q, 1 + t * lookup_step) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dummynet_decreases_the_average_by_clock_ticks_and_clears_it_beyond_its_table() {
        // s = 0.512 ticks, 3 s / w_q = 768 ticks, in 256 steps of 3 ticks.
        let factor = |milliseconds| {
            dummynet_factor(0.002, 1000, Duration::from_millis(milliseconds), Duration::from_micros(512))
        };
        assert!((factor(0) - 0.998).abs() < 1e-12);
        assert!((factor(3) - 0.998f64.powf(4.0)).abs() < 1e-12);
        assert!((factor(767) - 0.998f64.powf(766.0)).abs() < 1e-12);
        assert_eq!(factor(768), 0.0);
    }

    #[test]
    fn an_infinitely_fast_link_clears_the_average_at_once() {
        let ageing = IdleAgeing::Packets { packet: 512 };
        assert_eq!(ageing.factor(0.002, Duration::from_nanos(1), Speed::Unlimited), 0.0);
    }
}
