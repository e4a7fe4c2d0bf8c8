//! WiFi channels: to the microsecond with one and two stations, and against the published models of many.

use proptest::prelude::*;
use subflow_network::{InterfaceId, LinkConfig, LinkId, Network, QueueConfig, RouterMode, Service, TopologyBuilder};
use subflow_network::{WifiConfig, WifiStandard};
use subflow_quantity::{Duration, Instant, Rate};

use crate::support::random_network::scenario;
use crate::support::{Pair, Recorder, ms, send};

/// Stations with a link each to an access point, behind which is a server.
struct Cell {
    network: Network,
    stations: Vec<InterfaceId>,
    server: InterfaceId,
    hosts: Recorder,
}

impl Cell {
    fn new(stations: &[WifiConfig], seed: u64) -> Self {
        let mut topology = TopologyBuilder::new();
        let server = topology.host("server");
        let server = topology.interface(server, "eth");
        let ap = topology.router("ap", RouterMode::ShortestPath);
        topology.link("wire", ap, server, LinkConfig::default(), LinkConfig::default());
        let mut interfaces = Vec::new();
        for (number, config) in stations.iter().enumerate() {
            let host = topology.host(&format!("station{number}"));
            let interface = topology.interface(host, "wifi");
            topology.link(&format!("air{number}"), interface, ap, over(config), over(config));
            interfaces.push(interface);
        }
        let network = topology.build(seed).expect("a valid topology");
        Self { network, stations: interfaces, server, hosts: Recorder::default() }
    }

    /// All stations send from the start on, more packets than they can; returns how many of each arrive per second.
    fn saturate(mut self, bytes: u32, packets: u32, seconds: u64) -> Vec<f64> {
        for (number, station) in self.stations.iter().enumerate() {
            (0..packets).for_each(|_| send(&mut self.network, *station, self.server, number as u32, bytes));
        }
        self.network.run_until(&mut self.hosts, ms(1000 * seconds));
        let numbers = self.hosts.numbers();
        let count = |number: usize| numbers.iter().filter(|&&of| of as usize == number).count();
        let arrived: Vec<usize> = (0..self.stations.len()).map(count).collect();
        assert!(arrived.iter().all(|arrived| *arrived < packets as usize), "all have packets until the end");
        arrived.into_iter().map(|arrived| arrived as f64 / seconds as f64).collect()
    }
}

fn over(config: &WifiConfig) -> LinkConfig {
    let service = Service::Wifi(Box::new(config.clone()));
    LinkConfig { service, queue: QueueConfig::default(), ..LinkConfig::default() }
}

/// 802.11n at 65 Mbit/s.
fn n65() -> WifiConfig {
    WifiConfig::new("home", WifiStandard::N, Rate::from_mbit(65))
}

const MICROSECOND: u64 = 1000;

#[test]
fn an_aggregate_has_what_waits_when_its_transmission_begins() {
    let mut pair = Pair::new(over(&n65()));
    pair.burst(0, 1);
    pair.run_until(Instant::ZERO + Duration::from_micros(10));
    pair.burst(1, 3);
    pair.run_until(ms(10));
    // SIFS of 16 µs and three slots of 9 µs; four frames of 4 + 1538 bytes, to multiples of 4: 6176 bytes are 191 symbols.
    assert_eq!(pair.hosts.times(), [(43 + 36 + 191 * 4) * MICROSECOND; 4]);
    assert_eq!(pair.network.link_metrics(pair.link).busy, Duration::from_micros(36 + 191 * 4));
    assert_eq!(pair.network.link_metrics(pair.link).max_queue, 4);
}

#[test]
fn a_packet_alone_has_a_plain_acknowledgment_and_the_station_waits_again_afterwards() {
    let mut pair = Pair::new(over(&WifiConfig { most_frames: 1, ..n65() }));
    pair.burst(0, 50);
    pair.run_until(ms(100));
    let times = pair.hosts.times();
    let frame = 36 + 48 * 4;
    assert_eq!(times[0], (43 + frame) * MICROSECOND);
    // SIFS and an acknowledgment of 28 µs, SIFS and AIFS, a backoff of 0 to 15 slots, and the next frame.
    let slots: Vec<u64> = times.windows(2).map(|pair| (pair[1] - pair[0]) / MICROSECOND - (44 + 43 + frame)).collect();
    assert!(slots.iter().all(|slots| slots % 9 == 0 && slots / 9 <= 15), "{slots:?}");
    let mean = slots.iter().sum::<u64>() as f64 / 9.0 / slots.len() as f64;
    assert!((mean - 7.5).abs() < 4.0 * 4.61 / 7.0, "{mean} slots");
}

