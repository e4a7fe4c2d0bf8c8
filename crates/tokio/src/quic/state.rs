//! Everything behind the lock: the host, its connections, their timers, and the sockets.

use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::task::{Context, Waker};

use slab::Slab;
use subflow_quantity::{Duration, Instant};
use subflow_transport::quic::{Config, Connection};
use subflow_transport::tcp::Closed;
use subflow_transport::{EndpointId, Event, Host, RandomSource};
use tokio::net::UdpSocket;

use super::connection_state::ConnectionState;
use super::error::ConnectionError;
use super::sockets::{AddressGone, Sockets};
use crate::shared::{Driven, Keys, Timers};

/// How long a connection that nobody holds waits until the peer has acknowledged what was written.
const LINGER: Duration = Duration::from_secs(60);
/// Established connections that may wait for `accept`; further ones are closed.
const BACKLOG: usize = 1024;
/// The error with which they are closed, and with which a connection is closed that has done its work.
const NO_ERROR: u64 = 0;

/// The state of an endpoint. Connections have keys that stay theirs, unlike endpoints of the stack, until nobody holds them.
#[derive(Debug)]
pub(super) struct State {
    pub(super) now: Instant,
    pub(super) host: Host,
    pub(super) stream_send_buffer: u64,
    pub(super) sockets: Sockets,
    /// Whether the task has to look which sockets there are.
    pub(super) sockets_changed: bool,
    connections: Slab<ConnectionState>,
    pub(super) keys: Keys,
    /// Connections that may have more to send, but for datagrams that wait for a socket.
    pub(super) held: BTreeSet<usize>,
    timers: Timers,
    /// Established connections that nobody has accepted.
    pub(super) accepted: VecDeque<usize>,
    /// Wait for a connection to accept, or until all are over.
    wakers: Vec<Waker>,
    /// Reused: the data of a datagram, and the datagram.
    pub(super) data: Vec<u8>,
    pub(super) datagram: Vec<u8>,
}

impl Driven for State {
    fn now(&mut self) -> &mut Instant {
        &mut self.now
    }

    fn timers(&mut self) -> &mut Timers {
        &mut self.timers
    }

    fn handle_timer(&mut self, key: usize) {
        self.connections[key].timer = None;
        if let Some(id) = self.connections[key].endpoint {
            self.host.handle_timeout(self.now, id);
            self.drain(key);
        }
    }
}

impl State {
    pub(super) fn new(stream_send_buffer: u64) -> io::Result<Self> {
        let random = RandomSource::system().map_err(io::Error::other)?;
        Ok(Self {
            now: Instant::ZERO,
            host: Host::new(Vec::new(), random),
            stream_send_buffer,
            sockets: Sockets::default(),
            sockets_changed: true,
            connections: Slab::new(),
            keys: Keys::default(),
            held: BTreeSet::new(),
            timers: Timers::default(),
            accepted: VecDeque::new(),
            wakers: Vec::new(),
            data: Vec::new(),
            datagram: Vec::new(),
        })
    }

    pub(super) fn connection(&mut self, key: usize) -> &mut ConnectionState {
        &mut self.connections[key]
    }

    /// The connection, and its part of the stack while there is one.
    pub(super) fn parts(&mut self, key: usize) -> (&mut ConnectionState, Option<&mut Connection>) {
        let state = &mut self.connections[key];
        let connection = state.endpoint.and_then(|id| self.host.endpoint_mut(id).as_quic_mut());
        (state, connection)
    }

    /// Wakes whoever polls when there is a connection to accept, or none is left.
    pub(super) fn wait(&mut self, context: &Context<'_>) {
        self.wakers.retain(|waker| !waker.will_wake(context.waker()));
        self.wakers.push(context.waker().clone());
    }

    /// Whether no connection is left, not even one that waits for its last packets.
    pub(super) fn is_idle(&self) -> bool {
        self.connections.is_empty()
    }

    /// Opens a connection and returns its key.
    pub(super) fn connect(&mut self, config: Config, ends: (SocketAddr, SocketAddr)) -> Option<usize> {
        let id = self.host.connect_quic(Arc::new(config), ends.0, ends.1, self.now).ok()?;
        let key = self.add(id);
        self.drain(key);
        Some(key)
    }

    pub(super) fn add(&mut self, id: EndpointId) -> usize {
        let key = self.connections.insert(ConnectionState::new(id, self.host.endpoint(id).ends()));
        self.keys.insert(id, key);
        key
    }

    /// Requests a path of a connection.
    pub(super) fn open_path(&mut self, key: usize, local: IpAddr, remote: SocketAddr) {
        if let Some(id) = self.connections[key].endpoint {
            self.host.open_subflow(id, local, None, remote, false, self.now);
            self.drain(key);
        }
    }

    /// Sends what the connection has to send, passes its events on, and sets its timer. Called after everything that may have
    /// changed it.
    pub(super) fn drain(&mut self, key: usize) {
        let Some(id) = self.connections[key].endpoint else { return };
        loop {
            let gone = self.transmit(key, id);
            self.take_events(key, id);
            if let Some(AddressGone(address)) = gone {
                return self.remove_address(address);
            }
            if !self.close_if_done(key) {
                break;
            }
        }
        self.hand_over(key);
        // One that has ended before it was established has been abandoned, and may be gone.
        if self.connections.get(key).and_then(|state| state.endpoint) != Some(id) {
            return;
        }
        if self.host.endpoint(id).is_closed() { self.end(key, id) } else { self.set_timer(key, id) }
    }

