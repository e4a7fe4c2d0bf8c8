//! Several addresses at each end: confirmation, failure, and concurrent multipath transfer.

use subflow_policy::catalogue::Choice;
use subflow_transport::Event;
use subflow_transport::sctp::config::{Distribution, RetransmissionPolicy, WindowGrowth};
use subflow_transport::sctp::{Config, Reachability};
use subflow_transport::tcp::Closed;
use subflow_wire::sctp::Chunk;

use crate::harness::sctp::{has, sack_of};
use crate::harness::{CLIENT, Pair, Path, SERVER, Setup, ms, secs};

/// Two disjoint paths, number 0 and 3.
pub(super) const SECOND: usize = 3;

pub(super) fn two_paths(change: impl Fn(&mut Config)) -> Setup {
    let path = || Path::with_delay(ms(12)).rate(20, 200);
    Setup::sctp(2).path(0, path()).path(SECOND, path()).both(|stack| change(stack.association()))
}

fn cmt(growth: &str) -> impl Fn(&mut Config) {
    let growth = Choice::find(WindowGrowth::ALL, growth).expect("a mode");
    move |config| *config = config.clone().with_cmt(growth)
}

pub(super) fn bytes_sent(pair: &Pair) -> Vec<u64> {
    pair.sctp(CLIENT).destinations().iter().map(|destination| destination.counters().data_bytes_sent).collect()
}

#[test]
fn further_addresses_are_confirmed_by_heartbeats() {
    let mut pair = two_paths(|_| {}).build();
    pair.connect();
    pair.run_for(ms(60));
    let states = |pair: &Pair| [0, 1].map(|index| pair.sctp(CLIENT).destinations()[index].reachability());
    assert_eq!(states(&pair), [Reachability::Active, Reachability::Unconfirmed]);
    pair.run_for(ms(100));
    assert_eq!(states(&pair), [Reachability::Active; 2]);
    let heartbeats =
        pair.sctp.log.iter().filter(|sent| has(&sent.packet, |chunk| matches!(chunk, Chunk::Heartbeat(_))));
    assert!(heartbeats.clone().count() == 2 && heartbeats.clone().all(|sent| sent.path == SECOND));
}

#[test]
fn another_address_may_be_the_primary() {
    let mut pair = two_paths(|config| config.primary = 1).connected();
    pair.run_for(ms(500));
    pair.transfer(CLIENT, 500_000);
    assert_eq!(bytes_sent(&pair), [0, 500_000]);
}

#[test]
fn without_cmt_only_the_primary_carries_data() {
    let mut pair = two_paths(|_| {}).connected();
    pair.transfer(CLIENT, 500_000);
    assert_eq!(bytes_sent(&pair), [500_000, 0]);
}

#[test]
fn when_the_primary_fails_the_other_takes_over_and_gives_back() {
    let mut pair = two_paths(|config| config.heartbeat_interval = Some(secs(5))).connected();
    pair.write(CLIENT, 3_000_000);
    pair.run_for(ms(200));
    pair.paths[0].up = false;
    pair.run_until("the rest", |pair| pair.received(SERVER) == 3_000_000);
    assert_eq!(pair.sctp(CLIENT).destinations()[0].reachability(), Reachability::Inactive);
    assert_eq!(pair.sctp(CLIENT).destinations()[0].counters().failures, 1);
    pair.paths[0].up = true;
    pair.run_for(secs(200));
    assert_eq!(pair.sctp(CLIENT).destinations()[0].reachability(), Reachability::Active);
    let before = bytes_sent(&pair);
    pair.transfer(CLIENT, 100_000);
    assert_eq!(bytes_sent(&pair), [before[0] + 100_000, before[1]]);
}

#[test]
fn when_all_paths_fail_the_association_is_given_up() {
    let mut pair = two_paths(|_| {}).connected();
    pair.write(CLIENT, 1_000_000);
    pair.run_for(ms(200));
    pair.paths.iter_mut().for_each(|path| path.up = false);
    pair.drive();
    assert_eq!(pair.count(CLIENT, Event::Closed(Closed::TimedOut)), 1);
    assert_eq!(pair.count(SERVER, Event::Closed(Closed::TimedOut)), 1);
}

#[test]
fn cmt_uses_both_paths_in_every_mode() {
    for growth in WindowGrowth::ALL.iter().map(|choice| choice.description.name) {
        // Queues that never overflow.
        let mut setup = two_paths(cmt(growth));
        setup.paths.iter_mut().for_each(|path| path.queue = 3000);
        let mut pair = setup.connected();
        let took = pair.transfer(CLIENT, 4_000_000);
        let sent = bytes_sent(&pair);
        assert!(sent.iter().all(|&bytes| bytes > 1_000_000), "{growth}: {sent:?}");
        // One path alone takes 1.65 s; cum-ack-only growth suffers from reordering, the others do not.
        let most = if growth == "rfc4960" { ms(1700) } else { ms(1250) };
        assert!(took < most, "{growth}: {took}");
        let counters = pair.sctp(CLIENT).destinations().iter().map(|d| d.counters().fast_retransmissions).sum::<u64>();
        assert_eq!(counters, 0, "{growth}: SFR tells reordering between paths from loss");
    }
}

