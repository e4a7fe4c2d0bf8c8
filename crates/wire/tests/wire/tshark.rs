//! Checks our captures with tshark: an independent dissection of every packet and option that we write.

use std::collections::BTreeSet;

use subflow_wire::Body;

use crate::common::sctp_specimens::sctp_packets_of_every_kind;
use crate::common::specimens::{connection_of_two_subflows, packets_of_every_kind};
use crate::common::tshark_capture::{Capture, INTERFACES};

/// Fields of packets by the name of the packet: tshark's name of the field, without `tcp.`, and its value.
const TCP_FIELDS: &[(&str, &[(&str, &str)])] = &[
    ("SYN", &[("options.mss_val", "1460"), ("options.wscale.shift", "7"), ("options.sack_perm", "04:02")]),
    (
        "SACK",
        &[("options.sack_le", "84285192"), ("options.sack_re", "84289288"), ("options.timestamp.tsval", "16909060")],
    ),
    ("MP_CAPABLE SYN", &[("options.mptcp.subtype", "0"), ("options.mptcp.version", "1")]),
    ("MP_CAPABLE SYN/ACK", &[("options.mptcp.sendkey", "1230066625199609624")]),
    (
        "MP_CAPABLE ACK",
        &[("options.mptcp.sendkey", "72623859790382856"), ("options.mptcp.recvkey", "1230066625199609624")],
    ),
    ("MP_CAPABLE data", &[("options.mptcp.datalvllen", "100"), ("options.mptcp.checksum", "")]),
    (
        "MP_CAPABLE data with checksum",
        &[
            ("options.mptcp.datalvllen", "100"),
            ("options.mptcp.checksum", "0xabcd"),
            ("options.mptcp.checksumreq.flags", "1"),
        ],
    ),
    (
        "MP_JOIN SYN",
        &[
            ("options.mptcp.subtype", "1"),
            ("options.mptcp.backup.flag", "1"),
            ("options.mptcp.addrid", "7"),
            ("options.mptcp.recvtok", "3735928559"),
            ("options.mptcp.sendrand", "16909060"),
        ],
    ),
    ("MP_JOIN SYN/ACK", &[("options.mptcp.addrid", "9"), ("options.mptcp.sendtrunchmac", "11647051513882650536")]),
    ("MP_JOIN ACK", &[("options.mptcp.sendhmac", "01:02:03:04:05:06:07:08:09:0a:0b:0c:0d:0e:0f:10:11:12:13:14")]),
    (
        "DSS 4/8",
        &[
            ("options.mptcp.subtype", "2"),
            ("options.mptcp.rawdataack", "3250766788"),
            ("options.mptcp.rawdataseqno", "9332165983064197000"),
            ("options.mptcp.subflowseqno", "1401"),
            ("options.mptcp.datalvllen", "100"),
            ("options.mptcp.datafin.flag", "0"),
        ],
    ),
    (
        "DSS 8/4 checksum",
        &[
            ("options.mptcp.rawdataack", "12804494279493993412"),
            ("options.mptcp.rawdataseqno", "2240186248"),
            // tshark shows the checksum of MP_CAPABLE but not that of a DSS.
            ("options.mptcp.datalvllen", "100"),
        ],
    ),
    ("DATA_FIN", &[("options.mptcp.datafin.flag", "1")]),
    (
        "ADD_ADDR",
        &[
            ("options.mptcp.subtype", "3"),
            ("options.mptcp.echo", "0"),
            ("options.mptcp.addrid", "5"),
            ("options.mptcp.ipv4", "192.0.2.33"),
            ("options.mptcp.port", ""),
            ("options.mptcp.addaddrtrunchmac", "11647051513882650536"),
        ],
    ),
    (
        "ADD_ADDR IPv6 port",
        &[
            ("options.mptcp.ipv6", "2001:db8::33"),
            ("options.mptcp.port", "8080"),
            ("options.mptcp.addaddrtrunchmac", "11647051513882650536"),
        ],
    ),
    (
        "ADD_ADDR echo",
        &[
            ("options.mptcp.echo", "1"),
            ("options.mptcp.ipv4", "192.0.2.33"),
            ("options.mptcp.port", "8080"),
            ("options.mptcp.addaddrtrunchmac", ""),
        ],
    ),
    ("REMOVE_ADDR", &[("options.mptcp.subtype", "4"), ("options.mptcp.addrid", "3,4,5")]),
    ("MP_PRIO", &[("options.mptcp.subtype", "5"), ("options.mptcp.backup.flag", "1")]),
    ("MP_FAIL", &[("options.mptcp.subtype", "6"), ("options.mptcp.rawdataseqno", "9332165983064197000")]),
    ("MP_FASTCLOSE", &[("options.mptcp.subtype", "7"), ("options.mptcp.recvkey", "1230066625199609624")]),
    (
        "MP_TCPRST",
        &[("options.mptcp.subtype", "8"), ("options.mptcp.flag_T.flag", "1"), ("options.mptcp.rst_reason", "0x02")],
    ),
];

#[test]
fn finds_no_packet_malformed_and_no_checksum_wrong() {
    let packets = packets_of_every_kind();
    let capture = Capture::write("every_kind", packets.iter().map(|(_, packet)| (0, packet)));
    let fields = ["_ws.malformed", "ip.checksum.status", "tcp.checksum.status", "udp.checksum.status"];
    let Some(rows) = capture.dissect(&fields) else { return };
    assert_eq!(rows.len(), packets.len());
    for ((name, packet), row) in packets.iter().zip(rows) {
        let ip = if packet.ip.source.is_ipv4() { "1" } else { "" };
        let (tcp, udp) = if let Body::Tcp(_) = packet.body { ("1", "") } else { ("", "1") };
        assert_eq!(row, ["", ip, tcp, udp], "{name}: malformed, or a checksum is not good (1)");
    }
}

