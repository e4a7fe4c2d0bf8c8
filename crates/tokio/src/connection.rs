//! One connection between its stream and the stack.

use std::collections::BTreeSet;
use std::io;
use std::task::Waker;

use subflow_quantity::Instant;
use subflow_transport::tcp::{Closed, Ends};
use subflow_transport::{Endpoint, EndpointId, Event};
use subflow_wire::icmp::{IcmpKind, Unreachable};

use crate::stream_buffer::StreamBuffer;

/// Bytes that may be written whatever the congestion window is: what Linux's send buffer begins with.
const LEAST_SEND_BUFFER: u64 = 128 << 10;
/// Released at once, to look through the unacknowledged ranges seldom.
const RELEASE: u64 = 256 << 10;

/// A connection with its bytes and the tasks that wait for it.
#[derive(Debug)]
pub(crate) struct Connection {
    /// Its endpoint in the host, until that is over.
    pub(crate) endpoint: Option<EndpointId>,
    pub(crate) ends: Ends,
    pub(crate) established: bool,
    pub(crate) peer_finished: bool,
    /// The application writes no more.
    pub(crate) finished: bool,
    pub(crate) closed: Option<Closed>,
    /// What a router or the destination has reported of its SYN.
    pub(crate) unreachable: Option<io::ErrorKind>,
    pub(crate) fell_back: bool,
    /// The port on which it was accepted, until an application has it.
    pub(crate) accepted_on: Option<u16>,
    /// There is no stream any more. The connection ends by itself, or is aborted at this time.
    pub(crate) abandoned: Option<Instant>,
    pub(crate) send: StreamBuffer,
    pub(crate) written: u64,
    pub(crate) acknowledged: u64,
    released: u64,
    /// Whether a write was refused for want of room.
    blocked: bool,
    pub(crate) receive: StreamBuffer,
    pub(crate) received: u64,
    pub(crate) read: u64,
    pub(crate) opener: Option<Waker>,
    pub(crate) reader: Option<Waker>,
    pub(crate) writer: Option<Waker>,
    /// When its endpoint's timer expires.
    pub(crate) timer: Option<Instant>,
}

impl Connection {
    pub(crate) fn new(endpoint: EndpointId, ends: Ends) -> Self {
        Self {
            endpoint: Some(endpoint),
            ends,
            established: false,
            peer_finished: false,
            finished: false,
            closed: None,
            unreachable: None,
            fell_back: false,
            accepted_on: None,
            abandoned: None,
            send: StreamBuffer::default(),
            written: 0,
            acknowledged: 0,
            released: 0,
            blocked: false,
            receive: StreamBuffer::default(),
            received: 0,
            read: 0,
            opener: None,
            reader: None,
            writer: None,
            timer: None,
        }
    }

    pub(crate) fn on_event(&mut self, event: Event) {
        match event {
            Event::Established => {
                self.established = true;
                wake(&mut self.opener);
            }
            Event::PeerFinished => {
                self.peer_finished = true;
                wake(&mut self.reader);
            }
            Event::FellBack => self.fell_back = true,
            Event::Closed(how) => {
                self.closed = Some(how);
                self.wake_all();
            }
            Event::Received
            | Event::Writable
            | Event::Acknowledged
            | Event::StreamBegun(_)
            | Event::StreamCompleted(_)
            | Event::SubflowEstablished(_)
            | Event::SubflowClosed(_) => {}
        }
    }

    /// ICMP has reported an error of its endpoint's packets. A connection that is being opened ends with it, as in Linux
    /// (`tcp_v4_err`): there may be other paths, or other addresses of the peer.
    pub(crate) fn on_network_error(&mut self, error: Option<IcmpKind>) {
        let kind = match error {
            Some(IcmpKind::Unreachable(Unreachable::Network)) => io::ErrorKind::NetworkUnreachable,
            Some(IcmpKind::Unreachable(_)) => io::ErrorKind::HostUnreachable,
            _ => return,
        };
        if !self.established {
            self.unreachable = Some(kind);
            wake(&mut self.opener);
        }
    }

