//! One tin of CAKE: its flows take turns by deficit round robin, in which flows with few packets go first and those of a
//! busy host get a smaller quantum (Linux `cake_dequeue`, `cake_set_rate`).

use std::collections::VecDeque;

use rand_core::RngCore;
use rand_pcg::Pcg64Mcg;
use subflow_quantity::{Duration, Instant, Rate};

use super::super::{Arrival, Departure, Waiting};
use super::cobalt::{Cobalt, Params, Signal};
use super::isolation::{Isolation, Owners, QUEUES};
use super::tins::Share;

/// One tin.
#[derive(Clone, Debug)]
pub(super) struct Tin {
    owners: Owners,
    flows: Vec<Flow>,
    /// Queues with packets: those that begin, and those that always have some.
    new: VecDeque<u16>,
    old: VecDeque<u16>,
    /// Queues without packets whose COBALT is not at rest.
    decaying: VecDeque<u16>,
    /// Queues that are neither unused nor decaying.
    active: u32,
    /// The packets that wait, if none was lost with the link.
    packets: u32,
    params: Params,
    quantum: u32,
    rate: Option<Rate>,
    /// Until when it has taken its share of the rate.
    next_packet: Instant,
    /// Bytes per turn among tins, and what is left of the turn.
    pub(super) turn: i64,
    pub(super) deficit: i64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    set: Set,
    deficit: i64,
    cobalt: Cobalt,
}

/// In which list a queue is, and as what it counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Set {
    #[default]
    None,
    Sparse,
    /// It was empty at the end of its turn among the new ones: in the list of the old ones, but not bulk.
    SparseWait,
    Bulk,
    Decaying,
}

/// What the parameters of a tin follow from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conditions {
    /// CoDel's interval and target at a rate at which packets take no time.
    pub(super) interval: Duration,
    pub(super) target: Duration,
    /// The bytes of a full-sized packet.
    pub(super) full_packet: u32,
}

impl Tin {
    pub(super) fn new() -> Self {
        Self {
            owners: Owners::new(),
            flows: vec![Flow::default(); QUEUES],
            new: VecDeque::new(),
            old: VecDeque::new(),
            decaying: VecDeque::new(),
            active: 0,
            packets: 0,
            params: Params::default(),
            quantum: 0,
            rate: None,
            next_packet: Instant::ZERO,
            turn: 0,
            deficit: 0,
        }
    }

    /// Sets its share of the rate, in bytes per second.
    pub(super) fn configure(&mut self, share: Share, conditions: &Conditions) {
        let Conditions { interval, target, full_packet } = *conditions;
        self.turn = share.quantum.into();
        self.rate = (share.rate > 0).then(|| Rate::from_bits_per_second(share.rate.saturating_mul(8)));
        let by_rate = (share.rate >> 12).clamp(300, full_packet.max(300).into()) as u32;
        self.quantum = if self.rate.is_some() { by_rate } else { full_packet };
        let mtu_time = self.rate.map_or(Duration::ZERO, |rate| rate.transmission_time(full_packet.into())).as_nanos();
        let raised = (mtu_time * 3 / 2).max(target.as_nanos());
        let interval = (interval.as_nanos() + raised - target.as_nanos()).max(2 * raised);
        self.params = Params { interval, target: raised, mtu_time };
    }

    /// Whether it has queues with packets.
    pub(super) fn is_active(&self) -> bool {
        self.active > 0
    }

    /// How long it has taken more than its share at `now`; nothing if it has not.
    pub(super) fn ahead(&self, now: Instant) -> Duration {
        self.next_packet.since(now)
    }

    /// The queue in which packets of the same flow wait.
    pub(super) fn find(&self, isolation: Isolation, arrival: &Arrival) -> Option<u16> {
        self.owners.find(isolation, arrival)
    }

    /// A packet that comes will wait in the queue that is returned.
    pub(super) fn join(&mut self, isolation: Isolation, arrival: &Arrival, random: &mut Pcg64Mcg) -> u16 {
        if self.packets == 0 {
            self.next_packet = self.next_packet.max(arrival.at);
        }
        self.packets += 1;
        let flows = &self.flows;
        let queue = self.owners.queue_for(
            isolation,
            arrival,
            |queue| flows[queue].set != Set::None,
            |queue| flows[queue].set == Set::Bulk,
        );
        match self.flow(queue).set {
            Set::None | Set::Decaying => {
                self.decaying.retain(|&decaying| decaying != queue);
                self.new.push_back(queue);
                self.active += 1;
                let deficit = self.quantum_of(isolation, queue, random);
                let flow = self.flow(queue);
                (flow.set, flow.deficit) = (Set::Sparse, deficit);
            }
            Set::SparseWait => self.becomes_bulk(isolation, queue),
            Set::Sparse | Set::Bulk => {}
        }
        queue
    }

