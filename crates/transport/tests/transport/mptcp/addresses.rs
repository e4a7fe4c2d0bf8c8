//! ADD_ADDR, REMOVE_ADDR, addresses that go and come back (RFC 8684, section 3.4).

use std::net::IpAddr;

use subflow_policy::path_manager::MAX_SUBFLOWS;
use subflow_wire::tcp::mptcp::{AddAddress, MptcpOption};

use super::exchange_and_close;
use crate::harness::tamper::{delay_first, drop_all, has_data, is_pure_ack, is_syn};
use crate::harness::{CLIENT, Fate, Leaving, Pair, SERVER, Sent, Setup, ms, secs};

fn announcement(option: &MptcpOption) -> Option<&AddAddress> {
    match option {
        MptcpOption::AddAddress(announced) => Some(announced),
        _ => None,
    }
}

/// The announcements, or their echoes, that `from` sent.
fn announcements(pair: &Pair, from: usize, echo: bool) -> Vec<&Sent> {
    let wanted = |option: &MptcpOption| announcement(option).is_some_and(|a| a.truncated_hmac.is_none() == echo);
    pair.log.iter().filter(|sent| sent.from == from && sent.segment.options.mptcp.iter().any(wanted)).collect()
}

fn announces(leaving: &Leaving<'_>) -> bool {
    leaving.segment.options.mptcp.iter().any(|option| announcement(option).is_some())
}

fn with_data(setup: Setup) -> Pair {
    let mut pair = setup.connected();
    pair.transfer(CLIENT, 5000);
    pair.settle();
    pair
}

#[test]
fn a_server_announces_its_second_address_once_and_it_is_echoed() {
    let mut pair = with_data(Setup::mptcp(1, 2));
    pair.run_for(secs(10));
    assert_eq!(announcements(&pair, SERVER, false).len(), 1);
    assert_eq!(announcements(&pair, CLIENT, true).len(), 1);
    assert_eq!(pair.established_subflows(CLIENT), 2);
    exchange_and_close(&mut pair);
}

#[test]
fn an_announcement_without_echo_is_repeated_twice() {
    let mut pair = Setup::mptcp(1, 2).build();
    pair.tamper(drop_all(|leaving| leaving.from == SERVER && announces(leaving)));
    pair.connect();
    pair.write(CLIENT, 5000);
    pair.run_for(secs(30));
    assert_eq!(announcements(&pair, SERVER, false).len(), 3);
    assert_eq!(pair.established_subflows(CLIENT), 1);
    exchange_and_close(&mut pair);
}

#[test]
fn a_lost_echo_is_asked_for_again() {
    let mut pair = Setup::mptcp(1, 2).build();
    let mut lost = false;
    pair.tamper(move |leaving| {
        let first = leaving.from == CLIENT && announces(leaving) && !core::mem::replace(&mut lost, true);
        if first { Fate::Drop } else { Fate::Pass }
    });
    pair.connect();
    pair.write(CLIENT, 5000);
    pair.run_for(secs(30));
    // It is repeated on both subflows.
    assert_eq!((announcements(&pair, SERVER, false).len(), announcements(&pair, CLIENT, true).len()), (3, 3));
    assert_eq!(pair.established_subflows(CLIENT), 2, "the second announcement opens nothing more");
}

#[test]
fn a_forged_announcement_is_ignored() {
    let mut pair = Setup::mptcp(1, 2).build();
    pair.tamper(|leaving| {
        for option in &mut leaving.segment.options.mptcp {
            if let MptcpOption::AddAddress(AddAddress { truncated_hmac: Some(hmac), .. }) = option {
                *hmac ^= 1;
            }
        }
        Fate::Pass
    });
    pair.connect();
    pair.write(CLIENT, 5000);
    pair.run_for(secs(5));
    assert_eq!(pair.established_subflows(CLIENT), 1);
    assert!(announcements(&pair, CLIENT, true).is_empty());
}

