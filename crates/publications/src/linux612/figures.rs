//! Each case's figures beside the kernel's, and how far off they are.

use subflow_report::{Axis, Bars, Figure};

use super::comparison::{Comparison, Outcome};
use super::distributions;
use crate::study::{Results, distinct};

/// For each letter that cases begin with: the deviations, then both figures. Then the distributions.
pub(super) fn figures(results: &Results) -> Vec<Figure> {
    let outcomes = Outcome::all(results);
    let single = outcomes.iter().filter(|outcome| !outcome.configuration.is_chaotic());
    let comparisons: Vec<Comparison<'_>> = single.flat_map(Outcome::comparisons).collect();
    let mut figures = Vec::new();
    for title in distinct(comparisons.iter().map(Comparison::table_title)) {
        let of_title: Vec<&Comparison<'_>> =
            comparisons.iter().filter(|comparison| comparison.table_title() == title).collect();
        figures.extend([deviations(&title, &of_title), both(&title, &of_title)]);
    }
    figures.extend(distributions::figures(&distributions::all(&outcomes)));
    figures
}

fn deviations(title: &str, comparisons: &[&Comparison<'_>]) -> Figure {
    let mut bars = Bars::new(Axis::new("deviation", "%"));
    for comparison in comparisons {
        if let Some(deviation) = comparison.deviation_pct() {
            bars.add(comparison.name(), "deviation", deviation, None);
        }
    }
    Figure::bars(format!("{title}: deviation from Linux 6.12"), bars)
        .section(title)
        .caption("Ours less the kernel's, as a share of the kernel's.")
}

fn both(title: &str, comparisons: &[&Comparison<'_>]) -> Figure {
    let axis = match comparisons.iter().any(|comparison| comparison.outcome.configuration.transfer) {
        true => Axis::new("completion", "s"),
        false => Axis::new("goodput", "Mbit/s"),
    };
    let mut bars = Bars::new(axis);
    for comparison in comparisons {
        let Some(ours) = comparison.ours() else { continue };
        bars.add(comparison.name(), "ours", ours, None);
        if let Some(kernel) = comparison.kernel() {
            bars.add(
                comparison.name(),
                "Linux 6.12",
                kernel,
                (comparison.reference_samples().len() > 1).then(|| comparison.reference_ends()),
            );
        }
    }
    Figure::bars(format!("{title}: ours and Linux 6.12"), bars)
        .section(title)
        .caption("The whiskers reach from the smallest to the largest of the kernel's repetitions.")
}
