//! ICMP errors about packets of an association (RFC 9260, sections 7.3 and 10).

use subflow_wire::icmp::{IcmpError, IcmpKind, Quoted, Unreachable};

use super::Association;
use super::phase::Phase;
use crate::path_mtu;

impl Association {
    /// Processes an ICMP error about a packet of this association.
    pub(crate) fn on_icmp(&mut self, error: &IcmpError) {
        let quoted = &error.quoted;
        if self.phase.is_closed() || !self.is_own(quoted) {
            return;
        }
        match error.kind {
            IcmpKind::TooBig { mtu } => {
                let version_6 = quoted.source.is_ipv6();
                if let Some(mtu) = path_mtu::lowered(self.mtu, mtu, quoted.length, version_6) {
                    self.lower_mtu(mtu);
                }
            }
            // ICMP8: a host without SCTP. An INIT is refused only while its answer is outstanding.
            IcmpKind::Unreachable(Unreachable::Protocol) => {
                if quoted.verification_tag() != Some(0) || matches!(self.phase, Phase::CookieWait { .. }) {
                    self.network_error = Some(error.kind);
                    self.on_abort(true);
                }
            }
            // ICMP3: a host with SCTP answers with ABORT instead.
            IcmpKind::Unreachable(Unreachable::Port) | IcmpKind::SourceQuench => {}
            // ICMP9: T3-rtx and HEARTBEATs decide whether a destination is inactive.
            kind => self.network_error = Some(kind),
        }
    }

    /// ICMP6: whether the verification tag is the peer's, or that of our INIT.
    fn is_own(&self, quoted: &Quoted) -> bool {
        match quoted.verification_tag() {
            Some(0) => quoted.initiate_tag() == Some(self.local.tag()),
            Some(tag) => tag == self.peer.tag(),
            None => false,
        }
    }

    /// The latest error that ICMP reported of this association.
    pub fn network_error(&self) -> Option<IcmpKind> {
        self.network_error
    }
}
