//! Which captures are of one host: of its interfaces, of its directions, or the parts of one that was cut in time. Their
//! packets are read together, as those of one point of capture.
//!
//! What the files contain tells it:
//!
//! | two files | are of |
//! |---|---|
//! | that have packets in common, at the same times | one host, whose captures overlap |
//! | that have packets in common, at other times | two points |
//! | that have a connection in common, one file a direction of it, or one file what follows the other's | one host |
//! | that have a connection in common in another way, at the same time | two points |
//! | whose connections end at one address, which their handshakes say is near | one host |
//! | with different subflows of an MPTCP connection, or paths of an association, near the same end of it | one host |
//! | the same, if nothing tells which end is near | one host, unless a third file says otherwise |

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};

use crate::datagrams::Datagrams;
use crate::passages::farther;
use crate::sctp::Association;
use crate::tcp::Flow;
use crate::tracker::Tracker;

/// Connections of the same ports that are compared in each file, at most.
const MOST_COMPARED: usize = 16;

/// Datagrams of a part of a capture that follow those of another come within this time, in nanoseconds.
const SOON: u64 = 10_000_000_000;

/// Two captures of one packet at one interface differ by this, in nanoseconds: one may have microseconds only.
const SAME_TIME: u64 = 1_000;

/// What says that two files are of one host, the surest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Evidence {
    Overlapping,
    Continued,
    SameAddress,
    SameEnd,
    SameConnection,
}

/// What is known of pairs of files, the smaller number first.
#[derive(Debug, Default)]
struct Pairs {
    apart: BTreeSet<(u16, u16)>,
    together: BTreeSet<(Evidence, u16, u16)>,
}

/// The end that the point of each flow or association is near, if that is known.
type Near = Vec<Option<usize>>;

/// The host of each of so many files, which the tracker has followed as points of their own: numbers from 0 on.
pub(crate) fn hosts(tracker: &Tracker, files: usize) -> Vec<u16> {
    let mut pairs = Pairs::default();
    let near = pairs.compare_flows(tracker);
    pairs.compare_addresses(tracker, &near);
    pairs.compare_connections(tracker, &near);
    pairs.compare_associations(tracker);
    pairs.compare_datagrams(tracker);
    pairs.joined(files)
}

/// Packets that two files have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Common {
    #[default]
    Nothing,
    /// All were captured at the same time in both.
    AtSameTimes,
    AtOtherTimes,
}

impl Common {
    /// Packets of each end of a connection, with their times in both files.
    fn add(&mut self, matched: &[Vec<[u64; 2]>; 2]) {
        let is_same = |[here, there]: &[u64; 2]| here.abs_diff(*there) <= SAME_TIME;
        *self = match (matched.iter().flatten().count(), matched.iter().flatten().all(is_same)) {
            (0, _) => *self,
            (_, true) if *self != Self::AtOtherTimes => Self::AtSameTimes,
            _ => Self::AtOtherTimes,
        };
    }
}

impl Pairs {
    fn set_apart(&mut self, a: u16, b: u16) {
        self.apart.insert((a.min(b), a.max(b)));
    }

    fn put_together(&mut self, evidence: Evidence, a: u16, b: u16) {
        if a != b {
            self.together.insert((evidence, a.min(b), a.max(b)));
        }
    }

    /// Connections between the same ports in several files. Returns which end each flow's point is near.
    fn compare_flows(&mut self, tracker: &Tracker) -> Near {
        let is_near = |flow: &Flow| flow.is_near(0).map(|is_first| usize::from(!is_first));
        let mut near: Near = tracker.flows.iter().map(|(_, flow)| is_near(flow)).collect();
        let Some(passages) = &tracker.passages else { return near };
        let mut same_ports: BTreeMap<[SocketAddr; 2], BTreeMap<u16, Vec<usize>>> = BTreeMap::new();
        for (at, (file, flow)) in tracker.flows.iter().enumerate() {
            let [a, b] = flow.ends;
            let flows = same_ports.entry([a.min(b), a.max(b)]).or_default().entry(*file).or_default();
            if flows.len() < MOST_COMPARED {
                flows.push(at);
            }
        }
        for files in same_ports.values().filter(|files| files.len() > 1) {
            for ((&a, in_a), (&b, in_b)) in in_pairs(files) {
                let mut is_continued = false;
                let mut common = Common::default();
                let mut have_same_times = false;
                for (&i, &j) in in_a.iter().flat_map(|i| in_b.iter().map(move |j| (i, j))) {
                    let (first, second) = (&tracker.flows[i].1, &tracker.flows[j].1);
                    let of_second = |end: usize| end ^ usize::from(first.ends != second.ends);
                    let matched = [0, 1].map(|end| passages[i][end].matched(&passages[j][of_second(end)]));
                    if let Some(end) = nearer_end(&matched) {
                        near[i] = Some(end);
                        near[j] = Some(of_second(1 - end));
                    }
                    common.add(&matched);
                    have_same_times |= first.first_time <= second.last_time && second.first_time <= first.last_time;
                    let sent = [first, second].map(|flow| [0, 1].map(|end| flow.halves[end].packets > 0));
                    let has_one_direction = [0, 1].map(|end| sent[0][end] != sent[1][of_second(end)]) == [true; 2];
                    is_continued |= has_one_direction || follows(first, second) || follows(second, first);
                }
                match common {
                    Common::AtOtherTimes => self.set_apart(a, b),
                    Common::AtSameTimes => self.put_together(Evidence::Overlapping, a, b),
                    Common::Nothing if is_continued => self.put_together(Evidence::Continued, a, b),
                    Common::Nothing if have_same_times => self.set_apart(a, b),
                    Common::Nothing => {}
                }
            }
        }
        near
    }

