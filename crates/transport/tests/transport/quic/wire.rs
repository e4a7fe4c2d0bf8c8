//! Two hosts that speak QUIC over a link in virtual time. Every datagram is written as bytes and parsed again, and every
//! byte of data is compared with what its sender wrote.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use rand_core::{RngCore, SeedableRng};
use rand_pcg::Pcg64Mcg;
use subflow_quantity::{Duration, Instant};
use subflow_transport::quic::{CONNECTION_ID_LENGTH, Config, Connection, Taken};
use subflow_transport::{Endpoint, EndpointId, Event, Host};
use subflow_wire::quic::{Frame, QuicDatagram, StreamId};
use subflow_wire::{Body, Packet, PayloadBytes};

pub(super) const CLIENT: usize = 0;
pub(super) const SERVER: usize = 1;
const PORT: u16 = 443;

/// What becomes of a datagram: the times after which it arrives.
pub(super) type Fate = Vec<Duration>;

/// A datagram that leaves, numbered by its sender from 0.
pub(super) struct Leaving<'a> {
    pub(super) from: usize,
    pub(super) number: usize,
    /// The path, by the number of the client's address.
    pub(super) path: usize,
    pub(super) datagram: &'a mut QuicDatagram,
    pub(super) rng: &'a mut Pcg64Mcg,
}

