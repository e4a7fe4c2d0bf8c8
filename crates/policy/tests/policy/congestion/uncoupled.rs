//! Compares uncoupled algorithms with their analytical models.

use subflow_policy::catalogue::{Catalogue, Value};
use subflow_policy::congestion::{Ack, Algorithm};
use subflow_quantity::{Duration, Instant};

use super::rounds::{INFINITE, Link, Rounds, delivery, throughput};

#[test]
fn renos_window_oscillates_between_half_the_pipe_and_all_of_it() {
    // The path holds 100 packets and its queue 50.
    let mut rounds = Rounds::new("reno", &[Link::queueing(100, 1000.0, 50.0)], 2);
    rounds.run(Duration::from_secs(300));
    let windows = &rounds.progress[0].windows[500..];
    assert_eq!((windows.iter().min(), windows.iter().max()), (Some(&75), Some(&151)));
    let mean = windows.iter().map(|w| f64::from(*w)).sum::<f64>() / windows.len() as f64;
    assert!((mean / (0.75 * 151.0) - 1.0).abs() < 0.01, "mean {mean}");
}

#[test]
fn reno_obeys_the_square_root_law() {
    // Mathis et al. 1997: window √(3/2p).
    for loss in [0.001_f64, 0.003, 0.01, 0.03] {
        let law = (1.5 / loss).sqrt() / 0.05;
        let ours = throughput("reno", &[Link::lossy(50, loss)])[0];
        assert!((ours / law - 1.0).abs() < 0.1, "loss {loss}: {ours} against {law}");
    }
}

#[test]
fn slow_start_doubles_each_round() {
    for algorithm in ["reno", "lia", "olia", "balia", "wvegas", "cmt-rpv1", "cmt-rpv2"] {
        let mut run = Rounds::new(algorithm, &[Link::lossy(100, 0.0)], INFINITE);
        (0..5).for_each(|_| run.round(0));
        assert_eq!(run.window(0), 320, "{algorithm}");
    }
}

/// CUBIC after a loss at 500 packets, on a path of 50 ms that never loses again.
fn cubic_after_loss() -> Rounds {
    let mut rounds = Rounds::with_window("cubic", &[Link::lossy(50, 0.0)], 500, 2);
    rounds.lose(0, Instant::ZERO);
    rounds
}

#[test]
fn cubic_follows_the_cubic_function() {
    // W(t) = 0.4 (t − K)³ + 500, K = ∛(150 / 0.4); Linux uses the target of the next round, and each round reaches its
    // target.
    let k = (150.0_f64 / 0.4).cbrt();
    let mut rounds = cubic_after_loss();
    while rounds.progress[0].now.as_secs_f64() < 1.6 * k {
        rounds.round(0);
        let (t, window) = (rounds.progress[0].now.as_secs_f64(), f64::from(rounds.window(0)));
        let law = 0.4 * (t - k).powi(3) + 500.0;
        assert!((window - law).abs() < 0.01 * law + 1.0, "at {t:.2} s: {window} against {law:.1}");
    }
}

#[test]
fn cubic_is_concave_to_the_plateau_and_convex_beyond() {
    let mut rounds = cubic_after_loss();
    rounds.run(Duration::from_secs(15));
    let w = |second: usize| i64::from(rounds.progress[0].windows[20 * second]);
    let growth = |second| w(second + 1) - w(second);
    assert!(growth(0) > growth(2) && growth(2) > growth(4) && growth(4) > growth(6));
    assert!(growth(8) < growth(10) && growth(10) < growth(12));
}

#[test]
fn on_a_short_path_cubic_is_about_as_fast_as_reno() {
    // RFC 9438, section 4.3: where the cubic is slower than Reno would be, CUBIC follows an estimate of Reno. With
    // Linux's integers it stays one packet below the estimate, a tenth of a small window (kernel 6.12 at 1 % loss:
    // 0.90).
    for loss in [0.001, 0.003, 0.01] {
        let links = [Link::lossy(10, loss)];
        let (cubic, reno) = (throughput("cubic", &links)[0], throughput("reno", &links)[0]);
        assert!((0.82..1.1).contains(&(cubic / reno)), "loss {loss}: {cubic} against {reno}");
    }
}

#[test]
fn hystart_ends_slow_start_when_a_queue_forms() {
    // The path holds 100 packets and its queue 1000: without HyStart the window would exceed 1000.
    let mut rounds = Rounds::new("cubic", &[Link::queueing(100, 1000.0, 1000.0)], INFINITE);
    rounds.run(Duration::from_secs(2));
    let ssthresh = rounds.controller.path(0).ssthresh();
    assert!((80..=200).contains(&ssthresh), "{ssthresh}");
}