    /// Addresses at which connections end near the points of several files.
    fn compare_addresses(&mut self, tracker: &Tracker, near: &Near) {
        let mut files: BTreeMap<IpAddr, BTreeSet<u16>> = BTreeMap::new();
        for ((file, flow), near) in tracker.flows.iter().zip(near) {
            if let Some(end) = near {
                files.entry(flow.ends[*end].ip()).or_default().insert(*file);
            }
        }
        for (file, association) in &tracker.associations {
            for path in association
                .nearest_end()
                .into_iter()
                .flat_map(|end| association.paths.iter().map(move |path| path.ends[end]))
            {
                files.entry(path.ip()).or_default().insert(*file);
            }
        }
        for files in files.values() {
            for (&a, &b) in in_pairs(files) {
                self.put_together(Evidence::SameAddress, a, b);
            }
        }
    }

    /// MPTCP connections with subflows in several files: a token is that of one end in all of them.
    fn compare_connections(&mut self, tracker: &Tracker, near: &Near) {
        let mut views: BTreeMap<u32, BTreeMap<u16, Option<bool>>> = BTreeMap::new();
        for (file, connection) in &tracker.connections {
            let near = connection
                .subflows
                .iter()
                .find_map(|&(flow, is_reversed)| Some(near[flow]? ^ usize::from(is_reversed)));
            for (end, token) in connection.tokens.iter().enumerate() {
                if let Some(token) = token {
                    views.entry(*token).or_default().insert(*file, near.map(|near| near == end));
                }
            }
        }
        views.values().for_each(|views| self.compare_ends(views));
    }

    /// Associations with paths in several files.
    fn compare_associations(&mut self, tracker: &Tracker) {
        let mut same_tags: BTreeMap<[u32; 2], BTreeMap<u16, &Association>> = BTreeMap::new();
        for (file, association) in &tracker.associations {
            if let [Some(a), Some(b)] = association.tags {
                same_tags.entry([a.min(b), a.max(b)]).or_default().insert(*file, association);
            }
        }
        for (tags, files) in &same_tags {
            let mut views: BTreeMap<u16, Option<bool>> = BTreeMap::new();
            for (file, association) in files {
                let near = association.nearest_end().and_then(|end| association.tags[end]);
                views.insert(*file, near.map(|tag| tag == tags[0]));
            }
            for ((&a, first), (&b, second)) in in_pairs(files) {
                let of_second = |end: usize| end ^ usize::from(first.tags != second.tags);
                let mut matched = [Vec::new(), Vec::new()];
                let mut has_common_path = false;
                for (here, there) in
                    first.paths.iter().flat_map(|here| second.paths.iter().map(move |there| (here, there)))
                {
                    if [0, 1].iter().all(|&end| here.ends[end] == there.ends[of_second(end)]) {
                        has_common_path = true;
                        for (end, matched) in matched.iter_mut().enumerate() {
                            matched.extend(here.sent[end].passages.matched(&there.sent[of_second(end)].passages));
                        }
                    }
                }
                if let Some(end) = nearer_end(&matched) {
                    let is_first_tag = first.tags[end] == Some(tags[0]);
                    views.insert(a, Some(is_first_tag));
                    views.insert(b, Some(!is_first_tag));
                }
                let mut common = Common::default();
                common.add(&matched);
                match common {
                    Common::AtSameTimes => self.put_together(Evidence::Overlapping, a, b),
                    _ if has_common_path => self.set_apart(a, b),
                    _ => {}
                }
            }
            self.compare_ends(&views);
        }
    }

