//! The congestion window over time against the kernel's: the same epochs, at the same times, to the same height.

use std::path::Path;

use subflow_lab::simulate::{RunOptions, simulate};
use subflow_scenario::Scenario;
use subflow_scenario::file::Document;

/// The kernel's window every 50 ms over 50 Mbit/s, 20 ms and a queue of 100 packets.
const KERNEL: &str = include_str!("../papers/linux612/measured/trace_cwnd_50ms.csv");

/// Peaks may differ by so much: a sample need not hit the top.
const PEAK_TOLERANCE: f64 = 0.05;
/// How many samples before a fall its peak is looked for in: the fall itself may take longer than 50 ms.
const PEAK_SAMPLES: usize = 5;
/// And their times, seconds: what the recovery from slow start leaves over stays in all later epochs of Reno's, each of
/// which lasts 6.7 s.
const TIME_TOLERANCE: f64 = 0.5;

/// When the window fell by a tenth or more, and from what. Falls within half a second of each other are one.
fn epochs(trace: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut epochs: Vec<(f64, f64)> = Vec::new();
    for (index, pair) in trace.windows(2).enumerate() {
        let (time, before) = pair[0];
        let fell = pair[1].1 < 0.9 * before;
        if fell && epochs.last().is_none_or(|&(last, _)| time - last > 0.5) {
            let recent = &trace[(index + 1).saturating_sub(PEAK_SAMPLES)..=index];
            epochs.push((time, recent.iter().map(|&(_, window)| window).fold(0.0, f64::max)));
        }
    }
    epochs
}

fn kernel(congestion: &str) -> Vec<(f64, f64)> {
    let rows = csv::Reader::from_reader(KERNEL.as_bytes()).into_records().map(|row| row.expect("a good table"));
    let number = |text: &str| text.parse().expect("a number");
    rows.filter(|row| &row[1] == congestion).map(|row| (number(&row[3]), number(&row[4]))).collect()
}

fn ours(congestion: &str) -> Vec<(f64, f64)> {
    let text = format!(
        r#"
        duration = "30 s"
        sample_interval = "50 ms"
        [hosts]
        client = ["eth"]
        server = ["eth"]
        [routers]
        a = {{}}
        b = {{}}
        [links.access]
        between = ["client", "a"]
        rate = "unlimited"
        delay = {{ up = "0 ms", down = "20 ms" }}
        [links.bottleneck]
        between = ["a", "b"]
        rate = {{ up = "50 Mbit/s", down = "unlimited" }}
        queue = {{ up = "100 packets", down = "unlimited" }}
        [links.egress]
        between = ["b", "server"]
        rate = "unlimited"
        delay = {{ up = "20 ms", down = "0 ms" }}
        [flows.one]
        from = "client"
        to = "server"
        congestion = "{congestion}"
        "#
    );
    let document = Document::parse(Path::new("trace.toml"), text).expect("TOML");
    let scenario = Scenario::read(&document).expect("a good scenario");
    let options = RunOptions { series: true, ..RunOptions::default() };
    let result = simulate(&scenario, 1, &options).expect("a good run");
    let series = result.series.iter().find(|series| series.metric == "cwnd").expect("windows are sampled");
    series.points().iter().map(|point| (point.time_s, point.value)).collect()
}

#[test]
fn the_windows_of_reno_and_cubic_rise_and_fall_with_the_kernels() {
    for congestion in ["reno", "cubic"] {
        let (ours, kernel) = (epochs(&ours(congestion)), epochs(&kernel(congestion)));
        assert_eq!(ours.len(), kernel.len(), "{congestion}: {ours:?}, the kernel's {kernel:?}");
        for ((time, peak), (kernel_time, kernel_peak)) in ours.iter().zip(&kernel) {
            let near =
                (time - kernel_time).abs() <= TIME_TOLERANCE && (peak / kernel_peak - 1.0).abs() <= PEAK_TOLERANCE;
            assert!(
                near,
                "{congestion}: {peak} at {time} s, the kernel's {kernel_peak} at {kernel_time} s; {ours:?}, {kernel:?}"
            );
        }
    }
}

/// The scenarios that stand for cells of the thesis's tables are good.
#[test]
fn the_papers_scenarios_can_be_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/papers/lugowski2017");
    let files = std::fs::read_dir(folder).expect("the folder is there").map(|entry| entry.expect("a file").path());
    let scenarios: Vec<_> = files.filter(|path| path.extension().is_some_and(|ending| ending == "toml")).collect();
    assert!(!scenarios.is_empty());
    for path in scenarios {
        let document = Document::load(&path).unwrap_or_else(|problem| panic!("{}: {problem}", path.display()));
        let read = Scenario::read(&document);
        assert!(read.is_ok(), "{}: {:?}", path.display(), read.err());
    }
}
