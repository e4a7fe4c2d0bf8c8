//! DCTCP (RFC 8257): the window is reduced by the fraction of packets that the network has marked.
//!
//! | what | rule | source |
//! |---|---|---|
//! | fraction of marks, once per window | `α ← (1 − g) α + g F`, where F is the marked part of what was acknowledged | section 3.3 |
//! | mark, once per window | `ssthresh = max(cwnd (1 − α / 2), 2 quanta)` | section 3.3 |
//! | loss | as Reno | section 3.4 |
//! | growth | as Reno | section 3.3 |
//!
//! **Linux's integers** (`tcp_dctcp.c`): α is in 1/1024, begins at 1, and loses at least 1/1024 per window without marks.
//! What an acknowledgment delivers counts in the next window if the acknowledgment ends one.
//!
//! It needs the receiver of DCTCP: with the receiver of RFC 3168, which repeats ECE until a window was reduced, F is too
//! large. Without ECN it is Reno.

use subflow_quantity::Instant;

use crate::catalogue::{Attribute, Catalogued, Description};

use super::{Ack, CongestionControl, DeliverySample, Loss, Path, reno, set_state};

/// α = 1.
const WHOLE: u32 = 1024;

/// DCTCP for each path independently (uncoupled).
#[derive(Clone, Debug)]
pub struct Dctcp {
    /// g = 2^−shift.
    shift: u32,
    paths: Vec<Marks>,
}

/// The marks of one path.
#[derive(Clone, Copy, Debug)]
struct Marks {
    /// DCTCP.Alpha, in 1/1024.
    alpha: u32,
    /// The window ends when this offset is acknowledged (DCTCP.WindowEnd).
    window_end: u64,
    /// Amount delivered in this window, and the part of it that was marked.
    delivered: u64,
    marked: u64,
}

impl Marks {
    const NEW: Self = Self { alpha: WHOLE, window_end: 0, delivered: 0, marked: 0 };

    /// A window has ended.
    fn update(&mut self, shift: u32) {
        let decay = self.alpha >> shift;
        self.alpha -= if decay == 0 { self.alpha.min(1) } else { decay };
        if self.marked > 0 {
            let part = (self.marked << 10 >> shift) / self.delivered.max(1);
            self.alpha = (self.alpha + part as u32).min(WHOLE);
        }
        (self.delivered, self.marked) = (0, 0);
    }
}

impl Dctcp {
    /// α: the fraction of marks on a path, as far as it is known.
    pub fn marked_fraction(&self, path: usize) -> f64 {
        f64::from(self.paths[path].alpha) / f64::from(WHOLE)
    }
}

impl Default for Dctcp {
    fn default() -> Self {
        Self { shift: 4, paths: Vec::new() }
    }
}

impl Catalogued for Dctcp {
    const DESCRIPTION: Description = Description {
        name: "dctcp",
        aliases: &[],
        summary: "reduces the window by the fraction of marked packets; needs ecn = \"dctcp\" at both ends; uncoupled",
        source: "RFC 8257, Linux 6.12",
    };

    const OPTIONS: &'static [Attribute<Self>] = &[Attribute::integer(
        "shift_g",
        "the weight of a window in the fraction of marks, as a power: 4 is 1/16",
        [0, 10],
        |dctcp| dctcp.shift.into(),
        |dctcp, shift| dctcp.shift = shift as u32,
    )];
}

impl CongestionControl for Dctcp {
    fn on_path_added(&mut self, _paths: &[Path], path: usize) {
        set_state(&mut self.paths, path, Marks::NEW);
    }

    fn on_sample(&mut self, _paths: &mut [Path], path: usize, ack: &Ack) {
        let marks = &mut self.paths[path];
        if ack.una >= marks.window_end {
            marks.update(self.shift);
            marks.window_end = ack.nxt;
        }
    }

    fn on_delivered(&mut self, paths: &mut [Path], path: usize, sample: &DeliverySample) {
        let marks = &mut self.paths[path];
        marks.delivered += u64::from(sample.ack.acked);
        marks.marked += u64::from(sample.ce.min(sample.ack.acked));
        if paths[path].take_delivery(sample) {
            self.on_ack(paths, path, &sample.ack);
        }
    }

    fn ssthresh_after_loss(&mut self, paths: &[Path], path: usize, _now: Instant) -> u32 {
        reno::half(&paths[path], 2)
    }

    fn on_mark(&mut self, paths: &mut [Path], path: usize, loss: &Loss) {
        let window = &mut paths[path];
        let less = u64::from(window.cwnd) * u64::from(self.paths[path].alpha) / u64::from(2 * WHOLE);
        let ssthresh = (window.cwnd - less as u32).max(window.quantum.saturating_mul(2));
        window.enter_recovery(ssthresh, loss);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(cwnd: u32) -> Path {
        Path { ssthresh: 1, established: true, ..Path::new(1, cwnd) }
    }

    /// DCTCP after `windows` windows of 16 packets, in each of which `marked` are marked.
    fn after(windows: u32, marked: u64) -> Dctcp {
        let mut dctcp = Dctcp::default();
        dctcp.on_path_added(&[path(16)], 0);
        for _ in 0..windows {
            (dctcp.paths[0].delivered, dctcp.paths[0].marked) = (16, marked);
            dctcp.paths[0].update(dctcp.shift);
        }
        dctcp
    }

    #[test]
    fn the_fraction_of_marks_follows_with_weight_one_sixteenth() {
        // α = 1024 − 64 + 1024 · F / 16 after the first window.
        assert_eq!([0, 4, 8, 16].map(|marked| after(1, marked).paths[0].alpha), [960, 976, 992, 1024]);
        // A quarter marked for long: 256 but for rounding, by which up to 15 are too many.
        assert!((256..=271).contains(&after(300, 4).paths[0].alpha), "{}", after(300, 4).paths[0].alpha);
        assert_eq!(after(300, 0).paths[0].alpha, 0, "without marks it reaches zero");
    }

    #[test]
    fn a_mark_reduces_the_window_by_half_the_fraction_and_a_loss_by_half() {
        let loss = Loss { now: Instant::ZERO, in_flight: 100, by_timer: false };
        for (alpha, left) in [(1024, 50), (512, 75), (256, 88), (0, 100)] {
            let (mut dctcp, mut paths) = (after(0, 0), [path(100)]);
            dctcp.paths[0].alpha = alpha;
            dctcp.on_mark(&mut paths, 0, &loss);
            assert_eq!(paths[0].ssthresh, left, "α = {alpha}");
            assert_eq!(dctcp.ssthresh_after_loss(&[path(100)], 0, Instant::ZERO), 50);
        }
    }
}
