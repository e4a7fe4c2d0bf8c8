//! The table `differences`.

use subflow_lab::results::{Difference, Pairing};
use subflow_lab::table::{Columns, Table};

/// A row for each metric of each flow at each point that was compared, with the figures of `Difference`.
pub fn differences(differences: &[Difference]) -> Table {
    let mut columns = Columns::of(differences);
    columns
        .measured_parameters(|row| &row.parameters)
        .words(("flow", "", "Name of the flow or group; absent if the metric is one of the whole run."), |row| {
            row.flow.as_deref()
        })
        .words(("metric", "", "What was measured."), |row| Some(row.metric))
        .words(("unit", "", "Unit of the means and differences in this row."), |row| Some(row.unit))
        .flags(("paired", "", "Whether runs are compared in pairs with the same seed."), |row| {
            Some(row.pairing == Pairing::Paired)
        })
        .counts(("baseline_n", "", "Runs of the baseline that are compared."), |row| Some(row.baseline_n as u64))
        .counts(("n", "", "Runs that are compared with them."), |row| Some(row.n as u64))
        .counts(("lacking", "", "Runs that lack the metric, or flows of a group, that the baseline has."), |row| {
            Some(row.lacking as u64)
        })
        .numbers(("baseline_mean", "see unit", "Mean of the baseline."), |row| row.baseline_mean)
        .numbers(("mean", "see unit", "Mean of the others."), |row| row.mean)
        .numbers(("difference", "see unit", "The mean less that of the baseline."), |row| row.difference)
        .numbers(("difference_ci95_low", "see unit", "Lower end of its 95 % interval."), |row| row.difference_ci95_low)
        .numbers(("difference_ci95_high", "see unit", "Upper end of it."), |row| row.difference_ci95_high)
        .numbers(("change_percent", "%", "The difference in percent of the baseline's mean."), |row| row.change_percent)
        .numbers(("change_percent_ci95_low", "%", "Lower end of its 95 % interval (Fieller's)."), |row| {
            row.change_percent_ci95_low
        })
        .numbers(("change_percent_ci95_high", "%", "Upper end of it."), |row| row.change_percent_ci95_high)
        .numbers(("median_difference", "see unit", "Median of the differences, or difference of the medians."), |row| {
            row.median_difference
        })
        .numbers(("median_difference_ci95_low", "see unit", "Lower end of its 95 % interval."), |row| {
            row.median_difference_ci95_low
        })
        .numbers(("median_difference_ci95_high", "see unit", "Upper end of it."), |row| row.median_difference_ci95_high)
        .exact(("p_value", "1", "p-value of the t-test."), |row| row.p_value)
        .exact(("p_value_holm", "1", "The same, adjusted for all rows of the table (Holm)."), |row| row.p_value_holm);
    columns.table("differences")
}
