//! The tables, figures and verdicts, by runs of the simulator and by figures that are made.

use subflow_lab::simulate::{RunOptions, simulate};
use subflow_report::Chart;

use super::*;
use crate::Request;
use crate::study::{Cell, Effort};

#[test]
fn a_quick_look_at_the_characteristic_has_rates_and_curves_under_both_loads() {
    let request = Request { items: vec!["roc".to_owned()], quick: true, ..Request::default() };
    let reproduction = RED2018.reproduce(&request, &|_| {}).expect("the runs succeed").reproduction;
    let value = |row: &Vec<subflow_report::Cell>| match row[4] {
        subflow_report::Cell::Number(value) => value,
        _ => f64::NAN,
    };
    assert!(reproduction.table.rows().iter().all(|row| (0.0..=1.0).contains(&value(row))));
    assert_eq!((reproduction.figures.len(), reproduction.findings.len()), (4, 2));
    for finding in &reproduction.findings {
        assert!(["0.01 ms apart: ", "read every 0.01 s: "].iter().all(|reading| finding.evidence.contains(reading)));
        assert!(finding.alternatives.iter().any(|alternative| alternative.choice == "bulk load"));
    }
}

#[test]
fn sensitivity_judges_the_findings_that_a_choice_can_change_under_it() {
    let request = Request { items: vec!["sensitivity".to_owned()], quick: true, ..Request::default() };
    let findings = RED2018.reproduce(&request, &|_| {}).expect("the runs succeed").reproduction.findings;
    assert_eq!(findings.len(), 9);
    for finding in &findings {
        let choices: Vec<_> = finding.alternatives.iter().map(|alternative| alternative.choice.as_str()).collect();
        let about_red = ["fig. 8a, b", "fig. 8c, d", "fig. 9", "fig. 10"].contains(&finding.source.as_str());
        let all = &RED2018.description.choices;
        let tried = all.iter().filter(|choice| choices.contains(&choice.name.as_str())).count();
        assert_eq!(tried, if about_red { all.len() } else { 3 }, "{}", finding.statement);
    }
}

#[test]
fn items_ask_for_the_runs_they_need() {
    let runs = |wanted: &'static str| {
        let cells = RED2018.cells(Effort::Quick, None, &[], &|cell| cell.item == wanted).expect("good cells");
        cells.iter().map(|cell| cell.runs).sum::<u64>()
    };
    assert_eq!(["roc", "scheduler", "coupling"].map(runs), [6, 12, 24]);
}

#[test]
fn on_the_full_mesh_two_paths_share_the_bottleneck_and_the_others_nothing() {
    let mesh = RED2018.description.choices.iter().find(|choice| choice.scenario.is_some());
    let is_wanted = |cell: &Cell| cell.item == "scheduler";
    let cells = RED2018.cells(Effort::QuickAlternatives, mesh, &[], &is_wanted).expect("good cells");
    let mut scenario = cells[0].scenario(&RED2018.folder, 1).expect("a good scenario");
    scenario.duration = subflow_quantity::Duration::from_secs(3);
    let result = simulate(&scenario, 1, &RunOptions::default()).expect("it runs");
    let carried: Vec<bool> = result.flows[0].subflows.iter().map(|subflow| subflow.packets_sent > 10).collect();
    assert_eq!(carried, [true; 4]);
    let packets = |name: &str| {
        let link = result.links.iter().find(|link| link.name == name).expect("a link's name");
        [link.up.packets > 10, link.down.packets > 10]
    };
    for used in ["r1-r5", "r2-r6", "r3-r4", "r4-r5", "r4-r6", "r1-r3", "r2-r3"] {
        assert_eq!(packets(used), [true; 2], "{used}");
    }
}

fn confirmed(results: &Results) -> Vec<Option<bool>> {
    RED2018.findings(results).iter().map(|finding| finding.verdict.confirmed()).collect()
}

