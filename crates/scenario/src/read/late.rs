//! What comes after the end of the run, and therefore has no effect.

use subflow_quantity::Duration;

use super::traces::Traces;
use crate::file::{Field, Problem, Section, Value};
use crate::{Scenario, schema};

/// Ends of a flow after that of the run, unless somebody else, such as `--set`, shortened the run for once.
pub(super) fn ends(flow: &Section<'_>, root: &Field<'_>, scenario: &Scenario, name: &str, found: &mut Vec<Problem>) {
    let end = scenario.duration;
    let time = |key| flow.given(key).and_then(|time| time.duration().ok()).unwrap_or_default();
    let start: Duration = time("start").saturating_add(time("send_after"));
    let run = root.section(&schema::ROOT).ok().and_then(|top| top.given("duration"));
    let is_late = |key: &str, time: Duration| match key {
        "until" => time >= end,
        "stop" => time > end,
        _ => start.saturating_add(time) > end,
    };
    for (key, what) in [("until", "arrivals end"), ("stop", "sending ends"), ("duration", "sending ends")] {
        let Some(given) = flow.given(key) else { continue };
        if !is_shortened(run.as_ref(), &given) && given.duration().is_ok_and(|time| is_late(key, time)) {
            found.push(
                given.without_effect(&format!("flows.{name}.{key}"), &format!("{what} with the run, after {end}")),
            );
        }
    }
}

/// A number or a list of flows of which some would start after the end of the run.
pub(super) fn starts(flow: &Section<'_>, scenario: &Scenario, name: &str, found: &mut Vec<Problem>) {
    // Random arrivals differ from run to run.
    let arrivals = flow.given("arrivals").map(|arrivals| arrivals.duration().is_ok());
    let (key, given) = match (flow.given("pairs"), flow.given("count"), arrivals) {
        (_, Some(count), Some(true)) => ("count", count),
        (Some(pairs), _, None) => ("pairs", pairs),
        _ => return,
    };
    let flows = || scenario.flows.iter().filter(|flow| flow.key() == name);
    let late = flows().filter(|flow| flow.start >= scenario.duration).count();
    if late > 0 {
        let message = format!(
            "flows.{name}.{key}: {late} of {} flows do not start, because their turn comes after the end of the run, {}",
            flows().count(),
            scenario.duration
        );
        found.push(Problem::at(given.place(), message).label("more than arrive"));
    }
}

/// Traces that say nothing before the end of the run.
pub(super) fn traces(top: &Section<'_>, scenario: &Scenario, traces: &Traces, found: &mut Vec<Problem>) {
    let run = top.given("duration");
    let end = scenario.duration;
    let is_late = |field: &Field<'_>, first: Duration| first >= end && !is_shortened(run.as_ref(), field);
    top.each("links", "link", |name, link| {
        let Ok(link) = link.section(&schema::LINK) else { return };
        let Some(rate) = link.given("rate") else { return };
        for field in in_directions(&rate) {
            // A rate is none of the traces that were read.
            let Some(first) = traces.known_capacity(&field).map(|trace| trace.first()) else { continue };
            if is_late(&field, first) {
                let message = format!(
                    "links.{name}.rate: the trace lets the first packet through after {first}, and the run ends after \
                     {end}: nothing passes"
                );
                found.push(Problem::at(field.place(), message).label("too late"));
            }
        }
    });
    let Some(timeline) = top.given("timeline") else { return };
    for event in timeline.list("a list of events").iter().flatten() {
        let Ok(event) = event.section(&schema::EVENT) else { continue };
        let (Some(trace), Some(at)) = (event.given("trace"), event.given("at")) else { continue };
        let (Ok(conditions), Ok(at)) = (traces.conditions(&trace), at.duration()) else { continue };
        let Some((first, _)) = conditions.changes.first() else { continue };
        let first = at.saturating_add(*first);
        if is_late(&trace, first) {
            let why = format!("its first change comes after {first}, and the run ends after {end}");
            found.push(trace.without_effect("timeline.trace", &why));
        }
    }
}

/// A value of a link that may be given for both directions or for each.
fn in_directions<'f>(field: &'f Field<'_>) -> Vec<Field<'f>> {
    match (field.value(), field.section(&schema::DIRECTIONS)) {
        (Value::Table(_), Ok(section)) => ["up", "down"].into_iter().filter_map(|key| section.given(key)).collect(),
        (Value::Table(_), Err(_)) => Vec::new(),
        _ => vec![field.clone()],
    }
}

/// Whether somebody else than the author of `given`, such as `--set`, chose the duration of the run for once.
fn is_shortened(run: Option<&Field<'_>>, given: &Field<'_>) -> bool {
    run.is_some_and(|run| run.place().source.name != given.place().source.name)
}
