//! ACK frames (RFC 9000, section 19.3), and PATH_ACK frames, which are the same for one path
//! (draft-ietf-quic-multipath-21).

use smallvec::SmallVec;

use super::{Emitter, varint_length};
use crate::reader::Reader;

/// Packets acknowledged without a gap, as the wire counts them from the range above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckRange {
    /// Packets not acknowledged between the range above and this one, less one.
    pub gap: u64,
    /// Packets of the range, less one.
    pub length: u64,
}

/// Packets received with each codepoint of ECN, since the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EcnCounts {
    /// Packets received with ECT(0).
    pub ect0: u64,
    /// Packets received with ECT(1).
    pub ect1: u64,
    /// Packets received with CE.
    pub ce: u64,
}

/// Acknowledges packets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AckFrame {
    /// The path whose packets it acknowledges, with PATH_ACK; `None` with ACK.
    pub path: Option<u64>,
    /// The highest packet number acknowledged.
    pub largest: u64,
    /// Time since that packet arrived, in microseconds divided by two to the power of the sender's
    /// `ack_delay_exponent`.
    pub delay: u64,
    /// Packets acknowledged without a gap below the highest one.
    pub first_range: u64,
    /// Further ranges, downwards. A few are stored without heap memory.
    pub ranges: SmallVec<[AckRange; 2]>,
    /// ECN counts, if the receiver can read the codepoints.
    pub ecn: Option<EcnCounts>,
}

impl AckFrame {
    /// The acknowledged packet numbers, as ranges with both ends included, from the highest downwards. Ends early at a
    /// range below zero, which [`is_valid`](Self::is_valid) excludes.
    pub fn acknowledged(&self) -> impl Iterator<Item = (u64, u64)> {
        let first = self.largest.checked_sub(self.first_range).map(|start| (start, self.largest));
        let mut lowest = first.map(|(start, _)| start);
        let others = self.ranges.iter().map_while(move |range| {
            let end = lowest?.checked_sub(range.gap)?.checked_sub(2)?;
            lowest = Some(end.checked_sub(range.length)?);
            Some((lowest?, end))
        });
        first.into_iter().chain(others)
    }

    /// Whether no range reaches below zero: otherwise the frame is an error of its encoding.
    pub fn is_valid(&self) -> bool {
        self.acknowledged().count() == self.ranges.len() + 1
    }

    /// An acknowledgment of ranges with both ends included, from the highest downwards; `None` if there are none. They
    /// have at least one packet between them.
    pub fn of_ranges(mut ranges: impl Iterator<Item = (u64, u64)>) -> Option<Self> {
        let (start, largest) = ranges.next()?;
        let mut lowest = start;
        let ranges = ranges.map(|(start, end)| {
            let range = AckRange { gap: lowest - end - 2, length: end - start };
            lowest = start;
            range
        });
        Some(Self { largest, first_range: largest - start, ranges: ranges.collect(), ..Self::default() })
    }

    /// Bytes behind the frame type.
    #[inline]
    pub(super) fn length(&self) -> u32 {
        let ranges = self.ranges.iter().map(|range| varint_length(range.gap) + varint_length(range.length));
        let ecn = self.ecn.map_or(0, |ecn| [ecn.ect0, ecn.ect1, ecn.ce].map(varint_length).iter().sum());
        self.path.map_or(0, varint_length)
            + varint_length(self.largest)
            + varint_length(self.delay)
            + varint_length(self.ranges.len() as u64)
            + varint_length(self.first_range)
            + ranges.sum::<u32>()
            + ecn
    }

    pub(super) fn emit(&self, out: &mut Emitter<'_>) {
        if let Some(path) = self.path {
            out.varint(path);
        }
        let fixed = [self.largest, self.delay, self.ranges.len() as u64, self.first_range];
        fixed.into_iter().for_each(|field| out.varint(field));
        for range in &self.ranges {
            out.varint(range.gap);
            out.varint(range.length);
        }
        if let Some(ecn) = self.ecn {
            [ecn.ect0, ecn.ect1, ecn.ce].into_iter().for_each(|count| out.varint(count));
        }
    }

    /// Reads what stands behind the frame type. `None` also if a range reaches below zero.
    pub(super) fn parse(reader: &mut Reader<'_>, has_path: bool, has_ecn: bool) -> Option<Self> {
        let path = if has_path { Some(reader.varint()?) } else { None };
        let (largest, delay) = (reader.varint()?, reader.varint()?);
        let (count, first_range) = (reader.varint()?, reader.varint()?);
        // Each range takes two bytes or more.
        if count > reader.remaining() as u64 / 2 {
            return None;
        }
        let range = |_| Some(AckRange { gap: reader.varint()?, length: reader.varint()? });
        let ranges = (0..count).map(range).collect::<Option<_>>()?;
        let ecn = match has_ecn {
            true => Some(EcnCounts { ect0: reader.varint()?, ect1: reader.varint()?, ce: reader.varint()? }),
            false => None,
        };
        Some(Self { path, largest, delay, first_range, ranges, ecn }).filter(Self::is_valid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_counted_downwards_from_the_largest() {
        let ranges = [(90, 100), (80, 80), (1, 78)];
        let frame = AckFrame::of_ranges(ranges.into_iter()).expect("there are ranges");
        assert_eq!((frame.largest, frame.first_range), (100, 10));
        assert_eq!(frame.ranges.to_vec(), [AckRange { gap: 8, length: 0 }, AckRange { gap: 0, length: 77 }]);
        assert_eq!(frame.acknowledged().collect::<Vec<_>>(), ranges);
        assert_eq!(AckFrame::of_ranges(core::iter::empty()), None);
    }

    #[test]
    fn a_range_below_zero_is_not_valid() {
        let one = |gap, length| SmallVec::from_buf_and_len([AckRange { gap, length }; 2], 1);
        let frame = |largest, first_range, ranges| AckFrame { largest, first_range, ranges, ..AckFrame::default() };
        assert!(frame(5, 5, SmallVec::new()).is_valid());
        assert!(!frame(5, 6, SmallVec::new()).is_valid());
        assert!(frame(9, 4, one(1, 2)).is_valid());
        assert!(!frame(9, 4, one(1, 3)).is_valid());
        assert!(!frame(9, 4, one(4, 0)).is_valid());
    }
}
