//! What a file is that is no capture, and what to do with it.

use subflow_scenario::file::Foreign;

/// What a file is that starts with certain bytes, and what to do with it.
type Known = (fn(&[u8]) -> bool, &'static str, &'static str);

const CAPTURE: &str = "capture with `tcpdump -w FILE` or `subflow run --pcap DIR`";
const CONVERT: &str = "convert it with `editcap -F pcapng FILE OUT`";

/// Captures in other formats, and what no other command would be given.
const KNOWN: [Known; 4] = [
    (<[u8]>::is_empty, "an empty file", CAPTURE),
    (|bytes| bytes.starts_with(b"snoop\0"), "a capture in the format snoop", CONVERT),
    (|bytes| bytes.starts_with(b"GMBU"), "a capture of Microsoft Network Monitor", CONVERT),
    (|bytes| bytes.starts_with(b"RTSS"), "a capture of the first Network Monitor", CONVERT),
];

/// What a file with this start is, and what to do with it.
pub(super) fn describe(start: &[u8]) -> (&'static str, &'static str) {
    if let Some(&(_, what, help)) = KNOWN.iter().find(|(is, ..)| is(start)) {
        return (what, help);
    }
    match Foreign::recognise(start) {
        Some(Foreign { what, remedy, .. }) => (what, remedy),
        None => ("a file of an unknown format", CAPTURE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_other_kinds_are_named() {
        let named = |start: &[u8]| describe(start).0;
        assert_eq!(named(b""), "an empty file");
        assert_eq!(named(b"snoop\0\0\0"), "a capture in the format snoop");
        assert_eq!(named(b"title = \"x\"\n[hosts]\na = [\"b\"]\n"), "a scenario");
        assert_eq!(named(b"Creator \"Topology Zoo\"\ngraph [\n"), "a topology in GML");
        assert_eq!(named(b"0.000 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3"), "a script of packetdrill");
        assert_eq!(named(&[0xff, 0xfe, 1, 2]), "a file of an unknown format");
    }

    #[test]
    fn the_command_that_reads_it_is_named() {
        let remedy = |start: &[u8]| describe(start).1;
        assert!(remedy(b"{\"log\": {\"entries\": []}}").contains("subflow import"));
        assert!(remedy(b"#EXTM3U\n").contains("subflow import"));
        assert!(remedy(b"<graphml>").contains("subflow import"));
        assert!(remedy(b"[hosts]\n").contains("subflow run"));
    }
}