/// A run of the testbed.
fn run(copies_on_c: f64, max_rtt_ms: f64) -> Sample {
    let path = |copies| [10.0, max_rtt_ms, max_rtt_ms, 1.5, 1.0, 2.0, copies];
    let connection = [2.0, 9.0, 9.0, 10.0 + copies_on_c];
    [path(5.0), path(5.0), path(copies_on_c)].concat().into_iter().chain(connection).collect()
}

#[test]
fn findings_on_the_scheduler_compare_the_means_of_both() {
    let all = RED2018.invented(Effort::Quick, |cell| match cell.is("scheduler", "redundant") {
        true => vec![run(100.0, 80.0); 2],
        false => vec![run(1.0, 90.0); 2],
    });
    let all = all.only(|row| row.cell.item == "scheduler" && row.cell.is("load", "limited load"));
    assert_eq!(confirmed(&all), [Some(false), Some(false), Some(false), Some(true)]);
    let findings = RED2018.findings(&all);
    let ratios: Vec<_> = findings.iter().map(|finding| finding.measured.as_ref().map(|it| it.value)).collect();
    assert_eq!(ratios, [Some(90.0 / 80.0), Some(1.0), Some(1.0), Some(11.0 / 110.0)]);
    let shown = RED2018.shown(&all);
    let figures_of_schedulers = 2 * (3 * 7 + 4);
    assert_eq!(shown.rows.expect("they are declared").rows().len(), figures_of_schedulers);
    assert_eq!(shown.readable.iter().map(|(_, table)| table.rows().len()).collect::<Vec<_>>(), [2 * 3, 2]);
}

/// The verdicts on coupling where MPTCP and TCP had these runs, by paths and way.
fn verdicts_on_coupling(runs: impl Fn(bool, usize) -> Vec<Sample>) -> Vec<Option<bool>> {
    let mut all = RED2018.invented(Effort::Quick, |_| Vec::new());
    all.rows.retain(|row| row.cell.item == "coupling");
    for (index, row) in all.rows.iter_mut().enumerate() {
        row.runs = runs(row.cell.is("paths", "shared"), index % 6);
    }
    confirmed(&all)
}

#[test]
fn a_gain_with_no_harm_is_confirmed() {
    let verdicts = verdicts_on_coupling(|is_shared, way| {
        let disjoint = vec![[15.0, 20.0, 20.0, 15.1, 20.0, 20.0][way], 10.0];
        let tcp = [10.0, 10.0, 9.9, 10.0, 7.0, 7.0][way];
        vec![if is_shared { vec![20.0 - tcp, tcp] } else { disjoint }; 2]
    });
    assert_eq!(verdicts, [Some(true), Some(true), Some(false), Some(false)]);
}

#[test]
fn what_two_runs_scatter_over_is_neither_gain_nor_harm() {
    let verdicts = verdicts_on_coupling(|_, way| {
        let mean = if way == 0 { 11.0 } else { 17.0 };
        [mean - 4.0, mean + 4.0].map(|goodput| vec![goodput; 2]).to_vec()
    });
    assert_eq!(verdicts, [None; 4]);
}

#[test]
fn what_is_counted_over_time_has_a_curve_for_each_scheduler() {
    // Two lists of five seconds.
    let run = || vec![1.0, 2.0, 3.0, 4.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0];
    let all = RED2018.invented(Effort::Quick, |cell| match cell.item == "cumulative" {
        true => vec![run(); 2],
        false => Vec::new(),
    });
    let shown = RED2018.shown(&all.only(|row| row.cell.item == "cumulative"));
    let ends = shown.figures.iter().map(|figure| {
        let Chart::Curves(curves) = &figure.chart else { panic!("curves") };
        assert_eq!(curves.curves.len(), 2);
        curves.curves[1].points.last().map(|point| (point.x, point.y))
    });
    assert_eq!(ends.collect::<Vec<_>>(), [Some((5.0, 5.0)), Some((5.0, 50.0))]);
    let (_, table) = &shown.readable[0];
    assert!(table.to_csv().contains("red-diversity,5,5 ± 0,50 ± 0"), "{}", table.to_csv());
}
