//! A path between both hosts: delay, rate, queue, loss, reordering, duplicates, marks, damage.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use rand_core::RngCore;
use rand_pcg::Pcg64Mcg;
use subflow_quantity::{Duration, Instant};
use subflow_wire::Ecn;

use crate::node::Datagram;

/// What a path does, in each direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Conditions {
    pub(crate) delay: Duration,
    /// Bytes per millisecond.
    pub(crate) rate: u64,
    /// The longest time in the queue.
    pub(crate) queue: Duration,
    /// Datagrams of 1000 that are lost, delivered twice, delayed so that others pass them, marked, and damaged.
    pub(crate) lost: u32,
    pub(crate) twice: u32,
    pub(crate) late: u32,
    pub(crate) marked: u32,
    pub(crate) damaged: u32,
    /// Between these times nothing passes.
    pub(crate) down: Option<(Instant, Instant)>,
    /// Whether Retry packets are never damaged. Clients of quinn-proto and noq-proto take a damaged one for the server's first
    /// packet, and no other after it (`total_authed_packets` in their `connection/mod.rs`).
    pub(crate) spares_retry: bool,
}

/// The largest datagram that passes.
const MTU: usize = 1500 - 28;

/// The addresses of path `path`: those of the client and of the server.
pub(crate) fn addresses(path: u8) -> [SocketAddr; 2] {
    [(1, 50_000), (2, 443)].map(|(host, port)| (Ipv4Addr::new(10, 0, path, host), port).into())
}

/// The path of a datagram, which its destination tells: a host may leave its source open.
pub(crate) fn path_of(datagram: &Datagram) -> usize {
    match datagram.to.ip() {
        IpAddr::V4(address) => address.octets()[2].into(),
        IpAddr::V6(_) => usize::MAX,
    }
}

/// The form and the type of a Retry packet in its first byte.
const RETRY: u8 = 0xf0;

/// One direction of a path.
#[derive(Clone, Debug)]
pub(crate) struct Direction {
    conditions: Conditions,
    free_at: Instant,
    random: Pcg64Mcg,
}

/// What has become of datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fates {
    pub(crate) sent: u64,
    pub(crate) lost: u64,
    pub(crate) late: u64,
    pub(crate) twice: u64,
    pub(crate) damaged: u64,
}

impl Direction {
    pub(crate) fn new(conditions: Conditions, random: Pcg64Mcg) -> Self {
        Self { conditions, free_at: Instant::ZERO, random }
    }

    fn happens(&mut self, per_mille: u32) -> bool {
        self.random.next_u32() % 1000 < per_mille
    }

    /// When a datagram arrives, maybe more than once, maybe never. It may be marked.
    pub(crate) fn pass(&mut self, datagram: &mut Datagram, now: Instant, fates: &mut Fates) -> Vec<Instant> {
        let Conditions { delay, rate, queue, lost, twice, late, marked, damaged, down, spares_retry } =
            self.conditions.clone();
        fates.sent += 1;
        let begin = self.free_at.max(now);
        let is_down = down.is_some_and(|(from, until)| (from..until).contains(&now));
        let is_lost = self.happens(lost) || is_down || datagram.bytes.len() > MTU || begin.since(now) > queue;
        if is_lost {
            fates.lost += 1;
            return Vec::new();
        }
        self.free_at = begin + Duration::from_micros(datagram.bytes.len() as u64 * 1000 / rate);
        if self.happens(marked) && datagram.ecn != Ecn::NotEct {
            datagram.ecn = Ecn::CongestionExperienced;
        }
        if self.happens(damaged) {
            fates.damaged += 1;
            let place = self.random.next_u32() as usize % datagram.bytes.len();
            let bit = 1 << (self.random.next_u32() % 8);
            let is_spared = spares_retry && datagram.bytes[0] & 0xf0 == RETRY;
            datagram.bytes[place] ^= if is_spared { 0 } else { bit };
        }
        let mut arrivals = vec![self.free_at + delay];
        if self.happens(late) {
            fates.late += 1;
            arrivals[0] += Duration::from_micros(u64::from(self.random.next_u32() % 20_000));
        }
        if self.happens(twice) {
            fates.twice += 1;
            arrivals.push(arrivals[0] + Duration::from_micros(u64::from(self.random.next_u32() % 30_000)));
        }
        arrivals
    }
}