#[test]
fn a_lost_address_is_withdrawn_on_another_and_its_subflow_is_gone_on_both_sides() {
    for index in [0, 1] {
        let mut pair = with_data(Setup::mptcp(2, 1));
        pair.write(CLIENT, 2_000_000);
        pair.run_for(ms(30));
        pair.lose_address(CLIENT, index);
        pair.run_for(ms(100));
        assert_eq!((pair.established_subflows(CLIENT), pair.established_subflows(SERVER)), (1, 1), "address {index}");
        pair.run_until("the data", |pair| pair.received(SERVER) == 2_005_000);
        exchange_and_close(&mut pair);
    }
}

#[test]
fn an_address_that_comes_back_is_used_again() {
    let mut pair = with_data(Setup::mptcp(2, 2));
    for round in 0..3 {
        pair.write(CLIENT, 1_000_000);
        pair.run_for(ms(30));
        pair.lose_address(CLIENT, 1);
        pair.run_for(ms(200));
        assert_eq!(pair.established_subflows(CLIENT), 2, "round {round}");
        pair.regain_address(CLIENT, 1);
        pair.run_for(ms(500));
        assert_eq!((pair.established_subflows(CLIENT), pair.established_subflows(SERVER)), (4, 4), "round {round}");
    }
    pair.run_until("the data", |pair| pair.received(SERVER) == 3_005_000);
    exchange_and_close(&mut pair);
}

#[test]
fn a_server_that_gains_an_address_is_joined_there() {
    let mut pair = with_data(Setup::mptcp(1, 2));
    pair.lose_address(SERVER, 1);
    pair.run_for(ms(200));
    assert_eq!((pair.established_subflows(CLIENT), pair.established_subflows(SERVER)), (1, 1));
    pair.regain_address(SERVER, 1);
    pair.settle();
    assert_eq!((pair.established_subflows(CLIENT), pair.established_subflows(SERVER)), (2, 2));
    exchange_and_close(&mut pair);
}

/// A subflow is known to the client by the identifier in its SYN/ACK: that must be the one that was announced.
#[test]
fn an_address_that_returns_has_the_identifier_that_was_announced() {
    let mut pair = with_data(Setup::mptcp(1, 3));
    pair.lose_address(SERVER, 1);
    pair.settle();
    pair.regain_address(SERVER, 1);
    pair.settle();
    assert_eq!(pair.established_subflows(CLIENT), 3);
    pair.lose_address(SERVER, 2);
    pair.settle();
    assert_eq!((pair.established_subflows(CLIENT), pair.established_subflows(SERVER)), (2, 2));
    exchange_and_close(&mut pair);
}

/// The REMOVE_ADDR arrives when the subflow from the address that has returned is established.
#[test]
fn a_late_withdrawal_does_not_close_the_subflow_of_an_address_that_has_returned() {
    for lost in [0, 1] {
        let mut pair = with_data(Setup::mptcp(2, 1));
        let withdraws = |option: &MptcpOption| matches!(option, MptcpOption::RemoveAddress(_));
        pair.tamper(delay_first(secs(1), move |leaving| leaving.segment.options.mptcp.iter().any(withdraws)));
        pair.lose_address(CLIENT, lost);
        pair.regain_address(CLIENT, lost);
        pair.run_for(secs(5));
        assert_eq!((pair.established_subflows(CLIENT), pair.established_subflows(SERVER)), (2, 2), "address {lost}");
        exchange_and_close(&mut pair);
    }
}

#[test]
fn a_host_may_have_more_addresses_than_there_are_identifiers() {
    let mut setup = Setup::mptcp(1, 1);
    setup.addresses[CLIENT] = (0..300u16).map(|n| IpAddr::from([10, 1, (n >> 8) as u8, n as u8])).collect();
    setup.paths = vec![setup.paths[0].clone(); 300];
    let mut pair = with_data(setup);
    assert_eq!(pair.established_subflows(CLIENT), MAX_SUBFLOWS);
    pair.lose_address(CLIENT, 299);
    pair.regain_address(CLIENT, 299);
    exchange_and_close(&mut pair);
}

