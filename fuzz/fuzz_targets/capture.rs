//! Any bytes as a capture: reading, analysing and anonymising it never panics, and counts no packet twice.
//!
//! A file of a few bytes seldom is a capture by chance. Unless its bytes begin as one, they become the packets of a pcap
//! file: the first byte chooses the link type, and each packet is preceded by its length.
#![no_main]

use std::io::Cursor;
use std::path::Path;

use libfuzzer_sys::fuzz_target;
use subflow_analyze::{AnonymisationKey, Capture, Clocks, analyze_captures, anonymise};

/// Link types of tcpdump.org: loopback, Ethernet, raw IP, OpenBSD's loopback, Linux cooked of both versions, PPP, Cisco's
/// HDLC.
const LINK_TYPES: [u32; 8] = [0, 1, 101, 108, 113, 276, 9, 104];

/// A pcap file with what the bytes say.
fn pcap(bytes: &[u8]) -> Vec<u8> {
    let Some((&link, mut rest)) = bytes.split_first() else { return Vec::new() };
    let link_type = LINK_TYPES[usize::from(link) % LINK_TYPES.len()];
    let header = [0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, link_type];
    let mut file: Vec<u8> = header.iter().flat_map(|word: &u32| word.to_le_bytes()).collect();
    let mut time = 0_u32;
    while let Some((&length, behind)) = rest.split_first() {
        let (packet, behind) = behind.split_at(behind.len().min(usize::from(length)));
        // Some packets are longer on the link.
        let original = packet.len() as u32 + u32::from(length & 3) * 100;
        file.extend([0, time, packet.len() as u32, original].iter().flat_map(|word| word.to_le_bytes()));
        file.extend(packet);
        time = (time + 10_000) % 1_000_000;
        rest = behind;
    }
    file
}

fn opened(file: &[u8]) -> Option<Capture> {
    Capture::read(Path::new("input"), Cursor::new(file.to_vec())).ok()
}

fuzz_target!(|bytes: &[u8]| {
    for file in [bytes.to_vec(), pcap(bytes)] {
        let captures: Vec<Capture> = [opened(&file), opened(&file)].into_iter().flatten().collect();
        let Some(mut again) = opened(&file) else { continue };
        let analysis = analyze_captures(captures, Clocks::Different);
        assert!(analysis.files.iter().all(|it| it.packets <= 1 + it.bytes / 16));
        assert!(!analysis.to_text().is_empty() && analysis.to_json().is_object());
        let mut out = Vec::new();
        let counts = anonymise(&mut again, &AnonymisationKey::from_secret(b"fuzz"), &mut out).expect("memory");
        assert_eq!(counts.written + counts.left_out, analysis.files[0].packets);
        assert!(opened(&out).is_some_and(|capture| capture.damage().is_none()));
    }
});
