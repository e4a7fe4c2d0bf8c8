//! Our stack on one host, with real bytes.

use std::collections::BTreeMap;

use subflow_network::{HostId, InterfaceId, Network, PacketId, TimerId};
use subflow_transport::{Endpoint, EndpointId, Event, Host, RandomSource};
use subflow_wire::Packet;

use crate::{Error, Pattern, Payload, Result, SctpData, Userspace};

/// A host with our stack, whose peers are kernels. It sends [`Pattern`] and checks that it receives [`Pattern`].
///
/// How to use it: call the [`transport`](Self::transport), then [`drain`](Self::drain) the endpoint, run the
/// [`Emulator`](crate::Emulator), and read the [`events`](Self::take_events).
#[derive(Debug)]
pub struct StackHost {
    id: HostId,
    interfaces: Vec<InterfaceId>,
    transport: Host,
    /// Timers by endpoint; endpoints that follow each other under one number share a timer.
    timers: Vec<Option<TimerId>>,
    /// Endpoints by timer.
    endpoints: Vec<Option<EndpointId>>,
    events: Vec<(EndpointId, Event)>,
    accepted: Vec<EndpointId>,
    /// The data of SCTP associations, by endpoint.
    sctp_data: BTreeMap<u32, SctpData>,
    wrong: Option<String>,
}

impl StackHost {
    /// Creates the host `id` with all its `interfaces` and their addresses. Its random numbers are the system's.
    ///
    /// # Errors
    ///
    /// Where the system gives none.
    pub fn new(network: &Network, id: HostId, interfaces: &[InterfaceId]) -> Result<Self> {
        let random = RandomSource::system().map_err(|error| Error::Unexpected(error.to_string()))?;
        let addresses = interfaces.iter().flat_map(|&interface| network.addresses(interface)).copied().collect();
        Ok(Self {
            id,
            interfaces: interfaces.to_vec(),
            transport: Host::new(addresses, random),
            timers: Vec::new(),
            endpoints: Vec::new(),
            events: Vec::new(),
            accepted: Vec::new(),
            sctp_data: BTreeMap::new(),
            wrong: None,
        })
    }

    /// The stack. After a call on an endpoint, drain the endpoint.
    pub fn transport(&mut self) -> &mut Host {
        &mut self.transport
    }

    /// An endpoint, to read its state.
    pub fn endpoint(&self, id: EndpointId) -> &Endpoint {
        self.transport.endpoint(id)
    }

    /// The events since the last call.
    pub fn take_events(&mut self) -> Vec<(EndpointId, Event)> {
        core::mem::take(&mut self.events)
    }

    /// The connections that listeners have accepted so far, without those that ended before they were established.
    pub fn accepted(&self) -> &[EndpointId] {
        &self.accepted
    }

    /// A description of the first received byte that differs from what was sent.
    pub fn wrong_byte(&self) -> Option<&str> {
        self.wrong.as_deref()
    }

    /// Sends all packets of the endpoint and sets its timer.
    pub fn drain(&mut self, network: &mut Network, id: EndpointId) {
        let now = network.now();
        loop {
            while let Some(packet) = self.transport.poll_transmit(now, id) {
                self.transmit(network, packet);
            }
            match self.transport.poll_event(id) {
                Some(event) => self.events.push((id, event)),
                None => break,
            }
        }
        let timer = self.timer_of(network, id);
        network.set_timer(timer, self.transport.poll_timeout(id));
        self.remove_if_never_established(id);
    }

    fn timer_of(&mut self, network: &mut Network, id: EndpointId) -> TimerId {
        let index = id.0 as usize;
        if self.timers.len() <= index {
            self.timers.resize(index + 1, None);
        }
        *self.timers[index].get_or_insert_with(|| {
            let timer = network.new_timer();
            self.endpoints.resize(self.endpoints.len().max(timer.index() + 1), None);
            self.endpoints[timer.index()] = Some(id);
            timer
        })
    }

    /// Removes a connection of a listener's that ended half-open: those of a SYN flood must not fill memory.
    fn remove_if_never_established(&mut self, id: EndpointId) {
        if self.transport.is_half_open(id) && self.transport.endpoint(id).is_closed() {
            self.transport.remove(id);
            self.accepted.retain(|&accepted| accepted != id);
            self.events.retain(|&(of, _)| of != id);
        }
    }

    fn transmit(&self, network: &mut Network, packet: Packet) {
        let interface = network.interface_with(self.id, packet.ip.source).unwrap_or(self.interfaces[0]);
        network.transmit(self.id, interface, packet);
    }

    fn check(&mut self, id: EndpointId, packet: &Packet, payload: &[u8]) {
        if let Some(association) = self.transport.endpoint(id).as_sctp() {
            if let Err(wrong) = self.sctp_data.entry(id.0).or_default().check(association, packet, payload) {
                self.wrong.get_or_insert(wrong);
            }
            return;
        }
        let Some(taken) = self.transport.endpoint(id).taken() else { return };
        let bytes = &payload[taken.payload_offset as usize..];
        let length = (taken.stream.end - taken.stream.start) as usize;
        if bytes.len() < length {
            let all = bytes.len();
            self.wrong.get_or_insert_with(|| format!("{length} bytes were accepted of a payload of {all} bytes"));
        } else if let Some(position) = Pattern.first_difference(taken.stream.start, &bytes[..length]) {
            let offset = taken.stream.start + position as u64;
            self.wrong.get_or_insert_with(|| format!("byte {offset} differs from what was sent"));
        }
    }
}

impl Userspace for StackHost {
    fn handle_packet(
        &mut self,
        network: &mut Network,
        _host: HostId,
        _interface: InterfaceId,
        packet: PacketId,
        payload: Payload<'_>,
    ) {
        let endpoint = self.transport.handle_packet(network.now(), network.packet(packet));
        if let (Some(id), Payload::Bytes(bytes)) = (endpoint, payload) {
            self.check(id, network.packet(packet), bytes);
        }
        while let Some(id) = self.transport.poll_accept() {
            self.accepted.push(id);
            self.drain(network, id);
        }
        while let Some(reply) = self.transport.poll_reply() {
            self.transmit(network, reply);
        }
        if let Some(id) = endpoint {
            self.drain(network, id);
        }
    }

    fn handle_timer(&mut self, network: &mut Network, timer: TimerId) {
        let Some(&Some(id)) = self.endpoints.get(timer.index()) else { return };
        self.transport.handle_timeout(network.now(), id);
        self.drain(network, id);
    }
}