#[test]
fn without_any_address_the_connection_waits_for_one() {
    let mut pair = with_data(Setup::mptcp(1, 1));
    pair.write(CLIENT, 500_000);
    pair.run_for(ms(30));
    pair.lose_address(CLIENT, 0);
    pair.run_for(secs(20));
    assert!(!pair.endpoint(CLIENT).is_closed());
    pair.regain_address(CLIENT, 0);
    pair.run_until("the data", |pair| pair.received(SERVER) == 505_000);
    exchange_and_close(&mut pair);
}

#[test]
fn without_any_address_for_too_long_it_is_given_up() {
    let mut pair = with_data(Setup::mptcp(1, 1));
    pair.lose_address(CLIENT, 0);
    pair.run_for(secs(61));
    assert!(pair.endpoint(CLIENT).is_closed());
}

#[test]
fn an_address_that_no_path_leads_from_costs_nothing_but_syns() {
    let mut setup = Setup::mptcp(2, 1);
    setup.paths[1].up = false;
    let mut pair = setup.connected();
    pair.transfer(CLIENT, 1_000_000);
    pair.run_for(secs(300));
    let tried: Vec<_> = pair.log.iter().filter(|sent| sent.path == 1).collect();
    // Each attempt takes 7 SYNs and 127 s; the next comes a second later, then two.
    assert!(tried.len() == 20 && tried.iter().all(|sent| is_syn(&sent.segment)), "{}", tried.len());
    exchange_and_close(&mut pair);
}

#[test]
fn announcements_leave_room_for_acknowledgments() {
    // Every announcement travels on a pure acknowledgment; the DATA_ACK comes with the next.
    let mut pair = with_data(Setup::mptcp(3, 3));
    for sent in announcements(&pair, SERVER, false) {
        assert!(is_pure_ack(&sent.segment) && !has_data(&sent.segment));
        assert!(sent.segment.options.wire_length() <= 40);
    }
    assert_eq!(pair.established_subflows(CLIENT), 9);
    exchange_and_close(&mut pair);
}

/// An echo that waited behind the keys of the handshake leaves as soon as there is room for it, and not with the answer
/// to the next segment of a stranger.
#[test]
fn an_echo_does_not_wait_beyond_the_handshake() {
    let mut pair = Setup::mptcp(1, 2).ipv6().build();
    pair.connect();
    pair.write(CLIENT, 1);
    pair.run_for(ms(45));
    assert_eq!(announcements(&pair, SERVER, false).len(), 1);
    assert_eq!(announcements(&pair, CLIENT, true).len(), 1);
}

/// A connection over two paths whose second has failed, so that its subflow was closed.
fn with_a_failed_path() -> Pair {
    let mut pair = with_data(Setup::mptcp(2, 1).both(|stack| stack.tcp.max_retries = 2));
    pair.paths[1].up = false;
    pair.write(CLIENT, 2_000_000);
    pair.run_until("the failure", |pair| pair.established_subflows(CLIENT) == 1);
    pair
}

#[test]
fn a_subflow_that_failed_is_opened_again_when_its_path_works_again() {
    let mut pair = with_a_failed_path();
    let failed = pair.now();
    pair.run_to(failed + ms(3500));
    pair.paths[1].up = true;
    pair.run_until("another subflow", |pair| pair.established_subflows(CLIENT) == 2);
    let joins = pair.sent(CLIENT, failed).filter(|sent| sent.path == 1 && is_syn(&sent.segment));
    let after: Vec<_> = joins.map(|sent| sent.at.since(failed).as_nanos() / 1_000_000_000).collect();
    assert_eq!(after, [1, 2, 4], "a second after the failure, and then as a SYN is repeated");
    pair.settle();
    exchange_and_close(&mut pair);
}

#[test]
fn a_path_that_stays_failed_is_tried_until_the_end_of_the_connection_and_no_longer() {
    let mut pair = with_a_failed_path();
    pair.run_for(secs(600));
    assert_eq!(pair.established_subflows(CLIENT), 1);
    let latest = pair.sent(CLIENT, pair.now()).count();
    assert_eq!(latest, 0);
    let joins = |pair: &Pair| pair.log.iter().filter(|sent| sent.path == 1 && is_syn(&sent.segment)).count();
    assert!(joins(&pair) > 10, "{}", joins(&pair));
    exchange_and_close(&mut pair);
    let tried = joins(&pair);
    pair.run_for(secs(600));
    assert_eq!(joins(&pair), tried);
}

