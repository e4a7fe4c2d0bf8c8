//! The means of several runs, with their intervals.

use std::fmt::Write;

use super::{WIDTH, half_width, join, optional, percent, short_names, word_of};
use crate::comparison::{SameResults, differences_to_text};
use crate::results::Align::{Left, Right};
use crate::results::{Align, Experiment, PointStatistics, TextTable};
use crate::statistics::Summary;

/// Means with their intervals: tables of flows, subflows and links with rows for each point of the sweep.
pub(super) fn many_runs(text: &mut String, experiment: &Experiment) {
    let table = |columns: &[(&'static str, Align)]| table_of_points(experiment, columns);
    let mut flows = table(&[
        ("flow", Left),
        ("runs", Right),
        ("Mbit/s", Right),
        ("± 95 %", Right),
        ("median", Right),
        ("sd", Right),
        ("done s", Right),
        ("retrans", Right),
        ("RTOs", Right),
    ]);
    let mut subflows = table(&[
        ("flow", Left),
        ("subflow", Left),
        ("Mbit/s", Right),
        ("± 95 %", Right),
        ("packets", Right),
        ("retrans", Right),
    ]);
    let mut exchanges = table(&[("flow", Left), ("exchanges", Right), ("mean ms", Right), ("± 95 %", Right)]);
    let mut links = table(&[("link", Left), ("used", Right), ("drops", Right)]);
    for point in &experiment.statistics {
        let values = || point_values(point);
        for flow in &point.flows {
            flows.row(values().chain([
                flow.name.clone(),
                point.runs.to_string(),
                optional(flow.goodput_mbps.mean, 3),
                half_width(&flow.goodput_mbps),
                optional(flow.goodput_mbps.median, 3),
                optional(flow.goodput_mbps.sd, 3),
                completion(&flow.completion_s, point.runs),
                optional(flow.retransmissions.mean, 1),
                optional(flow.timeouts.mean, 1),
            ]));
            if let Some(of) = &flow.exchanges {
                let figures = [optional(of.completed.mean, 1), optional(of.mean_ms.mean, 1), half_width(&of.mean_ms)];
                exchanges.row(values().chain([flow.name.clone()]).chain(figures));
            }
            for subflow in &flow.subflows {
                subflows.row(values().chain([
                    flow.name.clone(),
                    subflow.name.clone(),
                    optional(subflow.goodput_mbps.mean, 3),
                    half_width(&subflow.goodput_mbps),
                    optional(subflow.packets_sent.mean, 1),
                    optional(subflow.retransmissions.mean, 1),
                ]));
            }
        }
        for link in &point.links {
            let used = link.utilisation.mean.map_or_else(|| "–".to_owned(), percent);
            links.row(values().chain([link.name.clone(), used, optional(link.drops.mean, 1)]));
        }
    }
    join(text, [flows, groups(experiment), subflows, exchanges, links]);
    baseline(text, experiment);
    equal_results(text, experiment);
    for run in &experiment.runs {
        for objection in run.result.objections() {
            let _ = writeln!(text, "NOT VALID: run {}, which is in the figures: {objection}", run.run);
        }
    }
}

/// The mean time to completion, with the number of runs that it is of if the others did not complete.
fn completion(summary: &Summary, runs: usize) -> String {
    let mean = optional(summary.mean, 3);
    if (1..runs).contains(&summary.n) { format!("{mean} ({} of {runs})", summary.n) } else { mean }
}

/// Times to completion of the flows of each group.
fn groups(experiment: &Experiment) -> TextTable {
    let mut groups = table_of_points(
        experiment,
        &[
            ("group", Left),
            ("started", Right),
            ("done", Right),
            ("mean s", Right),
            ("± 95 %", Right),
            ("median s", Right),
            ("p95 s", Right),
            ("p99 s", Right),
            ("± 95 %", Right),
        ],
    );
    for point in &experiment.statistics {
        for group in &point.groups {
            groups.row(point_values(point).chain([
                group.name.clone(),
                optional(group.started.mean, 1),
                optional(group.completed.mean, 1),
                optional(group.completion_mean_s.mean, 3),
                half_width(&group.completion_mean_s),
                optional(group.completion_p50_s.mean, 3),
                optional(group.completion_p95_s.mean, 3),
                optional(group.completion_p99_s.mean, 3),
                half_width(&group.completion_p99_s),
            ]));
        }
    }
    groups
}

/// An empty table with a column for each swept path before `columns`.
fn table_of_points(experiment: &Experiment, columns: &[(&'static str, Align)]) -> TextTable {
    let parameters = short_names(&experiment.scenario.sweep);
    TextTable::new(parameters.iter().map(|name| (name.as_str(), Left)).chain(columns.iter().copied()))
}

/// The points, and the runs, that cannot be told apart.
fn equal_results(text: &mut String, experiment: &Experiment) {
    let SameResults { points, seeds } = SameResults::of(experiment);
    for (number, sentence) in points.into_iter().chain(seeds).enumerate() {
        text.push_str(if number == 0 { "\n" } else { "" });
        textwrap::wrap(&sentence, WIDTH).iter().for_each(|line| *text += &format!("{line}\n"));
    }
}

/// The differences to the chosen points.
fn baseline(text: &mut String, experiment: &Experiment) {
    let Some(baseline) = &experiment.baseline else { return };
    let value = word_of(&baseline.value);
    let _ = write!(text, "\nDifferences to {} = {value}\n", baseline.path);
    text.push_str(&differences_to_text(&baseline.differences, &experiment.scenario.sweep));
}

fn point_values(point: &PointStatistics) -> impl Iterator<Item = String> {
    point.parameters.values().map(word_of)
}
