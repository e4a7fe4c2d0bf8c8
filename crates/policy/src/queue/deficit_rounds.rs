//! Deficit round robin over the internal queues of a discipline (Shreedhar and Varghese, "Efficient Fair Queueing Using
//! Deficit Round Robin", 1995), with the precedence for queues that begin of RFC 8290, section 4.2.
//!
//! A queue is listed from its first packet on, until its turn finds it empty. It may send while it has credit left,
//! which each of its packets reduces by its bytes; without credit it gets a quantum and goes to the end of the list.

use std::collections::VecDeque;

use super::{Arrival, FULL_PACKET, Waiting};

/// The turns of internal queues, to which flows are hashed.
#[derive(Clone, Debug)]
pub struct DeficitRounds {
    /// The number of queues.
    pub(super) flows: u32,
    /// The bytes that a queue may send per turn, as they were chosen; 0 stands for a full-sized packet.
    pub(super) chosen: u32,
    /// The bytes that a queue may send per turn, and at its first one.
    quantum: u32,
    initial: u32,
    /// Whether queues that begin precede all others.
    new_first: bool,
    credits: Vec<Credit>,
    new: VecDeque<u16>,
    old: VecDeque<u16>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Credit {
    bytes: i64,
    is_listed: bool,
}

/// The most queues: so many hashes there are.
pub(super) const ALL_HASHES: u32 = 1 << 16;

/// The values of the options that are bytes.
pub(super) const QUANTUM: [u64; 2] = [0, 1 << 24];

impl DeficitRounds {
    /// Turns of so many queues, of a full-sized packet, with precedence for those that begin if `new_first`.
    pub(super) const fn new(flows: u32, new_first: bool) -> Self {
        Self {
            flows,
            chosen: 0,
            quantum: FULL_PACKET,
            initial: FULL_PACKET,
            new_first,
            credits: Vec::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
        }
    }

    /// A full-sized packet takes `full` bytes.
    pub(super) fn fit(&mut self, full: u32) {
        let quantum = if self.chosen > 0 { self.chosen } else { full };
        self.set_quanta(quantum, quantum);
    }

    /// Sets the bytes per turn, and those of the first turn.
    pub(super) fn set_quanta(&mut self, quantum: u32, initial: u32) {
        (self.quantum, self.initial) = (quantum, initial);
    }

    /// The queue of a packet that comes: its hash, scaled to their number (Linux `reciprocal_scale`).
    pub(super) fn queue_for(&self, arrival: &Arrival) -> u16 {
        ((u64::from(arrival.flow) * u64::from(self.flows)) >> 16) as u16
    }

    /// A packet that comes will wait in the queue that is returned.
    pub(super) fn join(&mut self, arrival: &Arrival) -> u16 {
        let queue = self.queue_for(arrival);
        let number = usize::from(queue);
        if self.credits.len() <= number {
            self.credits.resize(number + 1, Credit::default());
        }
        let credit = &mut self.credits[number];
        if !credit.is_listed {
            *credit = Credit { bytes: self.initial.into(), is_listed: true };
            if self.new_first { &mut self.new } else { &mut self.old }.push_back(queue);
        }
        queue
    }

    /// The queue whose turn it is. `on_empty` learns which queues their turn has found empty.
    pub(super) fn next(&mut self, waiting: &Waiting, mut on_empty: impl FnMut(u16)) -> Option<u16> {
        loop {
            let is_new = !self.new.is_empty();
            let is_overtaken = is_new && !self.old.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let queue = *list.front()?;
            let credit = &mut self.credits[usize::from(queue)];
            if credit.bytes <= 0 {
                credit.bytes += i64::from(self.quantum);
            } else if waiting.queue(queue).packets > 0 {
                return Some(queue);
            } else {
                on_empty(queue);
                // A queue that went empty among the new ones passes through the old ones, so that it does not
                // precede them for ever by going empty.
                if !is_overtaken {
                    credit.is_listed = false;
                    list.pop_front();
                    continue;
                }
            }
            list.pop_front();
            self.old.push_back(queue);
        }
    }

