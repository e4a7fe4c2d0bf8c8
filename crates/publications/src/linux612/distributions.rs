//! H: chaotic cases. A single packet more or less sends a run another way, so distributions of many runs are compared
//! instead of their means.

use subflow_lab::statistics::{KolmogorovSmirnov, holm, kolmogorov_smirnov, quantile};
use subflow_report::{Axis, Boxes, Cell, Figure, Finding, Table, Verdict};

use super::comparison::{COMPLETION, Comparison, GOODPUT, Outcome};
use super::measurements::ALL;

/// Distributions with a smaller p-value are held to be different.
const LEVEL: f64 = 0.05;

const TITLE: &str = "H, distributions";
const QUARTILES: [(&str, f64); 5] = [("min", 0.0), ("q1", 0.25), ("median", 0.5), ("q3", 0.75), ("max", 1.0)];

/// The columns that rows have in addition.
pub(super) fn columns() -> Vec<String> {
    let quartiles = |prefix: &str| QUARTILES.map(|(name, _)| format!("{prefix}{name}"));
    let test = ["ks_statistic", "ks_p_value", "ks_p_value_holm"].map(str::to_owned);
    [["quantity".to_owned()].as_slice(), &quartiles(""), &quartiles("reference_"), &test].concat()
}

/// What a chaotic case is compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Quantity {
    /// Its name in rows.
    name: &'static str,
    /// The words at its axis, and the unit.
    label: &'static str,
    unit: &'static str,
}

const GOODPUTS: Quantity = Quantity { name: "goodput_mbps", label: "goodput", unit: "Mbit/s" };
const COMPLETIONS: Quantity = Quantity { name: "completion_s", label: "completion", unit: "s" };
/// The first of two flows' part of their goodput.
const SHARES: Quantity = Quantity { name: "share_of_flow_1", label: "share of the first flow", unit: "" };

/// One quantity of a chaotic case: our runs and the kernel's.
pub(super) struct Distribution<'a> {
    row: Comparison<'a>,
    quantity: Quantity,
    ours: Vec<f64>,
    kernel: Vec<f64>,
    test: KolmogorovSmirnov,
    /// The p-value adjusted for the number of tests in this reproduction.
    holm: f64,
}

/// All that can be compared: each flow, and the share of the first where there are two.
pub(super) fn all<'a>(outcomes: &'a [Outcome<'a>]) -> Vec<Distribution<'a>> {
    let chaotic = outcomes.iter().filter(|outcome| outcome.is_chaotic());
    let mut all: Vec<Distribution<'a>> = chaotic.flat_map(of).collect();
    let adjusted = holm(&all.iter().map(|one| one.test.p_value).collect::<Vec<f64>>());
    for (one, adjusted) in all.iter_mut().zip(adjusted) {
        one.holm = adjusted;
    }
    all
}

fn of<'a>(outcome: &'a Outcome<'a>) -> Vec<Distribution<'a>> {
    let flows = outcome.comparisons().filter(|comparison| comparison.reference.flow != ALL);
    let mut found: Vec<Distribution<'a>> = flows.filter_map(|comparison| of_flow(&comparison)).collect();
    let whole = outcome.comparisons().find(|comparison| comparison.reference.flow == ALL);
    if let ([first, second], Some(whole)) = (found.as_slice(), whole) {
        let share = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a / (a + b)).collect();
        let (ours, kernel) = (share(&first.ours, &second.ours), share(&first.kernel, &second.kernel));
        found.extend(Distribution::new(&whole, SHARES, ours, kernel));
    }
    found
}

/// One flow; `None` if one of our runs did not finish its transfer.
fn of_flow<'a>(comparison: &Comparison<'a>) -> Option<Distribution<'a>> {
    let (figure, quantity) = match comparison.outcome.is("transfer") {
        false => (GOODPUT, GOODPUTS),
        true => (COMPLETION, COMPLETIONS),
    };
    let ours = comparison.outcome.samples(comparison.reference.flow, figure)?;
    Distribution::new(comparison, quantity, ours, comparison.reference_samples().to_vec())
}

impl<'a> Distribution<'a> {
    /// `None` where one of the two has no runs.
    fn new(comparison: &Comparison<'a>, quantity: Quantity, ours: Vec<f64>, kernel: Vec<f64>) -> Option<Self> {
        let test = kolmogorov_smirnov(&ours, &kernel)?;
        Some(Self { row: *comparison, quantity, ours, kernel, test, holm: test.p_value })
    }

    pub(super) fn is_of(&self, comparison: &Comparison<'_>) -> bool {
        std::ptr::eq(self.row.reference, comparison.reference)
    }

    /// The cells of [`columns`].
    pub(super) fn cells(&self) -> Vec<Cell> {
        let quantiles = |samples: &[f64]| QUARTILES.map(|(_, p)| Cell::from(quantile(samples, p)));
        let mut cells = vec![self.quantity.name.into()];
        cells.extend(quantiles(&self.ours));
        cells.extend(quantiles(&self.kernel));
        cells.extend([self.test.statistic.into(), self.test.p_value.into(), self.holm.into()]);
        cells
    }

    /// Different at the level if that holds for all tests together; undecided if it holds only for this one alone.
    fn verdict(&self) -> Verdict {
        match (self.test.p_value >= LEVEL, self.holm >= LEVEL) {
            (true, _) => Verdict::Confirmed,
            (false, true) => Verdict::Undecided,
            (false, false) => Verdict::NotConfirmed,
        }
    }

