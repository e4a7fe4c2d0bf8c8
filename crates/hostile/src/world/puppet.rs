//! The attacker's end of connections of its own: it does the handshake right, so that a host believes in it, and
//! acknowledges what it gets if it was told to. What it does wrong comes from forged packets.

use std::net::SocketAddr;

use subflow_transport::mptcp::keys;
use subflow_wire::quic::{
    ConnectionId, CryptoFrame, Frame, PacketHeader, PacketNumber, QuicDatagram, QuicPacket, TransportParameters,
    VERSION_1,
};
use subflow_wire::sctp::{Chunk, InitChunk, Parameter, SackChunk};
use subflow_wire::tcp::mptcp::{Capable, CapableFlags, DataAck, Dss, Join, MptcpOption};
use subflow_wire::tcp::{SynOptions, TcpFlags, Timestamps};
use subflow_wire::{Body, Packet, SctpPacket, TcpSegment};

use crate::forge;
use crate::forgery::Greeting;
use crate::setup::PORT;
use crate::stack::Stack;
use crate::wiretap::{self, Wiretap};

/// The key of every MPTCP connection of the attacker's.
const KEY: u64 = 0x5eed_0bad;
/// Its nonce and its verification tag.
const NUMBER: u32 = 0x0bad_cafe;
/// Its initial sequence number, close to where numbers wrap.
const INITIAL: u32 = u32::MAX - 3000;

/// The first packet of a connection of the attacker's from `local`.
pub(super) fn hello(stack: Stack, greeting: &Greeting, local: SocketAddr, remote: SocketAddr) -> Packet {
    let body = match stack {
        Stack::Sctp => Body::Sctp(SctpPacket {
            source_port: local.port(),
            destination_port: remote.port(),
            chunks: vec![Chunk::Init(Box::new(init(greeting)))],
            ..SctpPacket::default()
        }),
        // The attacker only begins: no host answers who it does not know more than three times as much.
        Stack::Quic | Stack::Mpquic => Body::Quic(first_datagram(local, remote)),
        Stack::Tcp | Stack::Mptcp => {
            let mut syn = segment(local, remote, INITIAL, TcpFlags::SYN, greeting);
            syn.options.syn = syn_options(greeting);
            if greeting.mptcp && stack == Stack::Mptcp {
                syn.options.mptcp.push(MptcpOption::Capable(capable(greeting, None, None)));
            }
            Body::Tcp(syn)
        }
    };
    forge::packet(local, remote, body)
}

/// The first datagram of a client.
fn first_datagram(local: SocketAddr, remote: SocketAddr) -> QuicDatagram {
    let id = |byte| ConnectionId::new(&[byte; 8]).unwrap_or_default();
    let parameters = TransportParameters {
        initial_source_connection_id: Some(id(2)),
        initial_max_data: 1 << 20,
        initial_max_path_id: Some(3),
        ..TransportParameters::default()
    };
    let mut message = vec![1, 0, 0, 0, 0, 0];
    // A few dozen bytes.
    let _ = parameters.emit(&mut message);
    let length = message.len() as u8;
    (message[3], message[5]) = (length - 4, length - 6);
    let header = PacketHeader::Initial {
        version: VERSION_1,
        destination: id(1),
        source: id(2),
        token: Box::default(),
        number: PacketNumber::encode(0, None),
    };
    let crypto = Frame::Crypto(CryptoFrame { offset: 0, data: message.into() });
    let packets = vec![QuicPacket { header, frames: vec![crypto, Frame::Padding(1100)] }];
    QuicDatagram { source_port: local.port(), destination_port: remote.port(), packets }
}

/// What the attacker answers to a packet.
pub(super) fn answer(wiretap: &Wiretap, greeting: &Greeting, packet: &Packet) -> Option<Packet> {
    let (source, destination) = wiretap::ports(packet);
    let (remote, local) =
        (SocketAddr::new(packet.ip.source, source), SocketAddr::new(packet.ip.destination, destination));
    let (flow, from) = wiretap.flow_of(packet)?;
    let body = match &packet.body {
        Body::Tcp(segment) => Body::Tcp(Answer { wiretap, greeting, flow, from }.to_segment(segment, local, remote)?),
        Body::Sctp(body) => Body::Sctp(answer_chunks(greeting, body, wiretap.flow(flow).sctp[from].tag)?),
        Body::Udp(_) | Body::Quic(_) => return None,
    };
    Some(forge::packet(local, remote, body))
}

/// An answer to what end `from` of a flow has sent.
struct Answer<'a> {
    wiretap: &'a Wiretap,
    greeting: &'a Greeting,
    flow: usize,
    from: usize,
}

