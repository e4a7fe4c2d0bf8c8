//! What of the nodes' packets and endpoints is recorded.

use subflow_network::{HostId, InterfaceId, Network, PacketId};
use subflow_quantity::Instant;
use subflow_transport::EndpointId;

use super::{Node, Nodes};
use crate::event_log::Act;
use crate::simulate::observer::{Occasion, Watched};

impl Nodes {
    /// Records that `packet` has arrived at an interface, which its endpoint has processed if it has one, and which is
    /// registered.
    #[inline]
    pub(in crate::simulate) fn record_arrival(
        &mut self,
        network: &Network,
        (host, interface): (HostId, InterfaceId),
        endpoint: Option<EndpointId>,
        packet: PacketId,
    ) {
        let Some(observer) = &mut self.observer else { return };
        if observer.needs_order() {
            self.cause = order_of_arrival(network, interface);
        }
        let node = host.index();
        let Some(id) = endpoint else { return };
        let Node { transport, sockets, .. } = &self.nodes[node];
        // A connection that no flow listens for is never registered.
        let Some(socket) = sockets.get(id.0 as usize) else { return };
        let (flow, when) = (socket.flow, (network.now(), self.cause));
        let original = network.has_middleboxes().then(|| network.untranslated(packet));
        let packet = original.as_ref().unwrap_or_else(|| network.packet(packet));
        match socket.watched {
            Watched::Nothing | Watched::Sender => {}
            Watched::Receiver => {
                observer.batch_arrived(packet, transport.endpoint(id), flow, when);
            }
            Watched::All => {
                let at = Occasion { node, flow, when };
                observer.log_arrived(packet, transport.endpoint(id), at);
            }
        }
    }

    /// How often a flow's end at a node was drained: as long as it was not, nothing about it has changed.
    pub(in crate::simulate) fn drains(&self, node: usize, endpoint: Option<EndpointId>) -> u64 {
        endpoint.and_then(|id| self.nodes[node].sockets.get(id.0 as usize)).map_or(0, |socket| socket.drains)
    }

    /// Brings the records of the flows' data up to date, also with the RTTs that were measured since the last call.
    pub(in crate::simulate) fn complete_records(&mut self) {
        let Some(observer) = &mut self.observer else { return };
        observer.catch_up();
        for (node, Node { transport, sockets, .. }) in self.nodes.iter_mut().enumerate() {
            for (id, socket) in sockets.iter_mut().enumerate() {
                if socket.watched.sends() && socket.recorded != socket.drains {
                    socket.recorded = socket.drains;
                    observer.record_rtts(transport.endpoint_mut(EndpointId(id as u32)), node, socket.flow);
                }
            }
        }
    }

    /// Records what the application at an endpoint does, if that is logged.
    #[inline]
    pub(in crate::simulate) fn record_act(
        &mut self,
        now: Instant,
        (node, id): (usize, EndpointId),
        act: impl FnOnce() -> Act,
    ) {
        let Some(observer) = &mut self.observer else { return };
        let flow = self.nodes[node].sockets[id.0 as usize].flow;
        observer.on_act(&act(), Occasion { node, flow, when: (now, self.cause) });
    }

    /// Records that the endpoint `id` of a node has received all data of `flow`.
    #[cold]
    pub(in crate::simulate) fn record_completion(&mut self, now: Instant, node: usize, flow: usize, id: EndpointId) {
        let bytes = self.transport(node).endpoint(id).bytes_received();
        let at = Occasion { node, flow, when: (now, self.cause) };
        if let Some(observer) = &mut self.observer {
            observer.on_completed(bytes, at);
        }
    }
}

/// Orders an arrival among what happens at the same time; few runs need it.
#[cold]
fn order_of_arrival(network: &Network, interface: InterfaceId) -> u64 {
    network.arrival_order(interface)
}
