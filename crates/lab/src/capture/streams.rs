//! The data of flows in each direction: between which interfaces, how many bytes at most, and what their packets take in
//! captures.

use subflow_network::Service;
use subflow_quantity::Duration;
use subflow_scenario::{Attachment, Flow, InterfaceIndex, Period, Scenario, SizeDistribution, Traffic};
use subflow_wire::packet_block_length;

/// Stands for an unlimited capacity; more than any run carries.
pub(super) const UNLIMITED: u128 = 1 << 80;
/// The length of a packet's headers with the usual options: TCP over IPv4 with timestamps and a DSS option.
const HEADERS: u64 = 72;
/// The length of an IPv4 and a UDP header.
const UDP_HEADERS: u64 = 28;
const PACKETS_PER_ACKNOWLEDGMENT: u64 = 2;

/// Data in one direction of a flow.
pub(super) struct Stream {
    /// The interfaces that it may leave from, and those that it may arrive at.
    pub(super) from: Vec<InterfaceIndex>,
    pub(super) to: Vec<InterfaceIndex>,
    /// Its length in bytes of IP packets; `None` if only the links limit it.
    pub(super) bytes: Option<u128>,
    /// The size of its packets.
    packet: u64,
    /// Messages of its whole length, each of which takes a packet at least.
    messages: u128,
    /// Whether they are acknowledged.
    acknowledged: bool,
}

impl Stream {
    pub(super) fn all_of(scenario: &Scenario, flow: &Flow) -> Vec<Self> {
        let (mtu, uses_all) = (flow.protocol.mtu().unwrap_or(u16::MAX.into()), flow.protocol.is_multipath());
        let interfaces = |end: InterfaceIndex| match uses_all {
            true => (0..scenario.hosts[end.host].interfaces.len())
                .map(|interface| InterfaceIndex { interface, ..end })
                .collect(),
            false => vec![end],
        };
        let (from, to) = (interfaces(flow.from), interfaces(flow.to));
        let packet = u64::from(mtu);
        let stream = |from: &[InterfaceIndex], to: &[InterfaceIndex], payload: Option<u128>, messages: u128| Self {
            from: from.to_vec(),
            to: to.to_vec(),
            bytes: payload.map(|payload| with_headers(payload, messages, packet - HEADERS, HEADERS)),
            packet,
            messages,
            acknowledged: true,
        };
        let exchanges = |count: Option<u128>, [request, response]: [u128; 2]| {
            let messages = count.unwrap_or(0);
            vec![
                stream(&from, &to, count.map(|count| count * request), messages),
                stream(&to, &from, count.map(|count| count * response), messages),
            ]
        };
        match &flow.traffic {
            Traffic::Bulk { bytes } => vec![stream(&from, &to, bytes.map(u128::from), 0)],
            Traffic::RequestResponse { request, response, count, think, every, .. } => {
                let round_trip = shortest_round_trip(scenario, &from, &to);
                let apart = every.map_or_else(|| think.mean().saturating_add(round_trip), Period::mean);
                let in_time = at_most(active(scenario, flow), apart);
                let count = [count.map(u128::from), in_time].into_iter().flatten().min();
                exchanges(count, [request, response].map(|size: &SizeDistribution| u128::from(size.mean())))
            }
            Traffic::Video(video) => {
                // What the player does not have to play yet is bounded by its buffer.
                let in_time = at_most(active(scenario, flow).saturating_add(video.buffer), video.chunk);
                let count = [video.chunks().map(u128::from), in_time].into_iter().flatten().min();
                exchanges(count, [video.request, video.largest()].map(u128::from))
            }
            Traffic::Exchanges(planned) => {
                let sum = |size: fn(u64, u64) -> u64| -> u128 {
                    planned.iter().map(|it| u128::from(size(it.request, it.response))).sum()
                };
                let (requests, responses) = (sum(|request, _| request), sum(|_, response| response));
                let messages = planned.len() as u128;
                vec![stream(&from, &to, Some(requests), messages), stream(&to, &from, Some(responses), messages)]
            }
            Traffic::Streams(planned) => {
                let payload = planned.iter().map(|it| u128::from(it.bytes)).sum();
                vec![stream(&from, &to, Some(payload), planned.len() as u128)]
            }
            &Traffic::OnOff { rate, packet, on, off } => {
                let payload = carried(&Service::Rate(rate), active(scenario, flow)) as f64 * share(on, off);
                let bytes = with_headers(payload as u128, 0, u64::from(packet), UDP_HEADERS);
                let packet = u64::from(packet) + UDP_HEADERS;
                vec![Self { from, to, bytes: Some(bytes), packet, messages: 0, acknowledged: false }]
            }
        }
    }

