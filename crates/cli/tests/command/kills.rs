//! A sweep of 2000 runs, killed at points that are drawn at random.

use std::collections::BTreeMap;

use rand_core::RngCore;

use crate::desk::{Desk, QUICK};
use crate::interrupted::{assert_equal, start_and_kill};

const RUNS: usize = 2000;
const KILLS: usize = 6;
/// The seed of the points at which the sweep is killed.
const SEED: u64 = 0x5eed_2000;

/// So many numbers of runs after which the sweep is killed, in ascending order.
fn kill_points() -> Vec<usize> {
    let mut random = subflow_network::stream(SEED, "kills");
    let mut points: Vec<usize> = (0..KILLS).map(|_| 1 + random.next_u32() as usize % (RUNS - RUNS / 20)).collect();
    points.sort_unstable();
    points
}

#[test]
fn a_sweep_of_2000_runs_that_is_killed_at_any_point_loses_only_the_runs_under_way() {
    let short = QUICK.replace("2 s", "40 ms").replace("100 kB", "4 kB").replace("delay = \"5 ms\"", "delay = \"1 ms\"");
    let lossy = short.replace("delay = \"1 ms\"", "delay = \"1 ms\"\nloss = \"5 %\"");
    let desk = Desk::new(&format!("{lossy}[sweep]\n\"links.cable.rate\" = [\"10 Mbit/s\", \"20 Mbit/s\"]\n"));
    let command = ["run", "quick.toml", "--repeat", "1000", "--jobs", "2", "--series", "none", "--resume", "--out"];
    let (cut, whole) = ([&command[..], &["cut"]].concat(), [&command[..], &["whole"]].concat());
    let mut before = BTreeMap::new();
    for point in kill_points() {
        before = start_and_kill(&desk, &cut, point, &before);
    }
    assert!(before.len() < RUNS, "it was never cut");
    for arguments in [&cut, &whole] {
        let (code, _, stderr) = desk.subflow(arguments);
        assert_eq!(code, Some(0), "{stderr}");
    }
    assert!(!desk.path("cut.runs").exists(), "the runs are in the results");
    assert_equal(&desk, ["cut", "whole"], RUNS);
}
