//! Vegas: the window follows the queueing delay, so that a few packets of each path wait in queues.
//!
//! Source: Brakmo and Peterson, "TCP Vegas: End to End Congestion Avoidance on a Global Internet" (JSAC 1995), as in
//! Linux 6.12 (`tcp_vegas.c`). Once per round trip, in packets rounded down:
//!
//! ```text
//! base = smallest RTT ever seen      min = smallest RTT of the round      diff = w (min − base) / base
//!
//! slow start:            diff > γ = 1:  w = min(w, w · base / min + 1), ssthresh = min(ssthresh, w)
//! congestion avoidance:  diff > β = 4:  w −= 1, ssthresh = min(ssthresh, w)
//!                        diff < α = 2:  w += 1
//! ```
//!
//! **As in Linux:**
//! * A round with fewer than 3 RTT samples does one step of Reno. During a round slow start grows as in Reno, and
//!   congestion avoidance does not change the window.
//! * Outside the Open state the path uses Reno. A loss halves the window, as in Reno.
//! * After each round the window is at least 2 packets and `ssthresh` at least 3/4 of it.
//! * Idle time resets `base`.
//!
//! [wVegas](super::wvegas) divides α among the paths of a connection.

use subflow_quantity::{Duration, Instant};

use crate::catalogue::{Attribute, Catalogued, Conflict, Description};

use super::wvegas::{scale, set_window};
use super::{Ack, CongestionControl, Path, RecoveryState, reno, set_state, slow_start};

/// The least number of RTT samples with which a round is evaluated.
const MIN_SAMPLES: u32 = 3;
/// Smallest window after a round, in packets.
const MIN_WINDOW: u32 = 2;

/// Vegas for each path independently (uncoupled).
#[derive(Clone, Debug)]
pub struct Vegas {
    /// The queued packets below which the window grows, above which it shrinks, and above which slow start ends.
    alpha: u32,
    beta: u32,
    gamma: u32,
    paths: Vec<PathState>,
}

/// Those of Linux.
impl Default for Vegas {
    fn default() -> Self {
        Self { alpha: 2, beta: 4, gamma: 1, paths: Vec::new() }
    }
}

/// The state of one path. Times in nanoseconds.
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
    /// Smallest RTT of the round.
    round_min: Option<u64>,
}

impl PathState {
    /// The state of a path that is active from `nxt` on.
    const fn new(base: Option<u64>, nxt: u64) -> Self {
        Self { active: true, base, latest_nxt: nxt, round_end: nxt, samples: 0, round_min: None }
    }
}

impl Vegas {
    /// Ends a round in which `base` and `min` were the smallest RTTs, ever and of the round.
    fn finish_round(&self, path: &mut Path, acked: u32, base: u64, min: u64) {
        let packets = path.cwnd / path.quantum;
        let diff = scale(packets, min - base, base);
        if path.in_slow_start() {
            if diff > self.gamma {
                set_window(path, packets.min(scale(packets, base, min).saturating_add(1)));
                path.ssthresh = path.ssthresh.min(path.cwnd);
            } else {
                slow_start(path, acked);
            }
        } else if diff > self.beta {
            set_window(path, packets.saturating_sub(1));
            path.ssthresh = path.ssthresh.min(path.cwnd);
        } else if diff < self.alpha {
            set_window(path, packets.saturating_add(1));
        }
        path.cwnd = path.cwnd.max(path.quantum.saturating_mul(MIN_WINDOW));
        path.ssthresh = path.ssthresh.max(path.cwnd / 2 + path.cwnd / 4);
    }
}

impl Catalogued for Vegas {
    const DESCRIPTION: Description = Description {
        name: "vegas",
        aliases: &[],
        summary: "keeps a few packets in queues, by the delay; uncoupled",
        source: "Brakmo, Peterson, JSAC 1995; Linux 6.12",
    };

    const OPTIONS: &'static [Attribute<Self>] = &[
        Attribute::integer(
            "alpha",
            "queued packets below which the window grows",
            [1, 1000],
            |vegas| vegas.alpha.into(),
            |vegas, alpha| vegas.alpha = alpha as u32,
        ),
        Attribute::integer(
            "beta_packets",
            "queued packets above which the window shrinks",
            [1, 1000],
            |vegas| vegas.beta.into(),
            |vegas, beta| vegas.beta = beta as u32,
        ),
        Attribute::integer(
            "gamma",
            "queued packets above which slow start ends",
            [1, 1000],
            |vegas| vegas.gamma.into(),
            |vegas, gamma| vegas.gamma = gamma as u32,
        ),
    ];

    fn conflict(&self) -> Option<Conflict> {
        (self.alpha > self.beta)
            .then(|| Conflict { key: "alpha", expected: format!("at most beta_packets, which is {}", self.beta) })
    }
}

impl CongestionControl for Vegas {
    fn on_path_added(&mut self, _paths: &[Path], path: usize) {
        set_state(&mut self.paths, path, PathState::new(None, 0));
    }

    fn on_sample(&mut self, _paths: &mut [Path], path: usize, ack: &Ack) {
        let state = &mut self.paths[path];
        state.latest_nxt = ack.nxt;
        if let Some(rtt) = ack.rtt {
            let rtt = rtt.as_nanos().max(1);
            state.base = Some(state.base.map_or(rtt, |base| base.min(rtt)));
            state.round_min = Some(state.round_min.map_or(rtt, |min| min.min(rtt)));
            state.samples = state.samples.saturating_add(1);
        }
    }

