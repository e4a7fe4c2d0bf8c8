//! What tshark makes of our captures: an independent reading of every packet and option we write.

mod common;
#[path = "common/specimens.rs"]
mod specimens;
#[path = "common/tshark_capture.rs"]
mod tshark_capture;

use std::collections::BTreeSet;

use specimens::{connection_of_two_subflows, packets_of_every_kind};
use subflow_wire::Body;
use tshark_capture::{Capture, INTERFACES};

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
    let expected: &[(&str, &[(&str, &str)])] = &[
        ("SYN", &[("options.mss_val", "1460"), ("options.wscale.shift", "7"), ("options.sack_perm", "04:02")]),
        (
            "SACK",
            &[
                ("options.sack_le", "84285192"),
                ("options.sack_re", "84289288"),
                ("options.timestamp.tsval", "16909060"),
            ],
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
    let asked: BTreeSet<String> =
        expected.iter().flat_map(|(_, fields)| *fields).map(|(field, _)| format!("tcp.{field}")).collect();
    let asked: Vec<_> = asked.iter().map(String::as_str).collect();
    let Some(rows) = capture.dissect(&asked) else { return };
    // Whether a colon stands between bytes depends on the version of tshark.
    let without_colons = |value: &str| value.replace(':', "");
    for (name, fields) in expected {
        let row = packets.iter().position(|(other, _)| other == name).unwrap_or_else(|| panic!("no packet {name}"));
        for (field, value) in *fields {
            let column = asked.iter().position(|asked| asked.strip_prefix("tcp.") == Some(field)).unwrap();
            assert_eq!(without_colons(&rows[row][column]), without_colons(value), "{field} of {name}");
        }
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
