//! `reset`: connections that are ended by somebody on the path.

use subflow_policy::catalogue::{Attribute, Catalogued, Choice, Description};
use subflow_wire::tcp::{TcpFlags, TcpOptions};
use subflow_wire::{Body, Ecn, IpHeader, Packet, Payload, TcpSegment};

use super::{Fate, Flows, Interference, Passage};
use crate::routing::flow_key;

/// A device that ends TCP connections by resets in the name of their ends, after a number of segments with data. The
/// segments themselves pass.
///
/// Weaver, Sommer and Paxson found such devices in front of whole networks: filters of content, and of file sharing.
/// RFC 5961 and MPTCP make it no harder for a device on the path, which knows all numbers; but a reset ends the one
/// subflow only, and the connection goes on (RFC 8684, section 3.5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reset {
    /// The number of segments with data in one direction with which a connection is ended.
    pub segments: u64,
    target: Target,
    /// The segments with data that have passed, by flow.
    passed: Flows<u64>,
}

/// Who gets a reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Target {
    #[default]
    Both,
    Sender,
    Receiver,
}

const TARGETS: [Choice<Target>; 3] = [
    Choice::new("both", Target::Both, "both ends"),
    Choice::new("sender", Target::Sender, "the end that sends the data"),
    Choice::new("receiver", Target::Receiver, "the end that receives the data"),
];

impl Default for Reset {
    fn default() -> Self {
        Self { segments: 100, target: Target::Both, passed: Flows::default() }
    }
}

impl Catalogued for Reset {
    const DESCRIPTION: Description = Description {
        name: "reset",
        aliases: &[],
        summary: "ends TCP connections by forged resets after some segments",
        source: "Weaver, Sommer, Paxson, Detecting forged TCP reset packets, NDSS 2009",
    };

    const OPTIONS: &'static [Attribute<Self>] = &[
        Attribute::integer(
            "segments",
            "the number of segments with data in one direction after which a connection is ended",
            [1, 1_000_000_000],
            |reset| reset.segments,
            |reset, segments| reset.segments = segments,
        ),
        Attribute::name(
            "target",
            "the end that gets a reset",
            || Choice::descriptions(&TARGETS),
            |reset| Choice::name_of(&TARGETS, reset.target),
            |reset, name| reset.target = Choice::find(&TARGETS, name).unwrap_or_default(),
        ),
    ];
}

impl Interference for Reset {
    fn process(&mut self, packet: &mut Packet, passage: &mut Passage<'_>) -> Fate {
        if packet.payload().length == 0 {
            return Fate::Pass;
        }
        let (Some(to_sender), Some(to_receiver)) = (refusal(packet), abort(packet)) else {
            return Fate::Pass;
        };
        let passed = self.passed.of(flow_key(packet));
        *passed += 1;
        if *passed >= self.segments {
            if self.target != Target::Receiver {
                passage.send_back(to_sender);
            }
            if self.target != Target::Sender {
                passage.send_onward(to_receiver);
            }
        }
        Fate::Pass
    }
}

/// The reset with which the destination of `packet` would refuse it (RFC 9293, section 3.10.7.1); `None` for what is not
/// TCP, and for resets.
pub(super) fn refusal(packet: &Packet) -> Option<Packet> {
    let segment = resettable(packet)?;
    let (sequence, acknowledgment, flags) = match segment.flags.contains(TcpFlags::ACK) {
        true => (segment.acknowledgment, 0, TcpFlags::RST),
        false => (0, end(segment), TcpFlags::RST | TcpFlags::ACK),
    };
    let (source, destination) = (packet.ip.destination, packet.ip.source);
    let ports = (segment.destination_port, segment.source_port);
    Some(reset_segment(IpHeader { source, destination, ..header(packet) }, ports, sequence, (acknowledgment, flags)))
}

/// A reset that continues where `packet` ends, as its sender would abort the connection.
fn abort(packet: &Packet) -> Option<Packet> {
    let segment = resettable(packet)?;
    let ports = (segment.source_port, segment.destination_port);
    let acknowledgment = (segment.acknowledgment, TcpFlags::RST | TcpFlags::ACK);
    Some(reset_segment(header(packet), ports, end(segment), acknowledgment))
}

