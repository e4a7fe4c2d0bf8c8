//! Whatever the paths do, whatever both ends are, and whatever others put on the paths who do not know the verification
//! tags, or repeat what they see there: everything arrives, once, in the order of its stream. The harness compares
//! every delivery.

use proptest::prelude::*;
use subflow_policy::catalogue::{Catalogue, Choice};
use subflow_policy::congestion::Algorithm;
use subflow_policy::scheduler::Scheduling;
use subflow_transport::Endpoint;
use subflow_transport::sctp::Config;
use subflow_transport::sctp::config::{
    BufferSplitting, Distribution, MessageOptions, RecoveryScope, Reliability, RetransmissionPolicy, WindowGrowth,
};

use subflow_wire::sctp::Chunk;

use super::any_chunks::chunk;
use crate::harness::{CLIENT, Pair, Path, SERVER, Setup, algorithm, ms, secs};
use crate::properties::disturbance::{Turn, path, take};

/// One end.
#[derive(Clone, Debug)]
struct End {
    congestion: &'static str,
    growth: WindowGrowth,
    scope: RecoveryScope,
    retransmission: RetransmissionPolicy,
    splitting: BufferSplitting,
    /// Index into primary, largest free window, and the schedulers.
    distribution: usize,
    /// SFR, DAC, NR-SACK, reneging, burst limit, Nagle, unordered.
    switches: [bool; 7],
    /// Where Linux differs: one packet of fast retransmissions, segmentation offload, a burst for each message, T3
    /// restarted by gaps and by fast retransmissions, late backing off.
    kernel: [bool; 6],
    max_gap_blocks: Option<u16>,
    most_tsns_ahead: u16,
    failure: Failure,
    message_size: u32,
    receive_buffer: u64,
    send_buffer: Option<u64>,
}

/// When an end gives up a path, and how it asks whether it is back.
#[derive(Clone, Debug)]
struct Failure {
    suspect_after: Option<u32>,
    fail_after: u32,
    probe_at_once: bool,
    sack_ends_it: bool,
    alternate_sources: bool,
    heartbeat_secs: Option<u64>,
}

#[derive(Clone, Debug)]
struct Case {
    seed: u64,
    ends: [End; 2],
    paths: Vec<Path>,
    /// Stream, whether it is unordered, length.
    messages: [Vec<(u16, bool, u32)>; 2],
    bytes: [u64; 2],
    turns: Vec<(u64, Turn)>,
    noise: Vec<(u64, Noise)>,
}

/// What somebody else puts on the paths after so many milliseconds.
#[derive(Clone, Debug)]
enum Noise {
    /// The packet sent so many before arrives again.
    Repeat(usize),
    /// Chunks under a tag that is not the association's, for this side; 0 for what an INIT has.
    Guess(usize, u32, Chunk),
}

fn noise() -> impl Strategy<Value = (u64, Noise)> {
    let kind = prop_oneof![
        3 => (0usize..400).prop_map(Noise::Repeat),
        1 => (0..2usize, any::<u32>(), chunk()).prop_map(|(to, tag, chunk)| Noise::Guess(to, tag, chunk)),
        1 => (0..2usize, chunk()).prop_map(|(to, chunk)| Noise::Guess(to, 0, chunk)),
    ];
    (0u64..3000, kind)
}

fn failure() -> impl Strategy<Value = Failure> {
    // A path that one timeout takes out of use, and that nobody asks, leaves everything to timers of a minute: right,
    // but days of it.
    let interval = prop_oneof![Just(Some(1)), Just(Some(30))];
    (proptest::option::of(0u32..2), 2u32..6, any::<[bool; 3]>(), interval).prop_map(
        |(suspect_after, fail_after, [probe_at_once, sack_ends_it, alternate_sources], heartbeat_secs)| Failure {
            suspect_after,
            fail_after,
            probe_at_once,
            sack_ends_it,
            alternate_sources,
            heartbeat_secs,
        },
    )
}

