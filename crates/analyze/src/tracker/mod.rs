//! The connections of captures: which packet belongs to which. Those that leave when there are many: `folding.rs`.
//!
//! Each file is a point of capture of its own: two files of one connection, from its two ends, show the same packet
//! twice, before and behind the path.

mod folding;

use std::collections::BTreeMap;
use std::net::SocketAddr;

use rustc_hash::FxHashMap;
use subflow_wire::tcp::TcpSegment;

use crate::capture::Record;
use crate::datagrams::Datagrams;
use crate::duplicates::Duplicates;
use crate::exchanges;
use crate::fragments::Fragments;
use crate::link_layer::Unread;
use crate::mptcp::{self, Connection, CurrentMapping};
use crate::packet::{self, Body, Datagram, Packet};
use crate::passages::Passages;
use crate::positions::DataPositions;
use crate::sctp::{self, Association};
use crate::sequence::{Sending, Tracing};
use crate::tcp::{self, Flow, Member};
use crate::totals::Totals;

/// Connections, subflows, associations and pairs of UDP ports that are followed at a time, at most: so much memory may be
/// used.
pub const MOST_FLOWS: usize = 131_072;

/// The point of capture, and both ends in a fixed order.
type FlowKey = (u16, SocketAddr, SocketAddr);

/// All connections.
#[derive(Debug, Default)]
pub(crate) struct Tracker {
    pub(crate) flows: Vec<(u16, Flow)>,
    mappings: Vec<[CurrentMapping; 2]>,
    /// The times of packets of each flow, if there are several points.
    pub(crate) passages: Option<Vec<[Passages; 2]>>,
    pub(crate) connections: Vec<(u16, Connection)>,
    pub(crate) associations: Vec<(u16, Association)>,
    pub(crate) datagrams: Vec<(u16, Datagrams)>,
    /// Packets that were not read, by reason.
    unread: BTreeMap<Unread, u64>,
    pub(crate) fragments: Fragments,
    /// Connections that have left.
    pub(crate) totals: Totals,
    /// TCP packets of which options were not captured.
    pub(crate) cut_headers: u64,
    pub(crate) duplicates: Duplicates,
    /// The times of the first and the last packet of each point.
    pub(crate) spans: Vec<Option<[u64; 2]>>,
    tracing: Tracing,
    /// Exchanges that may still be kept.
    exchanges_left: usize,
    tcp_keys: FxHashMap<FlowKey, usize>,
    tokens: FxHashMap<(u16, u32), (usize, usize)>,
    positions: DataPositions,
    sctp_keys: FxHashMap<(u16, u16, u32), (usize, usize)>,
    udp_keys: FxHashMap<FlowKey, usize>,
}

const fn key(point: u16, packet: &Packet<'_>) -> (u16, SocketAddr, SocketAddr) {
    (point, packet.source, packet.destination)
}

fn ordered((point, a, b): FlowKey) -> FlowKey {
    if a <= b { (point, a, b) } else { (point, b, a) }
}

impl Tracker {
    /// One for so many points of capture.
    pub(crate) fn new(points: usize) -> Self {
        Self {
            passages: (points > 1).then(Vec::new),
            spans: vec![None; points],
            exchanges_left: exchanges::MOST,
            ..Self::default()
        }
    }

    /// A packet captured at a point.
    pub(crate) fn observe(&mut self, point: u16, record: &Record<'_>) {
        self.tracing.begin(record.time);
        let span = &mut self.spans[usize::from(point)];
        let [first, last] = span.unwrap_or([record.time; 2]);
        *span = Some([first.min(record.time), last.max(record.time)]);
        match packet::read(record) {
            Ok(packet) => self.observe_packet(point, &packet, record.time),
            Err(Unread::Fragment) => {
                if let Some(whole) = self.fragments.add(point, record) {
                    self.observe_whole(point, &whole.record());
                }
            }
            Err(unread) => *self.unread.entry(unread).or_default() += 1,
        }
    }

    /// A packet that was put together from fragments.
    fn observe_whole(&mut self, point: u16, record: &Record<'_>) {
        match packet::read(record) {
            Ok(packet) => self.observe_packet(point, &packet, record.time),
            Err(unread) => *self.unread.entry(unread).or_default() += 1,
        }
    }

    fn observe_packet(&mut self, point: u16, packet: &Packet<'_>, time: u64) {
        if self.duplicates.is_one(point, packet, time) {
            return;
        }
        self.cut_headers += u64::from(packet.is_header_cut);
        match &packet.body {
            Body::Tcp(segment) => self.observe_tcp(point, packet, segment, time),
            Body::Sctp(bytes) => self.observe_sctp(point, packet, bytes, time),
            Body::Udp(datagram) => self.observe_udp(point, packet, datagram, time),
        }
    }

