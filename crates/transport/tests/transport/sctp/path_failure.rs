//! Paths that fall silent: potentially failed, inactive, back again (RFC 9260, section 8; RFC 7829).

use subflow_policy::scheduler::Scheduling;
use subflow_transport::Event;
use subflow_transport::sctp::config::{Distribution, InitialThreshold, WindowGrowth};
use subflow_transport::sctp::{Config, Reachability};
use subflow_transport::tcp::Closed;

use subflow_wire::sctp::Chunk;

use super::multipath::{SECOND, bytes_sent, two_paths};
use crate::harness::sctp::{drop_first, has, has_data};
use crate::harness::{CLIENT, Pair, Path, SERVER, Setup, ms, secs};

fn on_linux(config: &mut Config) {
    *config = Config { record_deliveries: true, ..Config::linux() };
}

/// CMT with windows that leave slow start at half of what a path holds: there is no queue.
fn cmt_on_linux(config: &mut Config) {
    on_linux(config);
    *config = config.clone().with_cmt(WindowGrowth::PerDestination);
    config.initial_ssthresh = InitialThreshold::Bytes(30_000);
}

fn scheduled(name: &str) -> Distribution {
    Distribution::Scheduler(Scheduling::from_name(name).expect("a scheduler"))
}

fn reachability(pair: &Pair) -> [Reachability; 2] {
    [0, 1].map(|index| pair.sctp(CLIENT).destinations()[index].reachability())
}

#[test]
fn one_timeout_moves_data_to_another_path() {
    let mut pair = two_paths(on_linux).connected();
    pair.write(CLIENT, 20_000_000);
    pair.run_for(secs(1));
    pair.paths[0].up = false;
    let before = bytes_sent(&pair)[1];
    pair.run_for(ms(1500));
    assert_eq!(reachability(&pair), [Reachability::PotentiallyFailed, Reachability::Active]);
    assert_eq!(pair.sctp(CLIENT).destinations()[0].counters().suspicions, 1);
    assert!(bytes_sent(&pair)[1] > before + 100_000);
    pair.paths[0].up = true;
    pair.run_until("a HEARTBEAT's answer", |pair| reachability(pair)[0] == Reachability::Active);
    let before = bytes_sent(&pair)[0];
    pair.run_for(ms(500));
    assert!(bytes_sent(&pair)[0] > before, "the primary carries data again");
}

#[test]
fn an_unanswering_path_becomes_inactive_and_gets_only_heartbeats() {
    let mut pair = two_paths(on_linux).connected();
    pair.write(CLIENT, 500_000_000);
    pair.run_for(secs(1));
    pair.paths[0].up = false;
    pair.run_for(secs(2));
    let before = bytes_sent(&pair)[0];
    pair.run_until("the failure", |pair| reachability(pair)[0] == Reachability::Inactive);
    assert_eq!(bytes_sent(&pair)[0], before);
    // Path.Max.Retrans is five: one timeout of data and five HEARTBEATs are silence enough. The sixth is the first at
    // leisure.
    let counters = *pair.sctp(CLIENT).destinations()[0].counters();
    assert_eq!((counters.timeouts, counters.heartbeats_sent, counters.failures), (1, 6, 1));
}

#[test]
fn cmt_survives_the_death_of_either_path() {
    for (dead, alive) in [(0, 1), (SECOND, 0)] {
        let mut pair = two_paths(cmt_on_linux).connected();
        pair.write(CLIENT, 5_000_000);
        pair.run_for(ms(700));
        pair.paths[dead].up = false;
        let died = pair.now();
        pair.run_until("the rest", |pair| pair.received(SERVER) == 5_000_000);
        // What is left takes less than 2 s on one path; the timeout is one.
        assert!(pair.now().since(died) < ms(3300), "{dead}: {}", pair.now().since(died));
        // Its progress shows in spite of what is missing on the other.
        assert_eq!(pair.sctp(CLIENT).destinations()[alive].counters().timeouts, 0, "{dead}");
        pair.finish(CLIENT);
        pair.finish(SERVER);
        pair.drive();
        assert_eq!(pair.count(CLIENT, Event::Closed(Closed::Gracefully)), 1, "{dead}");
    }
}

