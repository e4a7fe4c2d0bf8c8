//! A queue discipline of another crate with several internal queues: flow queuing with CoDel (RFC 8290), reduced to two
//! flows.

use std::collections::VecDeque;

use subflow_policy::custom::CustomQueue;
use subflow_policy::queue::{
    Arrival, Backlog, CoDel, CoDelConfig, Codepoint, Departure, Head, QueueDiscipline, Speed, Verdict, Victim, Waiting,
};
use subflow_quantity::{Duration, Instant, Rate};

/// The bytes that a flow may send per round.
const QUANTUM: i64 = 1514;

#[derive(Clone, Debug)]
struct FlowQueue {
    codel: CoDel,
    credits: i64,
    listed: bool,
}

/// Deficit round robin over the flows, each with its own CoDel; flows that begin go first.
#[derive(Clone, Debug)]
struct FqCoDel {
    flows: [FlowQueue; 2],
    new: VecDeque<u16>,
    old: VecDeque<u16>,
}

impl FqCoDel {
    fn new() -> Self {
        let flow = || FlowQueue { codel: CoDel::new(CoDelConfig::default()), credits: 0, listed: false };
        Self { flows: [flow(), flow()], new: VecDeque::new(), old: VecDeque::new() }
    }

    fn flow(&mut self, queue: u16) -> &mut FlowQueue {
        &mut self.flows[usize::from(queue)]
    }
}

impl QueueDiscipline for FqCoDel {
    fn acts_on_departure(&self) -> bool {
        true
    }
    fn reads_flow(&self) -> bool {
        true
    }
    fn queue_of(&mut self, arrival: &Arrival) -> u16 {
        let queue = arrival.flow % 2;
        let flow = self.flow(queue);
        if !flow.listed {
            (flow.listed, flow.credits) = (true, QUANTUM);
            self.new.push_back(queue);
        }
        queue
    }
    fn victim(&mut self, _arrival: &Arrival, waiting: &Waiting) -> Option<Victim> {
        waiting.occupied().max_by_key(|(_, queue)| queue.bytes).map(|(number, _)| Victim::Head(number))
    }
    fn next_queue(&mut self, now: Instant, waiting: &Waiting) -> u16 {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let Some(queue) = list.front().copied() else { return 0 };
            let flow = &mut self.flows[usize::from(queue)];
            if flow.credits <= 0 {
                flow.credits += QUANTUM;
            } else if waiting.queue(queue).packets > 0 {
                return queue;
            } else {
                flow.codel.on_empty(now);
                if !is_new {
                    flow.listed = false;
                    list.pop_front();
                    continue;
                }
            }
            list.pop_front();
            self.old.push_back(queue);
        }
    }
    fn on_departure(&mut self, departure: &Departure<'_>) -> Verdict {
        let flow = self.flow(departure.queue);
        let verdict = flow.codel.on_departure(departure);
        if verdict != Verdict::Drop {
            flow.credits -= i64::from(departure.bytes);
        }
        verdict
    }
}

/// A link of 12 Mbit/s, 1500 bytes per millisecond, with a limit of 200 packets. Packets are pairs of a flow and the time
/// of their arrival.
struct Link {
    discipline: Box<dyn CustomQueue>,
    backlog: Backlog<(u16, Instant)>,
    /// Of each flow the bytes that left, its packets that were dropped, and the longest time that one waited.
    sent: [u64; 2],
    dropped: [u32; 2],
    longest: [Duration; 2],
}

/// Lets a boxed discipline be asked like any other.
struct Boxed<'a>(&'a mut dyn CustomQueue);

impl QueueDiscipline for Boxed<'_> {
    fn next_queue(&mut self, now: Instant, waiting: &Waiting) -> u16 {
        self.0.next_queue(now, waiting)
    }
    fn on_departure(&mut self, departure: &Departure<'_>) -> Verdict {
        self.0.on_departure(departure)
    }
}

impl Link {
    fn new() -> Self {
        Self {
            discipline: Box::new(FqCoDel::new()),
            backlog: Backlog::default(),
            sent: [0; 2],
            dropped: [0; 2],
            longest: [Duration::ZERO; 2],
        }
    }

    fn arrive(&mut self, at: Instant, flow: u16, bytes: u32) {
        let waiting = self.backlog.waiting();
        let arrival = Arrival {
            at,
            bytes,
            ecn: Codepoint::NotEct,
            dscp: 0,
            flow,
            hosts: [0; 2],
            held_packets: waiting.packets(),
            held_bytes: waiting.bytes(),
            wait: Duration::ZERO,
            idle: None,
            speed: Speed::Rate(Rate::from_mbit(12)),
        };
        while self.backlog.waiting().packets() >= 200 {
            let victim = self.discipline.victim(&arrival, self.backlog.waiting()).expect("a longest queue");
            let removed = self.backlog.remove(victim).expect("it is not empty");
            self.dropped[usize::from(removed.packet.0)] += 1;
        }
        let queue = self.discipline.queue_of(&arrival);
        self.backlog.push(queue, Head { came: at, bytes, ecn: arrival.ecn }, (flow, at));
    }

    /// For ten seconds each flow sends packets of `bytes` every `gap` microseconds.
    fn run(mut self, flows: [(u64, u32); 2]) -> Self {
        let mut free = 0;
        for us in 0..10_000_000 {
            let now = Instant::ZERO + Duration::from_micros(us);
            for (flow, &(gap, bytes)) in (0..).zip(&flows) {
                if us % gap == 0 {
                    self.arrive(now, flow, bytes);
                }
            }
            if us < free {
                continue;
            }
            let dropped = &mut self.dropped;
            let count = |removed: subflow_policy::queue::Removed<(u16, Instant)>| {
                dropped[usize::from(removed.packet.0)] += 1;
            };
            if let Some(departed) = self.backlog.depart(&mut Boxed(&mut *self.discipline), now, count) {
                let flow = usize::from(departed.packet.0);
                let bytes = flows[flow].1;
                self.sent[flow] += u64::from(bytes);
                self.longest[flow] = self.longest[flow].max(now.since(departed.came));
                free = us + u64::from(bytes) * 1000 / 1500;
            }
        }
        self
    }
}

#[test]
fn flows_with_packets_of_different_sizes_get_equal_shares() {
    let link = Link::new().run([(500, 1500), (150, 300)]);
    let share = link.sent[0] as f64 / (link.sent[0] + link.sent[1]) as f64;
    assert!((share - 0.5).abs() < 0.01, "{:?}", link.sent);
    assert!(link.dropped.iter().all(|&dropped| dropped > 0), "{:?}", link.dropped);
}

#[test]
fn a_sparse_flow_does_not_wait_for_a_greedy_one() {
    let link = Link::new().run([(100, 1500), (20_000, 200)]);
    assert_eq!((link.dropped[1], link.sent[1]), (0, 200 * 500));
    // The packet in transmission, and one of the greedy flow if it was its turn.
    assert!(link.longest[1] <= Duration::from_millis(2), "{:?}", link.longest);
    assert!(link.dropped[0] > 50_000 && link.longest[0] > Duration::from_millis(5), "{:?}", link.dropped);
}
