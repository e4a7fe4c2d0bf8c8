//! Buffers in bandwidth-delay products of all paths of a flow, `"2 bdp"`: what the paths carry together during the longest
//! of their round trips (lima2017, equation 2.6, after RFC 6182, section 5.3, has two of them).
//!
//! A path is the way from an interface of the sender to one of the receiver that takes the least delay. Its rate is that of
//! its slowest link. Paths that leave by the same interface count once, with the highest of their rates. Rates and delays
//! are those at the beginning: neither the timeline nor queues change the product.

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use subflow_network::{LinkConfig, Service};
use subflow_quantity::{Duration, Rate};

use super::topology::Topology;
use crate::file::{Field, Problem};
use crate::{Attachment, InterfaceIndex};

/// What the paths of a flow have together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PathProduct {
    /// The sum of their rates.
    pub(super) rate: Rate,
    /// The longest of their round trips, by delays alone.
    pub(super) round_trip: Duration,
}

/// A link as seen from one of its ends: the other end, the link and its name.
type Outlet<'t> = (Attachment, &'t LinkConfig, &'t str);

/// The links that leave each node, which all flows have in common.
pub(super) struct Outgoing<'t> {
    topology: &'t Topology,
    /// Listed when a flow first asks for them.
    links: OnceCell<BTreeMap<Attachment, Vec<Outlet<'t>>>>,
}

/// The way from one interface to another.
#[derive(Clone, Copy)]
struct Way<'a> {
    delay: Duration,
    /// A link of it whose rate varies.
    varies: Option<&'a str>,
    /// The rate of its slowest link in bit/s; the largest number without any.
    slowest: u64,
}

impl PathProduct {
    /// That of the paths from any of `from` to any of `to`; `field` has the buffer.
    pub(super) fn of(
        outgoing: &Outgoing<'_>,
        from: &[InterfaceIndex],
        to: &[InterfaceIndex],
        field: &Field<'_>,
    ) -> Result<Self, Problem> {
        let mut rates = BTreeMap::<InterfaceIndex, u64>::new();
        let mut round_trip = Duration::ZERO;
        let back: Vec<_> = to.iter().map(|&start| outgoing.ways(start)).collect();
        for &start in from {
            let there = outgoing.ways(start);
            for (end, back) in to.iter().zip(&back) {
                let (Some(there), Some(back)) = (there.get(end), back.get(&start)) else { continue };
                if let Some(link) = there.varies {
                    return Err(field
                        .problem(format!("the rate of link {link:?}, which the flow uses, varies"))
                        .label("a product of rate and delay")
                        .help("give the buffer in bytes"));
                }
                if there.slowest == u64::MAX {
                    let [start, end] = [start, *end].map(|interface| outgoing.topology.interface_name(interface));
                    return Err(field
                        .problem(format!("no link on the way from {start} to {end} has a rate"))
                        .label("a product of rate and delay")
                        .help("give a link on the way a rate, or the buffer in bytes"));
                }
                let rate = rates.entry(start).or_default();
                *rate = there.slowest.max(*rate);
                round_trip = round_trip.max(there.delay.saturating_add(back.delay));
            }
        }
        if round_trip.is_zero() {
            return Err(field
                .problem("the paths of the flow have no delay, so their bandwidth-delay product is 0")
                .label("a product of rate and delay")
                .help("give a link on the way a delay, or the buffer in bytes"));
        }
        let rate = rates.values().fold(0_u64, |sum, rate| sum.saturating_add(*rate));
        Ok(Self { rate: Rate::from_bits_per_second(rate), round_trip })
    }
}

impl<'t> Outgoing<'t> {
    pub(super) fn of(topology: &'t Topology) -> Self {
        Self { topology, links: OnceCell::new() }
    }

    fn from(&self, node: Attachment) -> &[(Attachment, &'t LinkConfig, &'t str)] {
        let links = self.links.get_or_init(|| {
            let mut links = BTreeMap::<_, Vec<_>>::new();
            for link in self.topology.links.iter() {
                let [first, second] = link.ends;
                links.entry(first).or_default().push((second, &link.up, link.name.as_str()));
                links.entry(second).or_default().push((first, &link.down, link.name.as_str()));
            }
            links
        });
        links.get(&node).map_or(&[], Vec::as_slice)
    }

