//! Rows and verdicts.

use subflow_lab::statistics::mean;
use subflow_report::{Cell, Finding, Table};

use super::cases::{COLUMNS, FlowName};
use super::comparison::{Comparison, Outcome};
use super::configuration::Workload;
use super::criteria::Criterion;
use super::distributions::{self, Distribution};
use super::outage::outage;
use super::parts;
use super::run::FlowFigures;

/// What stands next to the columns of the measurements, before those of distributions and the status.
const ADDED: [&str; 12] = [
    "reference_goodput_mbps",
    "reference_completion_s",
    "reference_path1_bytes",
    "reference_path2_bytes",
    "stall_s",
    "reference_stall_s",
    "return_s",
    "reference_return_s",
    "deviation_pct",
    "runs",
    "reference_reps",
    "reference_spread_pct",
];

/// All rows, in the measurements' columns. Those of distributions are there if a row has them.
pub(super) fn rows(outcomes: &[Outcome<'_>], distributions: &[Distribution<'_>]) -> Table {
    let of_distributions: &[&str] = if distributions.is_empty() { &[] } else { &distributions::COLUMNS };
    let columns = COLUMNS.into_iter().chain(ADDED).chain(of_distributions.iter().copied());
    let mut table = Table::new(columns.chain(["status"]));
    for comparison in outcomes.iter().flat_map(Comparison::of) {
        let of_it = distributions.iter().find(|distribution| distribution.is_of(&comparison));
        let added = of_it.map_or_else(|| vec![Cell::Empty; of_distributions.len()], Distribution::cells);
        let status = if comparison.outcome.figures.is_some() { "ok" } else { "not supported" };
        table.row(cells(&comparison).into_iter().chain(added).chain([status.into()]));
    }
    table
}

fn cells(comparison: &Comparison<'_>) -> Vec<Cell> {
    let Comparison { outcome, reference, ours, .. } = comparison;
    let configuration = outcome.configuration;
    // Queues and losses are of all flows together: where flows share them, only the row of all has them.
    let own_paths = configuration.flows.len() == 1 || reference.flow == FlowName::All;
    let path = |index: usize, figure: usize| -> Cell {
        let figures = outcome.figures.as_ref().filter(|_| own_paths);
        figures.and_then(|figures| figures.paths.get(index)).map(|path| path[figure]).into()
    };
    let drops = outcome.figures.as_ref().filter(|_| own_paths).map(|f| f.paths.iter().map(|path| path[1]).sum::<f64>());
    let duration = match configuration.workload {
        Workload::Seconds(seconds) => Some(seconds),
        Workload::Bytes(_) => ours.and_then(|ours| ours.completion_s),
    };
    let flow = match reference.flow {
        FlowName::Number(number) => Cell::Integer(number.into()),
        FlowName::All => "all".into(),
    };
    let number = |value: fn(&FlowFigures) -> Option<f64>| -> Cell { ours.and_then(value).into() };
    let kernel_path = |index: usize| -> Cell { reference.path_bytes.get(index).and_then(|bytes| mean(bytes)).into() };
    let our_outage = outcome.figures.as_ref().and_then(|figures| figures.outage);
    let kernel_outage = outage(configuration, &reference.per_second);
    vec![
        configuration.case.as_str().into(),
        reference.protocol.as_str().into(),
        reference.cc.as_str().into(),
        configuration.paths_text.as_str().into(),
        configuration.loss_text.as_str().into(),
        duration.into(),
        Cell::Integer(1),
        flow,
        number(|ours| Some(ours.goodput_mbps)),
        number(|ours| ours.tail_mbps),
        number(|ours| ours.completion_s),
        number(|ours| Some(ours.retransmissions)),
        drops.into(),
        path(0, 0),
        path(1, 0),
        path(0, 1),
        path(1, 1),
        path(0, 2),
        path(1, 2),
        if reference.flow == FlowName::All { Cell::Empty } else { number(|ours| Some(ours.start_s)) },
        mean(&reference.goodput_mbps).into(),
        mean(&reference.completion_s).into(),
        kernel_path(0),
        kernel_path(1),
        our_outage.map(|outage| outage.stall_s).into(),
        kernel_outage.map(|outage| outage.stall_s).into(),
        our_outage.map(|outage| outage.return_s).into(),
        kernel_outage.map(|outage| outage.return_s).into(),
        comparison.deviation_pct().into(),
        Cell::Integer(outcome.runs.len() as i64),
        Cell::Integer(reference.goodput_mbps.len() as i64),
        comparison.spread_pct().into(),
    ]
}

