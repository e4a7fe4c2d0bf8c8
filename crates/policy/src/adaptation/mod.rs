//! Bitrate adaptation: in which quality a video player requests the next chunk.
//!
//! A player has each chunk in several qualities, the rungs of a ladder of bit rates. Before it requests a chunk it asks an
//! algorithm, which sees what a player can know ([`PlayerView`]): how much content waits in its buffer, and how fast the
//! chunks before arrived. The algorithms are functions of that alone.
//!
//! | file | algorithm |
//! |---|---|
//! | `buffer.rs` | `buffer`: BBA-0, by the buffer alone |
//! | `rate.rs` | `rate`: by the throughput of the chunks before |
//! | `bola.rs` | `bola`: by the buffer, as a maximisation of utility |

mod bola;
mod buffer;
mod rate;

use subflow_quantity::{Duration, Rate};

use crate::catalogue::Choice;

/// An algorithm that chooses qualities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adaptation {
    /// BBA-0: a line from the lowest to the highest rate over the buffer.
    Buffer,
    /// The highest rate that the harmonic mean of the latest throughputs carries.
    Rate,
    /// BOLA-BASIC: the best utility per bit for this buffer.
    Bola,
}

/// What a player knows when it requests a chunk.
#[derive(Clone, Copy, Debug)]
pub struct PlayerView<'a> {
    /// The bit rates of the qualities, which rise; there is at least one.
    pub ladder: &'a [Rate],
    /// How long each chunk plays.
    pub chunk: Duration,
    /// How much content the buffer holds at most; at least one chunk.
    pub capacity: Duration,
    /// How much content it holds now.
    pub buffered: Duration,
    /// The quality of the chunk before, as an index into the ladder; `None` before the first one.
    pub previous: Option<usize>,
    /// The throughputs of the chunks before in bit/s, the latest last.
    pub throughputs: &'a [f64],
}

impl Adaptation {
    /// All of them by name.
    pub const ALL: [Choice<Self>; 3] = [
        Choice::new("buffer", Self::Buffer, "BBA-0: the fuller the buffer, the higher the quality")
            .source("Huang et al., SIGCOMM 2014, algorithm 1"),
        Choice::new(
            "rate",
            Self::Rate,
            "the highest quality that the harmonic mean of the last five throughputs carries",
        )
        .source("Jiang et al., CoNEXT 2012, section 4.2; Yin et al., SIGCOMM 2015, section 7.1.2"),
        Choice::new("bola", Self::Bola, "BOLA-BASIC: the highest utility of a quality per bit, for this buffer")
            .source("Spiteri et al., INFOCOM 2016, section IV"),
    ];

    /// The quality of the next chunk, as an index into the ladder.
    pub fn choose(self, view: &PlayerView<'_>) -> usize {
        match self {
            Self::Buffer => buffer::choose(view),
            Self::Rate => rate::choose(view),
            Self::Bola => bola::choose(view),
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Choice::name_of(&Self::ALL, self)
    }
}

/// The highest rung of at most `rate` bit/s, or the lowest one.
fn highest_up_to(ladder: &[Rate], rate: f64) -> usize {
    ladder.iter().rposition(|rung| rung.bits_per_second() as f64 <= rate).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whatever a player sees, the quality is one of the ladder; a fuller buffer never lowers that of `bola`.
        #[test]
        fn every_choice_is_a_rung_of_the_ladder(
            rungs in proptest::collection::btree_set(1_u64..100_000, 1..8),
            chunk_ms in 100_u64..10_000,
            chunks in 1_u64..40,
            filled in 0.0_f64..=1.0,
            previous in proptest::option::of(0_usize..8),
            throughputs in proptest::collection::vec(1.0_f64..1e9, 0..9),
        ) {
            let ladder: Vec<Rate> = rungs.iter().map(|kbit| Rate::from_bits_per_second(kbit * 1000)).collect();
            let chunk = Duration::from_millis(chunk_ms);
            let capacity = chunk.saturating_mul(chunks);
            let view = |share: f64| PlayerView {
                ladder: &ladder,
                chunk,
                capacity,
                buffered: Duration::from_secs_f64(capacity.as_secs_f64() * share),
                previous: previous.filter(|rung| *rung < ladder.len()),
                throughputs: &throughputs,
            };
            for Choice { value, .. } in Adaptation::ALL {
                prop_assert!(value.choose(&view(filled)) < ladder.len(), "{}", value.name());
            }
            prop_assert!(Adaptation::Bola.choose(&view(filled)) >= Adaptation::Bola.choose(&view(filled / 2.0)));
        }
    }
}
