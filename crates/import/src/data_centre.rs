//! Data centres of other simulators: fat trees and leaf-spine networks of htsim's `.topo` files, and HPCC's lists of
//! links.

use subflow_quantity::{Duration, Probability};

use crate::attributes::{milliseconds, rate_in};
use crate::{ImportError, Link, Network, Node};

/// More links are those of no data centre that one core can run.
const MOST_LINKS: usize = 200_000;

/// What htsim's file says of the switches of a tier.
#[derive(Clone, Copy, Debug, Default)]
struct Tier {
    downlink_gbps: f64,
    down: usize,
    up: usize,
    latency_ns: f64,
    /// Parallel links to each switch below.
    bundle: usize,
}

/// htsim's `FatTreeTopology`: `Nodes`, `Podsize` and `Tiers`, then for each tier from the racks upwards the ports of a
/// switch, and the rate and delay of the links below it.
pub(crate) fn read_htsim(text: &str) -> Result<Network, ImportError> {
    let (mut nodes, mut pod, mut tiers) = (0, 0, Vec::<Tier>::new());
    let mut network = Network { has_equal_paths: true, ..Network::default() };
    for (number, line) in text.lines().enumerate() {
        let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
        let Some(key) = words.next() else { continue };
        let value: Option<f64> =
            words.next().and_then(|word| word.parse().ok()).filter(|value| (0.0..1e12).contains(value));
        let wrong = || ImportError::damaged(format!("line {}: {key} has no number", number + 1));
        let value = value.ok_or_else(wrong)?;
        let count = value as usize;
        match (key.to_lowercase().as_str(), tiers.last_mut()) {
            ("nodes", _) => nodes = count,
            ("podsize", _) => pod = count,
            ("tiers", _) => {}
            ("tier", _) => tiers.push(Tier { bundle: 1, ..Tier::default() }),
            ("downlink_speed_gbps", Some(tier)) => tier.downlink_gbps = value,
            ("radix_down", Some(tier)) => tier.down = count,
            ("radix_up", Some(tier)) => tier.up = count,
            ("downlink_latency_ns", Some(tier)) => tier.latency_ns += value,
            ("bundle", Some(tier)) => tier.bundle = count,
            // A packet passes the switch before its downlink: the delays add up.
            ("switch_latency_ns", Some(tier)) => tier.latency_ns += value,
            ("oversubscribed", Some(_)) => {}
            _ => network.notes.push(format!("line {}: {}: left out", number + 1, line.trim())),
        }
    }
    let sizes = Sizes::new(nodes, pod, &tiers)?;
    sizes.build(&mut network, &tiers)?;
    Ok(network)
}

/// The number of switches of each tier; with two tiers the network is one pod.
struct Sizes {
    nodes: usize,
    pods: usize,
    racks_of_pod: usize,
    aggregations_of_pod: usize,
    cores: usize,
}

impl Sizes {
    fn new(nodes: usize, pod: usize, tiers: &[Tier]) -> Result<Self, ImportError> {
        let wrong =
            |what: &str| ImportError::damaged(format!("{what} is not as a fat tree or leaf-spine network takes"));
        let divided = |whole: usize, part: usize, what: &str| match part {
            0 => Err(wrong(what)),
            _ if whole == 0 || !whole.is_multiple_of(part) => Err(wrong(what)),
            _ => Ok(whole / part),
        };
        let ([rack, aggregation] | [rack, aggregation, _]) = tiers else { return Err(wrong("the number of tiers")) };
        if nodes > 65_000 {
            return Err(ImportError::new(format!("{nodes} nodes, expected at most 65000"), "choose a smaller network"));
        }
        let pod = if tiers.len() == 2 { nodes } else { pod };
        let pods = divided(nodes, pod, "Podsize")?;
        let racks_of_pod = divided(pod, rack.down, "Radix_Down of tier 0")?;
        let aggregations_of_pod = divided(racks_of_pod * rack.up, aggregation.down, "Radix_Up of tier 0")?;
        let cores = match tiers.get(2) {
            Some(core) => divided(pods * aggregations_of_pod * aggregation.up, core.down, "Radix_Up of tier 1")?,
            None => 0,
        };
        Ok(Self { nodes, pods, racks_of_pod, aggregations_of_pod, cores })
    }

