//! The traces of `scenarios/traces`: each line is what the formula in the folder's README says.

use std::f64::consts::TAU;
use std::path::PathBuf;

/// The numbers of a CSV file, behind its comment and its heading.
fn lines(file: &str) -> Vec<[f64; 4]> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/traces").join(file);
    let text = std::fs::read_to_string(path).expect("a trace");
    let line = |line: &str| -> [f64; 4] {
        let fields: Vec<f64> = line.split(',').map(|field| field.parse().expect("a number")).collect();
        fields.try_into().expect("time, rate, delay and loss")
    };
    text.lines().skip(2).map(line).collect()
}

/// Each line has the rate (Mbit/s), the delay (ms) and the loss (%) of its time, rounded: the loss to hundredths, the rest
/// to tenths.
fn assert_computed(file: &str, count: usize, formula: impl Fn(f64) -> [f64; 3]) {
    let lines = lines(file);
    assert_eq!(lines.len(), count, "{file}");
    assert!(lines.is_sorted_by(|before, after| before[0] < after[0]), "{file}");
    for [time, rate, delay, loss] in lines {
        let expected = formula(time);
        let differences = [rate - expected[0], delay - expected[1], loss - expected[2]];
        let are_small =
            differences.iter().zip([0.051, 0.051, 0.0051]).all(|(difference, most)| difference.abs() < most);
        assert!(are_small, "{file} at {time}: {expected:?}");
    }
}

#[test]
fn lte_is_fast_near_base_stations() {
    assert_computed("lte-drive.csv", 30, |t| {
        let distance = (t - 4.0).abs().min((t - 23.0).abs());
        [3.0 + 30.0 * (-(distance / 6.0).powi(2)).exp(), 30.0 + 2.0 * distance, 0.02 * distance]
    });
}

#[test]
fn satellites_change_every_fifteen_seconds() {
    let u = |slot: f64| (slot * 0.618_034).fract();
    assert_computed("satellite-slots.csv", 32, |t| {
        let slot = (t / 15.0).floor();
        let passed = t - 15.0 * slot;
        // 30.4 s less two slots is a little less than 0.4 s in binary.
        let loss = if passed < 0.399 { 4.0 } else { 0.05 };
        [60.0 + 160.0 * u(slot), 18.0 + 14.0 * u(slot + 3.0) + 0.1 * passed, loss]
    });
}

#[test]
fn millimetre_waves_are_blocked_now_and_then() {
    assert_computed("mmwave-walk.csv", 121, |t| {
        if (5.0..6.25).contains(&(t % 7.0)) {
            [40.0, 20.0, 0.5]
        } else {
            [700.0 + 200.0 * (TAU * t / 10.0).cos(), 9.0, 0.0]
        }
    });
}

#[test]
fn wifi_gets_slower_and_ends() {
    const SENSITIVITIES: [f64; 8] = [-82.0, -79.0, -77.0, -74.0, -70.0, -66.0, -65.0, -64.0];
    const RATES: [f64; 8] = [6.5, 13.0, 19.5, 26.0, 39.0, 52.0, 58.5, 65.0];
    assert_computed("wifi-leave.csv", 61, |t| {
        let power = -30.0 - 28.0 * (5.0 + 1.2 * t).log10();
        let Some(modulation) = SENSITIVITIES.iter().rposition(|least| *least <= power) else { return [0.0, 3.0, 0.0] };
        let loss = if power - SENSITIVITIES[modulation] < 1.0 { 5.0 } else { 0.1 };
        [0.65 * RATES[modulation], 3.0, loss]
    });
}

#[test]
fn every_line_of_a_capacity_trace_is_another_full_packet() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/traces/lte-walk.up");
    let text = std::fs::read_to_string(path).expect("a trace");
    // The integral of 12 + 8 sin(2 pi t / 4 s) Mbit/s, in bits.
    let carried = |millis: f64| 1e6 * (12.0 * millis / 1e3 + 32.0 / TAU * (1.0 - (TAU * millis / 4e3).cos()));
    let times: Vec<f64> = text.lines().map(|line| line.parse().expect("milliseconds")).collect();
    assert_eq!((times.len(), times.last()), (4000, Some(&4000.0)));
    for (nth, millis) in times.iter().enumerate() {
        let bits = (nth + 1) as f64 * 12_000.0;
        // The file was summed up by whole milliseconds.
        assert!(carried(millis - 2.0) <= bits && carried(millis + 1.0) >= bits, "line {}: {millis}", nth + 1);
    }
}