#[test]
fn a_lost_burst_costs_a_path_no_more_than_a_probe() {
    let mut pair = two_paths(cmt_on_linux).connected();
    pair.write(CLIENT, 20_000_000);
    pair.run_for(ms(300));
    pair.paths[SECOND].up = false;
    pair.run_for(ms(100));
    pair.paths[SECOND].up = true;
    pair.run_until("suspicion", |pair| reachability(pair)[1] == Reachability::PotentiallyFailed);
    pair.run_for(ms(30));
    assert_eq!(reachability(&pair), [Reachability::Active; 2], "probed at once, and one round trip later");
}

#[test]
fn if_all_paths_are_potentially_failed_data_goes_to_the_one_with_the_fewest_errors() {
    let mut pair = two_paths(on_linux).connected();
    pair.write(CLIENT, 5_000_000);
    pair.run_for(ms(500));
    pair.paths.iter_mut().for_each(|path| path.up = false);
    pair.run_for(secs(5));
    assert_eq!(reachability(&pair), [Reachability::PotentiallyFailed; 2]);
    pair.paths[SECOND].up = true;
    pair.run_until("the rest", |pair| pair.received(SERVER) == 5_000_000);
    assert_eq!(reachability(&pair)[1], Reachability::Active);
}

#[test]
fn in_linux_a_sack_revives_an_inactive_path_and_only_a_heartbeat_a_potentially_failed_one() {
    for (sack_ends_it, fail_after, expected) in [(true, 5, true), (false, 5, false), (false, 0, true)] {
        let mut pair = two_paths(|config| {
            on_linux(config);
            config.sack_ends_potentially_failed = sack_ends_it;
            config.path_max_retransmissions = fail_after;
        })
        .connected();
        pair.write(CLIENT, 3_000_000);
        pair.run_for(ms(500));
        pair.paths.iter_mut().for_each(|path| path.up = false);
        pair.run_until("the failure of both", |pair| reachability(pair).iter().all(|&now| now != Reachability::Active));
        pair.paths.iter_mut().for_each(|path| path.up = true);
        pair.tamper_sctp(drop_first(usize::MAX, |leaving| {
            has(leaving.packet, |chunk| matches!(chunk, Chunk::Heartbeat(_)))
        }));
        let mut revived = false;
        while pair.received(SERVER) < 3_000_000 {
            assert!(pair.step());
            revived |= reachability(&pair).contains(&Reachability::Active);
        }
        assert_eq!(revived, expected, "{sack_ends_it} {fail_after}");
        pair.stop_tampering_sctp();
        pair.run_until("HEARTBEATs", |pair| reachability(pair) == [Reachability::Active; 2]);
    }
}

#[test]
fn an_idle_association_outlives_the_path_it_does_not_use() {
    let mut pair = two_paths(on_linux).connected();
    pair.run_for(secs(1));
    pair.paths[SECOND].up = false;
    // HEARTBEATs on the primary would forgive those that are lost on the other: that it answers must not matter.
    pair.run_for(secs(3600));
    assert_eq!(reachability(&pair), [Reachability::Active, Reachability::Inactive]);
    pair.transfer(CLIENT, 100_000);
}

#[test]
fn without_the_state_data_goes_on_to_a_dead_path_until_it_is_inactive() {
    let mut pair = two_paths(|config| {
        cmt_on_linux(config);
        config.potentially_failed_max_retransmissions = None;
        config.path_max_retransmissions = 1;
    })
    .connected();
    pair.write(CLIENT, 5_000_000);
    pair.run_for(ms(700));
    pair.paths[SECOND].up = false;
    pair.run_until("the rest", |pair| pair.received(SERVER) == 5_000_000);
    let counters = pair.sctp(CLIENT).destinations()[1].counters();
    assert_eq!((counters.suspicions, counters.timeouts, counters.failures), (0, 2, 1));
}

