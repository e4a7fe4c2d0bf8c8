//! Resets that a middlebox sends in the name of the ends of a connection.

use subflow_wire::tcp::{TcpFlags, TcpOptions};
use subflow_wire::{Body, Ecn, IpHeader, Packet, Payload, TcpSegment};

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
    Some(reset(IpHeader { source, destination, ..header(packet) }, ports, sequence, (acknowledgment, flags)))
}

/// A reset that continues where `packet` ends, as its sender would abort the connection.
pub(super) fn abort(packet: &Packet) -> Option<Packet> {
    let segment = resettable(packet)?;
    let ports = (segment.source_port, segment.destination_port);
    let acknowledgment = (segment.acknowledgment, TcpFlags::RST | TcpFlags::ACK);
    Some(reset(header(packet), ports, end(segment), acknowledgment))
}

fn resettable(packet: &Packet) -> Option<&TcpSegment> {
    match &packet.body {
        Body::Tcp(segment) => (!segment.flags.contains(TcpFlags::RST)).then_some(segment),
        Body::Udp(_) | Body::Sctp(_) => None,
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

fn reset(
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
    use super::super::test_packets::{data, datagram, segment, syn};
    use super::*;

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
