//! Captures that begin later than a connection, end earlier, overlap, or have packets twice.

use std::path::PathBuf;

use subflow_analyze::{Analysis, Clocks, SubflowRow, analyze};

use super::support::{Captured, Packet};

const S: u64 = 1_000_000_000;

/// A phone with two interfaces that sends to a server, over a path that loses packets and another.
fn captured(protocol: &str) -> Captured {
    Captured::of(&format!(
        "duration = \"20 s\"\n[hosts]\nphone = [\"wifi\", \"lte\"]\nserver = [\"eth0\", \"eth1\"]\n\
         [links.wifi]\nbetween = [\"phone.wifi\", \"server.eth0\"]\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\n\
         loss = \"1 %\"\n[links.lte]\nbetween = [\"phone.lte\", \"server.eth1\"]\nrate = \"5 Mbit/s\"\n\
         delay = \"30 ms\"\n[flows.file]\nfrom = \"phone\"\nto = \"server\"\nsend = \"5 MB\"\nprotocol = \"{protocol}\"\n"
    ))
}

fn analysed(files: &[PathBuf]) -> Analysis {
    analyze(files, Clocks::Auto).expect("captures")
}

/// A file with the packets that are captured between two times, which count from the first packet of the phone.
fn between(captured: &Captured, host: &str, times: std::ops::Range<u64>) -> PathBuf {
    let begin = captured.packets("phone")[0].time;
    let packets = captured.packets(host);
    let chosen = packets.iter().filter(|packet| times.contains(&(packet.time - begin)));
    captured.write(&format!("{host}-{}-{}.pcap", times.start, times.end), chosen)
}

/// Rows without what only two points tell.
fn of_one_point(rows: &[SubflowRow]) -> Vec<SubflowRow> {
    let without = |row: &SubflowRow| SubflowRow {
        minimum_delay_ms: None,
        mean_delay_ms: None,
        maximum_delay_ms: None,
        overtaken_percent: None,
        ..row.clone()
    };
    rows.iter().map(without).collect()
}

#[test]
fn a_capture_that_begins_later_than_a_connection_adds_delays() {
    for protocol in ["tcp", "mptcp", "sctp"] {
        let captured = captured(protocol);
        for (whole, late) in [("phone", "server"), ("server", "phone")] {
            let whole = between(&captured, whole, 0..60 * S);
            let alone = analysed(std::slice::from_ref(&whole));
            let both = analysed(&[between(&captured, late, S..60 * S), whole]);
            assert_eq!(both.connections.len(), 1, "{protocol}: {:?}", both.connections);
            assert_eq!(both.connections[0].directions, alone.connections[0].directions, "{protocol} {late}");
            assert_eq!(of_one_point(&both.subflows), of_one_point(&alone.subflows), "{protocol} {late}");
            let [first, ..] = &both.subflows[..] else { panic!("{protocol}: no rows") };
            let minimum = first.minimum_delay_ms.expect("packets of both");
            assert!((10.0..12.5).contains(&minimum), "{protocol} {late}: {first:?}");
            assert!(both.connections[0].notes.iter().any(|note| note.contains("began later")), "{protocol}");
        }
    }
}

#[test]
fn two_captures_that_begin_later_are_of_one_connection() {
    for protocol in ["tcp", "mptcp", "sctp"] {
        let captured = captured(protocol);
        for (phone, server) in [(S, S), (S, 2 * S + S / 2)] {
            let files = [between(&captured, "phone", phone..60 * S), between(&captured, "server", server..60 * S)];
            let both = analysed(&files);
            assert_eq!(both.connections.len(), 1, "{protocol}: {:?}", both.connections);
            let row = both.subflows.iter().max_by_key(|row| row.bytes).expect("a row");
            assert!(row.minimum_delay_ms.is_some_and(|delay| (10.0..40.0).contains(&delay)), "{protocol}: {row:?}");
            // What the later one does not show of the first seconds is not lost.
            let lost: u64 = both.subflows.iter().filter_map(|row| row.lost).sum();
            let dropped: u64 = captured.run.links.iter().map(|link| link.losses + link.drops).sum();
            assert!(lost < dropped + 100, "{protocol}: {lost} of {dropped}");
            assert_eq!(row.lost.is_some(), phone == server, "{protocol}: {row:?}");
        }
    }
}

