//! A random connection: what both ends are, what the paths do, and what happens to them in mid-transfer.

use proptest::prelude::*;
use subflow_policy::congestion::Algorithm;
use subflow_policy::scheduler::Scheduling;
use subflow_transport::tcp::config::{AckPolicy, LossDetection, ReceiveBuffer, SendBuffer, WindowReduction};

use super::disturbance::{Turn, path};
use crate::harness::{Path, Setup, Stack, algorithm};

/// One end.
#[derive(Clone, Debug)]
struct End {
    congestion: &'static str,
    sack: bool,
    timestamps: bool,
    rack: bool,
    proportional: bool,
    loss_probe: bool,
    every_segment: bool,
    nagle: bool,
    receive_buffer: Option<u64>,
    send_buffer: Option<u64>,
    scheduler: &'static str,
    opportunistic: bool,
    /// Whether data moves once a subflow is stale, and not at its first timeout.
    stale: bool,
    checksum: bool,
}

/// What middleboxes do to MPTCP options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stripping {
    None,
    Syns,
    From(usize),
    Both,
}

/// A whole case.
#[derive(Clone, Debug)]
pub(super) struct Case {
    seed: u64,
    mptcp: bool,
    clients: usize,
    servers: usize,
    ends: [End; 2],
    paths: Vec<Path>,
    /// Bytes from the client and from the server.
    pub(super) bytes: [u64; 2],
    /// In how many writes each side hands them over.
    pub(super) writes: u64,
    /// By how many bytes every so many acknowledgments fall short of what has arrived (plain TCP only).
    pub(super) short_acks: Option<(u32, u32)>,
    /// Whether the transfers and their ends are asked for at once, or when the connection has settled.
    pub(super) early: bool,
    pub(super) turns: Vec<(u64, Turn)>,
    pub(super) stripping: Stripping,
    /// After how many milliseconds it begins.
    pub(super) strips_after: u64,
}

fn end() -> impl Strategy<Value = End> {
    let buffer =
        || prop_oneof![4 => Just(None), 1 => (1u64..3000).prop_map(Some), 2 => (3000u64..100_000).prop_map(Some)];
    let names = (proptest::sample::select(Algorithm::NAMES), proptest::sample::select(Scheduling::NAMES));
    let switches = (proptest::array::uniform9(any::<bool>()), proptest::bool::weighted(0.2));
    (names, switches, buffer(), buffer()).prop_map(|((congestion, scheduler), (switches, checksum), receive, send)| {
        let [sack, timestamps, rack, proportional, loss_probe, every_segment, nagle, opportunistic, stale] = switches;
        End {
            congestion,
            sack: sack || rack,
            timestamps: timestamps || proportional,
            rack,
            proportional,
            loss_probe,
            every_segment,
            nagle,
            receive_buffer: receive,
            send_buffer: send,
            scheduler,
            opportunistic,
            stale,
            checksum,
        }
    })
}

fn size() -> impl Strategy<Value = u64> {
    prop_oneof![1 => Just(0u64), 2 => 1u64..3000, 4 => 3000u64..200_000, 1 => 200_000u64..2_000_000]
}

/// Path 0 and client address 0 survive.
fn turn(clients: usize, paths: usize) -> impl Strategy<Value = (u64, Turn)> {
    let kind = prop_oneof![
        (1..paths.max(2)).prop_map(Turn::Down),
        (0..paths).prop_map(Turn::Up),
        (1..clients.max(2)).prop_map(Turn::LoseAddress),
        (1..clients.max(2)).prop_map(Turn::RegainAddress),
        (0..2usize).prop_map(Turn::StopReading),
        (0..2usize).prop_map(Turn::Read),
    ];
    let possible = move |&(_, turn): &(u64, Turn)| match turn {
        Turn::Down(path) => path < paths,
        Turn::LoseAddress(address) | Turn::RegainAddress(address) => address < clients,
        _ => true,
    };
    (0u64..3000, kind).prop_filter("there is no such path or address", possible)
}