    pub(crate) fn wake_all(&mut self) {
        for waker in [&mut self.opener, &mut self.reader, &mut self.writer] {
            wake(waker);
        }
    }

    /// Takes over what the endpoint has received and what was acknowledged, and wakes the tasks that wait for it.
    pub(crate) fn follow(&mut self, endpoint: &Endpoint, most: u64) {
        let received = endpoint.bytes_received();
        if received > self.received {
            self.received = received;
            wake(&mut self.reader);
        }
        let acknowledged = endpoint.bytes_acknowledged();
        if acknowledged > self.acknowledged {
            self.acknowledged = acknowledged;
            self.release(endpoint);
            let limit = send_limit(endpoint, most);
            if self.blocked && self.written - acknowledged <= limit - limit / 3 {
                self.blocked = false;
                wake(&mut self.writer);
            }
        }
    }

    /// Forgets bytes that were acknowledged and will not be repeated.
    fn release(&mut self, endpoint: &Endpoint) {
        let all = self.acknowledged == self.written;
        if !all && self.acknowledged - self.released < RELEASE {
            return;
        }
        self.released = self.acknowledged;
        let mut needed = BTreeSet::new();
        endpoint.visit_unacknowledged(|range| StreamBuffer::blocks_of(&range, &mut needed));
        match all && needed.is_empty() {
            true => self.send.clear(),
            false => self.send.release_before(self.acknowledged, &needed),
        }
    }

    /// Bytes that may be written now. If there are none, the writer is to be woken.
    pub(crate) fn room(&mut self, endpoint: &Endpoint, most: u64) -> u64 {
        let room = send_limit(endpoint, most).saturating_sub(self.written - self.acknowledged);
        self.blocked = room == 0;
        room
    }

    /// Copies what was received and not read to `into`. Returns how much that is.
    pub(crate) fn take(&mut self, into: &mut [u8]) -> usize {
        let length = into.len().min((self.received - self.read) as usize);
        self.receive.read(self.read, &mut into[..length]);
        self.read += length as u64;
        match self.read == self.received && self.endpoint.is_none() {
            true => self.receive.clear(),
            false => self.receive.release_before(self.read, &BTreeSet::new()),
        }
        length
    }

    /// Why nothing can be read or written any more, if that is an error.
    pub(crate) fn failure(&self) -> Option<io::Error> {
        let (kind, why) = match self.closed? {
            Closed::Gracefully => return None,
            Closed::Reset => (io::ErrorKind::ConnectionReset, "the peer has reset the connection"),
            Closed::Refused => (io::ErrorKind::ConnectionRefused, "the peer has refused the connection"),
            Closed::TimedOut => (io::ErrorKind::TimedOut, "the peer does not answer any more"),
            Closed::Aborted => (io::ErrorKind::ConnectionAborted, "the connection was aborted"),
        };
        Some(io::Error::new(kind, why))
    }
}

/// Most bytes that may be written and not acknowledged: Linux's send buffer has room for twice the window of each
/// subflow; here as much again is for data that a slower subflow has not delivered.
fn send_limit(endpoint: &Endpoint, most: u64) -> u64 {
    let windows: u64 = endpoint.as_mptcp().map_or(0, |connection| {
        let open = connection.subflows().iter().filter(|subflow| subflow.is_established() && !subflow.is_closed());
        let window = |tcp: &subflow_transport::tcp::Connection| {
            u64::from(connection.congestion().path(tcp.path()).cwnd()) * u64::from(tcp.mss())
        };
        open.map(|subflow| window(subflow.connection())).sum()
    });
    (4 * windows).clamp(LEAST_SEND_BUFFER.min(most), most)
}

fn wake(waker: &mut Option<Waker>) {
    if let Some(waker) = waker.take() {
        waker.wake();
    }
}
