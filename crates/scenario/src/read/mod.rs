//! From a document to a [`Scenario`]: the topology first, then the traffic, then the timeline.

mod algorithms;
mod axes;
mod cellular;
mod effect;
mod ends;
mod energy;
mod exchanges;
mod flows;
mod gateways;
mod groups;
mod handovers;
mod hosts;
mod idle_interfaces;
mod late;
mod links;
mod loss;
mod middleboxes;
mod network;
mod pairs;
mod path_products;
mod programs;
mod protocols;
mod queue;
mod reachability;
mod reliability;
mod round_trips;
mod routing;
mod shape;
mod sizes;
mod stacks;
mod strays;
mod streams;
mod switches;
mod timeline;
mod topology;
mod traces;
mod traffic;
mod video;
mod wifi;

use subflow_network::{RoutingConfig, longest_run};
use subflow_quantity::Duration;

use super::file::{Collector, Document, Field, Node, Place, Problem, Problems, Section};
use super::{CustomAlgorithms, Scenario, schema};
pub(crate) use axes::idle_axes;
pub(crate) use effect::without_effect;
use stacks::Stacks;
use topology::Topology;
pub(crate) use traces::Traces;

/// Seeds are below this bound, so that JSON readers that represent numbers as floats read them exactly.
const LARGEST_SEED: u64 = (1 << 53) - 1;

/// The maximum number of samples: more would dominate the time of a run, and series keep far fewer.
const MOST_SAMPLES: u64 = 10_000_000;

/// What a scenario names that is not in its text.
#[derive(Clone, Copy)]
pub(super) struct References<'a> {
    /// Algorithms of a library user's crate.
    pub(super) custom: &'a CustomAlgorithms,
    /// Traces in files.
    pub(super) traces: &'a Traces,
}

/// The general keys at the top of the file.
struct General {
    title: String,
    description: String,
    run: RunLength,
    measure_from: Duration,
    sample_interval: Duration,
    seed: u64,
    repeat: u32,
}

/// The duration of a run, and the place that specifies it.
struct RunLength {
    duration: Duration,
    place: Place,
}

impl RunLength {
    /// Rejects a run that is longer than the clock of a network with this number of links.
    fn check_clock(&self, topology: &Topology) -> Result<(), Problem> {
        let links = topology.links.len();
        let longest = longest_run(links);
        if self.duration <= longest {
            return Ok(());
        }
        let seconds = longest.as_nanos() / 1_000_000_000;
        let found = format!("duration: found {}, expected at most {seconds} s with {links} links", self.duration);
        Err(Problem::at(&self.place, found)
            .label("after the end of the clock")
            .help("a 64-bit word identifies an event by time and link: the more links, the shorter the longest run"))
    }

    /// Rejects a time at or after the end of the run.
    fn check_before_end(&self, field: &Field<'_>, time: Duration) -> Result<(), Problem> {
        match time < self.duration {
            true => Ok(()),
            false => Err(field
                .expected(&format!("a time before the end of the run, {}", self.duration))
                .label("after the end")
                .help("raise the scenario's duration, or choose an earlier time")
                .also(&self.place, "the run's length")),
        }
    }
}

impl Scenario {
    /// Reads one scenario; [`crate::sweep`] reads `[sweep]`.
    pub fn read(document: &Document) -> Result<Self, Problems> {
        Ok(Self::read_from(document, &document.root, &Traces::new(document))?)
    }

    /// Reads one scenario from a tree of `document`; `traces` may hold traces that were read before.
    pub(crate) fn read_from(document: &Document, root: &Node, traces: &Traces) -> Result<Self, Collector> {
        let Document { name, custom, .. } = document;
        let root = Field::root(root);
        let section = root.section(&schema::ROOT)?;
        let mut problems = Collector::default();

        let general = problems.keep(general(&section, name));
        let references = References { custom, traces };
        let topology = Topology::read(&section, references, &mut problems);
        let (Some(general), Some(topology)) = (general, topology) else { return Err(problems) };
        // Flows and events refer to the topology: with an incomplete one they would raise false alarms.
        if !problems.is_empty() {
            return Err(problems);
        }

        problems.keep(general.run.check_clock(&topology));
        let stacks = problems.keep(Stacks::read(&section, &topology));
        let flows =
            stacks.map(|stacks| flows::read(&section, &topology, &stacks, &general.run, references, &mut problems));
        let (flows, groups) = flows.unwrap_or_default();
        exchanges::check(&section, &flows, &mut problems);
        let timeline::Timeline { links: timeline, hosts: host_timeline, handovers } =
            timeline::read(&section, &topology, traces, &general.run, &mut problems);
        let programs = programs::read(&section, document, &topology, &general.run, &mut problems);
        let axes = axes::read(&section, &mut problems);
        let single_ways = problems.keep(routing::single_ways(&section, &topology)).unwrap_or_default();
        let spanning_tree = problems.keep(routing::spanning_tree(&section, &topology)).unwrap_or_default();
        round_trips::check(&section, &topology, &flows, &timeline, &mut problems);
        problems.finish(Self {
            name: name.to_owned(),
            title: general.title,
            description: general.description,
            duration: general.run.duration,
            measure_from: general.measure_from,
            sample_interval: general.sample_interval,
            seed: general.seed,
            repeat: general.repeat,
            axes,
            flows,
            programs,
            groups,
            timeline,
            handovers,
            host_timeline,
            hosts: topology.hosts.into_vec(),
            routers: topology.routers.into_vec(),
            routing: RoutingConfig { spanning_tree, ..topology.routing },
            single_ways,
            links: topology.links.into_vec(),
        })
    }
}

