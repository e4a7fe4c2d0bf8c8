//! A connection may have any number of subflows over its life: the places of closed ones are used again.

use subflow_policy::catalogue::Catalogue;
use subflow_policy::path_manager::MAX_SUBFLOWS;
use subflow_policy::scheduler::Scheduling;
use subflow_transport::mptcp::LISTED_SUBFLOWS;
use subflow_wire::tcp::mptcp::MptcpOption;

use super::{exchange_and_close, has};
use crate::harness::{CLIENT, Fate, Pair, Path, SERVER, Setup, ms, secs};

fn flapping(setup: Setup, times: usize, write: u64) -> Pair {
    let mut pair = setup.connected();
    pair.keep_log = false;
    for flap in 0..times {
        pair.write(CLIENT, write);
        pair.run_for(ms(500));
        pair.lose_address(CLIENT, 1);
        pair.run_for(ms(250));
        pair.regain_address(CLIENT, 1);
        pair.run_for(ms(250));
        assert_eq!([CLIENT, SERVER].map(|side| pair.established_subflows(side)), [2, 2], "after flap {flap}");
    }
    pair
}

fn two_paths() -> Setup {
    let mut setup = Setup::mptcp(2, 1);
    setup.paths = vec![Path::with_delay(ms(10)).rate(10, 50), Path::with_delay(ms(20)).rate(10, 50)];
    setup
}

#[test]
fn an_interface_that_flaps_once_a_second_for_three_minutes_still_has_its_subflow() {
    let mut pair = flapping(two_paths(), 180, 300_000);
    for side in [CLIENT, SERVER] {
        let connection = pair.mptcp(side);
        assert_eq!(connection.subflows().len(), MAX_SUBFLOWS);
        assert_eq!(connection.subflows_opened(), 182);
        let numbers: Vec<_> = connection.subflow_records().iter().map(|record| record.number).collect();
        assert_eq!(numbers, (0..182).collect::<Vec<_>>(), "each is known");
    }
    // The second path carries its part to the end.
    let before = pair.mptcp(SERVER).subflow_records().last().map(|last| last.bytes_received);
    pair.transfer(CLIENT, 2_000_000);
    let after = pair.mptcp(SERVER).subflow_records().last().map(|last| last.bytes_received);
    assert!(after > before.map(|before| before + 500_000), "{before:?}, then {after:?}");
    let sum: u64 = pair.mptcp(SERVER).subflow_records().iter().map(|record| record.bytes_received).sum();
    assert_eq!(sum, pair.received(SERVER), "nothing of what former subflows brought is forgotten");
    exchange_and_close(&mut pair);
}

#[test]
fn every_scheduler_goes_on_after_a_hundred_subflows() {
    for scheduler in Scheduling::prototypes() {
        let setup = two_paths().both(|stack| stack.multipath().scheduler = scheduler.clone());
        let mut pair = flapping(setup, 100, 100_000);
        exchange_and_close(&mut pair);
    }
}

#[test]
fn what_a_stale_subflow_of_a_used_place_held_is_delivered() {
    let setup = two_paths().both(|stack| stack.multipath().stale_loss_count = 4);
    let mut pair = flapping(setup, 100, 300_000);
    exchange_and_close(&mut pair);
}

#[test]
fn beyond_the_list_former_subflows_are_summed_up_and_nothing_is_lost() {
    let mut pair = flapping(two_paths(), LISTED_SUBFLOWS + 80, 50_000);
    let connection = pair.mptcp(SERVER);
    let (records, others) = (connection.subflow_records(), *connection.unlisted_subflows());
    assert_eq!(records.len() as u64 + others.subflows, connection.subflows_opened() as u64);
    assert_eq!(
        records.len(),
        LISTED_SUBFLOWS + 64 - 1,
        "the first ones, and those that have a place and are none of them"
    );
    let listed: u64 = records.iter().map(|record| record.bytes_received).sum();
    assert_eq!(listed + others.bytes_received, pair.received(SERVER));
    assert!(others.bytes_received > 0 && others.counters.segments_sent > 0);
    exchange_and_close(&mut pair);
}

#[test]
fn both_addresses_of_a_host_may_flap() {
    let mut pair = two_paths().connected();
    pair.keep_log = false;
    for flap in 0..100 {
        pair.write(CLIENT, 100_000);
        for index in [0, 1] {
            pair.run_for(ms(300));
            pair.lose_address(CLIENT, index);
            pair.run_for(ms(100));
            pair.regain_address(CLIENT, index);
        }
        pair.run_for(ms(300));
        assert_eq!([CLIENT, SERVER].map(|side| pair.established_subflows(side)), [2, 2], "after flap {flap}");
    }
    pair.run_until("the data", |pair| pair.received(SERVER) == 10_000_000);
    pair.run_for(secs(1));
    exchange_and_close(&mut pair);
}

/// The peer does not know that an address is gone until it hears of it, and no acknowledgment of its loss comes back.
#[test]
fn a_withdrawal_that_is_lost_is_repeated() {
    for lost in 1..=3 {
        let mut pair = Setup::mptcp(2, 1).connected();
        pair.transfer(CLIENT, 5000);
        pair.settle();
        let mut left = lost;
        pair.tamper(move |leaving| {
            let withdraws = has(leaving.segment, |option| matches!(option, MptcpOption::RemoveAddress(_)));
            if withdraws && left > 0 {
                left -= 1;
                return Fate::Drop;
            }
            Fate::Pass
        });
        pair.lose_address(CLIENT, 1);
        pair.run_for(ms(500));
        assert_eq!(pair.established_subflows(SERVER), 2, "the first is lost");
        pair.run_for(secs(3));
        assert_eq!(pair.established_subflows(SERVER), if lost < 3 { 1 } else { 2 }, "{lost} lost");
        let said = pair.log.iter().filter(|sent| {
            has(&sent.segment, |option| matches!(option, MptcpOption::RemoveAddress(ids) if ids[..] == [1]))
        });
        assert_eq!(said.count(), 3, "no more often, however many are lost");
    }
}

#[test]
fn the_repeated_withdrawal_of_an_address_does_not_concern_it_when_it_is_back() {
    let mut pair = Setup::mptcp(2, 1).connected();
    pair.transfer(CLIENT, 5000);
    pair.settle();
    pair.lose_address(CLIENT, 1);
    pair.run_for(ms(500));
    pair.regain_address(CLIENT, 1);
    pair.run_for(secs(5));
    assert_eq!([CLIENT, SERVER].map(|side| pair.established_subflows(side)), [2, 2]);
    let withdraws = |option: &MptcpOption| matches!(option, MptcpOption::RemoveAddress(ids) if ids[..] == [1]);
    let said = pair.log.iter().filter(|sent| has(&sent.segment, withdraws)).count();
    assert_eq!(said, 1 + 2 * 2, "once, and twice on each of both subflows");
    exchange_and_close(&mut pair);
}
