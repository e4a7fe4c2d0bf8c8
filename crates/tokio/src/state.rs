//! Everything behind the lock: the host, its connections, their timers, and the paths.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::task::Waker;

use slab::Slab;
use subflow_quantity::{Duration, Instant};
use subflow_transport::{Endpoint, EndpointId, Host, RandomSource, mptcp};
use subflow_wire::Packet;
use subflow_wire::icmp::IcmpError;

use crate::carried::Carried;
use crate::connection::Connection;
use crate::device::{Received, segments};
use crate::shared::{Driven, Keys, Timers};
use crate::transmit::Transmitter;
use crate::{Options, Path};

/// How long a connection whose stream was dropped waits for the end of the peer's (Linux `tcp_fin_timeout`).
const LINGER: Duration = Duration::from_secs(60);
/// Established connections that may wait for `accept` on a port; further ones are reset.
const BACKLOG: usize = 1024;

/// The state of a stack. Connections have keys that stay theirs, unlike endpoints, until their stream is dropped.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) now: Instant,
    pub(crate) host: Host,
    config: Arc<mptcp::Config>,
    send_buffer: u64,
    connections: Slab<Connection>,
    keys: Keys,
    timers: Timers,
    /// Established connections that nobody has accepted, by port.
    pub(crate) accepted: BTreeMap<u16, VecDeque<usize>>,
    pub(crate) acceptor: BTreeMap<u16, Waker>,
    pub(crate) transmitter: Transmitter,
    pub(crate) carried: Carried,
}

impl Driven for State {
    fn now(&mut self) -> &mut Instant {
        &mut self.now
    }

    fn timers(&mut self) -> &mut Timers {
        &mut self.timers
    }

    fn handle_timer(&mut self, key: usize) {
        let connection = &mut self.connections[key];
        connection.timer = None;
        let lingers_too_long =
            !connection.peer_finished && connection.abandoned.is_some_and(|deadline| deadline <= self.now);
        let Some(id) = connection.endpoint else { return };
        match lingers_too_long {
            true => self.host.endpoint_mut(id).abort(),
            false => self.host.handle_timeout(self.now, id),
        }
        self.drain(key);
    }
}

impl State {
    pub(crate) fn new(paths: Vec<Path>, options: &Options) -> io::Result<Self> {
        let random = RandomSource::system().map_err(io::Error::other)?;
        let addresses = paths.iter().flat_map(|path| path.addresses.iter().copied()).collect();
        Ok(Self {
            now: Instant::ZERO,
            host: Host::new(addresses, random),
            config: options.config(),
            send_buffer: options.send_buffer,
            connections: Slab::new(),
            keys: Keys::default(),
            timers: Timers::default(),
            accepted: BTreeMap::new(),
            acceptor: BTreeMap::new(),
            transmitter: Transmitter::new(paths),
            carried: Carried::default(),
        })
    }

    pub(crate) fn connection(&mut self, key: usize) -> &mut Connection {
        &mut self.connections[key]
    }

    /// The connection, and its endpoint while it is not over.
    pub(crate) fn parts(&mut self, key: usize) -> (&mut Connection, Option<&mut Endpoint>) {
        let connection = &mut self.connections[key];
        let endpoint = connection.endpoint.map(|id| self.host.endpoint_mut(id));
        (connection, endpoint)
    }

    /// Opens a connection from `local` and returns its key.
    pub(crate) fn connect(&mut self, local: IpAddr, remote: SocketAddr) -> io::Result<usize> {
        let opened = self.host.connect_mptcp(self.config.clone(), SocketAddr::new(local, 0), remote, self.now);
        let id = opened.map_err(|error| io::Error::new(io::ErrorKind::AddrNotAvailable, error))?;
        let key = self.add(id);
        self.drain(key);
        Ok(key)
    }

    pub(crate) fn listen(&mut self, port: u16) -> io::Result<()> {
        if self.accepted.contains_key(&port) {
            return Err(io::Error::new(
                io::ErrorKind::AddrInUse,
                format!("there is a listener on port {port} already"),
            ));
        }
        self.host.listen(port, self.config.clone().into());
        self.accepted.insert(port, VecDeque::new());
        Ok(())
    }