#[test]
fn every_scheduler_distributes_over_both_paths() {
    use subflow_policy::catalogue::Catalogue;
    use subflow_policy::scheduler::Scheduling;
    // `red-module` may list the first path only.
    for scheduler in Scheduling::prototypes().iter().filter(|scheduler| scheduler.name() != "red-module") {
        let change = |config: &mut Config| {
            cmt("per-destination")(config);
            config.distribution = Distribution::Scheduler(scheduler.clone());
        };
        let mut pair = two_paths(change).connected();
        pair.transfer(CLIENT, 3_000_000);
        let sent = bytes_sent(&pair);
        assert!(sent.iter().all(|&bytes| bytes > 300_000), "{}: {sent:?}", scheduler.name());
    }
}

#[test]
fn every_policy_gets_lost_data_through() {
    for &Choice { value: policy, .. } in RetransmissionPolicy::ALL {
        let mut setup = two_paths(|config| {
            cmt("cuc-v2")(config);
            config.retransmission = policy;
        });
        setup.paths[SECOND].loss = 0.03;
        let mut pair = setup.connected();
        pair.transfer(CLIENT, 2_000_000);
        pair.finish(CLIENT);
        pair.drive();
        assert_eq!(pair.count(SERVER, Event::Closed(Closed::Gracefully)), 1, "{policy:?}");
    }
}

#[test]
fn coupled_control_shares_windows_in_bytes() {
    for name in ["cmt-rpv1", "cmt-rpv2", "lia", "olia", "balia"] {
        let mut pair = two_paths(|config| {
            cmt("per-destination")(config);
            config.congestion = crate::harness::algorithm(name);
        })
        .connected();
        let took = pair.transfer(CLIENT, 4_000_000);
        assert!(bytes_sent(&pair).iter().all(|&bytes| bytes > 300_000), "{name}: {:?}", bytes_sent(&pair));
        assert!(took < secs(4), "{name}: {took}");
    }
}

#[test]
fn dac_counts_packets_and_delays_sacks_despite_gaps() {
    let mut pair = two_paths(cmt("cuc-v2")).connected();
    let start = pair.now();
    pair.transfer(CLIENT, 1_000_000);
    let sacks: Vec<_> = pair.sent_sctp(SERVER, start).filter_map(|sent| sack_of(&sent.packet)).collect();
    assert!(sacks.iter().any(|sack| !sack.gaps.is_empty()), "the paths reorder");
    let counted: u32 = sacks.iter().map(|sack| u32::from(sack.data_packets)).sum();
    let packets = 1_000_000_u32.div_ceil(1452);
    assert!((packets - 5..=packets).contains(&counted), "{counted} of {packets}");
    assert!(sacks.len() as u32 <= packets / 2 + 5);
}

#[test]
fn nr_sack_frees_the_send_buffer_before_holes_close() {
    let mut setup = two_paths(|config| {
        cmt("per-destination")(config);
        config.nr_sack = true;
        config.send_buffer = Some(60_000);
    });
    setup.paths[SECOND].delay = ms(200);
    let mut pair = setup.clone().connected();
    assert!(pair.sctp(CLIENT).uses_nr_sack() && pair.sctp(SERVER).uses_nr_sack());
    let with = pair.transfer(CLIENT, 1_000_000);
    let mut pair = setup.both(|stack| stack.association().nr_sack = false).connected();
    let without = pair.transfer(CLIENT, 1_000_000);
    assert!(with < without, "{with} against {without}");
}

#[test]
fn reordered_sacks_of_different_paths_revoke_no_acknowledgment() {
    let mut setup = two_paths(cmt("per-destination"));
    setup.paths[SECOND] = Path::with_delay(ms(50)).rate(10, 100);
    for path in [0, SECOND] {
        setup.paths[path].loss = 0.01;
    }
    let mut pair = setup.connected();
    pair.transfer(CLIENT, 3_000_000);
    pair.run_for(secs(5));
    let association = pair.sctp(CLIENT);
    assert_eq!(association.counters().reneged_by_peer, 0);
    let acknowledged = association.destinations().iter().map(|destination| destination.counters().bytes_acknowledged);
    assert!(acknowledged.sum::<u64>() <= 3_000_000, "no chunk counts twice");
}
