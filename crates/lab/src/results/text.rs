//! Results as text tables: all figures of a single run, or the means of several runs.

use std::fmt::Write;

use super::Align::{Left, Right};
use super::{Experiment, FlowResult, PointStatistics, Run, TextTable};
use crate::comparison::{differences_to_text, same_results, word as word_of};
use crate::number;
use crate::statistics::Summary;

/// The width of text.
const WIDTH: usize = 100;

/// The tables of an experiment.
pub fn to_text(experiment: &Experiment) -> String {
    let scenario = &experiment.scenario;
    let mut text = format!("{}\n", scenario.title);
    let runs = experiment.runs.len();
    let seeds = match (scenario.repeat, runs) {
        (1, _) => format!("seed {}", scenario.seed),
        (repeat, _) => format!("seeds {}–{}", scenario.seed, scenario.seed + u64::from(repeat) - 1),
    };
    let plural = if runs == 1 { "run" } else { "runs" };
    let _ = write!(text, "{}: {runs} {plural} of {} s, {seeds}", scenario.name, plain(scenario.duration_s));
    if scenario.warm_up_s > 0.0 {
        let _ = write!(text, ", measured from {} s", plain(scenario.warm_up_s));
    }
    text.push_str("\n\n");
    match &experiment.runs[..] {
        [run] => one_run(&mut text, run),
        _ => many_runs(&mut text, experiment),
    }
    text
}

/// Tables of connections, subflows and links.
fn one_run(text: &mut String, run: &Run) {
    let mut flows = TextTable::new([
        ("connection", Left),
        ("protocol", Left),
        ("congestion", Left),
        ("scheduler", Left),
        ("paths", Left),
        ("Mbit/s", Right),
        ("MB", Right),
        ("done s", Right),
        ("retrans", Right),
        ("RTOs", Right),
    ]);
    let mut subflows = TextTable::new([
        ("connection", Left),
        ("subflow", Left),
        ("Mbit/s", Right),
        ("packets", Right),
        ("retrans", Right),
        ("srtt ms", Right),
        ("cwnd", Right),
    ]);
    for flow in &run.result.flows {
        flows.row([
            flow.name.clone(),
            flow.protocol.clone(),
            word(&flow.congestion),
            word(&flow.scheduler),
            word(&flow.path_manager),
            number::fixed(flow.goodput_mbps, 3),
            number::fixed(flow.bytes_delivered as f64 / 1e6, 3),
            done(flow),
            flow.retransmissions.to_string(),
            flow.timeouts.to_string(),
        ]);
        for subflow in &flow.subflows {
            subflows.row([
                flow.name.clone(),
                subflow.name.clone(),
                number::fixed(subflow.goodput_mbps, 3),
                subflow.packets_sent.to_string(),
                subflow.retransmissions.to_string(),
                optional(subflow.srtt_ms, 1),
                optional(subflow.cwnd_packets, 0),
            ]);
        }
    }
    let mut links = TextTable::new([
        ("link", Left),
        ("packets", Right),
        ("drops", Right),
        ("losses", Right),
        ("used up", Right),
        ("used down", Right),
    ]);
    for link in &run.result.links {
        links.row([
            link.name.clone(),
            link.packets.to_string(),
            link.drops.to_string(),
            link.losses.to_string(),
            percent(link.up.utilisation),
            percent(link.down.utilisation),
        ]);
    }
    join(text, [flows, subflows, exchanges(run), abandoned(run), datagrams(run), links]);
    real_time(text, run);
}

/// The completion time, or how a connection ended that failed before.
fn done(flow: &FlowResult) -> String {
    match (flow.completion_s, flow.ended) {
        (None, Some(how)) if how != "gracefully" => how.to_owned(),
        (completion_s, _) => optional(completion_s, 3),
    }
}

/// A line for a run in real time, and one for each note and objection.
fn real_time(text: &mut String, run: &Run) {
    let Some(real) = &run.result.real_time else { return };
    let _ = write!(
        text,
        "\nLinux {}, {} devices, packets late by {} µs (99 %), {} µs (99.9 %), {} µs (the latest), CPU left {}\n",
        real.kernel,
        real.device,
        number::fixed(real.late_p99_us, 0),
        number::fixed(real.late_p999_us, 0),
        number::fixed(real.late_max_us, 0),
        percent(real.cpu_left),
    );
    for note in &real.notes {
        let _ = writeln!(text, "note: {note}");
    }
    for objection in &real.objections {
        let _ = writeln!(text, "NOT VALID: {objection}");
    }
}

