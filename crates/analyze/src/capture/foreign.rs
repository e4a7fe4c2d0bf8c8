//! What a file is that is no capture, and which command reads it.

/// What a file is that starts with certain bytes, and what to do with it.
type Known = (fn(&[u8], &str) -> bool, &'static str, &'static str);

const CONVERT: &str = "convert it with `editcap -F pcapng FILE OUT`";
const NONE: &str = "no command of subflow reads it";

/// In the order in which they are tried.
const KNOWN: [Known; 13] = [
    (|bytes, _| bytes.is_empty(), "an empty file", "capture with `tcpdump -w FILE` or `subflow run --pcap DIR`"),
    (|bytes, _| bytes.starts_with(b"snoop\0"), "a capture in the format snoop", CONVERT),
    (|bytes, _| bytes.starts_with(b"GMBU"), "a capture of Microsoft Network Monitor", CONVERT),
    (|bytes, _| bytes.starts_with(b"PK\x03\x04"), "a ZIP archive", "extract it first"),
    (|bytes, _| bytes.starts_with(b"\x7fELF"), "a program", NONE),
    (|bytes, _| bytes.starts_with(b"BZh"), "a file compressed with bzip2", "decompress it: gzip and zstd are read"),
    (|bytes, _| bytes.starts_with(b"\xfd7zXZ"), "a file compressed with xz", "decompress it: gzip and zstd are read"),
    (|_, text| text.starts_with('{') && text.contains("\"entries\""), "a HAR file of a page load", NONE),
    (|_, text| text.starts_with(['{', '[']), "JSON", "`subflow compare` reads the results of runs, by their folder"),
    (|_, text| text.contains("<graphml"), "a topology in GraphML", NONE),
    (|_, text| text.starts_with("graph [") || text.contains("\ngraph ["), "a topology in GML", NONE),
    (|_, text| text.contains("[hosts]") || text.contains("[flows."), "a scenario", "run it with `subflow run FILE`"),
    (
        |_, text| text.contains("socket(...") || text.contains("socket(AF_"),
        "a script of packetdrill",
        "`subflow conform` has a language of its own, which docs/src/conformance.md describes",
    ),
];

/// What a file with this start is, and what to do with it.
pub(super) fn describe(start: &[u8]) -> (&'static str, &'static str) {
    let text = std::str::from_utf8(start).or_else(|error| std::str::from_utf8(&start[..error.valid_up_to()]));
    let text = text.unwrap_or_default().trim_start();
    let known = KNOWN.iter().find(|(is, ..)| is(start, text));
    known.map_or(
        ("a file of an unknown format", "capture with `tcpdump -w FILE` or `subflow run --pcap DIR`"),
        |&(_, what, help)| (what, help),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_other_kinds_are_named() {
        let named = |start: &[u8]| describe(start).0;
        assert_eq!(named(b""), "an empty file");
        assert_eq!(named(b"title = \"x\"\n[hosts]\na = [\"b\"]\n"), "a scenario");
        assert_eq!(named(b"Creator \"Topology Zoo\"\ngraph [\n"), "a topology in GML");
        assert_eq!(named(b"{\"log\": {\"entries\": []}}"), "a HAR file of a page load");
        assert_eq!(named(b"0.000 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3"), "a script of packetdrill");
        assert_eq!(named(&[0xff, 0xfe, 1, 2]), "a file of an unknown format");
    }
}
