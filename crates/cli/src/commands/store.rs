//! `subflow merge` and `subflow export`: results and tables of the runs in stores.

use subflow_lab::execute::keeps_series;
use subflow_scenario::sweep::{Job, Plan, SeriesKept};
use subflow_store::{Key, Record, Store, StoreError, collect};

use super::check::read_source;
use super::compare::Prepared;
use super::results::{Results, folder};
use crate::arguments::{Export, Merge};
use crate::failure::Failure;
use crate::output::{figure_format, print, say};

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
        return Err(missing(&plan, &stores, &collected.missing));
    }
    for failed in &collected.experiment.failed {
        say(&format!("failed: {}", failed.error));
    }
    let failed = collected.experiment.failed.len();
    if failed > 0 && !arguments.keep_going {
        return Err(Failure::RunFailed(format!(
            "{failed} of {runs} runs failed; repeat them, or write the results without them (--keep-going)"
        )));
    }
    comparison.add_baseline(&mut collected.experiment);
    let (format, comparison) = (arguments.output.format, &comparison);
    Results { plan: &plan, experiment: &collected.experiment, format, folder, figures, comparison }.of_stores()
}

/// The error that the runs `missing` are in none of the stores.
fn missing(plan: &Plan, stores: &[Store], missing: &[Job]) -> Failure {
    let message =
        format!("--store: {} of {} runs are missing: {}", missing.len(), plan.jobs().len(), first_numbers(missing));
    let without_series =
        missing.iter().filter(|job| stores.iter().any(|store| store.contains(Key::of(plan, **job, false)))).count();
    if without_series == 0 {
        return Failure::bad_input(
            message,
            "do them with `subflow run` and --store, or name the other stores, too; the options that change the \
             scenario have to be those of the runs; runs on Linux are not merged: `subflow run --on linux` with the \
             same --store makes results of those that are there",
        );
    }
    // With `first`, the other runs of each point have no metrics over time, and are not missing.
    let first = Plan { series: SeriesKept::First, ..plan.clone() };
    let would_do = |job: &Job| !keeps_series(&first, *job);
    let series = if missing.iter().all(would_do) { "first" } else { "none" };
    Failure::bad_input(
        format!("{message}; {without_series} of them are there without metrics over time"),
        format!(
            "the shards were done with another --series: merge with --series {series}, or do them again with the \
             --series of this command"
        ),
    )
}

fn first_numbers(jobs: &[Job]) -> String {
    const SHOWN: usize = 5;
    let numbers: Vec<String> = jobs.iter().take(SHOWN).map(|job| job.run.to_string()).collect();
    let more = if jobs.len() > SHOWN { ", …" } else { "" };
    format!("{}{more}", numbers.join(", "))
}

pub(crate) fn export(arguments: &Export) -> Result<(), Failure> {
    #[cfg(feature = "import")]
    if let Some(target) = arguments.network.to {
        return super::interchange::export_network(&arguments.source, target, &arguments.network);
    }
    if arguments.source.is_file() {
        let message = format!("{} is a file, not a store", arguments.source.display());
        let help = match cfg!(feature = "import") {
            true => "--to writes the network of a scenario for another tool",
            false => "name the folder of `run --store`; builds with the feature `import` also write networks with --to",
        };
        return Err(Failure::bad_input(message, help));
    }
    print(&subflow_store::export(&Store::existing(&arguments.source)?)?.to_csv())
}