impl Answer<'_> {
    fn to_segment(&self, received: &TcpSegment, local: SocketAddr, remote: SocketAddr) -> Option<TcpSegment> {
        let Self { wiretap, greeting, from, .. } = *self;
        let flow = wiretap.flow(self.flow);
        let has = |flag| received.flags.contains(flag);
        let opens = has(TcpFlags::SYN) && !has(TcpFlags::ACK);
        let news = received.payload.length > 0 || has(TcpFlags::FIN);
        if has(TcpFlags::RST) || opens && local.port() != PORT || !(has(TcpFlags::SYN) || news && greeting.acknowledges)
        {
            return None;
        }
        let sequence = if opens { INITIAL } else { flow.tcp[1 - from].next };
        let flags = if opens { TcpFlags::SYN | TcpFlags::ACK } else { TcpFlags::ACK };
        let mut answer = segment(local, remote, sequence, flags, greeting);
        answer.acknowledgment = flow.tcp[from].next;
        if let (Some(own), Some(theirs)) = (&mut answer.options.timestamps, received.options.timestamps) {
            own.echo = theirs.value;
        }
        if opens {
            answer.options.syn = syn_options(greeting);
        }
        for option in &received.options.mptcp {
            answer.options.mptcp.extend(self.to_option(option, opens));
        }
        if !has(TcpFlags::SYN)
            && let Some(keys) = wiretap.keys(self.flow).filter(|keys| keys.keys[from].is_some())
        {
            let data_ack = Some(DataAck { value: keys.next[from], wide: true });
            answer.options.dss = Some(Dss { data_ack, mapping: None, data_fin: false });
            answer.options.mptcp.clear();
        }
        Some(answer)
    }

    /// What belongs on the answer to a handshake with `option`.
    fn to_option(&self, option: &MptcpOption, opens: bool) -> Option<MptcpOption> {
        let keys = self.wiretap.keys(self.flow).unwrap_or_default();
        let theirs = keys.keys[self.from].unwrap_or(0);
        let own_nonce = self.wiretap.flow(self.flow).tcp[1 - self.from].nonce;
        let hmac = |own: u32, nonce: u32| keys::join_hmac(KEY, theirs, own, nonce);
        Some(match option {
            _ if !self.greeting.mptcp => return None,
            MptcpOption::Capable(_) if opens => MptcpOption::Capable(capable(self.greeting, Some(KEY), None)),
            MptcpOption::Capable(Capable { sender_key: Some(theirs), .. }) => {
                MptcpOption::Capable(capable(self.greeting, Some(KEY), Some(*theirs)))
            }
            MptcpOption::Join(Join::Syn { nonce, .. }) => MptcpOption::Join(Join::SynAck {
                backup: false,
                address_id: 1,
                truncated_hmac: keys::leftmost_64(&hmac(NUMBER, *nonce)),
                nonce: NUMBER,
            }),
            MptcpOption::Join(Join::SynAck { nonce, .. }) => {
                MptcpOption::Join(Join::Ack { hmac: keys::leftmost_160(&hmac(own_nonce, *nonce)) })
            }
            _ => return None,
        })
    }
}

fn segment(local: SocketAddr, remote: SocketAddr, sequence: u32, flags: TcpFlags, greeting: &Greeting) -> TcpSegment {
    let mut segment = TcpSegment {
        source_port: local.port(),
        destination_port: remote.port(),
        sequence,
        flags,
        window: greeting.window,
        ..TcpSegment::default()
    };
    segment.options.timestamps = greeting.timestamps.then_some(Timestamps { value: 1, echo: 0 });
    segment
}

fn syn_options(greeting: &Greeting) -> SynOptions {
    SynOptions { mss: greeting.mss, window_scale: greeting.window_scale, sack_permitted: greeting.sack }
}

fn capable(greeting: &Greeting, own: Option<u64>, theirs: Option<u64>) -> Capable {
    Capable {
        version: 1,
        flags: CapableFlags { checksum_required: greeting.checksum, ..CapableFlags::default() },
        sender_key: own,
        receiver_key: theirs,
        data_length: None,
        checksum: None,
    }
}

fn init(greeting: &Greeting) -> InitChunk {
    InitChunk {
        initiate_tag: NUMBER,
        a_rwnd: window(greeting),
        outbound_streams: greeting.streams.0,
        inbound_streams: greeting.streams.1,
        initial_tsn: INITIAL,
        parameters: vec![Parameter::ForwardTsnSupported],
    }
}

fn window(greeting: &Greeting) -> u32 {
    64 * u32::from(greeting.window)
}

/// The answer to every chunk that wants one.
fn answer_chunks(greeting: &Greeting, received: &SctpPacket, tag: u32) -> Option<SctpPacket> {
    let mut answer = SctpPacket {
        source_port: received.destination_port,
        destination_port: received.source_port,
        verification_tag: tag,
        ..SctpPacket::default()
    };
    let mut highest = None;
    for chunk in &received.chunks {
        match chunk {
            Chunk::Init(theirs) => {
                answer.verification_tag = theirs.initiate_tag;
                let mut own = init(greeting);
                own.parameters.push(Parameter::StateCookie(vec![0xcc; 40].into()));
                answer.chunks.push(Chunk::InitAck(Box::new(own)));
            }
            Chunk::InitAck(theirs) => {
                answer.verification_tag = theirs.initiate_tag;
                let cookie = theirs.parameters.iter().find_map(|parameter| match parameter {
                    Parameter::StateCookie(cookie) => Some(cookie.clone()),
                    _ => None,
                });
                answer.chunks.extend(cookie.map(Chunk::CookieEcho));
            }
            Chunk::CookieEcho(_) => answer.chunks.push(Chunk::CookieAck),
            Chunk::Heartbeat(info) => answer.chunks.push(Chunk::HeartbeatAck(info.clone())),
            Chunk::Shutdown { .. } => answer.chunks.push(Chunk::ShutdownAck),
            Chunk::ShutdownAck => answer.chunks.push(Chunk::ShutdownComplete { reflected: false }),
            Chunk::Data(data) => highest = Some(data.tsn),
            _ => {}
        }
    }
    if let (Some(cumulative_tsn), true) = (highest, greeting.acknowledges) {
        let a_rwnd = window(greeting);
        answer.chunks.push(Chunk::Sack(SackChunk { cumulative_tsn, a_rwnd, ..SackChunk::default() }));
    }
    (!answer.chunks.is_empty()).then_some(answer)
}
