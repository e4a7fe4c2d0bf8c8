//! `[[timeline]]`.

use subflow_network::LinkChange;
use subflow_quantity::Duration;

use super::RunLength;
use super::handovers;
use super::links::{delay, optional_directions, service};
use super::loss;
use super::topology::Topology;
use super::traces::Traces;
use super::wifi;
use crate::file::{Collector, Field, Problem, Section, list};
use crate::schema::EVENT_DIRECTIONS;
use crate::{Attachment, Handovers, HostEvent, InterfaceIndex, LinkEvent, schema};

/// What happens during a run.
#[derive(Default)]
pub(super) struct Timeline {
    /// In the order of time, with the means of handovers.
    pub(super) links: Vec<LinkEvent>,
    /// In the order of time.
    pub(super) hosts: Vec<HostEvent>,
    pub(super) handovers: Vec<Handovers>,
}

/// All events of links and of hosts, without those that have problems.
pub(super) fn read(
    section: &Section<'_>,
    topology: &Topology,
    traces: &Traces,
    run: &RunLength,
    problems: &mut Collector,
) -> Timeline {
    let mut all = Timeline::default();
    let Some(field) = section.given("timeline") else { return all };
    let elements = field.list("a list of events: [[timeline]]");
    let Some(elements) = problems.keep(elements) else { return all };
    for element in &elements {
        let Some(happening) = problems.keep(event(element, topology, traces, run)) else { continue };
        match happening {
            Happening::Links(events, host) => {
                all.links.extend(events);
                all.hosts.extend(host);
            }
            Happening::Handovers(handovers) => all.handovers.push(handovers),
        }
    }
    all.links.extend(all.handovers.iter().flat_map(|handovers| handovers.mean_events(run.duration)));
    all.links.sort_by_key(|event| event.at);
    all.hosts.sort_by_key(|event| event.at);
    all
}

/// What an element of the timeline stands for.
enum Happening {
    /// Changes of links, and perhaps one of a host.
    Links(Vec<LinkEvent>, Option<HostEvent>),
    Handovers(Handovers),
}

fn event(field: &Field<'_>, topology: &Topology, traces: &Traces, run: &RunLength) -> Result<Happening, Problem> {
    let section = field.section(&schema::EVENT)?;
    let at_field = section.required("at")?;
    let at = at_field.duration()?;
    run.check_before_end(&at_field, at)?;
    let changes = |link: usize, events: Vec<LinkEvent>| {
        wifi::check_changes(field, &topology.links[link], &events)?;
        Ok(events)
    };
    let [link, interface, address] = ["link", "interface", "address"].map(|key| section.given(key));
    match (link, interface, address) {
        (Some(link), None, None) => {
            let link = topology.link(&link)?;
            match (section.given("trace"), section.given("handovers")) {
                (Some(trace), None) => {
                    let followed = followed(&section, &trace, at, link, traces, run)?;
                    Ok(Happening::Links(changes(link, followed)?, None))
                }
                (None, Some(given)) => {
                    alone(&section, "handovers", &given, &["direction"])?;
                    let handovers = handovers::read(&given, at, (link, &topology.links[link]), run)?;
                    changes(link, handovers.mean_events(run.duration))?;
                    Ok(Happening::Handovers(handovers))
                }
                (None, None) => {
                    let events = vec![link_event(&section, at, link, traces)?];
                    Ok(Happening::Links(changes(link, events)?, None))
                }
                (Some(trace), Some(_)) => {
                    Err(trace.problem("found a trace and handovers, expected one of them").label("one too many"))
                }
            }
        }
        (None, Some(interface), None) => {
            let index = topology.interface(&interface)?;
            let up = comes_back(&section, &interface)?;
            let (link, _) = topology.plugged.get(&Attachment::Interface(index)).expect("every interface is on a link");
            let change = || vec![if up { LinkChange::Up } else { LinkChange::Down }];
            let addresses = topology.hosts[index.host].interfaces[index.interface].addresses.clone();
            Ok(Happening::Links(
                vec![LinkEvent { at, link: *link, up: change(), down: change(), is_drawn: false }],
                Some(HostEvent { at, host: index.host, addresses, present: up }),
            ))
        }
        (None, None, Some(address)) => {
            let (InterfaceIndex { host, .. }, found) = topology.address(&address)?;
            let present = comes_back(&section, &address)?;
            Ok(Happening::Links(Vec::new(), Some(HostEvent { at, host, addresses: vec![found], present })))
        }
        (None, None, None) => Err(field
            .problem("link is missing, expected one of link, interface and address")
            .label("the event has no target")),
        (link, interface, address) => {
            let last = address.or(interface).or(link).expect("there are two");
            Err(last.problem("found more than one of link, interface and address").label("one too many"))
        }
    }
}

