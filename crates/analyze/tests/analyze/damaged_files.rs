//! Files that are cut, changed or made up: reading ends with a word about the damage, and keeps what came before it.

use std::io::{Cursor, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use subflow_analyze::{Analysis, AnonymisationKey, Capture, CaptureError, Clocks, analyze, anonymise};
use subflow_wire::tcp::{TcpFlags, TcpSegment};
use subflow_wire::{Body, Dscp, Ecn, IpHeader, Packet, Payload, PayloadBytes, PcapngWriter};

/// One packet of 100 bytes of data at each millisecond, in the format pcapng; with the length of each block.
fn pcapng(packets: u32) -> Vec<u8> {
    let mut writer = PcapngWriter::new(Vec::new(), &["eth"]).expect("memory");
    for number in 0..packets {
        writer.write_packet(0, u64::from(number) * 1_000_000, &packet(number)).expect("memory");
    }
    writer.into_inner()
}

/// The same in the format pcap, big-endian with microseconds.
fn pcap(packets: u32) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4_u32, 0x0002_0004, 0, 0, 65_535, 101] {
        file.extend(word.to_be_bytes());
    }
    for number in 0..packets {
        let packet = packet(number);
        let length = packet.len() as u32;
        for word in [0, number * 1000, length, length] {
            file.extend(word.to_be_bytes());
        }
        file.extend(packet);
    }
    file
}

fn packet(number: u32) -> Vec<u8> {
    let [source, destination] = ["10.0.0.1", "10.0.0.2"].map(|address| address.parse().expect("an address"));
    let payload = Payload { stream_offset: 0, length: 100, sum: 0 };
    let (sequence, flags) = (1000 + 100 * number, TcpFlags::ACK);
    let segment =
        TcpSegment { source_port: 4000, destination_port: 80, sequence, flags, payload, ..Default::default() };
    let ip = IpHeader { source, destination, hop_limit: 64, dscp: Dscp::DEFAULT, ecn: Ecn::NotEct };
    let mut bytes = Vec::new();
    let packet = Packet { ip, body: Body::Tcp(segment) };
    packet.emit(PayloadBytes::Zero, 1, &mut bytes).expect("it fits");
    bytes
}

fn analysed(bytes: &[u8]) -> Result<Analysis, CaptureError> {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(bytes).expect("written");
    analyze(&[file.path().to_owned()], Clocks::Auto)
}

#[test]
fn both_formats_and_compression_give_the_same_rows() {
    let plain = analysed(&pcapng(50)).expect("a capture");
    assert_eq!((plain.connections.len(), plain.connections[0].directions[0].bytes), (1, 5000));
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(&pcapng(50)).expect("memory");
    let zstd = ruzstd::encoding::compress_to_vec(&pcapng(50)[..], ruzstd::encoding::CompressionLevel::Fastest);
    for file in [pcap(50), gzip.finish().expect("memory"), zstd.clone(), [zstd, Vec::new()].concat()] {
        let other = analysed(&file).expect("a capture");
        assert_eq!((&other.connections, &other.subflows), (&plain.connections, &plain.subflows));
        assert_eq!((other.files[0].packets, &other.files[0].damage), (50, &None));
    }
}

#[test]
fn a_cut_file_keeps_what_came_before() {
    for whole in [pcapng(10), pcap(10)] {
        let cut = analysed(&whole[..whole.len() - 5]).expect("a capture");
        let damage = cut.files[0].damage.as_ref().expect("it is cut");
        assert!(damage.reason.contains("the file ends within"), "{damage:?}");
        assert_eq!((cut.files[0].packets, cut.subflows[0].bytes), (9, 900));
    }
}