    fn take_events(&mut self, key: usize, id: EndpointId) {
        let state = &mut self.connections[key];
        while let Some(event) = self.host.poll_event(id) {
            match event {
                Event::Established => {
                    state.is_established = true;
                    state.wake();
                }
                Event::Closed(how) => {
                    let cause = self.host.endpoint(id).as_quic().and_then(Connection::end_cause);
                    state.end(ConnectionError::of(how, cause));
                }
                _ => {}
            }
        }
        let Some(connection) = self.host.endpoint_mut(id).as_quic_mut() else { return };
        state.take_stream_events(connection);
        if state.lacks_stream && connection.may_open_stream() {
            state.lacks_stream = false;
            state.wake();
        }
    }

    /// Closes a connection that nobody holds once it has done its work. Returns whether it was closed just now.
    fn close_if_done(&mut self, key: usize) -> bool {
        let now = self.now;
        let (state, connection) = self.parts(key);
        let Some(connection) = connection.filter(|_| state.ended.is_none()) else { return false };
        let Some(deadline) = state.abandoned else { return false };
        state.refuse_incoming(connection);
        if !state.is_established || state.is_all_sent() || deadline <= now {
            connection.close(NO_ERROR, "");
            state.end(ConnectionError::Closed);
            return true;
        }
        false
    }

    /// Makes an established connection ready to be accepted.
    fn hand_over(&mut self, key: usize) {
        let state = &mut self.connections[key];
        if !state.is_accepted || !state.is_established && state.ended.is_none() {
            return;
        }
        state.is_accepted = false;
        if state.ended.is_none() && self.accepted.len() < BACKLOG {
            self.accepted.push_back(key);
            self.wakers.drain(..).for_each(Waker::wake);
        } else {
            self.abandon(key);
        }
    }

    /// Closes a connection.
    pub(super) fn close(&mut self, key: usize, error_code: u64, reason: &str) {
        let (state, connection) = self.parts(key);
        if let Some(connection) = connection {
            connection.close(error_code, reason);
        }
        state.end(ConnectionError::Closed);
        self.drain(key);
    }

    /// Nobody holds the connection any more: what was written is still delivered.
    pub(super) fn abandon(&mut self, key: usize) {
        self.connections[key].abandoned = Some(self.now + LINGER);
        if self.connections[key].endpoint.is_some() {
            self.drain(key);
        } else {
            self.forget(key);
        }
    }

    /// The connection is over for the stack.
    fn end(&mut self, key: usize, id: EndpointId) {
        let how = self.host.endpoint(id).ended().unwrap_or(Closed::Aborted);
        let cause = self.host.endpoint(id).as_quic().and_then(Connection::end_cause);
        self.connections[key].end(ConnectionError::of(how, cause));
        self.host.remove(id);
        self.keys.remove(id);
        self.held.remove(&key);
        let state = &mut self.connections[key];
        state.endpoint = None;
        self.timers.set(key, &mut state.timer, None);
        if state.abandoned.is_some() {
            self.forget(key);
        }
    }

    fn forget(&mut self, key: usize) {
        self.connections.remove(key);
        if self.is_idle() {
            self.wakers.drain(..).for_each(Waker::wake);
        }
    }

    fn set_timer(&mut self, key: usize, id: EndpointId) {
        let state = &mut self.connections[key];
        let linger = state.abandoned.filter(|_| state.ended.is_none());
        let at = [self.host.poll_timeout(id), linger].into_iter().flatten().min();
        // What is due because it has to be sent is so until a socket takes it.
        let at = at.filter(|&at| at > self.now || !self.held.contains(&key));
        self.timers.set(key, &mut state.timer, at);
    }

    pub(super) fn wake_task(&mut self) {
        self.timers.wake_task();
    }

    /// Sockets take datagrams again: connections go on that had to wait.
    pub(super) fn resume(&mut self) {
        if !self.sockets.are_full() {
            core::mem::take(&mut self.held).into_iter().for_each(|key| self.drain(key));
        }
    }

    /// The endpoint has a socket more. Connections may use it.
    pub(super) fn add_socket(&mut self, local: SocketAddr, socket: Arc<UdpSocket>) {
        self.sockets.add(local, socket);
        self.host.set_udp_socket(local);
        self.host.add_address(local.ip(), self.now);
        self.follow_sockets();
    }

    /// The endpoint has lost an address. Returns whether it had it.
    pub(super) fn lose_address(&mut self, address: IpAddr) -> bool {
        let had = self.sockets.remove(address);
        if had {
            self.remove_address(address);
        }
        had
    }

    fn remove_address(&mut self, address: IpAddr) {
        self.sockets.remove(address);
        self.host.remove_address(address, self.now);
        self.follow_sockets();
    }

    /// All connections act on sockets that have come or gone, and the task too.
    fn follow_sockets(&mut self) {
        self.sockets_changed = true;
        self.wake_task();
        let keys: Vec<usize> = self.connections.iter().map(|(key, _)| key).collect();
        for key in keys {
            if self.connections.contains(key) {
                self.drain(key);
            }
        }
    }

    /// Closes all connections.
    pub(super) fn close_all(&mut self, error_code: u64, reason: &str) {
        let keys: Vec<usize> = self.connections.iter().map(|(key, _)| key).collect();
        for key in keys {
            self.close(key, error_code, reason);
        }
        for key in core::mem::take(&mut self.accepted) {
            self.abandon(key);
        }
    }
}