    /// Accepts no further connections on `port`, and resets those that nobody has taken.
    pub(crate) fn stop_listening(&mut self, port: u16) {
        self.host.stop_listening(port);
        self.acceptor.remove(&port);
        for key in self.accepted.remove(&port).unwrap_or_default() {
            self.abort(key);
            self.abandon(key);
        }
    }

    fn add(&mut self, id: EndpointId) -> usize {
        // The application reads at its own pace from the first byte on.
        self.host.endpoint_mut(id).set_bytes_read(0, self.now);
        let key = self.connections.insert(Connection::new(id, self.host.endpoint(id).ends()));
        self.keys.insert(id, key);
        key
    }

    /// Processes a packet from a device: one segment, or several that were joined.
    pub(crate) fn receive(&mut self, buffer: &[u8], received: &Received) {
        let bytes = &buffer[received.bytes.clone()];
        let parsed = if received.verified { Packet::parse_without_checksum(bytes) } else { Packet::parse(bytes) };
        let Ok((packet, payload)) = parsed else { return self.receive_error(bytes) };
        let mut last = None;
        for (segment, place) in segments(packet, &bytes[payload.clone()], received.segment) {
            let Some(id) = self.host.handle_packet(self.now, &segment) else { continue };
            self.keep_payload(id, &bytes[payload.clone()][place]);
            last = Some(id);
        }
        while let Some(id) = self.host.poll_accept() {
            let key = self.add(id);
            self.connections[key].accepted_on = Some(self.host.endpoint(id).ends().local.port());
            self.drain(key);
        }
        while let Some(reply) = self.host.poll_reply() {
            self.transmitter.transmit(reply, None);
        }
        if let Some(key) = last.and_then(|id| self.keys.of(id)) {
            self.drain(key);
        }
    }

    /// Processes an ICMP error. Malformed packets, and those of other protocols, are not ours.
    #[cold]
    fn receive_error(&mut self, bytes: &[u8]) {
        let Ok(Some(error)) = IcmpError::parse(bytes) else { return };
        if let Some(id) = self.host.handle_icmp(self.now, &error)
            && let Some(key) = self.keys.of(id)
        {
            self.connections[key].on_network_error(self.host.endpoint(id).network_error());
            self.drain(key);
        }
    }

    /// Stores the part of a payload that the endpoint has accepted.
    fn keep_payload(&mut self, id: EndpointId, payload: &[u8]) {
        // A connection that was accepted just now has no key; a SYN of ours has no use for data before that.
        let (Some(taken), Some(key)) = (self.host.endpoint(id).taken(), self.keys.of(id)) else { return };
        let connection = &mut self.connections[key];
        if connection.abandoned.is_some() {
            return;
        }
        // What was received in order is final. A kernel's probe of a closed window repeats the last byte sent with the
        // value of the next one (Linux `mptcp_sendmsg_frag`).
        let known = connection.received.saturating_sub(taken.stream.start).min(taken.stream.end - taken.stream.start);
        let start = taken.payload_offset as usize + known as usize;
        let length = (taken.stream.end - taken.stream.start - known) as usize;
        if let Some(bytes) = payload.get(start..start + length) {
            connection.receive.write(taken.stream.start + known, bytes);
        }
    }

    /// Sends what the connection has to send, passes its events on, and sets its timer. Called after everything that
    /// may have changed its endpoint.
    pub(crate) fn drain(&mut self, key: usize) {
        let Some(id) = self.connections[key].endpoint else { return };
        loop {
            let connection = &mut self.connections[key];
            while let Some(packet) = self.transmitter.packet_from(&mut self.host, self.now, id) {
                self.transmitter.transmit(packet, Some(&connection.send));
            }
            match self.host.poll_event(id) {
                Some(event) => connection.on_event(event),
                None => break,
            }
        }
        let connection = &mut self.connections[key];
        let acknowledged = connection.acknowledged;
        connection.follow(self.host.endpoint(id), self.send_buffer);
        if connection.abandoned.is_some() && connection.acknowledged > acknowledged {
            connection.abandoned = Some(self.now + LINGER);
        }
        if self.has_unwanted_data(key) {
            self.host.endpoint_mut(id).abort();
            self.connections[key].abandoned = None;
            return self.drain(key);
        }
        self.hand_over(key);
        if self.connections[key].closed.is_some() { self.end(key, id) } else { self.set_timer(key, id) }
    }

