//! The model: what was written, what was delivered, and what each connection may be excused for.

mod bytes;
mod messages;

use std::collections::BTreeMap;
use std::net::SocketAddr;

use subflow_quantity::Instant;
use subflow_transport::tcp::Closed;
use subflow_transport::{Endpoint, EndpointId};
use subflow_wire::{Body, Packet};

use crate::case::Case;
use crate::setup::{CLIENT, SERVER};
use crate::stack::Stack;
use crate::wiretap::main_address;
use bytes::{Received, Streams};
use messages::{Deliveries, SentMessages};

/// Every connection of the case.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) connections: Vec<Connection>,
    owners: BTreeMap<(usize, EndpointId), usize>,
    /// Honest connections by their ends.
    by_ends: BTreeMap<(SocketAddr, SocketAddr), usize>,
    stack: Option<Stack>,
    /// MPTCP connections have DSS checksums.
    checksums: bool,
}

/// A connection between two hosts, or between one and the attacker.
#[derive(Debug)]
pub(crate) struct Connection {
    /// Whether both ends are hosts.
    pub(crate) honest: bool,
    /// Client and server, once they are there.
    pub(crate) sides: [Option<Side>; 2],
    /// It may end before everything has arrived: a host, its application, the network or an informed attacker saw to
    /// it.
    pub(crate) may_end_early: bool,
    /// What arrives may be what an informed attacker sent.
    pub(crate) forged: bool,
    /// Somebody on the path has rewritten payload.
    pub(crate) rewritten: bool,
    /// Somebody on the path has taken options away.
    pub(crate) stripped: bool,
    /// When the oldest packet was sent first that has come again since the connection began.
    pub(crate) oldest_repeat: Option<Instant>,
    /// Packets that the network has lost.
    lost: u32,
    /// It may have lost one because that was late.
    pub(crate) lost_late: bool,
    /// Its SYN was answered with a cookie, and the server has kept nothing of it.
    pub(crate) has_cookie: bool,
}

/// So many losses end no connection: a SYN is sent seven times.
const LOSSES_SURVIVED: u32 = 5;

/// One end of a connection.
#[derive(Debug, Default)]
pub(crate) struct Side {
    /// The endpoint, while there is one.
    pub(crate) id: Option<EndpointId>,
    /// Bytes that wait for room in the send buffer.
    pub(crate) unwritten: u64,
    /// The stream ends after them.
    pub(crate) finishing: bool,
    /// [`Event::Established`](subflow_transport::Event::Established) came.
    pub(crate) established: bool,
    /// Its application has ended the stream.
    pub(crate) finished: bool,
    /// Its application does not read.
    pub(crate) paused: bool,
    /// How it ended.
    pub(crate) ended: Option<Ended>,
    received: Received,
    streams: Streams,
    sent: SentMessages,
    delivered: Deliveries,
}

/// How one end of a connection ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    /// `None`: its application crashed.
    pub(crate) how: Option<Closed>,
    pub(crate) written: u64,
    pub(crate) received: u64,
}

impl Connection {
    /// Whether it has yet to end, and nothing excuses it from doing so in order.
    pub(crate) fn is_awaited(&self) -> bool {
        let is_open = |side: &Option<Side>| side.as_ref().is_some_and(|side| side.ended.is_none());
        self.honest && !self.may_end_early && self.sides.iter().any(is_open)
    }

    /// Whether the network has lost any of its packets.
    pub(crate) fn has_lost(&self) -> bool {
        self.lost > 0 || self.lost_late
    }

    /// Whether a receiver's refusal of rewritten data may not have reached the sender: without its MP_FAIL an
    /// acknowledgment says that the data was taken.
    pub(crate) fn hides_refusals(&self) -> bool {
        self.rewritten && self.stripped
    }

    /// The network lost so many of its packets.
    pub(crate) fn lose(&mut self, packets: u32) {
        self.lost += packets;
        self.may_end_early |= self.lost > LOSSES_SURVIVED;
    }

    /// A packet that was sent at `sent` comes again.
    pub(crate) fn note_repeat(&mut self, sent: Instant) {
        self.oldest_repeat = Some(self.oldest_repeat.map_or(sent, |oldest| oldest.min(sent)));
    }

    /// An informed attacker has spoken in its name: nothing about its content or its end is sure any more.
    pub(crate) fn give_up(&mut self) {
        (self.may_end_early, self.forged) = (true, true);
    }
}

impl Ledger {
    pub(crate) fn new(case: &Case) -> Self {
        let checksums = case.setup.ends.iter().any(|end| end.checksum);
        Self { checksums, stack: Some(case.stack), ..Self::default() }
    }

    /// The ends as connections are kept by them: an SCTP association is one between all addresses of its hosts.
    fn key(&self, (one, other): (SocketAddr, SocketAddr)) -> (SocketAddr, SocketAddr) {
        let end = |end: SocketAddr| match self.stack {
            Some(stack) if stack.is_multihomed() => SocketAddr::new(main_address(end.ip()), end.port()),
            _ => end,
        };
        (end(one), end(other))
    }

    /// The client, or `side`, opened or accepted a connection that is new to the model.
    pub(crate) fn open(&mut self, side: usize, id: EndpointId, ends: (SocketAddr, SocketAddr), honest: bool) -> usize {
        let mut sides = [None, None];
        sides[side] = Some(Side { id: Some(id), ..Side::default() });
        let forged = !honest;
        self.connections.push(Connection {
            honest,
            sides,
            may_end_early: forged,
            forged,
            rewritten: false,
            stripped: false,
            oldest_repeat: None,
            lost: 0,
            lost_late: false,
            has_cookie: false,
        });
        let index = self.connections.len() - 1;
        self.owners.insert((side, id), index);
        if honest {
            self.by_ends.insert(self.key(ends), index);
        }
        index
    }

