//! `pairs` of a flow: many flows between hosts, by a pattern or from a list in a file.

use rand_pcg::Pcg64Mcg;
use subflow_network::stream;
use subflow_quantity::Duration;

use super::ends::HostEnd;
use super::flows::FlowReader;
use super::topology::Topology;
use super::{LARGEST_SEED, Traces};
use crate::file::{Field, Problem, Section, did_you_mean};
use crate::flow_list::ListedFlow;
use crate::random::{below, shuffle};
use crate::schema::{PATTERNS, Pattern};
use crate::{Flow, FlowGroup, Traffic, schema};

/// One flow of many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) from: HostEnd,
    pub(super) to: HostEnd,
    /// What it sends, if a list says it.
    pub(super) bytes: Option<u64>,
    /// When it starts after the group, if a list says it.
    pub(super) start: Option<Duration>,
}

impl Pair {
    fn of(from: usize, to: usize) -> Self {
        let end = |host| HostEnd { host, interface: None };
        Self { from: end(from), to: end(to), bytes: None, start: None }
    }
}

/// The most flows of one key.
const MOST_PAIRS: usize = 50_000;

/// The pairs that the flow `name` in `section` stands for; `None` if it has no `pairs`.
fn read(name: &str, section: &Section<'_>, topology: &Topology, traces: &Traces) -> Result<Option<Vec<Pair>>, Problem> {
    let Some(field) = section.given("pairs") else { return Ok(None) };
    for key in ["port", "source_port", "subflows", "primary", "until"] {
        if let Some(stray) = section.given(key) {
            return Err(stray
                .problem("this is for one pair of hosts, and pairs makes many flows")
                .label("not with pairs")
                .also(field.place(), "many flows")
                .help("drop the key, or give the flow from and to without pairs"));
        }
    }
    let from = matching(&section.required("from")?, topology)?;
    let to = matching(&section.required("to")?, topology)?;
    let text = field.string("a pattern such as \"permutation\", or the path of a file")?;
    let pairs = match text.split_once(' ') {
        Some(("stride", by)) => {
            let by = by.trim().parse().map_err(|_| field.expected("\"stride N\" with a whole number"))?;
            stride(&from, &to, by)
        }
        _ => match PATTERNS.iter().find(|choice| choice.description.is_called(text)) {
            Some(choice) => by_pattern(&field, choice.value, (&from, &to), stream_of(name, section)?)?,
            None if text.contains(['.', '/']) => {
                return listed(&field, section, (&from, &to), topology, traces).map(Some);
            }
            None => {
                let names = || PATTERNS.iter().map(|choice| choice.description.name);
                return Err(field.expected("a pattern, or the path of a file").label(did_you_mean(
                    text,
                    names(),
                    "no such pattern",
                )));
            }
        },
    };
    match pairs.is_empty() {
        true => Err(field.problem("found no pair of different hosts").label("nobody to send to")),
        false => bounded(&field, pairs.len()).map(|()| Some(pairs)),
    }
}

/// Whether there are not too many pairs.
fn bounded(field: &Field<'_>, count: usize) -> Result<(), Problem> {
    match count > MOST_PAIRS {
        true => Err(field.problem(format!("found {count} pairs, expected at most {MOST_PAIRS}"))),
        false => Ok(()),
    }
}

/// The random numbers of the pairs of flow `name`. They do not depend on the seed of a run: the pairs are part of the
/// scenario.
fn stream_of(name: &str, section: &Section<'_>) -> Result<Pcg64Mcg, Problem> {
    let seed = section.value("pairs_seed").integer(0..=LARGEST_SEED)?;
    Ok(stream(seed, &format!("pairs of {name}")))
}

/// The numbers of the hosts whose names match, in ascending order: `*` stands for any letters.
fn matching(field: &Field<'_>, topology: &Topology) -> Result<Vec<usize>, Problem> {
    let pattern = field.string("the name of a host, or a pattern such as \"h*\"")?;
    if !pattern.contains('*') {
        return topology.host_end(field).map(|end| vec![end.host]);
    }
    let hosts: Vec<usize> = topology
        .hosts
        .iter()
        .enumerate()
        .filter(|(_, host)| is_like(&host.name, pattern))
        .map(|(host, _)| host)
        .collect();
    match hosts.is_empty() {
        true => Err(field.problem(format!("no host has a name like {pattern:?}")).label("matches nothing")),
        false => Ok(hosts),
    }
}

