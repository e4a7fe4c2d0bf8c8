//! wVegas: weighted Vegas (Cao, Xu, Fu: "Delay-Based Congestion Control for Multipath TCP", ICNP 2012).
//!
//! Each path keeps `α_i` packets in the queues of its links. The sum of all α is 10 and each α is proportional to the
//! path's rate, so that queueing delay, not loss, shifts traffic to the less congested path. Once per round (all values
//! in packets, rounded down):
//!
//! ```text
//! base = smallest RTT ever seen        avg = mean RTT of the round        diff = w (avg − base) / avg
//!
//! slow start:            diff > γ = 1:  w = min(w, w·base/avg + 1), ssthresh = min(ssthresh, w − 1)
//! congestion avoidance:  diff ≥ α_i:    x_i = w/avg, ω_i = x_i / Σ x, α_i = max(2, 10 ω_i)
//!                        diff > α_i:    w −= 1, ssthresh = min(ssthresh, w − 1)
//!                        diff < α_i:    w += 1
//!                        avg − base ≥ 2 q_i:  w = w·base / (2 avg), reset q_i    (q_i: smallest avg − base seen)
//! ```
//!
//! **As in the MPTCP kernel 0.9x** (`mptcp_wvegas.c`), where the paper does not specify it:
//! * A round with fewer than 3 RTT samples does one step of Reno. During a round slow start grows as in Reno, and
//!   congestion avoidance does not change the window.
//! * Outside the Open state the path uses Reno. When it returns to Open, α is 2 again and `x_i` is unknown.
//! * After each round the window is at least 2 packets and `ssthresh` at least 3/4 of it; so a path whose queue was
//!   drained returns to its former window by slow start.
//! * A sibling counts in Σ x if it is established and has an RTT sample in its current round.
//! * A restart after idle time resets `base`. A loss halves the window, as in Reno.
//!
//! Two differences, each of which an option takes away. That kernel also drains the queue if `avg − base` is exactly 0. On
//! real machines jitter prevents this value; on a simulated path without jitter it would halve the window of a path with
//! an empty queue. Here a window is halved only if there is a queue, unless `drain_at_zero` is on. And that kernel has
//! rates in packets per microsecond and shares of them as multiples of 2⁻¹⁶, rounded down, which `fixed_point_rates`
//! does, too: a rate below 15 packets per second becomes 0, and one of 1000 packets per second is off by up to 1.5 %.

use subflow_quantity::Instant;

use crate::catalogue::{Attribute, Catalogued, Description};

use super::{Ack, CongestionControl, Path, RecoveryState, reno, set_state, slow_start};

/// The initial and the smallest α of a path.
const INITIAL_ALPHA: u32 = 2;
/// The least number of RTT samples with which a round is evaluated.
const MIN_SAMPLES: u32 = 3;
/// Smallest window after a round, in packets.
const MIN_WINDOW: u32 = 2;

/// The constants of wVegas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constants {
    /// `alpha`: the sum of α over all paths of a connection, in packets.
    pub alpha: u32,
    /// `gamma`: slow start ends when more packets than this are queued.
    pub gamma: u32,
}

/// Those of the MPTCP kernel 0.9x.
impl Default for Constants {
    fn default() -> Self {
        Self { alpha: 10, gamma: 1 }
    }
}

/// Details of `mptcp_wvegas.c` that are off by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct KernelDetails {
    drain_at_zero: bool,
    fixed_point_rates: bool,
}

/// One in the kernel's fixed-point numbers (`MPTCP_WVEGAS_SCALE`).
const FIXED_POINT: f64 = 65_536.0;

/// Weighted Vegas.
#[derive(Clone, Debug, Default)]
pub struct WVegas {
    constants: Constants,
    details: KernelDetails,
    paths: Vec<PathState>,
}

/// wVegas's state for one path. Times in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct PathState {
    /// Whether delay controls the window: only in the Open state.
    active: bool,
    /// Smallest RTT seen.
    base: Option<u64>,
    /// Last SND.NXT seen; the round ends when `una` passes `round_end`.
    latest_nxt: u64,
    round_end: u64,
    samples: u32,
    sum: u64,
    /// Rate at the last congestion, in packets per nanosecond, or in 2⁻¹⁶ packets per microsecond if rates are fixed-point
    /// numbers; 0 if unknown.
    rate: f64,
    /// The path's share of the connection's rate.
    weight: f64,
    alpha: u32,
    /// Smallest queueing delay seen.
    queue_delay: Option<u64>,
}

impl PathState {
    /// Creates the state of a path without samples, active from `nxt` on.
    fn new(base: Option<u64>, nxt: u64) -> Self {
        Self {
            active: true,
            base,
            latest_nxt: nxt,
            round_end: nxt,
            samples: 0,
            sum: 0,
            rate: 0.0,
            weight: 1.0,
            alpha: INITIAL_ALPHA,
            queue_delay: None,
        }
    }

