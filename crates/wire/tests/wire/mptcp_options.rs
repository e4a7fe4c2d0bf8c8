//! MPTCP options: golden bytes after the figures of RFC 8684, written and parsed.

use crate::common::{emit_options, hex, parse_options, to_hex};
use subflow_wire::tcp::TcpOptions;
use subflow_wire::tcp::mptcp::{
    AddAddress, Capable, CapableFlags, DataAck, Dss, Join, Mapping, MptcpOption, ResetReason,
};

fn with(option: MptcpOption) -> TcpOptions {
    TcpOptions { mptcp: vec![option], ..Default::default() }
}

#[track_caller]
fn both_ways(options: &TcpOptions, golden: &str) {
    let golden = hex(golden);
    assert_eq!(to_hex(&emit_options(options)), to_hex(&golden));
    assert_eq!(options.wire_length() as usize, golden.len());
    assert_eq!(&parse_options(&golden), options);
}

#[track_caller]
fn option_both_ways(option: MptcpOption, golden: &str) {
    both_ways(&with(option), golden);
}

#[track_caller]
fn dss_both_ways(dss: Dss, golden: &str) {
    both_ways(&TcpOptions { dss: Some(dss), ..Default::default() }, golden);
}

const SYN_CAPABLE: Capable = Capable {
    version: 1,
    flags: CapableFlags { checksum_required: false, deny_join_to_initial_address: false },
    sender_key: None,
    receiver_key: None,
    data_length: None,
    checksum: None,
};
const ACK_CAPABLE: Capable =
    Capable { sender_key: Some(0x0102_0304_0506_0708), receiver_key: Some(0x1112_1314_1516_1718), ..SYN_CAPABLE };

#[test]
fn capable_on_each_segment_of_the_handshake() {
    option_both_ways(MptcpOption::Capable(SYN_CAPABLE), "1e 04 01 01");
    let syn_ack = Capable { sender_key: ACK_CAPABLE.sender_key, ..SYN_CAPABLE };
    option_both_ways(MptcpOption::Capable(syn_ack), "1e 0c 01 01 0102030405060708");
    option_both_ways(MptcpOption::Capable(ACK_CAPABLE), "1e 14 01 01 0102030405060708 1112131415161718");
}

#[test]
fn capable_with_the_first_data() {
    let with_data = Capable { data_length: Some(1400), ..ACK_CAPABLE };
    option_both_ways(MptcpOption::Capable(with_data), "1e 16 01 01 0102030405060708 1112131415161718 0578 01 01");
    let flags = CapableFlags { checksum_required: true, deny_join_to_initial_address: false };
    let with_checksum = Capable { flags, checksum: Some(0xabcd), ..with_data };
    option_both_ways(MptcpOption::Capable(with_checksum), "1e 18 01 81 0102030405060708 1112131415161718 0578 abcd");
}

#[test]
fn capable_flags_are_each_a_bit() {
    let flags = CapableFlags { checksum_required: false, deny_join_to_initial_address: true };
    option_both_ways(MptcpOption::Capable(Capable { flags, ..SYN_CAPABLE }), "1e 04 01 21");
    let flags = CapableFlags { checksum_required: true, deny_join_to_initial_address: true };
    option_both_ways(MptcpOption::Capable(Capable { flags, ..SYN_CAPABLE }), "1e 04 01 a1");
}

#[test]
fn capable_of_other_versions_keeps_its_version() {
    let version_0 = Capable { version: 0, sender_key: Some(0x0102_0304_0506_0708), ..SYN_CAPABLE };
    option_both_ways(MptcpOption::Capable(version_0), "1e 0c 00 01 0102030405060708");
    option_both_ways(MptcpOption::Capable(Capable { version: 15, ..SYN_CAPABLE }), "1e 04 0f 01");
}

#[test]
fn join_on_each_segment_of_the_handshake() {
    let syn = Join::Syn { backup: true, address_id: 7, token: 0xdead_beef, nonce: 0x0102_0304 };
    option_both_ways(MptcpOption::Join(syn), "1e 0c 11 07 deadbeef 01020304");
    let syn_ack =
        Join::SynAck { backup: false, address_id: 9, truncated_hmac: 0xa1a2_a3a4_a5a6_a7a8, nonce: 0x0506_0708 };
    option_both_ways(MptcpOption::Join(syn_ack), "1e 10 10 09 a1a2a3a4a5a6a7a8 05060708");
    let hmac = core::array::from_fn(|index| index as u8 + 1);
    option_both_ways(MptcpOption::Join(Join::Ack { hmac }), "1e 18 10 00 0102030405060708090a0b0c0d0e0f1011121314");
}

const MAPPING: Mapping = Mapping {
    data_sequence: 0x8182_8384_8586_8788,
    wide: true,
    subflow_sequence: 0x0000_0579,
    length: 1400,
    checksum: None,
};
const NARROW_MAPPING: Mapping = Mapping { data_sequence: 0x8586_8788, wide: false, ..MAPPING };

