//! `buffer`: BBA-0, which looks at the buffer alone.
//!
//! ```text
//! f(B) = R_min                                          for B ≤ r
//!        R_min + (R_max − R_min) (B − r) / cu           for r < B < r + cu
//!        R_max                                          for B ≥ r + cu
//!
//! R_next = R_min                       if B ≤ r
//!          R_max                       if B ≥ r + cu
//!          max { R_i : R_i < f(B) }    if f(B) ≥ R+, the rate above the present one
//!          min { R_i : R_i > f(B) }    if f(B) ≤ R−, the rate below it
//!          the present rate            otherwise
//! ```
//!
//! Source: Huang, Johari, McKeown, Trunnell, Watson, "A Buffer-Based Approach to Rate Adaptation", SIGCOMM 2014,
//! algorithm 1 and figure 6. There the buffer has 240 s, the reservoir r 90 s, and R_max is reached at 216 s; other buffers
//! have the same shares: r = 3/8 and r + cu = 9/10 of the buffer. The paper does not say where a session begins; here the
//! rate before the first chunk is R_min.

use super::PlayerView;

/// The share of the buffer up to which the lowest rate is chosen: 90 s of 240 s.
const RESERVOIR: f64 = 90.0 / 240.0;
/// The share from which on the highest one is: 216 s of 240 s.
const UPPER: f64 = 216.0 / 240.0;

/// The quality of the next chunk.
pub(super) fn choose(view: &PlayerView<'_>) -> usize {
    let (top, present) = (view.ladder.len() - 1, view.previous.unwrap_or(0));
    let rate = |rung: usize| view.ladder[rung].bits_per_second() as f64;
    let capacity = view.capacity.as_secs_f64();
    let (buffered, reservoir, upper) = (view.buffered.as_secs_f64(), RESERVOIR * capacity, UPPER * capacity);
    if buffered <= reservoir {
        return 0;
    }
    if buffered >= upper {
        return top;
    }
    let line = rate(0) + (rate(top) - rate(0)) * (buffered - reservoir) / (upper - reservoir);
    if line >= rate((present + 1).min(top)) {
        return view.ladder.iter().rposition(|rung| (rung.bits_per_second() as f64) < line).unwrap_or(0);
    }
    if line <= rate(present.saturating_sub(1)) {
        return view.ladder.iter().position(|rung| rung.bits_per_second() as f64 > line).unwrap_or(top);
    }
    present
}

#[cfg(test)]
mod tests {
    use subflow_quantity::{Duration, Rate};

    use super::*;

    /// The choice with the paper's buffer and rates of 1, 2, 3 and 5 Mbit/s.
    fn chosen(buffered_s: f64, previous: usize) -> usize {
        let ladder = [1, 2, 3, 5].map(Rate::from_mbit);
        choose(&PlayerView {
            ladder: &ladder,
            chunk: Duration::from_secs(4),
            capacity: Duration::from_secs(240),
            buffered: Duration::from_secs_f64(buffered_s),
            previous: Some(previous),
            throughputs: &[],
        })
    }

    /// f(B) = 1 + 4 (B − 90) / 126 Mbit/s: 2 Mbit/s at 121.5 s, 3 at 153 s, 4 at 184.5 s.
    #[test]
    fn the_rate_follows_the_line_of_the_paper() {
        assert_eq!([chosen(90.0, 3), chosen(216.0, 0)], [0, 3], "in the reservoir, and above the cushion");
        // f is 2.02 Mbit/s: up from 1 to 2, as the largest rate below f. At 121 s f is below 2 Mbit/s.
        assert_eq!([chosen(122.0, 0), chosen(121.0, 0)], [1, 0]);
        // f is 3.98 Mbit/s, which is at least 3: from 2 to 3. From 3 the next is 5, which f has not reached.
        assert_eq!([chosen(184.0, 1), chosen(184.0, 2)], [2, 2]);
        // f is 2.98 Mbit/s, at most the 3 below 5: the least rate above f. At 154 s f is above 3 Mbit/s, and 5 stays.
        assert_eq!([chosen(152.5, 3), chosen(154.0, 3)], [2, 3]);
    }

    #[test]
    fn one_rate_needs_no_line() {
        let view = PlayerView {
            ladder: &[Rate::from_mbit(1)],
            chunk: Duration::from_secs(1),
            capacity: Duration::from_secs(10),
            buffered: Duration::from_secs(5),
            previous: None,
            throughputs: &[],
        };
        assert_eq!(choose(&view), 0);
    }
}
