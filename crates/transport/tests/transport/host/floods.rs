//! Floods of SYNs, joins, INITs and cookies (RFC 4987; RFC 9260, section 5.1.3): what a host keeps for them is bounded,
//! what it does for each is the same for the first and the last, and others still get through.

use allocation_counter::measure;
use proptest::prelude::*;
use subflow_transport::{Endpoint, EndpointId, Limits};
use subflow_wire::sctp::{Chunk, InitChunk, SctpPacket};
use subflow_wire::tcp::mptcp::{Join, MptcpOption};
use subflow_wire::tcp::{TcpFlags, Timestamps};
use subflow_wire::{Body, Packet, TcpSegment};

use super::rig::{MPTCP, Rig, SCTP, TCP, capable, join, packet, segment, stranger, syn, syn_with};
use crate::harness::secs;

/// What [`Limits`] says that a half-open connection of TCP, one of MPTCP and a half-open subflow take, in bytes.
const HALF_OPEN: [u64; 3] = [3000, 5000, 2500];

/// What a stranger sends.
#[derive(Clone, Copy, Debug)]
enum Attack {
    Syn,
    SynForMptcp,
    Capable,
    JoinOfNothing,
    /// A SYN with the token of a connection that there is.
    Join,
    Acknowledgment,
    Reset,
    Init,
    /// A COOKIE ECHO with a cookie of the stranger's own.
    CookieEcho,
}

fn any_attack() -> impl Strategy<Value = Attack> {
    use Attack::*;
    prop::sample::select(vec![Syn, SynForMptcp, Capable, JoinOfNothing, Join, Acknowledgment, Reset, Init, CookieEcho])
}

impl Attack {
    fn packet(self, number: u32, token: u32) -> Packet {
        let plain = |flags| {
            let numbers = TcpSegment { sequence: number, acknowledgment: number ^ 0x5555, ..TcpSegment::default() };
            packet(stranger(number), TcpSegment { source_port: 5000, destination_port: TCP, flags, ..numbers })
        };
        match self {
            Self::Syn => syn(number, TCP),
            Self::SynForMptcp => syn(number, MPTCP),
            Self::Capable => syn_with(number, capable()),
            Self::JoinOfNothing => syn_with(number, join(number, number)),
            Self::Join => syn_with(number, join(token, number)),
            Self::Acknowledgment => plain(TcpFlags::ACK),
            Self::Reset => plain(TcpFlags::RST),
            Self::Init => {
                let numbers = InitChunk { initiate_tag: number | 1, initial_tsn: number, ..InitChunk::default() };
                let sizes = InitChunk { a_rwnd: 65_536, outbound_streams: 1, inbound_streams: 1, ..numbers };
                chunk(number, 0, Chunk::Init(Box::new(sizes)))
            }
            Self::CookieEcho => chunk(number, number | 1, Chunk::CookieEcho(vec![number as u8; 200].into())),
        }
    }
}

/// A chunk of a stranger's for the server's port of SCTP.
fn chunk(number: u32, verification_tag: u32, chunk: Chunk) -> Packet {
    let ends = SctpPacket { source_port: 5000, destination_port: SCTP, verification_tag, ..SctpPacket::default() };
    let mut of_tcp = packet(stranger(number), TcpSegment::default());
    of_tcp.body = Body::Sctp(SctpPacket { chunks: vec![chunk], ..ends });
    of_tcp
}

/// A server under `limits` with an MPTCP connection of the client's, whose ends and whose token at the server these
/// are.
fn under(limits: Limits) -> (Rig, EndpointId, u32) {
    let mut rig = Rig::new();
    rig.server.set_limits(limits);
    let client = rig.connect(MPTCP);
    rig.client.endpoint_mut(client).write(1000);
    rig.talk();
    let Endpoint::Mptcp(connection) = rig.server.endpoint(rig.accepted[0]) else { panic!("no MPTCP") };
    let token = connection.token();
    (rig, client, token)
}

