//! Video that is streamed: chunks in several qualities, which a player requests one after the other.

use subflow_policy::adaptation::Adaptation;
use subflow_quantity::{Duration, Rate};

/// A video and its player.
#[derive(Clone, Debug, PartialEq)]
pub struct Video {
    /// How long each chunk plays.
    pub chunk: Duration,
    /// The bit rates of the qualities, which rise.
    pub ladder: Vec<Rate>,
    /// How much content the player's buffer holds; at least two chunks.
    pub buffer: Duration,
    /// What chooses the quality of each chunk.
    pub adaptation: Adaptation,
    /// How much content the buffer holds when playback begins; at most the buffer.
    pub startup: Duration,
    /// The length of the video; without one it does not end.
    pub length: Option<Duration>,
    /// Bytes of each request.
    pub request: u64,
}

impl Video {
    /// The number of its chunks, of which the last one is as long as the others; `None` if it does not end.
    pub fn chunks(&self) -> Option<u64> {
        self.length.map(|length| length.as_nanos().div_ceil(self.chunk.as_nanos()))
    }

    /// The bytes of a chunk in the highest quality.
    pub fn largest(&self) -> u64 {
        self.ladder.last().map_or(1, |rate| rate.bytes_in(self.chunk).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_qualities(length: Option<Duration>) -> Video {
        Video {
            chunk: Duration::from_secs(4),
            ladder: vec![Rate::from_mbit(1), Rate::from_mbit(5)],
            buffer: Duration::from_secs(30),
            adaptation: Adaptation::Rate,
            startup: Duration::from_secs(4),
            length,
            request: 500,
        }
    }

    #[test]
    fn a_video_has_as_many_chunks_as_cover_its_length() {
        let video = two_qualities;
        assert_eq!(video(None).chunks(), None);
        assert_eq!([40, 41].map(|s| video(Some(Duration::from_secs(s))).chunks()), [Some(10), Some(11)]);
        assert_eq!(video(None).largest(), 2_500_000);
    }

    #[test]
    fn a_chunk_has_a_byte_at_least() {
        let slow = Video { ladder: vec![Rate::from_bits_per_second(1)], ..two_qualities(None) };
        assert_eq!(slow.largest(), 1);
    }
}