fn value_of<T: Copy + core::fmt::Debug + 'static>(choices: &'static [Choice<T>]) -> impl Strategy<Value = T> {
    proptest::sample::select(choices).prop_map(|choice| choice.value)
}

fn end() -> impl Strategy<Value = End> {
    let modes = (
        proptest::sample::select(Algorithm::NAMES),
        value_of(WindowGrowth::ALL),
        value_of(RecoveryScope::ALL),
        value_of(RetransmissionPolicy::ALL),
        value_of(BufferSplitting::ALL),
        0..2 + Scheduling::NAMES.len(),
    );
    let sizes = (
        prop_oneof![1 => 1u32..40, 4 => 1000u32..3000, 1 => 3000u32..30_000],
        prop_oneof![1 => 1500u64..4000, 1 => 4000u64..100_000, 2 => Just(1 << 20)],
        proptest::option::of(1000u64..100_000),
    );
    // A receiver that takes a handful of TSNs leaves everything to timers of a minute: right, but days of it.
    let limits = (proptest::option::of(1u16..20), prop_oneof![1 => 64u16..200, 2 => Just(4096), 2 => Just(u16::MAX)]);
    let switches = (proptest::array::uniform7(any::<bool>()), proptest::array::uniform6(any::<bool>()));
    (modes, switches, sizes, limits, failure()).prop_map(|(modes, (switches, kernel), sizes, limits, failure)| {
        let (max_gap_blocks, most_tsns_ahead) = limits;
        let (congestion, growth, scope, retransmission, splitting, distribution) = modes;
        let (message_size, receive_buffer, send_buffer) = sizes;
        End {
            congestion,
            growth,
            scope,
            retransmission,
            splitting,
            distribution,
            switches,
            kernel,
            max_gap_blocks,
            most_tsns_ahead,
            failure,
            message_size,
            receive_buffer,
            send_buffer,
        }
    })
}

/// The path between the addresses of this number, at both ends, where there are so many.
fn between(number: usize, addresses: usize) -> usize {
    number % addresses * (addresses + 1)
}

/// All paths may be down for a while.
fn turn(paths: usize) -> impl Strategy<Value = (u64, Turn)> {
    let kind = prop_oneof![
        (0..paths).prop_map(move |number| Turn::Down(between(number, paths))),
        (0..paths).prop_map(move |number| Turn::Up(between(number, paths))),
        (0..2usize).prop_map(Turn::StopReading),
        (0..2usize).prop_map(Turn::Read),
    ];
    (prop_oneof![3 => 0u64..3000, 1 => 3000u64..60_000], kind)
}

fn case() -> impl Strategy<Value = Case> {
    (1usize..=3).prop_flat_map(|paths| {
        let messages = || proptest::collection::vec((0u16..5, any::<bool>(), 1u32..20_000), 0..12);
        let size = || prop_oneof![1 => Just(0u64), 2 => 1u64..3000, 4 => 3000u64..200_000];
        (
            (any::<u64>(), [end(), end()], proptest::collection::vec(path(0.15), paths)),
            [messages(), messages()],
            [size(), size()],
            proptest::collection::vec(turn(paths), 0..8),
            proptest::collection::vec(noise(), 0..20),
            0..paths,
        )
            .prop_map(|((seed, ends, paths), messages, bytes, mut turns, mut noise, survivor)| {
                turns.sort_by_key(|&(at, _)| at);
                noise.sort_by_key(|&(at, _)| at);
                let end = turns.last().map_or(0, |&(at, _)| at);
                turns.push((end, Turn::Up(between(survivor, paths.len()))));
                // A message of a few bytes costs a chunk, a small buffer a packet a round trip: not too many of those.
                let bytes = [0, 1].map(|side: usize| {
                    let buffer = ends[1 - side].receive_buffer.min(ends[side].send_buffer.unwrap_or(u64::MAX));
                    bytes[side].min(u64::from(ends[side].message_size) * 500).min(60 * buffer)
                });
                Case { seed, ends, paths, messages, bytes, turns, noise }
            })
    })
}