    /// Adds nodes and links: hosts, racks, aggregation switches, cores. Aggregation switches of the same place in their
    /// pods have the same cores above them.
    fn build(&self, network: &mut Network, tiers: &[Tier]) -> Result<(), ImportError> {
        let (racks, aggregations) = (self.pods * self.racks_of_pod, self.pods * self.aggregations_of_pod);
        let kinds = [("h", self.nodes), ("tor", racks), ("agg", aggregations), ("core", self.cores)];
        for (kind, count) in kinds {
            let name = |index| format!("{kind}{index}");
            let node = |index| Node { id: name(index), label: name(index), is_host: kind == "h", position: None };
            network.nodes.extend((0..count).map(node));
        }
        let (rack, aggregation, core) = (self.nodes, self.nodes + racks, self.nodes + racks + aggregations);
        for host in 0..self.nodes {
            add(network, [host, rack + host / tiers[0].down], tiers[0])?;
        }
        for index in 0..racks * self.aggregations_of_pod {
            let (lower, upper) = (index / self.aggregations_of_pod, index % self.aggregations_of_pod);
            let pod = lower / self.racks_of_pod;
            add(network, [rack + lower, aggregation + pod * self.aggregations_of_pod + upper], tiers[1])?;
        }
        let Some(tier) = tiers.get(2) else { return Ok(()) };
        let above = tiers[1].up / tier.bundle.max(1);
        for index in 0..aggregations * above {
            let (lower, upper) = (index / above, index % above);
            let place = lower % self.aggregations_of_pod;
            add(network, [aggregation + lower, core + (place * above + upper) % self.cores], *tier)?;
        }
        Ok(())
    }
}

/// Adds the links of a bundle between two nodes, as `tier` has them below its switches.
fn add(network: &mut Network, ends: [usize; 2], tier: Tier) -> Result<(), ImportError> {
    if network.links.len() + tier.bundle > MOST_LINKS {
        return Err(ImportError::new(format!("more than {MOST_LINKS} links"), "choose a smaller network"));
    }
    let rate = rate_in(&format!("{} gbit/s", tier.downlink_gbps));
    let delay = milliseconds(tier.latency_ns / 1e6);
    network.links.extend(std::iter::repeat_n(Link { ends, rate, delay, ..Link::default() }, tier.bundle));
    Ok(())
}

/// HPCC's topologies: `nodes switches links`, the numbers of the switches, and `node node rate delay error_rate` in each
/// further line, as many as there are links; then notes.
pub(crate) fn read_hpcc(text: &str) -> Result<Network, ImportError> {
    let mut lines = text.lines().map(str::trim).enumerate().filter(|(_, line)| !line.is_empty());
    let (_, first) = lines.next().unwrap_or_default();
    let sizes: Vec<usize> = first.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [nodes, switches, links] = sizes[..] else {
        return Err(ImportError::damaged("line 1: expected the numbers of nodes, switches and links"));
    };
    if nodes > 65_000 {
        return Err(ImportError::new(format!("{nodes} nodes, expected at most 65000"), "choose a smaller network"));
    }
    let node =
        |number: usize| Node { id: number.to_string(), label: format!("h{number}"), is_host: true, position: None };
    let mut network = Network { nodes: (0..nodes).map(node).collect(), has_equal_paths: true, ..Network::default() };
    if switches > 0 {
        let (_, numbers) = lines.next().unwrap_or_default();
        for word in numbers.split_whitespace() {
            let place = network.place(word)?;
            let node = &mut network.nodes[place];
            node.is_host = false;
            node.label = format!("s{word}");
        }
    }
    // What follows the links are notes.
    for (number, line) in lines.take(links) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let wrong =
            || ImportError::damaged(format!("line {}: expected two nodes, a rate, a delay and a loss", number + 1));
        let [first, second, rate, delay, rest @ ..] = &words[..] else { return Err(wrong()) };
        let place = |word: &str| word.parse().ok().filter(|place: &usize| *place < nodes).ok_or_else(wrong);
        let loss = rest.first().and_then(|loss| loss.parse().ok()).and_then(Probability::nearest);
        network.links.push(Link {
            ends: [place(first)?, place(second)?],
            rate: Some(rate_in(rate).ok_or_else(wrong)?),
            delay: Some(ns3_time(delay).ok_or_else(wrong)?),
            loss: loss.filter(|loss| loss.as_trillionths() > 0),
            ..Link::default()
        });
    }
    if network.links.len() < links {
        let found = network.links.len();
        return Err(ImportError::damaged(format!("line 1: found {links} links, expected the {found} that follow")));
    }
    Ok(network)
}

