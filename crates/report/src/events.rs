//! Events, those of a scenario's timeline or of what was watched, as marks in figures over time.

use subflow_scenario::Scenario;

use super::figure::{Chart, Figure, Reference};

/// More events are not marked: their lines would hide the curves.
const MOST: usize = 12;

/// A sentence about events that are not marked because there are too many, if there are.
pub(super) fn unmarked<'a>(scenarios: impl Iterator<Item = &'a Scenario>) -> Option<String> {
    let most = scenarios.map(|scenario| scenario.events().len()).max().filter(|count| *count > MOST)?;
    Some(format!(
        "The timeline has {most} events, which the figures do not mark: lines of more than {MOST} would hide curves."
    ))
}

/// A mark for each event of the timeline, in the order of time; none if there are too many.
pub(super) fn events(scenario: &Scenario) -> Vec<Reference> {
    let events = scenario.events().into_iter();
    marks(events.map(|(at, what)| Reference::Moment { label: format!("{at}: {what}"), at: at.as_secs_f64() }))
}

/// The marks; none if there are too many.
pub(super) fn marks(events: impl ExactSizeIterator<Item = Reference>) -> Vec<Reference> {
    if events.len() > MOST { Vec::new() } else { events.collect() }
}

/// The events that figures mark, each once, in the order of the first figure that has them.
pub(super) fn events_of(figures: &[Figure]) -> Vec<&Reference> {
    let mut events: Vec<&Reference> = Vec::new();
    for figure in figures {
        let Chart::Curves(curves) = &figure.chart else { continue };
        for reference in &curves.references {
            if matches!(reference, Reference::Moment { .. }) && !events.contains(&reference) {
                events.push(reference);
            }
        }
    }
    events
}

/// A sentence about the events of a connection that was watched, if they are not marked because there are too many.
pub(super) fn unmarked_of(connection: &str, count: usize) -> Option<String> {
    (count > MOST).then(|| {
        format!(
            "There were {count} events of {connection}, which its figures do not mark: lines of more than {MOST} would \
             hide curves."
        )
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use subflow_scenario::file::Document;
    use subflow_scenario::sweep::Plan;

    use super::*;

    fn with_events(count: usize) -> Plan {
        let event =
            |second: usize| format!("[[timeline]]\nat = \"{second} s\"\nlink = \"l\"\nrate = \"{second} Mbit/s\"\n");
        let timeline: String = (1..=count).map(event).collect();
        let text = format!(
            "duration = \"60 s\"\n[hosts]\na = [\"x\"]\nb = [\"x\"]\n[links.l]\nbetween = [\"a\", \"b\"]\n\
             rate = \"1 Mbit/s\"\n[flows.f]\nfrom = \"a\"\nto = \"b\"\n{timeline}"
        );
        Plan::read(Document::parse(Path::new("a.toml"), text).expect("TOML")).expect("a scenario")
    }

    #[test]
    fn events_are_marked_or_counted() {
        let (few, many) = (with_events(MOST), with_events(MOST + 1));
        let scenario = |plan: &Plan| plan.points[0].scenario.clone();
        assert_eq!(events(&scenario(&few)).len(), MOST);
        assert_eq!(unmarked([&*scenario(&few)].into_iter()), None);
        assert!(events(&scenario(&many)).is_empty());
        let said = unmarked([&*scenario(&few), &*scenario(&many)].into_iter()).expect("a sentence");
        assert!(said.contains("has 13 events, which the figures do not mark"), "{said}");
    }
}
