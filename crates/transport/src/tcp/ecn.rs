//! Explicit congestion notification (RFC 3168, section 6.1, as Linux implements it), and what DCTCP changes of it (RFC
//! 8257, section 3).
//!
//! | what | whose | rule |
//! |---|---|---|
//! | SYN with ECE and CWR, SYN/ACK with ECE | both | both ends have to agree; a SYN that is sent again asks no more (section 6.1.1.1; Linux `tcp_ecn_fallback`) |
//! | ECT(0) | sender | on data that is sent for the first time, and on nothing else (sections 6.1.4 and 6.1.5) |
//! | CE | receiver | ECE on all that is sent, until data with CWR arrives (section 6.1.3) |
//! | ECE | sender | one reduction of the window per round trip, announced by CWR on the next new data (section 6.1.2) |
//!
//! With DCTCP every packet is ECN-capable, and ECE says of each data segment whether it came with CE: where that
//! changes, an acknowledgment that was delayed is sent first, for what came before.

use subflow_policy::congestion::{Controller, Loss, RecoveryState};
use subflow_quantity::Instant;
use subflow_wire::tcp::{TcpFlags, TcpSegment};
use subflow_wire::{Ecn as Codepoint, IpHeader};

use super::Connection;
use super::config::EcnMode;

/// The use of ECN on one connection.
#[derive(Clone, Debug)]
pub(super) struct Ecn {
    mode: EcnMode,
    /// Both ends have agreed.
    is_used: bool,
    /// An ECN-capable data segment has arrived.
    has_seen_capable: bool,
    /// The window was reduced, which the next new data announces.
    announces: bool,
    /// ECE, if what is sent carries it.
    echo: TcpFlags,
    /// The codepoint of all packets but new data.
    of_others: Codepoint,
    /// What a receiver of DCTCP knows besides. Connections without it stay small.
    dctcp: Option<Box<DctcpReceiver>>,
}

/// The receiver of DCTCP (RFC 8257, section 3.2).
#[derive(Clone, Debug, Default)]
struct DctcpReceiver {
    /// What the last data segment left to acknowledge, and whether CE was set on it.
    acknowledged: EarlierAck,
    /// An acknowledgment to send before all others.
    earlier: Option<EarlierAck>,
}

/// An acknowledgment of less than has arrived.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EarlierAck {
    /// RCV.NXT at that time.
    pub(super) next: u64,
    /// ECE, if it carries it.
    pub(super) echo: TcpFlags,
}

impl Ecn {
    /// That of a connection before its handshake.
    pub(super) fn new(mode: EcnMode) -> Self {
        Self {
            mode,
            is_used: false,
            has_seen_capable: false,
            announces: false,
            echo: TcpFlags::default(),
            of_others: mode.of_others(),
            dctcp: (mode == EcnMode::Dctcp).then(Box::default),
        }
    }

    /// The flags that ask for ECN in a SYN that was sent `repeated` times before, or agree to it in a SYN/ACK.
    pub(super) fn flags_of_syn(&self, is_answer: bool, repeated: u32) -> TcpFlags {
        match (is_answer, self.is_used) {
            (true, true) => TcpFlags::ECE,
            (false, _) if self.mode.requests() && repeated == 0 => TcpFlags::ECE | TcpFlags::CWR,
            _ => TcpFlags::default(),
        }
    }

    /// The peer's SYN or SYN/ACK arrived with `flags`; `is_active`: this side has sent a SYN before.
    pub(super) fn on_syn(&mut self, flags: TcpFlags, is_active: bool) {
        let may = if is_active { self.mode.requests() } else { self.mode != EcnMode::Off };
        let agrees = flags.contains(TcpFlags::ECE) && flags.contains(TcpFlags::CWR) != flags.contains(TcpFlags::ACK);
        self.is_used = may && agrees;
        if !self.is_used {
            self.of_others = Codepoint::NotEct;
        }
    }

