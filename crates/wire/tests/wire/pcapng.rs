//! Checks the capture format byte by byte.

use crate::common::{hex, to_hex};
use subflow_wire::{PcapngWriter, packet_block_length};

#[test]
fn writes_section_interfaces_and_packets() {
    let mut writer = PcapngWriter::new(Vec::new(), &["wifi", "lte"]).unwrap();
    writer.write_packet(1, 0x0102_0304_0506_0708, &[0x45, 0xaa, 0xbb, 0xcc, 0xdd]).unwrap();
    writer.write_packet(0, 1, &[0x60, 0xaa, 0xbb, 0xcc]).unwrap();
    let golden = hex("0a0d0d0a 1c000000 4d3c2b1a 0100 0000 ffffffffffffffff 1c000000 // section header
         01000000 28000000 6500 0000 00000000  // interface description: LINKTYPE_RAW
             0200 0400 77696669                // if_name
             0900 0100 09000000                // if_tsresol: 10^-9 s
             0000 0000 28000000
         01000000 28000000 6500 0000 00000000
             0200 0300 6c746500
             0900 0100 09000000
             0000 0000 28000000
         06000000 28000000 01000000 04030201 08070605 05000000 05000000 // interface, time, lengths
             45aabbccdd 000000 28000000
         06000000 24000000 00000000 00000000 01000000 04000000 04000000
             60aabbcc 24000000");
    assert_eq!(to_hex(&writer.into_inner()), to_hex(&golden));
}

#[test]
fn refuses_an_interface_that_was_not_described() {
    let mut writer = PcapngWriter::new(Vec::new(), &["wifi"]).unwrap();
    let error = writer.write_packet(1, 0, &[0x45]).unwrap_err();
    assert_eq!(error.to_string(), "no interface at position 1, the capture has 1");
}

#[test]
fn refuses_a_name_that_is_too_long_for_an_option() {
    let name = "x".repeat(65_536);
    assert!(PcapngWriter::new(Vec::new(), &[name.as_str()]).is_err());
}

#[test]
fn every_packet_takes_the_length_of_its_block() {
    for length in 0..40 {
        let mut writer = PcapngWriter::new(Vec::new(), &["wifi"]).unwrap();
        let before = PcapngWriter::new(Vec::new(), &["wifi"]).unwrap().into_inner().len();
        writer.write_packet(0, 0, &vec![0x45; length]).unwrap();
        assert_eq!(writer.into_inner().len() - before, packet_block_length(length));
    }
}