/// Whether an interface or address becomes available (`up`) or unavailable (`down`), the only events that these have.
fn comes_back(section: &Section<'_>, named: &Field<'_>) -> Result<bool, Problem> {
    let of_links = ["direction", "rate", "delay", "loss", "trace", "handovers"];
    if let Some(stray) = of_links.into_iter().find_map(|key| section.given(key)) {
        return Err(stray.problem("only links have this").label("not for an interface or address"));
    }
    match (switch(section, "down")?, switch(section, "up")?) {
        (Some(_), Some(up)) => Err(up.problem("found down and up, expected one of them").label("one too many")),
        (Some(_), None) => Ok(false),
        (None, Some(_)) => Ok(true),
        (None, None) => Err(named.problem("nothing changes, expected down = true or up = true")),
    }
}

/// Rejects any other change beside `what`, and the `further` keys.
fn alone(section: &Section<'_>, what: &str, given: &Field<'_>, further: &[&'static str]) -> Result<(), Problem> {
    let others = ["rate", "delay", "loss", "down", "up"];
    match others.into_iter().chain(further.iter().copied()).find_map(|key| section.given(key)) {
        None => Ok(()),
        Some(stray) => Err(stray
            .problem(format!("found {what} and another change, expected one of them"))
            .label("one too many")
            .also(given.place(), "beside this")
            .help("write two events")),
    }
}

/// The changes of a link that follows a trace from `begin` on. What lies after the end of the run is left out.
fn followed(
    section: &Section<'_>,
    trace: &Field<'_>,
    begin: Duration,
    link: usize,
    traces: &Traces,
    run: &RunLength,
) -> Result<Vec<LinkEvent>, Problem> {
    alone(section, "a trace", trace, &[])?;
    let [up, down] = section.value("direction").choice("a direction", &EVENT_DIRECTIONS)?;
    let conditions = traces.conditions(trace)?;
    let changes = conditions.changes.iter().map(|(after, changes)| (begin.saturating_add(*after), changes));
    let of = |is_changed: bool, changes: &Vec<LinkChange>| if is_changed { changes.clone() } else { Vec::new() };
    Ok(changes
        .take_while(|(at, _)| *at < run.duration)
        .filter(|(_, changes)| !changes.is_empty())
        .map(|(at, changes)| LinkEvent { at, link, up: of(up, changes), down: of(down, changes), is_drawn: false })
        .collect())
}

fn link_event(section: &Section<'_>, at: Duration, link: usize, traces: &Traces) -> Result<LinkEvent, Problem> {
    let sides = section.value("direction").choice("a direction", &EVENT_DIRECTIONS)?;

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
    match (switch(section, "down")?, switch(section, "up")?) {
        (Some(_), Some(up)) => return Err(up.problem("found down and up, expected one of them").label("one too many")),
        (Some(_), None) => change([Some(LinkChange::Down), Some(LinkChange::Down)]),
        (None, Some(_)) => change([Some(LinkChange::Up), Some(LinkChange::Up)]),
        (None, None) => {}
    }
    let [up, down] = changes;
    if up.is_empty() && down.is_empty() {
        let what = list(["down = true", "up = true", "rate", "delay", "loss", "trace", "handovers"]);
        return Err(section
            .field()
            .problem(format!("nothing changes, expected one of {what}"))
            .label("this event does nothing"));
    }
    Ok(LinkEvent { at, link, up, down, is_drawn: false })
}

/// `down = true` or `up = true`.
fn switch<'a>(section: &Section<'a>, key: &'static str) -> Result<Option<Field<'a>>, Problem> {
    let Some(field) = section.given(key) else { return Ok(None) };
    match field.boolean()? {
        true => Ok(Some(field)),
        false => {
            let other = if key == "down" { "up" } else { "down" };
            Err(field.expected("true").help(format!("write {other} = true, or drop the key")))
        }
    }
}

fn model(field: &Field<'_>, traces: &Traces) -> Result<LinkChange, Problem> {
    let (model, position) = loss::read(field, traces)?;
    match position {
        subflow_network::LossPosition::AfterQueue => Ok(LinkChange::Loss(model)),
        subflow_network::LossPosition::BeforeQueue => {
            Err(field.problem("the position of loss cannot change during a run").help("drop position here"))
        }
    }
}
