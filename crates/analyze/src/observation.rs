//! The report of captures: that of connections over time that nobody here has made.

use std::cmp::Reverse;

use subflow_lab::results::Series;
use subflow_report::{Mark, Observation, Observed, ObservedSequence, ObservedSeries, Table};

use crate::over_time::{MOST_SHOWN, SeenConnection};
use crate::{Analysis, Cause, Sending, SentSequence, tables};

/// Connections with a time-sequence view, at most: those with most data.
const MOST_VIEWS: usize = 4;

impl Analysis {
    /// The report, with figures of the connections that carried most data. `command` is what makes it again.
    pub fn observation(&self, command: String) -> Observation {
        let mut by_bytes: Vec<&SeenConnection> = self.seen.connections.iter().collect();
        by_bytes.sort_by_key(|connection| Reverse(connection.bytes));
        let largest: Vec<usize> = by_bytes.iter().take(MOST_VIEWS).map(|connection| connection.number).collect();
        let observed = |connection: &SeenConnection| Observed {
            title: connection.title.clone(),
            subflows: connection.curves.iter().map(|(name, _)| name.clone()).collect(),
            series: connection
                .curves
                .iter()
                .enumerate()
                .flat_map(|(subflow, (_, all))| with_place(subflow, all))
                .collect(),
            sequences: if largest.contains(&connection.number) { self.sequences_of(connection) } else { Vec::new() },
            events: Vec::new(),
        };
        let mut connections: Vec<&SeenConnection> = self.seen.connections.iter().collect();
        connections.sort_by_key(|connection| connection.number);
        let packets: u64 = self.files.iter().map(|file| file.packets).sum();
        let left: u64 = self.totals.iter().map(|row| row.connections).sum();
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
                ("connections", (self.connections.len() as u64 + left).to_string()),
            ],
            connections: connections.into_iter().map(observed).collect(),
            table: tables::subflows(&self.subflows),
            events: Table::default(),
            event_counts: "none are read from captures".to_owned(),
            notes,
            command,
        }
    }

    fn sequences_of(&self, connection: &SeenConnection) -> Vec<ObservedSequence> {
        let ours = self.sequences.iter().filter(|sequence| sequence.connection == connection.number);
        let observed = |sequence: &SentSequence| {
            let subflow = connection.curves.iter().position(|(name, _)| *name == sequence.subflow)?;
            let (what, mark) = drawn(sequence.sending);
            let points = sequence.points().iter().map(|point| (point.time_s, point.offset as f64 / 1e6)).collect();
            Some(ObservedSequence { subflow, what, mark, points })
        };
        ours.filter_map(observed).collect()
    }
}

/// What a packet with data is called in the time-sequence view, and how it is drawn.
const fn drawn(sending: Sending) -> (&'static str, Mark) {
    match sending {
        Sending::New => ("sent \u{b7}", Mark::Small),
        Sending::Copied => ("copied here \u{25a0}", Mark::Square),
        Sending::Again(Cause::Fast) => ("sent again \u{25cb}", Mark::Ring),
        Sending::Again(Cause::Timeout) => ("after a timeout \u{25a0}", Mark::LargeAlarm),
        Sending::Again(Cause::Probe) => ("probe \u{25aa}", Mark::Alarm),
        Sending::Again(Cause::Other) => ("sent again, cause unknown \u{25cb}", Mark::Ring),
    }
}

fn with_place<'a>(subflow: usize, all: &'a [(&'static str, Series)]) -> impl Iterator<Item = ObservedSeries> + use<'a> {
    let shown = all.iter().filter(|(_, series)| !series.points().is_empty());
    shown.map(move |(title, series)| ObservedSeries { subflow, title, series: series.clone() })
}
