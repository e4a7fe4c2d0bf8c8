//! CAKE (Høiland-Jørgensen, Täht, Morton, "Piece of CAKE: A Comprehensive Queue Management Solution for Home Gateways",
//! LANMAN 2018), as `tc cake`: tins by codepoint, in each of them queues of flows whose hosts share the rate first, and
//! COBALT for each queue.
//!
//! | what | where |
//! |---|---|
//! | which tin a packet is in, and the share of a tin | `tins.rs` |
//! | which queue, and the hosts of flows | `isolation.rs` |
//! | the turns of flows, and the parameters of a tin | `tin.rs` |
//! | which packets are dropped or marked | `cobalt.rs` |
//!
//! CAKE's shaper is the link: a constant rate has no burst, as CAKE's deficit mode has none, and each packet counts with
//! the link's overhead. A packet arrives one transmission time later than behind CAKE, which lets it go when its time
//! begins. A link without a constant rate or a token bucket is one without `bandwidth`: tins then take turns by bytes.
//!
//! Differences from `sch_cake`: the limit counts bytes of packets, where Linux counts memory; flows are told apart by 48
//! bits of hashes, 16 of the 5-tuple and 16 of each host. It has no ACK filter, no `ingress`, no `autorate-ingress`, no
//! `nat` and no `wash`.

mod cobalt;
mod isolation;
mod tin;
mod tins;

use rand_core::{RngCore, SeedableRng};
use rand_pcg::Pcg64Mcg;
use subflow_quantity::{Duration, Instant};

use super::deficit_rounds::fattest;
use super::{Arrival, Departure, FULL_PACKET, Limit, Place, QueueDiscipline, Speed, Verdict, Victim, Waiting};
use crate::catalogue::{Attribute, Catalogued, Choice, Conflict, Description};
use isolation::{Isolation, QUEUES};
use tin::{Conditions, Tin};
use tins::Diffserv;

/// CAKE.
#[derive(Clone, Debug)]
pub struct Cake {
    isolation: Isolation,
    diffserv: Diffserv,
    /// The round-trip time of most flows: COBALT's interval.
    rtt: Duration,
    full_packet: u32,
    /// The speed that the tins are configured for; `None` before the first packet.
    speed: Option<Speed>,
    tins: Vec<Tin>,
    /// Whose turn it is without a rate.
    turn: usize,
    /// The queue whose packet was dropped: the next one is from there, too.
    dropped_from: Option<u16>,
    random: Pcg64Mcg,
}

/// As `tc cake`: `diffserv3`, `triple-isolate`, `rtt 100ms`.
impl Default for Cake {
    fn default() -> Self {
        Self {
            isolation: Isolation::default(),
            diffserv: Diffserv::default(),
            rtt: Duration::from_millis(100),
            full_packet: FULL_PACKET,
            speed: None,
            tins: Vec::new(),
            turn: 0,
            dropped_from: None,
            random: Pcg64Mcg::seed_from_u64(0),
        }
    }
}

impl Catalogued for Cake {
    const DESCRIPTION: Description = Description {
        name: "cake",
        aliases: &[],
        summary: "tins by DSCP, hosts and then flows share the rate, and COBALT limits the queue of each flow",
        source: "Høiland-Jørgensen et al., LANMAN 2018; Linux sch_cake",
    };

    const OPTIONS: &'static [Attribute<Self>] = &[
        Attribute::name(
            "isolation",
            "what makes a flow, and which hosts share the rate before their flows do",
            || Choice::descriptions(&Isolation::ALL),
            |queue| Choice::name_of(&Isolation::ALL, queue.isolation),
            |queue, name| queue.isolation = Choice::find(&Isolation::ALL, name).unwrap_or(queue.isolation),
        ),
        Attribute::name(
            "diffserv",
            "how packets are divided into tins by their codepoints",
            || Choice::descriptions(&Diffserv::ALL),
            |queue| Choice::name_of(&Diffserv::ALL, queue.diffserv),
            |queue, name| queue.diffserv = Choice::find(&Diffserv::ALL, name).unwrap_or(queue.diffserv),
        ),
        Attribute::positive_duration(
            "rtt",
            "the round-trip time of most flows: how long packets must have waited for longer than a twentieth of it until \
             the first is dropped or marked",
            |queue| queue.rtt,
            |queue, rtt| queue.rtt = rtt,
        ),
    ];
}

impl QueueDiscipline for Cake {
    fn begin_with(&mut self, random: &mut Pcg64Mcg) {
        self.random = Pcg64Mcg::seed_from_u64(random.next_u64());
    }

    fn fit(&mut self, place: &Place) -> Result<(), Conflict> {
        self.full_packet = place.full_packet();
        Ok(())
    }

