//! CMT/RPv2: resource pooling by rates (Dreibholz, Becke, Adhari, Rathgeb: "On the Impact of Congestion Control for
//! Concurrent Multipath Transfer on the Transport Layer", ConTEL 2011; in MPTCP: Lugowski 2017, section 3.3).
//!
//! ```text
//! î_p = x_p / Σ_k x_k,   x = w / rtt                                  (Lugowski, eq. 3.3.1)
//! slow start:            w_p += ⌈î_p · min(b, m_p)⌉   per ACK of b      (3.3.2)
//! congestion avoidance:  w_p += ⌈î_p · m_p⌉           per window acknowledged
//! d̂_p = max(½, ½ Σ_k x_k / x_p)                                       (3.3.3)
//! loss:                  ssthresh_p = max(w_p − ⌈d̂_p · w_p⌉, m_p)       (3.3.4)
//! ```
//!
//! After a fast retransmit the window is the threshold, after a timeout one segment (3.3.5); the transport does that.
//! `pooled_growth.rs` handles fractions of a packet. The least threshold of one segment is from the ConTEL paper; the
//! thesis leaves it out of (3.3.4). Linux's own least threshold is two segments
//! (the switch `two_segment_floor`).
//!
//! The kernel module that was published with the thesis differs from its formulas ([`CmtRpV2Form::KernelModule`]): the
//! buffer that should hold back the growth is one variable for all connections, filled at every ACK, so that it never
//! limits anything. Every path grows as if alone, by one packet per ACK in slow start and per `cwnd + 1` ACKs in
//! congestion avoidance. The decrease is that of (3.3.4), at least one packet. So growth is uncoupled and only the
//! decrease is coupled.
//!
//! Consequence: of two paths with equal rates, the one with a loss falls to a single segment (`d̂ = 1`), because the
//! decrease is computed from the rates of both.

use subflow_quantity::Instant;

use crate::catalogue::{Attribute, Catalogued, Choice, Description};

use super::pooled_growth::{PooledGrowth, floor};
use super::siblings::{sibling, total_rate};
use super::{Ack, CongestionControl, Path, TWO_SEGMENT_FLOOR_DOC};

/// Which CMT/RPv2 is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CmtRpV2Form {
    /// The formulas of the papers: growth and decrease are coupled.
    #[default]
    Formula,
    /// The Linux module that was published with Lugowski 2017: only the decrease is coupled.
    KernelModule,
}

impl CmtRpV2Form {
    const ALL: [Choice<Self>; 2] = [
        Choice::new("formula", Self::Formula, "growth and decrease are coupled")
            .source("Dreibholz et al., ConTEL 2011"),
        Choice::new(
            "kernel-module",
            Self::KernelModule,
            "only the decrease is coupled, as in the published Linux module",
        )
        .source("Lugowski 2017"),
    ];
}

/// Resource pooling by rates.
#[derive(Clone, Debug, Default)]
pub struct CmtRpV2 {
    form: CmtRpV2Form,
    growth: PooledGrowth,
    two_segment_floor: bool,
}

impl CmtRpV2 {
    /// Creates it with a least threshold of one segment, as defined, or of two segments, as in Linux's Reno. The kernel
    /// module has one segment in any case.
    pub fn new(form: CmtRpV2Form, two_segment_floor: bool) -> Self {
        Self { form, growth: PooledGrowth::default(), two_segment_floor }
    }
}

impl Catalogued for CmtRpV2 {
    const DESCRIPTION: Description = Description {
        name: "cmt-rpv2",
        aliases: &[],
        summary: "resource pooling by shares of the rates",
        source: "Dreibholz et al., ConTEL 2011",
    };

    const SWITCHES: &'static [Attribute<Self>] = &[
        Attribute::flag(
            "two_segment_floor",
            TWO_SEGMENT_FLOOR_DOC,
            |own| own.two_segment_floor,
            |own, on| own.two_segment_floor = on,
        ),
        Attribute::name(
            "cmt_rpv2",
            "which CMT/RPv2 it is",
            || Choice::descriptions(&CmtRpV2Form::ALL),
            |own| Choice::name_of(&CmtRpV2Form::ALL, own.form),
            |own, name| own.form = Choice::find(&CmtRpV2Form::ALL, name).unwrap_or(own.form),
        ),
    ];
}

