//! Networks that other tools and collections describe, page loads and videos, as scenarios.
//!
//! This crate is internal to Subflow: its items may change in any release.
//!
//! [`read`] takes the text of a file and finds out what it is ([`Format`]); [`scenario()`] writes a scenario with the same
//! nodes and links. What the file does not say (the rate of most links of the Topology Zoo) is a stated default, and
//! what a scenario cannot express is listed in [`Imported::notes`]. [`import()`] does both, and takes page loads (HAR) and
//! videos (DASH, HLS), too.
//!
//! ```
//! use subflow_import::{Choices, read, scenario};
//!
//! let text = r#"graph [
//!   node [ id 0 label "Bern" Latitude 46.948 Longitude 7.447 ]
//!   node [ id 1 label "Genève" Latitude 46.204 Longitude 6.143 ]
//!   edge [ source 0 target 1 LinkSpeedRaw 10000000000.0 ]
//! ]"#;
//! let network = read(text.as_bytes(), "Swiss.gml").expect("it is GML");
//! let imported = scenario(&network, &Choices::default()).expect("it is connected");
//! assert!(imported.text.contains("Geneve"));
//! assert!(imported.text.contains("rate = \"10 Gbit/s\""));
//! ```

mod attributes;
mod content;
mod dash;
mod data_centre;
mod distance;
mod format;
mod gml;
mod graphml;
mod har;
mod hls;
mod mininet;
mod names;
mod network;
mod page;
mod scenario;
mod sndlib;
mod traffic;
mod video;
mod weights;

use std::fmt;

pub use content::import;
pub use format::{Format, read};
pub use network::{Demand, Link, Network, Node, Position};
pub use scenario::{Choices, Imported, scenario};

/// Why a file is no network, or a network no scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportError {
    /// What was found and what was expected, in one sentence without a full stop; with the line where there is one.
    pub message: String,
    /// The remedy; may be empty.
    pub help: String,
}

impl ImportError {
    pub(crate) fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: help.into() }
    }

    /// The file is damaged, or not what its beginning says.
    pub(crate) fn damaged(message: impl Into<String>) -> Self {
        Self::new(message, "correct the file, or get it again from its source")
    }
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ImportError {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// One small file of each format, for the tests of what all have in common.
    const FILES: [(&str, &str); 8] = [
        ("zoo.graphml", graphml::tests::TWO_CITIES),
        ("zoo.gml", gml::tests::TWO_CITIES),
        ("sndlib.xml", sndlib::tests::XML),
        ("sndlib.json", sndlib::tests::JSON),
        ("sndlib.txt", sndlib::tests::NATIVE),
        ("topology.mn", mininet::tests::MINIEDIT),
        ("leaf-spine.topo", data_centre::tests::LEAF_SPINE),
        ("weights.intra", weights::tests::WEIGHTS),
    ];

    #[test]
    fn every_format_becomes_a_scenario_that_the_reader_of_scenarios_accepts() {
        for (name, text) in FILES {
            let network = read(text.as_bytes(), name).expect(name);
            let imported = scenario(&network, &Choices::default()).expect(name);
            let document = subflow_scenario::file::Document::parse(name.as_ref(), imported.text).expect(name);
            let plan = subflow_scenario::sweep::Plan::read(document).expect(name);
            assert!(!plan.points[0].scenario.links.is_empty(), "{name}");
        }
    }

    proptest! {
        #[test]
        fn damaged_files_are_refused_and_never_panic(
            file in 0..FILES.len(),
            cut in 0.0..1.0_f64,
            changes in prop::collection::vec((0.0..1.0_f64, any::<u8>()), 0..6),
        ) {
            let (name, text) = FILES[file];
            let mut bytes = text.as_bytes()[..(text.len() as f64 * cut) as usize].to_vec();
            for (place, byte) in changes {
                let place = (bytes.len() as f64 * place) as usize;
                if let Some(found) = bytes.get_mut(place) {
                    *found = byte;
                }
            }
            if let Ok(network) = read(&bytes, name) {
                let _ = scenario(&network, &Choices::default());
            }
        }
    }
}