#[test]
fn what_a_scheduler_queued_leaves_over_the_path_that_is_back() {
    for (suspect_after, back, gone) in [(Some(0), 0, 1), (None, 0, 1), (Some(0), SECOND, 0)] {
        let mut pair = two_paths(|config| {
            cmt_on_linux(config);
            config.potentially_failed_max_retransmissions = suspect_after;
            config.path_max_retransmissions = 2;
            config.distribution = scheduled("linux-default");
        })
        .connected();
        pair.write(CLIENT, 5_000_000);
        pair.run_for(ms(700));
        pair.paths.iter_mut().for_each(|path| path.up = false);
        pair.run_for(secs(20));
        pair.paths[back].up = true;
        // The other stays dead: no HEARTBEAT will bring back what waits there.
        pair.run_until("the rest", |pair| pair.received(SERVER) == 5_000_000);
        assert_eq!(reachability(&pair)[gone], Reachability::Inactive);
    }
}

#[test]
fn a_path_that_timed_out_and_is_still_active_is_one_to_schedulers() {
    let mut pair = two_paths(|config| {
        config.heartbeat_interval = None;
        config.distribution = scheduled("redundant");
    })
    .connected();
    pair.write(CLIENT, 10_000);
    pair.paths.iter_mut().for_each(|path| path.up = false);
    pair.run_for(ms(1500));
    pair.paths.iter_mut().for_each(|path| path.up = true);
    // Of copies none proves that its path works, and no HEARTBEAT does: the errors stay.
    pair.run_until("all", |pair| pair.received(SERVER) == 10_000);
    assert_eq!(reachability(&pair), [Reachability::Active; 2]);
}

#[test]
fn if_all_paths_are_inactive_data_alternates_between_them() {
    let mut pair = two_paths(|config| {
        config.heartbeat_interval = Some(secs(3600));
        config.path_max_retransmissions = 0;
    })
    .connected();
    pair.write(CLIENT, 100_000);
    pair.paths.iter_mut().for_each(|path| path.up = false);
    pair.run_until("the failure of both", |pair| reachability(pair) == [Reachability::Inactive; 2]);
    pair.paths[SECOND].up = true;
    let start = pair.now();
    pair.run_until("the rest", |pair| pair.received(SERVER) == 100_000);
    assert!(pair.now().since(start) < secs(60), "no HEARTBEAT has found it out");
}

#[test]
fn a_pair_of_addresses_that_no_path_had_is_found_when_all_paths_fail() {
    for alternate in [true, false] {
        let mut pair = two_paths(|config| {
            on_linux(config);
            config.alternate_sources = alternate;
        })
        .connected();
        pair.write(CLIENT, 1_000_000);
        pair.run_for(ms(200));
        pair.paths[0].up = false;
        pair.paths[SECOND].up = false;
        pair.run_for(secs(30));
        assert_eq!(pair.received(SERVER) == 1_000_000, alternate);
        let crossed = pair.sctp.log.iter().any(|sent| sent.from == CLIENT && ![0, SECOND].contains(&sent.path));
        assert_eq!(crossed, alternate);
    }
}

