//! Lines of two nodes and a weight: Rocketfuel's maps of networks (Spring, Mahajan and Wetherall, 2002) as
//! `weights.intra` and `latencies.intra`, lists of edges in general, and CAIDA's relations of autonomous systems, whose
//! fields bars separate: `701|4808|-1`, a provider and its customer, or 0 for two peers.

use std::collections::BTreeMap;

use crate::attributes::milliseconds;
use crate::{ImportError, Link, Network, Node};

/// Whether a line is two names and a number of at least zero.
pub(crate) fn is_line(line: &str) -> bool {
    edge(line).is_some()
}

fn edge(line: &str) -> Option<(&str, &str, f64)> {
    if let Some(ends) = relation(line) {
        return Some(ends);
    }
    let mut words = line.split_whitespace();
    let (first, second, weight) = (words.next()?, words.next()?, words.next()?);
    let weight = weight.parse().ok().filter(|weight: &f64| *weight >= 0.0)?;
    words.next().is_none().then_some((first, second, weight))
}

/// `AS|AS|RELATION`, and in newer files `|SOURCE`.
fn relation(line: &str) -> Option<(&str, &str, f64)> {
    let fields: Vec<&str> = line.trim().split('|').collect();
    let [first, second, relation] = *fields.first_chunk()?;
    let are_numbers = [first, second].iter().all(|field| field.parse::<u32>().is_ok());
    (fields.len() <= 4 && are_numbers && ["-1", "0", "1"].contains(&relation)).then_some((first, second, 0.0))
}

/// A file whose name speaks of latencies or delays has milliseconds; the weights of others choose paths in the network
/// that they come from, and are left out. Both directions of a link are one.
pub(crate) fn read(text: &str, name: &str) -> Result<Network, ImportError> {
    let name = name.to_lowercase();
    let are_delays = name.contains("latenc") || name.contains("delay");
    let mut network = Network::default();
    let mut places = BTreeMap::new();
    let mut known = BTreeMap::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() || line.trim_start().starts_with('#') {
            continue;
        }
        let wrong = || ImportError::damaged(format!("line {}: expected two nodes and a number", number + 1));
        let (first, second, weight) = edge(line).ok_or_else(wrong)?;
        let ends = [first, second].map(|id| {
            *places.entry(id).or_insert_with(|| {
                // Rocketfuel writes a space within a name as a plus: `New+York,+NY`.
                let label = id.replace('+', " ");
                network.nodes.push(Node { id: id.to_owned(), label, ..Node::default() });
                network.nodes.len() - 1
            })
        });
        let both = [ends[0].min(ends[1]), ends[0].max(ends[1])];
        if known.insert(both, ()).is_none() {
            let delay = are_delays.then(|| milliseconds(weight)).flatten();
            network.links.push(Link { ends, delay, ..Link::default() });
        }
    }
    if !are_delays {
        let are_relations = text.lines().any(|line| relation(line).is_some());
        let what = if are_relations { "relations of autonomous systems" } else { "weights of links" };
        network.notes.push(format!("{what}: left out; packets take the path with the fewest links"));
    }
    Ok(network)
}

#[cfg(test)]
pub(crate) mod tests {
    use subflow_quantity::Duration;

    use super::*;

    pub(crate) const WEIGHTS: &str =
        "New+York,+NY Chicago,+IL 4.5\nChicago,+IL New+York,+NY 4.5\nChicago,+IL Dallas,+TX 7\n";

    #[test]
    fn both_directions_are_one_link() {
        let network = read(WEIGHTS, "weights.intra").expect("weights");
        assert_eq!(
            network.nodes.iter().map(|node| &*node.label).collect::<Vec<_>>(),
            ["New York, NY", "Chicago, IL", "Dallas, TX"]
        );
        assert_eq!(network.links.iter().map(|link| link.ends).collect::<Vec<_>>(), [[0, 1], [1, 2]]);
        assert!(network.links.iter().all(|link| link.delay.is_none()));
        assert!(network.notes[0].starts_with("weights of links: left out"));
    }

    #[test]
    fn relations_of_caida_are_links_between_autonomous_systems() {
        let text = "# input clique: 174 701\n701|4808|-1\n701|174|0|bgp\n";
        let network = read(text, "20240101.as-rel").expect("relations");
        assert_eq!(network.links.iter().map(|link| link.ends).collect::<Vec<_>>(), [[0, 1], [0, 2]]);
        assert!(network.notes[0].starts_with("relations of autonomous systems"));
        assert!(!is_line("a|b|c"));
    }

    #[test]
    fn latencies_are_delays_in_milliseconds() {
        let network = read(WEIGHTS, "Latencies.intra").expect("latencies");
        let delays: Vec<_> = network.links.iter().map(|link| link.delay).collect();
        assert_eq!(delays, [Some(Duration::from_micros(4500)), Some(Duration::from_millis(7))]);
        let error = read("a b 1\na b\n", "weights").expect_err("a line is short");
        assert_eq!(error.message, "line 2: expected two nodes and a number");
    }
}
