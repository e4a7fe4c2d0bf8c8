//! Playlists of HTTP Live Streaming (RFC 8216): the variants of a video, and the lengths and sizes of their segments.

use subflow_quantity::{Duration, Rate};

use crate::ImportError;
use crate::video::{Quality, Video};

/// The largest size of a segment, in bytes.
const LARGEST_SEGMENT: u64 = 1 << 40;

/// One variant's segments: their lengths in seconds, and their sizes as far as the playlist has them.
#[derive(Debug, Default)]
struct Segments {
    lengths: Vec<f64>,
    sizes: Vec<Option<u64>>,
    /// The playlist is complete, so that it has the length of the video.
    has_ended: bool,
}

/// Reads a master playlist, or the playlist of one variant. `beside` has the text of the file that a playlist names.
pub(crate) fn read(text: &str, beside: &dyn Fn(&str) -> Option<String>) -> Result<Video, ImportError> {
    let variants = variants(text)?;
    let mut video = Video::default();
    if variants.is_empty() {
        let segments = segments(text)?;
        let rate = segments.mean_rate().ok_or_else(|| {
            ImportError::new(
                "the playlist of one variant names neither sizes nor bit rates",
                "give the master playlist, which names the bit rate of each variant",
            )
        })?;
        video.take(rate, Some(segments));
        return Ok(video);
    }
    let (mut missing, mut peaks) = (0, 0);
    for Variant { rate, is_peak, uri } in variants {
        let segments = beside(uri).map(|text| segments(&text)).transpose()?;
        missing += usize::from(segments.is_none());
        peaks += usize::from(is_peak);
        video.take(rate, segments);
    }
    if missing > 0 {
        let of = video.qualities.len();
        video.notes.push(format!("the playlists of {missing} of {of} variants are not beside the file"));
    }
    if peaks > 0 {
        video.notes.push("variants without an average bit rate: the peak is taken".to_owned());
    }
    Ok(video)
}

struct Variant<'a> {
    rate: Rate,
    is_peak: bool,
    uri: &'a str,
}

fn variants(text: &str) -> Result<Vec<Variant<'_>>, ImportError> {
    let mut variants = Vec::new();
    let mut lines = text.lines().map(str::trim).enumerate();
    while let Some((number, line)) = lines.next() {
        let Some(attributes) = line.strip_prefix("#EXT-X-STREAM-INF:") else { continue };
        let wrong = |what: &str| ImportError::damaged(format!("line {}: a variant without {what}", number + 1));
        let bits = |name| attribute(attributes, name)?.parse::<u64>().ok().filter(|bits| *bits > 0);
        let (average, peak) = (bits("AVERAGE-BANDWIDTH"), bits("BANDWIDTH"));
        let rate = average.or(peak).ok_or_else(|| wrong("BANDWIDTH, expected one in bit/s (RFC 8216)"))?;
        let uri = lines.by_ref().map(|(_, line)| line).find(|line| !line.is_empty() && !line.starts_with('#'));
        let uri = uri.ok_or_else(|| wrong("an address"))?;
        variants.push(Variant { rate: Rate::from_bits_per_second(rate), is_peak: average.is_none(), uri });
    }
    Ok(variants)
}

/// The value of an attribute in a list whose texts may contain commas.
fn attribute<'a>(list: &'a str, name: &str) -> Option<&'a str> {
    let mut is_quoted = false;
    let parts = list.split(|c| {
        is_quoted ^= c == '"';
        c == ',' && !is_quoted
    });
    let mut pairs = parts.filter_map(|part| part.trim().split_once('='));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| value.trim_matches('"'))
}

fn segments(text: &str) -> Result<Segments, ImportError> {
    let mut all = Segments::default();
    let (mut length, mut size, mut bit_rate) = (None, None, None);
    for (number, line) in text.lines().map(str::trim).enumerate() {
        let number = number + 1;
        if let Some(value) = line.strip_prefix("#EXTINF:") {
            let seconds = value.split(',').next().and_then(|text| text.trim().parse::<f64>().ok());
            let good = seconds.filter(|seconds| (0.0..=3600.0).contains(seconds));
            length = Some(good.ok_or_else(|| {
                ImportError::damaged(format!("line {number}: found {value:?}, expected the seconds of a segment"))
            })?);
        } else if let Some(value) = line.strip_prefix("#EXT-X-BYTERANGE:") {
            size = value.split('@').next().and_then(|text| text.trim().parse::<u64>().ok());
        } else if let Some(value) = line.strip_prefix("#EXT-X-BITRATE:") {
            // In kbit/s, of the segments from here on.
            bit_rate = value.trim().parse::<u64>().ok();
        } else if line == "#EXT-X-ENDLIST" {
            all.has_ended = true;
        } else if !line.is_empty() && !line.starts_with('#') {
            let Some(seconds) = length.take() else { continue };
            let by_rate = bit_rate.map(|kbit| (kbit as f64 * 125.0 * seconds) as u64);
            let size = size.take().or(by_rate).filter(|size| *size > 0);
            if let Some(size) = size.filter(|size| *size > LARGEST_SEGMENT) {
                let message = format!("line {number}: a segment of {size} bytes, expected at most {LARGEST_SEGMENT}");
                return Err(ImportError::damaged(message));
            }
            all.lengths.push(seconds);
            all.sizes.push(size);
        }
    }
    match all.lengths.is_empty() {
        true => Err(ImportError::damaged("the playlist has no segment")),
        false => Ok(all),
    }
}

