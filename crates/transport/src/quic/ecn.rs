//! Explicit congestion notification on a path (RFC 9000, section 13.4): which packets are sent as capable of it, and whether
//! the path and the peer treat them rightly.
//!
//! Only 1-RTT packets are marked. The first ten of a path test it (appendix A.4); from then on packets are marked after an
//! acknowledgment has reported these, and never again once an acknowledgment contradicts what was sent (section 13.4.2.1).

use subflow_wire::Ecn as Codepoint;
use subflow_wire::quic::EcnCounts;

/// Packets that test a path (appendix A.4).
const TESTING_PACKETS: u8 = 10;

/// The use of ECN on one path.
#[derive(Clone, Debug)]
pub(super) struct Ecn {
    state: State,
    /// Whether the packet under way is marked.
    marks: bool,
    /// Packets sent with ECT(0).
    sent: u64,
    /// What the peer has reported of them.
    reported: EcnCounts,
}

/// How far the validation of a path has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It is not used.
    Off,
    /// So many more packets test the path.
    Testing(u8),
    /// All of these were sent, and none was reported.
    Unknown,
    Capable,
    Failed,
}

impl Ecn {
    /// That of a path that was not used before.
    pub(super) fn new(is_on: bool) -> Self {
        let state = if is_on { State::Testing(TESTING_PACKETS) } else { State::Off };
        Self { state, marks: false, sent: 0, reported: EcnCounts::default() }
    }

    /// Whether the next 1-RTT packet is marked.
    fn would_mark(&self) -> bool {
        matches!(self.state, State::Testing(_) | State::Capable)
    }

    /// A packet is put together. It is not marked while those of the handshake may be in the same datagram.
    #[inline]
    pub(super) fn begin_packet(&mut self, in_handshake: bool) {
        self.marks = !in_handshake && self.would_mark();
    }

    /// Whether the packet under way is marked.
    #[inline]
    pub(super) fn marks(&self) -> bool {
        self.marks
    }

    /// Whether packets are marked as long as nothing goes wrong.
    #[inline]
    pub(super) fn is_on(&self) -> bool {
        !matches!(self.state, State::Off | State::Failed)
    }

    /// The packet under way is sent. Returns its codepoint.
    pub(super) fn on_sent(&mut self) -> Codepoint {
        if !self.marks {
            return Codepoint::NotEct;
        }
        self.sent += 1;
        self.state = match self.state {
            State::Testing(0..=1) => State::Unknown,
            State::Testing(left) => State::Testing(left - 1),
            state => state,
        };
        Codepoint::Ect0
    }

    /// An acknowledgment that raises the highest number acknowledged has newly acknowledged `newly` packets with ECT(0), and
    /// reports `counts`. Returns how many packets more were marked with CE.
    pub(super) fn on_acknowledged(&mut self, newly: u32, counts: Option<EcnCounts>) -> u64 {
        if !self.is_on() {
            return 0;
        }
        let before = self.reported;
        let Some(now) = counts else {
            // The peer reports nothing, or the network has removed the codepoint.
            self.fail_if(newly > 0);
            return 0;
        };
        let grows = now.ect0 >= before.ect0 && now.ect1 >= before.ect1 && now.ce >= before.ce;
        let arrived = now.ect0.saturating_add(now.ce);
        let counts_all = grows && arrived - before.ect0 - before.ce >= u64::from(newly);
        if !counts_all || now.ect1 > 0 || now.ect0 > self.sent || arrived > self.sent {
            self.fail_if(true);
            return 0;
        }
        self.reported = now;
        if newly > 0 && matches!(self.state, State::Testing(_) | State::Unknown) {
            self.state = State::Capable;
        }
        now.ce - before.ce
    }

    fn fail_if(&mut self, fails: bool) {
        if fails {
            self.state = State::Failed;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(ect0: u64, ect1: u64, ce: u64) -> Option<EcnCounts> {
        Some(EcnCounts { ect0, ect1, ce })
    }

    /// The codepoint of one more packet.
    fn send(ecn: &mut Ecn) -> Codepoint {
        ecn.begin_packet(false);
        ecn.on_sent()
    }

    /// A path over which `sent` packets were sent, all marked.
    fn tested(sent: u8) -> Ecn {
        let mut ecn = Ecn::new(true);
        (0..sent).for_each(|_| assert_eq!(send(&mut ecn), Codepoint::Ect0));
        ecn
    }

    #[test]
    fn ten_packets_test_a_path_and_a_report_lets_marks_go_on() {
        assert_eq!([9, 10].map(|sent| send(&mut tested(sent))), [Codepoint::Ect0, Codepoint::NotEct]);
        let mut ecn = tested(10);
        assert_eq!(ecn.on_acknowledged(2, counts(2, 0, 0)), 0);
        assert_eq!(send(&mut ecn), Codepoint::Ect0);
        assert_eq!(ecn.on_acknowledged(5, counts(4, 0, 3)), 3);
        assert_eq!(
            ecn.on_acknowledged(0, counts(4, 0, 4)),
            1,
            "a packet that was acknowledged before is reported later"
        );
        assert_eq!(send(&mut Ecn::new(false)), Codepoint::NotEct);
        ecn.begin_packet(true);
        assert!(!ecn.marks(), "packets of the handshake may be in the datagram");
    }

    #[test]
    fn what_contradicts_what_was_sent_ends_the_use() {
        // None is reported, fewer than were acknowledged, one as ECT(1), more than were sent, a count that falls.
        for (newly, wrong) in
            [(2, None), (3, counts(4, 0, 0)), (1, counts(3, 1, 0)), (1, counts(11, 0, 0)), (0, counts(1, 0, 2))]
        {
            let mut ecn = tested(10);
            ecn.on_acknowledged(2, counts(2, 0, 0));
            assert_eq!(ecn.on_acknowledged(newly, wrong), 0);
            assert!(!ecn.is_on() && send(&mut ecn) == Codepoint::NotEct, "{newly} {wrong:?}");
        }
        let mut ecn = tested(10);
        ecn.on_acknowledged(0, None);
        assert!(ecn.is_on(), "packets without marks were acknowledged");
    }
}