#[test]
fn dss_with_a_data_ack_only() {
    let narrow = DataAck { value: 0xc1c2_c3c4, wide: false };
    dss_both_ways(Dss { data_ack: Some(narrow), ..Dss::default() }, "1e 08 20 01 c1c2c3c4");
    let wide = DataAck { value: 0xb1b2_b3b4_c1c2_c3c4, wide: true };
    dss_both_ways(Dss { data_ack: Some(wide), ..Dss::default() }, "1e 0c 20 03 b1b2b3b4c1c2c3c4");
}

#[test]
fn dss_with_a_mapping_only() {
    let dss = |mapping| Dss { mapping: Some(mapping), ..Dss::default() };
    dss_both_ways(dss(MAPPING), "1e 12 20 0c 8182838485868788 00000579 0578 01 01");
    dss_both_ways(dss(NARROW_MAPPING), "1e 0e 20 04 85868788 00000579 0578 01 01");
    let checksum = Some(0xabcd);
    dss_both_ways(dss(Mapping { checksum, ..MAPPING }), "1e 14 20 0c 8182838485868788 00000579 0578 abcd");
    dss_both_ways(dss(Mapping { checksum, ..NARROW_MAPPING }), "1e 10 20 04 85868788 00000579 0578 abcd");
}

#[test]
fn dss_with_data_ack_and_mapping() {
    let narrow = Some(DataAck { value: 0xc1c2_c3c4, wide: false });
    let wide = Some(DataAck { value: 0xb1b2_b3b4_c1c2_c3c4, wide: true });
    let checksum = Some(0xabcd);
    let dss = |data_ack, mapping| Dss { data_ack, mapping: Some(mapping), data_fin: false };
    dss_both_ways(dss(narrow, MAPPING), "1e 16 20 0d c1c2c3c4 8182838485868788 00000579 0578 01 01");
    dss_both_ways(dss(wide, NARROW_MAPPING), "1e 16 20 07 b1b2b3b4c1c2c3c4 85868788 00000579 0578 01 01");
    dss_both_ways(
        dss(wide, Mapping { checksum, ..MAPPING }),
        "1e 1c 20 0f b1b2b3b4c1c2c3c4 8182838485868788 00000579 0578 abcd",
    );
}

#[test]
fn dss_with_a_data_fin() {
    // A DATA_FIN without data maps one octet at subflow sequence number 0.
    let bare = Mapping { subflow_sequence: 0, length: 1, ..MAPPING };
    dss_both_ways(
        Dss { mapping: Some(bare), data_fin: true, data_ack: None },
        "1e 12 20 1c 8182838485868788 00000000 0001 01 01",
    );
}

#[test]
fn dss_with_the_infinite_mapping() {
    let infinite = Mapping { length: 0, ..MAPPING };
    dss_both_ways(
        Dss { mapping: Some(infinite), ..Dss::default() },
        "1e 12 20 0c 8182838485868788 00000579 0000 01 01",
    );
}

#[test]
fn dss_width_flags_are_ignored_without_their_field() {
    assert_eq!(parse_options(&hex("1e 04 20 0a")).dss, Some(Dss::default()));
}

#[test]
fn narrow_sequence_numbers_are_written_as_their_low_half() {
    let data_ack = Some(DataAck { value: 0xb1b2_b3b4_c1c2_c3c4, wide: false });
    let options = TcpOptions { dss: Some(Dss { data_ack, ..Dss::default() }), ..Default::default() };
    assert_eq!(emit_options(&options), hex("1e 08 20 01 c1c2c3c4"));
}

#[test]
fn add_address_with_hmac_and_its_echo() {
    let announcement = AddAddress {
        address_id: 5,
        address: "192.0.2.33".parse().unwrap(),
        port: None,
        truncated_hmac: Some(0xa1a2_a3a4_a5a6_a7a8),
    };
    option_both_ways(MptcpOption::AddAddress(announcement), "1e 10 30 05 c0000221 a1a2a3a4a5a6a7a8");
    option_both_ways(MptcpOption::AddAddress(announcement.echo()), "1e 08 31 05 c0000221");
    let with_port = AddAddress { port: Some(8080), ..announcement };
    option_both_ways(MptcpOption::AddAddress(with_port), "1e 12 30 05 c0000221 1f90 a1a2a3a4a5a6a7a8 01 01");
    option_both_ways(MptcpOption::AddAddress(with_port.echo()), "1e 0a 31 05 c0000221 1f90 01 01");
}

