//! The packets that wait for a discipline that acts on departure, in one or more internal queues.

use std::collections::VecDeque;

use subflow_quantity::Instant;

use super::{Codepoint, Departure, QueueDiscipline, Verdict, Victim};

/// Waiting packets. `T` is what the link needs to know of a packet; the discipline sees only [`Waiting`], so that it can
/// neither lose a packet nor send one twice.
#[derive(Clone, Debug)]
pub struct Backlog<T> {
    waiting: Waiting,
    /// By internal queue.
    packets: Vec<VecDeque<Packet<T>>>,
}

/// The lengths of the internal queues and their first packets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    packets: u32,
    bytes: u64,
    queues: Vec<InternalQueue>,
}

/// One internal queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InternalQueue {
    /// Its packets.
    pub packets: u32,
    /// Their bytes, including overhead.
    pub bytes: u64,
    /// Its first packet, if it has one.
    pub head: Option<Head>,
}

/// The first packet of an internal queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// When it came.
    pub came: Instant,
    /// What it takes on the link, in bytes.
    pub bytes: u32,
    /// Its ECN field.
    pub ecn: Codepoint,
}

/// A packet that was removed without being transmitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Removed<T> {
    /// The packet.
    pub packet: T,
    /// When it came.
    pub came: Instant,
}

/// A packet to transmit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departed<T> {
    /// The packet.
    pub packet: T,
    /// When it came.
    pub came: Instant,
    /// Whether it is to be marked.
    pub marked: bool,
}

#[derive(Clone, Debug)]
struct Packet<T> {
    head: Head,
    packet: T,
}

impl Waiting {
    /// All waiting packets.
    pub const fn packets(&self) -> u32 {
        self.packets
    }

    /// Their bytes, including overhead.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// An internal queue, by its number.
    pub fn queue(&self, number: u16) -> InternalQueue {
        self.queues.get(usize::from(number)).copied().unwrap_or_default()
    }

    /// The internal queues that have packets, with their numbers, in order.
    pub fn occupied(&self) -> impl Iterator<Item = (u16, InternalQueue)> {
        (0..=u16::MAX).zip(self.queues.iter().copied()).filter(|(_, queue)| queue.packets > 0)
    }
}

impl<T> Default for Backlog<T> {
    fn default() -> Self {
        Self { waiting: Waiting::default(), packets: Vec::new() }
    }
}

impl<T> Backlog<T> {
    /// What a discipline sees of it.
    pub const fn waiting(&self) -> &Waiting {
        &self.waiting
    }

    /// Adds a packet at the end of internal queue `queue`.
    pub fn push(&mut self, queue: u16, head: Head, packet: T) {
        let number = usize::from(queue);
        if self.packets.len() <= number {
            self.packets.resize_with(number + 1, VecDeque::new);
            self.waiting.queues.resize(number + 1, InternalQueue::default());
        }
        self.packets[number].push_back(Packet { head, packet });
        self.waiting.packets += 1;
        self.waiting.bytes += u64::from(head.bytes);
        let queue = &mut self.waiting.queues[number];
        queue.packets += 1;
        queue.bytes += u64::from(head.bytes);
        queue.head.get_or_insert(head);
    }

    /// The packet that `discipline` chooses to transmit at `now`. Those that it drops before are passed to `drop`.
    pub fn depart(
        &mut self,
        discipline: &mut impl QueueDiscipline,
        now: Instant,
        mut drop: impl FnMut(Removed<T>),
    ) -> Option<Departed<T>> {
        while self.waiting.packets > 0 {
            let chosen = discipline.next_queue(now, &self.waiting);
            let first_occupied = || self.waiting.occupied().next().map(|(number, _)| number);
            let queue = if self.waiting.queue(chosen).packets > 0 { chosen } else { first_occupied()? };
            let Packet { head, packet } = self.take(queue, VecDeque::pop_front)?;
            let Head { came, bytes, ecn } = head;
            let departure = Departure { at: now, sojourn: now.since(came), bytes, ecn, queue, waiting: &self.waiting };
            match discipline.on_departure(&departure).applied_to(ecn) {
                Verdict::Pass => return Some(Departed { packet, came, marked: false }),
                Verdict::Mark => return Some(Departed { packet, came, marked: true }),
                Verdict::Drop => drop(Removed { packet, came }),
            }
        }
        None
    }

    /// Removes `victim`; `None` if there is no packet in that internal queue.
    pub fn remove(&mut self, victim: Victim) -> Option<Removed<T>> {
        let Packet { head, packet } = match victim {
            Victim::Head(queue) => self.take(queue, VecDeque::pop_front)?,
            Victim::Tail(queue) => self.take(queue, VecDeque::pop_back)?,
        };
        Some(Removed { packet, came: head.came })
    }

