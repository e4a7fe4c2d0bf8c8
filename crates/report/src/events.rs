//! The events of a scenario's timeline, as marks in figures over time.

use subflow_scenario::Scenario;

use super::figure::Reference;

/// More events are not marked: their lines would hide the curves.
const MOST: usize = 12;

/// A mark for each event of the timeline, in the order of time; none if there are too many.
pub(super) fn events(scenario: &Scenario) -> Vec<Reference> {
    let events = scenario.events();
    if events.len() > MOST {
        return Vec::new();
    }
    let events = events.iter();
    events.map(|(at, what)| Reference::Moment { label: format!("{at}: {what}"), at: at.as_secs_f64() }).collect()
}