#[test]
fn a_lost_shutdown_counts_against_the_path_it_went_over() {
    let mut pair = two_paths(|config| {
        config.heartbeat_interval = Some(secs(1));
        config.path_max_retransmissions = 0;
        config.alternate_sources = false;
    })
    .connected();
    pair.run_for(secs(1));
    pair.paths.iter_mut().for_each(|path| path.up = false);
    pair.run_until("the failure of both", |pair| reachability(pair) == [Reachability::Inactive; 2]);
    pair.paths[SECOND].up = true;
    let heartbeats = |pair: &Pair| pair.sctp(CLIENT).destinations()[1].counters().heartbeats_sent;
    let before = heartbeats(&pair);
    pair.run_until("a HEARTBEAT", |pair| heartbeats(pair) > before);
    // The SHUTDOWN goes to the primary address; the answer to the HEARTBEAT is under way.
    pair.finish(CLIENT);
    assert_eq!(pair.sctp.log.last().map(|sent| sent.path), Some(0));
    pair.run_until("its answer", |pair| reachability(pair)[1] == Reachability::Active);
    let failures = pair.sctp(CLIENT).destinations()[1].counters().failures;
    pair.run_until("the end", |pair| pair.endpoint(CLIENT).is_closed());
    assert_eq!(pair.count(CLIENT, Event::Closed(Closed::Gracefully)), 1);
    assert_eq!(pair.sctp(CLIENT).destinations()[1].counters().failures, failures);
}

#[test]
fn data_after_shutdown_is_acknowledged_where_it_came_from() {
    let mut pair =
        two_paths(|config| config.primary = 1).on(CLIENT, |stack| stack.association().primary = 0).connected();
    pair.write(SERVER, 1_000_000);
    pair.run_for(ms(200));
    pair.paths[0].up = false;
    pair.finish(CLIENT);
    pair.run_until("the end", |pair| [CLIENT, SERVER].iter().all(|&side| pair.endpoint(side).is_closed()));
    assert_eq!(pair.received(CLIENT), 1_000_000);
    assert_eq!(pair.count(SERVER, Event::Closed(Closed::Gracefully)), 1);
}

#[test]
fn a_silence_of_all_paths_counts_once_for_the_association() {
    let mut pair = two_paths(cmt_on_linux).connected();
    pair.write(CLIENT, 20_000_000);
    pair.run_for(ms(700));
    pair.paths.iter_mut().for_each(|path| path.up = false);
    // Five timeouts of both paths, at 1, 3, 7, 15 and 31 s, are ten.
    pair.run_for(secs(30));
    pair.paths.iter_mut().for_each(|path| path.up = true);
    pair.run_until("the rest", |pair| pair.received(SERVER) == 20_000_000);
}

/// A client with two addresses and a server with one: path 0 and 1.
fn two_sources() -> Pair {
    let path = || Path::with_delay(ms(12)).rate(20, 200);
    let mut setup = Setup::sctp(2).path(0, path()).path(1, path()).both(|stack| on_linux(stack.association()));
    setup.addresses[SERVER].truncate(1);
    setup.paths.truncate(2);
    let mut pair = setup.connected();
    pair.run_for(ms(500));
    pair
}

#[test]
fn data_goes_on_from_another_address_when_its_source_is_lost() {
    for sender in [CLIENT, SERVER] {
        let mut pair = two_sources();
        pair.write(sender, 20_000_000);
        pair.run_for(secs(1));
        pair.lose_address(CLIENT, 0);
        let (lost, before) = (pair.now(), pair.received(1 - sender));
        pair.run_for(secs(3));
        assert!(pair.received(1 - sender) > before + 1_000_000, "side {sender}: {}", pair.received(1 - sender));
        assert!(pair.sent_sctp(CLIENT, lost).all(|sent| sent.path == 1));
        pair.run_until("the data", |pair| pair.received(1 - sender) == 20_000_000);
    }
}

#[test]
fn an_address_that_returns_is_a_source_again() {
    let mut pair = two_sources();
    pair.lose_address(CLIENT, 0);
    pair.run_for(ms(100));
    pair.transfer(CLIENT, 100_000);
    pair.regain_address(CLIENT, 0);
    let back = pair.now();
    pair.transfer(CLIENT, 100_000);
    assert!(pair.sent_sctp(CLIENT, back).all(|sent| sent.path == 0 || !has_data(&sent.packet)));
    assert!(pair.sent_sctp(CLIENT, back).any(|sent| sent.path == 0 && has_data(&sent.packet)));
}