fn exchanges(run: &Run) -> TextTable {
    let columns =
        [("connection", Left), ("exchanges", Right), ("mean ms", Right), ("median ms", Right), ("p95 ms", Right)];
    let mut table = TextTable::new(columns);
    for flow in &run.result.flows {
        if let Some(e) = &flow.exchanges {
            let times = [e.mean_ms, e.median_ms, e.p95_ms].map(|time| optional(time, 1));
            table.row([flow.name.clone(), e.completed.to_string()].into_iter().chain(times));
        }
    }
    table
}

fn abandoned(run: &Run) -> TextTable {
    let mut table = TextTable::new([("connection", Left), ("messages given up", Right), ("MB given up", Right)]);
    for flow in &run.result.flows {
        if let Some(a) = &flow.abandoned {
            table.row([flow.name.clone(), a.messages.to_string(), number::fixed(a.bytes as f64 / 1e6, 3)]);
        }
    }
    table
}

fn datagrams(run: &Run) -> TextTable {
    let mut table = TextTable::new([("stream", Left), ("sent", Right), ("received", Right)]);
    for flow in &run.result.flows {
        if let Some(d) = &flow.datagrams {
            table.row([flow.name.clone(), d.sent.to_string(), d.received.to_string()]);
        }
    }
    table
}

/// Means with their intervals: tables of flows, subflows and links with rows for each point of the sweep.
fn many_runs(text: &mut String, experiment: &Experiment) {
    let parameters = short_names(&experiment.scenario.sweep);
    let table = |columns: &[(&'static str, super::Align)]| {
        let own = columns.iter().copied();
        TextTable::new(parameters.iter().map(|name| (name.as_str(), Left)).chain(own))
    };
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
                optional(flow.completion_s.mean, 3),
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
    join(text, [flows, subflows, exchanges, links]);
    baseline(text, experiment);
    equal_points(text, experiment);
    for run in &experiment.runs {
        for objection in run.result.objections() {
            let _ = writeln!(text, "NOT VALID: run {}, which is in the figures: {objection}", run.run);
        }
    }
}

/// The points that cannot be told apart.
fn equal_points(text: &mut String, experiment: &Experiment) {
    for (number, sentence) in same_results(experiment).into_iter().enumerate() {
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

/// The shortest suffix of each path that differs from those of the others: `loss`, or `wifi.loss`.
pub(crate) fn short_names(paths: &[String]) -> Vec<String> {
    let suffix = |path: &str, keys: usize| {
        let start = path.rmatch_indices('.').nth(keys - 1).map_or(0, |(at, _)| at + 1);
        path[start..].to_owned()
    };
    let short = |path: &String| {
        let unique =
            |keys: &usize| paths.iter().filter(|other| suffix(other, *keys) == suffix(path, *keys)).count() == 1;
        (1..=path.matches('.').count() + 1).find(unique).map_or_else(|| path.clone(), |keys| suffix(path, keys))
    };
    paths.iter().map(short).collect()
}

fn join<const N: usize>(text: &mut String, tables: [TextTable; N]) {
    let filled: Vec<String> = tables.iter().filter(|table| !table.is_empty()).map(TextTable::render).collect();
    text.push_str(&filled.join("\n"));
}

fn word(word: &Option<String>) -> String {
    word.clone().unwrap_or_else(|| "–".to_owned())
}

fn optional(x: Option<f64>, decimals: usize) -> String {
    x.map_or_else(|| "–".to_owned(), |x| number::fixed(x, decimals))
}

fn half_width(summary: &Summary) -> String {
    optional(summary.ci95_high.zip(summary.ci95_low).map(|(high, low)| (high - low) / 2.0), 3)
}

fn percent(share: f64) -> String {
    format!("{} %", number::fixed(share * 100.0, 1))
}

fn plain(x: f64) -> String {
    number::shown(x).trim_end_matches(".0").to_owned()
}
