//! The law that a host sends no more than three times what it has received to an address that nobody has proved to be
//! the client's (RFC 9000, sections 8.1 and 8.2).

use std::collections::BTreeMap;
use std::net::SocketAddr;

use subflow_wire::quic::{Frame, PacketHeader, QuicDatagram};

/// How much more may be sent than was received.
const FACTOR: u64 = 3;

/// Bytes of UDP payload between the server and each address, by the ends of the server and of the address.
#[derive(Debug, Default)]
pub(super) struct Amplification(BTreeMap<(SocketAddr, SocketAddr), Exchange>);

#[derive(Clone, Copy, Debug, Default)]
struct Exchange {
    received: u64,
    sent: u64,
    is_validated: bool,
}

impl Amplification {
    /// `bytes` have arrived from an address. A Handshake packet, or the answer to a challenge, proves it.
    pub(super) fn receive(&mut self, ends: (SocketAddr, SocketAddr), bytes: u64, datagram: Option<&QuicDatagram>) {
        let exchange = self.0.entry(ends).or_default();
        exchange.received += bytes;
        let packets = datagram.into_iter().flat_map(|datagram| &datagram.packets);
        exchange.is_validated |= packets.into_iter().any(|packet| {
            matches!(packet.header, PacketHeader::Handshake { .. })
                || packet.frames.iter().any(|frame| matches!(frame, Frame::PathResponse(_)))
        });
    }

    /// `bytes` are sent to an address.
    ///
    /// # Panics
    ///
    /// They are too many.
    pub(super) fn send(&mut self, ends: (SocketAddr, SocketAddr), bytes: u64) {
        let exchange = self.0.entry(ends).or_default();
        exchange.sent += bytes;
        let Exchange { received, sent, is_validated } = *exchange;
        assert!(
            is_validated || sent <= FACTOR * received,
            "amplification: {sent} bytes were sent to {} in return for {received}",
            ends.1
        );
    }
}

#[cfg(test)]
mod tests {
    use subflow_wire::quic::{ConnectionId, PacketNumber, QuicPacket};

    use super::*;

    fn ends() -> (SocketAddr, SocketAddr) {
        ("10.0.0.1:80".parse().expect("an address"), "10.0.0.2:9".parse().expect("an address"))
    }

    #[test]
    #[should_panic(expected = "amplification: 3601 bytes were sent to 10.0.0.2:9 in return for 1200")]
    fn more_than_three_times_is_seen() {
        let mut law = Amplification::default();
        law.receive(ends(), 1200, None);
        law.send(ends(), 3600);
        law.send(ends(), 1);
    }

    #[test]
    fn a_handshake_packet_proves_the_address() {
        let (destination, source, number) = (ConnectionId::EMPTY, ConnectionId::EMPTY, PacketNumber::encode(0, None));
        let header = PacketHeader::Handshake { version: 1, destination, source, number };
        let packets = vec![QuicPacket { header, frames: Vec::new() }];
        let datagram = QuicDatagram { source_port: 9, destination_port: 80, packets };
        let mut law = Amplification::default();
        law.receive(ends(), 50, Some(&datagram));
        law.send(ends(), 100_000);
    }
}