    /// Whether the queue should be drained at queueing delay `delay`. Records the smallest delay.
    fn should_drain(&mut self, delay: u64, at_zero: bool) -> bool {
        if delay == 0 {
            return at_zero;
        }
        let smallest = self.queue_delay.map_or(delay, |q| q.min(delay));
        self.queue_delay = Some(smallest);
        delay >= smallest.saturating_mul(2)
    }
}

impl WVegas {
    /// Creates wVegas with these constants.
    pub fn new(constants: Constants) -> Self {
        Self { constants, ..Self::default() }
    }

    /// Ends a round: compares the delay with α and changes the window.
    fn finish_round(&mut self, paths: &mut [Path], index: usize, acked: u32) {
        let state = self.paths[index];
        let average = (state.sum / u64::from(state.samples)).max(1);
        let base = state.base.map_or(average, |base| base.min(average));
        let path = &paths[index];
        let packets = path.cwnd / path.quantum;
        let diff = scale(packets, average - base, average);
        if !path.in_slow_start() {
            self.avoid_congestion(paths, index, Round { packets, diff, average, base });
        } else if diff > self.constants.gamma {
            let target = scale(packets, base, average) + 1;
            set_window(&mut paths[index], packets.min(target));
            lower_threshold(&mut paths[index]);
        } else {
            slow_start(&mut paths[index], acked);
        }
        let path = &mut paths[index];
        path.cwnd = path.cwnd.max(path.quantum.saturating_mul(MIN_WINDOW));
        path.ssthresh = path.ssthresh.max(path.cwnd / 2 + path.cwnd / 4);
    }

    fn avoid_congestion(&mut self, paths: &mut [Path], index: usize, round: Round) {
        if round.diff >= self.paths[index].alpha {
            self.paths[index].rate = self.rate(&round);
            self.paths[index].weight = self.weight(paths, index);
            self.paths[index].alpha =
                INITIAL_ALPHA.max((self.paths[index].weight * f64::from(self.constants.alpha)) as u32);
        }
        let at_zero = self.details.drain_at_zero;
        let (state, path) = (&mut self.paths[index], &mut paths[index]);
        let mut packets = round.packets;
        if round.diff > state.alpha {
            packets -= 1;
            set_window(path, packets);
            lower_threshold(path);
        } else if round.diff < state.alpha {
            packets = packets.saturating_add(1);
            set_window(path, packets);
        }
        if state.should_drain(round.average - round.base, at_zero) {
            set_window(path, scale(packets, round.base, round.average.saturating_mul(2)));
            state.queue_delay = None;
        }
    }

    /// ω: the path's share of the rates of all paths that have samples in their current round.
    fn weight(&self, paths: &[Path], index: usize) -> f64 {
        let group = paths[index].group;
        let counts = |path: &Path| path.established && path.group == group;
        let counted = paths.iter().zip(&self.paths).filter(|(path, state)| counts(path) && state.samples > 0);
        let total: f64 = counted.map(|(_, state)| state.rate).sum();
        let own = self.paths[index];
        if total <= 0.0 || own.rate <= 0.0 {
            return own.weight;
        }
        let weight = own.rate / total;
        if self.details.fixed_point_rates { (weight * FIXED_POINT).floor() / FIXED_POINT } else { weight }
    }

    /// The rate of a round.
    fn rate(&self, round: &Round) -> f64 {
        let packets = f64::from(round.packets);
        match self.details.fixed_point_rates {
            true => (packets * FIXED_POINT / (round.average / 1000).max(1) as f64).floor(),
            false => packets / round.average as f64,
        }
    }
}

/// A finished round: window and `diff` in packets, mean and smallest RTT in nanoseconds.
struct Round {
    packets: u32,
    diff: u32,
    average: u64,
    base: u64,
}

impl Catalogued for WVegas {
    const DESCRIPTION: Description = Description {
        name: "wvegas",
        aliases: &[],
        summary: "weighted Vegas: equal queueing delay on all paths",
        source: "Cao, Xu, Fu, ICNP 2012",
    };

