//! What the connections of an address show, in all and over time.

use std::collections::BTreeMap;
use std::net::IpAddr;

use subflow_lab::results::Series;

use super::changes::{INTERVAL_S, OverTime};
use super::hosts::{Hosts, both};
use crate::{Analysis, SubflowRow};

/// What the captures show of an address, of all connections, also of those that are not replayed.
#[derive(Default)]
pub(super) struct Shown<'a> {
    /// Rows, each with the address of its other end.
    pub(super) rows: Vec<(&'a SubflowRow, IpAddr)>,
    /// Whether one of the connections had several requests.
    pub(super) has_exchanges: bool,
    /// Figures over time with their titles: of what it sends, and of what it is sent.
    curves: [Vec<&'a [(&'static str, Series)]>; 2],
}

impl<'a> Shown<'a> {
    /// Of all addresses of `hosts`.
    pub(super) fn by_address(analysis: &'a Analysis, hosts: &Hosts) -> BTreeMap<IpAddr, Self> {
        let addresses = hosts.all().iter().flat_map(|host| &host.addresses);
        let mut shown: BTreeMap<IpAddr, Self> = addresses.map(|address| (*address, Self::default())).collect();
        let with_exchanges: Vec<usize> = analysis.exchanges.iter().map(|it| it.number).collect();
        // Nothing acknowledges datagrams.
        let is_udp = |row: &&SubflowRow| {
            let connection = row.connection.checked_sub(1).and_then(|at| analysis.connections.get(at));
            connection.is_some_and(|connection| connection.protocol == "udp")
        };
        for row in analysis.subflows.iter().filter(|row| !is_udp(row)) {
            let Some(ends) = both(&row.from, &row.to) else { continue };
            for (_, address, peer) in each_end(ends) {
                if let Some(of_address) = shown.get_mut(&address) {
                    of_address.has_exchanges |= with_exchanges.binary_search(&row.connection).is_ok();
                    of_address.rows.push((row, peer));
                }
            }
        }
        for (name, series) in analysis.seen.connections.iter().flat_map(|connection| &connection.curves) {
            let Some(ends) = name.split_once('-').and_then(|(from, to)| both(from, to)) else { continue };
            for (direction, address, _) in each_end(ends) {
                if let Some(of_address) = shown.get_mut(&address) {
                    of_address.curves[direction].push(series);
                }
            }
        }
        shown
    }
}

/// The ends of a direction: 0, which sends, and 1, each with its address and that of the other; one if both are the same.
fn each_end([from, to]: [IpAddr; 2]) -> impl Iterator<Item = (usize, IpAddr, IpAddr)> {
    [(0, from, to), (1, to, from)].into_iter().take(if from == to { 1 } else { 2 })
}

/// What the connections of an address show over time, those with figures over time.
pub(super) struct Curves {
    /// Acknowledged data in Mbit/s, of the intervals in which there was any.
    pub(super) rates: Vec<f64>,
    /// Round-trip times in ms.
    pub(super) round_trips: Vec<f64>,
    pub(super) over_time: OverTime,
}

impl Curves {
    /// Of the direction with most data: sums of all its connections in each interval.
    pub(super) fn of(shown: &Shown<'_>) -> Self {
        let mut both = [OverTime::default(), OverTime::default()];
        let mut round_trips = [Vec::new(), Vec::new()];
        for (direction, curves) in shown.curves.iter().enumerate() {
            let over_time = &mut both[direction];
            for (title, series) in curves.iter().copied().flatten() {
                match *title {
                    "Acknowledged" => add(&mut over_time.acknowledged, series),
                    "Sending rate" => add(&mut over_time.sent, series),
                    "Round-trip time" => {
                        round_trips[direction].extend(series.points().iter().map(|point| point.value));
                        for point in series.points() {
                            let (sum, count) = over_time.round_trips.entry(interval_before(point.time_s)).or_default();
                            *sum += point.value;
                            *count += 1;
                        }
                    }
                    _ => {}
                }
            }
        }
        let total = |direction: usize| both[direction].acknowledged.values().sum::<f64>();
        let direction = usize::from(total(1) > total(0));
        let over_time = core::mem::take(&mut both[direction]);
        let rates = over_time.acknowledged.values().copied().filter(|mbit| *mbit > 0.0).collect();
        Self { rates, round_trips: core::mem::take(&mut round_trips[direction]), over_time }
    }
}

/// The interval that ends at a time.
fn interval_before(seconds: f64) -> u64 {
    ((seconds / INTERVAL_S).round() as u64).saturating_sub(1)
}

/// Adds a rate over time to the sums of intervals, by the interval in which each point ends. Points of long captures are
/// farther apart: each counts for all intervals since the one before.
fn add(sums: &mut BTreeMap<u64, f64>, series: &Series) {
    let interval = |seconds: f64| (seconds / INTERVAL_S).round() as u64;
    let mut before = None;
    for point in series.points() {
        let end = interval(point.time_s);
        let begin = before.unwrap_or(end.saturating_sub(1)).max(end.saturating_sub(1000));
        for at in begin..end {
            *sums.entry(at).or_insert(0.0) += point.value;
        }
        before = Some(end);
    }
}

#[cfg(test)]
mod tests {
    use subflow_quantity::Duration;

    use super::*;

    #[test]
    fn points_of_several_connections_are_summed_up_by_interval() {
        let series = |points: &[(f64, f64)]| {
            let mut series = Series::new("x", "acknowledged", "Mbit/s", Duration::from_nanos(1));
            for (seconds, value) in points {
                series.push(subflow_quantity::Instant::from_nanos((seconds * 1e9) as u64), *value);
            }
            series
        };
        let mut sums = BTreeMap::new();
        add(&mut sums, &series(&[(0.1, 5.0), (0.2, 7.0)]));
        add(&mut sums, &series(&[(0.2, 1.0), (0.4, 2.0)]));
        assert_eq!(sums.into_iter().collect::<Vec<_>>(), [(0, 5.0), (1, 8.0), (2, 2.0), (3, 2.0)]);
    }
}
