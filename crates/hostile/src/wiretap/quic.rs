//! What one end of a flow of QUIC has said.

use subflow_wire::quic::{ConnectionId, Frame, PacketHeader, QuicDatagram};

/// Identifiers and numbers of one end.
#[derive(Clone, Debug, Default)]
pub(crate) struct QuicSaid {
    /// The destination of its latest packet, and the source of its latest long header.
    pub(crate) destination: ConnectionId,
    pub(crate) source: ConnectionId,
    /// The packet number behind its highest one, of Initial, Handshake and 1-RTT packets, as the wire shows it.
    pub(crate) next: [u64; 3],
    /// The end of the data that it has sent on the first stream.
    pub(crate) stream_end: u64,
    /// Its latest challenge.
    pub(crate) challenge: [u8; 8],
}

impl QuicSaid {
    pub(crate) fn hear(&mut self, datagram: &QuicDatagram) {
        for packet in &datagram.packets {
            self.destination = packet.header.destination();
            let space = match packet.header {
                PacketHeader::Initial { source, .. } => {
                    self.source = source;
                    0
                }
                PacketHeader::Handshake { source, .. } => {
                    self.source = source;
                    1
                }
                _ => 2,
            };
            if let Some(number) = packet.header.number() {
                let full = number.expand(self.next[space].checked_sub(1));
                self.next[space] = self.next[space].max(full + 1);
            }
            for frame in &packet.frames {
                match frame {
                    Frame::Stream(stream) if stream.stream.0 == 0 => {
                        let end = stream.offset + u64::from(stream.payload.length);
                        self.stream_end = self.stream_end.max(end);
                    }
                    Frame::PathChallenge(data) => self.challenge = *data,
                    _ => {}
                }
            }
        }
    }
}