impl End {
    fn apply(&self, config: &mut Config) {
        let [sfr, dac, nr_sack, reneging, burst, nagle, unordered] = self.switches;
        config.congestion = algorithm(self.congestion);
        config.window_growth = self.growth;
        config.fast_recovery = self.scope;
        config.retransmission = self.retransmission;
        config.buffer_splitting = self.splitting;
        config.distribution = match self.distribution {
            0 => Distribution::Primary,
            1 => Distribution::LargestFreeWindow,
            more => Distribution::Scheduler(Scheduling::prototypes().swap_remove(more - 2)),
        };
        (config.split_fast_retransmit, config.delayed_ack_cmt) = (sfr, dac);
        (config.nr_sack, config.reneging, config.nagle) = (nr_sack, reneging, nagle);
        config.max_burst = burst.then_some(4);
        let [single, offload, per_message, gaps_restart, fast_restarts, late] = self.kernel;
        (config.single_fast_packet, config.segmentation_offload, config.burst_per_message) =
            (single, offload, per_message);
        (config.gap_acks_restart_timer, config.fast_retransmission_restarts_timer) = (gaps_restart, fast_restarts);
        (config.late_back_off, config.max_gap_blocks) = (late, self.max_gap_blocks);
        config.most_tsns_ahead = self.most_tsns_ahead;
        config.message_size = self.message_size;
        config.message = MessageOptions { stream: 7, unordered, ..MessageOptions::default() };
        config.receive_buffer = self.receive_buffer;
        config.partial_delivery_point = self.receive_buffer / 2;
        config.send_buffer = self.send_buffer;
        config.potentially_failed_max_retransmissions = self.failure.suspect_after;
        config.path_max_retransmissions = self.failure.fail_after;
        config.probe_at_once = self.failure.probe_at_once;
        config.sack_ends_potentially_failed = self.failure.sack_ends_it;
        config.alternate_sources = self.failure.alternate_sources;
        config.heartbeat_interval = self.failure.heartbeat_secs.map(secs);
        // All paths may fail at once, and that ends no association here.
        config.association_max_retransmissions = 1000;
    }
}

impl Case {
    fn setup(&self) -> Setup {
        let paths = self.paths.len();
        let mut setup = Setup::sctp(paths).seed(self.seed);
        for (side, end) in self.ends.iter().enumerate() {
            setup = setup.on(side, |stack| end.apply(stack.association()));
        }
        for (index, path) in self.paths.iter().enumerate() {
            setup.paths[between(index, paths)] = path.clone();
        }
        setup
    }
}

/// Sends the case's messages and bytes. Messages that find no room in the send buffer are left out.
fn write(pair: &mut Pair, case: &Case, reliability: Reliability) -> [u64; 2] {
    [CLIENT, SERVER].map(|side| {
        let mut sent = 0;
        for &(stream, unordered, length) in &case.messages[side] {
            let options = MessageOptions { stream, unordered, reliability, ..MessageOptions::default() };
            let taken = pair.act(side, |endpoint, _| match endpoint {
                Endpoint::Sctp(association) => association.send_message(length, options),
                _ => panic!("SCTP only"),
            });
            sent += u64::from(length) * u64::from(taken);
        }
        pair.write(side, case.bytes[side]);
        sent + case.bytes[side]
    })
}

fn run(pair: &mut Pair, what: &str, done: impl Fn(&Pair) -> bool) {
    let limit = pair.now() + secs(24 * 3600);
    while !done(pair) {
        let progress = [CLIENT, SERVER].map(|side| (pair.received(side), pair.sctp(side).state()));
        assert!(pair.next().is_some() && pair.now() < limit, "{what}: stuck at {:?} with {progress:?}", pair.now());
        assert!(pair.steps < 400_000, "{what}: too many packets and timers at {:?} with {progress:?}", pair.now());
        pair.step();
    }
}

