//! The loop: datagrams and timers in the order of time.

use std::collections::BTreeMap;

use rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;
use subflow_quantity::Instant;

use crate::node::{Datagram, End, Node};
use crate::path::{Conditions, Direction, Fates, path_of};

/// What has happened in a case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Bytes that were checked at the server and at the client.
    pub bytes: [u64; 2],
    /// Datagrams that the hosts have sent.
    pub datagrams: u64,
    /// Those of them that were lost.
    pub lost: u64,
    /// Those that were delayed so that others could pass them.
    pub late: u64,
    /// Those that came twice.
    pub twice: u64,
    /// Those of which a bit was changed.
    pub damaged: u64,
    /// Datagrams by path.
    pub by_path: [u64; 2],
    /// Updates of keys that a host began.
    pub key_updates: u64,
    /// Retry packets of the server.
    pub retries: u64,
    /// 1 if one end had to find out itself that the connection is over, since the packet was lost or damaged with which the
    /// other has closed it.
    pub lost_closes: u64,
    /// Virtual time until both ends were over, in milliseconds.
    pub milliseconds: u64,
}

/// What was wrong, and when in virtual time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Milliseconds since the beginning.
    pub at: u64,
    /// What was wrong.
    pub what: String,
}

/// No case takes longer: both ends give up after 30 seconds of silence.
const LONGEST: u64 = 300_000;
/// Nor has it more events.
const MOST_EVENTS: u64 = 2_000_000;

pub(crate) struct World<'a> {
    /// The server has the place 1.
    pub(crate) nodes: [&'a mut dyn Node; 2],
    /// By path, from the client and from the server.
    paths: Vec<[Direction; 2]>,
    in_flight: BTreeMap<(Instant, u64), (usize, Datagram)>,
    order: u64,
    now: Instant,
    fates: Fates,
    by_path: [u64; 2],
}

impl<'a> World<'a> {
    pub(crate) fn new(nodes: [&'a mut dyn Node; 2], paths: &[Conditions], seed: u64) -> Self {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let mut direction =
            |conditions: &Conditions| Direction::new(conditions.clone(), Pcg64Mcg::from_rng(&mut random));
        let paths = paths.iter().map(|conditions| [direction(conditions), direction(conditions)]).collect();
        let now = Instant::from_nanos(1_000_000_000);
        Self { nodes, paths, in_flight: BTreeMap::new(), order: 0, now, fates: Fates::default(), by_path: [0; 2] }
    }

    /// Lets everything happen.
    pub(crate) fn run(mut self) -> Result<Report, Failure> {
        let begin = self.now;
        let result = self.happen(begin);
        let at = self.now.since(begin).as_millis();
        result.map_err(|what| Failure { at, what })?;
        let lost_closes = u64::from(self.has_lost_close());
        let [client, server] = self.nodes;
        Ok(Report {
            bytes: [server.application().received(), client.application().received()],
            datagrams: self.fates.sent,
            lost: self.fates.lost,
            late: self.fates.late,
            twice: self.fates.twice,
            damaged: self.fates.damaged,
            by_path: self.by_path,
            key_updates: client.key_updates() + server.key_updates(),
            retries: server.retried(),
            lost_closes,
            milliseconds: at,
        })
    }

    fn happen(&mut self, begin: Instant) -> Result<(), String> {
        self.drain()?;
        for _ in 0..MOST_EVENTS {
            if self.nodes.iter().all(|node| node.ended().is_some()) {
                return self.judge();
            }
            let timers = [0, 1].map(|side| self.nodes[side].wake_at());
            let first = self.in_flight.first_key_value().map(|(&(at, _), _)| at);
            let next = timers.into_iter().chain([first]).flatten().min();
            let Some(next) = next else { return Err(format!("nothing is left to happen: {}", self.state())) };
            self.now = self.now.max(next);
            if self.now.since(begin).as_millis() > LONGEST {
                return Err(format!("it does not end: {}", self.state()));
            }
            if first.is_some_and(|at| at <= self.now)
                && let Some((_, (to, datagram))) = self.in_flight.pop_first()
            {
                self.nodes[to].receive(self.now, datagram)?;
            } else {
                for (side, at) in timers.into_iter().enumerate() {
                    if at.is_some_and(|at| at <= self.now) {
                        self.nodes[side].wake(self.now)?;
                    }
                }
            }
            self.drain()?;
        }
        Err(format!("more than {MOST_EVENTS} events: {}", self.state()))
    }

    fn drain(&mut self) -> Result<(), String> {
        for side in [0, 1] {
            while let Some(mut datagram) = self.nodes[side].send(self.now)? {
                let path = path_of(&datagram);
                let direction = self.paths.get_mut(path).ok_or("a datagram between addresses of different paths")?;
                self.by_path[path] += 1;
                for at in direction[side].pass(&mut datagram, self.now, &mut self.fates) {
                    self.order += 1;
                    self.in_flight.insert((at, self.order), (1 - side, datagram.clone()));
                }
            }
        }
        Ok(())
    }

    /// Both ends are over: whether that was right.
    fn judge(&self) -> Result<(), String> {
        let names = ["client", "server"];
        if let Some(side) = (0..2).find(|&side| !self.nodes[side].application().has_all()) {
            return Err(format!("the {} has not received everything; {}", names[side], self.state()));
        }
        for (node, name) in self.nodes.iter().zip(names) {
            if node.ended() != Some(End::InOrder) && !self.has_lost_close() {
                return Err(format!("the {name} has not ended in order; {}", self.state()));
            }
        }
        Ok(())
    }

    /// Whether an end may have missed a packet that is not sent again: the last one, with which the other has closed the
    /// connection. It waits until it has been idle for too long, or asks and is told that nobody knows the connection.
    fn has_lost_close(&self) -> bool {
        let ends = self.nodes.each_ref().map(|node| node.ended());
        let has_missed = |side: usize| matches!(ends[side], Some(End::TimedOut | End::Reset));
        let is_lost = |of: usize| has_missed(of) && ends[1 - of] == Some(End::InOrder);
        self.fates.lost + self.fates.damaged > 0 && (is_lost(0) || is_lost(1))
    }

    fn state(&self) -> String {
        let of = |side: usize| {
            let node = &self.nodes[side];
            format!("{} bytes, ended: {:?}", node.application().received(), node.ended())
        };
        format!("client {}, server {}", of(0), of(1))
    }
}
