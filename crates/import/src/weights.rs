//! Lines of two nodes and a weight: Rocketfuel's maps of networks (Spring, Mahajan and Wetherall, 2002) as
//! `weights.intra` and `latencies.intra`, and lists of edges in general.

use std::collections::BTreeMap;

use crate::attributes::milliseconds;
use crate::{ImportError, Link, Network, Node};

/// Whether a line is two names and a number of at least zero.
pub(crate) fn is_line(line: &str) -> bool {
    edge(line).is_some()
}

fn edge(line: &str) -> Option<(&str, &str, f64)> {
    let mut words = line.split_whitespace();
    let (first, second, weight) = (words.next()?, words.next()?, words.next()?);
    let weight = weight.parse().ok().filter(|weight: &f64| *weight >= 0.0)?;
    words.next().is_none().then_some((first, second, weight))
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
        network.notes.push("weights of links: left out; packets take the path with the fewest links".to_owned());
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
    fn latencies_are_delays_in_milliseconds() {
        let network = read(WEIGHTS, "Latencies.intra").expect("latencies");
        let delays: Vec<_> = network.links.iter().map(|link| link.delay).collect();
        assert_eq!(delays, [Some(Duration::from_micros(4500)), Some(Duration::from_millis(7))]);
        let error = read("a b 1\na b\n", "weights").expect_err("a line is short");
        assert_eq!(error.message, "line 2: expected two nodes and a number");
    }
}