    /// A packet of `bytes` leaves `queue`.
    pub(super) fn charge(&mut self, queue: u16, bytes: u32) {
        if let Some(credit) = self.credits.get_mut(usize::from(queue)) {
            credit.bytes -= i64::from(bytes);
        }
    }
}

/// The internal queue with most bytes. `coming`: the queue of a packet that comes, and its bytes.
pub(super) fn fattest(waiting: &Waiting, (queue, bytes): (u16, u32)) -> Option<u16> {
    let with_coming = |number, held: u64| held + if number == queue { u64::from(bytes) } else { 0 };
    let lengths = waiting.occupied().map(|(number, held)| (with_coming(number, held.bytes), number));
    // Of several, the first.
    lengths.max_by_key(|&(bytes, number)| (bytes, core::cmp::Reverse(number))).map(|(_, number)| number)
}

#[cfg(test)]
mod tests {
    use subflow_quantity::Instant;

    use super::*;
    use crate::queue::tests::arrival;
    use crate::queue::{Backlog, Codepoint, Head, Victim};

    /// Packets that wait, with turns.
    struct Queues {
        rounds: DeficitRounds,
        backlog: Backlog<()>,
    }

    impl Queues {
        fn new(new_first: bool) -> Self {
            let mut rounds = DeficitRounds::new(ALL_HASHES, new_first);
            rounds.set_quanta(1000, 1000);
            Self { rounds, backlog: Backlog::default() }
        }

        fn arrive(&mut self, queue: u16, bytes: u32) {
            self.rounds.join(&arrival(Instant::ZERO, queue, bytes));
            self.backlog.push(queue, Head { came: Instant::ZERO, bytes, ecn: Codepoint::NotEct }, ());
        }

        /// The queues of the next `count` packets.
        fn leave(&mut self, count: usize) -> Vec<u16> {
            let mut next = || {
                let queue = self.rounds.next(self.backlog.waiting(), |_| {})?;
                let bytes = self.backlog.waiting().queue(queue).head.expect("it has a packet").bytes;
                self.backlog.remove(Victim::Head(queue));
                self.rounds.charge(queue, bytes);
                Some(queue)
            };
            (0..count).map_while(|_| next()).collect()
        }
    }

    #[test]
    fn each_queue_sends_a_quantum_per_round_whatever_the_sizes() {
        let mut queues = Queues::new(false);
        (0..8).for_each(|_| queues.arrive(0, 500));
        (0..4).for_each(|_| queues.arrive(1, 1000));
        (0..2).for_each(|_| queues.arrive(2, 2000));
        // Per round two of 500 bytes and one of 1000; one of 2000 every other round.
        assert_eq!(queues.leave(20), [0, 0, 1, 2, 0, 0, 1, 0, 0, 1, 2, 0, 0, 1]);
    }

    #[test]
    fn a_queue_that_begins_goes_first_for_a_quantum() {
        let mut queues = Queues::new(true);
        (0..6).for_each(|_| queues.arrive(0, 999));
        assert_eq!(queues.leave(2), [0, 0]);
        queues.arrive(7, 600);
        queues.arrive(7, 600);
        queues.arrive(7, 600);
        assert_eq!(queues.leave(5), [7, 7, 0, 7, 0]);
    }

    #[test]
    fn a_queue_that_goes_empty_does_not_begin_again_before_the_old_ones_had_their_turn() {
        let mut queues = Queues::new(true);
        (0..4).for_each(|_| queues.arrive(0, 1000));
        assert_eq!(queues.leave(1), [0]);
        queues.arrive(1, 100);
        assert_eq!(queues.leave(2), [1, 0], "it went empty, and is now among the old ones");
        queues.arrive(1, 100);
        assert_eq!(queues.leave(3), [1, 0, 0]);
    }

    #[test]
    fn the_fattest_queue_counts_the_packet_that_comes() {
        let mut queues = Queues::new(true);
        queues.arrive(3, 1000);
        queues.arrive(5, 900);
        let waiting = queues.backlog.waiting();
        assert_eq!(
            [(9, 1500), (5, 99), (5, 100), (5, 101)].map(|coming| fattest(waiting, coming)),
            [Some(3), Some(3), Some(3), Some(5)]
        );
        assert_eq!(fattest(Backlog::<()>::default().waiting(), (0, 1)), None);
    }

    #[test]
    fn hashes_are_spread_evenly_over_any_number_of_queues() {
        let queue = |flows, hash| DeficitRounds::new(flows, true).queue_for(&arrival(Instant::ZERO, hash, 1));
        for flows in [1, 3, 1024, ALL_HASHES] {
            assert_eq!((queue(flows, 0), u32::from(queue(flows, u16::MAX))), (0, flows - 1));
        }
        assert_eq!([0x5555, 0x5556, 0xAAAA, 0xAAAB].map(|hash| queue(3, hash)), [0, 1, 1, 2]);
    }
}
