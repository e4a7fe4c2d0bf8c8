//! The tables of a single run: flows, groups, subflows, links, and what only some flows have.

use std::borrow::Cow;

use super::shown::{FLOW_PARTS, Reader, Summarised, has_part, shown_in};
use crate::results::metrics::{DIRECTION, FLOW, GROUP, IDENTITY, INTERFACE, LINK, Means, Metric, Part, RUN, SUBFLOW};
use crate::results::{
    ConnectionResult, DirectionResult, FlowResult, GroupResult, LinkResult, ProgramResult, RunResult, SubflowResult,
    flows_and_groups,
};
use crate::table::Align::{Left, Right};
use crate::table::{Cell, Columns};

pub(super) fn one_run(run: &RunResult, reader: Reader) -> Vec<Summarised> {
    let flows = flows_and_groups(run);
    let mut tables = vec![main(&flows, reader), groups(run, reader), subflows(&flows, reader)];
    tables.extend(FLOW_PARTS.map(|(part, title, id)| of_part(&flows, part, title, id, reader)));
    if flows.len() > 1 {
        tables.push(together(run, reader));
    }
    tables.push(links(run, reader));
    tables.push(interfaces(run, reader));
    let programs = run.real_time.as_ref().map_or(&[][..], |real_time| &real_time.programs);
    if !programs.is_empty() {
        tables.push(program_table(programs));
    }
    tables.push(connection_table(run));
    tables
}

/// Adds the metrics of `part` that a single run has.
fn add<'r, R, T: 'static>(
    columns: &mut Columns<'r, R>,
    metrics: impl IntoIterator<Item = &'static Metric<T>>,
    part: Part,
    reader: Reader,
    of: impl Fn(&'r R) -> &'r T,
) {
    for (metric, shown, heading) in shown_in(metrics, part, reader) {
        if shown.means != Means::MeanOnly {
            columns.shown(heading, shown.decimals, Right, |row| metric.shown_cell(&shown, of(row), reader));
        }
    }
}

/// What text calls a flow of a single run, whose end or completion it shows, and what pages call it.
fn flow_heading(reader: Reader) -> &'static str {
    if reader == Reader::Text { "connection" } else { "flow" }
}

