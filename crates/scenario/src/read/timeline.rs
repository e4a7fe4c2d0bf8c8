//! `[[timeline]]`.

use subflow_network::LinkChange;
use subflow_quantity::Duration;

use super::RunLength;
use super::links::{delay, optional_directions, service};
use super::loss;
use super::topology::Topology;
use super::traces::Traces;
use crate::file::{Collector, Field, Problem, Section, list};
use crate::schema::EVENT_DIRECTIONS;
use crate::{Attachment, HostEvent, InterfaceIndex, LinkEvent, schema};

/// All events of links and of hosts in the order of time, without those that have problems.
pub(super) fn read(
    section: &Section<'_>,
    topology: &Topology,
    traces: &Traces,
    run: &RunLength,
    problems: &mut Collector,
) -> (Vec<LinkEvent>, Vec<HostEvent>) {
    let (mut links, mut hosts) = (Vec::new(), Vec::new());
    let Some(field) = section.given("timeline") else { return (links, hosts) };
    let elements = field.list("a list of events: [[timeline]]");
    let Some(elements) = problems.keep(elements) else { return (links, hosts) };
    for element in &elements {
        let Some((link, host)) = problems.keep(event(element, topology, traces, run)) else { continue };
        links.extend(link);
        hosts.extend(host);
    }
    links.sort_by_key(|event| event.at);
    hosts.sort_by_key(|event| event.at);
    (links, hosts)
}

type Happening = (Vec<LinkEvent>, Option<HostEvent>);

fn event(field: &Field<'_>, topology: &Topology, traces: &Traces, run: &RunLength) -> Result<Happening, Problem> {
    let section = field.section(&schema::EVENT)?;
    let at_field = section.required("at")?;
    let at = at_field.duration()?;
    run.check_before_end(&at_field, at)?;
    let [link, interface, address] = ["link", "interface", "address"].map(|key| section.given(key));
    match (link, interface, address) {
        (Some(link), None, None) => {
            let link = topology.link(&link)?;
            match section.given("trace") {
                Some(trace) => Ok((followed(&section, &trace, at, link, traces, run)?, None)),
                None => Ok((vec![link_event(&section, at, link, traces)?], None)),
            }
        }
        (None, Some(interface), None) => {
            let index = topology.interface(&interface)?;
            let up = comes_back(&section, &interface)?;
            let (link, _) = topology.plugged.get(&Attachment::Interface(index)).expect("every interface is on a link");
            let change = || vec![if up { LinkChange::Up } else { LinkChange::Down }];
            let addresses = topology.hosts[index.host].interfaces[index.interface].addresses.clone();
            Ok((
                vec![LinkEvent { at, link: *link, up: change(), down: change() }],
                Some(HostEvent { at, host: index.host, addresses, present: up }),
            ))
        }
        (None, None, Some(address)) => {
            let (InterfaceIndex { host, .. }, found) = topology.address(&address)?;
            let present = comes_back(&section, &address)?;
            Ok((Vec::new(), Some(HostEvent { at, host, addresses: vec![found], present })))
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
    let of_links = ["direction", "rate", "delay", "loss", "trace"];
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

/// The changes of a link that follows a trace from `begin` on. What lies after the end of the run is left out.
fn followed(
    section: &Section<'_>,
    trace: &Field<'_>,
    begin: Duration,
    link: usize,
    traces: &Traces,
    run: &RunLength,
) -> Result<Vec<LinkEvent>, Problem> {
    if let Some(stray) = ["rate", "delay", "loss", "down", "up"].into_iter().find_map(|key| section.given(key)) {
        return Err(stray
            .problem("found a trace and another change, expected one of them")
            .label("one too many")
            .help("write two events"));
    }
    let [up, down] = section.value("direction").choice("a direction", &EVENT_DIRECTIONS)?;
    let conditions = traces.conditions(trace)?;
    let changes = conditions.changes.iter().map(|(after, changes)| (begin.saturating_add(*after), changes));
    let of = |is_changed: bool, changes: &Vec<LinkChange>| if is_changed { changes.clone() } else { Vec::new() };
    Ok(changes
        .take_while(|(at, _)| *at < run.duration)
        .filter(|(_, changes)| !changes.is_empty())
        .map(|(at, changes)| LinkEvent { at, link, up: of(up, changes), down: of(down, changes) })
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
        let what = list(["down = true", "up = true", "rate", "delay", "loss", "trace"]);
        return Err(section
            .field()
            .problem(format!("nothing changes, expected one of {what}"))
            .label("this event does nothing"));
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
