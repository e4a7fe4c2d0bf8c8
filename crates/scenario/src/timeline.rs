//! What happens to links and hosts while a run goes on.

use std::net::IpAddr;

use subflow_network::{LinkChange, Service};
use subflow_quantity::Duration;

use super::Scenario;
use crate::conditions::OUTAGE;

/// One change of one link at one time.
#[derive(Clone, Debug)]
pub struct LinkEvent {
    /// When; before the end of the run.
    pub at: Duration,
    /// Index into [`Scenario::links`](super::Scenario::links).
    pub link: usize,
    /// What changes in the direction from the link's first to its second end.
    pub up: Vec<LinkChange>,
    /// What changes in the direction from the link's second to its first end.
    pub down: Vec<LinkChange>,
    /// Whether it is drawn anew in each run.
    pub is_drawn: bool,
}

/// A host loses addresses, or has them again, and knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostEvent {
    /// When; before the end of the run.
    pub at: Duration,
    /// Index into [`Scenario::hosts`](super::Scenario::hosts).
    pub host: usize,
    /// Which addresses.
    pub addresses: Vec<IpAddr>,
    /// Whether the host has them from then on.
    pub present: bool,
}

impl Scenario {
    /// The events of the timeline in the order of time: when, and what happens, in words.
    pub fn events(&self) -> Vec<(Duration, String)> {
        let links = self.timeline.iter().map(|event| {
            let name = &self.links[event.link].name;
            (event.at, format!("{name} {}", changes(&event.up, &event.down)))
        });
        let hosts = self.host_timeline.iter().map(|event| {
            let addresses: Vec<String> = event.addresses.iter().map(ToString::to_string).collect();
            let verb = if event.present { "gets" } else { "loses" };
            (event.at, format!("{} {verb} {}", self.hosts[event.host].name, addresses.join(", ")))
        });
        let mut events: Vec<(Duration, String)> = links.chain(hosts).collect();
        events.sort_by_key(|(at, _)| *at);
        events
    }
}

/// What changes in both directions of a link, or in each.
fn changes(up: &[LinkChange], down: &[LinkChange]) -> String {
    let texts = |changes: &[LinkChange]| changes.iter().map(text).collect::<Vec<_>>().join(", ");
    match (texts(up), texts(down)) {
        (up, down) if up == down => up,
        (up, down) if down.is_empty() => format!("{up} (up)"),
        (up, down) if up.is_empty() => format!("{down} (down)"),
        (up, down) => format!("{up} (up), {down} (down)"),
    }
}

fn text(change: &LinkChange) -> String {
    match change {
        LinkChange::Service(Service::Rate(OUTAGE)) => "outage".to_owned(),
        LinkChange::Service(Service::Rate(rate)) => format!("rate {rate}"),
        LinkChange::Service(Service::Cellular(cellular)) => format!("rate {} in blocks", cellular.rate),
        LinkChange::Service(_) => "another rate".to_owned(),
        LinkChange::Delay(delay) => format!("delay {delay}"),
        LinkChange::Loss(_) => "another loss".to_owned(),
        LinkChange::Down => "fails".to_owned(),
        LinkChange::Up => "works again".to_owned(),
    }
}
