//! The colours of a run's paths, which are the same in all of its figures over time, and in the page beside them.

use std::collections::{BTreeMap, BTreeSet};

use subflow_lab::results::{LinkResult, Run, SubflowResult, flows_and_groups};
use subflow_scenario::{Attachment, InterfaceIndex, Scenario};

use super::ink::Look;

/// The colours of flows, subflows and links in the figures over time of a point.
#[derive(Debug, Default)]
pub struct Palette {
    /// Flows and subflows.
    paths: BTreeMap<String, usize>,
    /// The directions of links, and whether they are dashed.
    queues: BTreeMap<String, (usize, bool)>,
}

/// A link on the way of a path, and whether data go up on it.
type Hop = (usize, bool);

impl Palette {
    /// The classes of a line in the page's style sheet ([`PALETTE`](crate::PALETTE) has their colours), such as `c0` or
    /// `c1 dashed`: of a flow by its name, of a subflow by `FLOW: SUBFLOW`.
    pub fn classes_of_path(&self, line: &str) -> Option<String> {
        self.paths.get(line).map(|colour| Look::of_path(*colour, false).classes())
    }

    /// The classes of each link, by its name: those of its direction in which the data goes.
    pub fn classes_of_links(&self) -> impl Iterator<Item = (&str, String)> {
        let with_data = self.queues.iter().filter(|(_, (_, is_against_data))| !is_against_data);
        with_data.filter_map(|(direction, (colour, _))| {
            let (link, _) = direction.rsplit_once('.')?;
            Some((link, Look::of_path(*colour, false).classes()))
        })
    }

    /// The colours of `runs`, which are of the same scenario.
    pub(super) fn new(runs: &[&Run], scenario: &Scenario) -> Self {
        let mut paths: BTreeMap<String, usize> = BTreeMap::new();
        let mut hops: Vec<Vec<Hop>> = Vec::new();
        // The flows, with the first path of each and the number of its paths.
        let mut flows: Vec<(String, usize, usize)> = Vec::new();
        let ways = Ways::new(scenario);
        for flow in runs.iter().flat_map(|run| flows_and_groups(&run.result)) {
            let of_subflow = |of: &SubflowResult| (of.name.clone(), format!("{}: {}", flow.name, of.label()));
            let lines: Vec<_> = flow.subflows.iter().map(of_subflow).collect();
            for (subflow, line) in if lines.is_empty() { vec![(String::new(), flow.name.clone())] } else { lines } {
                if paths.contains_key(&line) {
                    continue;
                }
                paths.insert(line, hops.len());
                match flows.iter_mut().find(|(name, ..)| *name == flow.name) {
                    Some((.., count)) => *count += 1,
                    None => flows.push((flow.name.clone(), hops.len(), 1)),
                }
                hops.push(ways.of(&flow.name, &subflow));
            }
        }
        let mut next = hops.len();
        for (flow, path, count) in flows {
            let colour = if count > 1 { next } else { path };
            next += usize::from(count > 1);
            paths.entry(flow).or_insert(colour);
        }
        let links: Vec<&[LinkResult]> = runs.iter().map(|run| &run.result.links[..]).collect();
        Self { paths, queues: queues(scenario, &hops, &links, next) }
    }

    /// The colour of a flow or subflow; a flow with several subflows has one of its own.
    pub(super) fn of_path(&self, line: &str) -> usize {
        self.paths.get(line).copied().unwrap_or(0)
    }

    /// The colour of a direction of a link, as in `wifi.up`, and whether it is dashed.
    pub(super) fn of_queue(&self, line: &str) -> Option<(usize, bool)> {
        self.queues.get(line).copied()
    }
}

/// A link that only one path uses has the colour of that path; of several such links the one with the longest queue.
/// All others have colours of their own, from `next` on. The direction against the data is dashed.
fn queues(
    scenario: &Scenario,
    hops: &[Vec<Hop>],
    runs: &[&[LinkResult]],
    mut next: usize,
) -> BTreeMap<String, (usize, bool)> {
    let mut users: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    let mut data_up: BTreeMap<usize, bool> = BTreeMap::new();
    for (path, hops) in hops.iter().enumerate() {
        for (link, up) in hops {
            users.entry(*link).or_default().insert(path);
            data_up.entry(*link).or_insert(*up);
        }
    }
    let longest = |(link, up): Hop| {
        let of_run = |links: &&[LinkResult]| {
            let link = links.get(link)?;
            Some(if up { link.up.max_queue_packets } else { link.down.max_queue_packets })
        };
        runs.iter().filter_map(of_run).max()
    };
    let mut colours: BTreeMap<usize, usize> = BTreeMap::new();
    for (path, hops) in hops.iter().enumerate() {
        // Of equally long queues that of the first link, which `max_by_key` would choose last.
        let own = hops.iter().rev().filter(|(link, _)| users[link].len() == 1);
        if let Some((link, _)) = own.max_by_key(|hop| longest(**hop)) {
            colours.insert(*link, path);
        }
    }
    let mut queues = BTreeMap::new();
    for (index, link) in scenario.links.iter().enumerate() {
        let colour = colours.get(&index).copied().unwrap_or_else(|| {
            next += 1;
            next - 1
        });
        let up = data_up.get(&index).copied().unwrap_or(true);
        queues.insert(format!("{}.up", link.name), (colour, !up));
        queues.insert(format!("{}.down", link.name), (colour, up));
    }
    queues
}