/// The same to read: a table for each letter that cases begin with, transfers on their own, and one of distributions.
pub(super) fn readable(outcomes: &[Outcome<'_>], distributions: &[Distribution<'_>]) -> Vec<(String, Table)> {
    let mut tables: Vec<(String, Table)> = Vec::new();
    for comparison in outcomes.iter().filter(|outcome| !outcome.configuration.is_chaotic()).flat_map(Comparison::of) {
        let configuration = comparison.outcome.configuration;
        let title = comparison.table_title();
        if tables.iter().all(|(known, _)| *known != title) {
            let columns =
                ["case", "protocol", "cc", "paths", "loss", "flow", "ours", "kernel", "dev %", "spread %", "verdict"];
            tables.push((title.clone(), Table::new(columns)));
        }
        let (_, table) = tables.iter_mut().find(|(known, _)| *known == title).expect("it was made if it was missing");
        let decimals = |x: f64| if comparison.is_transfer() { format!("{x:.4}") } else { format!("{x:.2}") };
        let figure = |figure: Option<f64>| figure.map_or_else(|| "–".to_owned(), decimals);
        table.row([
            configuration.case.as_str().into(),
            comparison.reference.protocol.as_str().into(),
            comparison.reference.cc.as_str().into(),
            configuration.paths_text.as_str().into(),
            configuration.loss_text.as_str().into(),
            comparison.reference.flow.to_string().into(),
            figure(comparison.ours()).into(),
            figure(comparison.kernel()).into(),
            comparison.deviation_pct().into(),
            comparison.spread_pct().into(),
            verdict(&comparison).into(),
        ]);
    }
    let comparisons: Vec<Comparison<'_>> = outcomes.iter().flat_map(Comparison::of).collect();
    tables.extend(parts::readable(&comparisons));
    tables.extend(distributions::readable(distributions));
    tables
}

fn verdict(comparison: &Comparison<'_>) -> &'static str {
    match (comparison.criterion(), comparison.figures()) {
        _ if comparison.ours.is_none() => "not supported",
        (None, _) => "",
        (Some(_), None) if comparison.ours().is_none() => "did not finish",
        (Some(_), None) => "no reference",
        (Some(criterion), Some((ours, kernel))) if criterion.bound.admits(ours, kernel) => "met",
        _ => "off",
    }
}

/// One finding for each criterion that applies: whether all of its rows meet it, and the worst. Distributions have their
/// own.
pub(super) fn findings(outcomes: &[Outcome<'_>], distributions: &[Distribution<'_>]) -> Vec<Finding> {
    let mut judged: Vec<(Criterion, Vec<Comparison<'_>>)> = Vec::new();
    for comparison in outcomes.iter().filter(|outcome| outcome.figures.is_some()).flat_map(Comparison::of) {
        let Some(criterion) = comparison.criterion() else { continue };
        match judged.iter_mut().find(|(known, _)| *known == criterion) {
            Some((_, comparisons)) => comparisons.push(comparison),
            None => judged.push((criterion, vec![comparison])),
        }
    }
    let mut findings: Vec<Finding> =
        judged.iter().map(|(criterion, comparisons)| finding(*criterion, comparisons)).collect();
    let all: Vec<Comparison<'_>> = outcomes.iter().flat_map(Comparison::of).collect();
    findings.extend(parts::findings(&all));
    findings.extend(distributions::findings(distributions));
    findings
}

fn finding(criterion: Criterion, comparisons: &[Comparison<'_>]) -> Finding {
    let met = comparisons.iter().filter(|comparison| verdict(comparison) == "met").count();
    let used = |comparison: &Comparison<'_>| {
        comparison.figures().map_or(f64::INFINITY, |(ours, kernel)| criterion.bound.used(ours, kernel))
    };
    let worst = comparisons.iter().max_by(|a, b| used(a).total_cmp(&used(b))).expect("a criterion has rows");
    let configuration = worst.outcome.configuration;
    let flow = if configuration.flows.len() > 1 { format!(", flow {}", worst.reference.flow) } else { String::new() };
    let deviation = match worst.figures() {
        Some((ours, kernel)) => criterion.bound.shown(ours, kernel),
        None => verdict(worst).to_owned(),
    };
    Finding::new(
        criterion.statement,
        met == comparisons.len(),
        format!(
            "{met} of {} rows; the worst is {deviation} ({} {} {} {}{flow})",
            comparisons.len(),
            configuration.case,
            worst.reference.protocol,
            worst.reference.cc,
            configuration.paths_text,
        ),
    )
    .beyond()
}
