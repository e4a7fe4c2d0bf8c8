//! What a link was like, as far as the packets of its connections tell.
//!
//! | of a link | from |
//! |---|---|
//! | rate | acknowledged data by tenths of a second, of all connections over the address together, with headers: the value that a quarter of the busy intervals exceeds; without a queue to speak of, one twentieth |
//! | delay | half of the shortest round-trip time, less what a full packet takes at the rate |
//! | queue | rate times what the round-trip time exceeded the shortest one by when losses were noticed, if that was a queue to speak of; else in nine tenths of the intervals if a standing queue dropped packets, the most of all if losses came in bursts, twice the most (100 packets at least) if nothing was lost; 100 packets if no queue stood, and at a receiver |
//! | loss | loss episodes while round trips were short, as a share of the packets, if the queue was long at most losses; packets that were sent again, if there was no queue to speak of and independent losses would have let through as much: else the queue dropped them |

use std::collections::BTreeMap;
use std::net::IpAddr;

use subflow_quantity::{Duration, Packets, Probability, Rate};

use super::UNBOUNDED;
use super::changes::{Change, FEWEST_TRIES};
use super::curves::{Curves, Shown};
use super::hosts::{Hosts, Side};
use crate::{Analysis, SubflowRow};

/// What was inferred of the link of an address.
#[derive(Clone, Debug)]
pub(super) struct Inferred {
    pub(super) rate: Rate,
    pub(super) delay: Duration,
    pub(super) queue: Option<Packets>,
    pub(super) loss: Option<Probability>,
    /// Changes, each with its time in seconds since the first packet of all.
    pub(super) changes: Vec<(f64, Change)>,
    pub(super) notes: Vec<String>,
}

/// The links of all addresses.
#[derive(Debug)]
pub(super) struct Links(BTreeMap<IpAddr, Inferred>);

/// A full packet.
const FULL_PACKET: f64 = 1500.0;
/// The headers of IPv4 and of TCP with timestamps.
const HEADERS: f64 = 52.0;
/// A queue that held so many full packets most of the time was filled by the connections themselves.
const STANDING: f64 = 8.0;
/// A link was filled if the rate was so near to that of the fastest intervals half of the time.
const STEADY: f64 = 0.9;
/// The default of a scenario, in packets.
const USUAL_QUEUE: u64 = 100;
const USUAL_RATE: Rate = Rate::from_mbit(100);

impl Links {
    /// Of all addresses of `hosts`.
    pub(super) fn of(analysis: &Analysis, hosts: &Hosts) -> Self {
        let shown = Shown::by_address(analysis, hosts);
        let mut links = BTreeMap::new();
        let addresses = |side: Side| {
            let of_side = hosts.all().iter().filter(move |host| host.side == side);
            of_side.flat_map(|host| host.addresses.iter().copied())
        };
        for address in addresses(hosts.near()) {
            links.insert(address, of_near(&shown[&address]));
        }
        for address in addresses(hosts.near().other()) {
            // What the round trips to this address take longer than the links of its peers.
            // Of a peer that is not replayed there is no link.
            let rows = shown[&address].rows.iter().filter(|(_, peer)| shown.contains_key(peer));
            let rest = rows.filter_map(|(row, peer)| {
                let round_trip = shortest(row)?;
                let of_peer = links.get(peer).map_or(0.0, |link: &Inferred| link.delay.as_secs_f64() * 2e3);
                Some((round_trip - of_peer).max(0.0))
            });
            let rest = rest.fold(f64::INFINITY, f64::min);
            let delay = if rest.is_finite() && rest > 0.5 { milliseconds(rest / 2.0) } else { Duration::ZERO };
            links.insert(
                address,
                Inferred { rate: UNBOUNDED, delay, queue: None, loss: None, changes: Vec::new(), notes: Vec::new() },
            );
        }
        Self(links)
    }

