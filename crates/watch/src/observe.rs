//! The connections and subflows over time.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use subflow_lab::emulate::bottlenecks::Detectors;
use subflow_linux::netlink::{SocketDiag, SubflowSocket};
use subflow_linux::paths::{Found, connections};
use subflow_linux::{Capture, Captured, Result, WallClock};
use subflow_quantity::{Duration, Instant};

use crate::event::seconds_of;
use crate::listen::Interval;
use crate::report::{Connection, Report, Subflow};

/// The most subflows of a connection that are told apart at a time.
const MOST_SUBFLOWS: usize = 64;

/// Observes the MPTCP connections of a network namespace.
pub(crate) struct Observer {
    diag: SocketDiag,
    clock: WallClock,
    interval: Duration,
    capture: Option<Capture>,
    /// By token.
    connections: BTreeMap<u32, Watched>,
    /// For each purpose.
    reported_at: [Instant; 2],
}

/// What figures are for. Rates are means since the last figures for the same purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Report,
    Record,
}

/// A connection.
struct Watched {
    found: Found,
    /// By number; `None` where there is no subflow any more.
    paths: Vec<Option<Path>>,
    detectors: Detectors,
    /// Bytes that MPTCP has sent again on another subflow.
    reinjected_bytes: u64,
    /// Bytes that were written to all subflows, and to those of them that have ended, at the last look.
    written: u64,
    written_to_ended: u64,
}

/// A subflow.
struct Path {
    latest: SubflowSocket,
    /// Bytes acknowledged and received at the last figures for each purpose.
    reported: [[u64; 2]; 2],
    /// The highest acknowledgment number captured.
    acknowledged: Option<u32>,
}

impl Path {
    fn ends(&self) -> [SocketAddr; 2] {
        [self.latest.info.local, self.latest.info.remote]
    }

    fn is(&self, subflow: &SubflowSocket) -> bool {
        self.ends() == [subflow.info.local, subflow.info.remote]
    }

    /// Whether this acknowledgment is of data that none before it acknowledged. The echo in a duplicate is old.
    fn advances(&mut self, acknowledged: u32) -> bool {
        let is_newer = |known: u32| acknowledged.wrapping_sub(known) as i32 > 0;
        let advances = self.acknowledged.is_some_and(is_newer);
        if advances || self.acknowledged.is_none() {
            self.acknowledged = Some(acknowledged);
        }
        advances
    }
}

impl Observer {
    /// Observes the calling thread's network namespace, looking at this interval, and at each acknowledgment if it
    /// `captures` them.
    pub(crate) fn new(interval: Duration, captures: bool, clock: WallClock) -> Result<Self> {
        let diag = SocketDiag::open()?;
        let capture = captures.then(|| Capture::start(clock)).transpose()?;
        Ok(Self { diag, clock, interval, capture, connections: BTreeMap::new(), reported_at: [clock.now(); 2] })
    }

    /// Looks at the kernel's figures.
    pub(crate) fn sample(&mut self) -> Result<()> {
        let watched = &self.connections;
        let owner = |subflow: &SubflowSocket| {
            let owns = |watched: &Watched| watched.paths.iter().flatten().any(|path| path.is(subflow));
            watched.iter().find(|(_, watched)| owns(watched)).map(|(&token, _)| token)
        };
        // A subflow that is missing once would get another number when it is there again.
        let found = connections(&mut self.diag, owner, |found| watched.values().all(|known| known.is_in(found)))?;
        let now = self.clock.now();
        // A token may have another connection by now.
        self.connections.retain(|token, watched| {
            let same = |found: &Found| found.socket.token == *token && found.socket.local == watched.found.socket.local;
            found.iter().any(same)
        });
        for found in found {
            let token = found.socket.token;
            let watched = self.connections.entry(token).or_insert_with(|| Watched {
                found: found.clone(),
                paths: Vec::new(),
                detectors: Detectors::new(self.interval, self.capture.is_some()),
                reinjected_bytes: 0,
                written: 0,
                written_to_ended: 0,
            });
            watched.update(found, now);
        }
        self.distribute_captured();
        Ok(())
    }

    /// Gives each captured acknowledgment to its subflow.
    fn distribute_captured(&mut self) {
        let captured = self.capture.as_ref().map(Capture::take).unwrap_or_default();
        if captured.is_empty() {
            return;
        }
        let mut subflows: BTreeMap<[SocketAddr; 2], (u32, usize)> = BTreeMap::new();
        for (&token, watched) in &self.connections {
            for (number, path) in watched.paths.iter().enumerate() {
                subflows.extend(path.as_ref().map(|path| (path.ends(), (token, number))));
            }
        }
        for captured in &captured {
            if let Some((token, number)) = subflows.get(&[captured.local, captured.remote])
                && let Some(watched) = self.connections.get_mut(token)
            {
                watched.capture(*number, captured);
            }
        }
    }

    /// The tokens of the connections at the last look.
    pub(crate) fn tokens(&self) -> impl Iterator<Item = u32> {
        self.connections.keys().copied()
    }

