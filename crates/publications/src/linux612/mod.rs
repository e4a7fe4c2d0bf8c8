//! Linux 6.12 itself: the kernel's TCP, MPTCP and SCTP, measured in exact virtual time over link models that the
//! simulator has, too. The experiments and the measurements are in `papers/linux612/`; a file in their
//! columns (`--cases`) may bring other configurations.
//!
//! | to find | look in |
//! |---|---|
//! | the columns of measurements | `measurements.rs`; configurations of them: `configuration.rs` |
//! | what is measured of a run, a flow beside the kernel's, and what a failing path costs | `comparison.rs` |
//! | how the claims are checked | `checks.rs`, `distributions.rs` |

mod checks;
mod comparison;
mod configuration;
mod distributions;
mod measurements;
mod report;

use std::path::Path;
use std::sync::{Arc, LazyLock};

use subflow_scenario::file::{Problem, Source};
use subflow_scenario::sweep::Parameters;

use crate::study::{Code, Folder, Own, Results, Study, source_at};
use checks::Deviation;
use comparison::Outcome;
use distributions::Distribution;

pub(crate) static LINUX612: LazyLock<Study> = LazyLock::new(|| {
    let code = Code {
        measure: Some(comparison::measure),
        cases: Some(cases),
        checks: &checks::CHECKS,
        further_findings: Some(|all| {
            distributions::all(&Outcome::all(all)).iter().map(Distribution::finding).collect()
        }),
        own: Some(|results| Own {
            rows: Some(report::rows(results)),
            readable: report::readable(results),
            figures: report::figures(results),
            ..Own::default()
        }),
        notes: Some(notes),
        ..Code::default()
    };
    Study::in_program("linux612", code)
});

/// The goodput of each second while a path fails.
const FAILURE_SECONDS: &str = "measured/G_path_failure_1s.csv";

/// The configurations of the file that was asked for, or of the folder's `tables`, as variables of cells.
fn cases(folder: &Folder, tables: &[String], file: Option<&Path>) -> Result<Vec<Parameters>, Problem> {
    let configurations = |source: Arc<Source>| {
        let records = measurements::parse(&source.name, &source.text);
        records.and_then(|records| configuration::group(&source.name, &records)).map_err(Problem::nowhere)
    };
    if let Some(path) = file {
        return source_at(path).and_then(configurations);
    }
    let mut all = Vec::new();
    for table in tables {
        all.extend(folder.source(table).and_then(configurations)?);
    }
    let seconds = folder.source(FAILURE_SECONDS)?;
    for configuration in all.iter_mut().filter(|configuration| configuration["failures"][0].is_object()) {
        let seconds = recorded(&seconds.text, configuration);
        configuration.insert("per_second".to_owned(), seconds.into());
    }
    Ok(all)
}

/// The kernel's seconds for this case and congestion control; empty where there are none.
fn recorded(text: &str, configuration: &Parameters) -> Vec<f64> {
    let flow = &configuration["flows"][0];
    let (loss, paths) = (&configuration["loss_text"], &configuration["paths_text"]);
    let wanted = [&configuration["case"], &flow["protocol"], &flow["cc"], paths, loss];
    let of_case = |line: &&str| line.split(',').zip(wanted).all(|(cell, wanted)| wanted == cell);
    let mbps = |line: &str| line.rsplit(',').next().and_then(|cell| cell.parse().ok());
    text.lines().filter(of_case).filter_map(mbps).collect()
}

