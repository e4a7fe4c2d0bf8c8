//! Whatever a file is: a network, a page load or a video.

use subflow_scenario::file::{FileKind, Foreign};

use crate::scenario::{Choices, Imported, scenario};
use crate::{ImportError, dash, format, har, hls, page, video};

/// Makes a scenario of a file: a network, a page load (HAR), or a video (DASH, HLS).
///
/// `name` is that of the file. `beside` has the bytes of another file that this one names, such as the playlist of a
/// variant; `None` if there is none.
///
/// # Errors
///
/// The file is none of these, or is damaged; the message says what it is.
pub fn import(
    bytes: &[u8],
    name: &str,
    choices: &Choices,
    beside: &dyn Fn(&str) -> Option<Vec<u8>>,
) -> Result<Imported, ImportError> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_start_matches('\u{feff}').to_owned();
    let titled = |title: String| if title.is_empty() { name.to_owned() } else { title };
    match Foreign::recognise(bytes).map(|file| file.kind) {
        Some(FileKind::PageLoad) => page::scenario(&har::read(&text(bytes))?, choices),
        Some(FileKind::Dash) => {
            let read = dash::read(&text(bytes))?;
            video::scenario(&video::Video { title: titled(read.title.clone()), ..read }, choices)
        }
        Some(FileKind::Hls) => {
            let read = hls::read(&text(bytes), &|uri| beside(uri).map(|bytes| text(&bytes)))?;
            video::scenario(&video::Video { title: titled(read.title.clone()), ..read }, choices)
        }
        Some(FileKind::Network | FileKind::Scenario | FileKind::Other) | None => {
            scenario(&format::read(bytes, name)?, choices)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::graphml;

    const FILES: [&str; 4] = [har::tests::HAR, dash::tests::MPD, hls::tests::MASTER, graphml::tests::TWO_CITIES];

    #[test]
    fn every_kind_of_file_becomes_a_scenario() {
        let titles = ["A page", "A film", "A video file", "GraphML: Two cities"];
        for (text, title) in FILES.into_iter().zip(titles) {
            let imported = import(text.as_bytes(), "A video file", &Choices::default(), &|_| None).expect(title);
            assert!(imported.text.contains(&format!("title = \"{title}\"")), "{}", imported.text);
        }
    }

    proptest! {
        #[test]
        fn damaged_files_are_refused_and_never_panic(
            file in 0..FILES.len(),
            cut in 0.0..1.0_f64,
            changes in prop::collection::vec((0.0..1.0_f64, any::<u8>()), 0..6),
        ) {
            let mut bytes = FILES[file].as_bytes()[..(FILES[file].len() as f64 * cut) as usize].to_vec();
            for (place, byte) in changes {
                let place = (bytes.len() as f64 * place) as usize;
                if let Some(found) = bytes.get_mut(place) {
                    *found = byte;
                }
            }
            let _ = import(&bytes, "file", &Choices::default(), &|_| None);
        }
    }
}