    /// Datagrams between the same ports in several files. If none are the same, nothing but their times tells whether those
    /// of one file follow those of the other.
    fn compare_datagrams(&mut self, tracker: &Tracker) {
        let mut same_ports: BTreeMap<[SocketAddr; 2], BTreeMap<u16, &Datagrams>> = BTreeMap::new();
        for (file, datagrams) in &tracker.datagrams {
            let [a, b] = datagrams.ends;
            same_ports.entry([a.min(b), a.max(b)]).or_default().insert(*file, datagrams);
        }
        for files in same_ports.values() {
            for ((&a, first), (&b, second)) in in_pairs(files) {
                let ends = [0, 1].map(|end| [&first.sent[end], second.as_in(first, end)]);
                let has_one_direction = ends.iter().all(|[first, second]| (first.packets > 0) != (second.packets > 0));
                let mut common = Common::default();
                common.add(&ends.map(|[first, second]| first.passages.matched(&second.passages)));
                let gap = |from: &Datagrams, to: &Datagrams| to.first_time.checked_sub(from.last_time());
                match (common, gap(first, second).or(gap(second, first))) {
                    (Common::AtOtherTimes, _) => self.set_apart(a, b),
                    (Common::AtSameTimes, _) => self.put_together(Evidence::Overlapping, a, b),
                    (Common::Nothing, Some(0..SOON)) => self.put_together(Evidence::Continued, a, b),
                    (Common::Nothing, None) if has_one_direction => self.put_together(Evidence::Continued, a, b),
                    (Common::Nothing, None) => self.set_apart(a, b),
                    (Common::Nothing, Some(_)) => {}
                }
            }
        }
    }

    /// Files that show one connection: whether each is near a certain end of it.
    fn compare_ends(&mut self, views: &BTreeMap<u16, Option<bool>>) {
        for ((&a, first), (&b, second)) in in_pairs(views) {
            match (first, second) {
                (Some(first), Some(second)) if first == second => self.put_together(Evidence::SameEnd, a, b),
                (Some(_), Some(_)) => self.set_apart(a, b),
                _ => self.put_together(Evidence::SameConnection, a, b),
            }
        }
    }

    /// Joins files, by the surest evidence first, unless two of those joined are apart. Hosts are in the order of files.
    fn joined(&self, files: usize) -> Vec<u16> {
        let mut host: Vec<u16> = (0..files as u16).collect();
        for &(_, a, b) in &self.together {
            let [to, from] = [a, b].map(|file| host[usize::from(file)]);
            let is_refused = self.apart.iter().any(|&(x, y)| {
                let hosts = [x, y].map(|file| host[usize::from(file)]);
                hosts == [to, from] || hosts == [from, to]
            });
            if !is_refused {
                host.iter_mut().filter(|it| **it == from).for_each(|it| *it = to);
            }
        }
        let mut numbers: BTreeMap<u16, u16> = BTreeMap::new();
        host.into_iter()
            .map(|host| {
                let next = numbers.len() as u16;
                *numbers.entry(host).or_insert(next)
            })
            .collect()
    }
}

/// Each two of some things.
fn in_pairs<T: IntoIterator<Item = U>, U: Clone>(all: T) -> impl Iterator<Item = (U, U)> {
    let all: Vec<U> = all.into_iter().collect();
    let count = all.len();
    let pairs = (0..count).flat_map(move |a| (a + 1..count).map(move |b| (a, b)));
    pairs.map(move |(a, b)| (all[a].clone(), all[b].clone()))
}

/// Which end the first of two points is nearer to, by packets of both ends with their times at both points.
fn nearer_end(matched: &[Vec<[u64; 2]>; 2]) -> Option<usize> {
    farther(matched).filter(|farther| *farther != 0).map(|farther| usize::from(farther < 0))
}

/// Whether a flow of another file begins where this one ends, in time and in the sequence of one end.
fn follows(first: &Flow, second: &Flow) -> bool {
    let of_second = |end: usize| end ^ usize::from(first.ends != second.ends);
    let is_later = second.first_time >= first.last_time;
    is_later && [0, 1].iter().any(|&end| first.halves[end].is_continued_by(&second.halves[of_second(end)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_surest_evidence_decides_and_no_host_has_two_files_that_are_apart() {
        let mut pairs = Pairs::default();
        // 0 and 1 are interfaces of a phone, 2 and 3 of a server; of 0 and 3 nothing is sure.
        pairs.put_together(Evidence::SameConnection, 0, 3);
        pairs.put_together(Evidence::SameEnd, 1, 0);
        pairs.put_together(Evidence::SameConnection, 2, 3);
        pairs.set_apart(0, 2);
        pairs.set_apart(3, 1);
        assert_eq!(pairs.joined(5), [0, 0, 1, 1, 2]);
    }
}
