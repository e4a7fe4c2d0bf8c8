//! Our end: a host with one association, with a UDP socket for each of its addresses, and with real bytes.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;

use rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;
use subflow_linux::{Pattern, WallClock};
use subflow_quantity::Duration;
use subflow_transport::sctp::{Association, Config};
use subflow_transport::tcp::Closed;
use subflow_transport::{Endpoint, EndpointId, Event, Host, Listener};
use subflow_wire::sctp::{Chunk, UdpEncapsulation};
use subflow_wire::{Body, Dscp, Ecn, IpHeader, Packet, PayloadBytes, SctpPacket};

/// The time limit of a test.
const TIME_LIMIT: Duration = Duration::from_secs(60);
/// How long to sleep if there is nothing to do.
const IDLE_SLEEP: std::time::Duration = std::time::Duration::from_micros(300);

/// The addresses and ports of a test.
#[derive(Clone, Debug)]
pub(crate) struct Addressing {
    pub(crate) locals: Vec<IpAddr>,
    pub(crate) remotes: Vec<IpAddr>,
    pub(crate) udp: UdpEncapsulation,
    pub(crate) local_port: u16,
    pub(crate) remote_port: u16,
}

/// The association with its data and counters.
pub(crate) struct Driver {
    clock: WallClock,
    host: Host,
    place: Addressing,
    sockets: Vec<(IpAddr, UdpSocket)>,
    endpoint: Option<EndpointId>,
    to_send: u64,
    /// User data that is accepted and not yet delivered, by TSN.
    kept: BTreeMap<u64, Vec<u8>>,
    pub(crate) received: u64,
    /// User data sent to each address of the peer. The sources of a path may change: where both paths time out at once, the
    /// packets to a destination leave from another address (`alternate_sources`).
    pub(crate) sent_on: BTreeMap<IpAddr, u64>,
    /// User data received on each local address.
    pub(crate) received_on: BTreeMap<IpAddr, u64>,
    pub(crate) events: Vec<Event>,
    /// The number of received chunks by type.
    pub(crate) chunk_types: BTreeMap<u8, u64>,
    /// The largest number of packets in a SACK of the peer (DAC).
    pub(crate) most_packets_acknowledged: u8,
}

impl Driver {
    pub(crate) fn new(place: &Addressing) -> Self {
        let socket = |&address: &IpAddr| {
            let socket = UdpSocket::bind(SocketAddr::new(address, place.udp.source_port)).expect("a UDP socket");
            socket.set_nonblocking(true).expect("a socket that does not block");
            (address, socket)
        };
        let sockets = place.locals.iter().map(socket).collect();
        Self {
            clock: WallClock::start(),
            host: Host::new(place.locals.clone(), Pcg64Mcg::seed_from_u64(1)),
            place: place.clone(),
            sockets,
            endpoint: None,
            to_send: 0,
            kept: BTreeMap::new(),
            received: 0,
            sent_on: BTreeMap::new(),
            received_on: BTreeMap::new(),
            events: Vec::new(),
            chunk_types: BTreeMap::new(),
            most_packets_acknowledged: 0,
        }
    }

    /// Opens the association and sends `bytes`.
    pub(crate) fn connect(&mut self, config: Config, bytes: u64) {
        let local = SocketAddr::new(self.place.locals[0], self.place.local_port);
        let remote = SocketAddr::new(self.place.remotes[0], self.place.remote_port);
        let id = self.host.connect_sctp(Arc::new(config), local, remote, self.clock.now()).expect("a free port");
        self.to_send = bytes;
        self.endpoint = Some(id);
        self.write();
        self.drain();
    }

    /// Waits for the peer to open the association, then sends `bytes`.
    pub(crate) fn listen(&mut self, config: Config, bytes: u64) {
        self.to_send = bytes;
        self.host.listen(self.place.local_port, Listener::Sctp(Arc::new(config)));
    }

    pub(crate) fn endpoint(&mut self) -> &mut Endpoint {
        let id = self.endpoint.expect("there is an association");
        self.host.endpoint_mut(id)
    }

    pub(crate) fn association(&self) -> &Association {
        match self.host.endpoint(self.endpoint.expect("there is an association")) {
            Endpoint::Sctp(association) => association,
            other => panic!("not SCTP: {other:?}"),
        }
    }

    /// Whether everything was sent and acknowledged.
    pub(crate) fn has_sent_all(&self) -> bool {
        self.endpoint.is_some_and(|id| self.host.endpoint(id).bytes_acknowledged() == self.to_send)
    }

    pub(crate) fn closed(&self) -> Option<Closed> {
        self.events.iter().find_map(|event| match event {
            Event::Closed(why) => Some(*why),
            _ => None,
        })
    }

    /// Runs until `done`. `what` describes the condition for the error after the time limit.
    pub(crate) fn run_until(&mut self, what: &str, done: impl Fn(&Self) -> bool) {
        let deadline = self.clock.now() + TIME_LIMIT;
        loop {
            let busy = self.step();
            if done(self) {
                return;
            }
            assert!(self.clock.now() < deadline, "still waiting: {what}; {:?} {:?}", self.events, self.endpoint);
            if !busy {
                std::thread::sleep(IDLE_SLEEP);
            }
        }
    }

    /// Shuts down the association.
    pub(crate) fn finish(&mut self) {
        self.endpoint().finish();
        self.drain();
    }