    pub(super) fn of_address(&self, address: IpAddr) -> Inferred {
        self.0[&address].clone()
    }
}

/// The shortest round-trip time that a row shows, in ms.
fn shortest(row: &SubflowRow) -> Option<f64> {
    [row.handshake_ms, row.minimum_rtt_ms].into_iter().flatten().min_by(f64::total_cmp)
}

fn of_near(shown: &Shown<'_>) -> Inferred {
    let evidence = Evidence::of(shown);
    let mut notes = Vec::new();
    let rate = evidence.rate(&mut notes);
    let delay = evidence.delay(rate, &mut notes);
    let (queue, loss) = evidence.queue_and_loss(rate, &mut notes);
    let changes = evidence.changes(rate, &mut notes);
    Inferred { rate, delay, queue: queue.map(|packets| Packets::new(packets.max(2))), loss, changes, notes }
}

/// What the packets of all connections of an address tell of its link.
struct Evidence {
    /// Packets with data, and those that were sent again without need.
    packets: f64,
    again: f64,
    /// The bytes of packets per byte of data.
    headers: f64,
    /// Loss episodes while round trips were short.
    at_short_queue: f64,
    /// By how much round trips were longer than the shortest one at most losses, of the row with most data, in ms.
    wait_at_losses: Option<f64>,
    /// The shortest round-trip time, in ms.
    round_trip: Option<f64>,
    timeouts: u64,
    /// Whether it answered requests, and had nothing in flight for a fifth of its time.
    is_pausing: bool,
    curves: Curves,
    /// Whether there was a queue most of the time.
    is_standing: bool,
    /// Whether independent losses at this rate would have let through as much as there was.
    may_be_random: bool,
}

impl Evidence {
    fn of(shown: &Shown<'_>) -> Self {
        let rows: Vec<&SubflowRow> = shown.rows.iter().map(|(row, _)| *row).collect();
        let sum = |of: fn(&SubflowRow) -> u64| rows.iter().map(|row| of(row)).sum::<u64>() as f64;
        let (packets, bytes) = (sum(|row| row.data_packets).max(1.0), sum(|row| row.bytes));
        let again = sum(|row| row.retransmissions.saturating_sub(row.spurious));
        let with_losses = rows.iter().filter(|row| row.queue_at_losses_ms.is_some());
        let round_trip = rows.iter().filter_map(|row| shortest(row)).min_by(f64::total_cmp);
        let mut evidence = Self {
            packets,
            again,
            at_short_queue: sum(|row| row.losses_at_short_queue.unwrap_or(0)),
            wait_at_losses: with_losses.max_by_key(|row| row.bytes).and_then(|row| row.queue_at_losses_ms),
            headers: 1.0 + HEADERS / (bytes / packets).max(1.0),
            round_trip,
            is_pausing: shown.has_exchanges
                && rows.iter().max_by_key(|row| row.bytes).is_some_and(|row| is_pausing(row)),
            timeouts: rows.iter().map(|row| row.timeouts).sum(),
            curves: Curves::of(shown),
            is_standing: false,
            may_be_random: rows.iter().all(|row| may_be_random(row)),
        };
        if rows.iter().max_by_key(|row| row.bytes).is_none_or(|row| row.mean_rtt_ms.is_none()) {
            evidence.curves.round_trips.clear();
        }
        let rate = |share| quantile(&evidence.curves.rates, share).unwrap_or(0.0);
        let mbit = rate(0.75) * evidence.headers;
        // At a receiver there are no round-trip times; a steady rate is that of a link that was filled.
        let is_steady = evidence.curves.round_trips.is_empty() && rate(0.5) > 0.0 && rate(0.5) >= STEADY * rate(0.9);
        evidence.is_standing = is_steady || mbit * evidence.waits(0.9) * 125.0 >= STANDING * FULL_PACKET;
        evidence
    }