fn stripping() -> impl Strategy<Value = Stripping> {
    prop_oneof![
        12 => Just(Stripping::None),
        1 => Just(Stripping::Syns),
        2 => (0..2usize).prop_map(Stripping::From),
        1 => Just(Stripping::Both),
    ]
}

/// Cases of MPTCP or plain TCP.
pub(super) fn case(mptcp: bool) -> impl Strategy<Value = Case> {
    let counts = match mptcp {
        true => prop_oneof![8 => (1usize..=2, 1usize..=2), 2 => (1usize..=4, Just(1)), 1 => Just((5, 5))].boxed(),
        false => Just((1, 1)).boxed(),
    };
    counts.prop_flat_map(move |(clients, servers)| {
        let paths = clients * servers;
        let steady = (
            any::<u64>(),
            [end(), end()],
            proptest::collection::vec(path(0.2), paths),
            [size(), size()],
            any::<bool>(),
            prop_oneof![Just(1u64), 2u64..20],
            proptest::option::weighted(0.3, (1u32..3000, 2u32..6)),
        );
        let disturbances = (proptest::collection::vec(turn(clients, paths), 0..6), stripping(), 0u64..1000);
        (steady, disturbances).prop_map(move |(steady, (mut turns, stripping, strips_after))| {
            let (seed, ends, paths, bytes, early, writes, short_acks) = steady;
            turns.sort_by_key(|&(at, _)| at);
            // A byte at a time over a lossy path takes a timeout for every loss: not too many of those.
            let bytes = [0, 1].map(|side: usize| {
                let smallest = ends[side].send_buffer.into_iter().chain(ends[1 - side].receive_buffer).min();
                smallest.map_or(bytes[side], |buffer| bytes[side].min(300 * buffer))
            });
            let stripping = match stripping {
                _ if !mptcp => Stripping::None,
                // In mid-connection a stripped path among others is dead, and path 0 is the one that survives.
                Stripping::From(_) | Stripping::Both if paths.len() > 1 => Stripping::Syns,
                other => other,
            };
            Case {
                seed,
                mptcp,
                clients,
                servers,
                ends,
                paths,
                bytes,
                writes,
                short_acks: short_acks.filter(|_| !mptcp),
                early,
                turns,
                stripping,
                strips_after,
            }
        })
    })
}

impl End {
    fn apply(&self, stack: &mut Stack) {
        stack.congestion = algorithm(self.congestion);
        stack.tcp.send_buffer = self.send_buffer.map_or(SendBuffer::Unlimited, SendBuffer::Fixed);
        let tcp = &mut stack.tcp;
        (tcp.sack, tcp.timestamps, tcp.tail_loss_probe) = (self.sack, self.timestamps, self.loss_probe);
        tcp.nagle = self.nagle;
        tcp.loss_detection = if self.rack { LossDetection::Rack } else { LossDetection::DupThresh };
        tcp.window_reduction =
            if self.proportional { WindowReduction::Proportional } else { WindowReduction::Immediate };
        if self.every_segment {
            tcp.ack_policy = AckPolicy::EverySegment;
        }
        if let Some(bytes) = self.receive_buffer {
            tcp.receive_buffer = ReceiveBuffer::Fixed(bytes);
        }
        if let Some(mptcp) = &mut stack.mptcp {
            mptcp.scheduler = Scheduling::from_name(self.scheduler).expect("a scheduler");
            (mptcp.opportunistic_retransmission, mptcp.penalisation) = (self.opportunistic, self.opportunistic);
            mptcp.checksum = self.checksum;
            mptcp.stale_loss_count = if self.stale { 4 } else { 0 };
            mptcp.subflows_open_window = self.stale;
        }
    }
}

impl Case {
    pub(super) fn setup(&self) -> Setup {
        let mut setup = if self.mptcp { Setup::mptcp(self.clients, self.servers) } else { Setup::tcp() };
        for (stack, end) in setup.stacks.iter_mut().zip(&self.ends) {
            end.apply(stack);
        }
        setup.paths.clone_from(&self.paths);
        setup.seed(self.seed)
    }
}
