//! The shares that flows, hosts and tins get of a link that is always busy.

use subflow_quantity::Rate;

use super::*;
use crate::queue::{Backlog, Codepoint, Head};

/// A flow that has as many packets waiting as it may: between two hosts, with packets of so many bytes.
#[derive(Clone, Copy)]
struct Sender {
    hosts: [u16; 2],
    dscp: u8,
    bytes: u32,
    waiting: usize,
}

const BULK: Sender = Sender { hosts: [1, 5], dscp: 0, bytes: 1500, waiting: 20 };

/// CAKE with these options on a link of 12 Mbit/s: a packet of 1500 bytes each millisecond.
struct Link {
    cake: Cake,
    backlog: Backlog<usize>,
    speed: Speed,
}

impl Link {
    fn new(isolation: Isolation, diffserv: Diffserv) -> Self {
        let mut cake = Cake { isolation, diffserv, ..Cake::default() };
        cake.fit(&Place::default()).expect("it fits everywhere");
        Self { cake, backlog: Backlog::default(), speed: Speed::Rate(Rate::from_mbit(12)) }
    }

    fn arrive(&mut self, number: usize, sender: Sender, at: Instant) {
        let Sender { hosts, dscp, bytes, .. } = sender;
        let flow = (number * 7919 % 65_536) as u16;
        let ecn = Codepoint::Ect0;
        let coming = Arrival { hosts, dscp, ecn, speed: self.speed, ..crate::queue::tests::arrival(at, flow, bytes) };
        self.cake.on_arrival(&coming);
        let queue = self.cake.queue_of(&coming);
        self.backlog.push(queue, Head { came: at, bytes, ecn }, number);
    }

    /// The part of the link's time that each of these gets in 20 s, and the longest wait of each.
    fn shares(mut self, senders: &[Sender]) -> (Vec<f64>, Vec<Duration>) {
        let (mut sent, mut longest) = (vec![0_u64; senders.len()], vec![Duration::ZERO; senders.len()]);
        let mut now = Instant::ZERO;
        for (number, &sender) in senders.iter().enumerate() {
            (0..sender.waiting).for_each(|_| self.arrive(number, sender, now));
        }
        let end = Instant::ZERO + Duration::from_secs(20);
        while now < end {
            let departed = self.backlog.depart(&mut self.cake, now, |_| panic!("all are marked")).expect("it is busy");
            let number = departed.packet;
            longest[number] = longest[number].max(now.since(departed.came));
            sent[number] += u64::from(senders[number].bytes);
            now += Rate::from_mbit(12).transmission_time(senders[number].bytes.into());
            self.arrive(number, senders[number], now);
        }
        let all = sent.iter().sum::<u64>() as f64;
        (sent.iter().map(|&bytes| bytes as f64 / all).collect(), longest)
    }
}

/// The sum of the shares of the first `count` flows.
fn of_first(count: usize, shares: &[f64]) -> f64 {
    shares[..count].iter().sum()
}

#[test]
fn a_host_with_eight_flows_gets_as_much_as_one_with_one_flow_where_hosts_share() {
    let mut senders = [BULK; 9];
    senders[8].hosts = [2, 9];
    for (isolation, of_eight) in [
        (Isolation::Triple, 0.5),
        (Isolation::DualSourceHost, 0.5),
        (Isolation::DualDestinationHost, 0.5),
        (Isolation::Hosts, 0.5),
        (Isolation::SourceHost, 0.5),
        (Isolation::Flows, 8.0 / 9.0),
    ] {
        let (shares, _) = Link::new(isolation, Diffserv::BestEffort).shares(&senders);
        assert!((of_first(8, &shares) - of_eight).abs() < 0.01, "{isolation:?}: {shares:?}");
        if !matches!(isolation, Isolation::Hosts | Isolation::SourceHost) {
            assert!(shares[..8].iter().all(|share| (share - of_eight / 8.0).abs() < 0.01), "{isolation:?}: {shares:?}");
        }
    }
}

#[test]
fn the_sizes_of_packets_do_not_matter() {
    let senders = [BULK, Sender { bytes: 300, waiting: 100, ..BULK }];
    let (shares, _) = Link::new(Isolation::Triple, Diffserv::BestEffort).shares(&senders);
    assert!((shares[0] - 0.5).abs() < 0.01, "{shares:?}");
}

