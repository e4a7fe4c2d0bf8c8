//! The congestion window: validated by use, restarted after idling (RFC 7661, RFC 5681, section 4.1).

use subflow_transport::tcp::config::AckPolicy;

use crate::harness::{CLIENT, Path, Setup, ms, secs};

#[test]
fn slow_start_doubles_the_window_every_round() {
    let setup = Setup::tcp().both(|stack| stack.tcp.ack_policy = AckPolicy::EverySegment);
    let mut pair = setup.connected();
    pair.fill_cwnd();
    for round in 1..5 {
        pair.run_for(ms(20));
        assert_eq!(pair.cwnd(CLIENT, 0), 10 << round);
        assert_eq!(pair.tcp(CLIENT).in_flight(), 10 << round);
    }
}

#[test]
fn an_application_that_sends_little_does_not_grow_its_window() {
    let mut pair = Setup::tcp().connected();
    for _ in 0..100 {
        pair.transfer(CLIENT, 3 * 1448);
        pair.run_for(ms(10));
    }
    assert!(pair.cwnd(CLIENT, 0) <= 12, "{}", pair.cwnd(CLIENT, 0));
}

#[test]
fn without_validation_it_does() {
    let mut pair = Setup::tcp().both(|stack| stack.tcp.window_validation = false).connected();
    for _ in 0..100 {
        pair.transfer(CLIENT, 3 * 1448);
        pair.run_for(ms(10));
    }
    assert!(pair.cwnd(CLIENT, 0) > 100);
}

#[test]
fn an_idle_time_brings_the_window_back_to_the_initial_one() {
    for restart in [true, false] {
        let setup = Setup::tcp().both(|stack| stack.tcp.slow_start_after_idle = restart);
        let mut pair = setup.connected();
        pair.transfer(CLIENT, 500_000);
        pair.run_for(ms(50));
        let before = pair.cwnd(CLIENT, 0);
        pair.run_for(secs(10));
        pair.write(CLIENT, 500_000);
        let after = pair.cwnd(CLIENT, 0);
        assert!(before > 100 && after == if restart { 10 } else { before }, "{before}, then {after}");
    }
}

#[test]
fn a_short_pause_halves_it_once_for_every_timeout_that_has_passed() {
    let mut pair = Setup::tcp().connected();
    pair.transfer(CLIENT, 500_000);
    pair.run_for(ms(50));
    let before = pair.cwnd(CLIENT, 0);
    pair.run_for(ms(300));
    pair.write(CLIENT, 500_000);
    assert_eq!(pair.cwnd(CLIENT, 0), before / 2);
}

#[test]
fn a_lone_flow_fills_its_link() {
    for name in ["reno", "cubic"] {
        let setup = Setup::tcp().both(|stack| stack.congestion = crate::harness::algorithm(name));
        let mut pair = setup.path(0, Path::with_delay(ms(10)).rate(20, 60)).connected();
        pair.keep_log = false;
        pair.transfer(CLIENT, 1_000_000);
        let took = pair.transfer(CLIENT, 20_000_000);
        let mbps = 20.0 * 8.0 / took.as_secs_f64();
        assert!(mbps > 0.99 * 20.0 * 1448.0 / 1500.0, "{name}: {mbps}");
    }
}