#[test]
fn aggregates_keep_their_limits_and_what_waits_is_sent_in_order() {
    let arrivals = |config: WifiConfig| {
        let mut pair = Pair::new(over(&config));
        pair.burst(0, 100);
        pair.run_until(ms(500));
        assert!(pair.hosts.numbers().is_sorted());
        let times = pair.hosts.times();
        times.chunk_by(|a, b| a == b).map(<[u64]>::len).collect::<Vec<_>>()
    };
    // The first packet comes to a station without others, and the rest at the same instant: none is sent before.
    assert_eq!(arrivals(WifiConfig { most_bytes: 1_000_000, longest: Duration::from_secs(1), ..n65() }), [64, 36]);
    // 65535 bytes have 42 frames of 1544 bytes, but 5.484 ms at 65 Mbit/s are 1362 symbols of 260 bits: 28.
    assert_eq!(arrivals(WifiConfig { longest: Duration::from_secs(1), ..n65() }), [42, 42, 16]);
    assert_eq!(arrivals(n65()), [28, 28, 28, 16]);
}

/// Equations (7) to (14) of Bianchi, *Performance Analysis of the IEEE 802.11 Distributed Coordination Function*, JSAC 2000:
/// the saturation throughput of `n` stations as a share of the rate. `w` is the first window, 2^m times that the last.
/// The times are those of its table II, in bits at 1 Mbit/s.
fn bianchi(n: i32, w: f64, m: i32) -> f64 {
    let tau = |p: f64| 2.0 / (1.0 + w + p * w * (0..m).map(|k| (2.0 * p).powi(k)).sum::<f64>());
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..100 {
        let p = (low + high) / 2.0;
        if 1.0 - (1.0 - tau(p)).powi(n - 1) > p { low = p } else { high = p }
    }
    let tau = tau(low);
    let (headers, payload, ack) = (272.0 + 128.0, 8184.0, 112.0 + 128.0);
    let (slot, sifs, difs) = (50.0, 28.0, 128.0);
    let (success, collision) = (headers + payload + sifs + ack + difs, headers + payload + difs);
    let any = 1.0 - (1.0 - tau).powi(n);
    let one = f64::from(n) * tau * (1.0 - tau).powi(n - 1) / any;
    one * any * payload / ((1.0 - any) * slot + any * one * success + any * (1.0 - one) * collision)
}

#[test]
fn many_stations_have_the_saturation_throughput_of_bianchis_model() {
    for (cw_min, cw_max, m) in [(31, 255, 3), (31, 1023, 5), (127, 1023, 3)] {
        for n in [1usize, 2, 5, 10, 20, 50] {
            let mut config = WifiConfig::new("air", WifiStandard::Fhss, Rate::from_mbit(1));
            // As in the model, frames are repeated until they arrive, and stations wait for DIFS after collisions, too.
            (config.contention.cw_min, config.contention.cw_max) = (cw_min, cw_max);
            (config.contention.attempts, config.contention.eifs) = (u32::MAX, false);
            // With 36 bytes of headers a frame has the 1057 bytes of the model's.
            let arrived = Cell::new(&vec![config; n], 1).saturate(1021, 20_000 / n as u32, 100);
            let share = arrived.iter().sum::<f64>() * 8184e-6;
            let expected = bianchi(n as i32, f64::from(cw_min + 1), m);
            let deviation = 100.0 * (share / expected - 1.0);
            println!("W = {}, m = {m}, n = {n}: {share:.4}, model {expected:.4}, {deviation:+.2} %", cw_min + 1);
            assert!(deviation.abs() < 2.0, "W = {}, m = {m}, n = {n}: {share}, not {expected}", cw_min + 1);
        }
    }
}

