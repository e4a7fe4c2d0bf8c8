//! Queue and round-trip time over time, beside the kernel's: where a table has them.

use subflow_lab::statistics::mean;
use subflow_report::Table;

use super::comparison::Outcome;
use super::measurements::DELAYS;
use crate::study::{self, Claim, Results};

/// The check of all figures of cases whose letter is the claim's `letter`; `percent` is the bound, and one `packet` or
/// `millisecond` beside it, since a median of a few packets is a whole number.
pub(super) const CHECK: &str = "queue and round-trip time";
/// How far a figure may be from the kernel's at least, in packets or milliseconds.
const LEAST_BOUND: f64 = 1.0;
/// A figure of ours and of the kernel's.
struct Delay {
    /// Configuration and figure.
    name: [String; 5],
    ours: f64,
    kernel: f64,
}

impl Delay {
    fn deviation_pct(&self) -> f64 {
        (self.ours / self.kernel - 1.0) * 100.0
    }

    /// The deviation as a share of the bound.
    fn used(&self, percent: f64) -> f64 {
        (self.ours - self.kernel).abs() / (self.kernel * percent / 100.0).max(LEAST_BOUND)
    }
}

/// All figures of an outcome with one flow. A transfer's run goes on after its end.
fn delays(outcome: &Outcome<'_>) -> Vec<Delay> {
    let configuration = &outcome.configuration;
    let reference = &configuration.references[0];
    let is_compared = outcome.is_run() && configuration.references.len() == 1 && !configuration.transfer;
    let figures = DELAYS.iter().zip(&reference.delays).enumerate().filter(|_| is_compared);
    let delay = |(figure, (name, kernel)): (usize, (&&str, &Vec<f64>))| {
        let (ours, kernel) = (outcome.delay(figure)?, mean(kernel).filter(|&kernel| kernel > 0.0)?);
        let name = [&configuration.case, &reference.protocol, &reference.cc, &configuration.paths_text, *name];
        Some(Delay { name: name.map(str::to_owned), ours, kernel })
    };
    figures.filter_map(delay).collect()
}

/// A table of them; none where there is nothing to compare.
pub(super) fn readable(outcomes: &[Outcome<'_>]) -> Option<(String, Table)> {
    let mut table = Table::new(["case", "protocol", "cc", "paths", "of", "ours", "kernel", "dev %"]);
    for delay in outcomes.iter().flat_map(delays) {
        let [case, protocol, cc, paths, of] = delay.name.each_ref().map(String::as_str);
        table.row([
            case.into(),
            protocol.into(),
            cc.into(),
            paths.into(),
            of.into(),
            format!("{:.2}", delay.ours).into(),
            format!("{:.2}", delay.kernel).into(),
            delay.deviation_pct().into(),
        ]);
    }
    (!table.rows().is_empty()).then(|| ("Queue and round-trip time".to_owned(), table))
}

/// Whether all figures are near the kernel's, and the worst.
pub(super) fn near_the_kernel(results: &Results, claim: &Claim) -> Option<study::Outcome> {
    let (letter, percent) = (claim.text("letter"), claim.percent?);
    let outcomes = Outcome::all(results);
    let of_letter = outcomes.iter().filter(|outcome| outcome.configuration.letter == letter);
    let all: Vec<Delay> = of_letter.flat_map(delays).collect();
    let worst = all.iter().max_by(|a, b| a.used(percent).total_cmp(&b.used(percent)))?;
    let met = all.iter().filter(|delay| delay.used(percent) <= 1.0).count();
    let evidence = format!(
        "{met} of {} figures; the worst is {:+.1} % ({:.2} instead of {:.2}, {})",
        all.len(),
        worst.deviation_pct(),
        worst.ours,
        worst.kernel,
        worst.name.join(" "),
    );
    Some(study::Outcome::new(Some(met == all.len()), None, evidence))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_of_a_few_packets_may_be_one_off() {
        let delay = |ours, kernel| Delay { name: Default::default(), ours, kernel };
        assert!(delay(5.0, 6.0).used(10.0) <= 1.0 && delay(4.9, 6.0).used(10.0) > 1.0);
        assert!(delay(55.0, 50.0).used(10.0) <= 1.0 && delay(55.1, 50.0).used(10.0) > 1.0);
    }
}
