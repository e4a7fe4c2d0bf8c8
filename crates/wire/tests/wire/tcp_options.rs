//! TCP options other than MPTCP's: golden bytes, written and parsed.

use crate::common::{emit_options, hex, parse_options, to_hex};
use subflow_wire::tcp::{SackBlock, SynOptions, TcpOptions, Timestamps};

const TIMESTAMPS: Timestamps = Timestamps { value: 0x0102_0304, echo: 0x0506_0708 };

#[track_caller]
fn both_ways(options: &TcpOptions, golden: &str) {
    let golden = hex(golden);
    assert_eq!(to_hex(&emit_options(options)), to_hex(&golden));
    assert_eq!(options.wire_length() as usize, golden.len());
    assert_eq!(&parse_options(&golden), options);
}

#[test]
fn no_options() {
    both_ways(&TcpOptions::default(), "");
}

#[test]
fn maximum_segment_size() {
    let syn = SynOptions { mss: Some(1460), ..Default::default() };
    both_ways(&TcpOptions { syn, ..Default::default() }, "02 04 05b4");
}

#[test]
fn window_scale() {
    let syn = SynOptions { window_scale: Some(7), ..Default::default() };
    both_ways(&TcpOptions { syn, ..Default::default() }, "01 03 03 07");
}

#[test]
fn sack_permitted_alone() {
    let syn = SynOptions { sack_permitted: true, ..Default::default() };
    both_ways(&TcpOptions { syn, ..Default::default() }, "01 01 04 02");
}

#[test]
fn timestamps() {
    let options = TcpOptions { timestamps: Some(TIMESTAMPS), ..Default::default() };
    both_ways(&options, "01 01 08 0a 01020304 05060708");
}

#[test]
fn all_options_of_a_syn_in_the_layout_of_linux() {
    let syn = SynOptions { mss: Some(1460), window_scale: Some(7), sack_permitted: true };
    let options = TcpOptions { syn, timestamps: Some(TIMESTAMPS), ..Default::default() };
    both_ways(&options, "02 04 05b4  04 02 08 0a 01020304 05060708  01 03 03 07");
}

#[test]
fn one_sack_block() {
    let sack = [SackBlock { left: 0x1000, right: 0x2000 }].into_iter().collect();
    both_ways(&TcpOptions { sack, ..Default::default() }, "01 01 05 0a 00001000 00002000");
}

#[test]
fn three_sack_blocks_fit_beside_timestamps() {
    let block = |left| SackBlock { left, right: left + 1 };
    let sack = [block(0x30), block(0x10), block(0xffff_fffe)].into_iter().collect();
    both_ways(
        &TcpOptions { timestamps: Some(TIMESTAMPS), sack, ..Default::default() },
        "01 01 08 0a 01020304 05060708
         01 01 05 1a 00000030 00000031 00000010 00000011 fffffffe ffffffff",
    );
}

#[test]
fn four_sack_blocks_fit_alone() {
    let sack = [1, 3, 5, 7].map(|left| SackBlock { left, right: left + 1 }).into_iter().collect();
    both_ways(
        &TcpOptions { sack, ..Default::default() },
        "01 01 05 22 00000001 00000002 00000003 00000004 00000005 00000006 00000007 00000008",
    );
}

#[test]
fn options_in_another_layout_parse_to_the_same() {
    // The layout of a stack that packs its options and ends the list.
    let packed = hex("04 02  03 03 07  02 04 05b4  08 0a 01020304 05060708  00");
    let syn = SynOptions { mss: Some(1460), window_scale: Some(7), sack_permitted: true };
    assert_eq!(parse_options(&packed), TcpOptions { syn, timestamps: Some(TIMESTAMPS), ..Default::default() });
}

#[test]
fn bytes_after_the_end_of_options_are_ignored() {
    assert_eq!(parse_options(&hex("00 02 04 05b4")), TcpOptions::default());
}

#[test]
fn unknown_options_are_skipped() {
    // Fast Open with a cookie of two bytes, then MSS.
    assert_eq!(parse_options(&hex("22 04 aabb 02 04 05b4")).syn.mss, Some(1460));
}

#[test]
fn malformed_options_are_skipped_and_the_next_one_is_parsed() {
    for malformed in [
        "02 03 05",                         // MSS of one byte
        "02 05 05b4 00",                    // MSS of three bytes
        "03 02",                            // window scale without shift
        "03 04 0707",                       // window scale of two bytes
        "04 03 00",                         // SACK-permitted with a body
        "05 02",                            // SACK without a block
        "05 09 0000000000 0000",            // SACK with part of a block
        "05 0e 00000001 00000002 00000003", // SACK with a block and a half
        "08 09 01020304 050607",            // timestamps one byte short
        "08 0b 01020304 05060708 09",       // timestamps one byte long
    ] {
        let mut bytes = hex(malformed);
        bytes.extend_from_slice(&hex("01 01 08 0a 01020304 05060708"));
        let expected = TcpOptions { timestamps: Some(TIMESTAMPS), ..Default::default() };
        assert_eq!(parse_options(&bytes), expected, "after {malformed}");
    }
}

#[test]
fn an_invalid_length_ends_the_list() {
    for broken in ["03 00 02 04 05b4", "03 01 02 04 05b4", "08 0a 02 04 05b4", "fe ff 02 04 05b4"] {
        let mut bytes = hex("02 04 0218");
        bytes.extend_from_slice(&hex(broken));
        let syn = SynOptions { mss: Some(0x0218), ..Default::default() };
        assert_eq!(parse_options(&bytes), TcpOptions { syn, ..Default::default() }, "before {broken}");
    }
    // A kind in the last byte has no length.
    assert_eq!(parse_options(&hex("01 01 01 02")), TcpOptions::default());
}

#[test]
fn of_repeated_options_the_last_one_is_used() {
    assert_eq!(parse_options(&hex("02 04 0001 02 04 0002")).syn.mss, Some(2));
}