#[test]
fn reads_the_fields_of_every_option_as_they_were_written() {
    let packets = packets_of_every_kind();
    let capture = Capture::write("fields", packets.iter().map(|(_, packet)| (0, packet)));
    let asked: BTreeSet<String> =
        TCP_FIELDS.iter().flat_map(|(_, fields)| *fields).map(|(field, _)| format!("tcp.{field}")).collect();
    let asked: Vec<_> = asked.iter().map(String::as_str).collect();
    let Some(rows) = capture.dissect(&asked) else { return };
    // Whether there is a colon between bytes depends on the version of tshark.
    let without_colons = |value: &str| value.replace(':', "");
    for (name, fields) in TCP_FIELDS {
        let row = packets.iter().position(|(other, _)| other == name).unwrap_or_else(|| panic!("no packet {name}"));
        for (field, value) in *fields {
            let column = asked.iter().position(|asked| asked.strip_prefix("tcp.") == Some(field)).unwrap();
            assert_eq!(without_colons(&rows[row][column]), without_colons(value), "{field} of {name}");
        }
    }
}

#[test]
fn understands_every_chunk_of_sctp_and_checks_its_crc() {
    let packets = sctp_packets_of_every_kind();
    let capture = Capture::write("sctp", packets.iter().map(|(_, packet)| (0, packet)));
    let fields = ["_ws.malformed", "_ws.expert.severity", "sctp.checksum.status", "udp.checksum.status"];
    let Some(rows) = capture.dissect(&fields) else { return };
    assert_eq!(rows.len(), packets.len());
    for ((name, packet), row) in packets.iter().zip(rows) {
        let in_udp = packet.body.protocol() == 17;
        assert_eq!([&row[0], &row[2], &row[3]], ["", "1", if in_udp { "1" } else { "" }], "{name}: {row:?}");
        // tshark marks ABORT and ERROR with a note (0x200000 is a note, 0x400000 a warning, 0x800000 an error).
        let severities = row[1].split(',').filter(|severity| !severity.is_empty());
        let worst = severities.map(|severity| severity.parse::<u32>().unwrap()).max().unwrap_or(0);
        assert!(worst < 0x40_0000, "{name}: expert information of severity {worst:#x}");
    }
}

#[test]
fn reads_the_fields_of_sctp_as_they_were_written() {
    let packets = sctp_packets_of_every_kind();
    let capture = Capture::write("sctp_fields", packets.iter().map(|(_, packet)| (0, packet)));
    let expected = [
        ("INIT", "init_initiate_tag", "0x01020304"),
        ("INIT", "init_initial_tsn", "100"),
        ("INIT", "parameter_ipv4_address", "192.0.2.1"),
        ("INIT", "parameter_ipv6_address", "2001:db8::7"),
        ("INIT", "supported_chunk_type", "192,16,130"),
        ("INIT ACK", "initack_initiate_tag", "0x05060708"),
        ("DATA, DATA", "data_tsn_raw", "101,102"),
        ("DATA, DATA", "data_u_bit", "0,1"),
        ("DATA, DATA", "data_i_bit", "0,1"),
        ("DATA, DATA", "data_ssn", "9,9"),
        ("COOKIE ACK, SACK", "sack_cumulative_tsn_ack_raw", "99"),
        ("COOKIE ACK, SACK", "sack_gap_block_end", "3,5"),
        ("COOKIE ACK, SACK", "sack_duplicate_tsn", "98"),
        ("NR-SACK", "chunk_flags", "0x80"),
        ("NR-SACK", "nr_sack_number_of_nr_gap_blocks", "1"),
        ("NR-SACK", "nr_sack_nr_gap_block_start", "7"),
        ("FORWARD-TSN", "forward_tsn_tsn", "120"),
        ("FORWARD-TSN", "forward_tsn_ssn", "5,6"),
        ("ERROR", "cause_code", "0x0001,0x0002,0x0003,0x0004,0x0007,0x0009,0x000a,0x000c,0x000d"),
        ("ABORT", "abort_t_bit", "1"),
        ("SHUTDOWN", "shutdown_cumulative_tsn_ack", "99"),
    ];
    let asked: Vec<String> = expected.iter().map(|(_, field, _)| format!("sctp.{field}")).collect();
    let asked: Vec<_> = asked.iter().map(String::as_str).collect();
    let Some(rows) = capture.dissect(&asked) else { return };
    for (column, (name, field, value)) in expected.iter().enumerate() {
        let row = packets.iter().position(|(other, _)| other == name).unwrap();
        assert_eq!(rows[row][column], *value, "{field} of {name}");
    }
}

#[test]
fn groups_the_subflows_of_a_connection_and_knows_interfaces_and_times() {
    let packets = connection_of_two_subflows();
    let capture = Capture::write("connection", packets.iter().map(|(interface, packet)| (*interface, packet)));
    let fields = ["tcp.stream", "mptcp.stream", "frame.interface_name", "frame.time_epoch", "_ws.expert.message"];
    let Some(rows) = capture.dissect(&fields) else { return };
    for (index, (interface, _)) in packets.iter().enumerate() {
        let subflow = interface.to_string();
        let time = format!("1700000000.{:09}", 123_456_789 + index * 1_000_001);
        let row = &rows[index];
        assert_eq!(row[..4], [subflow.as_str(), "0", INTERFACES[*interface as usize], &time], "packet {index}");
        assert!(!row[4].to_lowercase().contains("mptcp"), "packet {index}: {}", row[4]);
    }
}
