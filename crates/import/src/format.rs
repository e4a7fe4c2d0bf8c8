//! What a file is.

use std::fmt;

use subflow_scenario::file::{FileKind, Foreign};

use crate::{ImportError, Network, data_centre, gml, graphml, mininet, sndlib, weights};

/// The formats that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// GraphML, as of the Internet Topology Zoo.
    GraphMl,
    /// The Graph Modelling Language, as of the Internet Topology Zoo.
    Gml,
    /// SNDlib in XML, with demands.
    SndlibXml,
    /// SNDlib converted to JSON, with demands.
    SndlibJson,
    /// SNDlib's native format, with demands.
    SndlibNative,
    /// What Mininet's editor MiniEdit saves, `.mn`.
    MiniEdit,
    /// A topology of minitopo.
    Minitopo,
    /// A `.topo` file of htsim: a fat tree or a leaf-spine network.
    Htsim,
    /// A topology of HPCC's simulator.
    Hpcc,
    /// Two nodes and a weight in a line, as of Rocketfuel.
    Weights,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::GraphMl => "GraphML",
            Self::Gml => "GML",
            Self::SndlibXml => "SNDlib XML",
            Self::SndlibJson => "SNDlib JSON",
            Self::SndlibNative => "SNDlib",
            Self::MiniEdit => "MiniEdit",
            Self::Minitopo => "minitopo",
            Self::Htsim => "htsim",
            Self::Hpcc => "HPCC",
            Self::Weights => "weights",
        })
    }
}

impl Format {
    /// The format of a text, by its beginning. The error says what the file is, as far as it can be told.
    pub fn of(text: &str) -> Result<Self, ImportError> {
        let unknown = |what: &str| unknown(text.as_bytes(), what);
        let start = text.trim_start();
        if start.starts_with('<') {
            return match root_element(start) {
                Some("graphml") => Ok(Self::GraphMl),
                Some("network") => Ok(Self::SndlibXml),
                Some(other) => Err(unknown(&format!("XML with the root element {other:?}"))),
                None => Err(unknown("XML without an element")),
            };
        }
        if start.starts_with('{') {
            let has = |key: &str| text.contains(&format!("\"{key}\""));
            return match () {
                () if has("switches") && has("hosts") && has("links") => Ok(Self::MiniEdit),
                () if has("nodes") && has("links") => Ok(Self::SndlibJson),
                () => Err(unknown("JSON with other keys")),
            };
        }
        if start.starts_with("?SNDlib native format") {
            return Ok(Self::SndlibNative);
        }
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let first = lines.next().ok_or_else(|| unknown("empty"))?;
        let mut all = std::iter::once(first).chain(lines.clone());
        let mut words = first.split_whitespace();
        match words.next() {
            Some("graph" | "graph[" | "Creator" | "Version" | "comment") if text.contains('[') => Ok(Self::Gml),
            _ if all.clone().any(|line| line.starts_with("topoType:")) => Ok(Self::Minitopo),
            _ if all.any(|line| line.starts_with("Podsize ")) => Ok(Self::Htsim),
            _ if is_hpcc(first) => Ok(Self::Hpcc),
            _ if weights::is_line(first) => Ok(Self::Weights),
            _ => Err(unknown("text of another kind")),
        }
    }
}

/// Reads a network. `name` is that of the file: its title, and for Rocketfuel's files the meaning of the last column.
///
/// Text that is not UTF-8 is taken as Latin-1, which SNDlib's files declare.
pub fn read(bytes: &[u8], name: &str) -> Result<Network, ImportError> {
    if bytes.contains(&0) || bytes.starts_with(&[0x1f, 0x8b]) {
        return Err(unknown(bytes, "binary"));
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.trim_start_matches('\u{feff}').to_owned(),
        Err(_) => bytes.iter().map(|byte| char::from(*byte)).collect(),
    };
    let format = Format::of(&text)?;
    let network = match format {
        Format::GraphMl => graphml::read(&text),
        Format::Gml => gml::read(&text),
        Format::SndlibXml => sndlib::read_xml(&text),
        Format::SndlibJson => sndlib::read_json(&text),
        Format::SndlibNative => sndlib::read_native(&text),
        Format::MiniEdit => mininet::read_miniedit(&text),
        Format::Minitopo => mininet::read_minitopo(&text),
        Format::Htsim => data_centre::read_htsim(&text),
        Format::Hpcc => data_centre::read_hpcc(&text),
        Format::Weights => weights::read(&text, name),
    }?;
    let own = if network.title.is_empty() { name.to_owned() } else { network.title.clone() };
    Network { title: format!("{format}: {own}"), ..network }.tidied()
}

/// The name of the first element of XML.
fn root_element(text: &str) -> Option<&str> {
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        if rest.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            let end = rest.find(|c: char| c.is_whitespace() || c == '>' || c == '/')?;
            return Some(rest[..end].rsplit(':').next().unwrap_or_default());
        }
    }
    None
}

/// Three whole numbers: nodes, switches and links.
fn is_hpcc(line: &str) -> bool {
    let numbers: Vec<_> = line.split_whitespace().map(str::parse::<u32>).collect();
    matches!(&numbers[..], [Ok(nodes), Ok(switches), Ok(_)] if switches < nodes)
}

/// Refuses what is no network, by what it is as far as that is known, with the command that reads it.
fn unknown(bytes: &[u8], what: &str) -> ImportError {
    let known = Foreign::recognise(bytes).filter(|it| matches!(it.kind, FileKind::Scenario | FileKind::Other));
    let (what, remedy) = known.map_or((what, ""), |Foreign { what, remedy, .. }| (what, remedy));
    let separator = if remedy.is_empty() { "" } else { "; " };
    ImportError::new(
        format!("the file is {what}, expected a network, a page load or a video"),
        format!("{remedy}{separator}{READ}"),
    )
}

const READ: &str = "these are read: GraphML and GML (Topology Zoo), SNDlib (XML, JSON, native), MiniEdit's .mn, minitopo, \
     htsim's .topo, HPCC's topologies, lines of two nodes and a weight (Rocketfuel), relations of CAIDA, HTTP archives \
     (HAR), and videos of DASH (.mpd) and HLS (.m3u8)";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_network_is_called_what_it_is() {
        let cases: [(&[u8], &str); 8] = [
            (b"", "empty"),
            (b"\n\n# only a comment\n", "empty"),
            (b"\x0a\x0d\x0d\x0a\x00\x00", "pcapng"),
            (b"\x1f\x8b\x08\x00", "gzip"),
            (b"{\"format\": 1}", "JSON"),
            (b"<svg xmlns=\"x\"/>", "\"svg\""),
            (b"[hosts]\na = [\"eth\"]\n[links.x]\n", "a scenario"),
            (b"from mininet.net import Mininet\n", "Mininet"),
        ];
        for (bytes, expected) in cases {
            let error = read(bytes, "file").expect_err(expected);
            assert!(error.message.contains(expected), "{error}");
            assert!(error.help.contains("GraphML"));
        }
    }

    #[test]
    fn the_root_element_is_behind_declarations_and_comments_and_may_have_a_prefix() {
        let text = "<?xml version=\"1.0\"?>\n<!-- a comment -->\n<g:graphml xmlns:g=\"x\"><g:graph/></g:graphml>";
        assert_eq!(root_element(text), Some("graphml"));
        assert_eq!(Format::of("Creator \"me\"\ngraph [\n]\n"), Ok(Format::Gml));
        assert_eq!(Format::of("20 4 16\n16 17 18 19\n"), Ok(Format::Hpcc));
    }
}