#[test]
fn a_withdrawal_of_the_initial_address_that_comes_after_its_return_closes_nothing() {
    let mut pair = Setup::mptcp(1, 1).connected();
    pair.transfer(CLIENT, 20_000);
    pair.write(CLIENT, 3_000_000);
    pair.run_for(ms(100));
    pair.lose_address(SERVER, 0);
    assert!(pair.received(SERVER) < 3_020_000);
    pair.run_for(secs(10));
    // The client learns of the loss by a reset, joins again, and then gets the withdrawal on the new subflow.
    pair.regain_address(SERVER, 0);
    pair.run_for(secs(30));
    assert_eq!(pair.received(SERVER), 3_020_000);
    assert_eq!((pair.established_subflows(CLIENT), pair.established_subflows(SERVER)), (1, 1));
    pair.transfer(CLIENT, 100_000);
}

/// The client joins the returned address as the one that it knows. The peer answers with the new identifier, and then
/// withdraws the old one.
#[test]
fn a_withdrawal_of_an_announced_address_that_comes_after_its_return_closes_nothing() {
    let mut pair = with_data(Setup::mptcp(1, 2));
    pair.lose_address(SERVER, 0);
    pair.run_for(ms(500));
    pair.lose_address(SERVER, 1);
    pair.write(CLIENT, 50_000);
    pair.run_for(ms(500));
    pair.regain_address(SERVER, 1);
    pair.run_for(secs(20));
    assert_eq!((pair.established_subflows(CLIENT), pair.established_subflows(SERVER)), (1, 1));
    pair.transfer(CLIENT, 5000);
}

/// The server learns of its address while the path of the first subflow has failed, which it cannot know: it only receives.
#[test]
fn an_announcement_goes_over_other_subflows_when_that_of_the_first_is_not_answered() {
    let mut pair = with_data(Setup::mptcp(2, 2));
    pair.lose_address(SERVER, 1);
    pair.run_for(secs(1));
    pair.paths[0].up = false;
    pair.regain_address(SERVER, 1);
    pair.run_for(secs(4));
    // From the address of the failed path, too: the other path to the server works.
    assert_eq!(pair.established_subflows(CLIENT), 4);
}

#[test]
fn an_announcement_that_no_path_carried_is_sent_again_when_one_works_again() {
    let mut pair = with_data(Setup::mptcp(1, 2));
    pair.lose_address(SERVER, 1);
    pair.run_for(secs(1));
    pair.paths[0].up = false;
    pair.regain_address(SERVER, 1);
    pair.run_for(secs(20));
    let unanswered = announcements(&pair, SERVER, false).len();
    assert_eq!(unanswered, 4, "one at the start, and three in vain");
    pair.paths[0].up = true;
    pair.transfer(CLIENT, 5000);
    pair.settle();
    assert_eq!(announcements(&pair, SERVER, false).len(), unanswered + 1);
    assert_eq!((pair.established_subflows(CLIENT), pair.established_subflows(SERVER)), (2, 2));
    exchange_and_close(&mut pair);
}

#[test]
fn an_address_that_returns_while_there_is_no_subflow_is_announced_on_the_next_one() {
    let mut pair = with_data(Setup::mptcp(1, 2));
    pair.lose_address(SERVER, 1);
    pair.run_for(secs(1));
    pair.lose_address(CLIENT, 0);
    pair.run_for(secs(1));
    pair.lose_address(SERVER, 0);
    pair.regain_address(SERVER, 1);
    pair.run_for(secs(5));
    pair.regain_address(SERVER, 0);
    pair.regain_address(CLIENT, 0);
    pair.run_for(secs(10));
    assert_eq!((pair.established_subflows(CLIENT), pair.established_subflows(SERVER)), (2, 2));
}
