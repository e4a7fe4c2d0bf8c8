//! Parses the TCP header.

use arrayvec::ArrayVec;

use super::mptcp::{self, ParsedOption};
use super::{FIXED_HEADER_LENGTH, SackBlock, TcpFlags, TcpOptions, TcpSegment, Timestamps, option_kind};
use crate::error::{Header, ParseError};
use crate::reader::Reader;

/// Length of the header at the start of `bytes`, after checking that it is complete.
pub(crate) fn header_length(bytes: &[u8]) -> Result<usize, ParseError> {
    let truncated = |needed| ParseError::Truncated { header: Header::Tcp, needed, available: bytes.len() };

    let minimum = FIXED_HEADER_LENGTH as usize;
    if bytes.len() < minimum {
        return Err(truncated(minimum));
    }
    let stated = usize::from(bytes[12] >> 4) * 4;
    if stated < minimum {
        return Err(ParseError::LengthField { header: Header::Tcp, stated, minimum });
    }
    if stated > bytes.len() {
        return Err(truncated(stated));
    }
    Ok(stated)
}

/// Parses `header`, which is exactly one header. The payload is left empty.
pub(crate) fn parse_header(header: &[u8]) -> TcpSegment {
    let (fixed, options) = header.split_at(FIXED_HEADER_LENGTH as usize);
    let short = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
    let long = |at: usize| u32::from_be_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
    TcpSegment {
        source_port: short(0),
        destination_port: short(2),
        sequence: long(4),
        acknowledgment: long(8),
        flags: TcpFlags(fixed[13]),
        window: short(14),
        options: parse_options(options),
        payload: Default::default(),
    }
}

/// Parses the option list. Unknown and malformed options are skipped. If an option that may occur once occurs more
/// often, the last one is used. An invalid length ends the list (RFC 9293, section 3.1, MUST-7, suggests a reset; like
/// Linux we accept the segment, whose checksum is correct).
fn parse_options(mut bytes: &[u8]) -> TcpOptions {
    let mut options = TcpOptions::default();
    while let [kind, rest @ ..] = bytes {
        match *kind {
            option_kind::END => break,
            option_kind::NOP => bytes = rest,
            kind => {
                let Some(length @ 2..) = rest.first().map(|&length| usize::from(length)) else { break };
                let Some((option, behind)) = bytes.split_at_checked(length) else { break };
                let _malformed_is_none = parse_option(kind, &option[2..], &mut options);
                bytes = behind;
            }
        }
    }
    options
}

/// Parses the `body` of one option, the bytes after kind and length, into its field. `None` if the option is unknown or
/// malformed.
fn parse_option(kind: u8, body: &[u8], options: &mut TcpOptions) -> Option<()> {
    let mut reader = Reader::new(body);
    match kind {
        option_kind::MSS => {
            let mss = reader.u16()?;
            options.syn.mss = Some(reader.finish(mss)?);
        }
        option_kind::WINDOW_SCALE => {
            let shift = reader.u8()?;
            options.syn.window_scale = Some(reader.finish(shift)?);
        }
        option_kind::SACK_PERMITTED => options.syn.sack_permitted = reader.finish(true)?,
        option_kind::SACK => options.sack = parse_sack(reader)?,
        option_kind::TIMESTAMPS => {
            let timestamps = Timestamps { value: reader.u32()?, echo: reader.u32()? };
            options.timestamps = Some(reader.finish(timestamps)?);
        }
        option_kind::MPTCP => match mptcp::parse(body)? {
            ParsedOption::Dss(dss) => options.dss = Some(dss),
            ParsedOption::Other(option) => options.mptcp.push(option),
        },
        _ => return None,
    }
    Some(())
}

/// One or more complete blocks (RFC 2018, section 3).
fn parse_sack(mut reader: Reader<'_>) -> Option<ArrayVec<SackBlock, 4>> {
    let mut blocks = ArrayVec::new();
    while reader.remaining() > 0 {
        let block = SackBlock { left: reader.u32()?, right: reader.u32()? };
        blocks.try_push(block).ok()?;
    }
    (!blocks.is_empty()).then_some(blocks)
}