    /// The ways with the least delay from an interface to each other one (Dijkstra's algorithm). Hosts do not forward.
    fn ways(&self, start: InterfaceIndex) -> BTreeMap<InterfaceIndex, Way<'t>> {
        let (mut known, mut found) = (BTreeMap::new(), BTreeMap::new());
        let start = Attachment::Interface(start);
        let mut next = BinaryHeap::from([Reverse((Duration::ZERO, start, u64::MAX, None))]);
        while let Some(Reverse((delay, at, slowest, varies))) = next.pop() {
            if known.insert(at, delay).is_some() {
                continue;
            }
            if let Attachment::Interface(interface) = at
                && at != start
            {
                found.insert(interface, Way { delay, varies, slowest });
                continue;
            }
            for &(end, config, name) in self.from(at).iter().filter(|(end, ..)| !known.contains_key(end)) {
                let (rate, varies) = match &config.service {
                    Service::Rate(rate) => (rate.bits_per_second(), varies),
                    Service::TokenBucket(bucket) => (bucket.rate.bits_per_second(), varies),
                    Service::Cellular(cellular) => (cellular.rate.bits_per_second(), varies),
                    Service::Wifi(wifi) => (wifi.rate.bits_per_second(), varies),
                    Service::Unlimited => (u64::MAX, varies),
                    Service::Trace(_) => (u64::MAX, varies.or(Some(name))),
                };
                next.push(Reverse((delay.saturating_add(config.delay), end, slowest.min(rate), varies)));
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use subflow_transport::tcp::config::{ReceiveBuffer, SendBuffer};

    use crate::file::Document;
    use crate::{Protocol, Scenario};

    /// Two paths, one over a router: 10 Mbit/s and 20 ms there and back, 30 Mbit/s and 64 ms.
    fn scenario(protocol: &str, tcp: &str) -> Result<Scenario, String> {
        let text = format!(
            "duration = '1 s'\ntcp = {tcp}\n[hosts]\na = ['x', 'y']\nb = ['x', 'y']\n[routers]\nr = {{}}\n\
             [links]\nx = {{ between = ['a.x', 'b.x'], rate = '10 Mbit/s', delay = '10 ms' }}\n\
             y = {{ between = ['a.y', 'r'], rate = '30 Mbit/s', delay = '2 ms' }}\n\
             z = {{ between = ['r', 'b.y'], rate = '50 Mbit/s', delay = '30 ms' }}\n\
             [flows.f]\nfrom = 'a.x'\nto = 'b.x'\nprotocol = '{protocol}'\n"
        );
        let document = Document::parse(Path::new("s.toml"), text).expect("good TOML");
        Scenario::read(&document).map_err(|problems| format!("{problems}"))
    }

    fn buffers(protocol: &str, tcp: &str) -> (ReceiveBuffer, SendBuffer) {
        match &scenario(protocol, tcp).expect("a good scenario").flows[0].protocol {
            Protocol::Tcp(ends) => (ends.to.config.receive_buffer, ends.from.config.send_buffer),
            Protocol::Mptcp(mptcp) => (mptcp.ends.to.tcp.receive_buffer, mptcp.ends.from.tcp.send_buffer),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_product_is_that_of_all_paths_of_the_flow() {
        let both = "{ receive_buffer = '2 bdp', send_buffer = '0.5 bdp' }";
        // 40 Mbit/s in 64 ms are 320 kB; the single path has 10 Mbit/s and 20 ms.
        assert_eq!(buffers("mptcp", both), (ReceiveBuffer::Fixed(640_000), SendBuffer::Fixed(160_000)));
        assert_eq!(buffers("tcp", both), (ReceiveBuffer::Fixed(50_000), SendBuffer::Fixed(12_500)));
    }

    #[test]
    fn paths_without_a_rate_or_with_too_little_have_no_such_buffer() {
        let small = scenario("tcp", "{ receive_buffer = '0.01 bdp' }").expect_err("250 bytes");
        assert!(small.contains("found 250 bytes, 0.01 bdp of 10 Mbit/s and 20 ms"), "{small}");
        let wrong = scenario("tcp", "{ receive_buffer = '2 bpd' }").expect_err("no unit");
        assert!(wrong.contains("bdp"), "the message says what may stand there: {wrong}");
    }
}