#[test]
fn damaged_compression_is_told_in_words_with_a_way_out() {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(&pcapng(500)).expect("memory");
    let gzip = gzip.finish().expect("memory");
    let zstd = ruzstd::encoding::compress_to_vec(&pcapng(500)[..], ruzstd::encoding::CompressionLevel::Fastest);
    let said = |file: &[u8]| match analysed(file) {
        Ok(analysis) => analysis.notes().join(" "),
        Err(error) => error.to_string(),
    };
    for (tool, whole) in [("gzip", gzip), ("zstd", zstd)] {
        let mut changed = whole.clone();
        changed[whole.len() / 2..whole.len() / 2 + 20].fill(0xff);
        let followed = [&whole[..], b"no frame"].concat();
        let files = [&whole[..whole.len() / 2], &whole[..7], &followed, &changed];
        // Other data may come of a change in the middle of gzip's, and its checksum is behind all.
        for file in files.into_iter().take(if tool == "gzip" { 3 } else { 4 }) {
            let said = said(file);
            let expected =
                format!("the {tool} data is damaged or cut; copy the file again, and test it with `{tool} --test`");
            assert!(said.contains(&expected), "{tool}, {} bytes: {said}", file.len());
        }
    }
}

#[test]
fn a_file_that_is_cut_before_its_first_packet_is_a_damaged_capture() {
    for (length, at, expected) in
        [(4, 0, "the file ends within the header of the file"), (30, 24, "the file ends within the header of a packet")]
    {
        let cut = analysed(&pcap(1)[..length]).expect("a capture");
        let damage = cut.files[0].damage.as_ref().expect("it is cut");
        assert_eq!((damage.offset, damage.reason.as_str(), cut.files[0].packets), (at, expected, 0));
    }
}

#[test]
fn text_says_of_one_packet_that_it_is_one() {
    let text = |packets| analysed(&pcap(packets)).expect("a capture").to_text();
    assert!(text(1).starts_with("1 packet of 0.000 s in 1 file\n"), "{}", text(1));
    assert!(text(3).starts_with("3 packets of 0.002 s in 1 file\n"), "{}", text(3));
}

#[test]
fn a_length_without_bounds_takes_no_memory() {
    let mut file = pcap(3);
    let length = 24 + 2 * (16 + 140) + 8;
    file[length..length + 4].fill(0xff);
    let analysis = analysed(&file).expect("a capture");
    let damage = analysis.files[0].damage.as_ref().expect("it is damaged");
    assert!(damage.reason.contains("a packet of 4294967295 bytes"), "{damage:?}");
    assert_eq!(analysis.files[0].packets, 2);
}

#[test]
fn other_files_are_named() {
    let error =
        analyze(&[Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")], Clocks::Auto).expect_err("no capture");
    assert!(matches!(error, CaptureError::Foreign { .. }), "{error}");
    let error = analyze(&["there/is/none.pcap".into()], Clocks::Auto).expect_err("no file");
    assert!(error.to_string().starts_with("cannot read there/is/none.pcap"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any bytes changed, and the end cut: it is read, or refused, and each packet is counted at most once.
    #[test]
    fn changed_files_never_panic(
        is_pcap: bool,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
        cut in any::<prop::sample::Index>(),
        link_type in prop::sample::select(vec![0_u8, 1, 9, 12, 101, 104, 108, 113, 147, 228]),
    ) {
        let mut file = if is_pcap { pcap(20) } else { pcapng(20) };
        if is_pcap {
            file[23] = link_type;
        }
        for (at, value) in changes {
            let at = at.index(file.len());
            file[at] = value;
        }
        file.truncate(cut.index(file.len()) + 1);
        if let Ok(analysis) = analysed(&file) {
            let mut capture = Capture::read(Path::new("changed"), Cursor::new(file.clone())).expect("it was read");
            let counts = anonymise(&mut capture, &AnonymisationKey::from_secret(b"a"), Vec::new()).expect("memory");
            prop_assert_eq!(counts.written + counts.left_out, analysis.files[0].packets);
            prop_assert!(analysis.files[0].packets <= file.len() as u64 / 16);
            prop_assert!(!analysis.to_text().is_empty() && analysis.to_json().is_object());
        }
    }
}
