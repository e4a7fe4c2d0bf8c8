//! Backup subflows and MP_PRIO (RFC 8684, section 3.3.8).

use subflow_wire::tcp::mptcp::{Join, MptcpOption};

use super::{exchange_and_close, has, join};
use crate::harness::tamper::{has_data, is_pure_ack, is_syn};
use crate::harness::{CLIENT, Pair, Path, SERVER, Setup, ms, secs};

/// Two paths of 10 Mbit/s, of which the client wants `backup` as a backup.
fn with_backup(backup: usize) -> Pair {
    with_backup_of(CLIENT, backup)
}

/// Two paths of 10 Mbit/s from or to two addresses of `side`, which wants its address `backup` as a backup.
fn with_backup_of(side: usize, backup: usize) -> Pair {
    let path = Path::default().rate(10, 100);
    let setup = if side == CLIENT { Setup::mptcp(2, 1) } else { Setup::mptcp(1, 2) };
    let mut setup = setup.path(0, path.clone()).path(1, path);
    let address = setup.addresses[side][backup];
    setup.stacks[side].multipath().backup_addresses = vec![address];
    let mut pair = setup.connected();
    pair.transfer(CLIENT, 3000);
    pair.settle();
    pair
}

/// Data bytes that `from` has sent on `path` since `since`.
fn carried(pair: &Pair, from: usize, path: usize, since: subflow_quantity::Instant) -> u64 {
    let on_path = pair.sent(from, since).filter(|sent| sent.path == path);
    on_path.map(|sent| u64::from(sent.segment.payload.length)).sum()
}

#[test]
fn a_backup_is_requested_in_the_join_and_carries_no_data() {
    let mut pair = with_backup(1);
    let syn = pair.log.iter().find(|sent| sent.path == 1 && is_syn(&sent.segment)).expect("a join");
    assert!(matches!(join(&syn.segment), Some(Join::Syn { backup: true, .. })));
    let start = pair.now();
    pair.transfer(CLIENT, 1_000_000);
    pair.transfer(SERVER, 1_000_000);
    for side in [CLIENT, SERVER] {
        assert_eq!(carried(&pair, side, 1, start), 0, "side {side}");
    }
    exchange_and_close(&mut pair);
}

#[test]
fn an_initial_subflow_becomes_a_backup_by_mp_prio() {
    let mut pair = with_backup(0);
    let prio = |option: &MptcpOption| *option == MptcpOption::Priority { backup: true };
    let sent = pair.log.iter().find(|sent| has(&sent.segment, prio)).expect("MP_PRIO");
    assert!(sent.path == 0 && is_pure_ack(&sent.segment));
    let start = pair.now();
    pair.transfer(SERVER, 1_000_000);
    assert_eq!(carried(&pair, SERVER, 0, start), 0);
    exchange_and_close(&mut pair);
}

#[test]
fn a_backup_takes_over_when_the_regular_path_dies_and_gives_back_when_it_returns() {
    let mut pair = with_backup(1);
    pair.write(CLIENT, 4_000_000);
    pair.run_for(ms(500));
    pair.paths[0].up = false;
    let died = pair.now();
    pair.run_for(secs(1));
    assert!(carried(&pair, CLIENT, 1, died) > 100_000, "{}", carried(&pair, CLIENT, 1, died));
    pair.paths[0].up = true;
    pair.run_for(secs(1));
    let back = pair.now();
    pair.run_until("the data", |pair| pair.received(SERVER) == 4_003_000);
    let (regular, backup) = (carried(&pair, CLIENT, 0, back), carried(&pair, CLIENT, 1, back));
    assert!(regular > 500_000 && backup * 5 < regular, "{regular} and {backup}");
    exchange_and_close(&mut pair);
}

#[test]
fn a_backup_takes_over_at_once_when_the_regular_subflow_is_closed() {
    let mut pair = with_backup(1);
    pair.write(CLIENT, 1_000_000);
    pair.run_for(ms(100));
    let start = pair.now();
    pair.lose_address(CLIENT, 0);
    pair.run_for(ms(100));
    assert!(carried(&pair, CLIENT, 1, start) > 50_000);
    pair.run_until("the data", |pair| pair.received(SERVER) == 1_003_000);
    exchange_and_close(&mut pair);
}

#[test]
fn a_busy_sender_still_gets_its_priority_across() {
    // Signals travel on acknowledgments without data, which a sender of bulk data would not send of itself.
    let path = Path::default().rate(10, 100);
    let mut setup = Setup::mptcp(2, 1).path(0, path.clone()).path(1, path);
    let initial = setup.addresses[CLIENT][0];
    setup.stacks[CLIENT].multipath().backup_addresses = vec![initial];
    let mut pair = setup.build();
    pair.connect();
    pair.write(CLIENT, 3_000_000);
    pair.run_for(ms(200));
    let prio = |option: &MptcpOption| matches!(option, MptcpOption::Priority { .. });
    assert!(pair.log.iter().any(|sent| has(&sent.segment, prio)));
    let start = pair.now();
    pair.run_for(ms(500));
    let first = pair.sent(CLIENT, start).filter(|sent| sent.path == 0 && has_data(&sent.segment)).count();
    assert_eq!(first, 0, "only the second path carries data");
}

#[test]
fn a_backup_of_the_answering_side_is_in_its_syn_ack_and_carries_no_data() {
    let mut pair = with_backup_of(SERVER, 1);
    let answer = |option: &MptcpOption| matches!(option, MptcpOption::Join(Join::SynAck { backup: true, .. }));
    assert!(pair.log.iter().any(|sent| sent.from == SERVER && has(&sent.segment, answer)));
    let start = pair.now();
    pair.transfer(CLIENT, 1_000_000);
    pair.transfer(SERVER, 1_000_000);
    for side in [CLIENT, SERVER] {
        assert_eq!(carried(&pair, side, 1, start), 0, "side {side}");
    }
    exchange_and_close(&mut pair);
}

#[test]
fn an_initial_subflow_to_a_backup_of_the_server_becomes_a_backup_by_mp_prio() {
    let mut pair = with_backup_of(SERVER, 0);
    let start = pair.now();
    pair.transfer(CLIENT, 1_000_000);
    assert_eq!(carried(&pair, CLIENT, 0, start), 0);
    exchange_and_close(&mut pair);
}
