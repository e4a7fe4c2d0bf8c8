//! `subflow list`: what there is to choose from.

use subflow_lab::papers;
use subflow_lab::results::{Align, TextTable};
use subflow_lab::scenario::{CatalogueEntry, CongestionName, PathManagerName, SchedulerName, losses, queues};

use crate::arguments::Catalogue;
use crate::failure::Failure;
use crate::output::print;

const ALL: [(Catalogue, &str); 6] = [
    (Catalogue::Congestion, "Congestion control (congestion = …)"),
    (Catalogue::Schedulers, "Packet schedulers (scheduler = …)"),
    (Catalogue::PathManagers, "Path managers (path_manager = …)"),
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
        Catalogue::Queues => described(queues()),
        Catalogue::Losses => described(losses()),
        Catalogue::Papers => registered_papers(),
    }
}

/// An entry's name and summary on one line, its source and other names below: all of it fits into 100 columns.
fn described(entries: &[CatalogueEntry]) -> String {
    let width = entries.iter().map(|entry| entry.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for entry in entries {
        text += &format!("{:width$}  {}\n", entry.name, entry.summary);
        let aliases =
            if entry.aliases.is_empty() { String::new() } else { format!("; also {}", entry.aliases.join(", ")) };
        text += &format!("{:width$}  from {}{aliases}\n", "", entry.source);
    }
    text
}

fn registered_papers() -> String {
    if papers::registry().is_empty() {
        return "none yet\n".to_owned();
    }
    let mut table = TextTable::new([("name", Align::Left), ("title", Align::Left), ("items", Align::Left)]);
    for paper in papers::registry() {
        let items: Vec<&str> = paper.items().iter().map(|item| item.name).collect();
        table.row([paper.name().to_owned(), paper.title().to_owned(), items.join(" ")]);
    }
    table.render()
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}
