//! Scenarios: what is read, refused, swept and described. Bad ones are in `bad_scenarios`, with the snapshots of what is said.

mod any_input;
mod builder;
mod computed_traces;
mod designs;
mod effect;
mod families;
mod groups;
mod idle_interfaces;
mod json_schema;
mod measured_traces;
mod pairs;
mod reach;
mod reference;
