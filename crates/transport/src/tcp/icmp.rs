//! ICMP errors about segments of a connection (RFC 9293, section 3.9.2.2; RFC 5927; RFC 1191; RFC 8201).

use subflow_policy::congestion::{Controller, RecoveryState};
use subflow_quantity::Instant;
use subflow_wire::icmp::{IcmpError, IcmpKind, Unreachable};

use super::{Closed, Connection};
use crate::path_mtu;

impl Connection {
    /// Processes an ICMP error about a segment of this connection. An error about a segment that is not outstanding
    /// has no effect: it is late, or forged (RFC 5927, section 4.1).
    pub(crate) fn on_icmp(&mut self, error: &IcmpError, now: Instant, cc: &mut Controller) {
        let Some(number) = error.quoted.tcp_sequence() else { return };
        if self.lifecycle.is_closed() || !self.send.is_outstanding(number) {
            return;
        }
        match error.kind {
            // RFC 6633.
            IcmpKind::SourceQuench => {}
            IcmpKind::TooBig { mtu } => {
                let version_6 = self.ends.local.is_ipv6();
                let current = u32::from(self.size.path_mtu());
                if let Some(mtu) = path_mtu::lowered(current, mtu, error.quoted.length, version_6) {
                    self.lower_path_mtu(mtu as u16, now, cc);
                }
            }
            // A hard error refuses a connection that opens. One that is established has exchanged packets with its
            // peer: the error is as likely a failure of a router or an attack (RFC 5927, section 5.2), and a failure
            // that lasts ends in a timeout.
            IcmpKind::Unreachable(Unreachable::Protocol | Unreachable::Port) if !self.lifecycle.is_synchronised() => {
                self.network_error = Some(error.kind);
                self.close(Closed::Refused);
            }
            kind => self.network_error = Some(kind),
        }
    }

    /// The latest soft error that ICMP reported of this connection, or the hard one that ended it.
    pub fn network_error(&self) -> Option<IcmpKind> {
        self.network_error
    }

    /// The largest IP packet that this connection sends: the configured MTU, or what routers reported.
    pub fn path_mtu(&self) -> u16 {
        self.size.path_mtu()
    }

    /// Segments that are outstanding and larger were dropped: they are sent again at once, in parts. This is no sign
    /// of congestion (RFC 1191, section 6.5; Linux `tcp_simple_retransmit`).
    pub(super) fn lower_path_mtu(&mut self, mtu: u16, now: Instant, cc: &mut Controller) {
        self.size.set_path_mtu(mtu);
        self.send_large_again(now, cc);
    }

    /// Sends outstanding segments above the MSS again, in parts.
    pub(super) fn send_large_again(&mut self, now: Instant, cc: &mut Controller) {
        self.forget_mtu_probe();
        self.forget_duplicate_acks();
        if !self.lifecycle.is_synchronised() || !self.sent.cut(u64::from(self.size.mss())) {
            return;
        }
        self.cut_snapshots();
        if self.recovery_state(cc) != RecoveryState::Loss {
            self.recovery.last_until(self.send.next());
            self.undo.rule_out();
            cc.forget_undo(self.path);
            self.enter_state(RecoveryState::Loss, cc);
        }
        self.recovery.resend_parts();
        self.rearm_retransmission(now);
    }
}
