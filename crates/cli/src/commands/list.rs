//! `subflow list`: what there is to choose from.

use subflow_lab::papers;
use subflow_lab::scenario::{
    CatalogueEntry, CongestionName, DetectorName, PathManagerName, SchedulerName, losses, queues,
};

use crate::arguments::Catalogue;
use crate::failure::Failure;
use crate::output::print;

const ALL: [(Catalogue, &str); 7] = [
    (Catalogue::Congestion, "Congestion control (congestion = …)"),
    (Catalogue::Schedulers, "Packet schedulers (scheduler = …)"),
    (Catalogue::PathManagers, "Path managers (path_manager = …)"),
    (Catalogue::Detectors, "Shared-bottleneck detectors (bottleneck = …)"),
    (Catalogue::Queues, "Queue disciplines (queue = { discipline = … })"),
    (Catalogue::Losses, "Loss models (loss = { model = … })"),
    (Catalogue::Papers, "Publications (subflow reproduce …)"),
];

pub(crate) fn list(what: Option<Catalogue>) -> Result<(), Failure> {
    match what {
        Some(catalogue) => print(&entries(catalogue)),
        None => {
            let sections: Vec<String> =
                ALL.iter().map(|(catalogue, title)| format!("{title}\n\n{}", indented(&entries(*catalogue)))).collect();
            print(&sections.join("\n"))
        }
    }
}

fn entries(catalogue: Catalogue) -> String {
    match catalogue {
        Catalogue::Congestion => described(&CongestionName::catalogue()),
        Catalogue::Schedulers => described(&SchedulerName::catalogue()),
        Catalogue::PathManagers => described(&PathManagerName::catalogue()),
        Catalogue::Detectors => described(&DetectorName::catalogue()),
        Catalogue::Queues => described(queues()),
        Catalogue::Losses => described(losses()),
        Catalogue::Papers => registered_papers(),
    }
}

/// The width that everything is wrapped at, with room for the indentation of the whole list.
const WIDTH: usize = 98;

/// Each entry's name with its summary beside it; its source and other names below.
fn described(entries: &[CatalogueEntry]) -> String {
    let below = |CatalogueEntry { aliases, source, .. }: &CatalogueEntry| match (source.is_empty(), aliases.is_empty())
    {
        (true, _) => String::new(),
        (false, true) => format!("from {source}"),
        (false, false) => format!("from {source}; also {}", aliases.join(", ")),
    };
    listed(&entries.iter().map(|entry| (entry.name, entry.summary, below(entry))).collect::<Vec<_>>())
}

/// Names, what stands beside each, and what stands below that.
fn listed(entries: &[(&str, &str, String)]) -> String {
    let name_width = entries.iter().map(|entry| entry.0.len()).max().unwrap_or(0) + 2;
    let indent = " ".repeat(name_width);
    let wrapped = |text: &str, first: &str| {
        let options = textwrap::Options::new(WIDTH).initial_indent(first).subsequent_indent(&indent);
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

fn registered_papers() -> String {
    if papers::registry().is_empty() {
        return "none yet\n".to_owned();
    }
    let named = papers::registry().iter().map(|paper| {
        let items: Vec<&str> = paper.items().iter().map(|item| item.name).collect();
        (paper.name(), paper.title(), format!("--item {}", items.join(" | ")))
    });
    listed(&named.collect::<Vec<_>>())
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}
