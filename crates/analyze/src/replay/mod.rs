//! A scenario from captures: the hosts that they show, links as far as packets tell what these are like, and the
//! connections with their sizes and times, to be run with other algorithms.
//!
//! | to find | look in |
//! |---|---|
//! | which addresses are of one host | `hosts.rs` |
//! | rate, delay, loss and queue of a link | `links.rs`; how it changed: `changes.rs`; what both are from: `curves.rs` |
//! | what a connection sends, and when | `flows.rs`; requests with responses, and pauses: `exchanges.rs` |
//!
//! Every client address is an interface with a link of its own to a router, and every server address, too. The client's
//! link has the rate, the queue and the losses, or the server's, if that has several addresses and the client one: where on
//! the way they are, the captures of the ends do not tell.

mod changes;
mod curves;
mod exchanges;
mod flows;
mod hosts;
mod links;

use std::path::Path;

use subflow_quantity::{Duration, Rate};
use subflow_scenario::builder::{LinkBuilder, Options, ScenarioBuilder};

use crate::{Analysis, SubflowRow};
use changes::Change;
use flows::{Chosen, Flows};
use hosts::{Hosts, Side};
use links::Links;

/// A scenario that was made of captures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// The text of the scenario; its first lines, comments, are the notes.
    pub text: String,
    /// What was inferred, and what cannot be told, a line each.
    pub notes: Vec<String>,
}

/// Why no scenario can be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// There is no data of a connection.
    #[error("the captures show no connection with data, so that there is nothing to replay")]
    NoData,
    /// What was inferred is no valid scenario.
    #[error("no scenario can be made of the captures: {0}")]
    Refused(String),
}

/// Connections in a scenario, at most: those with most data.
pub const MOST_REPLAYED: usize = 500;

const ROUTER: &str = "network";

/// Makes a scenario of what the captures show. Figures of its runs are near those of the captures where connections
/// filled the links; docs/src/analyze.md says how near.
///
/// # Errors
///
/// No connection has data, or what was inferred is no valid scenario.
pub fn replay(analysis: &Analysis) -> Result<Replay, ReplayError> {
    let chosen = Chosen::of(analysis);
    let hosts = Hosts::of(analysis, &chosen.rows);
    let flows = Flows::of(analysis, &hosts, chosen);
    if flows.is_empty() {
        return Err(ReplayError::NoData);
    }
    let links = Links::of(analysis, &hosts);
    let mut notes = vec![
        format!(
            "where on the way the rate, the queue and the losses are: not told; they are at the {} link",
            if hosts.near() == Side::Client { "client's" } else { "server's" }
        ),
        "the congestion control, the scheduler and the path manager: not told; those of Linux".to_owned(),
        "queue disciplines: not told; queues drop what comes when they are full".to_owned(),
    ];
    let mut builder = ScenarioBuilder::new("replay").set("title", title(analysis)).router(ROUTER);
    for host in hosts.all() {
        builder = builder.host_with(&host.name, Options::new().set("interfaces", host.interface_names()));
    }
    let mut events: Vec<(f64, Options)> = Vec::new();
    for host in hosts.all() {
        for (interface, address) in host.addresses.iter().enumerate() {
            let name = host.interface(interface);
            let inferred = links.of_address(*address);
            notes.extend(inferred.notes.iter().map(|note| format!("{name} ({address}): {note}")));
            let mut link = LinkBuilder::between(&name, ROUTER).rate(inferred.rate).delay(inferred.delay);
            if let Some(queue) = inferred.queue {
                link = link.queue(queue);
            }
            if let Some(loss) = inferred.loss {
                link = link.loss(loss);
            }
            let link_name = name.replace('.', "-");
            builder = builder.link(&link_name, link);
            events.extend(inferred.changes.iter().map(|&(time_s, change)| (time_s, event(&link_name, change))));
        }
    }
    let mut end = 0.0_f64;
    for flow in flows.all() {
        notes.extend(flow.notes.iter().map(|note| format!("{}: {note}", flow.name)));
        end = end.max(flow.end_s);
        builder = builder.flow(&flow.name, flow.builder.clone());
    }
    notes.extend(flows.notes().iter().cloned());
    let duration_s = end * SPARE + LEAST_SPARE_S;
    builder = builder.duration(milliseconds(duration_s));
    // Events are within the run, whose first connection begins at once.
    events.retain_mut(|(time_s, _)| {
        *time_s -= flows.begin_s();
        *time_s < duration_s - 1e-3
    });
    events.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    for (time_s, event) in events {
        builder = builder.at(Duration::from_micros((time_s.max(0.0) * 1e6).round() as u64), event);
    }
    let heading = "Written by `subflow analyze --scenario`. What was inferred, and what was not:";
    let text = builder.text_with_notes(heading, &notes).map_err(ReplayError::Refused)?;
    Ok(Replay { text, notes })
}

/// A change of a link as an event.
fn event(link: &str, change: Change) -> Options {
    let event = Options::new().set("link", link);
    match change {
        Change::Down => event.set("down", true),
        Change::Up => event.set("up", true),
        Change::Rate(mbit) => event.set("rate", Rate::from_bits_per_second((mbit * 1e6).round().max(1000.0) as u64)),
    }
}

/// A run is longer than the capture, so that slower connections are complete, too.
const SPARE: f64 = 1.5;
const LEAST_SPARE_S: f64 = 2.0;

/// A rate without a bound: more than any link of a capture has.
const UNBOUNDED: Rate = Rate::from_mbit(100_000);

/// The rows of a connection. Rows are in the order of their connections.
fn rows_of_connection(analysis: &Analysis, number: usize) -> &[SubflowRow] {
    let rows = &analysis.subflows;
    let begin = rows.partition_point(|row| row.connection < number);
    let end = rows.partition_point(|row| row.connection <= number);
    &rows[begin..end]
}

fn title(analysis: &Analysis) -> String {
    let names: Vec<String> = analysis.files.iter().map(|file| file_name(&file.path)).collect();
    format!("Replay of {}", names.join(", "))
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.chars().filter(|c| !c.is_control()).collect()
}

fn milliseconds(seconds: f64) -> Duration {
    Duration::from_millis((seconds * 1e3).ceil().clamp(1.0, 1e9) as u64)
}