    /// Whether data has arrived that nobody will read: as in Linux, the connection is then reset.
    fn has_unwanted_data(&self, key: usize) -> bool {
        let connection = &self.connections[key];
        connection.abandoned.is_some() && connection.received > connection.read && connection.closed.is_none()
    }

    /// Makes an established connection ready to be accepted.
    fn hand_over(&mut self, key: usize) {
        let connection = &mut self.connections[key];
        let Some(port) = connection.accepted_on.filter(|_| connection.established || connection.closed.is_some())
        else {
            return;
        };
        connection.accepted_on = None;
        let queue = self.accepted.get_mut(&port).filter(|queue| queue.len() < BACKLOG);
        match queue {
            Some(queue) if self.connections[key].closed.is_none() => {
                queue.push_back(key);
                if let Some(waker) = self.acceptor.remove(&port) {
                    waker.wake();
                }
            }
            _ => self.abandon(key),
        }
    }

    fn set_timer(&mut self, key: usize, id: EndpointId) {
        let connection = &mut self.connections[key];
        let linger = connection.abandoned.filter(|_| !connection.peer_finished);
        let at = [self.host.poll_timeout(id), linger].into_iter().flatten().min();
        self.timers.set(key, &mut connection.timer, at);
    }

    /// The endpoint is over.
    fn end(&mut self, key: usize, id: EndpointId) {
        self.carried.add(self.host.endpoint(id));
        self.host.remove(id);
        self.keys.remove(id);
        let connection = &mut self.connections[key];
        connection.endpoint = None;
        connection.send.clear();
        self.timers.set(key, &mut connection.timer, None);
        if connection.abandoned.is_some() {
            self.connections.remove(key);
        }
    }

    /// The stream was dropped. What was written is still delivered, unless data came that was not read.
    pub(crate) fn abandon(&mut self, key: usize) {
        let connection = &mut self.connections[key];
        connection.abandoned = Some(self.now + LINGER);
        let Some(id) = connection.endpoint else {
            self.connections.remove(key);
            return;
        };
        let endpoint = self.host.endpoint_mut(id);
        if connection.received > connection.read || !connection.established {
            endpoint.abort();
        } else {
            endpoint.finish();
        }
        connection.read = connection.received;
        connection.receive.clear();
        self.drain(key);
    }

    /// Resets a connection.
    pub(crate) fn abort(&mut self, key: usize) {
        if let (_, Some(endpoint)) = self.parts(key) {
            endpoint.abort();
            self.drain(key);
        }
    }

    /// Resets all connections.
    pub(crate) fn abort_all(&mut self) {
        let keys: Vec<usize> = self.connections.iter().map(|(key, _)| key).collect();
        for key in keys {
            self.abort(key);
        }
    }

    /// Sets whether these addresses are usable. Connections lose or regain them.
    pub(crate) fn set_up(&mut self, addresses: &[IpAddr], up: bool) {
        let mut changed = false;
        for &address in addresses {
            if self.transmitter.set_up(address, up) {
                changed = true;
                match up {
                    true => self.host.add_address(address, self.now),
                    false => self.host.remove_address(address, self.now),
                }
            }
        }
        let keys: Vec<usize> = self.connections.iter().filter(|_| changed).map(|(key, _)| key).collect();
        for key in keys {
            if self.connections.contains(key) {
                self.drain(key);
            }
        }
    }

    /// The endpoints of the connections that are not over.
    pub(crate) fn endpoints(&self) -> impl Iterator<Item = &Endpoint> {
        self.connections.iter().filter_map(|(_, one)| one.endpoint).map(|id| self.host.endpoint(id))
    }

    /// Number of connections, and bytes of memory that their data occupies.
    pub(crate) fn usage(&self) -> (usize, usize) {
        let bytes = self.connections.iter().map(|(_, one)| one.send.memory() + one.receive.memory()).sum();
        (self.connections.len(), bytes)
    }

    /// Most bytes that a connection keeps until they are acknowledged.
    pub(crate) fn send_buffer(&self) -> u64 {
        self.send_buffer
    }
}