    const OPTIONS: &'static [Attribute<Self>] = &[
        Attribute::integer(
            "alpha",
            "packets that all paths together keep queued",
            [1, 1000],
            |vegas| vegas.constants.alpha.into(),
            |vegas, alpha| vegas.constants.alpha = alpha as u32,
        ),
        Attribute::integer(
            "gamma",
            "queued packets that end slow start",
            [1, 1000],
            |vegas| vegas.constants.gamma.into(),
            |vegas, gamma| vegas.constants.gamma = gamma as u32,
        ),
        Attribute::flag(
            "drain_at_zero",
            "whether a round without queueing delay drains the queue, too, as in the MPTCP kernel 0.9x",
            |vegas| vegas.details.drain_at_zero,
            |vegas, on| vegas.details.drain_at_zero = on,
        ),
        Attribute::flag(
            "fixed_point_rates",
            "whether rates and their shares are rounded as in the MPTCP kernel 0.9x",
            |vegas| vegas.details.fixed_point_rates,
            |vegas, on| vegas.details.fixed_point_rates = on,
        ),
    ];
}

impl CongestionControl for WVegas {
    fn on_path_added(&mut self, _paths: &[Path], path: usize) {
        set_state(&mut self.paths, path, PathState::new(None, 0));
    }

    fn on_sample(&mut self, _paths: &mut [Path], path: usize, ack: &Ack) {
        let state = &mut self.paths[path];
        state.latest_nxt = ack.nxt;
        if let Some(rtt) = ack.rtt {
            let rtt = rtt.as_nanos().max(1);
            state.base = Some(state.base.map_or(rtt, |base| base.min(rtt)));
            state.samples = state.samples.saturating_add(1);
            state.sum = state.sum.saturating_add(rtt);
        }
    }

    fn on_ack(&mut self, paths: &mut [Path], path: usize, ack: &Ack) {
        if !self.paths[path].active {
            return reno::grow(&mut paths[path], ack.acked);
        }
        if ack.una <= self.paths[path].round_end {
            if paths[path].in_slow_start() {
                slow_start(&mut paths[path], ack.acked);
            }
            return;
        }
        if self.paths[path].samples < MIN_SAMPLES {
            reno::grow(&mut paths[path], ack.acked);
        } else {
            self.finish_round(paths, path, ack.acked);
        }
        let state = &mut self.paths[path];
        (state.round_end, state.samples, state.sum) = (ack.nxt, 0, 0);
    }

    fn ssthresh_after_loss(&mut self, paths: &[Path], path: usize, _now: Instant) -> u32 {
        reno::half(&paths[path], 2)
    }

    fn on_state(&mut self, _paths: &[Path], path: usize, state: RecoveryState) {
        let path = &mut self.paths[path];
        match state {
            RecoveryState::Open => *path = PathState::new(path.base, path.latest_nxt),
            RecoveryState::Loss => (path.active, path.rate) = (false, 0.0),
            _ => path.active = false,
        }
    }

    fn on_window_restart(&mut self, _paths: &[Path], path: usize) {
        self.paths[path] = PathState::new(None, self.paths[path].latest_nxt);
    }
}

/// `packets · numerator / denominator`, rounded down.
pub(super) fn scale(packets: u32, numerator: u64, denominator: u64) -> u32 {
    (u128::from(packets) * u128::from(numerator) / u128::from(denominator)) as u32
}

/// Sets the window in packets.
pub(super) fn set_window(path: &mut Path, packets: u32) {
    path.cwnd = packets.saturating_mul(path.quantum);
}

/// Sets the threshold so that the path is not in slow start at its current window.
fn lower_threshold(path: &mut Path) {
    path.ssthresh = path.ssthresh.min(path.cwnd.saturating_sub(path.quantum));
}

#[cfg(test)]
mod tests {
    use subflow_quantity::Duration;

    use super::super::siblings::tests::path;
    use super::*;

    /// wVegas on `paths`, each with a base RTT of 40 ms.
    fn wvegas(paths: &[Path]) -> WVegas {
        let base = Duration::from_millis(40).as_nanos();
        WVegas { paths: vec![PathState::new(Some(base), 0); paths.len()], ..WVegas::default() }
    }

    /// One round of three samples of `rtt_us` on path 0.
    fn round(wvegas: &mut WVegas, paths: &mut [Path], rtt_us: u64) {
        let una = wvegas.paths[0].round_end + 1;
        let rtt = Some(Duration::from_micros(rtt_us));
        let ack = Ack { now: Instant::ZERO, acked: 1, rtt, una, nxt: una + 1, in_flight: 10 };
        for _ in 0..3 {
            wvegas.on_sample(paths, 0, &ack);
        }
        wvegas.on_ack(paths, 0, &ack);
    }

    #[test]
    fn slow_start_ends_when_two_packets_queue() {
        let mut paths = [Path { ssthresh: Path::INFINITE, ..path(40, 40) }];
        let mut wvegas = wvegas(&paths);
        round(&mut wvegas, &mut paths, 41_000);
        assert_eq!(paths[0].cwnd, 41, "diff = 40 · 1/41 = 0");
        round(&mut wvegas, &mut paths, 44_000);
        assert_eq!((paths[0].cwnd, paths[0].ssthresh), (38, 37), "diff = 3; 41 · 40/44 + 1");
    }

