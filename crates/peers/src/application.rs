//! What the applications at both ends write on each stream, and whether that is what arrives.

use core::ops::Range;
use std::collections::BTreeMap;

/// Bytes that both ends write on each of the client's streams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Work {
    /// By stream, from the client to the server and back; at least one byte each.
    pub(crate) bytes: Vec<[u64; 2]>,
}

/// One end.
#[derive(Clone, Debug)]
pub(crate) struct Application {
    work: Work,
    is_server: bool,
    /// By stream.
    received: Vec<Received>,
}

#[derive(Clone, Debug, Default)]
struct Received {
    /// What has arrived, without overlaps or neighbours that touch: ends by starts.
    ranges: BTreeMap<u64, u64>,
    bytes: u64,
}

/// The byte at `offset` of what an end writes on a stream.
fn pattern(by_server: bool, stream: u64, offset: u64) -> u8 {
    let which = stream << 1 | u64::from(by_server);
    ((offset ^ which << 40).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8
}

impl Application {
    pub(crate) fn new(work: Work, is_server: bool) -> Self {
        let received = vec![Received::default(); work.bytes.len()];
        Self { work, is_server, received }
    }

    pub(crate) fn streams(&self) -> u64 {
        self.work.bytes.len() as u64
    }

    /// Bytes that this end writes on a stream.
    pub(crate) fn length(&self, stream: u64) -> u64 {
        self.work.bytes[stream as usize][usize::from(self.is_server)]
    }

    fn expected(&self, stream: u64) -> u64 {
        self.work.bytes[stream as usize][usize::from(!self.is_server)]
    }

    /// A part of what this end writes on a stream.
    pub(crate) fn written(&self, stream: u64, range: Range<u64>) -> Vec<u8> {
        range.map(|offset| pattern(self.is_server, stream, offset)).collect()
    }

    /// Bytes have arrived on a stream.
    ///
    /// # Errors
    ///
    /// They are not those that the peer writes there.
    pub(crate) fn take(&mut self, stream: u64, offset: u64, bytes: &[u8]) -> Result<(), String> {
        if stream >= self.streams() {
            return Err(format!("data on stream {stream}, which nobody has opened"));
        }
        let expected = self.expected(stream);
        let end = offset + bytes.len() as u64;
        if end > expected {
            return Err(format!("stream {stream} has {end} bytes, {expected} were written"));
        }
        let differs = |&(offset, byte): &(u64, &u8)| *byte != pattern(!self.is_server, stream, offset);
        if let Some((offset, _)) = (offset..).zip(bytes).find(differs) {
            return Err(format!("byte {offset} of stream {stream} is not the one that was written"));
        }
        self.received[stream as usize].add(offset..end);
        Ok(())
    }

    /// Bytes that have arrived, each counted once.
    pub(crate) fn received(&self) -> u64 {
        self.received.iter().map(|stream| stream.bytes).sum()
    }

    /// Whether everything has arrived on a stream.
    pub(crate) fn has_all_of(&self, stream: u64) -> bool {
        self.received[stream as usize].bytes == self.expected(stream)
    }

    /// Whether everything has arrived on all streams but the first one, which is ended last.
    pub(crate) fn has_all_others(&self) -> bool {
        (1..self.streams()).all(|stream| self.has_all_of(stream))
    }

    pub(crate) fn has_all(&self) -> bool {
        self.has_all_of(0) && self.has_all_others()
    }
}

impl Received {
    fn add(&mut self, range: Range<u64>) {
        let (mut start, mut end) = (range.start, range.end);
        while let Some((&first, &last)) = self.ranges.range(..=end).next_back().filter(|(_, last)| **last >= start) {
            self.ranges.remove(&first);
            self.bytes -= last - first;
            (start, end) = (start.min(first), end.max(last));
        }
        self.ranges.insert(start, end);
        self.bytes += end - start;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends() -> [Application; 2] {
        let work = Work { bytes: vec![[100, 50], [10, 20]] };
        [false, true].map(|is_server| Application::new(work.clone(), is_server))
    }

    #[test]
    fn everything_has_arrived_once_no_byte_is_missing() {
        let [client, mut server] = ends();
        for range in [60..100, 0..30, 20..50] {
            assert_eq!(server.take(0, range.start, &client.written(0, range)), Ok(()));
        }
        assert_eq!((server.received(), server.has_all_of(0)), (90, false));
        assert_eq!(server.take(0, 50, &client.written(0, 50..60)), Ok(()));
        assert!(server.has_all_of(0) && !server.has_all_others() && !server.has_all());
        assert_eq!(server.take(1, 0, &client.written(1, 0..10)), Ok(()));
        assert!(server.has_all());
    }

    #[test]
    fn other_bytes_than_those_that_were_written_are_noticed() {
        let [client, mut server] = ends();
        let mut changed = client.written(0, 0..100);
        changed[73] ^= 1;
        assert!(server.take(0, 0, &changed).is_err_and(|what| what.contains("byte 73")));
        assert!(server.take(1, 0, &client.written(0, 0..10)).is_err(), "those of another stream");
        assert!(server.take(0, 0, &server.clone().written(0, 0..10)).is_err(), "its own");
        assert!(server.take(1, 5, &client.written(1, 5..11)).is_err(), "more than were written");
    }
}