impl CongestionControl for CmtRpV2 {
    fn on_path_added(&mut self, _paths: &[Path], path: usize) {
        self.growth.add_path(path);
    }

    fn on_ack(&mut self, paths: &mut [Path], path: usize, ack: &Ack) {
        match self.form {
            CmtRpV2Form::Formula => self.growth.grow(paths, path, share(paths, path), ack.acked),
            CmtRpV2Form::KernelModule => grow_alone(&mut paths[path]),
        }
    }

    fn ssthresh_after_loss(&mut self, paths: &[Path], path: usize, _now: Instant) -> u32 {
        let decrease = (0.5 / share(paths, path)).max(0.5);
        let path = &paths[path];
        let lost = (decrease * f64::from(path.cwnd)).ceil() as u32;
        let two_segment_floor = self.two_segment_floor && self.form == CmtRpV2Form::Formula;
        path.cwnd.saturating_sub(lost).max(floor(path, two_segment_floor))
    }
}

/// The kernel module's growth: by one packet per ACK in slow start, and per `cwnd + 1` ACKs in congestion avoidance.
fn grow_alone(path: &mut Path) {
    if path.in_slow_start() {
        path.cwnd = path.cwnd.saturating_add(path.quantum);
        return;
    }
    path.credit = path.credit.saturating_add(path.quantum);
    if path.credit > path.cwnd {
        path.credit = 0;
        path.cwnd = path.cwnd.saturating_add(path.quantum);
    }
}

/// î: the path's share of the connection's rate; 1 if the path does not count or its rate is zero.
fn share(paths: &[Path], path: usize) -> f64 {
    sibling(paths, path).map(|own| own.rate() / total_rate(paths, path)).filter(|share| *share > 0.0).unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::super::siblings::tests::path;
    use super::*;

    fn threshold(paths: &[Path], path: usize) -> u32 {
        CmtRpV2::default().ssthresh_after_loss(paths, path, Instant::ZERO)
    }

    #[test]
    fn shares_follow_the_rates() {
        let paths = [path(30, 10), path(20, 20)];
        assert_eq!([share(&paths, 0), share(&paths, 1)], [0.75, 0.25]);
    }

    #[test]
    fn the_kernel_module_grows_each_path_alone_and_falls_to_one_packet() {
        let mut module = CmtRpV2::new(CmtRpV2Form::KernelModule, true);
        let mut paths = [Path { ssthresh: 12, ..path(10, 10) }, path(40, 10)];
        let ack = Ack { now: Instant::ZERO, acked: 2, rtt: None, una: 0, nxt: 0, in_flight: 10 };
        (0..2).for_each(|_| module.on_ack(&mut paths, 0, &ack));
        assert_eq!(paths[0].cwnd, 12, "a packet per ACK, whatever it acknowledges and whatever the share");
        (0..12).for_each(|_| module.on_ack(&mut paths, 0, &ack));
        assert_eq!(paths[0].cwnd, 12, "12 ACKs are not enough");
        module.on_ack(&mut paths, 0, &ack);
        assert_eq!(paths[0].cwnd, 13);
        assert_eq!(module.ssthresh_after_loss(&[path(40, 10), path(40, 10)], 0, Instant::ZERO), 1);
    }

    #[test]
    fn a_lone_path_is_halved() {
        assert_eq!(threshold(&[path(45, 10)], 0), 22);
    }

    #[test]
    fn a_loss_takes_half_of_the_total_rate_from_the_faster_path_and_all_from_the_slower() {
        let paths = [path(60, 10), path(20, 10)];
        assert_eq!(threshold(&paths, 0), 20, "d = 80/60/2 = 2/3");
        assert_eq!(threshold(&paths, 1), 1, "d = 2");
        assert_eq!(threshold(&[path(40, 10), path(40, 10)], 0), 1, "d = 1");
    }
}