    /// Whether both ends have agreed to use it.
    #[inline]
    pub(super) fn is_used(&self) -> bool {
        self.is_used
    }

    /// The flags that all packets but SYNs carry.
    #[inline]
    pub(super) fn echo(&self) -> TcpFlags {
        self.echo
    }

    /// The codepoint of all packets but new data.
    #[inline]
    pub(super) fn of_others(&self) -> Codepoint {
        self.of_others
    }

    /// The window was reduced.
    pub(super) fn on_reduction(&mut self) {
        self.announces = self.is_used;
    }

    /// The reduction was undone: there is nothing to announce.
    pub(super) fn on_undo(&mut self) {
        self.announces = false;
    }

    /// The peer has reduced its window.
    fn on_peer_reduction(&mut self) {
        if self.dctcp.is_none() {
            self.echo = TcpFlags::default();
        }
    }

    /// The acknowledgment that is to be sent before all others.
    #[inline]
    pub(super) fn take_earlier_ack(&mut self) -> Option<EarlierAck> {
        self.dctcp.as_mut()?.earlier.take()
    }

    /// An acknowledgment of all that has arrived is being sent.
    #[inline]
    pub(super) fn on_ack_sent(&mut self) {
        if let Some(dctcp) = &mut self.dctcp {
            dctcp.earlier = None;
        }
    }

    /// With DCTCP: data arrived, all of it up to `next` in order, and CE was set on it or not. `is_delayed`: an
    /// acknowledgment of earlier data waits. Returns whether to acknowledge at once; `None` without DCTCP.
    fn on_dctcp_data(&mut self, is_marked: bool, next: u64, is_delayed: bool) -> Option<bool> {
        let dctcp = self.dctcp.as_mut()?;
        let echo = if is_marked { TcpFlags::ECE } else { TcpFlags::default() };
        let before = core::mem::replace(&mut dctcp.acknowledged, EarlierAck { next, echo });
        let has_changed = before.echo != echo;
        if has_changed && is_delayed {
            dctcp.earlier = Some(before);
        }
        self.echo = echo;
        Some(has_changed)
    }
}

impl Connection {
    /// Whether both ends have agreed to use ECN.
    pub fn uses_ecn(&self) -> bool {
        self.ecn.is_used()
    }

    /// Makes `segment`, which was built last and has new data, ECN-capable, and announces a reduction of the window.
    pub(super) fn make_capable(&mut self, segment: &mut TcpSegment) {
        if segment.payload.length == 0 {
            return;
        }
        self.ip.ecn = Codepoint::Ect0;
        if core::mem::take(&mut self.ecn.announces) {
            segment.flags |= TcpFlags::CWR;
        }
    }

    /// Where ECN is used: the peer may announce that it has reduced its window, which may now be too small for its
    /// acknowledgments to wait (Linux `tcp_ecn_accept_cwr`).
    pub(super) fn take_announcement(&mut self, segment: &TcpSegment) {
        if segment.flags.contains(TcpFlags::CWR) {
            self.ecn.on_peer_reduction();
            if segment.payload.length > 0 || segment.flags.contains(TcpFlags::FIN) {
                self.request_ack();
            }
        }
    }

    /// Data arrived that was not received before, with the network header `ip` (Linux `tcp_ecn_check_ce`).
    pub(super) fn take_codepoint(&mut self, ip: &IpHeader) {
        let is_marked = ip.ecn == Codepoint::CongestionExperienced;
        if ip.ecn == Codepoint::NotEct {
            // The sender of ECN-capable data has retransmitted this: its window may be small.
            if self.ecn.has_seen_capable {
                self.acknowledge.hurry_for_small_window(self.receive_window());
            }
            return;
        }
        self.ecn.has_seen_capable = true;
        match self.ecn.on_dctcp_data(is_marked, self.receive.next(), self.acknowledge.is_delayed()) {
            Some(true) => self.request_ack(),
            Some(false) => {}
            None if is_marked && self.ecn.echo == TcpFlags::default() => {
                self.ecn.echo = TcpFlags::ECE;
                self.acknowledge.hurry_for_small_window(self.receive_window());
            }
            None => {}
        }
    }

