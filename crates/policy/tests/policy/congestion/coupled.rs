//! Checks that the coupled algorithms reach their stated goals.

use subflow_policy::congestion::Algorithm;
use subflow_quantity::Duration;

use super::rounds::{INFINITE, Link, Rounds, throughput};

const LOSS_BASED: [&str; 5] = ["lia", "olia", "balia", "cmt-rpv1", "cmt-rpv2"];

/// Packets per second of one Reno flow on `link`.
fn tcp(link: Link) -> f64 {
    throughput("reno", &[link])[0]
}

#[test]
fn n_equal_paths_together_take_the_rate_of_one_tcp() {
    for name in LOSS_BASED {
        for (n, loss) in [(2, 0.01), (2, 0.001), (4, 0.001)] {
            let link = Link::lossy(50, loss);
            let ratio = throughput(name, &vec![link; n]).iter().sum::<f64>() / tcp(link);
            // CMT/RPv1 is less precise: its thresholds lag behind the windows.
            let most = if name == "cmt-rpv1" { 1.3 } else { 1.2 };
            assert!((0.9..most).contains(&ratio), "{name} on {n} paths with loss {loss}: {ratio} of a TCP");
        }
    }
}

#[test]
fn lia_meets_its_goals_on_unequal_paths() {
    // RFC 6356, section 1: no worse than TCP on the best path; no more than TCP on any.
    let links = [Link::lossy(10, 0.01), Link::lossy(100, 0.0025)];
    let (lia, tcp) = (throughput("lia", &links), links.map(tcp));
    assert!(lia.iter().sum::<f64>() > 0.9 * tcp[0].max(tcp[1]), "{lia:?} against {tcp:?}");
    assert!(lia[0] < 1.05 * tcp[0] && lia[1] < 1.05 * tcp[1], "{lia:?} against {tcp:?}");
}

#[test]
fn traffic_moves_off_the_congested_path() {
    let links = [Link::lossy(50, 0.005), Link::lossy(50, 0.04)];
    let best = tcp(links[0]);
    let congested = |name| {
        let rates = throughput(name, &links);
        let total: f64 = rates.iter().sum();
        assert!(name == "reno" || (total / best - 1.0).abs() < 0.1, "{name}: {total} against TCP's {best}");
        rates[1] / total
    };
    // Reno's share is √p₁/(√p₁ + √p₂) = 26 %, LIA's p₁/(p₁ + p₂) = 11 %, OLIA's only the probing rate.
    let [reno, lia, balia, olia] = ["reno", "lia", "balia", "olia"].map(congested);
    assert!(reno > 0.22 && lia < 0.17 && balia < lia && olia < balia, "{reno} {lia} {balia} {olia}");
    assert!(congested("cmt-rpv1") < lia && congested("cmt-rpv2") < lia);
}

#[test]
fn equal_pooled_paths_have_equal_shares() {
    for name in ["cmt-rpv1", "cmt-rpv2"] {
        let rates = throughput(name, &[Link::lossy(50, 0.005); 2]);
        let share = rates[0] / (rates[0] + rates[1]);
        assert!((share - 0.5).abs() < 0.05, "{name}: {share}");
    }
}

#[test]
fn pooled_slow_start_on_two_paths_grows_by_half_per_round() {
    // Each of two equal paths grows by half a packet per ACK: the total grows by half per round.
    let mut rounds = Rounds::new("cmt-rpv2", &[Link::lossy(100, 0.0); 2], INFINITE);
    (0..4).for_each(|round| rounds.round(round % 2));
    let total = rounds.window(0) + rounds.window(1);
    assert!((40..=46).contains(&total), "20 · 1.5² = 45, got {total}");
}

#[test]
fn wvegas_keeps_alpha_packets_in_a_queue_with_other_traffic() {
    // Other traffic arrives and keeps 8 packets in the queue of a path that holds 50; wVegas adds up to its 10.
    let mut rounds = Rounds::new("wvegas", &[Link::queueing(50, 1000.0, 1000.0)], 2);
    rounds.run(Duration::from_secs(1));
    rounds.links[0].delay = Duration::from_millis(58);
    rounds.run(Duration::from_secs(60));
    let windows = &rounds.progress[0].windows[500..];
    assert!(windows.iter().all(|w| (59..=61).contains(w)), "60 · 10/60 = 10 packets: {windows:?}");
}

#[test]
fn a_lone_wvegas_has_no_loss_and_uses_most_of_the_path() {
    // It drains the queue at twice the smallest queueing delay.
    let link = Link::queueing(50, 1000.0, 10.0);
    let mut rounds = Rounds::new("wvegas", &[link; 2], INFINITE);
    let rates = rounds.run(Duration::from_secs(60));
    assert!(rates.iter().all(|rate| *rate > 850.0), "{rates:?}");
    let windows = |p: usize| &rounds.progress[p].windows[20..];
    assert!((0..2).all(|p| windows(p).iter().all(|w| link.queue(*w) <= 3.0)));
}

#[test]
fn every_algorithm_runs_25_subflows() {
    for name in Algorithm::NAMES {
        let rates = Rounds::new(name, &[Link::lossy(20, 0.01); 25], INFINITE).run(Duration::from_secs(60));
        assert!(rates.iter().all(|rate| *rate > 0.0), "{name}: {rates:?}");
    }
}