#[test]
fn a_capture_that_ends_earlier_does_not_tell_losses() {
    let captured = captured("tcp");
    let whole = ["phone", "server"].map(|host| between(&captured, host, 0..60 * S));
    let link = &captured.run.links[0].up;
    let [row] = &analysed(&whole).subflows[..] else { panic!("a row") };
    assert_eq!(row.lost, Some(link.losses + link.drops));
    let [phone, _] = whole;
    let [row] = &analysed(&[phone, between(&captured, "server", 0..3 * S)]).subflows[..] else { panic!("a row") };
    assert!(row.lost.is_none() && row.mean_delay_ms.is_some(), "{row:?}");
}

#[test]
fn subflows_whose_handshakes_are_missing_are_found_by_their_data() {
    let captured = captured("mptcp");
    let file = |is_missing: &dyn Fn(&Packet) -> bool| {
        let packets = captured.packets("phone");
        analysed(&[captured.write("late.pcap", packets.iter().filter(|packet| !is_missing(packet)))])
    };
    let packets = captured.packets("phone");
    let (first, begin) = (packets[0].bytes[12..20].to_vec(), packets[0].time);
    // Without the begin of both subflows, and without that of the first one only.
    let is_late = |packet: &Packet| packet.time < begin + S;
    let has_first = |packet: &Packet| packet.bytes[12..20] == first[..] || packet.bytes[16..20] == first[..4];
    for late in [file(&is_late), file(&|packet| packet.time < begin + S / 20 && has_first(packet))] {
        let subflows = captured.run.flows[0].subflows.len();
        assert_eq!((late.connections.len(), late.connections[0].subflows), (1, subflows), "{:?}", late.connections);
        assert_eq!(late.connections[0].notes, ["its first handshake was not captured"]);
        let sent = late.subflows.iter().filter(|row| row.from.starts_with("10.0.1.")).map(|row| row.bytes);
        let (of_subflows, directions) = (sent.sum::<u64>(), &late.connections[0].directions);
        let phone = directions.iter().max_by_key(|direction| direction.bytes).expect("two directions");
        assert!(phone.bytes.abs_diff(of_subflows) < 200_000 && phone.bytes > 3_000_000, "{phone:?} {of_subflows}");
        assert!(phone.reinjected_bytes < 100_000, "{phone:?}");
    }
}

#[test]
fn packets_that_captures_have_twice_count_once() {
    for protocol in ["tcp", "mptcp", "sctp"] {
        let captured = captured(protocol);
        let whole = analysed(&[between(&captured, "phone", 0..60 * S)]);
        let overlapping = [between(&captured, "phone", 0..3 * S), between(&captured, "phone", 2 * S..60 * S)];
        let twice = captured.packets("phone").into_iter().flat_map(|packet| {
            let copy = Packet { time: packet.time + 1, bytes: packet.bytes.clone() };
            [packet, copy]
        });
        let twice = captured.write("twice.pcap", twice.collect::<Vec<_>>().iter());
        for (files, fewest) in [(vec![twice], whole.files[0].packets), (overlapping.to_vec(), 100)] {
            let analysis = analysed(&files);
            assert_eq!(
                (&analysis.connections, &analysis.subflows),
                (&whole.connections, &whole.subflows),
                "{protocol}"
            );
            assert!(analysis.duplicates >= fewest, "{protocol}: {}", analysis.duplicates);
            assert!(analysis.notes().iter().any(|note| note.contains("that the capture has twice")));
        }
        assert_eq!(whole.duplicates, 0, "{protocol}: what is sent again is no copy");
    }
}

#[test]
fn timestamps_tell_where_a_capture_without_a_handshake_was_made() {
    let captured = captured("tcp");
    for (host, has_round_trips) in [("phone", true), ("server", false)] {
        let [row] = &analysed(&[between(&captured, host, S..60 * S)]).subflows[..] else { panic!("a row") };
        assert_eq!(row.mean_rtt_ms.is_some(), has_round_trips, "{row:?}");
        assert_eq!(row.window_limited_s, None, "how windows are scaled is in the handshake: {row:?}");
    }
}

#[test]
fn what_is_in_flight_takes_acknowledgments() {
    let captured = captured("tcp");
    let packets = captured.packets("phone");
    let sender: [u8; 4] = packets[0].bytes[12..16].try_into().expect("an address");
    let sent = captured.write("sent.pcap", packets.iter().filter(|packet| packet.is_from(sender)));
    let [row] = &analysed(&[sent]).subflows[..] else { panic!("a row") };
    assert_eq!((row.most_in_flight, row.bytes), (None, 5_000_000));
}
