//! Anonymised captures: nothing of the addresses and payloads is left, and an analysis has the same figures.

use std::io::Write;
use std::net::IpAddr;

use subflow_analyze::{Analysis, AnonymisationKey, Anonymised, Capture, Clocks, analyze, anonymise};
use subflow_wire::tcp::{TcpFlags, TcpSegment, Timestamps};
use subflow_wire::{Body, Dscp, Ecn, IpHeader, Packet, Payload, PayloadBytes, PcapngWriter};
use tempfile::NamedTempFile;

const SECRET_WORDS: &[u8] = b"the content of the mail";

/// Segments of the client, and acknowledgments of the server, over both versions of IP.
fn capture() -> Vec<u8> {
    let mut writer = PcapngWriter::new(Vec::new(), &["eth"]).expect("memory");
    let mut time = 0;
    for ends in [["10.1.2.3", "10.1.9.9"], ["2001:db8:7::1", "2001:db8:7::2"]] {
        let [client, server]: [IpAddr; 2] = ends.map(|address| address.parse().expect("an address"));
        for number in 0..20_u32 {
            for (source, destination, ports, length) in
                [(client, server, [4000, 80], SECRET_WORDS.len() as u32), (server, client, [80, 4000], 0)]
            {
                let mut segment = TcpSegment {
                    source_port: ports[0],
                    destination_port: ports[1],
                    sequence: if length > 0 { 1000 + length * number } else { 500 },
                    acknowledgment: if length > 0 { 500 } else { 1000 + SECRET_WORDS.len() as u32 * (number + 1) },
                    flags: TcpFlags::ACK,
                    payload: Payload { stream_offset: 0, length, sum: 0 },
                    ..Default::default()
                };
                segment.options.timestamps = Some(Timestamps { value: number, echo: number });
                let ip = IpHeader { source, destination, hop_limit: 64, dscp: Dscp::DEFAULT, ecn: Ecn::NotEct };
                let mut bytes = Vec::new();
                let packet = Packet { ip, body: Body::Tcp(segment) };
                packet.emit(PayloadBytes::Zero, 1, &mut bytes).expect("it fits");
                if length > 0 {
                    let start = bytes.len() - SECRET_WORDS.len();
                    bytes[start..].copy_from_slice(SECRET_WORDS);
                }
                time += 10_000_000;
                writer.write_packet(0, time, &bytes).expect("memory");
            }
        }
    }
    writer.into_inner()
}

fn file(bytes: &[u8]) -> NamedTempFile {
    let mut file = NamedTempFile::new().expect("a file");
    file.write_all(bytes).expect("written");
    file
}

fn analysed(file: &NamedTempFile) -> Analysis {
    analyze(&[file.path().to_owned()], Clocks::Auto).expect("a capture")
}

fn anonymised(original: &NamedTempFile, secret: &[u8]) -> (Vec<u8>, Anonymised) {
    let mut capture = Capture::open(original.path()).expect("a capture");
    let mut out = Vec::new();
    let counts = anonymise(&mut capture, &AnonymisationKey::from_secret(secret), &mut out).expect("memory");
    (out, counts)
}

#[test]
fn figures_stay_and_addresses_and_payloads_go() {
    let original = file(&capture());
    let (bytes, counts) = anonymised(&original, b"a");
    assert_eq!(counts, Anonymised { written: 80, left_out: 0 });
    let has = |words: &[u8]| bytes.windows(words.len()).any(|window| window == words);
    assert!(!has(SECRET_WORDS) && !has(&[10, 1, 2, 3]) && !has(&[10, 1, 9, 9]) && !has(&[0x20, 1, 0xd, 0xb8]));
    let [before, after] = [analysed(&original), analysed(&file(&bytes))];
    assert_eq!((before.connections.len(), after.connections.len()), (2, 2));
    for (before, after) in before.subflows.iter().zip(&after.subflows) {
        assert_ne!(before.from, after.from);
        let mut same = after.clone();
        (same.from, same.to) = (before.from.clone(), before.to.clone());
        assert_eq!(&same, before);
    }
}

/// A payload of zeros has the checksum that is written, so that nothing of the payload is in it.
#[test]
fn checksums_are_those_of_empty_bytes_in_place_of_the_payload() {
    let (bytes, _) = anonymised(&file(&capture()), b"a");
    let path = file(&bytes);
    let mut capture = Capture::open(path.path()).expect("a capture");
    let mut packets = 0;
    while capture.advance() {
        let record = capture.record();
        let mut whole = record.bytes.to_vec();
        whole.resize(record.original_length as usize, 0);
        let (packet, _) = Packet::parse(&whole).expect("its checksums are right");
        assert!(matches!(packet.body, Body::Tcp(_)));
        packets += 1;
    }
    assert_eq!(packets, 80);
}

#[test]
fn one_secret_gives_the_same_addresses_and_another_others() {
    let original = file(&capture());
    let [a, again, b] = [&b"a"[..], b"a", b"b"].map(|secret| anonymised(&original, secret).0);
    assert!(a == again && a != b);
    let random = || AnonymisationKey::random().expect("random numbers");
    let mut captures = [original.path(); 2].map(|path| Capture::open(path).expect("a capture"));
    let [c, d] = captures.each_mut().map(|capture| {
        let mut out = Vec::new();
        anonymise(capture, &random(), &mut out).expect("memory");
        out
    });
    assert!(c != d && c.len() == d.len());
}