    /// The rates of data over time, if they change.
    fn rates(&self, usual: Rate) -> Vec<(f64, f64)> {
        let of_data = usual.as_mbit() / self.headers;
        self.round_trip.map_or(Vec::new(), |shortest| self.curves.over_time.rates(shortest, of_data))
    }

    /// When the link was down, and other rates.
    fn changes(&self, rate: Rate, notes: &mut Vec<String>) -> Vec<(f64, Change)> {
        let outages = self.curves.over_time.outages();
        // A peer without room is probed, and acknowledges nothing new; its sender's timer does not expire.
        let are_told = self.timeouts >= (FEWEST_TRIES * outages.len()) as u64;
        let outages = if are_told { outages } else { Vec::new() };
        for (from, until) in &outages {
            let until = until.map_or("the end".to_owned(), |until| format!("about {until:.1} s"));
            notes.push(format!("it carried nothing from {from:.1} s to {until}: taken for down"));
        }
        let rates = self.rates(rate);
        if !rates.is_empty() {
            notes.push(
                "its rate changed: events have what it carried while its queue stood; in between it is not told"
                    .to_owned(),
            );
        }
        let down = outages.iter().map(|(from, _)| (*from, Change::Down));
        let up = outages.iter().filter_map(|(_, until)| Some(((*until)?, Change::Up)));
        let rates = rates.into_iter().map(|(begin, mbit)| (begin, Change::Rate(mbit * self.headers)));
        let mut changes: Vec<(f64, Change)> = down.chain(up).chain(rates).collect();
        changes.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        changes
    }

    /// How much longer than the shortest the round-trip time was in a share of the intervals, at most, in ms.
    fn waits(&self, share: f64) -> f64 {
        let long = quantile(&self.curves.round_trips, share);
        self.round_trip.zip(long).map_or(0.0, |(shortest, long)| (long - shortest).max(0.0))
    }

    fn rate(&self, notes: &mut Vec<String>) -> Rate {
        // Of a link that was not filled, the fastest intervals are nearer to its rate; in the very fastest one data may
        // be acknowledged that arrived earlier, behind a hole.
        // Intervals of a connection that pauses are half full.
        let share = if self.is_standing && !self.is_pausing { 0.75 } else { 0.95 };
        let mbit = quantile(&self.curves.rates, share).map_or(0.0, |mbit| mbit * self.headers);
        if mbit <= 0.0 {
            notes.push(format!("its rate: not told, {USUAL_RATE}"));
            return USUAL_RATE;
        }
        if !self.is_standing {
            let note = "its connections did not keep it filled: its rate is at least that of the fastest intervals";
            notes.push(note.to_owned());
        }
        Rate::from_bits_per_second((mbit * 1e6).round().max(1000.0) as u64)
    }

    fn delay(&self, rate: Rate, notes: &mut Vec<String>) -> Duration {
        let transmission = FULL_PACKET * 8.0 / rate.bits_per_second() as f64 * 1e3;
        match self.round_trip {
            Some(round_trip) => milliseconds(((round_trip - transmission) / 2.0).max(0.0)),
            None => {
                notes.push("its delay: not told, none".to_owned());
                Duration::ZERO
            }
        }
    }

