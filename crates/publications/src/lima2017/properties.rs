//! What section 2.3.6 names beside friendliness: responsiveness and oscillation. The thesis describes both in words and
//! measures neither; here they are figures of a run in which a TCP connection shares a link until it stops.

use subflow_lab::results::RunResult;
use subflow_lab::statistics::{mean, standard_deviation};

use crate::study::{DELIVERED, by_second};

/// The connection beside the upload, and the second in which it stops.
const RIVAL: &str = "rival";
const STOPS: usize = 20;
/// The run, and what is left out at its beginning and after the stop, in seconds.
const SECONDS: usize = 40;
const SETTLES: usize = 5;
const STEADY: usize = 30;
/// The share of the later goodput that counts as having taken up what the rival leaves.
const TAKEN_UP: f64 = 0.95;

/// Friendliness, the goodput of the TCP connection beside the upload in Mbit/s; responsiveness, the seconds after its stop
/// until the upload has 95 % of its later goodput; and oscillation, the standard deviation of the upload's goodput from
/// second to second after that, in percent of its mean. NaN in other runs.
pub(super) fn properties(result: &RunResult) -> [f64; 3] {
    if !result.flows.iter().any(|flow| flow.name == RIVAL) {
        return [f64::NAN; 3];
    }
    let [upload, rival] = ["upload", RIVAL].map(|flow| {
        let so_far = by_second(result, SECONDS, DELIVERED, |name| name == flow);
        in_each(so_far.iter().map(|values| values.iter().sum::<f64>()))
    });
    of_seconds(&upload, &rival).map(|figure| figure.unwrap_or(f64::NAN))
}

fn of_seconds(upload: &[f64], rival: &[f64]) -> [Option<f64>; 3] {
    let steady = &upload[STEADY..];
    let later = mean(steady);
    let taken_up = |later: f64| upload[STOPS..].iter().position(|goodput| *goodput >= TAKEN_UP * later);
    let oscillation = |later: f64| Some(standard_deviation(steady)? / later * 100.0);
    [mean(&rival[SETTLES..STOPS]), later.and_then(taken_up).map(|second| second as f64), later.and_then(oscillation)]
}

/// What each second adds to what was counted so far.
pub(super) fn in_each(so_far: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut before = 0.0;
    so_far.map(|sum| sum - std::mem::replace(&mut before, sum)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_has_its_time_and_a_sawtooth_its_spread() {
        let goodput = |second: usize| match second {
            0..=22 => 40.0,
            _ if second.is_multiple_of(2) => 52.0,
            _ => 48.0,
        };
        let upload: Vec<f64> = (0..SECONDS).map(goodput).collect();
        let rival: Vec<f64> = (0..SECONDS).map(|second| if second < STOPS { 4.0 } else { 0.0 }).collect();
        let [friendliness, responsiveness, oscillation] =
            of_seconds(&upload, &rival).map(|figure| figure.expect("known"));
        assert_eq!((friendliness, responsiveness), (4.0, 3.0), "48 is 96 % of 50");
        assert!((oscillation - 100.0 * (40.0_f64 / 9.0).sqrt() / 50.0).abs() < 1e-9, "{oscillation}");
        assert_eq!(in_each([1.0, 3.0, 6.0].into_iter()), [1.0, 2.0, 3.0]);
    }
}
