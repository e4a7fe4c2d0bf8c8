//! What `subflow/_explore.py` shows in notebooks: the scripts and the style of its component, and what these ask of
//! scenarios and results. The scripts are those of the page of `subflow serve` but for `page/explore.js`, which puts
//! them together; `page/` has links to them.

use pyo3::prelude::*;
use subflow_lab::results::Experiment;
use subflow_scenario::file::Document;
use subflow_scenario::schema::json_schema;
use subflow_store::tables;

use crate::table::Table;

/// Name and text of each script; a script comes after those that it imports.
const SCRIPTS: [(&str, &str); 6] = [
    ("elements.js", include_str!("page/elements.js")),
    ("server.js", include_str!("page/server.js")),
    ("schema.js", include_str!("page/schema.js")),
    ("pins.js", include_str!("page/pins.js")),
    ("results.js", include_str!("page/results.js")),
    ("explore.js", include_str!("page/explore.js")),
];

/// The scripts of the component, in the order in which they can be loaded.
#[pyfunction]
pub(crate) fn explore_scripts() -> Vec<(&'static str, &'static str)> {
    SCRIPTS.to_vec()
}

/// Its style. The palette of the report is that of a whole page; here it is the component's.
#[pyfunction]
pub(crate) fn explore_style() -> String {
    let palette = include_str!("page/palette.css").replace(":root", ".subflow-explore");
    format!("{palette}\n{}", include_str!("page/explore.css"))
}

/// The JSON Schema of scenarios, as `subflow schema` prints it.
#[pyfunction]
pub(crate) fn scenario_schema() -> String {
    json_schema().to_string()
}

/// Path and value, in JSON, of each value of a scenario.
pub(crate) fn values(document: &Document) -> Vec<(String, String)> {
    document.leaves().into_iter().map(|leaf| (leaf.path, leaf.value.to_string())).collect()
}

/// The table `flows` of the runs of these points alone.
pub(crate) fn flows_at(experiment: &Experiment, points: &[usize]) -> Table {
    let mut chosen = experiment.clone();
    chosen.runs.retain(|run| points.contains(&run.point));
    tables::flows(&chosen).into()
}
