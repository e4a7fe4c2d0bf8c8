//! Writes the TCP header with options in the layout of Linux.

use super::{FIXED_HEADER_LENGTH, SackBlock, TcpOptions, TcpSegment, Timestamps, option_kind};

/// Appends the header with a zero checksum and a zero urgent pointer. The caller has checked that the options fit.
pub(crate) fn emit_header(segment: &TcpSegment, out: &mut Vec<u8>) {
    let words = (segment.header_length() / 4) as u8;
    out.extend_from_slice(&segment.source_port.to_be_bytes());
    out.extend_from_slice(&segment.destination_port.to_be_bytes());
    out.extend_from_slice(&segment.sequence.to_be_bytes());
    out.extend_from_slice(&segment.acknowledgment.to_be_bytes());
    out.extend_from_slice(&[words << 4, segment.flags.0]);
    out.extend_from_slice(&segment.window.to_be_bytes());
    out.extend_from_slice(&[0; 4]);

    let options = out.len();
    emit_options(&segment.options, out);
    debug_assert_eq!(out.len() - options, (segment.header_length() - FIXED_HEADER_LENGTH) as usize);
}

/// Options are in the order of `tcp_options_write` in Linux. NOPs before an option align its values to multiples of 4;
/// MPTCP options are padded with NOPs after them.
fn emit_options(options: &TcpOptions, out: &mut Vec<u8>) {
    use option_kind::{MSS, NOP, SACK_PERMITTED, WINDOW_SCALE};

    if let Some(mss) = options.syn.mss {
        let [high, low] = mss.to_be_bytes();
        out.extend_from_slice(&[MSS, 4, high, low]);
    }
    match (options.syn.sack_permitted, options.timestamps) {
        (true, Some(timestamps)) => {
            out.extend_from_slice(&[SACK_PERMITTED, 2]);
            emit_timestamps(timestamps, out);
        }
        (false, Some(timestamps)) => {
            out.extend_from_slice(&[NOP, NOP]);
            emit_timestamps(timestamps, out);
        }
        (true, None) => out.extend_from_slice(&[NOP, NOP, SACK_PERMITTED, 2]),
        (false, None) => {}
    }
    if let Some(shift) = options.syn.window_scale {
        out.extend_from_slice(&[NOP, WINDOW_SCALE, 3, shift]);
    }
    if !options.sack.is_empty() {
        emit_sack(&options.sack, out);
    }
    if let Some(dss) = &options.dss {
        dss.emit(out);
    }
    for option in &options.mptcp {
        option.emit(out);
    }
}

fn emit_timestamps(timestamps: Timestamps, out: &mut Vec<u8>) {
    out.extend_from_slice(&[option_kind::TIMESTAMPS, 10]);
    out.extend_from_slice(&timestamps.value.to_be_bytes());
    out.extend_from_slice(&timestamps.echo.to_be_bytes());
}

fn emit_sack(blocks: &[SackBlock], out: &mut Vec<u8>) {
    let length = 2 + 8 * blocks.len() as u8;
    out.extend_from_slice(&[option_kind::NOP, option_kind::NOP, option_kind::SACK, length]);
    for block in blocks {
        out.extend_from_slice(&block.left.to_be_bytes());
        out.extend_from_slice(&block.right.to_be_bytes());
    }
}