fn resettable(packet: &Packet) -> Option<&TcpSegment> {
    match &packet.body {
        Body::Tcp(segment) => (!segment.flags.contains(TcpFlags::RST)).then_some(segment),
        Body::Udp(_) | Body::Sctp(_) | Body::Quic(_) => None,
    }
}

/// The sequence number behind a segment.
fn end(segment: &TcpSegment) -> u32 {
    let takes = |flag| u32::from(segment.flags.contains(flag));
    segment.sequence.wrapping_add(segment.payload.length + takes(TcpFlags::SYN) + takes(TcpFlags::FIN))
}

fn header(packet: &Packet) -> IpHeader {
    IpHeader { ecn: Ecn::NotEct, hop_limit: 64, ..packet.ip }
}

fn reset_segment(
    ip: IpHeader,
    (source_port, destination_port): (u16, u16),
    sequence: u32,
    (acknowledgment, flags): (u32, TcpFlags),
) -> Packet {
    let (options, payload) = (TcpOptions::default(), Payload::default());
    let segment =
        TcpSegment { source_port, destination_port, sequence, acknowledgment, flags, window: 0, options, payload };
    Packet { ip, body: Body::Tcp(segment) }
}

#[cfg(test)]
mod tests {
    use subflow_quantity::Duration;

    use super::super::PlacedMiddlebox;
    use super::super::test_packets::{Bench, data, datagram, segment, syn};
    use super::*;

    /// How many resets the sender and the receiver get with each of three segments.
    fn resets(target: Target) -> [[usize; 2]; 3] {
        let mut bench = Bench::of([PlacedMiddlebox::new(Reset { segments: 2, target, ..Reset::default() })]);
        [0, 1, 2].map(|number| {
            assert!(bench.up(Duration::ZERO, data(0, 0)).is_some(), "an acknowledgment does not count");
            assert!(bench.up(Duration::ZERO, data(100 * number, 100)).is_some());
            [bench.outcome.back.len(), bench.outcome.onward.len()]
        })
    }

    #[test]
    fn the_ends_get_resets_from_the_last_segment_on() {
        assert_eq!(resets(Target::Both), [[0, 0], [1, 1], [1, 1]]);
        assert_eq!(resets(Target::Sender), [[0, 0], [1, 0], [1, 0]]);
        assert_eq!(resets(Target::Receiver), [[0, 0], [0, 1], [0, 1]]);
    }

    #[test]
    fn the_receiver_finds_the_reset_behind_the_data() {
        let mut bench = Bench::of([PlacedMiddlebox::new(Reset { segments: 1, ..Reset::default() })]);
        assert!(bench.up(Duration::ZERO, data(0, 100)).is_some());
        assert_eq!(segment(&bench.outcome.onward[0]).sequence, 1101);
        assert!(bench.up(Duration::ZERO, datagram()).is_some() && bench.outcome.back.is_empty());
    }

    #[test]
    fn resets_have_the_numbers_that_the_ends_accept() {
        let refused = refusal(&syn()).expect("a reset");
        assert_eq!((segment(&refused).sequence, segment(&refused).acknowledgment), (0, 1001));
        let answer = refusal(&data(0, 100)).expect("a reset");
        assert_eq!((answer.ip.source, segment(&answer).source_port), (data(0, 0).ip.destination, 80));
        assert_eq!((segment(&answer).sequence, segment(&answer).flags), (5001, TcpFlags::RST));
        let aborted = abort(&data(0, 100)).expect("a reset");
        assert_eq!((segment(&aborted).sequence, segment(&aborted).acknowledgment), (1101, 5001));
    }

    #[test]
    fn neither_datagrams_nor_resets_are_answered() {
        assert_eq!(refusal(&datagram()), None);
        assert_eq!(abort(&abort(&data(0, 1)).expect("a reset")), None);
    }
}