/// Whether `name` is `pattern`, in which each `*` stands for any text.
fn is_like(name: &str, pattern: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return name == pattern };
    let (middle, tail) = rest.rsplit_once('*').unwrap_or(("", rest));
    let Some(mut left) = name.strip_prefix(head).and_then(|left| left.strip_suffix(tail)) else { return false };
    // The first place of each part leaves the most to those after it.
    middle.split('*').all(|part| match left.split_once(part) {
        Some((_, after)) => {
            left = after;
            true
        }
        None => false,
    })
}

fn by_pattern(
    field: &Field<'_>,
    pattern: Pattern,
    (from, to): (&[usize], &[usize]),
    mut rng: Pcg64Mcg,
) -> Result<Vec<Pair>, Problem> {
    Ok(match pattern {
        Pattern::AllToAll => {
            // Counted before they are made: ten thousand hosts would be a hundred million pairs.
            bounded(field, from.iter().map(|host| to.len() - usize::from(to.binary_search(host).is_ok())).sum())?;
            from.iter().flat_map(|&a| to.iter().filter(move |b| **b != a).map(move |&b| Pair::of(a, b))).collect()
        }
        Pattern::AllToOne => match to {
            [one] => from.iter().filter(|host| *host != one).map(|&host| Pair::of(host, *one)).collect(),
            many => {
                return Err(field
                    .problem(format!("to names {} hosts, expected the one that all send to", many.len()))
                    .help("for example from = \"h*\", to = \"h0\""));
            }
        },
        Pattern::Random => {
            let random = |&host: &usize| {
                let own = to.binary_search(&host).ok();
                let others = to.len() - usize::from(own.is_some());
                (others > 0).then(|| {
                    let drawn = below(others as u64, &mut rng) as usize;
                    Pair::of(host, to[drawn + usize::from(own.is_some_and(|own| drawn >= own))])
                })
            };
            from.iter().filter_map(random).collect()
        }
        Pattern::Permutation => permutation(field, from, to, &mut rng)?,
        Pattern::Stride => return Err(field.expected("\"stride N\" with a whole number")),
    })
}

/// Each host sends to one other host, and each receives from one at most. All such assignments are equally probable: those
/// in which a host would send to itself are drawn again.
fn permutation(field: &Field<'_>, from: &[usize], to: &[usize], rng: &mut Pcg64Mcg) -> Result<Vec<Pair>, Problem> {
    if from.len() > to.len() || (from.len() == 1 && from == to) {
        return Err(field.problem(format!(
            "{} hosts send and {} receive, expected another receiver for each sender",
            from.len(),
            to.len()
        )));
    }
    let mut places: Vec<u64> = (0..to.len() as u64).collect();
    loop {
        shuffle(&mut places, rng);
        let pairs = || from.iter().zip(&places).map(|(&host, &place)| (host, to[place as usize]));
        if pairs().all(|(host, other)| host != other) {
            return Ok(pairs().map(|(host, other)| Pair::of(host, other)).collect());
        }
    }
}

/// Each host sends to the one `by` places after its own.
fn stride(from: &[usize], to: &[usize], by: usize) -> Vec<Pair> {
    let target = |(place, &host): (usize, &usize)| Pair::of(host, to[(place + by % to.len()) % to.len()]);
    from.iter().enumerate().map(target).filter(|pair| pair.from != pair.to).collect()
}

/// The flows of a file. Hosts are names, or numbers from 0 among those that match.
fn listed(
    field: &Field<'_>,
    section: &Section<'_>,
    (from, to): (&[usize], &[usize]),
    topology: &Topology,
    traces: &Traces,
) -> Result<Vec<Pair>, Problem> {
    let list = traces.flow_list(field)?;
    bounded(field, list.0.len())?;
    let has_sizes = list.0.iter().any(|flow| flow.bytes.is_some());
    let traffic = ["send", "requests", "video", "exchanges", "on_off"].iter().find_map(|key| section.given(key));
    if let (true, Some(traffic)) = (has_sizes, traffic) {
        let problem = traffic.problem("found what flows send, and a list of flows that has their sizes");
        return Err(problem.label("one too many").also(field.place(), "this list"));
    }
    let arrivals = list.0.iter().any(|flow| flow.start.is_some()).then(|| section.given("arrivals")).flatten();
    if let Some(arrivals) = arrivals {
        let problem = arrivals.problem("found how flows arrive, and a list of flows that has their starts");
        return Err(problem.label("one too many").also(field.place(), "this list"));
    }
    let host = |flow: &ListedFlow, end: usize, hosts: &[usize]| {
        let name = flow.ends[end].as_str();
        let by_number = || name.parse().ok().and_then(|number: usize| hosts.get(number).copied());
        let by_name = topology.hosts.number(name).filter(|host| hosts.binary_search(host).is_ok());
        by_name.or_else(by_number).ok_or_else(|| {
            let expected = format!("the name of a host that matches, or a number from 0 to {}", hosts.len() - 1);
            traces
                .wrong_flow(field, flow.line, format!("host {name:?}"), expected)
                .help("numbers count the hosts that from and to match: from = \"*\", to = \"*\" are all")
        })
    };
    let pairs = list.0.iter().map(|flow| {
        let pair = Pair::of(host(flow, 0, from)?, host(flow, 1, to)?);
        match pair.from == pair.to {
            true => {
                let found = format!("a flow from host {:?} to itself", flow.ends[0]);
                Err(traces.wrong_flow(field, flow.line, found, "two different hosts"))
            }
            false => Ok(Pair { bytes: flow.bytes, start: flow.start, ..pair }),
        }
    });
    pairs.collect()
}

