//! Our stack with each of the others, as client and as server, over one path and over two.

use subflow_peers::{Case, Report, Stack};

/// Seeds of each kind. `cargo run --profile test -p subflow-peers` takes as many as wanted.
const SEEDS: u64 = 20;

/// What has happened in all cases of a kind together.
#[track_caller]
fn all(other: Stack, serves: bool, paths: usize) -> Report {
    let mut sum = Report::default();
    for seed in 0..SEEDS {
        let report = Case { other, serves, paths, trusts: true, forgets: false, seed }.run();
        let report = report.unwrap_or_else(|failure| panic!("seed {seed}: {failure:?}"));
        sum.bytes.iter_mut().zip(report.bytes).for_each(|(sum, bytes)| *sum += bytes);
        sum.by_path.iter_mut().zip(report.by_path).for_each(|(sum, datagrams)| *sum += datagrams);
        sum.lost += report.lost;
        sum.late += report.late;
        sum.twice += report.twice;
        sum.damaged += report.damaged;
        sum.key_updates += report.key_updates;
        sum.retries += report.retries;
    }
    assert!(sum.bytes.iter().all(|&bytes| bytes > 500_000), "{sum:?}");
    let rare = [sum.lost, sum.late, sum.twice, sum.damaged, sum.key_updates];
    assert!(rare.iter().all(|&count| count > 0), "{sum:?}");
    sum
}

#[test]
fn our_client_and_quinns_server() {
    let sum = all(Stack::Quinn, false, 1);
    assert!(sum.retries > 0, "{sum:?}");
}

#[test]
fn quinns_client_and_our_server() {
    let sum = all(Stack::Quinn, true, 1);
    assert!(sum.retries > 0, "{sum:?}");
}

#[test]
fn noqs_server_and_our_client_over_one_path() {
    let sum = all(Stack::Noq, false, 1);
    assert!(sum.retries > 0, "{sum:?}");
}

#[test]
fn two_paths_with_noqs_server() {
    let sum = all(Stack::Noq, false, 2);
    assert!(sum.by_path[1] > sum.by_path[0] / 10, "{sum:?}");
}

#[test]
fn two_paths_with_noqs_client() {
    let sum = all(Stack::Noq, true, 2);
    assert!(sum.retries > 0, "{sum:?}");
    assert!(sum.by_path[1] > sum.by_path[0] / 10, "{sum:?}");
}

#[test]
fn two_paths_between_two_of_ours() {
    let sum = all(Stack::Ours, false, 2);
    assert!(sum.by_path[1] > sum.by_path[0] / 10, "{sum:?}");
}

#[test]
fn a_peer_without_multipath_has_one_path() {
    for serves in [false, true] {
        assert_eq!(all(Stack::Quinn, serves, 2).by_path[1], 0);
    }
}

#[test]
fn a_server_whose_certificate_nobody_has_signed_is_refused() {
    for (other, serves) in [(Stack::Quinn, false), (Stack::Quinn, true), (Stack::Noq, false), (Stack::Ours, false)] {
        let refused = Case { other, serves, paths: 1, trusts: false, forgets: false, seed: 7 }
            .run()
            .expect_err("nobody has signed it");
        assert!(refused.what.contains("client 0 bytes") && refused.what.contains("Failed"), "{refused:?}");
    }
}

#[test]
fn a_server_that_has_forgotten_the_connection_resets_it() {
    // A client's first identifier has no token.
    let servers =
        [(Stack::Quinn, false), (Stack::Noq, false), (Stack::Ours, true), (Stack::Quinn, true), (Stack::Noq, true)];
    for (other, serves) in servers {
        let cases = (0..SEEDS).map(|seed| Case { other, serves, paths: 1, trusts: true, forgets: true, seed });
        let failures: Vec<_> = cases.filter_map(|case| case.run().err()).collect();
        let resets = failures.iter().filter(|failure| failure.what.contains("Some(Reset)")).count();
        let is_noticed = resets >= 5 && resets * 2 > failures.len();
        assert!(is_noticed, "{other:?} as {}: {failures:?}", if serves { "client" } else { "server" });
    }
}
