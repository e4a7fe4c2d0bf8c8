//! The pcapng format (draft-ietf-opsawg-pcapng): blocks with packets, interfaces and others, which are skipped.

use super::source::Source;
use super::{Head, LONGEST, Stop};

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
/// Obsolete, and written by old programs.
const PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;

const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
/// Bytes of a block in addition to its body: type, length, and length again.
const BLOCK_FRAME: u32 = 12;
/// Bytes of a packet block's body before the packet.
const PACKET_FIELDS: usize = 20;

const OPTION_END: u16 = 0;
const OPTION_TIMESTAMP_RESOLUTION: u16 = 9;
const OPTION_TIMESTAMP_OFFSET: u16 = 14;

/// More interfaces than this are damage: each takes memory.
const MOST_INTERFACES: usize = 65_536;

pub(super) fn is_pcapng(start: &[u8]) -> bool {
    start.starts_with(&SECTION_HEADER.to_be_bytes())
}

/// The section that is being read.
#[derive(Debug, Default)]
pub(super) struct Pcapng {
    is_little_endian: bool,
    interfaces: Vec<Interface>,
    last_time: u64,
}

#[derive(Debug)]
struct Interface {
    link_type: u16,
    snap_length: u32,
    units_per_second: u64,
    offset_seconds: i64,
}

impl Pcapng {
    /// Reads blocks up to one with a packet, whose bytes are in `buffer` then.
    pub(super) fn next(&mut self, source: &mut Source, buffer: &mut Vec<u8>) -> Result<Head, Stop> {
        loop {
            let mut frame = [0; 8];
            source.fill(&mut frame, "the header of a block")?;
            let [a, b, c, d, length @ ..] = frame;
            let kind = self.number([a, b, c, d]);
            if kind == SECTION_HEADER {
                self.start_section(source, length)?;
                continue;
            }
            let length = self.number(length);
            if length < BLOCK_FRAME || !length.is_multiple_of(4) {
                return Err(Stop::Damaged(format!("a block of {length} bytes, expected a multiple of 4 from 12 on")));
            }
            let body = length - BLOCK_FRAME;
            if !matches!(kind, INTERFACE_DESCRIPTION | PACKET | SIMPLE_PACKET | ENHANCED_PACKET) {
                source.skip(u64::from(body) + 4, "a block")?;
                continue;
            }
            if length > LONGEST {
                return Err(Stop::Damaged(format!("a block of {length} bytes, expected at most {LONGEST}")));
            }
            buffer.resize(body as usize, 0);
            source.require(buffer, "a block")?;
            source.require(&mut [0; 4], "the end of a block")?;
            match kind {
                INTERFACE_DESCRIPTION => self.add_interface(buffer)?,
                SIMPLE_PACKET => return self.simple_packet(buffer),
                _ => return self.packet(kind, buffer),
            }
        }
    }

    fn start_section(&mut self, source: &mut Source, length: [u8; 4]) -> Result<(), Stop> {
        let mut magic = [0; 4];
        source.require(&mut magic, "the header of a section")?;
        self.is_little_endian = match BYTE_ORDER_MAGIC {
            order if u32::from_le_bytes(magic) == order => true,
            order if u32::from_be_bytes(magic) == order => false,
            _ => return Err(Stop::Damaged("a section without its byte-order magic".to_owned())),
        };
        self.interfaces.clear();
        let length = self.number(length);
        let Some(rest) = length.checked_sub(BLOCK_FRAME) else {
            return Err(Stop::Damaged(format!("a section header of {length} bytes")));
        };
        source.skip(u64::from(rest), "the header of a section")
    }