    /// Reduces the window because the network has marked data, unless it is being reduced (Linux `tcp_enter_cwr`).
    pub(super) fn reduce_for_mark(&mut self, now: Instant, cc: &mut Controller) {
        if !matches!(self.recovery_state(cc), RecoveryState::Open | RecoveryState::Disorder) {
            return;
        }
        self.undo.rule_out();
        self.recovery.begin_reduction(self.send.next());
        let loss = Loss { now, in_flight: self.sent.in_flight(), by_timer: false };
        self.note_state_changed_by(cc, |cc, path| cc.on_mark(path, &loss));
        self.ecn.on_reduction();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKS: TcpFlags = TcpFlags(TcpFlags::SYN.0 | TcpFlags::ECE.0 | TcpFlags::CWR.0);
    const AGREES: TcpFlags = TcpFlags(TcpFlags::SYN.0 | TcpFlags::ACK.0 | TcpFlags::ECE.0);

    /// Whether a side with `mode` uses ECN after it has received `flags`.
    fn agreed(mode: EcnMode, is_active: bool, flags: TcpFlags) -> bool {
        let mut ecn = Ecn::new(mode);
        ecn.on_syn(flags, is_active);
        ecn.is_used()
    }

    #[test]
    fn a_listener_agrees_unless_it_is_off_and_a_client_uses_it_only_if_it_has_asked() {
        use EcnMode::{Accept, Dctcp, Off, Request};
        assert_eq!([Off, Accept, Request, Dctcp].map(|mode| agreed(mode, false, ASKS)), [false, true, true, true]);
        assert_eq!([Off, Accept, Request, Dctcp].map(|mode| agreed(mode, true, AGREES)), [false, false, true, true]);
        // Two clients that have asked each other open at the same time.
        assert!(agreed(Request, true, ASKS));
    }

    #[test]
    fn a_host_that_reflects_all_flags_does_not_agree() {
        // RFC 3168, section 6.1.1: an ECN-setup SYN/ACK has no CWR.
        assert!(!agreed(EcnMode::Request, true, ASKS | TcpFlags::ACK));
        assert!(!agreed(EcnMode::Request, false, TcpFlags::SYN | TcpFlags::ECE));
    }

    #[test]
    fn a_repeated_syn_asks_no_more() {
        let ecn = Ecn::new(EcnMode::Request);
        assert_eq!(ecn.flags_of_syn(false, 0), TcpFlags::ECE | TcpFlags::CWR);
        assert_eq!(ecn.flags_of_syn(false, 1), TcpFlags::default());
        assert_eq!(ecn.flags_of_syn(true, 0), TcpFlags::default(), "nothing is agreed");
    }

    #[test]
    fn the_receiver_of_dctcp_acknowledges_where_the_mark_changes() {
        let mut ecn = Ecn::new(EcnMode::Dctcp);
        ecn.on_syn(ASKS, false);
        assert_eq!(ecn.on_dctcp_data(false, 1001, false), Some(false));
        assert_eq!(ecn.on_dctcp_data(true, 2001, true), Some(true), "from unmarked to marked");
        let earlier = ecn.take_earlier_ack().expect("the delayed one");
        assert_eq!((earlier.next, earlier.echo, ecn.echo()), (1001, TcpFlags::default(), TcpFlags::ECE));
        assert_eq!(ecn.on_dctcp_data(true, 3001, false), Some(false));
        assert_eq!(ecn.on_dctcp_data(false, 4001, false), Some(true), "and back, with nothing delayed");
        assert!(ecn.take_earlier_ack().is_none());
    }
}
