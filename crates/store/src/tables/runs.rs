//! The table `runs`.

use subflow_lab::results::{Experiment, Run};
use subflow_lab::statistics::jain_index;

use super::identify;
use crate::Table;
use crate::columns::Columns;

/// A row for each run, with what made it. CPU time, which differs between equal runs, is not in it.
pub fn runs(experiment: &Experiment) -> Table {
    let (made_by, scenario) = (&experiment.subflow, &experiment.scenario);
    let goodputs = |run: &Run| run.result.flows.iter().map(|flow| flow.goodput_mbps).collect::<Vec<f64>>();
    let mut columns = Columns::of(&experiment.runs);
    identify(&mut columns, |run| run);
    columns
        .words(("scenario", "", "Name of the scenario."), |_| Some(&scenario.name))
        .words(("scenario_sha256", "", "Hash of the scenario at all points, as in the JSON output."), |_| {
            Some(&scenario.sha256)
        })
        .words(("version", "", "Version of subflow."), |_| Some(&made_by.version))
        .words(("commit", "", "Commit that subflow was built from, if it is known."), |_| made_by.commit.as_deref())
        .counts(("schema", "", "Number of the form of results."), |_| Some(made_by.schema.into()))
        .numbers(("duration_s", "s", "Duration of the run."), |run| Some(run.result.duration_s))
        .counts(("flows", "", "Number of flows."), |run| Some(run.result.flows.len() as u64))
        .numbers(("total_goodput_mbps", "Mbit/s", "Sum of the flows' goodput."), |run| Some(goodputs(run).iter().sum()))
        .numbers(("jain_index", "1", "Jain's fairness index of the flows' goodput."), |run| jain_index(&goodputs(run)))
        .counts(("packet_hops", "", "Packets that left a link."), |run| Some(run.result.engine.packet_hops))
        .counts(("events", "", "Events processed."), |run| Some(run.result.engine.events))
        .flags(("valid", "", "Whether a run in real time was true to time."), |run| {
            run.result.real_time.as_ref().map(|real_time| real_time.valid)
        })
        .table("runs")
        .of(experiment)
}