fn main(flows: &[Cow<'_, FlowResult>], reader: Reader) -> Summarised {
    let mut columns = Columns::of(flows);
    for (identity, heading) in
        IDENTITY.iter().zip([flow_heading(reader), "protocol", "congestion", "scheduler", "paths"])
    {
        columns.shown(heading, 0, Left, |flow| identity.word_of(flow).into());
    }
    for (metric, shown, heading) in shown_in(FLOW.iter().copied().flatten(), Part::Main, reader) {
        columns.shown(heading, shown.decimals, Right, |flow| {
            match (metric.shown_cell(&shown, flow, reader), flow.ended) {
                // How a connection ended that failed before.
                (Cell::Empty, Some(how)) if reader == Reader::Text && how != "gracefully" => how.into(),
                (cell, _) => cell,
            }
        });
    }
    Summarised { title: "Flows", table: columns.table("flows") }
}

fn groups(run: &RunResult, reader: Reader) -> Summarised {
    let groups = GroupResult::all(run);
    let mut columns = Columns::of(&groups);
    columns.shown("group", 0, Left, |group| group.name.as_str().into());
    add(&mut columns, GROUP, Part::Main, reader, |group| group);
    Summarised { title: "Groups of flows", table: columns.table("groups") }
}

fn subflows(flows: &[Cow<'_, FlowResult>], reader: Reader) -> Summarised {
    let rows: Vec<(&FlowResult, &SubflowResult)> =
        flows.iter().flat_map(|flow| flow.subflows.iter().map(move |subflow| (&**flow, subflow))).collect();
    let mut columns = Columns::of(&rows);
    columns.shown(flow_heading(reader), 0, Left, |row| row.0.name.as_str().into());
    columns.shown("subflow", 0, Left, |row| row.1.label().into());
    add(&mut columns, SUBFLOW.iter().copied().flatten(), Part::Main, reader, |row| row.1);
    Summarised { title: "Subflows", table: columns.table("subflows") }
}

fn of_part(
    flows: &[Cow<'_, FlowResult>],
    part: Part,
    title: &'static str,
    id: &'static str,
    reader: Reader,
) -> Summarised {
    let rows: Vec<&FlowResult> = flows.iter().map(|flow| &**flow).filter(|flow| has_part(flow, part)).collect();
    let mut columns = Columns::of(&rows);
    let heading = if part == Part::Datagrams && reader == Reader::Text { "stream" } else { flow_heading(reader) };
    columns.shown(heading, 0, Left, |flow| flow.name.as_str().into());
    add(&mut columns, FLOW.iter().copied().flatten(), part, reader, |flow| *flow);
    // Such as the share of exchanges in time, of those that have no deadline.
    Summarised { title, table: columns.table(id).without_empty_columns() }
}

/// All flows together.
fn together(run: &RunResult, reader: Reader) -> Summarised {
    let rows = [run];
    let mut columns = Columns::of(&rows);
    columns.shown("flows", 0, Left, |_| "all".into());
    add(&mut columns, RUN.iter().filter(|metric| metric.has_column([run])), Part::Main, reader, |run| *run);
    Summarised { title: "All flows together", table: columns.table("together") }
}

fn program_table(programs: &[ProgramResult]) -> Summarised {
    let mut columns = Columns::of(programs);
    columns.shown("program", 0, Left, |program| program.name.as_str().into());
    columns.shown("host", 0, Left, |program| program.host.as_str().into());
    columns.shown("start s", 3, Right, |program| program.started_s.into());
    columns.shown("end s", 3, Right, |program| program.ended_s.into());
    columns.shown("outcome", 0, Left, |program| program.outcome().as_str().into());
    if programs.iter().any(|program| program.connections > 0) {
        columns.shown("connections", 0, Right, |program| (program.connections as i64).into());
        columns.shown("sent MB", 3, Right, |program| megabytes(program.bytes_sent));
        columns.shown("received MB", 3, Right, |program| megabytes(program.bytes_received));
    }
    Summarised { title: "Programs", table: columns.table("programs") }
}

/// The connections of programs that are flows.
fn connection_table(run: &RunResult) -> Summarised {
    let rows: Vec<&ConnectionResult> = run.flows.iter().filter_map(|flow| flow.connection.as_deref()).collect();
    let mut columns = Columns::of(&rows);
    columns.shown("connection", 0, Left, |row| row.name.as_str().into());
    columns.shown("opened by", 0, Left, |row| row.program.as_deref().into());
    columns.shown("accepted by", 0, Left, |row| row.peer.as_deref().into());
    columns.shown("start s", 3, Right, |row| row.start_s.into());
    columns.shown("end s", 3, Right, |row| row.end_s.into());
    columns.shown("sent MB", 3, Right, |row| megabytes(row.bytes_sent));
    columns.shown("received MB", 3, Right, |row| megabytes(row.bytes_received));
    columns.shown("share a bottleneck", 0, Left, |row| {
        let shared = Some(row.shared()).filter(|shared| !shared.is_empty());
        shared.as_deref().into()
    });
    Summarised { title: "Connections of programs", table: columns.table("connections").without_empty_columns() }
}

fn megabytes(bytes: u64) -> Cell {
    (bytes as f64 * 1e-6).into()
}

fn links(run: &RunResult, reader: Reader) -> Summarised {
    let mut columns = Columns::of(&run.links);
    columns.shown("link", 0, Left, |link| link.name.as_str().into());
    add(&mut columns, LINK, Part::Main, reader, |link| link);
    for direction in ["up", "down"] {
        let of: fn(&LinkResult) -> &DirectionResult =
            if direction == "up" { |link| &link.up } else { |link| &link.down };
        for (position, (metric, shown, heading)) in shown_in(DIRECTION, Part::Main, reader).enumerate() {
            let heading = match (reader, position) {
                (Reader::Text, _) => format!("{heading} {direction}"),
                (Reader::Page, 0) => format!("{direction}: {heading}"),
                (Reader::Page, _) => heading.to_owned(),
            };
            columns.shown(&heading, shown.decimals, Right, |link| metric.shown_cell(&shown, of(link), reader));
        }
    }
    Summarised { title: "Links", table: columns.table("links") }
}

fn interfaces(run: &RunResult, reader: Reader) -> Summarised {
    let mut columns = Columns::of(&run.interfaces);
    columns.shown("interface", 0, Left, |interface| interface.name.as_str().into());
    add(&mut columns, INTERFACE, Part::Main, reader, |interface| interface);
    Summarised { title: "Energy of interfaces", table: columns.table("interfaces") }
}