    #[test]
    fn the_window_follows_alpha() {
        let mut paths = [path(40, 40)];
        let mut wvegas = wvegas(&paths);
        round(&mut wvegas, &mut paths, 41_000);
        assert_eq!(paths[0].cwnd, 41, "diff 0 < 2");
        wvegas.paths[0].queue_delay = None;
        round(&mut wvegas, &mut paths, 60_000);
        assert_eq!((wvegas.paths[0].alpha, paths[0].cwnd), (10, 40), "a lone path has all ten packets; diff 13 > 10");
    }

    #[test]
    fn its_constants_can_be_chosen() {
        let mut paths = [path(40, 40)];
        let mut wvegas = WVegas { constants: Constants { alpha: 20, gamma: 5 }, ..wvegas(&paths) };
        round(&mut wvegas, &mut paths, 60_000);
        assert_eq!(wvegas.paths[0].alpha, 20);
        let mut paths = [Path { ssthresh: Path::INFINITE, ..path(40, 40) }];
        round(&mut wvegas, &mut paths, 44_000);
        assert_eq!(paths[0].cwnd, 41, "diff 3 is less than 5");
    }

    #[test]
    fn alpha_is_shared_by_rate() {
        let mut paths = [path(30, 40), path(10, 40)];
        let mut wvegas = wvegas(&paths);
        wvegas.paths[1] = PathState { rate: 10.0 / 60e6, samples: 1, ..wvegas.paths[1] };
        round(&mut wvegas, &mut paths, 60_000);
        assert_eq!(wvegas.paths[0].alpha, 7, "30 / (30 + 10) of 10, rounded down");
    }

    #[test]
    fn twice_the_smallest_queueing_delay_drains_the_queue() {
        let mut paths = [path(40, 40)];
        let mut wvegas = wvegas(&paths);
        round(&mut wvegas, &mut paths, 41_000);
        round(&mut wvegas, &mut paths, 42_000);
        assert_eq!(paths[0].cwnd, 20, "42 · 40/84");
        assert_eq!(wvegas.paths[0].queue_delay, None);
    }

    #[test]
    fn only_the_kernels_detail_drains_a_queue_that_is_empty() {
        for (drain_at_zero, expected) in [(false, 41), (true, 20)] {
            let mut paths = [path(40, 40)];
            let mut wvegas =
                WVegas { details: KernelDetails { drain_at_zero, ..KernelDetails::default() }, ..wvegas(&paths) };
            round(&mut wvegas, &mut paths, 40_000);
            assert_eq!(paths[0].cwnd, expected, "41 · 40/80, rounded down");
        }
    }

    #[test]
    fn fixed_point_rates_of_slow_paths_are_rounded_to_nothing() {
        let fixed = KernelDetails { fixed_point_rates: true, ..KernelDetails::default() };
        let wvegas = WVegas { details: fixed, ..wvegas(&[path(40, 40)]) };
        let rate = |packets, micros: u64| wvegas.rate(&Round { packets, diff: 0, average: 1000 * micros, base: 1 });
        assert_eq!([rate(40, 60_000), rate(3, 200_000)], [43.0, 0.0], "40 · 65536 / 60000 = 43.7");
        let (mut paths, mut wvegas) = ([path(30, 40), path(10, 40)], wvegas);
        wvegas.paths = vec![PathState { samples: 1, ..wvegas.paths[0] }; 2];
        (wvegas.paths[0].rate, wvegas.paths[1].rate) = (32.0, 10.0);
        assert_eq!(wvegas.weight(&paths, 0), 49_932.0 / FIXED_POINT, "32 / 42 of 65536, rounded down");
        wvegas.paths[1].rate = 0.0;
        assert_eq!(wvegas.weight(&paths, 1), 1.0, "a path without a rate keeps its weight");
        round(&mut wvegas, &mut paths, 60_000);
        assert_eq!(wvegas.paths[0].alpha, 10, "the other one has no rate");
    }

    #[test]
    fn outside_open_it_is_reno_and_alpha_is_reset() {
        let mut paths = [path(10, 40)];
        let mut wvegas = wvegas(&paths);
        wvegas.paths[0].alpha = 10;
        wvegas.on_state(&paths, 0, RecoveryState::Disorder);
        let ack = Ack { now: Instant::ZERO, acked: 10, rtt: None, una: 5, nxt: 9, in_flight: 10 };
        wvegas.on_ack(&mut paths, 0, &ack);
        assert_eq!(paths[0].cwnd, 11);
        wvegas.on_state(&paths, 0, RecoveryState::Open);
        assert_eq!(wvegas.paths[0].alpha, 2);
    }
}
