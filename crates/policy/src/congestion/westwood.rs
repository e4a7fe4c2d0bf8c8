//! Westwood+: what is left of the window after a loss is the estimated bandwidth times the smallest RTT.
//!
//! Source: Mascolo et al., "TCP Westwood" (MobiCom 2001); Grieco and Mascolo, "Performance Evaluation and Comparison of
//! Westwood+, New Reno, and Vegas TCP Congestion Control" (ACM CCR 34, 2, 2004), as in Linux 6.12 (`tcp_westwood.c`).
//!
//! Each time that at least an RTT and 50 ms have passed, the rate b at which data was acknowledged since is a sample:
//!
//! ```text
//! b₁ ← (7 b₁ + b) / 8        B ← (7 B + b₁) / 8        ssthresh = max(B · RTT_min, 2 packets)
//! ```
//!
//! | event | rule |
//! |---|---|
//! | growth, first reduction of a recovery | as Reno |
//! | end of a recovery, and after a mark | `cwnd = ssthresh = B · RTT_min` |
//! | timeout | `ssthresh = B · RTT_min`; the next RTT is the smallest one |
//!
//! **Linux's integers.** Times are in ticks of 4 ms (HZ = 250), an RTT is rounded up to whole ticks, and rates are in
//! whole units per tick. So the product is up to a tick of the rate too large: on a path of 41 ms by 3 ms or 7 %.
//!
//! **Differences from Linux.** Linux counts bytes, and reconstructs from duplicate acknowledgments what was delivered.
//! Here it is what the transport reports as delivered, in 1/1024 of a packet, and of bytes where windows are in bytes.

use subflow_quantity::{Duration, Instant};

use crate::catalogue::{Catalogued, Description};

use super::{Ack, CongestionControl, Path, Timeout, reno, set_state};

/// Length of a tick of Linux at HZ = 250.
const TICK: Duration = Duration::from_millis(4);
/// The least ticks between two samples of the bandwidth: more than 50 ms (`TCP_WESTWOOD_RTT_MIN`, HZ / 20).
const LEAST_TICKS: u64 = 12;
/// The RTT before the first sample, 20 s in ticks (`TCP_WESTWOOD_INIT_RTT`).
const INITIAL_RTT: u64 = 5000;
/// Delivered amounts are kept in this part of a unit.
const SCALE: u64 = 1024;

/// Westwood+ for each path independently (uncoupled).
#[derive(Clone, Debug, Default)]
pub struct Westwood {
    paths: Vec<Estimate>,
}

/// The estimates of one path. Times in ticks, rates in 1/1024 units per tick.
#[derive(Clone, Copy, Debug)]
struct Estimate {
    /// Filtered once (`bw_ns_est`), and twice (`bw_est`).
    once: u64,
    bandwidth: u64,
    /// The latest RTT sample, and the smallest one; `None` if the next one is (`reset_rtt_min`).
    rtt: u64,
    rtt_min: Option<u64>,
    /// The current sample: when it began, and what was delivered since.
    begin: u64,
    delivered: u64,
}

impl Estimate {
    const NEW: Self = Self { once: 0, bandwidth: 0, rtt: INITIAL_RTT, rtt_min: None, begin: 0, delivered: 0 };

    fn on_sample(&mut self, ack: &Ack) {
        let now = ack.now.as_nanos() / TICK.as_nanos();
        let passed = now.saturating_sub(self.begin);
        if passed > self.rtt.max(LEAST_TICKS) {
            self.filter(self.delivered / passed);
            (self.begin, self.delivered) = (now, 0);
        }
        self.delivered = self.delivered.saturating_add(u64::from(ack.acked) * SCALE);
        self.rtt_min = Some(self.rtt_min.map_or(self.rtt, |min| min.min(self.rtt)));
        // Linux takes the sample of this acknowledgment after it has counted it.
        if let Some(rtt) = ack.rtt {
            self.rtt = rtt.as_nanos().div_ceil(TICK.as_nanos()).max(1);
        }
    }

    fn filter(&mut self, sample: u64) {
        if self.once == 0 && self.bandwidth == 0 {
            (self.once, self.bandwidth) = (sample, sample);
        } else {
            self.once = (7 * self.once + sample) / 8;
            self.bandwidth = (7 * self.bandwidth + self.once) / 8;
        }
    }

    /// The product of the bandwidth and the smallest RTT in the path's unit, at least two quanta
    /// (`tcp_westwood_bw_rttmin`).
    fn product(&self, path: &Path) -> u32 {
        let product = self.bandwidth.saturating_mul(self.rtt_min.unwrap_or(INITIAL_RTT)) / SCALE;
        let product = u32::try_from(product).unwrap_or(u32::MAX).min(Path::INFINITE);
        product.max(path.quantum.saturating_mul(2))
    }
}

impl Catalogued for Westwood {
    const DESCRIPTION: Description = Description {
        name: "westwood",
        aliases: &["westwood+"],
        summary: "as reno, but a loss leaves the estimated bandwidth times the smallest RTT; uncoupled",
        source: "Grieco, Mascolo, ACM CCR 2004; Linux 6.12",
    };
}