/// The client's endpoint `id` sends, and the server gets it.
fn sends(rig: &mut Rig, id: EndpointId) {
    let ends = rig.client.endpoint(id).ends();
    let mine = |rig: &Rig| {
        let of = |&&at: &&EndpointId| rig.server.endpoint(at).ends().remote == ends.local;
        rig.accepted.iter().find(of).map_or(0, |&at| rig.server.endpoint(at).bytes_received())
    };
    let before = mine(rig);
    rig.client.endpoint_mut(id).write(20_000);
    for _ in 0..20 {
        rig.talk();
        rig.pass(secs(1));
    }
    assert_eq!(mine(rig), before + 20_000);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn any_mix_of_them_leaves_memory_bounded_and_others_get_through(
        attacks in prop::collection::vec((any_attack(), 0_u32..1 << 24, 0_u8..100), 1..1500),
        backlog in 0_usize..20,
        half_open_joins in 0_usize..6,
    ) {
        let limits = Limits { backlog, half_open_joins };
        let (mut rig, established, token) = under(limits);
        let flood = measure(|| {
            for (attack, number, pause) in attacks {
                rig.deliver(&attack.packet(number, token));
                assert!(rig.server.half_open_connections(TCP) <= backlog);
                assert!(rig.server.half_open_connections(MPTCP) <= backlog);
                assert!(rig.server.half_open_joins() <= half_open_joins);
                assert!(rig.server.endpoint_ids().len() <= 1 + 2 * backlog);
                if pause == 0 {
                    rig.pass(secs(1));
                }
            }
        });
        let [tcp, mptcp, joined] = HALF_OPEN;
        let bound = backlog as u64 * (tcp + mptcp) + half_open_joins as u64 * joined + 20_000;
        prop_assert!(flood.bytes_current <= bound as i64, "{} bytes of {bound}", flood.bytes_current);
        sends(&mut rig, established);
        for port in [TCP, MPTCP] {
            let id = rig.connect(port);
            sends(&mut rig, id);
        }
    }
}

/// Bytes that the server keeps for each of `count` attacks.
fn kept(attack: Attack, count: u32) -> u64 {
    let (mut rig, _, token) = under(Limits::default());
    let flood = measure(|| {
        for number in 0..count {
            rig.deliver(&attack.packet(number, token));
        }
    });
    flood.bytes_current as u64 / u64::from(count)
}

#[test]
fn what_is_half_open_takes_no_more_than_is_said() {
    for (attack, most, count) in
        [(Attack::Syn, HALF_OPEN[0], 1000), (Attack::Capable, HALF_OPEN[1], 1000), (Attack::Join, HALF_OPEN[2], 60)]
    {
        let bytes = kept(attack, count);
        assert!((most / 2..=most).contains(&bytes), "{attack:?}: {bytes} bytes");
    }
}

#[test]
fn above_the_backlog_a_packet_is_as_much_work_after_100_000_as_at_first_and_leaves_nothing() {
    for attack in [
        Attack::Syn,
        Attack::SynForMptcp,
        Attack::Capable,
        Attack::JoinOfNothing,
        Attack::Acknowledgment,
        Attack::Init,
        Attack::CookieEcho,
    ] {
        let (mut rig, _, token) = under(Limits { backlog: 100, half_open_joins: 8 });
        let mut flood = |from: u32, to: u32| {
            measure(|| {
                for number in from..to {
                    rig.deliver(&attack.packet(number, token));
                }
            })
        };
        flood(0, 1000);
        let first = flood(1000, 2000);
        let between = flood(2000, 99_000);
        let last = flood(99_000, 100_000);
        assert_eq!(between.bytes_current, 0, "{attack:?}");
        assert_eq!((first.count_total, first.bytes_total), (last.count_total, last.bytes_total), "{attack:?}");
    }
}

#[test]
fn joins_that_never_prove_themselves_do_not_keep_others_out_for_ever() {
    let (mut rig, _, token) = under(Limits { half_open_joins: 2, ..Limits::default() });
    let answers = |rig: &mut Rig, number| rig.deliver(&Attack::Join.packet(number, token)).len();
    assert_eq!([0, 1, 2].map(|number| answers(&mut rig, number)), [1, 1, 0], "the third is dropped, not reset");
    // A wrong proof frees its place at once.
    let syn_ack = rig.deliver(&Attack::Join.packet(1, token));
    let reply = segment(&syn_ack[0]).clone();
    let mut wrong = Attack::Acknowledgment.packet(1, token);
    if let Body::Tcp(ack) = &mut wrong.body {
        ack.destination_port = MPTCP;
        ack.sequence = reply.acknowledgment;
        ack.acknowledgment = reply.sequence.wrapping_add(1);
        ack.options.timestamps = reply.options.timestamps.map(|its| Timestamps { value: its.echo, echo: its.value });
        ack.options.mptcp.push(MptcpOption::Join(Join::Ack { hmac: [7; 20] }));
    }
    assert!(segment(&rig.deliver(&wrong)[0]).flags.contains(TcpFlags::RST));
    assert_eq!(rig.server.half_open_joins(), 1);
    assert_eq!([3, 4].map(|number| answers(&mut rig, number)), [1, 0]);
    // The others are given up after their last SYN/ACK.
    for _ in 0..8 {
        rig.pass(secs(70));
    }
    assert_eq!(rig.server.half_open_joins(), 0);
}