/// Connects, takes the turns, and gives how much each side wrote.
fn begin(case: &Case, change: impl Fn(&mut Config), reliability: Reliability) -> (Pair, [u64; 2]) {
    let mut pair = case.setup().both(|stack| change(stack.association())).build();
    pair.keep_log = !case.noise.is_empty();
    pair.connect();
    run_to_connection(&mut pair);
    let written = write(&mut pair, case, reliability);
    let start = pair.now();
    let mut noise = case.noise.iter().peekable();
    for &(at, turn) in case.turns.iter().chain([&(3000, Turn::Read(CLIENT))]) {
        while let Some((when, noise)) = noise.next_if(|&&(when, _)| when <= at) {
            pair.run_to((start + ms(*when)).max(pair.now()));
            make(&mut pair, noise);
        }
        pair.run_to((start + ms(at)).max(pair.now()));
        take(&mut pair, turn);
    }
    pair.keep_log = false;
    for side in [CLIENT, SERVER] {
        take(&mut pair, Turn::Read(side));
    }
    (pair, written)
}

fn make(pair: &mut Pair, noise: &Noise) {
    match noise {
        Noise::Repeat(back) => pair.repeat_sctp(*back),
        Noise::Guess(to, tag, chunk) => {
            pair.inject_sctp(*to, vec![chunk.clone()], |packet| packet.verification_tag = *tag)
        }
    }
}

fn run_to_connection(pair: &mut Pair) {
    use subflow_transport::sctp::State::Established;
    pair.run_until("the handshake", |pair| {
        [CLIENT, SERVER].iter().all(|&side| pair.has_connection(side) && pair.sctp(side).state() == Established)
    });
}

fn close(pair: &mut Pair) {
    pair.finish(CLIENT);
    run(pair, "closing", |pair| [CLIENT, SERVER].iter().all(|&side| pair.endpoint(side).is_closed()));
    pair.drive();
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200, max_shrink_iters: 300, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn everything_arrives_once_and_in_order(case in case()) {
        let (mut pair, written) = begin(&case, |_| {}, Reliability::Full);
        run(&mut pair, "the transfer", |pair| {
            pair.received(SERVER) == written[CLIENT] && pair.received(CLIENT) == written[SERVER]
        });
        close(&mut pair);
        for side in [CLIENT, SERVER] {
            prop_assert_eq!(pair.endpoint(side).bytes_acknowledged(), written[side]);
            prop_assert_eq!(pair.sctp(side).bytes_in_flight(), 0);
        }
    }

    #[test]
    fn expired_messages_are_abandoned_and_all_others_arrive(
        case in case(),
        retransmissions in prop_oneof![Just(None), (0u32..3).prop_map(Some)],
        lifetime in 1u64..400,
    ) {
        let reliability = match retransmissions {
            Some(most) => Reliability::Retransmissions(most),
            None => Reliability::Lifetime(ms(lifetime)),
        };
        let (mut pair, written) = begin(&case, |config| config.message.reliability = reliability, reliability);
        run(&mut pair, "the transfer", |pair| {
            [CLIENT, SERVER].iter().all(|&side| {
                pair.endpoint(side).bytes_written() == written[side] && pair.sctp(side).bytes_outstanding() == 0
            })
        });
        close(&mut pair);
        for side in [CLIENT, SERVER] {
            // Of a message that is given up the peer may have some parts, which it drops, or all.
            let (received, abandoned) = (pair.received(1 - side), pair.sctp(side).counters().bytes_abandoned);
            prop_assert!(received <= written[side]);
            prop_assert!(abandoned > 0 || received == written[side], "{} of {}", received, written[side]);
        }
    }
}