    /// Removes all packets.
    pub fn clear(&mut self) -> impl Iterator<Item = Removed<T>> {
        self.waiting = Waiting::default();
        core::mem::take(&mut self.packets)
            .into_iter()
            .flatten()
            .map(|Packet { head, packet }| Removed { packet, came: head.came })
    }

    /// The times at which the waiting packets came.
    pub fn came(&self) -> impl Iterator<Item = Instant> {
        self.packets.iter().flatten().map(|packet| packet.head.came)
    }

    fn take(&mut self, queue: u16, from: impl Fn(&mut VecDeque<Packet<T>>) -> Option<Packet<T>>) -> Option<Packet<T>> {
        let packets = self.packets.get_mut(usize::from(queue))?;
        let taken = from(packets)?;
        self.waiting.packets -= 1;
        self.waiting.bytes -= u64::from(taken.head.bytes);
        let queue = &mut self.waiting.queues[usize::from(queue)];
        queue.packets -= 1;
        queue.bytes -= u64::from(taken.head.bytes);
        queue.head = packets.front().map(|packet| packet.head);
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::queue::Discipline;

    fn head(bytes: u32) -> Head {
        Head { came: Instant::ZERO, bytes, ecn: Codepoint::NotEct }
    }

    /// Marks every packet that leaves, from a queue that does not exist.
    #[derive(Debug)]
    struct Marking;

    impl QueueDiscipline for Marking {
        fn next_queue(&mut self, _now: Instant, _waiting: &Waiting) -> u16 {
            u16::MAX
        }
        fn on_departure(&mut self, _departure: &Departure<'_>) -> Verdict {
            Verdict::Mark
        }
    }

    #[test]
    fn a_mark_drops_a_packet_whose_transport_does_not_use_ecn() {
        let mut backlog = Backlog::default();
        for (packet, ecn) in [Codepoint::NotEct, Codepoint::Ect0, Codepoint::Ce].into_iter().enumerate() {
            backlog.push(3, Head { ecn, ..head(100) }, packet);
        }
        let mut dropped = Vec::new();
        let departed = backlog.depart(&mut Marking, Instant::from_nanos(5), |removed| dropped.push(removed.packet));
        assert_eq!(departed, Some(Departed { packet: 1, came: Instant::ZERO, marked: true }));
        assert_eq!((dropped, backlog.waiting().packets()), (vec![0], 1));
    }

    proptest! {
        #[test]
        fn what_a_discipline_sees_is_what_waits(
            steps in proptest::collection::vec((0u16..4, 0u32..3, 1u32..1500), 0..200)
        ) {
            let mut backlog = Backlog::default();
            let mut model: Vec<VecDeque<u32>> = vec![VecDeque::new(); 4];
            for (queue, step, bytes) in steps {
                let packets = &mut model[usize::from(queue)];
                match step {
                    0 => {
                        backlog.push(queue, head(bytes), bytes);
                        packets.push_back(bytes);
                    }
                    1 => {
                        let removed = backlog.remove(Victim::Tail(queue)).map(|removed| removed.packet);
                        prop_assert_eq!(removed, packets.pop_back());
                    }
                    _ => {
                        // Drop-tail has one internal queue; of several, the first that is occupied goes.
                        let first = model.iter_mut().find(|packets| !packets.is_empty());
                        let departed = backlog.depart(&mut Discipline::default(), Instant::ZERO, |_| {});
                        prop_assert_eq!(departed.map(|it| it.packet), first.and_then(VecDeque::pop_front));
                    }
                }
                let waiting = backlog.waiting();
                prop_assert_eq!(waiting.packets() as usize, model.iter().map(VecDeque::len).sum::<usize>());
                prop_assert_eq!(waiting.bytes(), model.iter().flatten().map(|&bytes| u64::from(bytes)).sum::<u64>());
                for (number, packets) in (0..).zip(&model) {
                    let queue = waiting.queue(number);
                    prop_assert_eq!(queue.packets as usize, packets.len());
                    prop_assert_eq!(queue.bytes, packets.iter().map(|&bytes| u64::from(bytes)).sum::<u64>());
                    prop_assert_eq!(queue.head, packets.front().map(|&bytes| head(bytes)));
                }
            }
            prop_assert_eq!(backlog.clear().count(), model.iter().map(VecDeque::len).sum::<usize>());
            prop_assert_eq!(backlog.waiting(), &Waiting::default());
        }
    }
}
