//! The Data Sequence Signal: the mapping of the subflow's data and the data-level acknowledgment.

use super::{finish_option, start_option, subtype};
use crate::checksum::{fold, ones_complement_add};
use crate::reader::Reader;

/// Data Sequence Signal (RFC 8684, section 3.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dss {
    /// DATA_ACK.
    pub data_ack: Option<DataAck>,
    /// The mapping of subflow sequence numbers onto data sequence numbers.
    pub mapping: Option<Mapping>,
    /// The F bit: the mapping ends with the DATA_FIN.
    pub data_fin: bool,
}

/// The DATA_ACK of a DSS. If `wide` is false, `value` contains only the low 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataAck {
    /// Next data sequence number expected.
    pub value: u64,
    /// Whether it has 8 bytes (bit `a`) or 4.
    pub wide: bool,
}

/// A data sequence mapping. If `wide` is false, `data_sequence` contains only the low 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Data sequence number of the first mapped byte.
    pub data_sequence: u64,
    /// Whether it has 8 bytes (bit `m`) or 4.
    pub wide: bool,
    /// Subflow sequence number of the first mapped byte, relative to the subflow's initial sequence number; 0 for a
    /// DATA_FIN without data.
    pub subflow_sequence: u32,
    /// Data-level length; 0 announces the infinite mapping (section 3.7).
    pub length: u16,
    /// DSS checksum as sent; present if the connection negotiated checksums.
    pub checksum: Option<u16>,
}

// Flags in the fourth byte (RFC 8684, figure 9).
const DATA_FIN: u8 = 0x10;
const WIDE_DATA_SEQUENCE: u8 = 0x08;
const MAPPING_PRESENT: u8 = 0x04;
const WIDE_DATA_ACK: u8 = 0x02;
const DATA_ACK_PRESENT: u8 = 0x01;

impl Dss {
    /// Bytes the option takes in the header, with padding to a multiple of 4.
    #[inline]
    pub fn wire_length(&self) -> u32 {
        self.length_field().next_multiple_of(4)
    }

    /// Bytes the option takes without padding.
    #[inline]
    fn length_field(&self) -> u32 {
        let data_ack = self.data_ack.map_or(0, |ack| 4 + 4 * u32::from(ack.wide));
        let mapping =
            self.mapping.map_or(0, |map| 10 + 4 * u32::from(map.wide) + 2 * u32::from(map.checksum.is_some()));
        4 + data_ack + mapping
    }

    pub(crate) fn emit(&self, out: &mut Vec<u8>) {
        let start = start_option(self.length_field(), subtype::DSS, 0, out);
        out.push(self.flags());
        if let Some(ack) = self.data_ack {
            emit_sequence(ack.value, ack.wide, out);
        }
        if let Some(mapping) = self.mapping {
            emit_sequence(mapping.data_sequence, mapping.wide, out);
            out.extend_from_slice(&mapping.subflow_sequence.to_be_bytes());
            out.extend_from_slice(&mapping.length.to_be_bytes());
            if let Some(checksum) = mapping.checksum {
                out.extend_from_slice(&checksum.to_be_bytes());
            }
        }
        finish_option(start, out);
    }

    fn flags(&self) -> u8 {
        let mut flags = 0;
        if let Some(ack) = self.data_ack {
            flags |= DATA_ACK_PRESENT | if ack.wide { WIDE_DATA_ACK } else { 0 };
        }
        if let Some(mapping) = self.mapping {
            flags |= MAPPING_PRESENT | if mapping.wide { WIDE_DATA_SEQUENCE } else { 0 };
        }
        flags | if self.data_fin { DATA_FIN } else { 0 }
    }

    /// Parses the bytes after the subtype. The length determines whether there is a checksum: only the connection knows
    /// whether checksums were negotiated.
    pub(super) fn parse(mut reader: Reader<'_>) -> Option<Self> {
        let flags = reader.u8()?;
        let has = |flag| flags & flag != 0;
        let data_ack = if has(DATA_ACK_PRESENT) {
            let wide = has(WIDE_DATA_ACK);
            Some(DataAck { value: parse_sequence(wide, &mut reader)?, wide })
        } else {
            None
        };
        let mapping = if has(MAPPING_PRESENT) {
            let wide = has(WIDE_DATA_SEQUENCE);
            Some(Mapping {
                data_sequence: parse_sequence(wide, &mut reader)?,
                wide,
                subflow_sequence: reader.u32()?,
                length: reader.u16()?,
                checksum: if reader.remaining() > 0 { Some(reader.u16()?) } else { None },
            })
        } else {
            None
        };
        reader.finish(Self { data_ack, mapping, data_fin: has(DATA_FIN) })
    }
}

fn emit_sequence(sequence: u64, wide: bool, out: &mut Vec<u8>) {
    if wide {
        out.extend_from_slice(&sequence.to_be_bytes());
    } else {
        out.extend_from_slice(&(sequence as u32).to_be_bytes());
    }
}

fn parse_sequence(wide: bool, reader: &mut Reader<'_>) -> Option<u64> {
    if wide { reader.u64() } else { reader.u32().map(u64::from) }
}

impl Mapping {
    /// The DSS checksum for this mapping (RFC 8684, section 3.3.1): over a pseudo header of data sequence number,
    /// relative subflow sequence number, data-level length and 16 zero bits, and over the data, whose one's-complement
    /// sum is `payload_sum`. To combine the sums of several segments use
    /// [`sum_at_offset`](crate::checksum::sum_at_offset).
    ///
    /// "Note that the data sequence number used in the pseudo-header is always the 64-bit value, irrespective of what
    /// length is used in the DSS option itself." So `data_sequence` must be the 64-bit value here: extend that of a
    /// parsed mapping that is not `wide` first.
    ///
    /// The checksum of MP_CAPABLE with data is that of a mapping with the initial data sequence number plus 1, the
    /// subflow sequence number 1, and the option's data-level length.
    pub const fn checksum_for(&self, payload_sum: u16) -> u16 {
        !self.checksummed_sum(payload_sum)
    }

    /// Whether the checksum matches data whose one's-complement sum is `payload_sum`; true if the mapping has none. As
    /// for [`Self::checksum_for`], `data_sequence` must be the 64-bit value.
    pub const fn is_intact(&self, payload_sum: u16) -> bool {
        match self.checksum {
            Some(checksum) => ones_complement_add(self.checksummed_sum(payload_sum), checksum) == 0xffff,
            None => true,
        }
    }

    const fn checksummed_sum(&self, payload_sum: u16) -> u16 {
        let data_sequence = (self.data_sequence >> 32) + (self.data_sequence & 0xffff_ffff);
        let pseudo_header = fold(data_sequence + self.subflow_sequence as u64 + self.length as u64);
        ones_complement_add(pseudo_header, payload_sum)
    }
}
