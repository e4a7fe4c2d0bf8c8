//! Datagrams that arrive and leave: between sockets and the stack.

use std::net::SocketAddr;

use subflow_transport::{EndpointId, StatelessReply};
use subflow_wire::{Body, Dscp, Ecn, IpHeader, Packet, Payload, PayloadBytes, QuicDatagram, UdpDatagram};

use super::sockets::AddressGone;
use super::state::State;

impl State {
    /// Processes a datagram that has arrived at `local`.
    pub(super) fn receive(&mut self, from: SocketAddr, local: SocketAddr, bytes: &mut [u8]) {
        let (source, destination) = (from.ip(), local.ip());
        let ip = IpHeader { source, destination, hop_limit: 64, dscp: Dscp::DEFAULT, ecn: Ecn::NotEct };
        let payload = Payload { length: bytes.len() as u32, ..Payload::default() };
        let udp = UdpDatagram { source_port: from.port(), destination_port: local.port(), payload };
        let handled = self.host.handle_protected(self.now, &Packet { ip, body: Body::Udp(udp) }, bytes);
        while let Some(id) = self.host.poll_accept() {
            let key = self.add(id);
            self.connection(key).is_accepted = true;
        }
        while let Some(reply) = self.host.poll_reply() {
            if let Body::Quic(datagram) = &reply.body {
                self.reply(&reply, datagram);
            }
        }
        while let Some(StatelessReply { ends, bytes }) = self.host.poll_stateless_reply() {
            // Nobody answers from an address that is gone.
            let _ = self.sockets.send(ends.local.ip(), ends.remote, &bytes);
        }
        let Some((id, opened)) = handled else { return };
        let Some(key) = self.keys.of(id) else { return };
        let (state, connection) = self.parts(key);
        state.count(local, from, 0, bytes.len());
        if let Some(connection) = connection {
            // Streams that it opens are there to keep its data.
            state.take_stream_events(connection);
            state.keep(connection, &opened, bytes);
        }
        self.drain(key);
    }

    /// Sends the list of versions.
    fn reply(&mut self, packet: &Packet, datagram: &QuicDatagram) {
        self.datagram.clear();
        if datagram.emit(PayloadBytes::Bytes(&[]), &mut self.datagram).is_ok() {
            let to = SocketAddr::new(packet.ip.destination, datagram.destination_port);
            let _ = self.sockets.send(packet.ip.source, to, &self.datagram);
        }
    }

    /// Sends what a connection has to send, as far as the sockets take it.
    pub(super) fn transmit(&mut self, key: usize, id: EndpointId) -> Option<AddressGone> {
        self.held.remove(&key);
        while !self.sockets.are_full() {
            let packet = self.host.poll_transmit(self.now, id)?;
            let Body::Quic(datagram) = &packet.body else { continue };
            let mut data = core::mem::take(&mut self.data);
            self.connection(key).data_of(datagram, &mut data);
            self.data = data;
            self.datagram.clear();
            let is_written = datagram.emit(PayloadBytes::Bytes(&self.data), &mut self.datagram).is_ok();
            let connection = self.host.endpoint_mut(id).as_quic_mut()?;
            if !is_written || connection.protect(datagram, &mut self.datagram).is_err() {
                continue;
            }
            let local = SocketAddr::new(packet.ip.source, datagram.source_port);
            let remote = SocketAddr::new(packet.ip.destination, datagram.destination_port);
            let length = self.datagram.len();
            self.connection(key).count(local, remote, length, 0);
            if let Err(gone) = self.sockets.send(local.ip(), remote, &self.datagram) {
                return Some(gone);
            }
        }
        self.held.insert(key);
        self.wake_task();
        None
    }
}
