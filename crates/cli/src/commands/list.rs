//! `subflow list`: the names that scenarios and commands take.

use std::fmt::Write;

use subflow_scenario::Description;
use subflow_scenario::schema::{FieldSchema, TABLES, TableSchema};

use crate::arguments::Catalogue;
use crate::arguments::names::of_key;
use crate::failure::Failure;
use crate::output::print;

/// The lists and their sources.
const ALL: [(Catalogue, &str, Listed); 14] = [
    (Catalogue::Protocols, "Protocols (protocol = …)", Listed::Key("[flows.NAME]", "protocol")),
    (Catalogue::Congestion, "Congestion control (congestion = …)", Listed::Key("[flows.NAME]", "congestion")),
    (Catalogue::Schedulers, "Packet schedulers (scheduler = …)", Listed::Key("[flows.NAME]", "scheduler")),
    (Catalogue::PathManagers, "Path managers (path_manager = …)", Listed::Key("[flows.NAME]", "path_manager")),
    (Catalogue::Detectors, "Shared-bottleneck detectors (bottleneck = …)", Listed::Key("[flows.NAME]", "bottleneck")),
    (Catalogue::Profiles, "Profiles of stacks (profile = …)", Listed::Key("the top of the file", "profile")),
    (Catalogue::Topologies, "Topologies (topology = { kind = … })", Listed::Key("[topology]", "kind")),
    (Catalogue::Routing, "Ways of routing (routing = { mode = … })", Listed::Key("[routing]", "mode")),
    (
        Catalogue::Queues,
        "Queue disciplines (queue = { discipline = … })",
        Listed::Key("links.NAME.queue = { … }", "discipline"),
    ),
    (Catalogue::Losses, "Loss models (loss = { model = … })", Listed::Key("[links.NAME]", "loss")),
    (
        Catalogue::Middleboxes,
        "Middleboxes on links (middlebox = { kind = … })",
        Listed::Key("links.NAME.middlebox = { … }", "kind"),
    ),
    (
        Catalogue::Jitter,
        "Distributions of delays (jitter = { distribution = … })",
        Listed::Key("links.NAME.jitter = { … }", "distribution"),
    ),
    (Catalogue::Switches, "Further keys that take one of a few words (KEY = …)", Listed::FurtherKeys),
    (Catalogue::Papers, "Publications (subflow reproduce …)", Listed::Papers),
];

#[derive(Clone, Copy)]
enum Listed {
    /// The names that a key of the table at this path takes.
    Key(&'static str, &'static str),
    /// Those of all keys that have no list of their own.
    FurtherKeys,
    /// The publications.
    Papers,
}

pub(crate) fn list(what: Option<Catalogue>) -> Result<(), Failure> {
    match ALL.iter().find(|(catalogue, ..)| Some(*catalogue) == what) {
        Some((_, _, listed)) => print(&entries(*listed)),
        None => {
            let sections: Vec<String> =
                ALL.iter().map(|(_, title, listed)| format!("{title}\n\n{}", indented(&entries(*listed)))).collect();
            print(&sections.join("\n"))
        }
    }
}

fn entries(listed: Listed) -> String {
    match listed {
        Listed::Key(path, key) => described(of_key(path, key)),
        Listed::FurtherKeys => further_keys(),
        Listed::Papers => registered_papers(),
    }
}

/// Every key whose names are in no other list, with its names.
fn further_keys() -> String {
    let listed: Vec<&[Description]> = ALL
        .iter()
        .filter_map(|(_, _, listed)| match listed {
            Listed::Key(path, key) => Some(of_key(path, key)),
            Listed::FurtherKeys | Listed::Papers => None,
        })
        .collect();
    let mut text = String::new();
    for (table, field, entries) in keys_with_names() {
        if listed.iter().any(|others| entries.iter().all(|entry| others.contains(entry))) {
            continue;
        }
        let break_before = if text.is_empty() { "" } else { "\n" };
        let _ = writeln!(text, "{break_before}{} in {}", field.key, table.path);
        text += &indented(&described(entries));
    }
    text
}

fn keys_with_names() -> impl Iterator<Item = (&'static TableSchema, &'static FieldSchema, &'static [Description])> {
    let fields = TABLES.iter().flat_map(|table| table.fields.iter().map(move |field| (*table, field)));
    fields.filter_map(|(table, field)| Some((table, field, field.names()?)))
}

/// The width at which lines are wrapped, with room for the indentation of the whole list.
const WIDTH: usize = 96;

/// Each entry's name with its summary beside it; its source and other names below.
fn described(entries: &[Description]) -> String {
    let below = |Description { aliases, source, .. }: &Description| match (source.is_empty(), aliases.is_empty()) {
        (true, _) => String::new(),
        (false, true) => format!("from {source}"),
        (false, false) => format!("from {source}; also {}", aliases.join(", ")),
    };
    listed(&entries.iter().map(|entry| (entry.name, entry.summary, below(entry))).collect::<Vec<_>>())
}

/// Names, each with a text beside it and one below that.
fn listed(entries: &[(&str, &str, String)]) -> String {
    let name_width = entries.iter().map(|entry| entry.0.len()).max().unwrap_or(0) + 2;
    let indent = " ".repeat(name_width);
    let wrapped = |text: &str, first: &str| {
        let options = textwrap::Options::new(WIDTH)
            .initial_indent(first)
            .subsequent_indent(&indent)
            .word_splitter(textwrap::WordSplitter::NoHyphenation);
        textwrap::fill(text, options) + "\n"
    };
    let mut text = String::new();
    for (name, beside, below) in entries {
        text += &wrapped(beside, &format!("{name:name_width$}"));
        if !below.is_empty() {
            text += &wrapped(below, &indent);
        }
    }
    text
}

#[cfg(not(feature = "publications"))]
fn registered_papers() -> String {
    "this build has none; build them with `cargo build --release --features publications`\n".to_owned()
}

#[cfg(feature = "publications")]
fn registered_papers() -> String {
    use subflow_publications::items_on_linux;

    if subflow_publications::registry().is_empty() {
        return "none yet\n".to_owned();
    }
    let named = subflow_publications::registry().iter().map(|paper| {
        let items: Vec<&str> = paper.items().iter().map(|item| item.name.as_str()).collect();
        let on_linux = match items_on_linux(paper) {
            items if items.is_empty() => String::new(),
            items => format!("; --on linux: {}", items.join(" | ")),
        };
        (paper.name(), paper.title(), format!("--item {}{on_linux}", items.join(" | ")))
    });
    listed(&named.collect::<Vec<_>>())
}

fn indented(text: &str) -> String {
    text.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("  {line}\n") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_that_a_key_takes_is_listed() {
        let all: String = ALL.iter().map(|(_, _, listed)| entries(*listed)).collect();
        let listed = |name: &str| all.lines().any(|line| line.split_whitespace().next() == Some(name));
        let mut keys = 0;
        for (table, field, entries) in keys_with_names() {
            keys += 1;
            for entry in entries {
                assert!(listed(entry.name), "{} of {} in {}", entry.name, field.key, table.path);
                assert!(!entry.summary.is_empty(), "{} of {} in {}", entry.name, field.key, table.path);
            }
        }
        assert!(keys > 25, "only {keys} keys");
    }
}