    /// The server accepted endpoint `id`; returns its connection.
    pub(crate) fn accept(&mut self, id: EndpointId, endpoint: &Endpoint) -> usize {
        let ends = endpoint.ends();
        let theirs = (ends.remote, ends.local);
        match self.by_ends.get(&self.key(theirs)) {
            Some(&index) if self.connections[index].sides[SERVER].is_none() => {
                self.connections[index].sides[SERVER] = Some(Side { id: Some(id), ..Side::default() });
                self.owners.insert((SERVER, id), index);
                index
            }
            // A stranger's SYN in the name of a client whose connection is over at the server (RFC 6191): the client
            // can end its side no more.
            Some(&index) => {
                self.connections[index].may_end_early = true;
                // A COOKIE ECHO that comes again after the association has ended sets up another with the same tags and
                // TSNs (RFC 9260, section 5.1.5): the client takes what that one sends for its own.
                self.connections[index].forged |= self.stack.is_some_and(Stack::is_multihomed);
                self.open(SERVER, id, theirs, false)
            }
            None => self.open(SERVER, id, theirs, false),
        }
    }

    /// The server has accepted endpoint `id` for a SYN that a stranger sent, or that comes again. A client that holds a
    /// cookie is established, and its third ACK may be lost: the new endpoint answers it with other numbers (RFC 9293,
    /// section 3.10.7.4) for longer than the cookie is good.
    pub(crate) fn on_stray_syn(&mut self, host: usize, id: EndpointId) {
        let owner = self.owner(host, id);
        let connection = &mut self.connections[owner];
        connection.may_end_early |= connection.has_cookie;
    }

    /// The connection of an endpoint.
    pub(crate) fn owner(&self, host: usize, id: EndpointId) -> usize {
        self.owners[&(host, id)]
    }

    pub(crate) fn side(&mut self, host: usize, id: EndpointId) -> &mut Side {
        let owner = self.owner(host, id);
        self.connections[owner].sides[host].as_mut().expect("its owner has this side")
    }

    /// The endpoint is gone.
    pub(crate) fn end(&mut self, host: usize, id: EndpointId, ended: Ended) {
        let side = self.side(host, id);
        (side.id, side.ended) = (None, Some(ended));
        let established = side.established;
        let owner = self.owners.remove(&(host, id)).expect("it had a side");
        // What a stranger's SYN began in the client's name was not the connection.
        if host == SERVER && !established {
            self.connections[owner].sides[SERVER] = None;
        }
    }

    /// Connections, indices below which are taken modulo their number; only those with an endpoint at `side`.
    pub(crate) fn pick(&self, index: u8, side: usize) -> Option<(usize, EndpointId)> {
        let ids = |connection: &Connection| connection.sides[side].as_ref().and_then(|side| side.id);
        let open: Vec<_> =
            self.connections.iter().enumerate().filter_map(|(at, connection)| Some((at, ids(connection)?))).collect();
        open.get(usize::from(index) % open.len().max(1)).copied()
    }

    /// The honest connection between these two ends, whichever opened it.
    pub(crate) fn between(&self, one: SocketAddr, other: SocketAddr) -> Option<usize> {
        self.by_ends.get(&self.key((one, other))).or_else(|| self.by_ends.get(&self.key((other, one)))).copied()
    }

    /// The bytes that a packet of an endpoint carries.
    pub(crate) fn bytes_of(&mut self, host: usize, id: EndpointId, packet: &Packet) -> Vec<u8> {
        let owner = self.owner(host, id);
        match &packet.body {
            Body::Sctp(body) => {
                self.side(host, id).sent.note(body);
                body.payloads().flat_map(|payload| bytes::of(owner, host, payload)).collect()
            }
            Body::Quic(body) => body.payloads().flat_map(|payload| bytes::of(owner, host, payload)).collect(),
            _ => bytes::of(owner, host, packet.payload()).collect(),
        }
    }

    /// Keeps what an endpoint took of a packet, and checks what it reports.
    pub(crate) fn on_packet(
        &mut self,
        host: usize,
        id: EndpointId,
        endpoint: &mut Endpoint,
        packet: &Packet,
        bytes: &[u8],
    ) {
        let owner = self.owner(host, id);
        let connection = &mut self.connections[owner];
        let tampered = connection.rewritten && may_be_rewritten(endpoint, self.checksums);
        let trusted = !connection.forged && !tampered;
        let [client, server] = &mut connection.sides;
        let (own, peer) = if host == CLIENT { (client, server) } else { (server, client) };
        let own = own.as_mut().expect("its owner has this side");
        if let Body::Sctp(body) = &packet.body
            && let Some(association) = endpoint.as_sctp_mut()
        {
            own.delivered.take(association, body, bytes);
            let sent = peer.as_ref().filter(|_| trusted).map(|peer| &peer.sent);
            own.delivered.check((owner, 1 - host), sent, association);
        } else {
            let (sender, received) = (trusted.then_some((owner, 1 - host)), endpoint.bytes_received());
            if let (Body::Quic(body), Some(connection)) = (&packet.body, endpoint.as_quic()) {
                own.streams.take(connection, body, bytes);
                own.streams.check(sender, received);
            } else {
                own.received.take(endpoint, bytes);
                own.received.check(sender, received);
            }
        }
    }
}

/// Whether an endpoint cannot tell that payload was rewritten on the way: DSS checksums show it, until a connection has
/// fallen back.
fn may_be_rewritten(endpoint: &Endpoint, checksums: bool) -> bool {
    endpoint.as_mptcp().is_none_or(|connection| !checksums || connection.has_fallen_back())
}