/// Finds the links that a path is known to use, whatever the routers choose: from its ends up to the first router that
/// has a choice.
struct Ways<'a> {
    scenario: &'a Scenario,
    interfaces: BTreeMap<String, InterfaceIndex>,
    links: BTreeMap<Attachment, Vec<usize>>,
}

impl<'a> Ways<'a> {
    fn new(scenario: &'a Scenario) -> Self {
        let mut interfaces = BTreeMap::new();
        for (host, node) in scenario.hosts.iter().enumerate() {
            for (interface, one) in node.interfaces.iter().enumerate() {
                interfaces.insert(format!("{}.{}", node.name, one.name), InterfaceIndex { host, interface });
            }
        }
        let mut links: BTreeMap<Attachment, Vec<usize>> = BTreeMap::new();
        for (index, link) in scenario.links.iter().enumerate() {
            link.ends.iter().for_each(|end| links.entry(*end).or_default().push(index));
        }
        Self { scenario, interfaces, links }
    }

    /// The links of a subflow, or of a flow without subflows.
    fn of(&self, flow: &str, subflow: &str) -> Vec<Hop> {
        let Some(flow) = self.scenario.flows.iter().find(|known| known.key() == flow) else { return Vec::new() };
        let (mut from, mut to) = self.ends(subflow).unwrap_or((flow.from, flow.to));
        if from.host != flow.data_sender() {
            (from, to) = (to, from);
        }
        let back = self.walk(to).into_iter().map(|(link, up)| (link, !up));
        let mut hops = self.walk(from);
        for hop in back {
            if !hops.contains(&hop) {
                hops.push(hop);
            }
        }
        hops
    }

    /// The interfaces in the name of a subflow, `host.interface-host.interface`; a number may follow.
    fn ends(&self, subflow: &str) -> Option<(InterfaceIndex, InterfaceIndex)> {
        let name = subflow.split(['#', ' ']).next()?;
        let parts = name.match_indices('-').map(|(at, _)| (&name[..at], &name[at + 1..]));
        parts.into_iter().find_map(|(one, other)| Some((*self.interfaces.get(one)?, *self.interfaces.get(other)?)))
    }

    /// The links from an interface up to the first router that has a choice; up is the direction away from it.
    fn walk(&self, from: InterfaceIndex) -> Vec<Hop> {
        let mut hops: Vec<Hop> = Vec::new();
        let mut at = Attachment::Interface(from);
        loop {
            let known = |link: usize| hops.iter().any(|(index, _)| *index == link);
            let mut further = self.links.get(&at).into_iter().flatten().filter(|link| !known(**link));
            let (Some(&link), None) = (further.next(), further.next()) else { return hops };
            let [first, second] = self.scenario.links[link].ends;
            let up = first == at;
            hops.push((link, up));
            at = if up { second } else { first };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use subflow_scenario::file::Document;

    use super::*;

    fn scenario() -> Scenario {
        let link =
            |(name, one, other)| format!("[links.{name}]\nbetween = [\"{one}\", \"{other}\"]\nrate = \"10 Mbit/s\"\n");
        let links = [
            ("wifi", "phone.wifi", "core"),
            ("lte", "mast", "phone.lte-a"),
            ("masts", "mast", "core"),
            ("eth", "core", "server.eth"),
        ];
        let text = format!(
            "duration = \"1 s\"\n[hosts]\nphone = [\"wifi\", \"lte-a\"]\nserver = [\"eth\"]\n[routers]\nmast = {{}}\n\
             core = {{}}\n{}[flows.file]\nfrom = \"phone\"\nto = \"server\"\nprotocol = \"mptcp\"\n",
            links.map(link).concat()
        );
        Scenario::read(&Document::parse(Path::new("paths.toml"), text).expect("TOML")).expect("a valid scenario")
    }

    #[test]
    fn a_path_is_followed_to_the_first_router_with_a_choice() {
        let scenario = scenario();
        let ways = Ways::new(&scenario);
        assert_eq!(ways.of("file", "phone.wifi-server.eth"), [(0, true), (3, true)]);
        assert_eq!(ways.of("file", "phone.lte-a-server.eth#2"), [(1, false), (2, true), (3, true)]);
        assert!(ways.of("other", "phone.wifi-server.eth").is_empty());
    }

    #[test]
    fn a_queue_has_the_colour_of_the_only_path_through_it() {
        let scenario = scenario();
        let hops = [vec![(0, true), (3, true)], vec![(1, false), (2, true), (3, true)]];
        let mut results: Vec<LinkResult> = Vec::new();
        for (link, queue) in scenario.links.iter().zip([5, 3, 9, 9]) {
            let mut result = LinkResult::new(link.name.clone(), Default::default(), Default::default());
            result.up.max_queue_packets = queue;
            results.push(result);
        }
        let queues = queues(&scenario, &hops, &[&results], 3);
        assert_eq!((queues["wifi.up"], queues["wifi.down"]), ((0, false), (0, true)));
        assert_eq!(queues["masts.up"], (1, false), "it has the longest queue of those of the second path alone");
        assert_eq!((queues["lte.up"], queues["lte.down"]), ((3, true), (3, false)), "its data go down");
        assert_eq!(queues["eth.up"], (4, false), "both paths use it");
    }
}
