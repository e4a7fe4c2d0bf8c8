//! The numbers that one end of a TCP connection has sent.

use subflow_wire::TcpSegment;
use subflow_wire::tcp::TcpFlags;
use subflow_wire::tcp::mptcp::{Join, MptcpOption};

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TcpSaid {
    /// Initial sequence number.
    pub(crate) isn: u32,
    /// SND.NXT, as far as it has spoken.
    pub(crate) next: u32,
    /// RCV.NXT, once it has acknowledged anything.
    pub(crate) acknowledged: Option<u32>,
    /// The last TSval.
    pub(crate) timestamp: u32,
    /// The nonce of its MP_JOIN.
    pub(crate) nonce: u32,
    spoken: bool,
}

impl TcpSaid {
    pub(crate) fn hear(&mut self, segment: &TcpSegment) {
        let has = |flag| segment.flags.contains(flag);
        let control = u32::from(has(TcpFlags::SYN)) + u32::from(has(TcpFlags::FIN));
        let end = segment.sequence.wrapping_add(segment.payload.length).wrapping_add(control);
        if has(TcpFlags::SYN) {
            (self.isn, self.next, self.spoken) = (segment.sequence, end, true);
            // What it acknowledged before was of another connection between these ports, maybe a stranger's.
            self.acknowledged = None;
        } else if !has(TcpFlags::RST) && (!self.spoken || is_after(end, self.next)) {
            (self.next, self.spoken) = (end, true);
        }
        if has(TcpFlags::ACK) && self.acknowledged.is_none_or(|known| is_after(segment.acknowledgment, known)) {
            self.acknowledged = Some(segment.acknowledgment);
        }
        if let Some(timestamps) = segment.options.timestamps {
            self.timestamp = timestamps.value;
        }
        for option in &segment.options.mptcp {
            if let MptcpOption::Join(Join::Syn { nonce, .. } | Join::SynAck { nonce, .. }) = option {
                self.nonce = *nonce;
            }
        }
    }
}

/// Whether sequence number `a` lies after `b`.
fn is_after(a: u32, b: u32) -> bool {
    a.wrapping_sub(b) as i32 > 0
}
