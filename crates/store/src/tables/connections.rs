//! The table `connections`: those of programs in hosts, one by one.

use subflow_lab::results::{ConnectionResult, Experiment, Run};
use subflow_lab::table::{Columns, Table};

use super::identify;
use crate::tables::of_experiment;

/// A row for each connection of programs of each run, in the order of their beginnings.
pub fn connections(experiment: &Experiment) -> Table {
    let rows: Vec<(&Run, &ConnectionResult, String)> = experiment
        .runs
        .iter()
        .flat_map(|run| run.result.connections.iter().map(move |connection| (run, connection, connection.shared())))
        .collect();
    let mut columns = Columns::of(&rows);
    identify(&mut columns, |row| row.0);
    columns
        .words(("connection", "", "Its name; the first ones of each program are flows with this name."), |row| {
            Some(&row.1.name)
        })
        .words(("program", "", "The program or process that opened it."), |row| row.1.program.as_deref())
        .words(("peer", "", "The program or process that accepted it."), |row| row.1.peer.as_deref())
        .categories(("protocol", "", "Transport protocol."), |row| &row.1.protocol)
        .words(("local", "", "Address and port that it was opened from."), |row| Some(&row.1.local))
        .words(("remote", "", "Address and port that it was opened to."), |row| Some(&row.1.remote))
        .numbers(("start_s", "s", "When it was seen first, from the start of the run."), |row| Some(row.1.start_s))
        .numbers(("end_s", "s", "When its sockets had ended; absent if one was open at the end."), |row| row.1.end_s)
        .counts(("bytes_sent", "bytes", "What arrived at the one who accepted it."), |row| Some(row.1.bytes_sent))
        .counts(("bytes_received", "bytes", "What arrived at the one who opened it."), |row| Some(row.1.bytes_received))
        .counts(("retransmissions", "", "Segments that either end sent again."), |row| Some(row.1.retransmissions))
        .flags(("was_listed", "", "Whether it was seen open; otherwise the kernel reported its end alone."), |row| {
            Some(row.1.was_listed)
        })
        .words(("shared_bottlenecks", "", "Pairs of subflows that share a bottleneck, with the detector."), |row| {
            Some(&row.2)
        });
    of_experiment(columns.table("connections"), experiment)
}
