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
const PAIRS: &str = "a flow of a scenario names it, and `subflow run` reads it: `pairs = \"FILE\"`";
const NONE: &str = "no command of subflow reads it";

/// In the order in which they are tried; the text is the start of the file without white space.
static KINDS: [Kind; 34] = [
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
    (|_, text| is_playlist(text), FileKind::Hls, "a playlist (HLS)", IMPORT),
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
        PAIRS,
    ),
    (|_, text| is_flow_list_of_hpcc(text), FileKind::Other, "a list of flows of HPCC", PAIRS),
    (|_, text| is_table_of_flows(text), FileKind::Other, "a list of flows (CSV)", PAIRS),
    (
        |_, text| is_distribution(text),
        FileKind::Other,
        "a distribution of sizes",
        "a flow of a scenario names it, and `subflow run` reads it: `send = { empirical = \"FILE\" }`",
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

/// A playlist begins with its tag (RFC 8216, section 4.3.1.1); people put comments before it.
fn is_playlist(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines
        .find(|line| line.starts_with("#EXT") || !line.starts_with('#'))
        .is_some_and(|line| line.starts_with("#EXTM3U"))
}

/// The lines that are neither empty nor comments, as words.
fn words(text: &str) -> impl Iterator<Item = Vec<&str>> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.split([' ', '\t', ',']).filter(|word| !word.is_empty()).collect())
}

/// A count, then source, destination, priority group, port, bytes, and start in seconds.
fn is_flow_list_of_hpcc(text: &str) -> bool {
    let mut lines = words(text);
    let is_whole = |word: &&str| word.parse::<u64>().is_ok();
    let is_count = lines.next().is_some_and(|words| words.len() == 1 && words.iter().all(is_whole));
    let is_flow = |words: Vec<&str>| {
        words.len() == 6 && words[..5].iter().all(is_whole) && words[5].parse::<f64>().is_ok_and(f64::is_finite)
    };
    is_count && lines.next().is_some_and(is_flow)
}

fn is_table_of_flows(text: &str) -> bool {
    let header = words(text).next().unwrap_or_default();
    let has = |name: &str| header.iter().any(|word| word.eq_ignore_ascii_case(name));
    text.lines().next().is_some_and(|line| line.contains(',')) && has("from") && has("to")
}

/// Sizes with their cumulative shares, both of which rise, the latter to 1 or 100.
fn is_distribution(text: &str) -> bool {
    let number = |word: &str| word.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0);
    let pair = |words: &Vec<&str>| match words[..] {
        [size, share] => Some((number(size)?, number(share)?)),
        _ => None,
    };
    let pairs: Vec<Option<(f64, f64)>> =
        words(text).skip_while(|words| pair(words).is_none()).map(|it| pair(&it)).collect();
    let Some(pairs) = pairs.into_iter().collect::<Option<Vec<_>>>() else { return false };
    let [sizes, shares] = [pairs.iter().map(|it| it.0).collect::<Vec<_>>(), pairs.iter().map(|it| it.1).collect()];
    let ends_as_shares_do = [1.0, 100.0].iter().any(|end| shares.last().is_some_and(|last| (last - end).abs() < 1e-6));
    pairs.len() > 2 && sizes.is_sorted() && shares.is_sorted() && ends_as_shares_do
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
        let cases: [(&[u8], &str, &str); 19] = [
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
            (b"# saved today\n\n#EXTM3U\n#EXT-X-VERSION:3\n", "HLS", "subflow import"),
            (b"2\n2 1 3 100 200000000 2\n3 1 3 100 5000 2.001\n", "flows of HPCC", "pairs ="),
            (b"from,to,bytes,start_s\n0,3,100000,0\n", "flows (CSV)", "pairs ="),
            (b"0 0\n10000 15\n20000 20\n30000 100\n", "a distribution", "empirical ="),
            (b"size,share\n100, 0.5\n200, 0.9\n300, 1\n", "a distribution", "empirical ="),
        ];
        for (start, what, remedy) in cases {
            let found = Foreign::recognise(start).unwrap_or_else(|| panic!("{what} is known"));
            assert!(found.what.contains(what) && found.remedy.contains(remedy), "{found:?}");
        }
        let kind = |bytes: &[u8]| Foreign::recognise(bytes).map(|it| it.kind);
        assert_eq!(kind(b"#EXTM3U\n"), Some(FileKind::Hls));
        assert_eq!(kind(b"# a list\nhttp://example.org/a.ts\n#EXTM3U\n"), None);
        assert_eq!(kind(b"320 64 320\n256 257 258\n"), None, "a topology of HPCC has its own reader");
        assert_eq!(kind(b"0 1 5\n1 2 7\n2 3 100\n"), None, "weights");
        assert_eq!(kind(b"graph [\n"), Some(FileKind::Network));
        assert_eq!(kind(b"\x1f\x8b\x08\x00"), Some(FileKind::Other));
        assert_eq!(kind(b"[hosts]\na = [\"b\"]\n"), Some(FileKind::Scenario));
        assert_eq!(Foreign::recognise(b"[[timeline]]\nat = \"1 s\"\n"), None, "a part of a scenario");
        assert_eq!(Foreign::recognise(&[0xff, 0xfe, 1, 2]), None);
    }
}