    /// 4 MiB, as at rates up to 84 Mbit/s; above that CAKE has four times the bytes of an interval.
    fn usual_limit(&self) -> Option<Limit> {
        Some(Limit::Bytes(4 << 20))
    }

    fn acts_on_departure(&self) -> bool {
        true
    }

    fn reads_flow(&self) -> bool {
        true
    }

    fn reads_hosts(&self) -> bool {
        true
    }

    fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        if self.speed != Some(arrival.speed) {
            self.configure(arrival.speed);
        }
        Verdict::Pass
    }

    fn queue_of(&mut self, arrival: &Arrival) -> u16 {
        let tin = self.diffserv.tin(arrival.dscp);
        number(tin, self.tins[tin].join(self.isolation, arrival, &mut self.random))
    }

    /// The longest queue of all tins loses its first packet.
    fn victim(&mut self, arrival: &Arrival, waiting: &Waiting) -> Option<Victim> {
        let tin = self.diffserv.tin(arrival.dscp);
        let own = self.tins[tin].find(self.isolation, arrival).map(|queue| number(tin, queue));
        let queue = fattest(waiting, own.map_or((0, 0), |own| (own, arrival.bytes)))?;
        if own != Some(queue) && u64::from(arrival.bytes) > waiting.queue(queue).bytes {
            return None;
        }
        let (tin, flow) = parts(queue);
        self.tins[tin].on_overflow(flow, arrival.at);
        Some(Victim::Head(queue))
    }

    fn next_queue(&mut self, now: Instant, waiting: &Waiting) -> u16 {
        if let Some(queue) = self.dropped_from.take().filter(|&queue| waiting.queue(queue).packets > 0) {
            return queue;
        }
        let mut first = true;
        while let Some(tin) = self.choose_tin(now) {
            let turn = (now, waiting, number(tin, 0));
            if let Some(queue) = self.tins[tin].next(turn, self.isolation, &mut first, &mut self.random) {
                return number(tin, queue);
            }
        }
        0
    }

    fn on_departure(&mut self, departure: &Departure<'_>) -> Verdict {
        let (tin, flow) = parts(departure.queue);
        let Some(tin) = self.tins.get_mut(tin) else { return Verdict::Pass };
        let signal = tin.signal(flow, departure, &mut self.random);
        // The last packet of a queue is sent in any case.
        if signal.drop && departure.waiting.queue(departure.queue).packets > 0 {
            self.dropped_from = Some(departure.queue);
            return Verdict::Drop;
        }
        tin.charge(flow, departure.bytes, departure.at);
        if signal.mark { Verdict::Mark } else { Verdict::Pass }
    }

    fn on_empty(&mut self, _at: Instant) {
        self.dropped_from = None;
        self.tins.iter_mut().for_each(Tin::on_all_empty);
    }
}

impl Cake {
    /// Sets the parameters of the tins at this speed.
    fn configure(&mut self, speed: Speed) {
        self.speed = Some(speed);
        let bytes_per_second = match speed {
            Speed::Rate(rate) => (rate.bits_per_second() / 8).max(1),
            Speed::Unlimited | Speed::Mean(_) => 0,
        };
        let shares = self.diffserv.shares(bytes_per_second);
        self.tins.resize_with(shares.len(), Tin::new);
        let conditions = Conditions { interval: self.rtt, target: self.rtt / 20, full_packet: self.full_packet };
        for (tin, share) in self.tins.iter_mut().zip(shares) {
            tin.configure(share, &conditions);
        }
    }

    /// The tin that sends next: with a rate, of those within their share the one with the highest number, or else the one
    /// that will be first; without a rate, they take turns. `None` if no tin has packets.
    fn choose_tin(&mut self, now: Instant) -> Option<usize> {
        if matches!(self.speed, Some(Speed::Rate(_))) {
            let active = self.tins.iter().enumerate().filter(|(_, tin)| tin.is_active());
            return active
                .min_by_key(|(number, tin)| (tin.ahead(now), core::cmp::Reverse(*number)))
                .map(|(tin, _)| tin);
        }
        if !self.tins.iter().any(Tin::is_active) {
            return None;
        }
        loop {
            let tin = &mut self.tins[self.turn];
            if tin.is_active() && tin.deficit >= 0 {
                return Some(self.turn);
            }
            if tin.deficit <= 0 {
                tin.deficit += tin.turn;
            }
            self.turn = (self.turn + 1) % self.tins.len();
        }
    }
}

/// The number of a queue of a tin among all.
const fn number(tin: usize, queue: u16) -> u16 {
    (tin * QUEUES) as u16 + queue
}

const fn parts(number: u16) -> (usize, u16) {
    (number as usize / QUEUES, number % QUEUES as u16)
}

#[cfg(test)]
mod tests;