impl Segments {
    /// All sizes, if the playlist has them.
    fn sizes(&self) -> Vec<u64> {
        self.sizes.iter().copied().collect::<Option<_>>().unwrap_or_default()
    }

    fn length(&self) -> f64 {
        self.lengths.iter().sum()
    }

    fn mean_rate(&self) -> Option<Rate> {
        let bytes: f64 = self.sizes().iter().map(|size| *size as f64).sum();
        let bits = (bytes * 8.0 / self.length()).round();
        (bits >= 1.0 && bits.is_finite()).then(|| Rate::from_bits_per_second(bits as u64))
    }
}

impl Video {
    /// Adds a quality; the first one with segments tells how long they are.
    fn take(&mut self, rate: Rate, segments: Option<Segments>) {
        let sizes = segments.as_ref().map(Segments::sizes).unwrap_or_default();
        self.qualities.push(Quality { rate, sizes });
        let Some(segments) = segments.filter(|_| self.chunk.is_none()) else { return };
        let milliseconds = |seconds: f64| Duration::from_millis((seconds * 1e3).round().max(1.0) as u64);
        self.chunk = Some(milliseconds(segments.length() / segments.lengths.len() as f64));
        self.length = segments.has_ended.then(|| milliseconds(segments.length()));
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) const MASTER: &str = "#EXTM3U\n#EXT-X-VERSION:4\n\
        #EXT-X-STREAM-INF:BANDWIDTH=900000,AVERAGE-BANDWIDTH=640000,CODECS=\"avc1.4d401e,mp4a.40.2\"\nlow.m3u8\n\
        #EXT-X-STREAM-INF:CODECS=\"avc1.4d401f\",BANDWIDTH=2560000\nhigh.m3u8\n";

    fn media(sizes: [u64; 2]) -> String {
        let [first, second] = sizes;
        format!(
            "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6.0,\n#EXT-X-BYTERANGE:{first}@0\nall.ts\n\
             #EXTINF:4.0,\n#EXT-X-BYTERANGE:{second}\nall.ts\n#EXT-X-ENDLIST\n"
        )
    }

    #[test]
    fn a_master_playlist_has_the_rates_and_the_files_beside_it_the_sizes() {
        let beside = |name: &str| match name {
            "low.m3u8" => Some(media([480_000, 320_000])),
            "high.m3u8" => Some(media([1_920_000, 1_280_000])),
            _ => None,
        };
        let video = read(MASTER, &beside).expect("it is a playlist");
        assert_eq!((video.chunk, video.length), (Some(Duration::from_secs(5)), Some(Duration::from_secs(10))));
        let shown: Vec<_> = video.qualities.iter().map(|it| (it.rate.bits_per_second(), it.sizes.clone())).collect();
        assert_eq!(shown, [(640_000, vec![480_000, 320_000]), (2_560_000, vec![1_920_000, 1_280_000])]);
        let alone = read(MASTER, &|_| None).expect("it is a playlist");
        assert!(alone.notes[0].contains("2 of 2 variants"), "{:?}", alone.notes);
    }

    #[test]
    fn one_variant_is_a_video_if_its_sizes_are_known() {
        let video = read(&media([750_000, 500_000]), &|_| None).expect("it has sizes");
        assert_eq!(video.qualities[0].rate, Rate::from_mbit(1));
        let rated = "#EXTM3U\n#EXT-X-BITRATE:800\n#EXTINF:5,\na.ts\n#EXTINF:5,\nb.ts\n";
        let video = read(rated, &|_| None).expect("it has a bit rate");
        assert_eq!((video.qualities[0].sizes.clone(), video.length), (vec![500_000, 500_000], None));
        let said = |text: &str| read(text, &|_| None).expect_err("damaged").message;
        assert!(said("#EXTM3U\n#EXTINF:5,\na.ts\n").contains("neither sizes"));
        assert!(said("#EXTM3U\n").contains("no segment"));
        assert!(said("#EXTM3U\n#EXTINF:soon,\na.ts\n").contains("line 2"));
        assert!(said("#EXTM3U\n#EXT-X-STREAM-INF:CODECS=\"x\"\na.m3u8\n").contains("line 2"));
        assert!(said(&media([u64::MAX; 2])).contains("line 5: a segment of 18446744073709551615 bytes"));
        assert!(said("#EXTM3U\n#EXT-X-BITRATE:18446744073709551615\n#EXTINF:5,\na.ts\n").contains("line 4"));
    }
}