    /// Reports what happened since the last report for the same purpose, with the events of this time.
    pub(crate) fn report(&mut self, purpose: Purpose, interval: Interval) -> Report {
        let now = self.clock.now();
        let before = core::mem::replace(&mut self.reported_at[purpose as usize], now);
        let seconds = (now.as_nanos() - before.as_nanos()) as f64 * 1e-9;
        let connections = self.connections.values_mut().map(|watched| watched.report(purpose, seconds)).collect();
        Report { time_s: seconds_of(now), connections, interval }
    }
}

impl Watched {
    /// Whether it is there with all of its subflows.
    fn is_in(&self, found: &[Found]) -> bool {
        let Some(found) = found.iter().find(|found| found.socket.token == self.found.socket.token) else {
            return false;
        };
        self.paths.iter().flatten().all(|path| found.subflows.iter().any(|subflow| path.is(subflow)))
    }

    fn update(&mut self, found: Found, now: Instant) {
        for path in &mut self.paths {
            if let Some(ended) = path.take_if(|path| !found.subflows.iter().any(|subflow| path.is(subflow))) {
                self.written_to_ended += ended.latest.info.bytes_written;
            }
        }
        for subflow in &found.subflows {
            let known = self.paths.iter().position(|path| path.as_ref().is_some_and(|path| path.is(subflow)));
            let acknowledged = subflow.info.bytes_acknowledged;
            match known {
                Some(number) => {
                    let Some(path) = &mut self.paths[number] else { continue };
                    if acknowledged > path.latest.info.bytes_acknowledged {
                        self.detectors.sample(number, now, &subflow.info);
                    }
                    path.latest = subflow.clone();
                }
                None => {
                    let reported = [[acknowledged, subflow.info.bytes_received]; 2];
                    self.add(Path { latest: subflow.clone(), reported, acknowledged: None });
                }
            }
        }
        // The subflows were listed after their connection: what they had at the last look is surely among its counters.
        self.reinjected_bytes = self.reinjected_bytes.max(found.socket.data.reinjected_bytes(self.written));
        let open = found.subflows.iter().map(|subflow| subflow.info.bytes_written);
        self.written = self.written_to_ended + open.sum::<u64>();
        self.found = found;
    }

    fn capture(&mut self, number: usize, captured: &Captured) {
        if let Some(path) = &mut self.paths[number]
            && path.advances(captured.acknowledged)
        {
            self.detectors.capture(number, captured, &path.latest.info);
        }
    }

    /// Gives a new subflow the lowest number that is free.
    fn add(&mut self, path: Path) {
        match self.paths.iter().position(Option::is_none) {
            Some(free) => {
                self.detectors.replace(free);
                self.paths[free] = Some(path);
            }
            None if self.paths.len() < MOST_SUBFLOWS => self.paths.push(Some(path)),
            None => {}
        }
    }

    fn report(&mut self, purpose: Purpose, seconds: f64) -> Connection {
        let mut subflows = Vec::new();
        for (number, path) in self.paths.iter_mut().enumerate() {
            subflows.extend(path.as_mut().map(|path| path.report(number, purpose, seconds)));
        }
        let numbers: Vec<usize> = subflows.iter().map(|subflow| subflow.number).collect();
        let socket = &self.found.socket;
        Connection {
            token: format!("{:08x}", socket.token),
            local: socket.local.to_string(),
            remote: socket.remote.to_string(),
            client: self.found.client,
            reinjected_bytes: self.reinjected_bytes,
            subflows,
            shared_bottlenecks: self.detectors.report(&numbers),
        }
    }
}

impl Path {
    fn report(&mut self, number: usize, purpose: Purpose, seconds: f64) -> Subflow {
        let SubflowSocket { info, backup, minimum_rtt_us, .. } = &self.latest;
        let now = [info.bytes_acknowledged, info.bytes_received];
        let before = core::mem::replace(&mut self.reported[purpose as usize], now);
        let mbps = |index: usize| {
            let bytes = now[index].saturating_sub(before[index]) as f64;
            if seconds > 0.0 { (bytes * 8.0 / seconds * 1e-3).round() / 1e3 } else { 0.0 }
        };
        let [sent_mbps, received_mbps] = [mbps(0), mbps(1)];
        let milliseconds = |microseconds: u64| microseconds as f64 / 1e3;
        Subflow {
            number,
            local: info.local.to_string(),
            remote: info.remote.to_string(),
            state: if self.latest.is_established() { "established" } else { "opening" },
            backup: *backup,
            cwnd: info.cwnd,
            ssthresh: info.ssthresh,
            in_flight: info.in_flight,
            srtt_ms: milliseconds(info.srtt.as_nanos() / 1000),
            // The kernel's largest number stands for none.
            min_rtt_ms: if *minimum_rtt_us == u32::MAX { 0.0 } else { milliseconds((*minimum_rtt_us).into()) },
            sent_mbps,
            received_mbps,
            retransmissions: info.retransmissions,
            timeouts: info.timeouts,
            bytes: now,
        }
    }
}
