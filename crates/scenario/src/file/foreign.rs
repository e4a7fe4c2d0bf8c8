//! What a file is that is no scenario, and which command reads it.

/// A kind of file of which a command expects another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// What readers of files choose by.
    pub kind: FileKind,
    /// What it is, with an article: `a capture (pcapng)`.
    pub what: &'static str,
    /// The way out: the command that reads it, or what to do with it first.
    pub remedy: &'static str,
}

/// What a file is, as far as readers of files choose by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A page load as an HTTP archive.
    PageLoad,
    /// A video's description of DASH.
    Dash,
    /// A playlist of HLS.
    Hls,
    /// A network of another tool that can be imported.
    Network,
    /// A scenario.
    Scenario,
    /// Anything else.
    Other,
}

/// The bytes by which a file is recognised.
const START: usize = 64 << 10;

type Kind = (fn(&[u8], &str) -> bool, FileKind, &'static str, &'static str);

const ANALYZE: &str =
    "`subflow analyze FILE` reads it; `--scenario OUT` and `--trace OUT` write a scenario and a trace from it";
const IMPORT: &str = "`subflow import FILE` makes a scenario from it";
const DECOMPRESS: &str = "decompress it; `subflow analyze` reads captures compressed with gzip and zstd as they are";
const NONE: &str = "no command of subflow reads it";

/// In the order in which they are tried; the text is the start of the file without white space.
static KINDS: [Kind; 31] = [
    (|bytes, _| bytes.starts_with(&[0x0a, 0x0d, 0x0d, 0x0a]), FileKind::Other, "a capture (pcapng)", ANALYZE),
    (|bytes, _| bytes.starts_with(&[0xd4, 0xc3, 0xb2, 0xa1]), FileKind::Other, "a capture (pcap)", ANALYZE),
    (|bytes, _| bytes.starts_with(&[0xa1, 0xb2, 0xc3, 0xd4]), FileKind::Other, "a capture (pcap)", ANALYZE),
    (|bytes, _| bytes.starts_with(&[0x4d, 0x3c, 0xb2, 0xa1]), FileKind::Other, "a capture (pcap)", ANALYZE),
    (|bytes, _| bytes.starts_with(&[0xa1, 0xb2, 0x3c, 0x4d]), FileKind::Other, "a capture (pcap)", ANALYZE),
    (|bytes, _| bytes.starts_with(&[0x1f, 0x8b]), FileKind::Other, "a file compressed with gzip", DECOMPRESS),
    (
        |bytes, _| bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]),
        FileKind::Other,
        "a file compressed with zstd",
        DECOMPRESS,
    ),
    (|bytes, _| bytes.starts_with(b"BZh"), FileKind::Other, "a file compressed with bzip2", "decompress it"),
    (|bytes, _| bytes.starts_with(b"\xfd7zXZ"), FileKind::Other, "a file compressed with xz", "decompress it"),
    (|bytes, _| bytes.starts_with(b"PK\x03\x04"), FileKind::Other, "a ZIP archive", "extract it first"),
    (|bytes, _| bytes.starts_with(b"\x7fELF"), FileKind::Other, "a program", NONE),
    (
        |bytes, _| bytes.starts_with(b"PAR1"),
        FileKind::Other,
        "a table (Parquet)",
        "subflow writes such tables, and reads stores of runs",
    ),
    (|_, text| text.starts_with('{') && is_archive(text), FileKind::PageLoad, "an HTTP archive (HAR)", IMPORT),
    (
        |_, text| text.starts_with('{') && has_keys(text, &["switches", "hosts", "links"]),
        FileKind::Network,
        "a network of MiniEdit",
        IMPORT,
    ),
    (
        |_, text| text.starts_with('{') && has_keys(text, &["nodes", "links"]),
        FileKind::Network,
        "a network in JSON (SNDlib)",
        IMPORT,
    ),
    (
        |_, text| text.starts_with('{') || text.starts_with("[{"),
        FileKind::Other,
        "JSON",
        "`subflow compare FOLDER` reads the results of runs",
    ),
    (|_, text| text.starts_with("#EXTM3U"), FileKind::Hls, "a playlist (HLS)", IMPORT),
    (
        |_, text| text.starts_with('<') && text.contains("<MPD"),
        FileKind::Dash,
        "a video's description (DASH MPD)",
        IMPORT,
    ),
    (|_, text| text.starts_with('<') && text.contains("<graphml"), FileKind::Network, "a topology in GraphML", IMPORT),
    (
        |_, text| text.starts_with('<') && text.contains("sndlib"),
        FileKind::Network,
        "a network of SNDlib in XML",
        IMPORT,
    ),
    (|_, text| text.starts_with('<') && text.to_lowercase().contains("<html"), FileKind::Other, "a page in HTML", NONE),
    (|_, text| text.starts_with("<?xml"), FileKind::Other, "XML of another kind", NONE),
    (|_, text| text.starts_with("?SNDlib"), FileKind::Network, "a network of SNDlib", IMPORT),
    (
        |_, text| text.starts_with("graph [") || text.contains("\ngraph ["),
        FileKind::Network,
        "a topology in GML",
        IMPORT,
    ),
    (
        |_, text| text.contains("topoType:") && text.contains("path_"),
        FileKind::Network,
        "a network of minitopo",
        IMPORT,
    ),
    (|_, text| text.contains("Podsize ") && text.contains("Tier"), FileKind::Network, "a network of htsim", IMPORT),
    (
        |_, text| text.starts_with("Nodes ") && text.contains("Connections "),
        FileKind::Other,
        "a connection matrix of htsim",
        "a flow of a scenario names it: `pairs = \"FILE\"`",
    ),
    (
        |_, text| text.contains("--tolerance_usecs") || text.contains("socket(...") || text.contains("socket(AF_"),
        FileKind::Other,
        "a script of packetdrill",
        "`subflow conform` has a language of its own, which docs/src/conformance.md describes",
    ),
    (
        |_, text| text.contains("from mininet") || text.contains("import mininet"),
        FileKind::Other,
        "a program for Mininet",
        "what MiniEdit saves (File > Save) is read by `subflow import`",
    ),
    (|_, text| is_scenario(text), FileKind::Scenario, "a scenario", "`subflow run FILE` runs it"),
    (
        |_, text| is_milliseconds(text),
        FileKind::Other,
        "a capacity trace (mahimahi)",
        "a link of a scenario names it: `rate = \"FILE\"`",
    ),
];

