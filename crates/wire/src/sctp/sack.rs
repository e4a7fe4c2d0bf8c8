//! Acknowledgments: SACK (RFC 9260, section 3.3.4) and NR-SACK (draft-natarajan-tsvwg-sctp-nrsack, section 4).

use smallvec::SmallVec;

use crate::reader::Reader;

/// TSNs that have arrived beyond the cumulative one, as offsets from it: `start` to `end`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GapBlock {
    /// Offset of the first TSN from the cumulative TSN ack.
    pub start: u16,
    /// Offset of the last TSN from the cumulative TSN ack.
    pub end: u16,
}

/// Bytes that a gap block takes in its chunk.
pub const GAP_BLOCK_LENGTH: u32 = 4;

/// Gap blocks in rising order. Few of them are stored without heap memory.
pub type GapBlocks = SmallVec<[GapBlock; 4]>;

/// A SACK.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SackChunk {
    /// Cumulative TSN ack: the last TSN before the first hole.
    pub cumulative_tsn: u32,
    /// Advertised receiver window, in bytes.
    pub a_rwnd: u32,
    /// For DAC: packets with data since the last SACK, 0 to 3 (bits 6 and 7 of the flags). 0 from a receiver that does
    /// not count.
    pub data_packets: u8,
    /// What arrived beyond the first hole.
    pub gaps: GapBlocks,
    /// TSNs that came more than once since the last SACK.
    pub duplicates: Vec<u32>,
}

/// An NR-SACK: a SACK that also says what the receiver will never drop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NrSackChunk {
    /// What it has in common with a SACK; its gaps are those that may yet be dropped (R gap ack blocks).
    pub sack: SackChunk,
    /// What arrived beyond the first hole and is kept for certain (NR gap ack blocks): the sender may forget it.
    pub non_renegable: GapBlocks,
}

/// Where the DAC count stands in the flags.
const DATA_PACKETS_SHIFT: u8 = 6;

impl SackChunk {
    pub(super) fn length(&self) -> u32 {
        (16 + 4 * self.gaps.len() + 4 * self.duplicates.len()) as u32
    }

    pub(super) const fn flags(&self) -> u8 {
        self.data_packets << DATA_PACKETS_SHIFT
    }

    pub(super) fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.cumulative_tsn.to_be_bytes());
        out.extend_from_slice(&self.a_rwnd.to_be_bytes());
        out.extend_from_slice(&(self.gaps.len() as u16).to_be_bytes());
        out.extend_from_slice(&(self.duplicates.len() as u16).to_be_bytes());
        emit_gaps(&self.gaps, out);
        emit_tsns(&self.duplicates, out);
    }

    /// Lengths have to agree with the counts, to the byte.
    pub(super) fn parse(flags: u8, value: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(value);
        let (cumulative_tsn, a_rwnd) = (reader.u32()?, reader.u32()?);
        let (gaps, duplicates) = (reader.u16()?, reader.u16()?);
        if reader.remaining() != 4 * (usize::from(gaps) + usize::from(duplicates)) {
            return None;
        }
        let gaps = parse_gaps(&mut reader, gaps)?;
        let duplicates = parse_tsns(&mut reader, duplicates)?;
        Some(Self { cumulative_tsn, a_rwnd, data_packets: flags >> DATA_PACKETS_SHIFT, gaps, duplicates })
    }
}

impl NrSackChunk {
    pub(super) fn length(&self) -> u32 {
        self.sack.length() + 4 + 4 * self.non_renegable.len() as u32
    }

    pub(super) fn emit(&self, out: &mut Vec<u8>) {
        let Self { sack, non_renegable } = self;
        out.extend_from_slice(&sack.cumulative_tsn.to_be_bytes());
        out.extend_from_slice(&sack.a_rwnd.to_be_bytes());
        out.extend_from_slice(&(sack.gaps.len() as u16).to_be_bytes());
        out.extend_from_slice(&(non_renegable.len() as u16).to_be_bytes());
        out.extend_from_slice(&(sack.duplicates.len() as u16).to_be_bytes());
        out.extend_from_slice(&[0, 0]);
        emit_gaps(&sack.gaps, out);
        emit_gaps(non_renegable, out);
        emit_tsns(&sack.duplicates, out);
    }

    pub(super) fn parse(flags: u8, value: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(value);
        let (cumulative_tsn, a_rwnd) = (reader.u32()?, reader.u32()?);
        let (gaps, non_renegable, duplicates) = (reader.u16()?, reader.u16()?, reader.u16()?);
        let _reserved = reader.u16()?;
        if reader.remaining() != 4 * (usize::from(gaps) + usize::from(non_renegable) + usize::from(duplicates)) {
            return None;
        }
        let gaps = parse_gaps(&mut reader, gaps)?;
        let non_renegable = parse_gaps(&mut reader, non_renegable)?;
        let duplicates = parse_tsns(&mut reader, duplicates)?;
        let data_packets = flags >> DATA_PACKETS_SHIFT;
        Some(Self { sack: SackChunk { cumulative_tsn, a_rwnd, data_packets, gaps, duplicates }, non_renegable })
    }
}

fn emit_gaps(gaps: &[GapBlock], out: &mut Vec<u8>) {
    for gap in gaps {
        out.extend_from_slice(&gap.start.to_be_bytes());
        out.extend_from_slice(&gap.end.to_be_bytes());
    }
}

fn emit_tsns(tsns: &[u32], out: &mut Vec<u8>) {
    for tsn in tsns {
        out.extend_from_slice(&tsn.to_be_bytes());
    }
}

fn parse_gaps(reader: &mut Reader<'_>, count: u16) -> Option<GapBlocks> {
    (0..count).map(|_| Some(GapBlock { start: reader.u16()?, end: reader.u16()? })).collect()
}

fn parse_tsns(reader: &mut Reader<'_>, count: u16) -> Option<Vec<u32>> {
    (0..count).map(|_| reader.u32()).collect()
}