#[test]
fn with_tins_voice_precedes_up_to_a_quarter_and_bulk_gets_a_sixteenth_beside_the_rest() {
    let tins = |diffserv, dscps: &[u8]| {
        let senders: Vec<_> = dscps.iter().map(|&dscp| Sender { dscp, ..BULK }).collect();
        Link::new(Isolation::Triple, diffserv).shares(&senders).0
    };
    let near = |shares: Vec<f64>, expected: &[f64]| {
        let is_near = shares.iter().zip(expected).all(|(share, expected)| (share - expected).abs() < 0.01);
        assert!(is_near, "{shares:?} instead of {expected:?}");
    };
    near(tins(Diffserv::Three, &[0, 46]), &[0.75, 0.25]);
    near(tins(Diffserv::Four, &[0, 34, 46]), &[0.25, 0.5, 0.25]);
    near(tins(Diffserv::Four, &[0, 8]), &[15.0 / 16.0, 1.0 / 16.0]);
    // One tin that is alone takes everything, whatever its share.
    near(tins(Diffserv::Four, &[8]), &[1.0]);
    near(tins(Diffserv::BestEffort, &[0, 46]), &[0.5, 0.5]);
}

#[test]
fn without_a_rate_tins_take_turns_by_their_shares() {
    let senders = [0, 34, 46].map(|dscp| Sender { dscp, ..BULK });
    let link = Link { speed: Speed::Mean(12e6), ..Link::new(Isolation::Triple, Diffserv::Four) };
    let (shares, _) = link.shares(&senders);
    let expected = [1024.0, 512.0, 256.0].map(|quantum| quantum / 1792.0);
    assert!(shares.iter().zip(expected).all(|(share, expected)| (share - expected).abs() < 0.01), "{shares:?}");
}

#[test]
fn a_flow_with_one_packet_at_a_time_waits_for_one_of_another_at_most() {
    let mut link = Link::new(Isolation::Triple, Diffserv::BestEffort);
    let thin = Sender { hosts: [2, 9], bytes: 100, ..BULK };
    (0..20).for_each(|_| (0..8).for_each(|number| link.arrive(number, BULK, Instant::ZERO)));
    let mut waits = Vec::new();
    for ms in 0..110 {
        let now = Instant::ZERO + Duration::from_millis(ms);
        // By then the others are no new flows any more.
        if ms > 10 && ms % 10 == 5 {
            link.arrive(8, thin, now);
        }
        let departed = link.backlog.depart(&mut link.cake, now, |_| {}).expect("it is busy");
        waits.extend((departed.packet == 8).then(|| now.since(departed.came)));
    }
    assert_eq!(waits, vec![Duration::ZERO; 10], "they are the next to be sent");
}

#[test]
fn at_the_limit_the_longest_queue_of_all_tins_loses_its_first_packet() {
    let mut link = Link::new(Isolation::Triple, Diffserv::Four);
    let voice = Sender { dscp: 46, ..BULK };
    (0..3).for_each(|_| link.arrive(0, BULK, Instant::ZERO));
    (0..5).for_each(|_| link.arrive(1, voice, Instant::ZERO));
    let coming = Arrival { hosts: [1, 5], ..crate::queue::tests::arrival(Instant::ZERO, 0, 1500) };
    let victim = link.cake.victim(&coming, link.backlog.waiting()).expect("somebody loses");
    let removed = link.backlog.remove(victim).expect("it has packets");
    assert_eq!((victim, removed.packet), (Victim::Head(number(3, 7919 % 1024)), 1));
}

#[test]
fn at_low_rates_the_target_is_a_packet_and_a_half_and_turns_are_short() {
    let mut cake = Cake::default();
    cake.fit(&Place::default()).expect("it fits everywhere");
    // 1 Mbit/s: a packet takes 12 ms, and a 4096th of a second's bytes are 30.
    cake.configure(Speed::Rate(Rate::from_mbit(1)));
    let (slow, turn) = cake.tins[0].parameters();
    assert_eq!((slow.target, slow.interval, slow.mtu_time, turn), (18_000_000, 113_000_000, 12_000_000, 300));
    cake.configure(Speed::Rate(Rate::from_mbit(100)));
    let (fast, turn) = cake.tins[0].parameters();
    assert_eq!((fast.target, fast.interval, fast.mtu_time, turn), (5_000_000, 100_000_000, 120_000, 1500));
}