impl Foreign {
    /// What a file with these bytes is, as far as its first 64 KiB tell.
    pub fn recognise(bytes: &[u8]) -> Option<Self> {
        let start = &bytes[..bytes.len().min(START)];
        let text = std::str::from_utf8(start).or_else(|error| std::str::from_utf8(&start[..error.valid_up_to()]));
        let text = text.unwrap_or_default().trim_start_matches('\u{feff}').trim_start();
        let known = KINDS.iter().find(|(is, ..)| is(start, text));
        known.map(|&(_, kind, what, remedy)| Self { kind, what, remedy })
    }
}

fn has_keys(text: &str, keys: &[&str]) -> bool {
    keys.iter().all(|key| text.contains(&format!("\"{key}\"")))
}

/// The entries may be behind a long list of pages.
fn is_archive(text: &str) -> bool {
    has_keys(text, &["log"]) && ["entries", "creator"].iter().any(|key| has_keys(text, &[key]))
}

fn is_scenario(text: &str) -> bool {
    text.contains("[links.") || text.contains("[links]") || text.contains("[flows") || text.contains("[hosts]")
}

/// Ten lines of whole numbers that do not decrease.
fn is_milliseconds(text: &str) -> bool {
    let numbers: Vec<Option<u64>> = text.lines().take(10).map(|line| line.trim().parse().ok()).collect();
    numbers.len() == 10 && numbers.iter().all(Option::is_some) && numbers.is_sorted()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_other_kinds_are_named_with_the_command_that_reads_them() {
        let cases: [(&[u8], &str, &str); 14] = [
            (&[0x0a, 0x0d, 0x0d, 0x0a, 0, 0], "pcapng", "subflow analyze"),
            (&[0xd4, 0xc3, 0xb2, 0xa1, 2, 0], "pcap", "subflow analyze"),
            (b"{\"log\": {\"version\": \"1.2\", \"entries\": []}}", "HAR", "subflow import"),
            (b"#EXTM3U\n#EXT-X-VERSION:3\n", "HLS", "subflow import"),
            (b"<?xml version=\"1.0\"?>\n<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\">", "DASH", "subflow import"),
            (b"<?xml version=\"1.0\"?><graphml>", "GraphML", "subflow import"),
            (b"Creator \"Topology Zoo\"\ngraph [\n", "GML", "subflow import"),
            (b"?SNDlib native format; type: network", "SNDlib", "subflow import"),
            (b"{\"hosts\": [], \"switches\": [], \"links\": []}", "MiniEdit", "subflow import"),
            (b"{\"format\": 1}", "JSON", "subflow compare"),
            (b"0.000 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3", "packetdrill", "subflow conform"),
            (b"title = \"x\"\n[hosts]\na = [\"b\"]\n", "a scenario", "subflow run"),
            (b"1\n2\n2\n5\n6\n7\n8\n9\n9\n12\n13\n", "mahimahi", "rate ="),
            (b"\x1f\x8b\x08\x00", "gzip", "decompress"),
        ];
        for (start, what, remedy) in cases {
            let found = Foreign::recognise(start).unwrap_or_else(|| panic!("{what} is known"));
            assert!(found.what.contains(what) && found.remedy.contains(remedy), "{found:?}");
        }
        let kind = |bytes: &[u8]| Foreign::recognise(bytes).map(|it| it.kind);
        assert_eq!(kind(b"#EXTM3U\n"), Some(FileKind::Hls));
        assert_eq!(kind(b"graph [\n"), Some(FileKind::Network));
        assert_eq!(kind(b"\x1f\x8b\x08\x00"), Some(FileKind::Other));
        assert_eq!(kind(b"[hosts]\na = [\"b\"]\n"), Some(FileKind::Scenario));
        assert_eq!(Foreign::recognise(b"[[timeline]]\nat = \"1 s\"\n"), None, "a part of a scenario");
        assert_eq!(Foreign::recognise(&[0xff, 0xfe, 1, 2]), None);
    }
}
