//! Descriptions of videos in MPEG-DASH (ISO/IEC 23009-1): the bit rates of a video, and the lengths of its segments.

use roxmltree::{Document, Node as Element};
use subflow_quantity::{Duration, Rate};

use crate::ImportError;
use crate::graphml::is;
use crate::video::{Quality, Video};

pub(crate) fn read(text: &str) -> Result<Video, ImportError> {
    let document = Document::parse(text).map_err(|error| ImportError::damaged(format!("not valid XML: {error}")))?;
    let root = document.root_element();
    let periods: Vec<_> = root.children().filter(|element| is(element, "Period")).collect();
    let Some(period) = periods.first() else {
        return Err(ImportError::damaged("the description has no element <Period>, expected one"));
    };
    let sets: Vec<_> = period.children().filter(|element| is(element, "AdaptationSet")).collect();
    let videos: Vec<_> = sets.iter().filter(|set| is_video(set)).collect();
    let Some(set) = videos.iter().max_by_key(|set| representations(set).count()) else {
        return Err(ImportError::new("the description has no video", "expected an AdaptationSet of video"));
    };
    let mut video = Video { title: title(&root), ..Video::default() };
    let left_out = [
        (periods.len() - 1, "periods besides the first"),
        (sets.len() - videos.len(), "sets that are no video"),
        (videos.len() - 1, "sets of video with fewer qualities"),
    ];
    for (count, what) in left_out.into_iter().filter(|(count, _)| *count > 0) {
        video.notes.push(format!("{what}: {count}, left out"));
    }
    video.length = match length(period, "duration")? {
        None => length(&root, "mediaPresentationDuration")?,
        known => known,
    };
    for representation in representations(set) {
        let bandwidth = representation.attribute("bandwidth").and_then(|bits| bits.trim().parse::<u64>().ok());
        let bits = bandwidth.filter(|bits| *bits > 0).ok_or_else(|| {
            ImportError::damaged("a Representation has no bandwidth, expected one in bit/s (ISO/IEC 23009-1)")
        })?;
        let levels = [representation, **set, *period];
        video.chunk = video.chunk.or_else(|| levels.iter().find_map(segment_length));
        let sizes = levels.iter().find_map(listed_sizes).unwrap_or_default();
        video.qualities.push(Quality { rate: Rate::from_bits_per_second(bits), sizes });
    }
    if video.length.is_none() {
        video.notes.push("the description has no length: a live stream; the run ends it".to_owned());
    }
    Ok(video)
}

fn title(root: &Element<'_, '_>) -> String {
    let title = root.descendants().find(|element| is(element, "Title")).and_then(|element| element.text());
    title.unwrap_or_default().trim().to_owned()
}

fn representations<'a, 'i>(set: &Element<'a, 'i>) -> impl Iterator<Item = Element<'a, 'i>> {
    set.children().filter(|element| is(element, "Representation"))
}

/// By its own type, or that of its first representation.
fn is_video(set: &Element<'_, '_>) -> bool {
    let typed = |element: &Element<'_, '_>| {
        let kind = element.attribute("contentType").or_else(|| element.attribute("mimeType"));
        kind.map(|kind| kind.starts_with("video"))
    };
    let has_size = |element: &Element<'_, '_>| element.attribute("width").is_some();
    let first = representations(set).next();
    typed(set).or_else(|| first.as_ref().and_then(typed)).unwrap_or_else(|| first.as_ref().is_some_and(has_size))
}

/// The length of segments that a `SegmentTemplate` or `SegmentList` states, as a number or the mean of a timeline.
fn segment_length(element: &Element<'_, '_>) -> Option<Duration> {
    let segments = |child: &Element<'_, '_>| is(child, "SegmentTemplate") || is(child, "SegmentList");
    let template = element.children().find(segments)?;
    let number = |element: &Element<'_, '_>, name| element.attribute(name).and_then(|text| text.parse::<f64>().ok());
    let timescale = number(&template, "timescale").filter(|scale| *scale > 0.0).unwrap_or(1.0);
    let units = number(&template, "duration").or_else(|| {
        let (mut sum, mut count) = (0.0, 0.0);
        for entry in template.descendants().filter(|element| is(element, "S")) {
            // `r` more segments of the same length; -1, up to the end, counts as one.
            let repeated = 1.0 + number(&entry, "r").unwrap_or(0.0).max(0.0);
            sum += number(&entry, "d")? * repeated;
            count += repeated;
        }
        (count > 0.0).then(|| sum / count)
    })?;
    let seconds = units / timescale;
    (0.001..=3600.0).contains(&seconds).then(|| Duration::from_millis((seconds * 1e3).round() as u64))
}

/// The sizes of segments that are ranges of bytes of one file.
fn listed_sizes(element: &Element<'_, '_>) -> Option<Vec<u64>> {
    let list = element.children().find(|child| is(child, "SegmentList"))?;
    let urls = list.children().filter(|child| is(child, "SegmentURL"));
    let sizes = urls.map(|url| {
        let (first, last) = url.attribute("mediaRange")?.split_once('-')?;
        let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
        last.checked_sub(first)?.checked_add(1)
    });
    sizes.collect::<Option<Vec<u64>>>().filter(|sizes| !sizes.is_empty())
}