    fn add_interface(&mut self, body: &[u8]) -> Result<(), Stop> {
        let Some((fixed, mut options)) = body.split_first_chunk::<8>() else {
            return Err(Stop::Damaged("an interface description that is too short".to_owned()));
        };
        if self.interfaces.len() == MOST_INTERFACES {
            return Err(Stop::Damaged(format!("more than {MOST_INTERFACES} interfaces")));
        }
        let snap_length = self.number([fixed[4], fixed[5], fixed[6], fixed[7]]);
        let link_type = self.short([fixed[0], fixed[1]]);
        let mut interface = Interface { link_type, snap_length, units_per_second: 1_000_000, offset_seconds: 0 };
        while let Some((&[a, b, c, d], rest)) = options.split_first_chunk::<4>() {
            let (code, length) = (self.short([a, b]), usize::from(self.short([c, d])));
            let Some(value) = rest.get(..length) else { break };
            match (code, value) {
                (OPTION_END, _) => break,
                (OPTION_TIMESTAMP_RESOLUTION, &[resolution]) => {
                    interface.units_per_second = units_per_second(resolution)
                        .ok_or_else(|| Stop::Damaged(format!("a time resolution of {resolution:#x}")))?;
                }
                (OPTION_TIMESTAMP_OFFSET, &[a, b, c, d, e, f, g, h]) => {
                    let bytes = [a, b, c, d, e, f, g, h];
                    interface.offset_seconds =
                        if self.is_little_endian { i64::from_le_bytes(bytes) } else { i64::from_be_bytes(bytes) };
                }
                _ => {}
            }
            options = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        }
        self.interfaces.push(interface);
        Ok(())
    }

    /// Removes what is not the packet from `buffer`, the body of its block.
    fn packet(&mut self, kind: u32, buffer: &mut Vec<u8>) -> Result<Head, Stop> {
        let Some(fields) = buffer.first_chunk::<PACKET_FIELDS>() else {
            return Err(Stop::Damaged("a packet block that is too short".to_owned()));
        };
        let field = |at: usize| self.number([fields[at], fields[at + 1], fields[at + 2], fields[at + 3]]);
        let number = if kind == PACKET { u32::from(self.short([fields[0], fields[1]])) } else { field(0) };
        let ticks = u64::from(field(4)) << 32 | u64::from(field(8));
        let (captured, original_length) = (field(12), field(16));
        let Some(interface) = self.interfaces.get(number as usize) else {
            return Err(Stop::Damaged(format!("a packet of interface {number}, which was not described")));
        };
        let time = interface.nanos(ticks);
        let head = Head { time, link_type: interface.link_type, original_length: original_length.max(captured) };
        self.last_time = time;
        if captured as usize > buffer.len() - PACKET_FIELDS {
            return Err(Stop::Damaged(format!("a packet of {captured} bytes in a shorter block")));
        }
        buffer.truncate(PACKET_FIELDS + captured as usize);
        buffer.drain(..PACKET_FIELDS);
        Ok(head)
    }

    /// A packet without interface and time: those of the first interface, and of the packet before.
    fn simple_packet(&self, buffer: &mut Vec<u8>) -> Result<Head, Stop> {
        let (Some(interface), Some(&length)) = (self.interfaces.first(), buffer.first_chunk::<4>()) else {
            return Err(Stop::Damaged("a simple packet without an interface or a length".to_owned()));
        };
        let original_length = self.number(length);
        let snap_length = if interface.snap_length == 0 { u32::MAX } else { interface.snap_length };
        let captured = original_length.min(snap_length) as usize;
        buffer.drain(..4);
        buffer.truncate(captured);
        Ok(Head { time: self.last_time, link_type: interface.link_type, original_length })
    }

    const fn number(&self, bytes: [u8; 4]) -> u32 {
        if self.is_little_endian { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) }
    }

    const fn short(&self, bytes: [u8; 2]) -> u16 {
        if self.is_little_endian { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) }
    }
}

impl Interface {
    fn nanos(&self, ticks: u64) -> u64 {
        let nanos = u128::from(ticks) * 1_000_000_000 / u128::from(self.units_per_second);
        let nanos = i128::try_from(nanos).unwrap_or(i128::MAX);
        let shifted = nanos.saturating_add(i128::from(self.offset_seconds) * 1_000_000_000);
        u64::try_from(shifted.max(0)).unwrap_or(u64::MAX)
    }
}

/// `if_tsresol`: a negative power of 10, or of 2 if the highest bit is set.
const fn units_per_second(resolution: u8) -> Option<u64> {
    let (base, exponent) = if resolution & 0x80 == 0 { (10_u64, resolution) } else { (2, resolution & 0x7f) };
    base.checked_pow(exponent as u32)
}
