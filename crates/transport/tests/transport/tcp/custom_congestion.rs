//! A congestion control of another crate that is no variant of Reno: it dictates window and rate in every state.

use subflow_policy::congestion::{
    Ack, Algorithm, CongestionControl, DeliverySample, Loss, Outstanding, Path, RecoveryState, Timeout,
};
use subflow_quantity::Instant;
use subflow_transport::Endpoint;

use crate::harness::tamper::{drop_all, drop_data, has_data};
use crate::harness::{CLIENT, Pair, SERVER, Setup, ms, secs};

/// The window that it sets with every sample.
const WINDOW: u32 = 30;
/// The rate that it dictates.
const RATE: u64 = 1_234_567;

/// Sets its window with every sample, and lets no event change it.
#[derive(Clone, Debug, Default)]
struct Dictator {
    delivered: u64,
}

impl CongestionControl for Dictator {
    fn on_delivered(&mut self, paths: &mut [Path], path: usize, sample: &DeliverySample) {
        assert!(sample.delivered >= self.delivered + u64::from(sample.ack.acked), "{sample:?}");
        self.delivered = sample.delivered;
        paths[path].set_cwnd(WINDOW);
    }
    fn on_ack(&mut self, _paths: &mut [Path], _path: usize, _ack: &Ack) {
        unreachable!("only the default on_delivered calls it");
    }
    fn ssthresh_after_loss(&mut self, _paths: &[Path], _path: usize, _now: Instant) -> u32 {
        unreachable!("only the default bodies call it");
    }
    fn enter_recovery(&mut self, _paths: &mut [Path], _path: usize, _loss: &Loss) {}
    fn leave_recovery(&mut self, _paths: &mut [Path], _path: usize) {}
    fn on_timeout(&mut self, _paths: &mut [Path], _path: usize, _timeout: &Timeout) {}
    fn undo(&mut self, _paths: &mut [Path], _path: usize) {}
    fn restart_after_idle(&mut self, _paths: &mut [Path], _path: usize, _timeouts: u32) {}
    fn on_application_limited(&mut self, _paths: &mut [Path], _path: usize, _used: u32) {}
    fn pacing_rate(&self, _paths: &[Path], _path: usize, _outstanding: Outstanding) -> Option<u64> {
        Some(RATE)
    }
}

/// A connection whose first transfer has made the window its own.
fn connected() -> Pair {
    let congestion = Algorithm::Custom("dictator".into(), Box::new(Dictator::default()));
    let mut pair = Setup::tcp().both(|stack| stack.congestion = congestion.clone()).connected();
    pair.transfer(CLIENT, 100_000);
    assert_eq!(window(&pair), (WINDOW, RecoveryState::Open));
    pair
}

fn window(pair: &Pair) -> (u32, RecoveryState) {
    let Endpoint::Tcp(tcp) = pair.endpoint(CLIENT) else { panic!("plain TCP") };
    let path = tcp.congestion().path(0);
    assert_eq!(path.ssthresh(), Path::INFINITE, "no rule has set it");
    (path.cwnd(), path.state())
}

/// Runs until the server has `total` bytes and returns the recovery states on the way; the window never changes.
fn states_until(pair: &mut Pair, total: u64) -> Vec<RecoveryState> {
    let mut states = Vec::new();
    while pair.received(SERVER) < total && pair.step() {
        let (cwnd, state) = window(pair);
        assert_eq!(cwnd, WINDOW, "{state:?}");
        states.push(state);
    }
    assert_eq!(pair.received(SERVER), total);
    states
}

#[test]
fn it_keeps_its_window_through_fast_recovery() {
    let mut pair = connected();
    pair.tamper(drop_data(CLIENT, &[5, 6]));
    pair.write(CLIENT, 200_000);
    let states = states_until(&mut pair, 300_000);
    assert!(states.contains(&RecoveryState::Recovery) && pair.tcp(CLIENT).counters().recoveries > 0);
    assert_eq!(window(&pair).0, WINDOW);
}

#[test]
fn it_keeps_its_window_through_timeouts() {
    let mut pair = connected();
    pair.tamper(drop_all(|leaving| leaving.from == CLIENT && has_data(leaving.segment)));
    pair.write(CLIENT, 50_000);
    pair.run_for(secs(2));
    assert_eq!(window(&pair), (WINDOW, RecoveryState::Loss));
    assert!(pair.tcp(CLIENT).counters().timeouts > 1);
    pair.stop_tampering();
    assert!(states_until(&mut pair, 150_000).contains(&RecoveryState::Loss));
}

#[test]
fn it_keeps_its_window_through_idle_times_and_unused() {
    let mut pair = connected();
    pair.run_for(secs(10));
    pair.write(CLIENT, 100_000);
    states_until(&mut pair, 200_000);
    for segment in 1..=50 {
        pair.write(CLIENT, 1448);
        states_until(&mut pair, 200_000 + 1448 * segment);
        pair.run_for(ms(100));
    }
}

#[test]
fn its_rate_is_the_connections() {
    let pair = connected();
    let Endpoint::Tcp(tcp) = pair.endpoint(CLIENT) else { panic!("plain TCP") };
    assert_eq!(tcp.connection().pacing_rate(tcp.congestion()), RATE);
}