    /// Aborts the association.
    pub(crate) fn abort(&mut self) {
        self.endpoint().abort();
        self.drain();
    }

    /// Processes received packets and expired timers. Returns whether there were any.
    fn step(&mut self) -> bool {
        let mut busy = false;
        let mut buffer = [0; 65_536];
        for index in 0..self.sockets.len() {
            // A limited number of packets at a time, so that both paths are served.
            for _ in 0..16 {
                match self.sockets[index].1.recv_from(&mut buffer) {
                    Ok((length, from)) => self.handle(self.sockets[index].0, from, &buffer[..length]),
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    // The peer's socket may not exist yet or any more (ICMP).
                    Err(error) if error.kind() == ErrorKind::ConnectionRefused => break,
                    Err(error) => panic!("receiving: {error}"),
                }
                busy = true;
            }
        }
        if let Some(id) = self.endpoint
            && self.host.poll_timeout(id).is_some_and(|at| at <= self.clock.now())
        {
            self.host.handle_timeout(self.clock.now(), id);
            self.drain();
        }
        busy
    }

    fn handle(&mut self, local: IpAddr, from: SocketAddr, bytes: &[u8]) {
        let mut body = SctpPacket::parse(bytes).expect("usrsctp sends valid packets");
        let destination_port = self.place.udp.source_port;
        body.encapsulation = Some(UdpEncapsulation { source_port: from.port(), destination_port });
        for chunk in &body.chunks {
            *self.chunk_types.entry(chunk.kind()).or_default() += 1;
            assert!(!matches!(chunk, Chunk::Malformed(_)), "we cannot read {chunk:?}");
            let sack = match chunk {
                Chunk::Sack(sack) => Some(sack),
                Chunk::NrSack(nr_sack) => Some(&nr_sack.sack),
                _ => None,
            };
            let packets = sack.map_or(0, |sack| sack.data_packets);
            self.most_packets_acknowledged = self.most_packets_acknowledged.max(packets);
        }
        *self.received_on.entry(local).or_default() += u64::from(body.user_data_length());
        let data: BTreeMap<usize, Vec<u8>> = {
            let is_data = |(index, chunk): (usize, &Chunk)| chunk.payload().map(|_| index);
            let indices: Vec<usize> = body.chunks.iter().enumerate().filter_map(is_data).collect();
            indices.into_iter().zip(body.payload_ranges().map(|range| bytes[range].to_vec())).collect()
        };
        let ip =
            IpHeader { source: from.ip(), destination: local, hop_limit: 64, dscp: Dscp::DEFAULT, ecn: Ecn::NotEct };
        let packet = Packet { ip, body: Body::Sctp(body) };
        let taker = self.host.handle_packet(self.clock.now(), &packet);
        if let Some(accepted) = self.host.poll_accept() {
            assert!(self.endpoint.is_none(), "there is one association");
            self.endpoint = Some(accepted);
            self.write();
        }
        if taker.is_some() && taker == self.endpoint {
            let taken = self.association().taken_chunks().to_vec();
            for chunk in taken {
                self.kept.insert(chunk.tsn, data[&chunk.index].clone());
            }
        }
        while let Some(reply) = self.host.poll_reply() {
            self.transmit(&reply);
        }
        self.drain();
    }

    fn write(&mut self) {
        let left = self.to_send - self.endpoint().bytes_written();
        if left > 0 {
            self.endpoint().write(left);
        }
    }

    /// Sends packets, collects events, and checks delivered data.
    fn drain(&mut self) {
        let Some(id) = self.endpoint else { return };
        loop {
            while let Some(packet) = self.host.poll_transmit(self.clock.now(), id) {
                self.transmit(&packet);
            }
            let Some(event) = self.host.poll_event(id) else { break };
            self.events.push(event);
            if event == Event::Writable {
                self.write();
            }
        }
        loop {
            let Endpoint::Sctp(association) = self.host.endpoint_mut(id) else { return };
            let Some(delivery) = association.poll_delivery() else { return };
            for tsn in delivery.tsns.0..=delivery.tsns.1 {
                let bytes = self.kept.remove(&tsn).expect("delivered data was accepted before");
                assert_eq!(Pattern.first_difference(self.received, &bytes), None, "after {} bytes", self.received);
                self.received += bytes.len() as u64;
            }
        }
    }

    fn transmit(&mut self, packet: &Packet) {
        let Body::Sctp(body) = &packet.body else { panic!("not SCTP: {packet:?}") };
        let mut data = Vec::new();
        for payload in body.payloads() {
            let start = data.len();
            data.resize(start + payload.length as usize, 0);
            Pattern.fill(payload.stream_offset, &mut data[start..]);
        }
        let mut bytes = Vec::new();
        body.emit(PayloadBytes::Bytes(&data), &mut bytes).expect("our packets can be written");
        *self.sent_on.entry(packet.ip.destination).or_default() += data.len() as u64;
        let ports = body.encapsulation.expect("we send in UDP");
        let (_, socket) =
            self.sockets.iter().find(|(local, _)| *local == packet.ip.source).expect("one of our addresses");
        // With a full socket buffer or without a peer the packet is lost.
        let _ = socket.send_to(&bytes, SocketAddr::new(packet.ip.destination, ports.destination_port));
    }
}
