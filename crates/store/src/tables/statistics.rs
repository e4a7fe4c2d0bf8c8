//! The tables `statistics` and `differences`.

use subflow_lab::results::metrics::Summaries;
use subflow_lab::results::{Difference, Experiment, Pairing, PointStatistics};
use subflow_lab::statistics::Summary;
use subflow_lab::table::{Columns, Table};

use super::of_experiment;

/// One quantity of one thing at one point of the sweep.
struct Row<'r> {
    index: usize,
    point: &'r PointStatistics,
    kind: &'static str,
    name: Option<&'r str>,
    flow: Option<&'r str>,
    quantity: &'static str,
    unit: &'static str,
    summary: &'r Summary,
}

/// A row for each quantity of each flow, group, subflow, link and interface, and of the whole, at each point of the sweep.
pub fn statistics(experiment: &Experiment) -> Table {
    let rows: Vec<Row<'_>> =
        experiment.statistics.iter().enumerate().flat_map(|(index, point)| of_point(index, point)).collect();
    let mut columns = Columns::of(&rows);
    columns
        .counts(("point", "", "Number of the point of the sweep, from 0."), |row| Some(row.index as u64))
        .measured_parameters(|row| &row.point.parameters)
        .words(("kind", "", "flow, group, subflow, link, interface or total."), |row| Some(row.kind))
        .words(("flow", "", "Name of the flow or group, also of a subflow."), |row| row.flow)
        .words(("name", "", "Name of the flow, group, subflow, link or interface."), |row| row.name)
        .words(("quantity", "", "What was measured."), |row| Some(row.quantity))
        .words(("unit", "", "Unit of the numbers in this row."), |row| Some(row.unit))
        .counts(("n", "", "Runs that have the quantity."), |row| Some(row.summary.n as u64));
    numbers(&mut columns);
    of_experiment(columns.table("statistics"), experiment)
}

fn numbers<'r>(columns: &mut Columns<'r, Row<'r>>) {
    columns
        .numbers(("mean", "see unit", "Mean."), |row| row.summary.mean)
        .numbers(("median", "see unit", "Median."), |row| row.summary.median)
        .numbers(("sd", "see unit", "Sample standard deviation."), |row| row.summary.sd)
        .numbers(("ci95_low", "see unit", "Lower end of the 95 % interval of the mean."), |row| row.summary.ci95_low)
        .numbers(("ci95_high", "see unit", "Upper end of it."), |row| row.summary.ci95_high)
        .numbers(("median_ci95_low", "see unit", "Lower end of the 95 % interval of the median."), |row| {
            row.summary.median_ci95_low
        })
        .numbers(("median_ci95_high", "see unit", "Upper end of it."), |row| row.summary.median_ci95_high)
        .numbers(("min", "see unit", "Smallest."), |row| row.summary.min)
        .numbers(("q1", "see unit", "First quartile."), |row| row.summary.q1)
        .numbers(("q3", "see unit", "Third quartile."), |row| row.summary.q3)
        .numbers(("max", "see unit", "Largest."), |row| row.summary.max);
}

fn of_point(index: usize, point: &PointStatistics) -> Vec<Row<'_>> {
    let mut of = Rows { index, point, rows: Vec::new() };
    for flow in &point.flows {
        let name = Some(flow.name.as_str());
        of.add("flow", name, name, &flow.summaries);
        for subflow in &flow.subflows {
            of.add("subflow", name, Some(&subflow.name), &subflow.summaries);
        }
    }
    for group in &point.groups {
        of.add("group", Some(&group.name), Some(&group.name), &group.summaries);
    }
    for link in &point.links {
        of.add("link", None, Some(&link.name), &link.summaries);
    }
    for interface in &point.interfaces {
        of.add("interface", None, Some(&interface.name), &interface.summaries);
    }
    of.add("total", None, None, &point.summaries);
    of.rows
}

/// The rows of a point.
struct Rows<'r> {
    index: usize,
    point: &'r PointStatistics,
    rows: Vec<Row<'r>>,
}

impl<'r> Rows<'r> {
    /// Adds those of a thing: its kind, the flow that it belongs to, and its name.
    fn add<T>(&mut self, kind: &'static str, flow: Option<&'r str>, name: Option<&'r str>, of: &'r Summaries<T>) {
        let (index, point) = (self.index, self.point);
        self.rows.extend(of.iter().map(|(metric, summary)| Row {
            index,
            point,
            kind,
            name,
            flow,
            quantity: metric.quantity,
            unit: metric.unit,
            summary,
        }));
    }
}

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
