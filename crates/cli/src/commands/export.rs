//! `subflow export --to`: the network of a scenario for another tool.

use std::path::Path;

use subflow_export::{ExportError, Target, export};
use subflow_scenario::sweep::Plan;

use super::check::load;
use super::new::write_new;
use crate::arguments::ExportNetwork;
use crate::failure::Failure;
use crate::output::{print, say};

pub(crate) fn network(scenario: &Path, target: Target, choices: &ExportNetwork) -> Result<(), Failure> {
    let mut document = load(scenario)?;
    for assignment in &choices.set {
        document.set("--set", assignment)?;
    }
    let plan = Plan::read(document)?;
    let shown = scenario.display();
    if plan.points.len() > 1 {
        say(&format!(
            "{shown}: a sweep of {} points: the first one is exported; --set chooses values",
            plan.points.len()
        ));
    }
    let refused = |ExportError { message, help }| Failure::bad_input(format!("{shown}: {message}"), help);
    let exported = export(&plan.points[0].scenario, target).map_err(refused)?;
    let Some(out) = &choices.out else { return print(&exported.text) };
    write_new(out, &exported.text)?;
    for note in &exported.notes {
        say(&format!("{shown}: {note}"));
    }
    print(&format!("{} is written; its first lines say how it is run\n", out.display()))
}