fn general(section: &Section<'_>, name: &str) -> Result<General, Problem> {
    let title = match section.given("title") {
        Some(title) => printable(&title, "a line of text", |_| false)?,
        None => name.to_owned(),
    };
    let duration_field = section.value("duration");
    let duration = duration_field.positive_duration()?;
    let warm_up = section.value("warm_up");
    let measure_from = warm_up.duration()?;
    if measure_from >= duration {
        return Err(warm_up
            .expected(&format!("less than the run's {duration}"))
            .label("nothing is left to measure")
            .also(duration_field.place(), "the run ends here"));
    }
    let seed_field = section.value("seed");
    let seed = seed_field.integer(0..=LARGEST_SEED)?;
    let repeat = section.value("repeat").integer(1..=1_000_000)?;
    if seed + (repeat - 1) > LARGEST_SEED {
        let most = LARGEST_SEED - (repeat - 1);
        return Err(seed_field
            .expected(&format!("at most {most}, so that the last of {repeat} seeds is at most {LARGEST_SEED}")));
    }
    let sample_interval = match section.given("sample_interval") {
        Some(field) => given_interval(&field, duration)?,
        None => (duration / 500).clamp(Duration::from_millis(1), Duration::from_millis(100)),
    };
    Ok(General {
        title,
        description: printable(&section.value("description"), "text", |c| matches!(c, '\n' | '\r' | '\t'))?,
        run: RunLength { duration, place: duration_field.place().clone() },
        measure_from,
        sample_interval,
        seed,
        repeat: repeat as u32,
    })
}

/// A string without control characters: terminals interpret escape sequences, and XML readers reject vector graphics
/// that contain them.
fn printable(field: &Field<'_>, expected: &str, allowed: fn(char) -> bool) -> Result<String, Problem> {
    let text = field.string(expected)?;
    if text.chars().any(|c| c.is_control() && !allowed(c)) {
        return Err(field.expected(&format!("{expected} without control characters")));
    }
    Ok(text.to_owned())
}

/// The specified interval between samples, of which at most `MOST_SAMPLES` fit into a run of this duration.
fn given_interval(field: &Field<'_>, duration: Duration) -> Result<Duration, Problem> {
    let sample_interval = field.positive_duration()?;
    if duration.as_nanos() / sample_interval.as_nanos() > MOST_SAMPLES {
        return Err(
            field.expected(&format!("an interval that fits at most {MOST_SAMPLES} times into the run's {duration}"))
        );
    }
    Ok(sample_interval)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn title_and_description(title: &str, description: &str) -> Result<(String, String), String> {
        let text = format!(
            "title = {title}\ndescription = {description}\n[hosts]\na = [\"x\"]\nb = [\"x\"]\n\
             [links.l]\nbetween = [\"a\", \"b\"]\nrate = \"1 Mbit/s\"\n[flows.f]\nfrom = \"a\"\nto = \"b\"\n"
        );
        let document = Document::parse(Path::new("texts.toml"), text).expect("it is TOML");
        match Scenario::read(&document) {
            Ok(scenario) => Ok((scenario.title, scenario.description)),
            Err(problems) => Err(format!("{problems:?}")),
        }
    }

    #[test]
    fn texts_of_several_languages_and_lines_are_taken() {
        let texts = title_and_description("\"Zwei Wege – 二\"", "\"one\\n\\ttwo\"").expect("good texts");
        assert_eq!(texts, ("Zwei Wege – 二".to_owned(), "one\n\ttwo".to_owned()));
    }

    #[test]
    fn what_a_terminal_would_obey_is_refused_and_shown_escaped() {
        for (title, description) in [(r#""a\u001b[2Jb""#, "''"), (r#""a\nb""#, "''"), ("''", r#""\u0000""#)] {
            let problems = title_and_description(title, description).expect_err("control characters");
            assert!(problems.contains("without control characters") && !problems.contains('\u{1b}'), "{problems}");
        }
    }
}
