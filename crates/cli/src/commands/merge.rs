//! `subflow merge`: results of runs in stores.

use subflow_scenario::sweep::Job;
use subflow_store::{Record, Store, StoreError, collect};

use super::check::read_source;
use super::compare::Prepared;
use super::conclude::{Results, folder};
use crate::arguments::Merge;
use crate::failure::Failure;
use crate::output::figure_format;

pub(crate) fn merge(arguments: &Merge) -> Result<(), Failure> {
    let plan = read_source(&arguments.source)?;
    let comparison = Prepared::new(&arguments.comparing, &plan)?;
    let stores = arguments.store.iter().map(Store::existing).collect::<Result<Vec<_>, _>>()?;
    let folder = folder(&arguments.output, &plan, "", arguments.force)?;
    let figures = figure_format(arguments.output.figures, folder.as_ref())?;
    let mut collected = collect(&plan, true, |key| {
        let mut failed = None;
        for store in &stores {
            match store.load(key)? {
                Some(Record::Failed(error)) => failed = failed.or(Some(Record::Failed(error))),
                Some(finished) => return Ok(Some(finished)),
                None => {}
            }
        }
        Ok::<_, StoreError>(failed)
    })?;
    let runs = plan.jobs().len();
    if !collected.missing.is_empty() {
        return Err(Failure::bad_input(
            format!(
                "--store: {} of {runs} runs are missing: {}",
                collected.missing.len(),
                first_numbers(&collected.missing)
            ),
            "do them with `subflow run` and --store, or name the other stores, too; the options that change the \
             scenario have to be those of the runs; runs on Linux are not merged: `subflow run --on linux` with the \
             same --store makes results of those that are there",
        ));
    }
    for error in &collected.failed {
        eprintln!("failed: {error}");
    }
    let failed = collected.failed.len();
    if failed > 0 && !arguments.keep_going {
        return Err(Failure::RunFailed(format!(
            "{failed} of {runs} runs failed; do them again, or make results without them (--keep-going)"
        )));
    }
    comparison.add_baseline(&mut collected.experiment);
    let (format, comparison) = (arguments.output.format, &comparison);
    Results { plan: &plan, experiment: &collected.experiment, format, folder, figures, comparison }.of_stores()
}

fn first_numbers(jobs: &[Job]) -> String {
    const SHOWN: usize = 5;
    let numbers: Vec<String> = jobs.iter().take(SHOWN).map(|job| job.run.to_string()).collect();
    let more = if jobs.len() > SHOWN { ", …" } else { "" };
    format!("{}{more}", numbers.join(", "))
}
