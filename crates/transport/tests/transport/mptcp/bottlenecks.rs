//! Shared-bottleneck detection: what a sender tells its detector, and what follows for coupling and for RED.

use subflow_policy::bottleneck::rfc8382::Parameters;
use subflow_policy::bottleneck::{BottleneckDetection, Rfc8382};
use subflow_policy::scheduler::Scheduling;
use subflow_quantity::Duration;
use subflow_transport::mptcp::Bottleneck;

use super::exchange_and_close;
use crate::harness::{CLIENT, Pair, Path, Setup, ms};

/// RFC 8382 with a short memory.
fn detector(regroup: Option<Duration>) -> Bottleneck {
    let parameters = Parameters { window: 10, interval: ms(50), ..Parameters::default() };
    let detection = BottleneckDetection::Rfc8382(Rfc8382::new(parameters));
    Bottleneck { detection, regroup }
}

/// Two megabytes over a path with a queue and one without.
fn sent(change: impl Fn(&mut subflow_transport::mptcp::Config)) -> Pair {
    let setup = Setup::mptcp(2, 1).path(0, Path::with_delay(ms(20)).rate(8, 60)).path(1, Path::with_delay(ms(35)));
    let mut pair = setup.both(|stack| change(stack.multipath())).connected();
    pair.transfer(CLIENT, 8_000_000);
    pair
}

#[test]
fn every_acknowledgment_with_an_rtt_tells_the_delay_of_its_way_there() {
    let pair = sent(|config| config.record_paths = true);
    let records = pair.mptcp(CLIENT).path_records();
    assert!(records.is_sorted_by_key(|record| record.sample.at));
    for (subflow, delay_ms) in [(0, 20), (1, 35)] {
        let of: Vec<_> = records.iter().filter(|record| record.subflow == subflow).collect();
        let shortest = of.iter().map(|record| record.sample.one_way_delay).min().expect("samples");
        // A millisecond a tick; data that starts late in a tick seems to take one more.
        assert!((delay_ms..=delay_ms + 1).contains(&(shortest / 1_000_000)), "{shortest}");
        assert!(of.is_sorted_by_key(|record| (record.bytes_acknowledged, record.sample.sent)));
        let acknowledged = pair.mptcp(CLIENT).subflows()[subflow].connection().counters().bytes_acknowledged;
        assert!(of.last().is_some_and(|last| last.bytes_acknowledged + 30_000 > acknowledged));
    }
}

#[test]
fn nobody_pays_for_what_nobody_wants() {
    let pair = sent(|_| {});
    assert!(pair.mptcp(CLIENT).path_records().is_empty() && pair.mptcp(CLIENT).detection().is_none());
}

#[test]
fn subflows_that_are_found_apart_are_not_coupled_any_more() {
    let groups = |regroup| {
        let pair = sent(|config| config.bottleneck = Some(detector(regroup)));
        let congestion = pair.mptcp(CLIENT).congestion();
        [congestion.path(0).group(), congestion.path(1).group()]
    };
    assert_eq!(groups(None), [0, 0], "all are coupled unless coupling is by bottleneck");
    assert_eq!(groups(Some(ms(50))), [0, 1]);
}

#[test]
fn red_passes_everything_and_counts_its_copies() {
    let mut pair = sent(|config| {
        config.scheduler = Scheduling::from_name("red-diversity").expect("a scheduler");
        config.bottleneck = Some(detector(None));
    });
    let copies: u64 = pair.mptcp(CLIENT).subflows().iter().map(|subflow| subflow.copies()).sum();
    assert!(copies > 0);
    exchange_and_close(&mut pair);
}
