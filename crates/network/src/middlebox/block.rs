//! `block`: a port or a protocol that is not let through.

use subflow_policy::catalogue::{Attribute, Catalogued, Choice, Description};
use subflow_policy::routing::FlowKey;
use subflow_wire::{PROTOCOL_SCTP, PROTOCOL_TCP, PROTOCOL_UDP, Packet};

use super::reset::refusal;
use super::{Fate, Interference, Passage};
use crate::routing::flow_key;

/// A firewall that drops packets of a protocol, of a port, or both. Either it says nothing, or it refuses TCP
/// connections by a reset in the name of the other end.
///
/// UDP is blocked altogether on some paths (Edeline et al., Using UDP for Internet Transport Evolution, 2016), and so is
/// every port but that of the web (Honda et al., IMC 2011). SCTP, whose protocol number most home gateways do not know,
/// is dropped by many of them (Hätönen et al., IMC 2010).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// The number of IANA, or [`ANY`].
    protocol: u8,
    /// The port at either end; 0 for all.
    port: u16,
    answer: Answer,
}

/// Any protocol number.
const ANY: u8 = 0;

const PROTOCOLS: [Choice<u8>; 4] = [
    Choice::new("any", ANY, "all protocols"),
    Choice::new("tcp", PROTOCOL_TCP, "TCP, and MPTCP with it"),
    Choice::new("udp", PROTOCOL_UDP, "UDP, and SCTP in UDP with it"),
    Choice::new("sctp", PROTOCOL_SCTP, "SCTP in IP"),
];

/// What the source of a blocked packet gets to know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Answer {
    #[default]
    Silence,
    Reset,
}

const ANSWERS: [Choice<Answer>; 2] = [
    Choice::new("silence", Answer::Silence, "nothing"),
    Choice::new("reset", Answer::Reset, "a reset, if it is a TCP segment").source("RFC 9293, section 3.10.7.1"),
];

impl Catalogued for Block {
    const DESCRIPTION: Description = Description {
        name: "block",
        aliases: &[],
        summary: "drops packets of a port or of a protocol",
        source: "Honda et al., IMC 2011; Hätönen et al., IMC 2010",
    };

    const OPTIONS: &'static [Attribute<Self>] = &[
        Attribute::name(
            "protocol",
            "the protocol that does not pass",
            || Choice::descriptions(&PROTOCOLS),
            |block| Choice::name_of(&PROTOCOLS, block.protocol),
            |block, name| block.protocol = Choice::find(&PROTOCOLS, name).unwrap_or_default(),
        ),
        Attribute::integer(
            "port",
            "the port, at either end, that does not pass; 0 for all",
            [0, u16::MAX as u64],
            |block| block.port.into(),
            |block, port| block.port = port as u16,
        ),
        Attribute::name(
            "answer",
            "what the source of a packet that does not pass gets",
            || Choice::descriptions(&ANSWERS),
            |block| Choice::name_of(&ANSWERS, block.answer),
            |block, name| block.answer = Choice::find(&ANSWERS, name).unwrap_or_default(),
        ),
    ];
}

impl Block {
    #[cfg(test)]
    pub(super) fn by_name(protocol: &str, port: u16, answer: &str) -> Self {
        let (protocol, answer) = (Choice::find(&PROTOCOLS, protocol), Choice::find(&ANSWERS, answer));
        Self { protocol: protocol.expect("a protocol"), port, answer: answer.expect("an answer") }
    }

    fn concerns(&self, packet: &Packet) -> bool {
        let FlowKey { source, destination, protocol } = flow_key(packet);
        let has_port = self.port == 0 || [source.port(), destination.port()].contains(&self.port);
        has_port && [ANY, protocol].contains(&self.protocol)
    }
}

impl Interference for Block {
    fn process(&mut self, packet: &mut Packet, passage: &mut Passage<'_>) -> Fate {
        if !self.concerns(packet) {
            return Fate::Pass;
        }
        if self.answer == Answer::Reset
            && let Some(reset) = refusal(packet)
        {
            passage.send_back(reset);
        }
        Fate::Drop
    }
}

#[cfg(test)]
mod tests {
    use subflow_quantity::Duration;

    use super::super::PlacedMiddlebox;
    use super::super::test_packets::{Bench, datagram, reversed, syn};
    use super::*;

    /// Whether the client's SYN to port 80 and its datagram to port 53 pass.
    fn passed(block: Block) -> [bool; 2] {
        let mut bench = Bench::of([PlacedMiddlebox::new(block)]);
        [syn(), datagram()].map(|packet| bench.up(Duration::ZERO, packet).is_some())
    }

    #[test]
    fn protocol_and_port_decide_together() {
        assert_eq!(passed(Block::default()), [false, false]);
        assert_eq!(passed(Block::by_name("udp", 0, "silence")), [true, false]);
        assert_eq!(passed(Block::by_name("any", 80, "silence")), [false, true]);
        assert_eq!(passed(Block::by_name("tcp", 53, "silence")), [true, true]);
        assert_eq!(passed(Block::by_name("sctp", 0, "silence")), [true, true]);
    }

    #[test]
    fn the_port_may_be_that_of_either_end() {
        let mut bench = Bench::of([PlacedMiddlebox::new(Block::by_name("tcp", 80, "silence"))]);
        assert_eq!(bench.down(Duration::ZERO, reversed(syn())), None);
        assert!(bench.outcome.back.is_empty() && bench.outcome.onward.is_empty());
    }

    #[test]
    fn a_datagram_is_dropped_without_an_answer() {
        let mut bench = Bench::of([PlacedMiddlebox::new(Block::by_name("any", 0, "reset"))]);
        assert!(bench.up(Duration::ZERO, datagram()).is_none() && bench.outcome.back.is_empty());
        assert!(bench.up(Duration::ZERO, syn()).is_none() && bench.outcome.back.len() == 1);
    }
}