    /// The queue in packets, and the probability of a loss.
    fn queue_and_loss(&self, rate: Rate, notes: &mut Vec<String>) -> (Option<u64>, Option<Probability>) {
        let within = |ms: f64| rate.bits_per_second() as f64 / 8e3 * ms / FULL_PACKET;
        let queued = |share| within(self.waits(share));
        let share = self.again / self.packets;
        let sent_again = |share: f64| format!("{:.2} % of its packets were sent again", share * 1e2);
        let full = self.wait_at_losses.map(within).filter(|packets| *packets >= STANDING && self.again > 0.0);
        if let Some(full) = full {
            // The burst after a pause may be dropped elsewhere: the queue holds what waited without a loss, too.
            let is_steady = self.is_pausing && self.rates(rate).is_empty();
            let full = if is_steady { full.max(queued(1.0)) } else { full };
            let random = self.at_short_queue / self.packets;
            let dropped = sent_again(share);
            notes.push(format!("{dropped}: dropped by its queue, in which {full:.0} waited when losses were noticed"));
            if random > 0.0 {
                notes.push(format!(
                    "{} times losses were noticed while its queue was short: taken as random ones, {:.2} %",
                    self.at_short_queue,
                    random * 1e2
                ));
            }
            return (Some(full.ceil() as u64 + 1), probability(random));
        }
        let sent_again = sent_again(share);
        match (self.is_standing, self.again > 0.0) {
            (true, _) if self.curves.round_trips.is_empty() => {
                notes.push(format!("its queue: not told at a receiver, {USUAL_QUEUE} packets"));
                (None, None)
            }
            (true, true) => {
                notes.push(format!("{sent_again}: dropped by its queue, of which nine tenths were filled"));
                (Some(queued(0.9).ceil() as u64 + 1), None)
            }
            (true, false) => {
                let most = queued(1.0);
                notes.push(format!("its queue was never full: more than {most:.0} packets"));
                (Some((most * 2.0).ceil().max(USUAL_QUEUE as f64) as u64), None)
            }
            (false, true) if !self.may_be_random => {
                notes.push(format!(
                    "{sent_again}, more than independent losses let through: dropped by its queue in bursts"
                ));
                (Some(queued(1.0).ceil() as u64 + 1), None)
            }
            (false, is_lossy) => {
                notes.push(format!("its queue: not told, {USUAL_QUEUE} packets"));
                if is_lossy {
                    notes.push(format!("{sent_again} while its queue was short: taken as random losses"));
                }
                (None, probability(share))
            }
        }
    }
}

/// Of a loss; `None` if there is none.
fn probability(share: f64) -> Option<Probability> {
    Probability::nearest(share.min(0.9)).filter(|loss| loss.as_trillionths() > 0)
}

fn is_pausing(row: &SubflowRow) -> bool {
    const SHARE: f64 = 0.2;
    let active_s = row.goodput_mbps.filter(|mbit| *mbit > 0.0).map(|mbit| row.bytes as f64 * 8e-6 / mbit);
    active_s.zip(row.idle_s).is_some_and(|(active, idle)| idle > active * SHARE)
}

/// Whether a sender with so many losses can have been so fast if they were independent of each other: by the formula of
/// Mathis, Semke, Mahdavi and Ott (1997), with a factor for congestion controls that recover faster than Reno.
fn may_be_random(row: &SubflowRow) -> bool {
    const FASTER_THAN_RENO: f64 = 2.0;
    let losses = row.retransmissions.saturating_sub(row.spurious) as f64 / row.data_packets.max(1) as f64;
    let (Some(goodput), Some(round_trip)) = (row.goodput_mbps, row.mean_rtt_ms.or(row.handshake_ms)) else {
        return true;
    };
    let window = 1.22 / losses.sqrt().max(1e-6);
    let segment = row.bytes as f64 / row.data_packets.max(1) as f64;
    goodput * 1e3 * round_trip <= FASTER_THAN_RENO * window * segment * 8.0
}

/// The value that a share of `values` does not exceed.
fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    sorted.get((last as f64 * share).round() as usize).copied()
}

fn milliseconds(value: f64) -> Duration {
    Duration::from_micros((value.clamp(0.0, 1e7) * 1e3).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_rates_are_no_steady_rate() {
        assert!(!Evidence::of(&Shown::default()).is_standing);
    }

    #[test]
    fn quantiles_are_values_of_the_list() {
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(
            [0.0, 0.75, 1.0].map(|share| quantile(&[4.0, 1.0, 3.0, 2.0, 5.0], share)),
            [1.0, 4.0, 5.0].map(Some)
        );
    }
}
