//! `video = { … }` of a flow: what is streamed, and how it is played.

use subflow_policy::adaptation::Adaptation;
use subflow_quantity::{Duration, Rate};

use crate::file::{Field, Problem};
use crate::{Traffic, Video, schema};

/// The most qualities of a ladder.
const MOST_RUNGS: usize = 64;

/// The traffic of a player.
pub(super) fn read(field: &Field<'_>) -> Result<Traffic, Problem> {
    let section = field.section(&schema::VIDEO)?;
    let chunk_field = section.value("chunk");
    let chunk = chunk_field.positive_duration()?;
    let buffer_field = section.value("buffer");
    let buffer = buffer_field.duration()?;
    if buffer < chunk.saturating_mul(2) {
        return Err(buffer_field
            .expected(&format!("at least two chunks, {}", chunk.saturating_mul(2)))
            .label("the next chunk has no room while one plays")
            .also(chunk_field.place(), "the length of a chunk"));
    }
    let startup = match section.given("startup") {
        None => chunk,
        Some(given) => match given.duration()? {
            startup if startup <= buffer => startup,
            _ => return Err(given.expected(&format!("at most the buffer, {buffer}")).label("it would never begin")),
        },
    };
    Ok(Traffic::Video(Video {
        chunk,
        ladder: ladder(&section.required("ladder")?)?,
        buffer,
        adaptation: section.value("abr").choice("a bitrate adaptation", &Adaptation::ALL)?,
        startup,
        length: section
            .given("length")
            .map(|length: Field<'_>| -> Result<Duration, Problem> { length.positive_duration() })
            .transpose()?,
        request: section.value("request").size(1..=1 << 20)?,
    }))
}

/// Bit rates that rise.
fn ladder(field: &Field<'_>) -> Result<Vec<Rate>, Problem> {
    let expected = "a list of rates that rise, such as [\"1 Mbit/s\", \"4 Mbit/s\"]";
    let rungs = field.list(expected)?;
    if rungs.is_empty() || rungs.len() > MOST_RUNGS {
        return Err(field.problem(format!("found {} rates, expected 1 to {MOST_RUNGS}", rungs.len())));
    }
    let mut ladder: Vec<Rate> = Vec::new();
    for rung in &rungs {
        let rate = rung.rate()?;
        if ladder.last().is_some_and(|below| *below >= rate) {
            return Err(rung.expected("a rate above the one before it").label("not above it"));
        }
        ladder.push(rate);
    }
    Ok(ladder)
}