#[test]
fn cubic_grows_as_linux_6_12_did() {
    // Reference run cubic 50/20/100, windows after its first loss at 280 packets. From 0.553 s on the link delivers two
    // packets every 480 µs, independent of the window.
    let mut rounds = Rounds::with_window("cubic", &[Link::lossy(40, 0.0)], 280, 2);
    let ack = |now, rtt| Ack { now, acked: 2, rtt, una: 0, nxt: 1000, in_flight: 200 };
    rounds.controller.on_sample(0, &ack(Instant::ZERO, Some(Duration::from_micros(40_044))));
    let mut now = Instant::ZERO + Duration::from_millis(553);
    rounds.lose(0, now);
    for (ms, window) in [(801, 206), (1001, 214), (1502, 230), (2002, 244), (2502, 255), (3003, 263), (3253, 267)] {
        while now < Instant::ZERO + Duration::from_millis(ms) {
            rounds.controller.on_delivered(0, &delivery(ack(now, None), true));
            now += Duration::from_micros(480);
        }
        assert!(rounds.window(0).abs_diff(window) <= 1, "at {ms} ms: {} against {window}", rounds.window(0));
    }
}

#[test]
fn vegas_keeps_two_to_four_packets_queued() {
    // The path holds 100 packets. Linux compares the queue with the smallest RTT: w · queueing / base.
    let link = Link::queueing(100, 1000.0, 1000.0);
    let mut rounds = Rounds::new("vegas", &[link], INFINITE);
    rounds.run(Duration::from_secs(60));
    let windows = &rounds.progress[0].windows;
    let settled = &windows[windows.len() / 2..];
    assert!(settled.iter().all(|&window| (1.0..=5.0).contains(&link.queue(window))), "{settled:?}");
    assert!(settled.windows(2).all(|pair| pair[0] == pair[1]), "it stays: {settled:?}");
}

#[test]
fn a_random_loss_costs_westwood_no_window_below_what_the_path_holds() {
    // 0.1 % of random loss on a path of 100 packets with a queue: Reno halves, Westwood+ keeps the product (Grieco and
    // Mascolo 2004, section 2).
    let lossy = Link { loss: 0.001, ..Link::queueing(100, 1000.0, 100.0) };
    let [westwood, reno] = ["westwood", "reno"].map(|name| throughput(name, &[lossy])[0]);
    assert!(westwood > 900.0 && westwood > 1.2 * reno, "{westwood} against {reno}");
}

#[test]
fn westwood_leaves_the_queue_after_a_loss_and_no_more() {
    // The window reaches the path's 100 packets and the queue's 50; what is left fills the path, but for Linux's ticks.
    let mut rounds = Rounds::new("westwood", &[Link::queueing(100, 1000.0, 50.0)], 2);
    rounds.run(Duration::from_secs(300));
    let least = rounds.progress[0].windows[500..].iter().min().copied();
    assert!(least.is_some_and(|least| (95..=108).contains(&least)), "{least:?}");
}

#[test]
fn hystart_plus_plus_ends_slow_start_when_a_queue_forms_and_not_because_of_one_long_round() {
    let run = |algorithm: &str| {
        let chosen = Algorithm::from_name(algorithm).expect("a name");
        let chosen = chosen.with("hystart_plus_plus", Value::Boolean(true)).expect("an option");
        Rounds::with_algorithm(chosen, &[Link::queueing(100, 1000.0, 1000.0)], 10, INFINITE)
    };
    for algorithm in ["reno", "cubic"] {
        let mut rounds = run(algorithm);
        rounds.run(Duration::from_secs(3));
        // The queue grows by 13 packets and more (12.5 ms); five rounds of CSS make the window up to 2.5 times as large.
        let ssthresh = rounds.controller.path(0).ssthresh();
        assert!((113..=800).contains(&ssthresh), "{algorithm}: {ssthresh}");
        // A round that is longer, and then none: slow start goes on to the window that a queue ends.
        let mut disturbed = run(algorithm);
        (0..2).for_each(|_| disturbed.round(0));
        disturbed.links[0].delay = Duration::from_millis(150);
        disturbed.round(0);
        disturbed.links[0].delay = Duration::from_millis(100);
        disturbed.run(Duration::from_secs(3));
        let after = disturbed.controller.path(0).ssthresh();
        assert!((100..=800).contains(&after), "{algorithm}: {after}");
    }
}
