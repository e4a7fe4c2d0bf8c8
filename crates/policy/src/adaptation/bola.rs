//! `bola`: the buffer as the weight between quality and stalls.
//!
//! ```text
//! υ_m = ln(S_m / S_1)                      utility of quality m, whose chunks have S_m bits
//! V   = (Q_max − 1) / (υ_M + γp)           Q in chunks; γp = 5
//! m*  = the m that maximises (V (υ_m + γp) − Q) / S_m
//! ```
//!
//! Source: Spiteri, Urgaonkar, Sitaraman, "BOLA: Near-Optimal Bitrate Adaptation for Online Videos", INFOCOM 2016,
//! sections III and IV (BOLA-BASIC). If all of these values are negative no chunk is requested; with this V that is so
//! where the buffer has no room for another chunk, which a player waits for in any case. Of equal values the higher
//! quality is chosen. γp = 5 is that of the paper's evaluation; the paper's V there is the one of a buffer of 25 s.

use super::PlayerView;

/// The weight of not stalling: γp.
const GAMMA_P: f64 = 5.0;

/// The quality of the next chunk.
pub(super) fn choose(view: &PlayerView<'_>) -> usize {
    let size = |rung: usize| view.ladder[rung].bits_per_second() as f64 * view.chunk.as_secs_f64();
    let utility = |rung: usize| libm::log(size(rung) / size(0));
    let in_chunks = |content: f64| content / view.chunk.as_secs_f64();
    let level = in_chunks(view.buffered.as_secs_f64());
    let top = view.ladder.len() - 1;
    let weight = (in_chunks(view.capacity.as_secs_f64()) - 1.0).max(0.0) / (utility(top) + GAMMA_P);
    let value = |rung: usize| (weight * (utility(rung) + GAMMA_P) - level) / size(rung);
    (1..=top).fold(0, |best, rung| if value(rung) >= value(best) { rung } else { best })
}

#[cfg(test)]
mod tests {
    use subflow_quantity::{Duration, Rate};

    use super::*;

    /// The choice of a player with chunks of 2 s and a buffer of 20 s, that is of 10 chunks, for 1, 2 and 4 Mbit/s.
    fn chosen(chunks: f64) -> usize {
        let ladder = [1, 2, 4].map(Rate::from_mbit);
        choose(&PlayerView {
            ladder: &ladder,
            chunk: Duration::from_secs(2),
            capacity: Duration::from_secs(20),
            buffered: Duration::from_secs_f64(2.0 * chunks),
            previous: None,
            throughputs: &[],
        })
    }

    /// V = 9 / (2 ln 2 + 5) = 1.4093. Quality 1 is as good as 0 where 5 V − Q = (V (5 + ln 2) − Q) / 2: at
    /// Q = V (5 − ln 2) = 6.070. Quality 2 is as good as 1 at Q = 5 V = 7.046.
    #[test]
    fn the_quality_rises_where_the_utilities_per_bit_are_equal() {
        assert_eq!([chosen(0.0), chosen(6.05)], [0, 0]);
        assert_eq!([chosen(6.08), chosen(7.03)], [1, 1]);
        assert_eq!([chosen(7.06), chosen(9.0)], [2, 2]);
    }
    #[test]
    fn what_is_beyond_the_last_threshold_stays_the_highest_quality() {
        assert_eq!([chosen(9.5), chosen(10.0)], [2, 2], "all values are negative there");
    }
}