impl FlowReader<'_> {
    /// The pairs of hosts that a flow stands for, if it is many flows.
    pub(super) fn pairs(&self, name: &str, field: &Field<'_>) -> Result<Option<Vec<Pair>>, Problem> {
        read(name, &field.section(&schema::FLOW)?, self.topology, self.traces)
    }

    /// The flows of `pairs` of the flow `name`, the first of which has the `index` for its port and the `position` in the
    /// scenario, and what is drawn for them in each run.
    pub(super) fn read_pairs(
        &self,
        name: &str,
        field: &Field<'_>,
        pairs: &[Pair],
        (index, position): (usize, usize),
        mut port: impl FnMut(usize, usize) -> Result<u16, Problem>,
    ) -> Result<(Vec<Flow>, FlowGroup), Problem> {
        let section = field.section(&schema::FLOW)?;
        let (from, to) = (section.required("from")?, section.required("to")?);
        let mut flows: Vec<Flow> = Vec::new();
        let mut numbers = None;
        let has_starts = pairs.iter().any(|pair| pair.start.is_some());
        let mut times = 1;
        while flows.len() < times * pairs.len() {
            let pair = &pairs[flows.len() % pairs.len()];
            let number = index + flows.len();
            let read = self.between(name, field, [(pair.from, &from), (pair.to, &to)], |host| port(number, host))?;
            let mut flow = read.flow;
            if pair.bytes.is_some() {
                flow.traffic = Traffic::Bulk { bytes: pair.bytes };
            }
            let later = pair.start.unwrap_or_default();
            flow.start = flow.start.saturating_add(later);
            flow.stop = flow.stop.map(|stop| stop.saturating_add(later));
            flows.push(flow);
            let numbers = numbers.get_or_insert(read.numbers);
            times = numbers.of_each_pair();
            if times * pairs.len() > MOST_PAIRS {
                let found = format!("found {} flows, expected at most {MOST_PAIRS}", times * pairs.len());
                return Err(field.problem(found));
            }
        }
        let numbers = numbers.ok_or_else(|| field.problem("found no pair"))?;
        Ok(numbers.of_pairs(name, position, (flows, has_starts)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_text() {
        for (name, pattern) in [("h12", "h*"), ("h", "h*"), ("pod1-h3", "pod*-h*"), ("x", "*"), ("é1", "*1")] {
            assert!(is_like(name, pattern), "{name} {pattern}");
        }
        for (name, pattern) in [("g1", "h*"), ("pod1-g3", "pod*-h*"), ("h1", "h*2"), ("h1", "h")] {
            assert!(!is_like(name, pattern), "{name} {pattern}");
        }
    }

    /// Each way to divide the name among forty stars would take longer than anybody waits.
    #[test]
    fn many_stars_take_no_time() {
        let name = "a".repeat(64);
        assert!(is_like(&name, &"*a".repeat(40)) && is_like(&name, &"a*".repeat(64)));
        assert!(!is_like(&name, &format!("{}*b", "*a".repeat(40))) && !is_like(&name, &"a*".repeat(65)));
        assert!(!is_like("ab", "ab*b") && is_like("abb", "ab*b") && is_like("ab", "a**b"));
    }

    #[test]
    fn a_stride_wraps_around_and_leaves_out_what_comes_back() {
        let hosts: Vec<usize> = (10..15).collect();
        let ends =
            |by| stride(&hosts, &hosts, by).iter().map(|pair| (pair.from.host, pair.to.host)).collect::<Vec<_>>();
        assert_eq!(ends(2), [(10, 12), (11, 13), (12, 14), (13, 10), (14, 11)]);
        assert_eq!((ends(7), ends(5)), (ends(2), Vec::new()));
    }
}
