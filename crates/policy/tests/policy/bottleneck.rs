//! Compares the detectors with SciPy.

use subflow_policy::bottleneck::{BottleneckDetection, BottleneckDetector, PathSample, pearson, spearman};
use subflow_policy::catalogue::{Catalogue, Value};
use subflow_quantity::{Duration, Instant};

/// A case of `scipy.txt`.
struct Case {
    x: Vec<u64>,
    y: Vec<u64>,
    spearman: f64,
    pearson: f64,
}

fn cases() -> Vec<Case> {
    let lines: Vec<&str> = include_str!("scipy.txt").lines().filter(|line| !line.starts_with('#')).collect();
    let numbers = |line: &str| line.split(' ').map(|number| number.parse().expect("a whole number")).collect();
    let case = |lines: &[&str]| {
        let (spearman, pearson) = lines[3].split_once(' ').expect("two coefficients");
        let coefficient = |text: &str| text.parse().expect("a number");
        let (x, y) = (numbers(lines[1]), numbers(lines[2]));
        Case { x, y, spearman: coefficient(spearman), pearson: coefficient(pearson) }
    };
    lines.chunks_exact(4).map(case).collect()
}

/// The degree after path 0 had the samples `x` and path 1 the samples `y`, in microseconds, every millisecond, after
/// some other samples.
fn degree(name: &str, case: &Case) -> Option<f64> {
    let detector = BottleneckDetection::from_name(name)?.with("window", Value::Integer(case.x.len() as u64)).ok()?;
    let mut detector = detector.with("interval", Value::Duration(Duration::from_millis(1))).ok()?;
    let mut tell = |path: usize, at_us: u64, microseconds: u64| {
        let at = Instant::ZERO + Duration::from_micros(at_us);
        let srtt = Duration::from_micros(microseconds);
        let one_way_delay = microseconds as i64 * 1000 - 7_000_000;
        detector.on_sample(path, &PathSample { at, srtt, one_way_delay, sent: 0, lost: 0 });
    };
    tell(0, 0, 99);
    let before = [(3, 9), (1, 5), (8, 2)];
    let values = before.into_iter().chain(case.x.iter().copied().zip(case.y.iter().copied()));
    for (index, (x, y)) in values.enumerate() {
        let at_us = 1000 * (index as u64 + 1);
        // Path 1 gets its value just before the value of path 0 makes the detector read both.
        tell(1, at_us - 1, y);
        tell(0, at_us, x);
    }
    detector.correlations().between(0, 1)
}

#[test]
fn coefficients_equal_those_of_scipy() {
    let cases = cases();
    assert!(cases.len() > 50, "{}", cases.len());
    for case in &cases {
        let float = |values: &[u64]| values.iter().map(|&value| value as f64).collect::<Vec<_>>();
        let (x, y) = (float(&case.x), float(&case.y));
        let ours = [
            ("spearman", spearman(&x, &y), case.spearman),
            ("pearson", pearson(&x, &y), case.pearson),
            ("red-cpi", degree("red-cpi", case), case.spearman),
            ("mscm", degree("mscm", case), case.pearson),
        ];
        for (name, ours, scipys) in ours {
            let ours = ours.expect("the series vary");
            assert!((ours - scipys).abs() < 1e-9, "{name} of {} values: {ours}, SciPy {scipys}", case.x.len());
        }
    }
}