impl CongestionControl for Westwood {
    fn on_path_added(&mut self, _paths: &[Path], path: usize) {
        set_state(&mut self.paths, path, Estimate::NEW);
    }

    fn on_established(&mut self, _paths: &[Path], path: usize, now: Instant) {
        self.paths[path].begin = now.as_nanos() / TICK.as_nanos();
    }

    fn on_sample(&mut self, _paths: &mut [Path], path: usize, ack: &Ack) {
        self.paths[path].on_sample(ack);
    }

    /// That of the first reduction; what counts is set when the recovery ends.
    fn ssthresh_after_loss(&mut self, paths: &[Path], path: usize, _now: Instant) -> u32 {
        reno::half(&paths[path], 2)
    }

    fn leave_recovery(&mut self, paths: &mut [Path], path: usize) {
        let product = self.paths[path].product(&paths[path]);
        (paths[path].cwnd, paths[path].ssthresh) = (product, product);
    }

    fn on_timeout(&mut self, paths: &mut [Path], path: usize, timeout: &Timeout) {
        if !timeout.repeated {
            let product = self.paths[path].product(&paths[path]);
            paths[path].reduce_threshold(product);
            self.paths[path].rtt_min = None;
        }
        paths[path].enter_loss(timeout.in_flight);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Algorithm, Controller, Loss, Rules};
    use super::*;

    fn ms(n: u64) -> Instant {
        Instant::from_nanos(n * 1_000_000)
    }

    /// An acknowledgment of `acked` packets at `at` milliseconds, with an RTT of 40 ms.
    fn ack(at: u64, acked: u32) -> Ack {
        Ack { now: ms(at), acked, rtt: Some(Duration::from_millis(40)), una: 0, nxt: 0, in_flight: 50 }
    }

    /// One packet each millisecond for `millis`.
    fn estimate(millis: u64) -> Estimate {
        let mut estimate = Estimate::NEW;
        (1..=millis).for_each(|at| estimate.on_sample(&ack(at, 1)));
        estimate
    }

    #[test]
    fn a_steady_rate_times_the_smallest_rtt_is_what_the_path_holds() {
        // 4 packets per tick and an RTT of 10 ticks; the first sample begins with an empty pipe.
        let estimate = estimate(3000);
        assert!((4000..=4096).contains(&estimate.bandwidth), "{}", estimate.bandwidth);
        assert_eq!((estimate.rtt_min, estimate.product(&Path::new(1, 10))), (Some(10), 39));
    }

    #[test]
    fn a_sample_changes_the_estimate_by_a_sixty_fourth() {
        let mut estimate = Estimate { once: 4096, bandwidth: 4096, ..Estimate::NEW };
        estimate.filter(8192);
        // (7 · 4096 + 8192) / 8 = 4608 and (7 · 4096 + 4608) / 8 = 4160.
        assert_eq!((estimate.once, estimate.bandwidth), (4608, 4160));
    }

    #[test]
    fn a_sample_takes_more_than_50_ms_and_more_than_an_rtt() {
        let samples = |rtt: u64| {
            let mut estimate = Estimate { rtt: rtt.div_ceil(4), ..Estimate::NEW };
            let rtt = Some(Duration::from_millis(rtt));
            (1..).find(|&tick| {
                estimate.on_sample(&Ack { rtt, ..ack(4 * tick, 4) });
                estimate.bandwidth > 0
            })
        };
        assert_eq!([samples(10), samples(100)], [Some(13), Some(26)]);
    }

    #[test]
    fn an_rtt_is_rounded_up_to_ticks_of_4_ms() {
        let mut estimate = Estimate::NEW;
        for rtt in [41, 41, 40] {
            estimate.on_sample(&Ack { rtt: Some(Duration::from_millis(rtt)), ..ack(0, 1) });
        }
        assert_eq!((estimate.rtt_min, estimate.rtt), (Some(11), 10));
    }

    #[test]
    fn a_recovery_and_a_timeout_leave_the_product_and_not_half_the_window() {
        let mut controller = Controller::new(Algorithm::from(Westwood::default()), Rules::default());
        controller.add_path(1, 60);
        controller.establish(0, false, Instant::ZERO);
        (1..=3000).for_each(|at| controller.on_sample(0, &ack(at, 1)));
        controller.enter_recovery(0, &Loss { now: ms(3000), in_flight: 60, by_timer: false });
        assert_eq!(controller.path(0).ssthresh(), 30, "PRR reduces to half in recovery");
        controller.leave_recovery(0);
        assert_eq!((controller.path(0).cwnd(), controller.path(0).ssthresh()), (39, 39));
        controller.on_timeout(0, &Timeout { now: ms(3000), in_flight: 0, repeated: false });
        assert_eq!((controller.path(0).cwnd(), controller.path(0).ssthresh()), (1, 39));
    }
}
