//! Ends in TIME-WAIT that a new SYN opens again (RFC 6191; RFC 9293, section 3.6.1).

use subflow_wire::tcp::{TcpFlags, TcpSegment};

use super::{Connection, State, sequence};

/// How far the next connection's initial sequence number lies above everything that this one has used: a window without
/// scaling, and a little more (Linux `tcp_timewait_state_process`).
const SEQUENCE_GAP: u32 = 65_535 + 2;

impl Connection {
    /// Whether `syn` may open a new connection between the ends of this one, which is in TIME-WAIT, and the initial
    /// sequence number that the new one has to have then. `None` where `syn` may be an old duplicate, and in every
    /// other state.
    ///
    /// By RFC 6191, section 2, the peer's SYN has to be newer than the last that came from it: by its timestamp, where
    /// both connections have them (`timestamps`: the new one would), else by its sequence number. A SYN with timestamps
    /// after a connection without is new. This side's numbers are then larger than all that it used before (RFC 9293,
    /// section 3.6.1).
    pub(crate) fn reopening_sequence(&self, syn: &TcpSegment, timestamps: bool) -> Option<u32> {
        let is_syn = syn.flags.contains(TcpFlags::SYN)
            && !syn.flags.contains(TcpFlags::ACK)
            && !syn.flags.contains(TcpFlags::RST);
        if self.state != State::TimeWait || !is_syn {
            return None;
        }
        let last = sequence::wrap(self.receive.nxt, self.receive.initial).wrapping_sub(1);
        let above = (syn.sequence.wrapping_sub(last) as i32) > 0;
        let theirs = syn.options.timestamps.filter(|_| timestamps).map(|timestamps| timestamps.value);
        let recent = self.negotiated.timestamps.then(|| self.receive.timestamps.to_echo());
        let is_new = match (theirs, recent) {
            (Some(theirs), Some(recent)) if theirs != recent => (theirs.wrapping_sub(recent) as i32) > 0,
            (Some(_), None) => true,
            _ => above,
        };
        is_new.then(|| sequence::wrap(self.send.nxt, self.send.initial).wrapping_add(SEQUENCE_GAP))
    }
}