/// The length that an attribute of an element states.
fn length(element: &Element<'_, '_>, name: &str) -> Result<Option<Duration>, ImportError> {
    let Some(text) = element.attribute(name) else { return Ok(None) };
    let wrong = || {
        let of = element.tag_name().name();
        let expected = "expected a length in days, hours, minutes and seconds of at most 1000000 s, such as PT1H2M3.5S";
        ImportError::damaged(format!("{name} of <{of}>: found {text:?}, {expected}"))
    };
    iso_duration(text).map(Some).ok_or_else(wrong)
}

/// A duration of ISO 8601 in days, hours, minutes and seconds: `P1DT1H2M3.5S`. Years and months have no fixed length.
fn iso_duration(text: &str) -> Option<Duration> {
    let text = text.trim().strip_prefix('P')?;
    let (days, times) = text.split_once('T').unwrap_or((text, ""));
    let seconds = in_units(days, &[('D', 86_400.0)])? + in_units(times, &[('H', 3600.0), ('M', 60.0), ('S', 1.0)])?;
    (0.001..=1e6).contains(&seconds).then(|| Duration::from_millis((seconds * 1e3).round() as u64))
}

/// The sum of numbers that have one of these units each, in seconds.
fn in_units(text: &str, units: &[(char, f64)]) -> Option<f64> {
    let (mut sum, mut rest) = (0.0, text);
    while let Some(end) = rest.find(|c: char| c.is_ascii_alphabetic()) {
        let (_, unit) = units.iter().find(|(unit, _)| rest[end..].starts_with(*unit))?;
        sum += rest[..end].parse::<f64>().ok().filter(|number| *number >= 0.0)? * unit;
        rest = &rest[end + 1..];
    }
    rest.is_empty().then_some(sum)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) const MPD: &str = r#"<?xml version="1.0"?>
<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT1M10.5S">
 <ProgramInformation><Title>A film</Title></ProgramInformation>
 <Period>
  <AdaptationSet contentType="audio"><Representation id="a" bandwidth="96000"/></AdaptationSet>
  <AdaptationSet mimeType="video/mp4">
   <SegmentTemplate timescale="1000" duration="4000" media="$Number$.m4s"/>
   <Representation id="high" bandwidth="2400000" width="1280"/>
   <Representation id="low" bandwidth="600000" width="640"/>
  </AdaptationSet>
 </Period>
</MPD>
"#;

    #[test]
    fn bit_rates_and_lengths_are_those_of_the_video() {
        let video = read(MPD).expect("it is a description");
        let rates: Vec<_> = video.qualities.iter().map(|quality| quality.rate.bits_per_second()).collect();
        assert_eq!((rates, video.chunk), (vec![2_400_000, 600_000], Some(Duration::from_secs(4))));
        assert_eq!((video.length, video.title.as_str()), (Some(Duration::from_millis(70_500)), "A film"));
        assert_eq!(video.notes, ["sets that are no video: 1, left out"]);
    }

    #[test]
    fn a_timeline_has_a_mean_and_ranges_of_bytes_are_sizes() {
        let timeline = "<SegmentTemplate timescale=\"10\"><SegmentTimeline><S d=\"40\" r=\"2\"/><S d=\"20\"/>\
             </SegmentTimeline></SegmentTemplate>";
        let template = "<SegmentTemplate timescale=\"1000\" duration=\"4000\" media=\"$Number$.m4s\"/>";
        assert_eq!(read(&MPD.replace(template, timeline)).expect("valid").chunk, Some(Duration::from_millis(3500)));
        let list = "<SegmentList duration=\"2\"><SegmentURL mediaRange=\"0-99\"/><SegmentURL mediaRange=\"100-349\"/>\
             </SegmentList>";
        let listed = read(&MPD.replace(template, list)).expect("valid");
        assert_eq!((listed.qualities[1].sizes.clone(), listed.chunk), (vec![100, 250], Some(Duration::from_secs(2))));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let said = |text: &str| read(text).expect_err("damaged").message;
        assert!(said("<MPD/>").contains("no element <Period>"));
        assert!(said("<MPD><Period><AdaptationSet contentType='audio'/></Period></MPD>").contains("no video"));
        assert!(said(&MPD.replace("bandwidth=\"600000\"", "")).contains("no bandwidth"));
        let year = said(&MPD.replace("PT1M10.5S", "P1Y"));
        assert!(year.contains("mediaPresentationDuration") && year.contains("\"P1Y\""), "{year}");
    }

    #[test]
    fn lengths_are_of_days_hours_minutes_and_seconds() {
        let seconds = [("PT2H", 7200), ("P1DT1S", 86_401), ("P1D", 86_400), ("P1DT2H", 93_600), ("PT1M", 60)];
        for (text, seconds) in seconds {
            assert_eq!(iso_duration(text), Some(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["5 s", "P1Y", "P1M", "P1YT1H", "P1H", "PT1D", "PT1H5", "PT-1H", "P", "", "PT0S", "P1000D"] {
            assert_eq!(iso_duration(text), None, "{text}");
        }
    }
}
