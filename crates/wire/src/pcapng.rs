//! Captures in the pcapng format (draft-ietf-opsawg-pcapng), for Wireshark and tshark.
//!
//! One section, written little-endian on every machine, with one interface description per interface and one enhanced
//! packet block per packet. Packets start with their IP header; times are in nanoseconds.

use std::io::{self, Write};

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;

const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
const MAJOR_VERSION: u16 = 1;
const MINOR_VERSION: u16 = 0;
const SECTION_LENGTH_UNKNOWN: u64 = u64::MAX;

/// LINKTYPE_RAW: the packet starts with an IPv4 or IPv6 header, distinguished by the version field.
const LINK_TYPE_RAW: u16 = 101;
const NO_SNAP_LENGTH: u32 = 0;

const OPTION_END: u16 = 0;
const OPTION_INTERFACE_NAME: u16 = 2;
const OPTION_TIMESTAMP_RESOLUTION: u16 = 9;
/// Timestamps count units of 10^-9 s.
const NANOSECONDS: u8 = 9;

/// Bytes of a block in addition to its body: type, length, and length again.
const BLOCK_FRAME: usize = 12;
/// Bytes of an enhanced packet block's body before the packet.
const PACKET_FIELDS: usize = 20;

/// Writes a capture of one or more interfaces.
///
/// Wrap files in a [`BufWriter`](io::BufWriter): every packet is three small writes.
#[derive(Debug)]
pub struct PcapngWriter<W> {
    writer: W,
    interfaces: u32,
}

impl<W: Write> PcapngWriter<W> {
    /// Starts a capture with these interface names.
    pub fn new(mut writer: W, interfaces: &[&str]) -> io::Result<Self> {
        write_block(&mut writer, SECTION_HEADER, &section_header())?;
        for name in interfaces {
            write_block(&mut writer, INTERFACE_DESCRIPTION, &interface_description(name)?)?;
        }
        Ok(Self { writer, interfaces: interfaces.len() as u32 })
    }

    /// Appends `packet`, captured `timestamp_nanos` nanoseconds after the Unix epoch on the interface with this index
    /// in the list passed to [`Self::new`]. The caller must write packets in order of time, as tools expect.
    pub fn write_packet(&mut self, interface: u32, timestamp_nanos: u64, packet: &[u8]) -> io::Result<()> {
        if interface >= self.interfaces {
            let message = format!("no interface at position {interface}, the capture has {}", self.interfaces);
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let padding = padding(packet.len());
        let packet_length = block_field(packet.len())?;
        let block_length = block_field(packet_block_length(packet.len()))?;
        let fields = [
            ENHANCED_PACKET,
            block_length,
            interface,
            (timestamp_nanos >> 32) as u32,
            timestamp_nanos as u32,
            packet_length,
            packet_length, // original length: packets are captured whole
        ];
        let mut head = [0; 28];
        for (place, field) in head.chunks_exact_mut(4).zip(fields) {
            place.copy_from_slice(&field.to_le_bytes());
        }
        let mut tail = [0; 7];
        tail[padding..padding + 4].copy_from_slice(&block_length.to_le_bytes());

        self.writer.write_all(&head)?;
        self.writer.write_all(packet)?;
        self.writer.write_all(&tail[..padding + 4])
    }

    /// Flushes the underlying writer.
    pub fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }

    /// Returns the underlying writer. The capture is complete after every packet.
    pub fn into_inner(self) -> W {
        self.writer
    }
}

/// The number of bytes that a packet of `length` bytes takes in a capture.
pub const fn packet_block_length(length: usize) -> usize {
    BLOCK_FRAME + PACKET_FIELDS + length + padding(length)
}

fn section_header() -> Vec<u8> {
    let mut body = Vec::new();
    body.extend_from_slice(&BYTE_ORDER_MAGIC.to_le_bytes());
    body.extend_from_slice(&MAJOR_VERSION.to_le_bytes());
    body.extend_from_slice(&MINOR_VERSION.to_le_bytes());
    body.extend_from_slice(&SECTION_LENGTH_UNKNOWN.to_le_bytes());
    body
}

fn interface_description(name: &str) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    body.extend_from_slice(&LINK_TYPE_RAW.to_le_bytes());
    body.extend_from_slice(&[0; 2]);
    body.extend_from_slice(&NO_SNAP_LENGTH.to_le_bytes());
    push_option(OPTION_INTERFACE_NAME, name.as_bytes(), &mut body)?;
    push_option(OPTION_TIMESTAMP_RESOLUTION, &[NANOSECONDS], &mut body)?;
    push_option(OPTION_END, &[], &mut body)?;
    Ok(body)
}

fn push_option(code: u16, value: &[u8], body: &mut Vec<u8>) -> io::Result<()> {
    let length = u16::try_from(value.len())
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "interface name exceeds 65535 bytes"))?;
    body.extend_from_slice(&code.to_le_bytes());
    body.extend_from_slice(&length.to_le_bytes());
    body.extend_from_slice(value);
    body.resize(body.len() + padding(value.len()), 0);
    Ok(())
}

/// Writes a block. The length of `body` must be a multiple of 4.
fn write_block(writer: &mut impl Write, block_type: u32, body: &[u8]) -> io::Result<()> {
    let length = block_field(BLOCK_FRAME + body.len())?.to_le_bytes();
    writer.write_all(&block_type.to_le_bytes())?;
    writer.write_all(&length)?;
    writer.write_all(body)?;
    writer.write_all(&length)
}

fn block_field(length: usize) -> io::Result<u32> {
    u32::try_from(length)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "packet exceeds the 4 GiB of a pcapng block"))
}

/// The number of padding bytes to the next multiple of 4.
const fn padding(length: usize) -> usize {
    length.next_multiple_of(4) - length
}
