//! `read = { … }` of a flow: how the application that receives the data reads it.

use subflow_quantity::Duration;

use crate::file::{Field, Problem, Section, Value};
use crate::size_table::MOST_BYTES;
use crate::{Pause, PauseBegin, Reading, schema};

/// How the application of the flow in `section` reads, if it does not read at once; `is_udp`: it receives datagrams.
pub(super) fn read(section: &Section<'_>, is_udp: bool) -> Result<Option<Reading>, Problem> {
    let Some(field) = section.given("read") else { return Ok(None) };
    if is_udp {
        return Err(field
            .problem("datagrams have no receive window that a slow reader could fill")
            .label("not over UDP")
            .help("drop the key, or choose another protocol"));
    }
    let table = field.section(&schema::READ)?;
    Ok(Some(Reading {
        rate: table.given("rate").map(|rate| rate.rate()).transpose()?,
        buffer: table.value("buffer").size(1..=1 << 30)?,
        pauses: table.given("pause").map_or(Ok(Vec::new()), |pause| pauses(&pause))?,
    }))
}

/// One pause, or a list of them.
fn pauses(field: &Field<'_>) -> Result<Vec<Pause>, Problem> {
    match field.value() {
        Value::Array(_) => field.list("a list of tables")?.iter().map(pause).collect(),
        _ => pause(field).map(|pause| vec![pause]),
    }
}

fn pause(field: &Field<'_>) -> Result<Pause, Problem> {
    let section = field.section(&schema::PAUSE)?;
    let begin = match (section.given("at"), section.given("after")) {
        (Some(at), None) => PauseBegin::At(at.duration()?),
        (None, Some(after)) => PauseBegin::After(after.size(0..=MOST_BYTES)?),
        (Some(_), Some(second)) => {
            return Err(second.problem("found at and after, expected one of them").label("one too many"));
        }
        (None, None) => {
            return Err(field
                .problem("found no beginning of the pause, expected at or after")
                .label("when does it begin?")
                .help("for example { at = \"2 s\", for = \"500 ms\" }, or { after = \"1 MB\", for = \"500 ms\" }"));
        }
    };
    let length: Duration = section.required("for")?.positive_duration()?;
    Ok(Pause { begin, length })
}
