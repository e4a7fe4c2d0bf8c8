//! What switches and their controller counted in a run.

use serde_json::Value;
use subflow_scenario::Scenario;

use super::switched::Switched;
use crate::RunError;
use crate::results::{SwitchPortBytes, SwitchReport};

/// The report at the end of a run.
pub(super) fn report(switched: &Switched, scenario: &Scenario) -> Result<SwitchReport, RunError> {
    let counters = switched.switches.port_bytes()?;
    let places = switched.switches.places().iter();
    let ports = places
        .zip(switched.links())
        .zip(counters)
        .map(|((&(switch, _), link), bytes)| SwitchPortBytes {
            switch: scenario.routers[switch].name.clone(),
            link: scenario.links[link].name.clone(),
            received_bytes: bytes.received,
            sent_bytes: bytes.sent,
        })
        .collect();
    let mut status = switched.status().unwrap_or_default();
    for subflow in status["connections"].as_array_mut().into_iter().flatten().flat_map(subflows) {
        name_switches(&mut subflow["path"], scenario);
        name_switches(&mut subflow["return_path"], scenario);
    }
    Ok(SwitchReport { ports, connections: status["connections"].take(), controller: status["counters"].take() })
}

fn subflows(connection: &mut Value) -> impl Iterator<Item = &mut Value> {
    connection["subflows"].as_array_mut().into_iter().flatten()
}

/// Puts the names of routers in place of the numbers of switches, which are hexadecimal and begin with 1.
fn name_switches(path: &mut Value, scenario: &Scenario) {
    for switch in path.as_array_mut().into_iter().flatten() {
        let number = switch.as_str().and_then(|text| usize::from_str_radix(text, 16).ok());
        if let Some(router) = number.and_then(|number| scenario.routers.get(number.checked_sub(1)?)) {
            *switch = router.name.clone().into();
        }
    }
}