    /// The size of the captures of `bytes` of packets at both ends.
    pub(super) fn captured(&self, bytes: u128) -> u128 {
        let block = |length: u64| packet_block_length(length as usize) as u128;
        // Where links carry less than the whole, they carry fewer messages, too.
        let messages = self.bytes.map_or(0, |all| self.messages * bytes / all.max(1));
        let packets = bytes.div_ceil(u128::from(self.packet)).max(messages);
        let packet = bytes.checked_div(packets).unwrap_or(0) as u64;
        let acknowledgments = if self.acknowledged { packets / u128::from(PACKETS_PER_ACKNOWLEDGMENT) } else { 0 };
        2 * (packets * block(packet.max(HEADERS.min(self.packet))) + acknowledgments * block(HEADERS))
    }
}

/// The bytes that a service carries in `span`; more than any run carries, if it is unlimited.
pub(super) fn carried(service: &Service, span: Duration) -> u128 {
    let bits_per_second = match service {
        Service::Unlimited if span.is_zero() => 0,
        Service::Unlimited => return UNLIMITED,
        Service::Rate(rate) => u128::from(rate.bits_per_second()),
        Service::Trace(trace) => trace.mean_bits_per_second() as u128,
        Service::TokenBucket(bucket) => u128::from(bucket.rate.bits_per_second()),
        Service::Cellular(cellular) => u128::from(cellular.rate.bits_per_second()),
        Service::Wifi(wifi) => u128::from(wifi.rate.bits_per_second()),
    };
    bits_per_second * u128::from(span.as_nanos()) / 8_000_000_000
}

/// How long a flow may send.
fn active(scenario: &Scenario, flow: &Flow) -> Duration {
    let end = flow.stop.unwrap_or(scenario.duration).min(scenario.duration);
    if end > flow.start { end - flow.start } else { Duration::ZERO }
}

/// How many events fit into `span` that are this far apart; `None` if they are not apart.
fn at_most(span: Duration, apart: Duration) -> Option<u128> {
    (!apart.is_zero()).then(|| u128::from(span.as_nanos() / apart.as_nanos()) + 1)
}

/// A lower bound of the round-trip time: the delays of the links of both ends.
fn shortest_round_trip(scenario: &Scenario, from: &[InterfaceIndex], to: &[InterfaceIndex]) -> Duration {
    let is_end = |ends: &[InterfaceIndex], end: Attachment| matches!(end, Attachment::Interface(interface) if ends.contains(&interface));
    let of = |ends: &[InterfaceIndex]| {
        let links = scenario.links.iter().filter(|link| link.ends.iter().any(|end| is_end(ends, *end)));
        links.map(|link| link.up.delay.saturating_add(link.down.delay)).min().unwrap_or(Duration::ZERO)
    };
    let is_direct = scenario.links.iter().any(|link| {
        let [first, second] = link.ends;
        is_end(from, first) && is_end(to, second) || is_end(to, first) && is_end(from, second)
    });
    if is_direct { of(from) } else { of(from).saturating_add(of(to)) }
}

/// The size of the packets that carry `payload` in so many messages, each packet with at most `most` bytes of it.
fn with_headers(payload: u128, messages: u128, most: u64, headers: u64) -> u128 {
    payload + payload.div_ceil(u128::from(most.max(1))).max(messages) * u128::from(headers)
}

/// The mean share of the time in which a source is on.
fn share(on: Period, off: Period) -> f64 {
    let (on, off) = (on.mean().as_secs_f64(), off.mean().as_secs_f64());
    if on + off > 0.0 { on / (on + off) } else { 1.0 }
}
