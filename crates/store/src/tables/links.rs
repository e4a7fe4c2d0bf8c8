//! The table `links`.

use subflow_lab::results::{DirectionResult, Experiment, LinkResult, Run};

use super::identify;
use crate::Table;
use crate::columns::Columns;

/// A row for each direction of each link of each run.
pub fn links(experiment: &Experiment) -> Table {
    let directions = |link: &LinkResult| [("up", link.up), ("down", link.down)];
    let rows: Vec<(&Run, &LinkResult, (&str, DirectionResult))> = experiment
        .runs
        .iter()
        .flat_map(|run| run.result.links.iter().map(move |link| (run, link)))
        .flat_map(|(run, link)| directions(link).map(|direction| (run, link, direction)))
        .collect();
    let mut columns = Columns::of(&rows);
    identify(&mut columns, |row| row.0);
    columns
        .words(("link", "", "Name of the link."), |row| Some(&row.1.name))
        .words(("direction", "", "up: from the link's first end to its second; down: back."), |row| Some(row.2.0))
        .counts(("packets", "", "Packets that reached the far end."), |row| Some(row.2.1.packets))
        .counts(("bytes", "bytes", "Their IP bytes."), |row| Some(row.2.1.bytes))
        .counts(("drops", "", "Packets dropped by the queue."), |row| Some(row.2.1.drops))
        .counts(("losses", "", "Packets lost on the link."), |row| Some(row.2.1.losses))
        .numbers(("utilisation", "1", "Share of the time in which it transmitted, 0 to 1."), |row| {
            Some(row.2.1.utilisation)
        })
        .counts(("max_queue_packets", "packets", "The most packets in its queue."), |row| {
            Some(row.2.1.max_queue_packets)
        })
        .numbers(("mean_queue_packets", "packets", "Packets in its queue, mean over time."), |row| {
            Some(row.2.1.mean_queue_packets)
        })
        .table("links")
        .of(experiment)
}
