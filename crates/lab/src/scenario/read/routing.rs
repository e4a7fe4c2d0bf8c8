//! `[routing]`: how routers choose ways.

use subflow_network::{RouterMode, RoutingConfig};
use subflow_policy::routing::{InitialSubflow, MultiflowOptions, ReturnPath, Ties};

use crate::scenario::file::{Field, Problem, Section};
use crate::scenario::schema;

/// What routers can do, by name.
pub(super) const MODES: [(&str, RouterMode); 4] = [
    ("shortest-path", RouterMode::ShortestPath),
    ("ecmp-flow", RouterMode::EcmpFlow),
    ("ecmp-packet", RouterMode::EcmpPacket),
    ("multiflow", RouterMode::Multiflow),
];

/// Keys that only a controller knows.
const OF_CONTROLLER: [&str; 4] = ["initial", "ties", "disjoint_set", "return_path"];

/// The mode of routers that do not say otherwise, and what concerns all of them.
pub(super) fn read(scenario: &Section<'_>) -> Result<(RouterMode, RoutingConfig), Problem> {
    let Some(field) = scenario.given("routing") else { return Ok((RouterMode::default(), RoutingConfig::default())) };
    let section = field.section(&schema::ROUTING)?;
    let published = MODES.map(|(name, mode)| (name, (mode, MultiflowOptions::PUBLISHED)));
    let improved = ("disjoint", (RouterMode::Multiflow, MultiflowOptions::IMPROVED));
    let choices: Vec<_> = published.into_iter().chain([improved]).collect();
    let mode_field = section.value("mode");
    let (mode, options) = mode_field.choice("a way of routing", &choices)?;
    if mode != RouterMode::Multiflow
        && let Some(key) = OF_CONTROLLER.iter().find_map(|key| section.given(key))
    {
        return Err(key
            .problem("only multiflow and disjoint know this")
            .also(mode_field.place(), "the mode")
            .help("set routing.mode to \"multiflow\" or \"disjoint\""));
    }
    let reroute_after = section.given("reroute_after").map(|after| after.duration()).transpose()?;
    Ok((mode, RoutingConfig { multiflow: controller(&section, options)?, reroute_after }))
}

fn controller(section: &Section<'_>, default: MultiflowOptions) -> Result<MultiflowOptions, Problem> {
    let initial = [("apart", InitialSubflow::Apart), ("included", InitialSubflow::Included)];
    let ties = [("first", Ties::First), ("random", Ties::Random), ("least-loaded", Ties::LeastLoaded)];
    let return_path = [("default", ReturnPath::Default), ("forward", ReturnPath::Forward)];
    Ok(MultiflowOptions {
        initial: choice(section.given("initial"), &initial, default.initial)?,
        ties: choice(section.given("ties"), &ties, default.ties)?,
        set: section
            .given("disjoint_set")
            .map_or(Ok(default.set), |field| field.integer(1..=16).map(|number| number as usize))?,
        return_path: choice(section.given("return_path"), &return_path, default.return_path)?,
    })
}

fn choice<T: Copy>(field: Option<Field<'_>>, choices: &[(&str, T)], default: T) -> Result<T, Problem> {
    field.map_or(Ok(default), |field| field.choice("one of the choices", choices))
}
