//! `[routing]`: how routers choose paths.

use subflow_network::{RouterMode, RoutingConfig};
use subflow_policy::catalogue::Choice;
use subflow_policy::routing::MultiflowOptions;

use super::topology::Topology;
use crate::file::{Field, Problem, Section, did_you_mean, list};
use crate::schema::{self, INITIAL_SUBFLOWS, RETURN_PATHS, TIES, routing_modes};

/// Keys that only a controller knows.
const OF_CONTROLLER: [&str; 5] = ["initial", "spanning_tree", "ties", "disjoint_set", "return_path"];

/// The mode of routers that specify none, and the options of all routers.
pub(super) fn read(scenario: &Section<'_>) -> Result<(RouterMode, RoutingConfig), Problem> {
    let Some(field) = scenario.given("routing") else { return Ok((RouterMode::default(), RoutingConfig::default())) };
    let section = field.section(&schema::ROUTING)?;
    let mode_field = section.value("mode");
    let (mode, options) = mode_field.choice("a way of routing", &routing_modes())?;
    if mode != RouterMode::Multiflow
        && let Some(key) = OF_CONTROLLER.iter().find_map(|key| section.given(key))
    {
        return Err(key
            .problem("only multiflow and disjoint have this option")
            .also(mode_field.place(), "the mode")
            .help("set routing.mode to \"multiflow\" or \"disjoint\""));
    }
    let reroute_after = section.given("reroute_after").map(|after| after.duration()).transpose()?;
    Ok((mode, RoutingConfig { multiflow: controller(&section, options)?, reroute_after, spanning_tree: None }))
}

/// The indices of the hosts of `single_way_to`.
pub(super) fn single_ways(scenario: &Section<'_>, topology: &Topology) -> Result<Vec<usize>, Problem> {
    let Some(field) = scenario.given("routing") else { return Ok(Vec::new()) };
    let Some(names) = field.section(&schema::ROUTING)?.given("single_way_to") else { return Ok(Vec::new()) };
    let hosts = || topology.hosts.iter().map(|host| host.name.as_str());
    let number = |field: &Field<'_>| {
        let name = field.string("the name of a host")?;
        topology.hosts.number(name).ok_or_else(|| {
            field
                .problem(format!("there is no host {name:?}"))
                .label(did_you_mean(name, hosts(), "no such host"))
                .help(format!("the hosts are {}", list(hosts())))
        })
    };
    names.list("a list of names of hosts")?.iter().map(number).collect()
}

/// The router at the root of the spanning tree, by number.
pub(super) fn spanning_tree(scenario: &Section<'_>, topology: &Topology) -> Result<Option<u32>, Problem> {
    let Some(field) = scenario.given("routing") else { return Ok(None) };
    let Some(root) = field.section(&schema::ROUTING)?.given("spanning_tree") else { return Ok(None) };
    let routers = || topology.routers.iter().map(|router| router.name.as_str());
    let name = root.string("the name of a router")?;
    let number = topology.routers.number(name).ok_or_else(|| {
        root.problem(format!("there is no router {name:?}"))
            .label(did_you_mean(name, routers(), "no such router"))
            .help(format!("the routers are {}", list(routers())))
    })?;
    Ok(Some(number as u32))
}

fn controller(section: &Section<'_>, default: MultiflowOptions) -> Result<MultiflowOptions, Problem> {
    Ok(MultiflowOptions {
        initial: choice(section.given("initial"), &INITIAL_SUBFLOWS, default.initial)?,
        ties: choice(section.given("ties"), &TIES, default.ties)?,
        set: section
            .given("disjoint_set")
            .map_or(Ok(default.set), |field| field.integer(1..=16).map(|number| number as usize))?,
        return_path: choice(section.given("return_path"), &RETURN_PATHS, default.return_path)?,
    })
}

fn choice<T: Copy>(field: Option<Field<'_>>, choices: &[Choice<T>], default: T) -> Result<T, Problem> {
    field.map_or(Ok(default), |field| field.choice("one of the choices", choices))
}