    /// Packets that were not read, by reason.
    pub(crate) fn unread(&self) -> Vec<(Unread, u64)> {
        let mut unread = self.unread.clone();
        *unread.entry(Unread::Fragment).or_default() += self.fragments.unread();
        unread.into_iter().filter(|(_, packets)| *packets > 0).collect()
    }

    /// Makes room for one more, of which a packet is captured at a time.
    fn make_room(&mut self, time: u64) {
        if self.flows.len() + self.associations.len() + self.datagrams.len() >= MOST_FLOWS {
            self.fold(time);
        }
    }

    fn observe_tcp(&mut self, point: u16, packet: &Packet<'_>, segment: &TcpSegment, time: u64) {
        let key = ordered(key(point, packet));
        let known = self.tcp_keys.get(&key).copied();
        let known = known.filter(|&at| {
            let flow = &self.flows[at].1;
            !flow.is_replaced_by(segment, flow.end_of(packet.source))
        });
        let at = match known {
            Some(at) => at,
            None => {
                self.make_room(time);
                let flow = Flow::new(packet.source, packet.destination, segment, time);
                self.flows.push((point, flow));
                self.mappings.push(Default::default());
                if let Some(passages) = &mut self.passages {
                    passages.push(Default::default());
                }
                self.tcp_keys.insert(key, self.flows.len() - 1);
                self.flows.len() - 1
            }
        };
        let flow = &mut self.flows[at].1;
        let from = flow.end_of(packet.source);
        if let Some(passages) = &mut self.passages {
            passages[at][from].add_segment(segment, time);
        }
        let sending = flow.observe(from, segment, time);
        let position = flow.halves[from].position(segment.sequence);
        if segment.options.dss.is_none() && segment.options.mptcp.is_empty() && flow.member.is_none() {
            self.trace((at, from), (sending, false), position, segment, time);
            if let (tcp::Sending::New(_), length @ 1..) = (sending, segment.payload.length) {
                self.flows[at].1.sent_data(from, length.into(), time, &mut self.exchanges_left);
            }
            return;
        }
        let Some(member) = self.member(at, point, segment, from) else { return };
        let half = &self.flows[at].1.halves[from];
        let end = from ^ usize::from(member.is_reversed);
        let current = &mut self.mappings[at][from];
        let connection = &mut self.connections[member.connection].1;
        let sent = connection.observe((end, half), segment, sending, current, time);
        self.positions.keep(point, segment, (member.connection, end), &mut connection.positions);
        let position = connection.position(end, half, segment, *current).unwrap_or(position);
        self.trace((at, from), (sending, sent == Some(false)), position, segment, time);
        self.flows[at].1.is_backup = mptcp::backup(segment).unwrap_or(self.flows[at].1.is_backup);
        if sent == Some(true) {
            let connection = &mut self.connections[member.connection].1;
            connection.sent_data(end, segment.payload.length.into(), time, &mut self.exchanges_left);
        }
        if let Some(is_new) = sent {
            self.sent(member, at, end, (is_new, segment.payload.length.into()), time);
        }
        self.received(member, at, 1 - end, segment, time);
    }

    /// Keeps the position of a segment's data, and whether it is a copy of what another subflow has carried.
    fn trace(
        &mut self,
        (at, from): (usize, usize),
        (sending, is_copy): (tcp::Sending, bool),
        position: u64,
        segment: &TcpSegment,
        time: u64,
    ) {
        if segment.payload.length == 0 {
            return;
        }
        let sending = match sending {
            tcp::Sending::Nothing => return,
            tcp::Sending::New(_) if is_copy => Sending::Copied,
            tcp::Sending::New(_) => Sending::New,
            tcp::Sending::Again(cause) => Sending::Again(cause),
        };
        self.tracing.add(&mut self.flows[at].1.traced, from, (sending, position), time);
    }

    /// The connection of a subflow; a new one for an MP_CAPABLE, for a token of an unknown connection, and for mappings
    /// without a handshake.
    fn member(&mut self, at: usize, point: u16, segment: &TcpSegment, from: usize) -> Option<Member> {
        let known = self.flows[at].1.member;
        let joined = mptcp::joined_token(segment).filter(|_| known.is_none());
        let capable = mptcp::capable(segment);
        let mut member = match (known, joined) {
            (Some(member), _) => self.found_by_data(at, point, member, segment, from).unwrap_or(member),
            (None, Some(token)) => {
                // The token is that of the receiver of the SYN.
                let (connection, end) = match self.tokens.get(&(point, token)) {
                    Some(&known) => known,
                    None => {
                        let connection = self.new_connection(point);
                        self.connections[connection].1.tokens[1] = Some(token);
                        self.connections[connection].1.is_confirmed = true;
                        self.tokens.insert((point, token), (connection, 1));
                        (connection, 1)
                    }
                };
                Member { connection, place: 0, is_reversed: end == from }
            }
            (None, None) if capable.is_some() || segment.options.dss.is_some() => {
                let found = self.positions.find(point, segment, &self.connections).filter(|_| capable.is_none());
                let (connection, end) = found.unwrap_or_else(|| (self.new_connection(point), from));
                Member { connection, place: 0, is_reversed: end != from }
            }
            (None, None) => return None,
        };
        if known.is_none() {
            let subflows = &mut self.connections[member.connection].1.subflows;
            member.place = subflows.len();
            subflows.push((at, member.is_reversed));
        }
        self.flows[at].1.member = Some(member);
        if let Some(capable) = capable {
            let end = from ^ usize::from(member.is_reversed);
            let learned = self.connections[member.connection].1.learn(&capable, end);
            for (end, token) in learned.into_iter().enumerate() {
                if let Some(token) = token {
                    self.tokens.entry((point, token)).or_insert((member.connection, end));
                }
            }
        }
        Some(member)
    }