#[test]
fn a_slow_station_slows_all_of_802_11b_down_to_its_rate() {
    // Heusse, Rousseau, Berger-Sabbatel, Duda: Performance anomaly of 802.11b, INFOCOM 2003. The stations have the same
    // chance to send, so that they have the same throughput, whatever their rates: one frame each in a round.
    let station = |mbit| {
        let mut config = WifiConfig::new("hot spot", WifiStandard::B, Rate::from_mbit(mbit));
        config.control_rate = Rate::from_mbit(11);
        config
    };
    let throughput = |stations: &[u64]| {
        let configs: Vec<WifiConfig> = stations.iter().map(|mbit| station(*mbit)).collect();
        Cell::new(&configs, 1).saturate(1500, 80_000, 100)
    };
    // The overhead, with 36 bytes of headers, and the data of a frame, in µs.
    let time = |mbit: f64| {
        let preamble = if mbit <= 1.0 { 192.0 } else { 96.0 };
        50.0 + preamble + 1536.0 * 8.0 / mbit + 10.0 + preamble + 112.0 / mbit
    };
    // Alone, a station waits for half of its window on average.
    let alone = throughput(&[11])[0];
    assert!((alone * (time(11.0) + 15.5 * 20.0) / 1e6 - 1.0).abs() < 0.01, "{alone} per second");
    for n in [2.0, 3.0, 4.0] {
        // The paper's section 3: a round has a frame of each, their backoff, and collisions, approximately.
        let (cw_min, slot) = (31.0_f64, 20.0);
        let collision = 1.0 - (1.0 - 1.0 / cw_min).powf(n - 1.0);
        let contention = slot * (1.0 + collision) / (2.0 * n) * cw_min / 2.0;
        let (fast, slow) = (time(11.0), time(1.0));
        let jam = 2.0 / n * slow + (1.0 - 2.0 / n) * fast;
        let round = (n - 1.0) * fast + slow + n * contention + collision * jam * n;
        let rates: Vec<u64> = (0..n as u64).map(|number| if number == 0 { 1 } else { 11 }).collect();
        let found = throughput(&rates);
        let mean = found.iter().sum::<f64>() / n;
        println!("{n} stations: {mean:.1} per second each, {:.1} by the paper", 1e6 / round);
        assert!(found.iter().all(|one| (one / mean - 1.0).abs() < 0.06), "all have the same: {found:?}");
        assert!((mean * round / 1e6 - 1.0).abs() < 0.03, "{mean}, a round has {round} µs");
    }
}

#[test]
fn an_access_point_is_one_station_and_sends_to_all_in_turn() {
    let config = WifiConfig { most_frames: 1, ..n65() };
    let mut cell = Cell::new(&vec![config; 5], 1);
    for number in 0..2000 {
        for station in 0..4 {
            send(&mut cell.network, cell.server, cell.stations[station], number, 1500);
        }
        for _ in 0..4 {
            send(&mut cell.network, cell.stations[4], cell.server, number, 1500);
        }
    }
    cell.network.run_until(&mut cell.hosts, ms(1000));
    let received =
        |at: InterfaceId| cell.hosts.arrivals.iter().filter(|(_, interface, _)| *interface == at).count() as f64;
    let down: Vec<f64> = cell.stations[..4].iter().map(|station| received(*station)).collect();
    let (up, sum) = (received(cell.server), down.iter().sum::<f64>());
    assert!(down.iter().all(|one| (one - sum / 4.0).abs() <= 1.0), "{down:?}");
    // Two stations with the same chances: four standard deviations of a binomial distribution.
    assert!((sum - up).abs() < 4.0 * (sum + up).sqrt(), "{sum} down and {up} up");
}

#[test]
fn after_the_last_attempt_a_packet_is_lost() {
    // Stations with a window of one slot collide always.
    let mut config = WifiConfig { most_frames: 1, ..n65() };
    (config.contention.cw_min, config.contention.cw_max, config.contention.attempts) = (0, 0, 4);
    let mut cell = Cell::new(&[config.clone(), config], 1);
    for station in 0..2 {
        (0..10).for_each(|number| send(&mut cell.network, cell.stations[station], cell.server, number, 1500));
    }
    cell.network.run_until(&mut cell.hosts, ms(100));
    assert_eq!(cell.hosts.arrivals, []);
    let lost: u64 = (0..cell.network.link_count())
        .map(LinkId::from_index)
        .map(|link| cell.network.link_metrics(link).dropped_loss)
        .sum();
    assert_eq!(lost, 20);
    // Attempts of a frame of 228 µs, EIFS and SIFS, AIFS: 331 µs apart, four for each packet.
    cell.network.run_until(&mut cell.hosts, ms(101));
    assert_eq!(cell.network.metrics().in_flight, 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn no_packet_is_lost_track_of_and_short_runs_are_one_run(scenario in scenario()) {
        let scenario = scenario.with_channels();
        let (outcome, _) = scenario.run(false, 1);
        let metrics = &outcome.network;
        prop_assert_eq!(
            metrics.transmitted + metrics.duplicated,
            metrics.delivered + metrics.dropped + metrics.in_flight
        );
        let elapsed = Duration::from_millis(100);
        prop_assert!(outcome.links.iter().all(|link| link.busy <= elapsed && link.mean_queue >= 0.0));
        prop_assert_eq!(scenario.run(true, 333).0, outcome);
    }
}