    fn on_ack(&mut self, paths: &mut [Path], path: usize, ack: &Ack) {
        let (state, window) = (self.paths[path], &mut paths[path]);
        if !state.active {
            return reno::grow(window, ack.acked);
        }
        if ack.una <= state.round_end {
            if window.in_slow_start() {
                slow_start(window, ack.acked);
            }
            return;
        }
        match (state.base, state.round_min) {
            (Some(base), Some(min)) if state.samples >= MIN_SAMPLES => self.finish_round(window, ack.acked, base, min),
            _ => reno::grow(window, ack.acked),
        }
        self.paths[path] = PathState { round_end: ack.nxt, samples: 0, round_min: None, ..state };
    }

    fn ssthresh_after_loss(&mut self, paths: &[Path], path: usize, _now: Instant) -> u32 {
        reno::half(&paths[path], 2)
    }

    fn on_state(&mut self, _paths: &[Path], path: usize, state: RecoveryState) {
        let path = &mut self.paths[path];
        match state {
            RecoveryState::Open => *path = PathState::new(path.base, path.latest_nxt),
            _ => path.active = false,
        }
    }

    fn on_transmit_after_idle(&mut self, _paths: &[Path], path: usize, _now: Instant, _idle: Duration) {
        self.paths[path] = PathState::new(None, self.paths[path].latest_nxt);
    }

    fn on_window_restart(&mut self, _paths: &[Path], path: usize) {
        self.paths[path] = PathState::new(None, self.paths[path].latest_nxt);
    }
}

#[cfg(test)]
mod tests {
    use super::super::siblings::tests::path;
    use super::*;

    fn vegas(ssthresh: u32) -> (Vegas, [Path; 1]) {
        let mut vegas = Vegas::default();
        let paths = [Path { ssthresh, ..path(40, 40) }];
        vegas.on_path_added(&paths, 0);
        vegas.paths[0].base = Some(40_000_000);
        (vegas, paths)
    }

    /// A round of `samples` acknowledgments with an RTT of `rtt_us`; the window and the threshold after it.
    fn round((vegas, paths): &mut (Vegas, [Path; 1]), samples: u32, rtt_us: u64) -> (u32, u32) {
        let una = vegas.paths[0].round_end + 1;
        let rtt = Some(Duration::from_micros(rtt_us));
        let ack = Ack { now: Instant::ZERO, acked: 1, rtt, una, nxt: una + 1, in_flight: 10 };
        (0..samples).for_each(|_| vegas.on_sample(paths, 0, &ack));
        vegas.on_ack(paths, 0, &ack);
        (paths[0].cwnd, paths[0].ssthresh)
    }

    #[test]
    fn the_window_stays_while_two_to_four_packets_are_queued() {
        // 40 packets and 40 ms: each millisecond is a packet.
        for (rtt_us, window) in [(41_900, 41), (42_000, 40), (44_900, 40), (45_000, 39)] {
            assert_eq!(round(&mut vegas(1), 3, rtt_us).0, window, "{rtt_us} us");
        }
    }

    #[test]
    fn slow_start_ends_at_what_the_path_holds_when_two_packets_are_queued() {
        assert_eq!(round(&mut vegas(Path::INFINITE), 3, 41_900).0, 41);
        // 40 · 40 / 50 + 1.
        assert_eq!(round(&mut vegas(Path::INFINITE), 3, 50_000), (33, 33));
    }

    #[test]
    fn the_smallest_rtt_of_the_round_counts_and_two_samples_are_too_few() {
        let mut state = vegas(1);
        let (vegas_, paths) = &mut state;
        let ack =
            Ack { now: Instant::ZERO, acked: 0, rtt: Some(Duration::from_millis(41)), una: 0, nxt: 0, in_flight: 0 };
        vegas_.on_sample(paths, 0, &ack);
        assert_eq!(round(&mut state, 3, 90_000).0, 41, "41 ms is one packet");
        let mut few = vegas(1);
        assert_eq!((round(&mut few, 2, 90_000).0, few.1[0].credit), (40, 1), "a step of Reno");
    }

    #[test]
    fn outside_open_it_is_reno() {
        let (mut vegas, mut paths) = vegas(1);
        vegas.on_state(&paths, 0, RecoveryState::Disorder);
        let ack = Ack { now: Instant::ZERO, acked: 40, rtt: None, una: 5, nxt: 9, in_flight: 10 };
        vegas.on_ack(&mut paths, 0, &ack);
        assert_eq!(paths[0].cwnd, 41);
        vegas.on_transmit_after_idle(&paths, 0, Instant::ZERO, Duration::from_millis(9));
        assert_eq!((vegas.paths[0].base, vegas.paths[0].active), (None, true));
    }

    #[test]
    fn thresholds_that_exclude_each_other_are_refused() {
        assert_eq!(Vegas::default().conflict(), None);
        let expected = "at most beta_packets, which is 4".to_owned();
        assert_eq!(Vegas { alpha: 5, ..Vegas::default() }.conflict(), Some(Conflict { key: "alpha", expected }));
    }
}