    /// Moves a subflow from a connection of which only a token is known to the one whose data it carries.
    fn found_by_data(
        &mut self,
        at: usize,
        point: u16,
        member: Member,
        segment: &TcpSegment,
        from: usize,
    ) -> Option<Member> {
        if segment.options.dss.is_none() || !self.connections[member.connection].1.is_unknown() {
            return None;
        }
        let (connection, end) = self.positions.find(point, segment, &self.connections)?;
        let is_reversed = end != from;
        let before = &mut self.connections[member.connection].1;
        before.subflows.retain(|(flow, _)| *flow != at);
        for (end, token) in before.tokens.into_iter().enumerate() {
            let end = end ^ usize::from(is_reversed != member.is_reversed);
            if let Some(token) = token {
                self.connections[connection].1.tokens[end].get_or_insert(token);
                self.tokens.insert((point, token), (connection, end));
            }
        }
        let subflows = &mut self.connections[connection].1.subflows;
        subflows.push((at, is_reversed));
        Some(Member { connection, place: subflows.len() - 1, is_reversed })
    }

    fn new_connection(&mut self, point: u16) -> usize {
        self.connections.push((point, Connection::default()));
        self.connections.len() - 1
    }

    fn observe_sctp(&mut self, point: u16, packet: &Packet<'_>, bytes: &[u8], time: u64) {
        let Some((tag, initiate)) = sctp::tags(bytes) else {
            *self.unread.entry(Unread::Cut).or_default() += 1;
            return;
        };
        // A packet is known by its tag and the port that it goes to; INIT has the tag 0 and is known by its own.
        let known = match (tag, initiate) {
            (0, Some(own)) => self.sctp_keys.get(&(point, packet.source.port(), own)).map(|&(at, end)| (at, 1 - end)),
            _ => self.sctp_keys.get(&(point, packet.destination.port(), tag)).copied(),
        };
        let known = known.or_else(|| self.half_known(point, packet, tag));
        let (at, to) = match known {
            Some(known) => known,
            None => {
                self.make_room(time);
                self.associations.push((point, Association::new(self.passages.is_some(), time)));
                (self.associations.len() - 1, 1)
            }
        };
        let association = &mut self.associations[at].1;
        if tag != 0 && association.tags[to].is_none() {
            association.tags[to] = Some(tag);
            self.sctp_keys.insert((point, packet.destination.port(), tag), (at, to));
        }
        if let Some(own) = initiate {
            if let Some(old) = association.tags[1 - to].replace(own) {
                self.sctp_keys.remove(&(point, packet.source.port(), old));
            }
            self.sctp_keys.insert((point, packet.source.port(), own), (at, 1 - to));
        }
        association.observe(1 - to, [packet.source, packet.destination], bytes, time, &mut self.tracing);
    }

    /// The association whose other direction was captured between the same addresses, without its handshake.
    fn half_known(&self, point: u16, packet: &Packet<'_>, tag: u32) -> Option<(usize, usize)> {
        if tag == 0 {
            return None;
        }
        let recent = self.associations.iter().enumerate().rev().take(64);
        recent.filter(|(_, (its, association))| *its == point && association.tags.contains(&None)).find_map(
            |(at, (_, association))| {
                let to = association.tags.iter().position(Option::is_none)?;
                let has = |path: &sctp::Path| path.ends[to] == packet.destination && path.ends[1 - to] == packet.source;
                association.paths.iter().any(has).then_some((at, to))
            },
        )
    }

    fn observe_udp(&mut self, point: u16, packet: &Packet<'_>, datagram: &Datagram<'_>, time: u64) {
        let key = ordered(key(point, packet));
        let at = match self.udp_keys.get(&key).copied() {
            Some(at) => at,
            None => {
                self.make_room(time);
                self.datagrams.push((point, Datagrams::new(packet, time)));
                self.udp_keys.insert(key, self.datagrams.len() - 1);
                self.datagrams.len() - 1
            }
        };
        self.datagrams[at].1.observe(packet, datagram, self.passages.is_some(), time);
    }
}
