//! `video = { … }` of a flow: what is streamed, and how it is played.

use subflow_policy::adaptation::Adaptation;
use subflow_quantity::{Duration, Rate};

use crate::file::{Field, Problem};
use crate::size_table::MOST_BYTES;
use crate::{Traffic, Video, schema};

/// The most qualities of a ladder.
const MOST_RUNGS: usize = 64;
/// The most chunks whose sizes are listed.
const MOST_CHUNKS: usize = 100_000;

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
    let ladder = ladder(&section.required("ladder")?)?;
    let sizes = section.given("sizes").map_or(Ok(Vec::new()), |sizes| listed(&sizes, ladder.len()))?;
    if let (Some(length), false) = (section.given("length"), sizes.is_empty()) {
        return Err(length
            .problem("found length and sizes, expected one of them")
            .label("one too many")
            .help("a video with listed sizes has as many chunks as the lists"));
    }
    Ok(Traffic::Video(Video {
        chunk,
        ladder,
        sizes,
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

/// The sizes of all chunks, of each of so many qualities.
fn listed(field: &Field<'_>, qualities: usize) -> Result<Vec<Vec<u64>>, Problem> {
    let lists = field.list("a list of sizes for each quality")?;
    if lists.len() != qualities {
        return Err(field.problem(format!("found {} lists, expected one for each of {qualities} rates", lists.len())));
    }
    let mut all: Vec<Vec<u64>> = Vec::new();
    for list in &lists {
        let sizes = list.list("a list of sizes, such as [\"250 kB\", \"310 kB\"]")?;
        let expected = all.first().map_or(sizes.len(), Vec::len);
        if sizes.is_empty() || sizes.len() > MOST_CHUNKS || sizes.len() != expected {
            let expected = if all.is_empty() { format!("1 to {MOST_CHUNKS}") } else { format!("{expected}, as above") };
            return Err(list.problem(format!("found {} sizes, expected {expected}", sizes.len())));
        }
        all.push(sizes.iter().map(|size| size.size(1..=MOST_BYTES)).collect::<Result<_, _>>()?);
    }
    Ok(all)
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
