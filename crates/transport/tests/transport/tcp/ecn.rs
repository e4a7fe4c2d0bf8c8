//! Explicit congestion notification between two hosts (RFC 3168), and DCTCP (RFC 8257).

use subflow_policy::congestion::{Algorithm, RecoveryState};
use subflow_transport::Endpoint;
use subflow_transport::tcp::config::EcnMode;
use subflow_wire::Ecn;
use subflow_wire::tcp::TcpFlags;

use crate::harness::tamper::{drop_data, drop_first, has_data, is_pure_ack, is_syn, is_syn_ack, mark_data};
use crate::harness::{CLIENT, Pair, Path, SERVER, Sent, Setup, algorithm, ms};

/// Hosts of which both request ECN.
fn both() -> Setup {
    Setup::tcp().both(|stack| stack.tcp.ecn = EcnMode::Request)
}

fn has(sent: &Sent, flags: TcpFlags) -> bool {
    sent.segment.flags.contains(flags)
}

/// The packets of `from` that carry `flag` and are no SYNs.
fn with_flag(pair: &Pair, from: usize, flag: TcpFlags) -> Vec<&Sent> {
    pair.log.iter().filter(|sent| sent.from == from && has(sent, flag) && !has(sent, TcpFlags::SYN)).collect()
}

#[test]
fn a_client_asks_a_server_agrees_and_new_data_alone_is_ecn_capable() {
    let mut pair = Setup::tcp().on(CLIENT, |stack| stack.tcp.ecn = EcnMode::Request).build();
    pair.tamper(drop_data(CLIENT, &[5]));
    pair.connect();
    pair.transfer(CLIENT, 100_000);
    pair.transfer(SERVER, 20_000);
    let retransmitted = pair.tcp(CLIENT).counters().retransmissions;
    assert!(pair.tcp(CLIENT).uses_ecn() && pair.tcp(SERVER).uses_ecn() && retransmitted > 0);
    let mut highest = [0; 2];
    for sent in &pair.log {
        let segment = &sent.segment;
        let end = segment.payload.stream_offset + u64::from(segment.payload.length);
        let is_new = has_data(segment) && end > highest[sent.from];
        highest[sent.from] = highest[sent.from].max(end);
        assert_eq!(sent.ecn, if is_new { Ecn::Ect0 } else { Ecn::NotEct }, "{sent:?}");
        let asks = (has(sent, TcpFlags::ECE), has(sent, TcpFlags::CWR));
        match (is_syn(segment), is_syn_ack(segment)) {
            (true, _) => assert_eq!(asks, (true, true)),
            (_, true) => assert_eq!(asks, (true, false)),
            _ => assert!(!asks.0, "nothing was marked"),
        }
    }
}

#[test]
fn without_the_agreement_of_both_nothing_is_ecn_capable() {
    for [client, server] in [
        [EcnMode::Accept, EcnMode::Accept],
        [EcnMode::Request, EcnMode::Off],
        [EcnMode::Accept, EcnMode::Request],
        [EcnMode::Dctcp, EcnMode::Off],
    ] {
        let setup = Setup::tcp().on(CLIENT, |stack| stack.tcp.ecn = client);
        let mut pair = setup.on(SERVER, |stack| stack.tcp.ecn = server).connected();
        pair.transfer(CLIENT, 50_000);
        assert!(!pair.tcp(CLIENT).uses_ecn() && !pair.tcp(SERVER).uses_ecn());
        let after = pair.log.iter().filter(|sent| !is_syn(&sent.segment));
        assert!(after.clone().all(|sent| sent.ecn == Ecn::NotEct), "{client:?} {server:?}");
        assert!(after.clone().all(|sent| !has(sent, TcpFlags::ECE) && !has(sent, TcpFlags::CWR)));
    }
}

#[test]
fn where_syns_that_ask_are_lost_the_next_one_does_not_ask() {
    let mut pair = both().build();
    pair.tamper(drop_first(usize::MAX, |leaving| leaving.segment.flags.contains(TcpFlags::ECE)));
    pair.connect();
    pair.run_until("established", |pair| pair.has_connection(SERVER));
    pair.transfer(CLIENT, 50_000);
    assert!(!pair.tcp(CLIENT).uses_ecn());
    assert_eq!(pair.tcp(CLIENT).syn_repeated(), 1);
}

