//! `[[timeline]]`.

use subflow_network::LinkChange;

use super::RunLength;
use super::links::{delay, optional_directions, service};
use super::loss;
use super::topology::Topology;
use super::traces::Traces;
use crate::scenario::file::{Collector, Field, Problem, Section, list};
use crate::scenario::{LinkEvent, schema};

/// All events by time; those with problems are left out.
pub(super) fn read(
    section: &Section<'_>,
    topology: &Topology,
    traces: &Traces,
    run: &RunLength,
    problems: &mut Collector,
) -> Vec<LinkEvent> {
    let Some(field) = section.given("timeline") else { return Vec::new() };
    let elements = field.list("a list of events: [[timeline]]");
    let Some(elements) = problems.keep(elements) else { return Vec::new() };
    let events = elements.iter().filter_map(|element| problems.keep(event(element, topology, traces, run)));
    let mut events: Vec<LinkEvent> = events.collect();
    events.sort_by_key(|event| event.at);
    events
}

fn event(field: &Field<'_>, topology: &Topology, traces: &Traces, run: &RunLength) -> Result<LinkEvent, Problem> {
    let section = field.section(&schema::EVENT)?;
    let at_field = section.required("at")?;
    let at = at_field.duration()?;
    run.check_before_end(&at_field, at)?;
    let link = topology.link(&section.required("link")?)?;
    let sides = section
        .value("direction")
        .choice("a direction", &[("both", [true, true]), ("up", [true, false]), ("down", [false, true])])?;

    let mut changes: [Vec<LinkChange>; 2] = [Vec::new(), Vec::new()];
    let mut change = |both: [Option<LinkChange>; 2]| {
        for (index, one) in both.into_iter().enumerate().filter(|(index, _)| sides[*index]) {
            changes[index].extend(one);
        }
    };
    if let Some(rate) = section.given("rate") {
        change(optional_directions(&rate, |f| service(f, traces).map(LinkChange::Service))?);
    }
    if let Some(field) = section.given("delay") {
        change(optional_directions(&field, |f| delay(f).map(LinkChange::Delay))?);
    }
    if let Some(field) = section.given("loss") {
        change(optional_directions(&field, |f| model(f, traces))?);
    }
    match (switch(&section, "down")?, switch(&section, "up")?) {
        (Some(_), Some(up)) => return Err(up.problem("found down and up, expected one of them").label("one too many")),
        (Some(_), None) => change([Some(LinkChange::Down), Some(LinkChange::Down)]),
        (None, Some(_)) => change([Some(LinkChange::Up), Some(LinkChange::Up)]),
        (None, None) => {}
    }
    let [up, down] = changes;
    if up.is_empty() && down.is_empty() {
        let what = list(["down = true", "up = true", "rate", "delay", "loss"]);
        return Err(field.problem(format!("nothing changes, expected one of {what}")).label("this event does nothing"));
    }
    Ok(LinkEvent { at, link, up, down })
}

/// `down = true` or `up = true`.
fn switch<'a>(section: &Section<'a>, key: &'static str) -> Result<Option<Field<'a>>, Problem> {
    let Some(field) = section.given(key) else { return Ok(None) };
    match field.boolean()? {
        true => Ok(Some(field)),
        false => {
            let other = if key == "down" { "up" } else { "down" };
            Err(field.expected("true").help(format!("say {other} = true, or drop the key")))
        }
    }
}

fn model(field: &Field<'_>, traces: &Traces) -> Result<LinkChange, Problem> {
    let (model, position) = loss::read(field, traces)?;
    match position {
        subflow_network::LossPosition::AfterQueue => Ok(LinkChange::Loss(model)),
        subflow_network::LossPosition::BeforeQueue => {
            Err(field.problem("where loss strikes cannot change during a run").help("drop position here"))
        }
    }
}
