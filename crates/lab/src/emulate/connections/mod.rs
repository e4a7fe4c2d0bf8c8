//! The connections of programs as results. Programs do not tell of them: the kernels of the hosts list their sockets, and
//! report each one that ends, with its last counters.
//!
//! | to find | look in |
//! |---|---|
//! | the sockets of a host, and whose they are | `host_sockets.rs` |
//! | the sockets put together to connections with two ends | `recorder.rs` |
//! | what one end has counted | `end.rs` |
//! | figures and metrics over time of a connection | `connection.rs` |

mod connection;
mod end;
mod host_sockets;
mod recorder;

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Scope, ScopedJoinHandle};

use subflow_linux::{Interrupt, Priority, Result, WallClock};
use subflow_quantity::{Duration, Instant};
use subflow_scenario::Scenario;

use super::hosts::KernelHosts;
use crate::CpuTimer;
use crate::results::{ConnectionResult, FlowResult, ProgramResult, Series};
pub(super) use recorder::Groups;
use recorder::Recorder;

/// How often the sockets are looked at.
const INTERVAL: Duration = Duration::from_millis(10);
/// A look is followed by a pause of at least so many times the CPU time that it took.
const PAUSE: f64 = 9.0;
/// The most connections of a program that are flows of the results.
const MOST_FLOWS: usize = 50;

/// Records the connections of the programs in hosts.
pub(super) struct Connections<'a> {
    recorder: Mutex<Recorder<'a>>,
    clock: WallClock,
}

/// What was recorded of connections.
#[derive(Default)]
pub(super) struct Recorded {
    /// Those with most details, as flows.
    pub(super) flows: Vec<FlowResult>,
    pub(super) series: Vec<Series>,
    /// All that were kept.
    pub(super) connections: Vec<ConnectionResult>,
    /// What is missing, and why.
    pub(super) notes: Vec<String>,
}

impl<'a> Connections<'a> {
    /// Begins to record, with metrics over time or without.
    pub(super) fn record(
        scenario: &'a Scenario,
        hosts: &'a KernelHosts,
        groups: &'a Groups,
        with_series: bool,
        clock: WallClock,
    ) -> Result<Self> {
        Ok(Self { recorder: Mutex::new(Recorder::new(scenario, hosts, groups, with_series)?), clock })
    }

    /// Starts the thread that looks at the sockets until the run is stopped.
    pub(super) fn watch<'scope, 'env>(
        &'env self,
        scope: &'scope Scope<'scope, 'env>,
        stop: &Interrupt,
    ) -> ScopedJoinHandle<'scope, Result<()>> {
        let stop = stop.clone();
        scope.spawn(move || {
            Priority::Application.take();
            let mut before = self.clock.now();
            while !stop.is_raised() {
                let (begun, used) = (self.clock.now(), CpuTimer::start());
                self.look(begun.since(before))?;
                before = begun;
                let pause = INTERVAL.max(Duration::from_secs_f64(used.seconds() * PAUSE));
                thread::sleep(std::time::Duration::from_nanos(pause.as_nanos()));
            }
            Ok(())
        })
    }

    fn look(&self, interval: Duration) -> Result<()> {
        // The lock first: what waits for it looks later.
        let mut recorder = self.recorder.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.clock.now();
        recorder.look(now, interval)
    }

    /// What was recorded until now. Looks once more.
    pub(super) fn recorded(&self) -> Result<Recorded> {
        self.look(INTERVAL)?;
        let mut recorder = self.recorder.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.clock.now();
        let mut recorded = Recorded::default();
        let scenario = recorder.scenario;
        let measure_from = Instant::ZERO + scenario.measure_from;
        let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
        for connection in recorder.connections.iter_mut().filter(|connection| connection.was_established()) {
            let label = connection.label(scenario).to_owned();
            let number = numbers.entry(label.clone()).or_insert(0);
            *number += 1;
            let result = connection.result(format!("{label}:{number}"));
            if *number <= MOST_FLOWS {
                recorded.series.extend(connection.series(&result.name));
                recorded.flows.push(connection.flow(&result, scenario, measure_from, now));
            }
            recorded.connections.push(result);
        }
        recorded.notes = notes(&recorded.connections, recorder.omitted.len(), recorder.lost);
        Ok(recorded)
    }
}

/// What the results lack of these connections, and of `omitted` further ones.
fn notes(connections: &[ConnectionResult], omitted: usize, lost: bool) -> Vec<String> {
    let mut notes = Vec::new();
    let short = connections.iter().filter(|connection| !connection.was_listed).count();
    if short > 0 {
        notes.push(format!(
            "{short} of {} connections of programs lasted for less than the interval between two looks at the sockets \
             ({INTERVAL} or more): their bytes are known from the kernel's reports, their rates are lower bounds, and \
             who had them may not be known",
            connections.len()
        ));
    }
    if omitted > 0 {
        let kept = connections.len();
        notes.push(format!("{omitted} sockets of programs' connections are left out, beyond the first {kept}"));
    }
    if lost {
        notes.push(
            "the kernel lost reports of ended connections because the socket's buffer was full: connections of \
                    programs, or their last bytes, may be missing"
                .to_owned(),
        );
    }
    notes
}

/// Adds to the results of programs what their connections carried.
pub(super) fn add_totals(programs: &mut [ProgramResult], connections: &[ConnectionResult]) {
    for program in programs {
        for connection in connections.iter().filter(|connection| connection.is_of(&program.name)) {
            let [sent, received] = connection.bytes_of(&program.name);
            program.connections += 1;
            program.bytes_sent += sent;
            program.bytes_received += received;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_connections_are_told_and_all_add_to_their_programs() {
        let connection = |was_listed| ConnectionResult {
            program: Some("client".to_owned()),
            bytes_sent: 5,
            was_listed,
            ..ConnectionResult::default()
        };
        let connections = [connection(true), connection(false)];
        let all = notes(&connections, 1, true);
        assert!(all.len() == 3 && all[0].starts_with("1 of 2 connections"), "{all:?}");
        assert_eq!(notes(&connections[..1], 0, false), Vec::<String>::new());
        let mut programs =
            ["client", "other"].map(|name| ProgramResult { name: name.to_owned(), ..Default::default() });
        add_totals(&mut programs, &connections);
        assert_eq!(programs.map(|program| (program.connections, program.bytes_sent)), [(2, 10), (0, 0)]);
    }
}
