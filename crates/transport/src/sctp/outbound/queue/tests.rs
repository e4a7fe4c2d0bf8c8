//! Whatever happens to the chunks, what is in flight and what is lost is what their statuses say.

use proptest::prelude::*;

use super::*;
use crate::sctp::Config;
use crate::sctp::config::MessageOptions;
use crate::sctp::destination::Destination;
use crate::sctp::outbound::messages::Messages;

const DESTINATIONS: usize = 3;

/// What happens to the chunk `at` of the queue, where that is possible.
#[derive(Clone, Copy, Debug)]
enum Step {
    Assign { length: u32 },
    Transmit { at: usize, to: usize },
    Copy { at: usize, to: usize },
    Miss { at: usize },
    Lose { at: usize },
    LoseCopies { to: usize },
    GapAck { at: usize, kept: bool },
    Renege { at: usize },
    Abandon { at: usize },
    Reassign { at: usize, to: usize },
    LetWait,
    Pop,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let (at, to) = (0_usize..12, 0..DESTINATIONS);
    let both = (at.clone(), to.clone());
    let step = prop_oneof![
        4 => (1_u32..1000).prop_map(|length| Step::Assign { length }),
        8 => both.clone().prop_map(|(at, to)| Step::Transmit { at, to }),
        3 => both.clone().prop_map(|(at, to)| Step::Copy { at, to }),
        3 => at.clone().prop_map(|at| Step::Miss { at }),
        3 => at.clone().prop_map(|at| Step::Lose { at }),
        1 => to.prop_map(|to| Step::LoseCopies { to }),
        3 => (at.clone(), any::<bool>()).prop_map(|(at, kept)| Step::GapAck { at, kept }),
        2 => at.clone().prop_map(|at| Step::Renege { at }),
        1 => at.prop_map(|at| Step::Abandon { at }),
        1 => both.prop_map(|(at, to)| Step::Reassign { at, to }),
        1 => Just(Step::LetWait),
        3 => Just(Step::Pop),
    ];
    proptest::collection::vec(step, 0..200)
}

fn destinations() -> Destinations {
    let (config, address) = (Config::rfc9260(), |last: u8| std::net::IpAddr::from([10, 0, 0, last]));
    let mut destinations = Destinations::new(Destination::new(&config, (0, address(1)), address(2), true));
    for last in 3..2 + DESTINATIONS as u8 {
        destinations.add(Destination::new(&config, (0, address(1)), address(last), true));
    }
    destinations
}

/// A message of its own for each chunk.
fn fragment(length: u32) -> Fragment {
    let mut messages = Messages::default();
    messages.push(0, u64::from(length), u64::from(length), MessageOptions::default(), Instant::ZERO);
    messages.take(length).expect("just written")
}

fn apply(queue: &mut RetransmissionQueue, destinations: &mut Destinations, step: Step) {
    let first = queue.cumulative() + 1;
    let status = |queue: &RetransmissionQueue, tsn| queue.chunk(tsn).map(SentChunk::status);
    let waits = |queue: &RetransmissionQueue, tsn| matches!(status(queue, tsn), Some(Status::Assigned | Status::Lost));
    let is_sent =
        |queue: &RetransmissionQueue, tsn| matches!(status(queue, tsn), Some(Status::InFlight | Status::Lost));
    match step {
        Step::Assign { length } => _ = queue.assign(fragment(length), 0, Instant::ZERO),
        Step::Transmit { at, to } if waits(queue, first + at as u64) => {
            queue.transmit(first + at as u64, to, &mut destinations[to].flight, Instant::ZERO);
        }
        Step::Copy { at, to } => {
            let goes_elsewhere = |chunk: &SentChunk| chunk.destination() != to && !chunk.has_copy(to);
            let tsn = first + at as u64;
            if queue.chunk(tsn).is_some_and(|chunk| chunk.is_in_flight() && goes_elsewhere(chunk)) {
                queue.transmit_copy(tsn, to, &mut destinations[to].flight);
            }
        }
        Step::Miss { at } if status(queue, first + at as u64) == Some(Status::InFlight) => {
            if queue.miss(first + at as u64, 2) {
                queue.lose(first + at as u64, destinations);
            }
        }
        Step::Lose { at } => queue.lose(first + at as u64, destinations),
        Step::LoseCopies { to } => queue.lose_copies(to, &mut destinations[to].flight),
        Step::GapAck { at, kept } if is_sent(queue, first + at as u64) => {
            queue.gap_ack(first + at as u64, kept, destinations, |_, _| {});
        }
        Step::Renege { at } => queue.renege(first + at as u64, destinations),
        Step::Abandon { at } => _ = queue.abandon(first + at as u64, destinations),
        Step::Reassign { at, to } => _ = queue.reassign(first + at as u64, to),
        Step::LetWait => queue.let_indicated_wait(),
        Step::Pop => _ = queue.pop(destinations, |_, _| {}),
        Step::Transmit { .. } | Step::Miss { .. } | Step::GapAck { .. } => {}
    }
}

/// Bytes and chunks in flight to a destination, as the statuses of the chunks say.
fn flight_to(queue: &RetransmissionQueue, index: usize) -> (u64, u64) {
    let originals = queue.iter().filter(|(_, chunk)| chunk.is_in_flight() && chunk.destination() == index);
    let copies = queue.iter().filter(|(_, chunk)| chunk.has_copy(index));
    originals.chain(copies).fold((0, 0), |(bytes, chunks), (_, chunk)| (bytes + chunk.length(), chunks + 1))
}

proptest! {
    #[test]
    fn what_is_in_flight_or_lost_is_what_the_statuses_say(steps in steps()) {
        let (mut queue, mut destinations) = (RetransmissionQueue::new(true), destinations());
        for step in steps {
            apply(&mut queue, &mut destinations, step);
            for index in 0..DESTINATIONS {
                let flight = &destinations[index].flight;
                prop_assert_eq!((flight.bytes(), flight.chunks()), flight_to(&queue, index), "{:?}", step);
                let timed = queue.iter().filter(|(_, chunk)| chunk.is_timed() && chunk.destination() == index).count();
                prop_assert_eq!(usize::from(flight.is_timing()), timed, "{:?}", step);
            }
            let in_flight = queue.iter().filter(|(_, chunk)| chunk.is_in_flight());
            prop_assert_eq!(queue.in_flight(), in_flight.map(|(_, chunk)| chunk.length()).sum::<u64>(), "{:?}", step);
            let lost = queue.iter().filter(|(_, chunk)| chunk.status() == Status::Lost).map(|(tsn, _)| tsn);
            prop_assert_eq!(queue.lost().all(), lost.collect::<Vec<_>>(), "{:?}", step);
            let (first, second) = queue.ranges();
            prop_assert_eq!(first.len() + second.len(), queue.iter().count());
        }
    }
}
