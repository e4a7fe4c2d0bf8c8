//! Pacing, delivery-rate samples, and BBR, which needs both.

use subflow_policy::congestion::PathModel;
use subflow_quantity::{Duration, Instant};
use subflow_transport::Endpoint;
use subflow_transport::tcp::config::Pacing;

use crate::harness::tamper::drop_data;
use crate::harness::{CLIENT, Pair, Path, SERVER, Setup, algorithm, ms, secs};

/// BBR over 20 Mbit/s with 10 ms each way and a queue of `queue` packets.
fn bbr(queue: usize) -> Pair {
    let setup = Setup::tcp().path(0, Path::with_delay(ms(10)).rate(20, queue));
    setup.both(|stack| stack.congestion = algorithm("bbr")).connected()
}

fn model(pair: &Pair) -> PathModel {
    let Endpoint::Tcp(tcp) = pair.endpoint(CLIENT) else { panic!("plain TCP") };
    tcp.congestion().model(0, 1448).expect("BBR has a model")
}

/// The times at which data left since `since`.
fn departures(pair: &Pair, since: Instant) -> Vec<Instant> {
    pair.sent(CLIENT, since).filter(|sent| sent.segment.payload.length > 0).map(|sent| sent.at).collect()
}

fn gaps(departures: &[Instant]) -> Vec<Duration> {
    departures.windows(2).map(|pair| pair[1].since(pair[0])).collect()
}

#[test]
fn pacing_spaces_all_but_the_first_ten_packets_by_half_a_round_trip_per_window() {
    let setup = Setup::tcp().both(|stack| stack.tcp.pacing = Pacing::Internal);
    let mut pair = setup.connected();
    let begin = pair.now();
    pair.write(CLIENT, 60_000);
    pair.run_for(ms(200));
    let gaps = gaps(&departures(&pair, begin));
    assert!(gaps[..9].iter().all(|gap| gap.is_zero()), "{gaps:?}");
    // 500 us at a window of 20, 350 at 29; after a pause, half of it.
    assert!(gaps[9..].iter().all(|gap| *gap >= Duration::from_micros(230)), "{gaps:?}");
    assert_eq!(pair.received(SERVER), 60_000);
    let mut unpaced = Setup::tcp().connected();
    let begin = unpaced.now();
    unpaced.transfer(CLIENT, 60_000);
    let at_once = self::gaps(&departures(&unpaced, begin)).iter().filter(|gap| gap.is_zero()).count();
    assert!(at_once > 25, "what a window admits leaves at once: {at_once}");
}

#[test]
fn bbr_keeps_a_link_full_with_a_small_queue() {
    let mut pair = bbr(1000);
    pair.write(CLIENT, 100_000_000);
    pair.run_for(secs(2));
    let (before, begin) = (pair.received(SERVER), pair.now());
    pair.run_for(secs(5));
    let share = (pair.received(SERVER) - before) as f64 * 8.0 / 5.0 / (20e6 * 1448.0 / 1500.0);
    assert!(share > 0.97, "{share} of the link");
    let srtt = pair.tcp(CLIENT).rtt().srtt().expect("samples");
    assert!(srtt < ms(29), "a queue of {srtt:?} and 20 ms");
    let bandwidth = model(&pair).bandwidth as f64 / (20e6 / 8.0 * 1448.0 / 1500.0);
    assert!((0.98..1.02).contains(&bandwidth), "{bandwidth} of the link");
    let departures = departures(&pair, begin);
    let zero = gaps(&departures).iter().filter(|gap| gap.is_zero()).count();
    assert!(zero * 100 < departures.len(), "{zero} of {} packets left with another one", departures.len());
}

#[test]
fn bbr_repairs_losses_at_its_pace_and_keeps_its_estimate() {
    let mut pair = bbr(1000);
    pair.tamper(drop_data(CLIENT, &[400, 401, 402, 410, 800]));
    pair.write(CLIENT, 4_000_000);
    pair.run_until("all is there", |pair| pair.received(SERVER) == 4_000_000);
    let counters = pair.tcp(CLIENT).counters();
    assert!(counters.recoveries >= 1 && counters.retransmissions >= 5 && counters.timeouts == 0, "{counters:?}");
    let bandwidth = model(&pair).bandwidth as f64 / (20e6 / 8.0 * 1448.0 / 1500.0);
    assert!((0.95..1.05).contains(&bandwidth), "{bandwidth} of the link");
}

#[test]
fn an_application_that_sends_little_does_not_lower_the_estimate() {
    let mut pair = bbr(1000);
    pair.transfer(CLIENT, 4_000_000);
    let before = model(&pair).bandwidth;
    for _ in 0..40 {
        pair.transfer(CLIENT, 3 * 1448);
        pair.run_for(ms(50));
    }
    let after = model(&pair).bandwidth;
    assert!((before..before * 21 / 20).contains(&after), "{after} after {before}");
}

#[test]
fn without_a_queue_to_speak_of_bbr_still_fills_the_link() {
    let mut pair = bbr(15);
    pair.write(CLIENT, 100_000_000);
    pair.run_for(secs(2));
    let before = pair.received(SERVER);
    pair.run_for(secs(5));
    let share = (pair.received(SERVER) - before) as f64 * 8.0 / 5.0 / (20e6 * 1448.0 / 1500.0);
    assert!(share > 0.95, "{share} of the link");
}