#[test]
fn a_mark_is_echoed_until_the_reduction_is_announced_and_costs_half_the_window_and_no_packet() {
    let mut pair = both().path(0, Path::with_delay(ms(20))).connected();
    pair.tamper(mark_data(CLIENT, |number| number == 60));
    pair.transfer(CLIENT, 600_000);
    let client = pair.tcp(CLIENT).counters();
    assert_eq!((client.retransmissions, client.timeouts, client.recoveries), (0, 0, 0));
    assert_eq!(pair.tcp(SERVER).counters().ce_received, 1);
    let announced = with_flag(&pair, CLIENT, TcpFlags::CWR);
    assert_eq!(announced.len(), 1);
    assert!(has_data(&announced[0].segment) && announced[0].ecn == Ecn::Ect0);
    // ECE on every acknowledgment between the mark and the arrival of CWR, half a round trip after it was sent.
    let echoes = with_flag(&pair, SERVER, TcpFlags::ECE);
    let acks = pair.log.iter().filter(|sent| sent.from == SERVER && is_pure_ack(&sent.segment));
    let from_the_first = acks.skip_while(|sent| !has(sent, TcpFlags::ECE));
    assert_eq!(from_the_first.take_while(|sent| has(sent, TcpFlags::ECE)).count(), echoes.len());
    let last = echoes[echoes.len() - 1].at;
    assert!(last < announced[0].at + ms(25), "{last:?}");
}

#[test]
fn all_marks_of_a_window_cost_one_reduction() {
    let mut pair = both().path(0, Path::with_delay(ms(20))).connected();
    pair.transfer(CLIENT, 200_000);
    pair.tamper(mark_data(CLIENT, |number| number < 30));
    pair.write(CLIENT, 1_000_000);
    let mut largest = 0;
    while with_flag(&pair, CLIENT, TcpFlags::CWR).is_empty() && pair.step() {
        largest = largest.max(pair.cwnd(CLIENT, 0));
    }
    pair.run_for(ms(200));
    assert_eq!(with_flag(&pair, CLIENT, TcpFlags::CWR).len(), 1);
    assert_eq!(pair.tcp(SERVER).counters().ce_received, 30);
    let Endpoint::Tcp(tcp) = pair.endpoint(CLIENT) else { panic!("plain TCP") };
    let path = tcp.congestion().path(0);
    assert_eq!(path.ssthresh(), largest / 2);
}

#[test]
fn marks_that_go_on_reduce_the_window_once_per_round_trip() {
    let mut pair = both().path(0, Path::with_delay(ms(20))).connected();
    pair.tamper(mark_data(CLIENT, |number| number >= 100));
    pair.transfer(CLIENT, 1_000_000);
    let announced = with_flag(&pair, CLIENT, TcpFlags::CWR);
    let times: Vec<_> = announced.iter().map(|sent| sent.at).collect();
    assert!(times.len() >= 4, "{times:?}");
    assert!(times.windows(2).all(|pair| pair[1].since(pair[0]) >= ms(40)), "{times:?}");
    assert_eq!(pair.tcp(CLIENT).counters().retransmissions, 0);
}

#[test]
fn a_reduction_after_a_loss_is_announced_too() {
    let mut pair = both().path(0, Path::with_delay(ms(20))).connected();
    pair.tamper(drop_data(CLIENT, &[50]));
    pair.transfer(CLIENT, 600_000);
    assert_eq!(pair.tcp(CLIENT).counters().recoveries, 1);
    assert_eq!(with_flag(&pair, CLIENT, TcpFlags::CWR).len(), 1);
}