    pub(super) fn finding(&self) -> Finding {
        let middle = |samples: &[f64]| quantile(samples, 0.5).unwrap_or(0.0);
        let unit = if self.quantity.unit.is_empty() { String::new() } else { format!(" {}", self.quantity.unit) };
        Finding::new(
            format!("H: same distribution not rejected at 5 %: {}", self.name()),
            self.verdict(),
            format!(
                "criterion: p of the two-sample Kolmogorov-Smirnov test at least {LEVEL}; p = {:.2} ({:.2} by Holm), D = {:.3}; \
                 medians: ours {:.3}{unit} of {} runs, Linux 6.12 {:.3}{unit} of {}",
                self.test.p_value,
                self.holm,
                self.test.statistic,
                middle(&self.ours),
                self.ours.len(),
                middle(&self.kernel),
                self.kernel.len(),
            ),
        )
        .beyond()
    }

    /// Which of the case's quantities it is.
    fn of(&self) -> String {
        match self.row.outcome.flows() {
            _ if self.quantity == SHARES => "share of flow 1".to_owned(),
            1 => self.quantity.label.to_owned(),
            _ => format!("flow {}", self.row.reference.flow),
        }
    }

    fn name(&self) -> String {
        let [case, paths] = ["case", "paths_text"].map(|name| self.row.outcome.text(name));
        format!("{case} {} {paths}, {}", self.row.reference.cc, self.of())
    }
}

/// The quartiles of ours and of the kernel's, one below the other; none where there is nothing to compare.
pub(super) fn readable(distributions: &[Distribution<'_>]) -> Option<(String, Table)> {
    let columns = ["case", "cc", "paths", "of", "", "runs"].into_iter().chain(QUARTILES.map(|(name, _)| name));
    let mut table = Table::new(columns.chain(["D", "p", "p (Holm)", "verdict"]));
    for one in distributions {
        let [case, paths] = ["case", "paths_text"].map(|name| one.row.outcome.text(name));
        let names = [case, one.row.reference.cc.clone(), paths, one.of(), "ours".to_owned()];
        let judged = [
            format!("{:.3}", one.test.statistic),
            format!("{:.3}", one.test.p_value),
            format!("{:.3}", one.holm),
            one.verdict().text().to_owned(),
        ];
        let kernel = [String::new(), String::new(), String::new(), String::new(), "kernel".to_owned()];
        for (names, samples, judged) in [(names, &one.ours, judged), (kernel, &one.kernel, Default::default())] {
            let quartiles = QUARTILES.map(|(_, p)| format!("{:.3}", quantile(samples, p).unwrap_or(0.0)));
            let texts = quartiles.into_iter().chain(judged).map(Cell::from);
            let runs = Cell::Integer(samples.len() as i64);
            table.row(names.into_iter().map(Cell::from).chain([runs]).chain(texts));
        }
    }
    (!distributions.is_empty()).then(|| (TITLE.to_owned(), table))
}

/// Box plots, one figure for each quantity.
pub(super) fn figures(distributions: &[Distribution<'_>]) -> Vec<Figure> {
    let figure = |quantity: Quantity| {
        let title = format!("{TITLE}: {}, ours and Linux 6.12", quantity.label);
        let mut boxes = Boxes::new(Axis::new(quantity.label, quantity.unit));
        for one in distributions.iter().filter(|one| one.quantity == quantity) {
            boxes.add(one.name(), "ours", &one.ours).add(one.name(), "Linux 6.12", &one.kernel);
        }
        let is_empty = boxes.boxes.is_empty();
        (!is_empty).then(|| Figure::boxes(title, boxes).section(TITLE).caption("Whiskers by Tukey's rule."))
    };
    [GOODPUTS, COMPLETIONS, SHARES].into_iter().filter_map(figure).collect()
}

#[cfg(test)]
mod tests {
    use super::super::LINUX612;
    use super::*;
    use crate::study::{Effort, Results};

    /// Two flows whose runs gave the first what the kernel's gave it, and `by` Mbit/s more, and the second what they gave.
    fn shifted(by: f64) -> Results {
        let mut all = LINUX612.invented(Effort::Full, |_| Vec::new());
        all.rows.retain(|row| row.cell.is("case", "H-cubic-cubic"));
        let kernel = |flow: usize| Outcome::all(&all)[0].references[flow].goodput_mbps.clone();
        let run = |(first, second): (f64, f64)| vec![first + by, 0.0, 0.0, 0.0, second, 0.0, 0.0, 0.0];
        all.rows[0].runs = kernel(0).into_iter().zip(kernel(1)).map(run).collect();
        all
    }

    #[test]
    fn each_flow_and_the_share_of_the_first_are_compared() {
        let results = shifted(0.0);
        let outcomes = Outcome::all(&results);
        let found = all(&outcomes).iter().map(|one| (one.verdict(), one.test.statistic)).collect::<Vec<_>>();
        assert_eq!(found, [(Verdict::Confirmed, 0.0); 3]);
    }

    #[test]
    fn a_shift_beyond_the_range_is_another_distribution() {
        let results = shifted(20.0);
        let outcomes = Outcome::all(&results);
        let found = all(&outcomes).iter().map(|one| (one.verdict(), one.test.statistic)).collect::<Vec<_>>();
        let other = (Verdict::NotConfirmed, 1.0);
        assert_eq!(found, [other, (Verdict::Confirmed, 0.0), other]);
    }

    #[test]
    fn what_only_one_of_several_tests_rejects_is_undecided() {
        let results = shifted(0.0);
        let outcomes = Outcome::all(&results);
        let mut first = all(&outcomes).swap_remove(0);
        (first.test.p_value, first.holm) = (0.034, 0.102);
        assert_eq!(first.verdict(), Verdict::Undecided);
    }
}