/// How many configurations the notes are about.
fn notes(results: &Results) -> Vec<(&'static str, String)> {
    let outcomes = Outcome::all(results);
    let count =
        |is_counted: fn(&Outcome<'_>) -> bool| outcomes.iter().filter(|one| is_counted(one)).count().to_string();
    let is_judged = |of: &Outcome<'_>| of.comparisons().any(|row| Deviation::of(row).claim().is_some());
    let unjudged = outcomes.iter().filter(|of| of.is_run() && !of.is_chaotic() && !is_judged(of)).count();
    vec![
        ("unjudged", unjudged.to_string()),
        ("failing", count(|of| of.failing_path().is_some())),
        ("chaotic_cases", count(|of| of.is_chaotic())),
        ("missing", count(|of| !of.is_run())),
    ]
}

#[cfg(test)]
mod tests {
    use subflow_report::{Finding, Reproduction, Verdict};

    use super::*;
    use crate::Request;
    use crate::study::Effort;

    fn reproduce(items: &[&str]) -> Reproduction {
        let items = items.iter().map(|&item| item.to_owned()).collect();
        let request = Request { items, quick: true, ..Request::default() };
        LINUX612.reproduce(&request, &|_| {}).expect("the tables are good").reproduction
    }

    #[test]
    fn every_row_that_is_measured_has_a_verdict_also_in_quick_runs() {
        let all = LINUX612.invented(Effort::Hurried, |_| Vec::new());
        let outcomes = Outcome::all(&all);
        assert_eq!(outcomes.len(), 8 + 4 + 3 + 8 + 6 + 4 + 2 + 8 + 4 + 4 + 3 + (5 + 3 + (6 + 1) + 2 + 4 + (2 + 2)));
        for outcome in outcomes.iter().filter(|outcome| !outcome.is_chaotic()) {
            assert!(outcome.row.cell.runs > 0 && outcome.row.cell.experiment.quick_look);
            for row in outcome.comparisons().filter(|row| row.reference.flow != measurements::ALL) {
                assert!(Deviation::of(row).claim().is_some(), "{}", row.name());
            }
        }
    }

    #[test]
    fn the_kernel_s_seconds_are_those_of_the_case() {
        let all = LINUX612.invented(Effort::Quick, |_| Vec::new());
        let outcomes = Outcome::all(&all);
        let failing = outcomes.iter().filter(|outcome| outcome.failing_path().is_some());
        let first: Vec<(usize, f64)> =
            failing.map(|outcome| (outcome.per_second.len(), outcome.per_second[0])).collect();
        assert!(
            first.len() == 4 && first[0] == (40, 34.6405) && first.iter().all(|(count, _)| *count == 40),
            "{first:?}"
        );
    }

    #[test]
    fn a_quick_run_says_which_row_is_out_of_bounds() {
        let reproduction = reproduce(&["G"]);
        let refuted = |finding: &&Finding| finding.verdict == Verdict::NotConfirmed;
        let refuted: Vec<&str> =
            reproduction.findings.iter().filter(refuted).map(|finding| finding.statement.as_str()).collect();
        assert_eq!(refuted, ["G: seconds of stall after a path failed within 10 % of the kernel's"]);
    }

    #[test]
    fn one_flow_without_loss_gets_what_it_gets_from_the_kernel() {
        let reproduction = reproduce(&["A"]);
        assert_eq!(reproduction.table.rows().len(), 8);
        assert_eq!(reproduction.findings[0].verdict.confirmed(), Some(true), "{:?}", reproduction.findings);
    }

    #[test]
    fn short_transfers_wait_where_the_kernels_send_buffer_makes_them_wait() {
        let reproduction = reproduce(&["F"]);
        assert_eq!(reproduction.table.rows().len(), 8);
        assert_eq!(reproduction.findings[0].verdict.confirmed(), Some(true), "{:?}", reproduction.findings);
    }

    #[test]
    fn ten_megabytes_over_unequal_paths_take_as_long_as_in_the_kernel() {
        let reproduction = reproduce(&["D"]);
        assert_eq!(reproduction.findings[0].verdict.confirmed(), Some(true), "{:?}", reproduction.findings);
    }

    #[test]
    fn chaotic_cases_are_distributed_as_in_the_kernel() {
        let reproduction = reproduce(&["H"]);
        assert_eq!(reproduction.findings.len(), 5);
        let told_apart = |finding: &&Finding| finding.verdict == Verdict::NotConfirmed;
        assert_eq!(reproduction.findings.iter().find(told_apart), None);
    }

    #[test]
    fn what_cannot_be_repeated_is_a_row_and_no_error() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        let text = "case,protocol,cc,paths,loss_pct,duration_s,rep,flow,goodput_mbps\n\
                    G-sctp-64k,sctp,-,50/20/250;50/20/250,0,30,1,1,46.9936\n";
        std::fs::write(file.path(), text).expect("a temporary file");
        let request = Request { cases: Some(file.path().to_owned()), ..Request::default() };
        let reproduction = LINUX612.reproduce(&request, &|_| {}).expect("not an error").reproduction;
        assert!(reproduction.table.to_csv().trim_end().ends_with("not supported"));
    }
}
