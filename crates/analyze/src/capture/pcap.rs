//! The pcap format (draft-ietf-opsawg-pcap): a header for the file, one for each packet.

use super::source::Source;
use super::{Head, LONGEST, Stop};

const MICROSECONDS: u32 = 0xa1b2_c3d4;
const NANOSECONDS: u32 = 0xa1b2_3c4d;
/// The variant of Alexey Kuznetsov's libpcap patch, whose packet headers have 8 more bytes.
const MODIFIED: u32 = 0xa1b2_cd34;

const FILE_HEADER_LENGTH: usize = 24;
const PACKET_HEADER_LENGTH: usize = 16;
const ADDITIONAL_LENGTH: usize = 8;

/// The lower bits of the link-type field; the others describe a frame check sequence.
const LINK_TYPE: u32 = 0xffff;

/// What the file header says.
#[derive(Debug)]
pub(super) struct Pcap {
    is_little_endian: bool,
    nanos_per_unit: u64,
    has_additional_fields: bool,
    link_type: u16,
    is_header_read: bool,
}

impl Pcap {
    /// The format of a file that starts with these bytes.
    pub(super) fn recognise(start: &[u8]) -> Option<Self> {
        // Of a header that is cut, the magic number tells the format.
        let magic = *start.first_chunk()?;
        let mut header = [0; FILE_HEADER_LENGTH];
        let present = start.len().min(header.len());
        header[..present].copy_from_slice(&start[..present]);
        [true, false].into_iter().find_map(|is_little_endian| {
            let (nanos_per_unit, has_additional_fields) = match number(magic, is_little_endian) {
                MICROSECONDS => (1000, false),
                NANOSECONDS => (1, false),
                MODIFIED => (1000, true),
                _ => return None,
            };
            let link_type = number([header[20], header[21], header[22], header[23]], is_little_endian) & LINK_TYPE;
            Some(Self {
                is_little_endian,
                nanos_per_unit,
                has_additional_fields,
                link_type: link_type as u16,
                is_header_read: false,
            })
        })
    }

    /// Reads the header of the file, once.
    pub(super) fn begin(&mut self, source: &mut Source) -> Result<(), Stop> {
        if !self.is_header_read {
            source.require(&mut [0; FILE_HEADER_LENGTH], "the header of the file")?;
            self.is_header_read = true;
        }
        Ok(())
    }

    /// Reads a packet's header, and its bytes into `buffer`.
    pub(super) fn next(&mut self, source: &mut Source, buffer: &mut Vec<u8>) -> Result<Head, Stop> {
        let mut header = [0; PACKET_HEADER_LENGTH];
        source.fill(&mut header, "the header of a packet")?;
        let field =
            |at: usize| number([header[at], header[at + 1], header[at + 2], header[at + 3]], self.is_little_endian);
        let (seconds, fraction, captured, original_length) = (field(0), field(4), field(8), field(12));
        if captured > LONGEST {
            return Err(Stop::Damaged(format!("a packet of {captured} bytes, expected at most {LONGEST}")));
        }
        if self.has_additional_fields {
            source.require(&mut [0; ADDITIONAL_LENGTH], "the header of a packet")?;
        }
        buffer.resize(captured as usize, 0);
        source.require(buffer, "a packet")?;
        let time = u64::from(seconds) * 1_000_000_000 + u64::from(fraction) * self.nanos_per_unit;
        Ok(Head { time, link_type: self.link_type, original_length: original_length.max(captured) })
    }
}

const fn number(bytes: [u8; 4], is_little_endian: bool) -> u32 {
    if is_little_endian { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) }
}
