//! A video of a file as a scenario: its qualities as a ladder, and the sizes of its chunks where the file has them.

use subflow_quantity::{Duration, Rate, Size};
use subflow_scenario::builder::{FlowBuilder, LinkBuilder, Options, ScenarioBuilder};

use crate::ImportError;
use crate::scenario::{Choices, Imported, checked, scaled};

/// What a description or playlist says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Video {
    pub(crate) title: String,
    /// In any order.
    pub(crate) qualities: Vec<Quality>,
    /// The length of a chunk, or the mean of them.
    pub(crate) chunk: Option<Duration>,
    /// Without one it is a live stream.
    pub(crate) length: Option<Duration>,
    pub(crate) notes: Vec<String>,
}

/// One quality.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Quality {
    pub(crate) rate: Rate,
    /// The sizes of all chunks; empty if the file does not have them.
    pub(crate) sizes: Vec<u64>,
}

/// The length of chunks of which the file says nothing.
const USUAL_CHUNK: Duration = Duration::from_secs(4);
/// The least content that a player's buffer holds.
const USUAL_BUFFER: Duration = Duration::from_secs(30);
/// A run without an end of the video.
const LIVE_RUN: Duration = Duration::from_secs(120);
/// As long as a stall may take in all.
const SPARE: Duration = Duration::from_secs(60);

/// Writes the scenario: a client and a server on one link.
pub(crate) fn scenario(video: &Video, choices: &Choices) -> Result<Imported, ImportError> {
    let mut notes = video.notes.clone();
    let mut qualities: Vec<&Quality> = video.qualities.iter().collect();
    qualities.sort_by_key(|quality| quality.rate);
    qualities.dedup_by_key(|quality| quality.rate);
    if qualities.len() < video.qualities.len() {
        notes.push(format!("{} qualities of {} differ in their bit rate", qualities.len(), video.qualities.len()));
    }
    let chunk = video.chunk.unwrap_or_else(|| {
        notes.push(format!("the file does not say how long chunks are: {USUAL_CHUNK}"));
        USUAL_CHUNK
    });
    let ladder: Vec<Rate> = qualities.iter().map(|quality| quality.rate).collect();
    let mut film = Options::new()
        .set("ladder", ladder)
        .set("chunk", chunk)
        .set("buffer", USUAL_BUFFER.max(chunk.saturating_mul(2)));
    let count = qualities.first().map_or(0, |quality| quality.sizes.len());
    let are_listed = count > 0 && qualities.iter().all(|quality| quality.sizes.len() == count);
    let length = if are_listed {
        let sizes = |quality: &&Quality| quality.sizes.iter().map(|size| Size::from_bytes(*size)).collect::<Vec<_>>();
        film = film.set("sizes", qualities.iter().map(sizes).collect::<Vec<_>>());
        notes.push(format!("{count} chunks with the sizes of the file"));
        Some(chunk.saturating_mul(count as u64))
    } else {
        notes.push("the file does not have the sizes of all chunks: constant bit rates".to_owned());
        if let Some(length) = video.length {
            film = film.set("length", length);
        }
        video.length
    };
    let rate = scaled(choices.rate, choices.scale);
    notes.push(format!("the link: {rate} and {}, which the file does not say", choices.delay));
    let title = if video.title.is_empty() { "A video" } else { &video.title };
    let builder = ScenarioBuilder::new("imported")
        .set("title", title.chars().filter(|c| !c.is_control()).collect::<String>())
        .duration(length.map_or(LIVE_RUN, |length| length.saturating_add(length / 5).saturating_add(SPARE)))
        .host("player", ["eth"])
        .host("server", ["eth"])
        .link("access", LinkBuilder::between("player", "server").rate(rate).delay(choices.delay))
        .flow("video", FlowBuilder::tcp("player", "server").set("video", film));
    checked(&builder, notes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{dash, hls};

    #[test]
    fn a_ladder_rises_and_has_each_rate_once() {
        let mut video = dash::read(dash::tests::MPD).expect("it is a description");
        video.qualities.push(video.qualities[0].clone());
        let Imported { text, notes } = scenario(&video, &Choices::default()).expect("a scenario");
        assert!(text.contains("ladder = [\"600 kbit/s\", \"2400 kbit/s\"], chunk = \"4 s\""), "{text}");
        assert!(text.contains("length = \"70500 ms\""), "{text}");
        assert!(notes.contains(&"2 qualities of 3 differ in their bit rate".to_owned()), "{notes:?}");
    }

    #[test]
    fn sizes_are_listed_if_every_quality_has_all_of_them() {
        let mut video = hls::read(hls::tests::MASTER, &|_| None).expect("it is a playlist");
        let unlisted = scenario(&video, &Choices::default()).expect("a scenario");
        assert!(unlisted.notes.iter().any(|note| note.contains("constant bit rates")), "{:?}", unlisted.notes);
        for (quality, sizes) in video.qualities.iter_mut().zip([[250_000, 310_000], [1_000_000, 900_000]]) {
            quality.sizes = sizes.into();
        }
        let listed = scenario(&video, &Choices::default()).expect("a scenario");
        assert!(listed.text.contains("sizes = [[\"250 kB\", \"310 kB\"], [\"1 MB\", \"900 kB\"]]"), "{}", listed.text);
    }
}
