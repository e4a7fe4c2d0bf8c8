//! What applications do with data: how they write it (in bursts), how they read it (at a rate, in pieces, with pauses),
//! video that a player requests in chunks, exchanges that wait for each other, and streams of QUIC.

use subflow_policy::adaptation::Adaptation;
use subflow_quantity::{Duration, Rate};
use subflow_transport::quic::Priority;

use crate::Period;

/// How the application that sends a flow's data writes it, if not all at once: a burst when it begins to send, and one
/// after each period. What the send buffer does not take waits, and joins the next burst.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Writing {
    /// Bytes of a burst, above 0.
    pub burst: u64,
    /// The time from one burst to the next; its mean is not zero.
    pub every: Period,
}

/// How the application that receives a flow's data reads it. Data that it has not read fills the receive window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The rate that it does not exceed: after each read it waits as long as the bytes take at this rate. Without one it
    /// reads what arrives.
    pub rate: Option<Rate>,
    /// The most bytes that one read takes, above 0.
    pub buffer: u64,
    /// The times at which it does not read, in order.
    pub pauses: Vec<Pause>,
}

/// A time at which an application does not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// When it begins.
    pub begin: PauseBegin,
    /// How long it lasts.
    pub length: Duration,
}

/// When a pause begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PauseBegin {
    /// At this time from the start of the run.
    At(Duration),
    /// As soon as the application has read so many bytes.
    After(u64),
}

impl Reading {
    /// How many bytes the next read may take of `unread` ones, after `read` before: a pause may begin within them.
    pub fn most(&self, read: u64, unread: u64) -> u64 {
        let until_pause = self.pauses.iter().filter_map(|pause| match pause.begin {
            PauseBegin::After(bytes) => bytes.checked_sub(read).filter(|left| *left > 0),
            PauseBegin::At(_) => None,
        });
        until_pause.chain([self.buffer, unread]).min().unwrap_or(0)
    }
}

/// Data that a flow sends on a stream of its own (QUIC).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedStream {
    /// Bytes of it, above 0.
    pub bytes: u64,
    /// When it is written, after the flow begins to send.
    pub at: Duration,
    /// How important it is.
    pub priority: Priority,
}

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
    /// The sizes of all chunks in bytes, of each quality; empty if the bit rates are constant.
    pub sizes: Vec<Vec<u64>>,
}

impl Video {
    /// The number of its chunks, of which the last one is as long as the others; `None` if it does not end.
    pub fn chunks(&self) -> Option<u64> {
        let listed = self.sizes.first().map(|sizes| sizes.len() as u64);
        listed.or_else(|| self.length.map(|length| length.as_nanos().div_ceil(self.chunk.as_nanos())))
    }

    /// The bytes of chunk `number`, counted from 0, in a quality, which is a place in the ladder.
    pub fn bytes(&self, quality: usize, number: u64) -> u64 {
        let listed = self.sizes.get(quality).and_then(|sizes| sizes.get(usize::try_from(number).ok()?));
        listed.copied().unwrap_or_else(|| self.ladder[quality].bytes_in(self.chunk).max(1))
    }

    /// The bytes of the largest chunk.
    pub fn largest(&self) -> u64 {
        let listed = self.sizes.iter().flatten().copied().max();
        listed.unwrap_or_else(|| self.ladder.last().map_or(1, |rate| rate.bytes_in(self.chunk).max(1)))
    }
}

/// A request and its response among others that wait for each other, as the objects of a page do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedExchange {
    /// Bytes of the request, above 0.
    pub request: u64,
    /// Bytes of the response, above 0.
    pub response: u64,
    /// How long the far end takes from the arrival of the request to the response.
    pub wait: Duration,
    /// The exchanges whose responses must have arrived before the request goes; empty: from the flow's start on.
    pub after: Vec<Prerequisite>,
    /// The time from there to the request.
    pub pause: Duration,
}

/// An exchange that another one waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prerequisite {
    /// The name of its flow.
    pub flow: String,
    /// Its place in the list of that flow, counted from 0.
    pub exchange: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_takes_no_more_than_the_buffer_and_ends_where_a_pause_begins() {
        let after = |bytes| Pause { begin: PauseBegin::After(bytes), length: Duration::from_secs(1) };
        let at = Pause { begin: PauseBegin::At(Duration::from_secs(1)), length: Duration::from_secs(1) };
        let reading = Reading { rate: None, buffer: 1000, pauses: vec![at, after(2500), after(9000)] };
        assert_eq!([reading.most(0, 400), reading.most(0, 4000)], [400, 1000]);
        assert_eq!([reading.most(2000, 4000), reading.most(2500, 4000)], [500, 1000]);
        assert_eq!(reading.most(2000, 0), 0, "nothing has arrived");
        assert_eq!(reading.most(8999, 4000), 1, "one byte before the last pause");
    }

    fn two_qualities(length: Option<Duration>) -> Video {
        Video {
            chunk: Duration::from_secs(4),
            ladder: vec![Rate::from_mbit(1), Rate::from_mbit(5)],
            buffer: Duration::from_secs(30),
            adaptation: Adaptation::Rate,
            startup: Duration::from_secs(4),
            length,
            request: 500,
            sizes: Vec::new(),
        }
    }

    #[test]
    fn listed_sizes_say_how_many_chunks_there_are_and_how_large_they_are() {
        let listed = Video { sizes: vec![vec![10, 20, 30], vec![100, 50, 70]], ..two_qualities(None) };
        assert_eq!((listed.chunks(), listed.largest()), (Some(3), 100));
        assert_eq!([listed.bytes(0, 2), listed.bytes(1, 1)], [30, 50]);
        assert_eq!(two_qualities(None).bytes(1, 7), 2_500_000);
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
