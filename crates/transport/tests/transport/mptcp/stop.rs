//! An application that stops in the middle of its stream: what it had written counts as far as it was sent, and
//! arrives.

use subflow_policy::scheduler::Scheduling;

use crate::harness::tamper::corrupt_first;
use crate::harness::{CLIENT, Pair, Path, SERVER, Setup, ms, secs};

/// A client in the middle of a transfer over two paths.
fn two_paths(scheduler: &str) -> Pair {
    let (narrow, wide) = (Path::default().rate(2, 1000), Path::default().rate(20, 1000));
    let scheduler = Scheduling::from_name(scheduler).expect("a scheduler");
    let setup = Setup::mptcp(2, 1).path(0, narrow).path(1, wide).both(|stack| {
        let multipath = stack.multipath();
        (multipath.scheduler, multipath.checksum) = (scheduler.clone(), true);
    });
    let mut pair = setup.connected();
    pair.transfer(CLIENT, 20_000);
    pair.settle();
    pair.write(CLIENT, 2_000_000);
    pair.run_for(ms(300));
    pair
}

/// The client loses its second path, so that what that had taken is to go over the first, and falls back to an infinite
/// mapping some time later.
fn fallen_back(scheduler: &str, after_ms: u64) -> Pair {
    let mut pair = two_paths(scheduler);
    pair.lose_address(CLIENT, 1);
    pair.run_for(ms(after_ms));
    pair.tamper(corrupt_first(|leaving| leaving.from == SERVER && leaving.path == 0));
    pair.write(SERVER, 700);
    pair.run_until("the fallback", |pair| pair.mptcp(CLIENT).has_fallen_back());
    pair
}

#[test]
fn what_was_sent_before_a_stop_arrives() {
    let mut pair = two_paths("linux-default");
    pair.act(CLIENT, |endpoint, _| endpoint.stop());
    let written = pair.endpoint(CLIENT).bytes_written();
    assert!((100_000..2_020_000).contains(&written), "{written}");
    pair.close_gracefully();
    assert_eq!(pair.received(SERVER), written);
}

#[test]
fn a_stop_after_a_fallback_leaves_the_copies_that_are_queued() {
    for after_ms in [0, 20, 60, 150, 400] {
        // This scheduler queues ahead of the window.
        let mut pair = fallen_back("linux-default", after_ms);
        pair.act(CLIENT, |endpoint, _| endpoint.stop());
        let written = pair.endpoint(CLIENT).bytes_written();
        assert!((100_000..=2_020_000).contains(&written), "{written} after {after_ms} ms");
        pair.close_gracefully();
        assert_eq!((pair.received(SERVER), pair.received(CLIENT)), (written, 700), "after {after_ms} ms");
    }
}

#[test]
fn what_a_lost_path_had_taken_survives_a_fallback() {
    for scheduler in ["ll", "linux-default"] {
        for after_ms in [0, 20, 60, 150, 400] {
            let mut pair = fallen_back(scheduler, after_ms);
            let limit = pair.now() + secs(60);
            pair.run_to(limit);
            assert_eq!(pair.received(SERVER), 2_020_000, "{scheduler}, after {after_ms} ms");
            pair.close_gracefully();
        }
    }
}