#[test]
fn add_address_with_an_ipv6_address() {
    let announcement = AddAddress {
        address_id: 6,
        address: "2001:db8::33".parse().unwrap(),
        port: None,
        truncated_hmac: Some(0xa1a2_a3a4_a5a6_a7a8),
    };
    let address = "20010db8 00000000 00000000 00000033";
    option_both_ways(MptcpOption::AddAddress(announcement), &format!("1e 1c 30 06 {address} a1a2a3a4a5a6a7a8"));
    option_both_ways(MptcpOption::AddAddress(announcement.echo()), &format!("1e 14 31 06 {address}"));
    let with_port = AddAddress { port: Some(8080), ..announcement };
    option_both_ways(MptcpOption::AddAddress(with_port), &format!("1e 1e 30 06 {address} 1f90 a1a2a3a4a5a6a7a8 01 01"));
    option_both_ways(MptcpOption::AddAddress(with_port.echo()), &format!("1e 16 31 06 {address} 1f90 01 01"));
}

#[test]
fn remove_address() {
    let remove = |identifiers: &[u8]| MptcpOption::RemoveAddress(identifiers.iter().copied().collect());
    option_both_ways(remove(&[3]), "1e 04 40 03");
    option_both_ways(remove(&[3, 4]), "1e 05 40 03 04 01 01 01");
    option_both_ways(remove(&[3, 4, 5, 6, 7]), "1e 08 40 03 04 05 06 07");
    let all: Vec<u8> = (1..=37).collect();
    option_both_ways(remove(&all), &format!("1e 28 40 {}", to_hex(&all)));
}

#[test]
fn priority() {
    option_both_ways(MptcpOption::Priority { backup: true }, "1e 03 51 01");
    option_both_ways(MptcpOption::Priority { backup: false }, "1e 03 50 01");
}

#[test]
fn fail() {
    option_both_ways(MptcpOption::Fail { data_sequence: 0x8182_8384_8586_8788 }, "1e 0c 60 00 8182838485868788");
}

#[test]
fn fast_close() {
    option_both_ways(MptcpOption::FastClose { receiver_key: 0x1112_1314_1516_1718 }, "1e 0c 70 00 1112131415161718");
}

#[test]
fn reset() {
    option_both_ways(MptcpOption::Reset(ResetReason::LACK_OF_RESOURCES), "1e 04 81 02");
    option_both_ways(MptcpOption::Reset(ResetReason { transient: false, code: 0x7f }), "1e 04 80 7f");
}

#[test]
fn several_options_keep_their_order_after_the_dss() {
    let data_ack = Some(DataAck { value: 1, wide: false });
    let options = TcpOptions {
        dss: Some(Dss { data_ack, ..Dss::default() }),
        mptcp: vec![
            MptcpOption::RemoveAddress([3].into_iter().collect()),
            MptcpOption::Priority { backup: true },
            MptcpOption::Fail { data_sequence: 2 },
        ],
        ..Default::default()
    };
    both_ways(&options, "1e 08 20 01 00000001  1e 04 40 03  1e 03 51 01  1e 0c 60 00 0000000000000002");
}

#[test]
fn malformed_options_are_skipped_and_the_next_one_is_parsed() {
    for malformed in [
        "1e 02",                                      // no subtype
        "1e 03 01",                                   // MP_CAPABLE without flags
        "1e 05 01 01 00",                             // MP_CAPABLE of no form
        "1e 04 01 00",                                // MP_CAPABLE without a crypto algorithm
        "1e 04 01 41",                                // MP_CAPABLE with the extensibility bit
        "1e 0b 10 07 deadbeef 010203",                // MP_JOIN one byte short
        "1e 03 20",                                   // DSS without flags
        "1e 07 20 01 c1c2c3",                         // DSS one byte short
        "1e 09 20 01 c1c2c3c4 00",                    // DSS one byte long
        "1e 0f 20 04 85868788 00000579 0578 ab",      // DSS with half a checksum
        "1e 11 20 04 85868788 00000579 0578 abcd 00", // DSS with more than a checksum
        "1e 08 30 05 c0000221",                       // ADD_ADDR without HMAC
        "1e 10 31 05 c0000221 a1a2a3a4a5a6a7a8",      // ADD_ADDR echo with HMAC
        "1e 09 31 05 c0000221 00",                    // ADD_ADDR of no form
        "1e 03 40",                                   // REMOVE_ADDR without an identifier
        "1e 04 51 07",                                // MP_PRIO of RFC 6824, which names another address's subflows
        "1e 05 51 07 00",                             // MP_PRIO of no form
        "1e 0b 60 00 81828384858687",                 // MP_FAIL one byte short
        "1e 0d 70 00 8182838485868788 00",            // MP_FASTCLOSE one byte long
        "1e 03 80",                                   // MP_TCPRST without a code
        "1e 04 90 00",                                // unknown subtype
        "1e 04 f0 00",                                // private use subtype
    ] {
        let mut bytes = hex(malformed);
        bytes.extend_from_slice(&hex("1e 0c 60 00 0000000000000002"));
        assert_eq!(parse_options(&bytes), with(MptcpOption::Fail { data_sequence: 2 }), "after {malformed}");
    }
}