type Link = Box<dyn FnMut(&mut Leaving<'_>) -> Fate>;

/// One host with its connection.
struct Side {
    host: Host,
    connection: Option<EndpointId>,
    sent: usize,
    /// What has arrived of each stream, by its offset.
    data: BTreeMap<StreamId, BTreeMap<u64, Vec<u8>>>,
}

/// Both hosts and what is under way.
pub(super) struct Wire {
    pub(super) now: Instant,
    sides: [Side; 2],
    link: Link,
    in_flight: BTreeMap<(Instant, u64), (usize, Vec<u8>)>,
    order: u64,
    rng: Pcg64Mcg,
    pub(super) events: Vec<(usize, Event)>,
    /// Every datagram that was sent, with its time and its sender.
    pub(super) log: Vec<(Instant, usize, QuicDatagram)>,
}

pub(super) const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// The byte that side `side` writes on a stream at `offset`.
fn pattern(side: usize, stream: StreamId, offset: u64) -> u8 {
    let mixed = (offset ^ stream.0 << 20 ^ (side as u64) << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 56) as u8
}

impl Wire {
    /// A client that opens a connection to a server, over a link that does `link` to each datagram.
    pub(super) fn new(configs: [Config; 2], seed: u64, link: impl FnMut(&mut Leaving<'_>) -> Fate + 'static) -> Self {
        Self::over_paths(1, configs, seed, link)
    }

    /// The same with a client that has so many addresses.
    pub(super) fn over_paths(
        paths: u8,
        configs: [Config; 2],
        seed: u64,
        link: impl FnMut(&mut Leaving<'_>) -> Fate + 'static,
    ) -> Self {
        let [client, server] = configs.map(Arc::new);
        let address = |side: u8| SocketAddr::new([10, 0, 0, 1 + side].into(), 0);
        let addresses = |side: u8| (0..if side == 0 { paths } else { 1 }).map(move |n| [10, 0, n, 1 + side].into());
        let side = |index: u8| Side {
            host: Host::new(addresses(index).collect(), Pcg64Mcg::seed_from_u64(2 * seed + u64::from(index))),
            connection: None,
            sent: 0,
            data: BTreeMap::new(),
        };
        let mut wire = Self {
            now: Instant::from_nanos(1_000_000_000),
            sides: [side(0), side(1)],
            link: Box::new(link),
            in_flight: BTreeMap::new(),
            order: 0,
            rng: Pcg64Mcg::seed_from_u64(seed ^ 0x5eed),
            events: Vec::new(),
            log: Vec::new(),
        };
        wire.sides[SERVER].host.listen(PORT, server.into());
        let remote = SocketAddr::new(address(1).ip(), PORT);
        let opened = wire.sides[CLIENT].host.connect_quic(client, address(0), remote, wire.now);
        wire.sides[CLIENT].connection = Some(opened.expect("the port is free"));
        wire.drain(CLIENT);
        wire
    }

    /// A link with a delay of 20 ms that loses datagrams with a probability of `loss` per cent and delays others.
    pub(super) fn lossy(loss: u64, reordered: u64) -> impl FnMut(&mut Leaving<'_>) -> Fate {
        move |leaving| {
            let mut draw = |percent: u64| u64::from(leaving.rng.next_u32()) % 100 < percent;
            match (draw(loss), draw(reordered)) {
                (true, _) => Vec::new(),
                (false, true) => vec![ms(23)],
                (false, false) => vec![ms(20)],
            }
        }
    }

    /// The client's host loses an address, or gets it again.
    pub(super) fn change_address(&mut self, path: u8, is_present: bool) {
        let host = &mut self.sides[CLIENT].host;
        match is_present {
            true => host.add_address([10, 0, path, 1].into(), self.now),
            false => host.remove_address([10, 0, path, 1].into(), self.now),
        }
        self.drain(CLIENT);
    }

    /// `side` removes its connection, which is over.
    pub(super) fn remove(&mut self, side: usize) {
        let Side { host, connection, .. } = &mut self.sides[side];
        host.remove(connection.take().expect("there is a connection"));
    }

    pub(super) fn has_connection(&self, side: usize) -> bool {
        self.sides[side].connection.is_some()
    }

    /// Calls `act` with the endpoint of `side`, and drains it.
    pub(super) fn with<T>(&mut self, side: usize, act: impl FnOnce(&mut Endpoint) -> T) -> T {
        let Side { host, connection, .. } = &mut self.sides[side];
        let result = act(host.endpoint_mut(connection.expect("there is a connection")));
        self.drain(side);
        result
    }

    pub(super) fn endpoint(&self, side: usize) -> &Endpoint {
        let Side { host, connection, .. } = &self.sides[side];
        host.endpoint(connection.expect("there is a connection"))
    }

    pub(super) fn connection(&self, side: usize) -> &Connection {
        self.endpoint(side).as_quic().expect("it speaks QUIC")
    }

    /// Lets time pass until nothing is left to do, or until `end`.
    pub(super) fn run_until(&mut self, end: Instant) {
        let mut steps_at_once = 0;
        loop {
            let arrival = self.in_flight.first_key_value().map(|(&(at, _), _)| at);
            let timer = |side: &Side| side.connection.and_then(|id| side.host.poll_timeout(id));
            let [client, server] = [timer(&self.sides[CLIENT]), timer(&self.sides[SERVER])];
            let Some(next) = [arrival, client, server].into_iter().flatten().min().filter(|&at| at <= end) else {
                break;
            };
            steps_at_once = if next > self.now { 0 } else { steps_at_once + 1 };
            assert!(steps_at_once < 1000, "time does not go on at {:?}", self.now);
            self.now = self.now.max(next);
            if arrival == Some(next) {
                let (_, (to, bytes)) = self.in_flight.pop_first().expect("it was just seen");
                self.deliver(to, &bytes);
            } else {
                let side = if client == Some(next) { CLIENT } else { SERVER };
                let Side { host, connection, .. } = &mut self.sides[side];
                host.handle_timeout(self.now, connection.expect("it has a timer"));
                self.drain(side);
            }
        }
        self.now = self.now.max(end);
    }

    pub(super) fn run(&mut self, time: Duration) {
        self.run_until(self.now + time);
    }

    fn deliver(&mut self, to: usize, bytes: &[u8]) {
        let (packet, place) = Packet::parse(bytes).expect("what was written can be read");
        let Body::Udp(udp) = packet.body else { panic!("{packet:?}") };
        let payload = &bytes[place];
        let Ok((datagram, ranges)) =
            QuicDatagram::parse(udp.source_port, udp.destination_port, payload, CONNECTION_ID_LENGTH)
        else {
            return;
        };
        let side = &mut self.sides[to];
        let taken_by = side.host.handle_packet(self.now, &Packet { ip: packet.ip, body: Body::Quic(datagram.clone()) });
        if let Some(accepted) = side.host.poll_accept() {
            side.connection = Some(accepted);
        }
        while let Some(reply) = self.sides[to].host.poll_reply() {
            self.send(to, reply);
        }
        let side = &mut self.sides[to];
        if let Some(quic) = taken_by.and_then(|id| side.host.endpoint(id).as_quic()) {
            let frames = datagram.packets.iter().flat_map(|packet| &packet.frames);
            let with_data = frames.filter(|frame| frame.payload().is_some());
            for (frame, range) in with_data.zip(ranges) {
                let Frame::Stream(stream) = frame else { continue };
                let reaches = |taken: &Taken| {
                    let of_frame = stream.offset..stream.offset + range.len() as u64;
                    taken.stream == stream.stream && of_frame.contains(&taken.range.start)
                };
                if quic.taken_data().iter().any(reaches) {
                    // A repetition may be shorter than what came before.
                    let known = side.data.entry(stream.stream).or_default().entry(stream.offset).or_default();
                    if range.len() > known.len() {
                        *known = payload[range].to_vec();
                    }
                }
            }
        }
        if side.connection.is_some() {
            self.drain(to);
        }
    }

    fn drain(&mut self, side: usize) {
        let Some(id) = self.sides[side].connection else { return };
        while let Some(packet) = self.sides[side].host.poll_transmit(self.now, id) {
            self.send(side, packet);
        }
        while let Some(event) = self.sides[side].host.poll_event(id) {
            self.events.push((side, event));
        }
        let due = self.sides[side].host.poll_timeout(id);
        assert!(due.is_none_or(|at| at >= self.now), "drained at {:?}, to be called at {due:?}", self.now);
    }

    /// Puts a packet on the way.
    fn send(&mut self, from: usize, mut packet: Packet) {
        let Body::Quic(datagram) = &mut packet.body else { panic!("{packet:?}") };
        assert!(datagram.length() <= 1472, "it fits into a packet of 1500 bytes");
        let number = self.sides[from].sent;
        self.sides[from].sent += 1;
        let of_client = if from == CLIENT { packet.ip.source } else { packet.ip.destination };
        let std::net::IpAddr::V4(of_client) = of_client else { panic!("{of_client}") };
        let path = usize::from(of_client.octets()[2]);
        let fate = (self.link)(&mut Leaving { from, number, path, datagram, rng: &mut self.rng });
        self.log.push((self.now, from, datagram.clone()));
        let frames = datagram.packets.iter().flat_map(|packet| &packet.frames);
        let data: Vec<u8> = frames
            .filter_map(|frame| if let Frame::Stream(stream) = frame { Some(stream) } else { None })
            .flat_map(|stream| {
                let range = stream.offset..stream.offset + u64::from(stream.payload.length);
                range.map(|offset| pattern(from, stream.stream, offset))
            })
            .collect();
        let mut bytes = Vec::new();
        packet.emit(PayloadBytes::Bytes(&data), 0, &mut bytes).expect("endpoints send what can be written");
        for delay in fate {
            self.order += 1;
            self.in_flight.insert((self.now + delay, self.order), (1 - from, bytes.clone()));
        }
    }

    /// The first `length` bytes of a stream that `side` has received are those that the other side wrote.
    pub(super) fn check_data(&self, side: usize, stream: StreamId, length: u64) {
        let mut expected = 0;
        for (&offset, bytes) in self.sides[side].data.get(&stream).into_iter().flatten() {
            assert!(offset <= expected, "bytes {expected}..{offset} of {stream:?} are missing");
            for (at, &byte) in (offset..).zip(bytes) {
                assert_eq!(byte, pattern(1 - side, stream, at), "byte {at} of {stream:?}");
            }
            expected = expected.max(offset + bytes.len() as u64);
        }
        assert!(expected >= length, "{expected} bytes of {stream:?} have arrived, expected {length}");
    }

    /// All frames that `side` has sent.
    pub(super) fn frames_of(&self, side: usize) -> impl Iterator<Item = &Frame> {
        let sent = self.log.iter().filter(move |(_, from, _)| *from == side);
        sent.flat_map(|(.., datagram)| &datagram.packets).flat_map(|packet| &packet.frames)
    }
}