    /// The queue that sends next, with its number after `base`; `None` if the turn of an empty one has ended, so that all
    /// tins are to be considered again. `first`: no queue was looked at for this packet.
    pub(super) fn next(
        &mut self,
        (now, waiting, base): (Instant, &Waiting, u16),
        isolation: Isolation,
        first: &mut bool,
        random: &mut Pcg64Mcg,
    ) -> Option<u16> {
        loop {
            let takes_decaying = core::mem::take(first) && !self.decaying.is_empty();
            let list = match (takes_decaying, self.new.is_empty(), self.old.is_empty()) {
                (true, ..) | (_, true, true) => &mut self.decaying,
                (_, false, _) => &mut self.new,
                (_, true, false) => &mut self.old,
            };
            let queue = *list.front()?;
            let has_packets = waiting.queue(base + queue).packets > 0;
            if self.flows[usize::from(queue)].deficit <= 0 {
                list.pop_front();
                self.old.push_back(queue);
                match self.flow(queue).set {
                    Set::Sparse if has_packets => self.becomes_bulk(isolation, queue),
                    Set::Sparse => self.flow(queue).set = Set::SparseWait,
                    _ => {}
                }
                let quantum = self.quantum_of(isolation, queue, random);
                self.flow(queue).deficit += quantum;
                continue;
            }
            if has_packets {
                return Some(queue);
            }
            list.pop_front();
            self.leave(isolation, queue, now);
            return None;
        }
    }

    /// The turn of `queue`, which is in no list now, has found it empty.
    fn leave(&mut self, isolation: Isolation, queue: u16, now: Instant) {
        let params = self.params;
        let flow = self.flow(queue);
        flow.cobalt.on_empty(&params, now.as_nanos());
        let before = flow.set;
        flow.set = if flow.cobalt.is_at_rest(now.as_nanos()) { Set::None } else { Set::Decaying };
        if flow.set == Set::Decaying {
            self.decaying.push_back(queue);
        }
        if before == Set::Bulk {
            self.owners.count_bulk(isolation, queue, false);
        }
        if before != Set::Decaying {
            self.active = self.active.saturating_sub(1);
        }
    }

    /// What COBALT does with a packet that leaves.
    pub(super) fn signal(&mut self, queue: u16, departure: &Departure<'_>, random: &mut Pcg64Mcg) -> Signal {
        let params = self.params;
        let times = (departure.at.as_nanos(), departure.sojourn.as_nanos());
        self.packets = self.packets.saturating_sub(1);
        self.flow(queue).cobalt.on_departure(&params, times, departure.ecn, || random.next_u32())
    }

    /// A packet is sent at `now`.
    pub(super) fn charge(&mut self, queue: u16, bytes: u32, now: Instant) {
        self.flow(queue).deficit -= i64::from(bytes);
        self.deficit -= i64::from(bytes);
        let Some(rate) = self.rate else { return };
        let time = rate.transmission_time(bytes.into());
        if self.next_packet < now {
            self.next_packet += time;
        } else {
            self.next_packet = self.next_packet.max(now.saturating_add(time));
        }
    }

    /// The first packet of `queue` is dropped because the buffer is full.
    pub(super) fn on_overflow(&mut self, queue: u16, now: Instant) {
        let params = self.params;
        self.packets = self.packets.saturating_sub(1);
        self.flow(queue).cobalt.on_overflow(&params, now.as_nanos());
    }

    /// No packet waits in any tin.
    pub(super) fn on_all_empty(&mut self) {
        self.packets = 0;
    }

    fn flow(&mut self, queue: u16) -> &mut Flow {
        &mut self.flows[usize::from(queue)]
    }

    fn becomes_bulk(&mut self, isolation: Isolation, queue: u16) {
        self.flow(queue).set = Set::Bulk;
        self.owners.count_bulk(isolation, queue, true);
    }

    /// The bytes of a turn of `queue`: the quantum over the load of its hosts, rounded at random so that no share is lost.
    fn quantum_of(&self, isolation: Isolation, queue: u16, random: &mut Pcg64Mcg) -> i64 {
        match self.owners.host_load(isolation, queue) {
            1 => self.quantum.into(),
            load => (i64::from(self.quantum) * (65_536 / i64::from(load)) + i64::from(random.next_u32() >> 16)) >> 16,
        }
    }

    #[cfg(test)]
    pub(super) fn parameters(&self) -> (Params, u32) {
        (self.params, self.quantum)
    }
}
