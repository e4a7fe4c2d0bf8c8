//! The report of captures: that of connections over time that nobody here has made.

use subflow_lab::results::Series;
use subflow_report::{Observation, Observed, ObservedSeries, Table};

use crate::over_time::{MOST_SHOWN, SeenConnection};
use crate::{Analysis, tables};

impl Analysis {
    /// The report, with figures of the connections that carried most data. `command` is what makes it again.
    pub fn observation(&self, command: String) -> Observation {
        let observed = |connection: &SeenConnection| Observed {
            title: connection.title.clone(),
            subflows: connection.curves.iter().map(|(name, _)| name.clone()).collect(),
            series: connection
                .curves
                .iter()
                .enumerate()
                .flat_map(|(subflow, (_, all))| with_place(subflow, all))
                .collect(),
            events: Vec::new(),
        };
        let mut connections: Vec<&SeenConnection> = self.seen.connections.iter().collect();
        connections.sort_by_key(|connection| connection.number);
        let packets: u64 = self.files.iter().map(|file| file.packets).sum();
        let mut notes = self.notes();
        if self.seen.left_out > 0 {
            notes.push(format!("Figures are of the {MOST_SHOWN} connections with most data."));
        }
        Observation {
            title: "Captured connections".to_owned(),
            duration_s: self.duration_s,
            facts: vec![
                ("files", self.files.len().to_string()),
                ("packets", packets.to_string()),
                ("duration", format!("{:.3} s", self.duration_s)),
                ("connections", self.connections.len().to_string()),
            ],
            connections: connections.into_iter().map(observed).collect(),
            table: tables::subflows(&self.subflows),
            events: Table::default(),
            event_counts: "none are read from captures".to_owned(),
            notes,
            command,
        }
    }
}

fn with_place<'a>(subflow: usize, all: &'a [(&'static str, Series)]) -> impl Iterator<Item = ObservedSeries> + use<'a> {
    let shown = all.iter().filter(|(_, series)| !series.points().is_empty());
    shown.map(move |(title, series)| ObservedSeries { subflow, title, series: series.clone() })
}