#[test]
fn subflows_of_mptcp_negotiate_and_answer_marks_each_for_itself() {
    let setup = Setup::mptcp(2, 1).both(|stack| stack.tcp.ecn = EcnMode::Request);
    let mut pair = setup.connected();
    pair.transfer(CLIENT, 5000);
    pair.settle();
    assert_eq!(pair.established_subflows(CLIENT), 2);
    pair.tamper(|leaving| {
        if leaving.path == 1 && *leaving.ecn == Ecn::Ect0 {
            *leaving.ecn = Ecn::CongestionExperienced;
        }
        crate::harness::Fate::Pass
    });
    pair.transfer(CLIENT, 1_000_000);
    let announced = with_flag(&pair, CLIENT, TcpFlags::CWR);
    assert!(!announced.is_empty() && announced.iter().all(|sent| sent.path == 1));
    assert!(pair.cwnd(CLIENT, 1) < pair.cwnd(CLIENT, 0));
}

/// The fraction of marks that DCTCP of the client knows.
fn fraction(pair: &Pair) -> f64 {
    let Endpoint::Tcp(tcp) = pair.endpoint(CLIENT) else { panic!("plain TCP") };
    let Algorithm::Dctcp(dctcp) = tcp.congestion().algorithm() else { panic!("DCTCP") };
    dctcp.marked_fraction(0)
}

#[test]
fn dctcp_learns_the_fraction_of_marks_and_keeps_most_of_its_window() {
    for (every, expected) in [(4, 0.25), (10, 0.1), (1, 1.0)] {
        let setup = Setup::tcp().both(|stack| {
            stack.tcp.ecn = EcnMode::Dctcp;
            stack.congestion = algorithm("dctcp");
        });
        let mut pair = setup.path(0, Path::with_delay(ms(5)).rate(100, 2000)).connected();
        pair.tamper(mark_data(CLIENT, move |number| number % every == 0));
        pair.transfer(CLIENT, 3_000_000);
        let found = fraction(&pair);
        assert!((found - expected).abs() < 0.05, "one of {every}: {found}");
        assert_eq!(pair.tcp(CLIENT).counters().retransmissions, 0);
        assert!(pair.log.iter().all(|sent| sent.ecn != Ecn::NotEct), "every packet is ECN-capable");
    }
}

#[test]
fn the_receiver_of_dctcp_reports_exactly_the_marked_bytes() {
    let setup = Setup::tcp().both(|stack| {
        stack.tcp.ecn = EcnMode::Dctcp;
        stack.congestion = algorithm("dctcp");
    });
    let mut pair = setup.path(0, Path::with_delay(ms(20)).rate(50, 1000)).connected();
    pair.transfer(CLIENT, 200_000);
    pair.log.clear();
    pair.tamper(mark_data(CLIENT, |number| (10..13).contains(&number) || number == 20));
    pair.write(CLIENT, 60 * 1448);
    pair.run_for(ms(500));
    let acks: Vec<_> = pair.log.iter().filter(|sent| sent.from == SERVER).collect();
    let reported: u32 = acks
        .windows(2)
        .filter(|pair| has(pair[1], TcpFlags::ECE))
        .map(|pair| pair[1].segment.acknowledgment.wrapping_sub(pair[0].segment.acknowledgment))
        .sum();
    assert_eq!(reported, 4 * 1448);
    assert_eq!(pair.tcp(CLIENT).counters().retransmissions, 0);
}

#[test]
fn with_alternative_backoff_a_mark_leaves_four_fifths_of_the_window() {
    let after_mark = |congestion: Algorithm| {
        let setup = both().both(|stack| stack.congestion = congestion.clone());
        let mut pair = setup.path(0, Path::with_delay(ms(20))).connected();
        pair.tamper(mark_data(CLIENT, |number| number == 60 || number == 400));
        pair.transfer(CLIENT, 900_000);
        let Endpoint::Tcp(tcp) = pair.endpoint(CLIENT) else { panic!("plain TCP") };
        assert_eq!(tcp.congestion().path(0).state(), RecoveryState::Open);
        tcp.congestion().path(0).ssthresh()
    };
    use subflow_policy::catalogue::{Catalogue, Value};
    let abe = algorithm("reno").with("abe", Value::Boolean(true)).expect("it has the option");
    let (with, without) = (after_mark(abe), after_mark(algorithm("reno")));
    assert!(10 * with >= 15 * without && 10 * with <= 17 * without, "{with} {without}");
}