/// A time as ns-3 writes it: `1000ns`, `0.001ms`.
fn ns3_time(text: &str) -> Option<Duration> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let value: f64 = text[..end].parse().ok()?;
    let nanoseconds = value
        * match &text[end..] {
            "ns" => 1.0,
            "us" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            _ => return None,
        };
    (0.0..=6e10).contains(&nanoseconds).then(|| Duration::from_nanos(nanoseconds.round() as u64))
}

#[cfg(test)]
pub(crate) mod tests {
    use subflow_quantity::Rate;

    use super::*;

    pub(crate) const LEAF_SPINE: &str = "Nodes 8\nTiers 2\nPodsize 8\n\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 4\n\
        Radix_Up 2\nDownlink_Latency_ns 1000\nSwitch_Latency_ns 500\nOversubscribed 2\n\nTier 1\n\
        Downlink_speed_Gbps 100\nRadix_Down 2\nDownlink_Latency_ns 1000\nQueue_Down 64\n";

    #[test]
    fn a_leaf_spine_network_has_a_link_from_each_leaf_to_each_spine() {
        let network = read_htsim(LEAF_SPINE).expect("it is htsim's");
        let count = |start: &str| network.nodes.iter().filter(|node| node.label.starts_with(start)).count();
        assert_eq!([count("h"), count("tor"), count("agg"), count("core")], [8, 2, 2, 0]);
        assert_eq!(network.links.len(), 8 + 4);
        assert_eq!(network.links[0].delay, Some(Duration::from_nanos(1500)));
        assert_eq!(network.links[11].rate, Some(Rate::from_mbit(100_000)));
        assert_eq!(network.notes, ["line 17: Queue_Down 64: left out"]);
    }

    #[test]
    fn cores_of_a_fat_tree_reach_each_pod_through_their_bundle() {
        let text = "Nodes 16\nTiers 3\nPodsize 4\nTier 0\nDownlink_speed_Gbps 10\nRadix_Down 2\nRadix_Up 2\n\
            Tier 1\nDownlink_speed_Gbps 10\nRadix_Down 2\nRadix_Up 2\n\
            Tier 2\nDownlink_speed_Gbps 40\nRadix_Down 8\nBundle 2\n";
        let network = read_htsim(text).expect("it is htsim's");
        let cores: Vec<_> =
            (0..network.nodes.len()).filter(|node| network.nodes[*node].label.starts_with("core")).collect();
        assert_eq!(cores.len(), 2);
        for core in cores {
            // Eight ports: a bundle of two to one aggregation switch of each of four pods.
            let mut below: Vec<_> =
                network.links.iter().filter(|link| link.ends[1] == core).map(|link| link.ends[0]).collect();
            assert_eq!(below.len(), 8);
            below.dedup();
            assert_eq!(below.len(), 4);
        }
        assert!(read_htsim(&text.replace("Podsize 4", "Podsize 5")).expect_err("5").message.contains("Podsize"));
        assert!(read_htsim("Nodes\nPodsize 3").expect_err("no number").message.contains("line 1: Nodes"));
    }

    #[test]
    fn lists_of_hpcc_have_rates_delays_and_losses() {
        let network =
            read_hpcc("4 1 3\n3\n0 3 100Gbps 1000ns 0\n1 3 25Gbps 0.001ms 0.01\n2 3 400Gbps 1us 0\n").expect("HPCC's");
        assert_eq!(network.nodes.iter().map(|node| &*node.label).collect::<Vec<_>>(), ["h0", "h1", "h2", "s3"]);
        assert_eq!(network.links[1].rate, Some(Rate::from_mbit(25_000)));
        assert!(network.links.iter().all(|link| link.delay == Some(Duration::from_micros(1))));
        assert_eq!(network.links[1].loss, Probability::nearest(0.01));
        assert!(read_hpcc("2 0 1\n0 7 1Gbps 1ns 0\n").expect_err("7").message.contains("line 2"));
        let with_notes = "2 0 1\n\n0 1 1Gbps 1ns 0\nFirst line: total node #, switch node #, link #\n";
        assert_eq!(read_hpcc(with_notes).expect("HPCC's own file has them").links.len(), 1);
        assert!(read_hpcc("2 0 2\n\n0 1 1Gbps 1ns 0\n").expect_err("one is missing").message.contains("found 2 links"));
    }
}
