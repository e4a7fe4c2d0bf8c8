//! Switches in `[tcp]` that only some congestion controls read.

use subflow_policy::congestion::Algorithm;

use crate::file::{Field, Problem, Section};
use crate::{Flow, Scenario, schema, switches};

/// Those of a flow's own table.
pub(super) fn of_flow(flow: &Section<'_>, scenario: &Scenario, name: &str, found: &mut Vec<Problem>) {
    in_table(flow, |key, readers, field| {
        // There may be very many flows: one is looked for only if it has such a key.
        let flow_of_name = scenario.flows.iter().find(|flow| flow.key() == name);
        let Some(congestion) = flow_of_name.and_then(Flow::congestion).map(Algorithm::name) else { return };
        if !readers.contains(&congestion) && !is_left_over(flow, field) {
            let why = format!("the flow's congestion control is {congestion}");
            found.push(field.without_effect(&format!("flows.{name}.tcp.{key}"), &why));
        }
    });
}

/// Those of the scenario, or of a host, whose path begins with `prefix`, which no flow's congestion control reads.
pub(super) fn of_all(section: &Section<'_>, scenario: &Scenario, prefix: &str, found: &mut Vec<Problem>) {
    let is_read = |readers: &[&str]| {
        scenario.flows.iter().filter_map(Flow::congestion).any(|congestion| readers.contains(&congestion.name()))
    };
    in_table(section, |key, readers, field| {
        if !is_read(readers) {
            let why = format!("no flow's congestion control is {}", readers.join(" or "));
            found.push(field.without_effect(&format!("{prefix}tcp.{key}"), &why));
        }
    });
}

/// Whether a flow has a congestion control or a protocol that somebody else than the file, such as `--set`, chose for
/// once.
pub(super) fn are_left_over(top: &Section<'_>) -> bool {
    let mut is_chosen = false;
    top.each("flows", "flow", |_, flow| {
        if let Ok(section) = flow.section(&schema::FLOW) {
            is_chosen |= is_left_over(&section, section.field());
        }
    });
    is_chosen
}

fn is_left_over(flow: &Section<'_>, given: &Field<'_>) -> bool {
    let source = |field: &Field<'_>| field.place().source.name.clone();
    let of_file = source(flow.field());
    let chosen = ["congestion", "protocol"].into_iter().filter_map(|key| flow.given(key));
    chosen.into_iter().any(|field| source(&field) != of_file) && source(given) == of_file
}

/// Calls `act` with each of these keys that the table `tcp` in `section` has.
fn in_table(section: &Section<'_>, mut act: impl FnMut(&str, &[&str], &Field<'_>)) {
    let Some(table) = section.given("tcp") else { return };
    let Ok(tcp) = table.section(&switches::tcp::TABLE) else { return };
    for (key, readers) in switches::congestion_readers() {
        if let Some(field) = tcp.given(key) {
            act(key, &readers, &field);
        }
    }
}
