//! Fetches from memory what packets will need that are to arrive soon.

use subflow_network::{LookAhead, Network, PacketId, prefetch};
use subflow_transport::EndpointId;

use super::{Node, Nodes};

/// For whom the next packets are, each in the place of its number.
pub(super) struct Expected([Option<ExpectedPacket>; EXPECTED]);

/// A packet that is to arrive soon, and for whom. The endpoint may be removed before.
#[derive(Clone, Copy)]
struct ExpectedPacket {
    packet: PacketId,
    endpoint: EndpointId,
    subflow: usize,
}

/// More than the packets between the first and the last [step](LookAhead) towards an arrival.
const EXPECTED: usize = 64;

impl Default for Expected {
    fn default() -> Self {
        Self([None; EXPECTED])
    }
}

impl Nodes {
    /// Fetches from memory what `packet` will need, which arrives soon at a host ([`Hosts::look_ahead`]).
    ///
    /// [`Hosts::look_ahead`]: subflow_network::Hosts::look_ahead
    #[inline]
    pub(in crate::simulate) fn look_ahead(
        &mut self,
        network: &Network,
        node: usize,
        packet: PacketId,
        step: LookAhead,
    ) {
        let Node { transport, sockets, interfaces, id, .. } = &self.nodes[node];
        let expected = &mut self.expected.0[packet.index() % EXPECTED];
        match (step, &expected) {
            (LookAhead::Far, _) => {
                transport.fetch_tables();
                prefetch(sockets);
                prefetch(interfaces);
                prefetch(id);
            }
            (LookAhead::Near, _) => transport.fetch_owner(network.packet(packet)),
            (LookAhead::Nearer, _) => {
                *expected = transport.fetch_endpoint(network.packet(packet)).map(|(endpoint, subflow)| {
                    if let Some(socket) = sockets.get(endpoint.0 as usize) {
                        prefetch(socket);
                    }
                    ExpectedPacket { packet, endpoint, subflow }
                });
            }
            (LookAhead::Nearest, Some(known)) if known.packet == packet => {
                transport.fetch_subflow(known.endpoint, known.subflow);
            }
            (LookAhead::Next, Some(known)) if known.packet == packet => {
                transport.fetch_queues(known.endpoint, known.subflow);
            }
            _ => {}
        }
    }
}
