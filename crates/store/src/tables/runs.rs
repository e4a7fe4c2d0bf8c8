//! The table `runs`.

use subflow_lab::results::Experiment;
use subflow_lab::results::metrics::RUN;
use subflow_lab::table::{Columns, Table};

use super::identify;
use crate::metadata::of_experiment;

/// A row for each run, with what made it. CPU time, which differs between equal runs, is not in it.
pub fn runs(experiment: &Experiment) -> Table {
    let (made_by, scenario) = (&experiment.subflow, &experiment.scenario);
    let mut columns = Columns::of(&experiment.runs);
    identify(&mut columns, |run| run);
    columns
        .words(("scenario", "", "Name of the scenario."), |_| Some(&scenario.name))
        .words(("scenario_sha256", "", "Hash of the scenario at all points, as in the JSON output."), |_| {
            Some(&scenario.sha256)
        })
        .words(("version", "", "Version of subflow."), |_| Some(&made_by.version))
        .words(("commit", "", "Commit that subflow was built from, if it is known."), |_| made_by.commit.as_deref())
        .counts(("schema", "", "Number of the form of results."), |_| Some(made_by.schema.into()));
    columns.metrics(RUN, |run| &run.result);
    of_experiment(columns.table("runs"), experiment)
}
