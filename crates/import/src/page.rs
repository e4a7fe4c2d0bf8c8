//! A page load as a scenario: a client, a server for each host, and the exchanges of each connection.

use std::collections::BTreeMap;

use subflow_quantity::{Duration, Size};
use subflow_scenario::builder::{FlowBuilder, LinkBuilder, Options, ScenarioBuilder};

use crate::ImportError;
use crate::har::{Connection, Page};
use crate::names::Names;
use crate::network::counted;
use crate::scenario::{Choices, Imported, checked, scaled};

/// The run lasts so many times as long as the page took, so that a slower network can be tried.
const SPARE: u64 = 5;
const SHORTEST_RUN: Duration = Duration::from_secs(10);

/// Writes the scenario.
pub(crate) fn scenario(page: &Page, choices: &Choices) -> Result<Imported, ImportError> {
    let mut notes = page.notes.clone();
    let mut names = Names::default();
    let [client, internet] = ["client", "internet"].map(|name| names.of(name));
    let rate = scaled(choices.rate, choices.scale);
    let mut builder = ScenarioBuilder::new("imported")
        .set("title", page.title.chars().filter(|c| !c.is_control()).collect::<String>())
        .duration(page.duration.saturating_mul(SPARE).max(SHORTEST_RUN))
        .host(&client, ["eth"])
        .router(&internet)
        .link("access", LinkBuilder::between(&client, &internet).rate(rate).delay(Duration::ZERO));
    notes.push(format!("the client's link: {rate}, which the archive does not say"));
    let (mut servers, mut unknown) = (BTreeMap::new(), 0);
    for host in page.connections.iter().map(|connection| connection.host.as_str()) {
        if servers.contains_key(host) {
            continue;
        }
        let round_trip = round_trip(page, host);
        unknown += usize::from(round_trip.is_none());
        let delay = round_trip.map_or(choices.delay, |round_trip| round_trip / 2);
        let name = names.of(host);
        builder =
            builder.host(&name, ["eth"]).link(&name, LinkBuilder::between(&name, &internet).rate(rate).delay(delay));
        servers.insert(host, (name, delay));
    }
    let known = servers.len() - unknown;
    if known > 0 {
        notes.push(format!("the delay of {}: half of the shortest handshake there", counted(known, "server")));
    }
    if unknown > 0 {
        notes.push(format!("{} without a handshake in the archive: {}", counted(unknown, "server"), choices.delay));
    }
    let mut flows = Names::default();
    let of_flows: Vec<String> = page.connections.iter().map(|connection| flows.of(&connection.host)).collect();
    for (connection, flow) in page.connections.iter().zip(&of_flows) {
        let (server, delay) = &servers[connection.host.as_str()];
        let exchanges = exchanges(connection, *delay, &of_flows);
        let flow_builder = match connection.is_quic {
            true => FlowBuilder::quic(&client, server),
            // Browsers and servers send at once (TCP_NODELAY).
            false => FlowBuilder::tcp(&client, server).set("tcp", Options::new().set("nagle", false)),
        };
        builder = builder.flow(flow, flow_builder.set("exchanges", exchanges));
    }
    let requests = page.connections.iter().map(|connection| connection.requests.len()).sum();
    let (requests, connections) = (counted(requests, "request"), counted(page.connections.len(), "connection"));
    notes.push(format!("{requests} over {connections}; the page is loaded when the last flow is complete"));
    notes.push("each request waits for the response that was complete last before it: what is inferred".to_owned());
    checked(&builder, notes)
}

/// The shortest handshake with a host.
fn round_trip(page: &Page, host: &str) -> Option<Duration> {
    let to_host = page.connections.iter().filter(|connection| connection.host == host);
    to_host.filter_map(|connection| connection.round_trip).min()
}

/// The server's time is what the first byte took longer than a round trip.
fn exchanges(connection: &Connection, delay: Duration, flows: &[String]) -> Vec<Options> {
    let round_trip = delay.saturating_mul(2);
    let requests = connection.requests.iter().map(|it| {
        let after: Vec<String> = it.after.iter().map(|&(flow, at)| format!("{}.{}", flows[flow], at + 1)).collect();
        let mut exchange = Options::new()
            .set("request", Size::from_bytes(it.request.max(1)))
            .set("response", Size::from_bytes(it.response.max(1)))
            .set("after", after);
        if it.first_byte > round_trip {
            exchange = exchange.set("wait", it.first_byte - round_trip);
        }
        if !it.pause.is_zero() {
            exchange = exchange.set("pause", it.pause);
        }
        exchange
    });
    requests.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::har;

    #[test]
    fn a_page_has_a_server_for_each_host_and_a_flow_for_each_connection() {
        let page = har::read(har::tests::HAR).expect("it is an archive");
        let Imported { text, notes } = scenario(&page, &Choices::default()).expect("a scenario");
        assert!(text.contains("www-example-org = { between = [\"www-example-org\", \"internet\"]"), "{text}");
        // A handshake of 20 ms, and 50 ms until the first byte: the server takes 30 ms.
        assert!(text.contains("delay = \"10 ms\""), "{text}");
        assert!(text.contains("response = \"10 kB\", after = [], wait = \"30 ms\", pause = \"10 ms\""), "{text}");
        assert!(text.contains("after = [\"www-example-org.1\"]"), "{text}");
        assert!(notes.iter().any(|note| note.starts_with("3 requests over 2 connections")), "{notes:?}");
    }
}
