//! UDP at both ends: one row, with what did not arrive, and how long the rest took.

use std::path::PathBuf;

use subflow_analyze::{Analysis, Clocks, SubflowRow, analyze};

use super::support::{Captured, Packet};

/// Datagrams from `a` to `b` over a link that loses some.
const LOSSY: &str = "duration = \"10 s\"\n[hosts]\na = [\"eth\"]\nb = [\"eth\"]\n[links.l]\nbetween = [\"a\", \"b\"]\n\
    rate = \"5 Mbit/s\"\ndelay = \"20 ms\"\nloss = \"5 %\"\n[flows.f]\nfrom = \"a\"\nto = \"b\"\nprotocol = \"udp\"\n\
    stop = \"9 s\"\non_off = { rate = \"2 Mbit/s\", packet = \"1000 bytes\" }\n";

fn analysed(files: &[PathBuf]) -> Analysis {
    analyze(files, Clocks::Auto).expect("captures")
}

/// The rows of a connection's directions.
fn rows<'a>(analysis: &'a Analysis, protocol: &str) -> Vec<&'a SubflowRow> {
    let of = analysis.connections.iter().find(|connection| connection.protocol == protocol).expect("a connection");
    analysis.subflows.iter().filter(|row| row.connection == of.number).collect()
}

#[test]
fn datagrams_at_both_ends_are_one_row_and_tell_losses() {
    let captured = Captured::of(LOSSY);
    let [a, b] = ["a", "b"].map(|host| captured.file(host));
    for files in [[a.clone(), b.clone()], [b.clone(), a]] {
        let analysis = analysed(&files);
        let [connection] = &analysis.connections[..] else { panic!("{:?}", analysis.connections) };
        let [row] = &analysis.subflows[..] else { panic!("{:?}", analysis.subflows) };
        let link = &captured.run.links[0];
        assert!(link.losses > 20, "{link:?}");
        assert_eq!(row.lost, Some(link.losses + link.drops));
        assert_eq!(connection.directions[0].bytes, captured.run.flows[0].bytes_delivered);
        assert_eq!(row.minimum_delay_ms, None, "nothing comes back, and no clock is known");
    }
    // One capture alone tells no losses, and has no row of subflows.
    let alone = analysed(std::slice::from_ref(&b));
    assert_eq!(
        (alone.subflows.len(), alone.connections[0].directions[0].bytes),
        (0, captured.run.flows[0].bytes_delivered)
    );
    // Parts of one capture, and its packets in either order of files, are that capture.
    let packets = captured.packets("b");
    let (begin, end) = packets.split_at(packets.len() / 2);
    let parts = [captured.write("end.pcap", end.iter()), captured.write("begin.pcap", begin.iter())];
    assert_eq!(analysed(&parts).connections, alone.connections);
}

/// The capture of a host whose clock is so many nanoseconds ahead.
fn ahead(captured: &Captured, host: &str, nanos: u64) -> PathBuf {
    let packets = captured.packets(host).into_iter().map(|Packet { time, bytes }| Packet { time: time + nanos, bytes });
    captured.write(&format!("{host}-{nanos}.pcap"), packets.collect::<Vec<_>>().iter())
}

#[test]
fn another_connection_tells_the_clocks_by_which_datagrams_took_their_time() {
    let captured = Captured::of(&format!("{LOSSY}[flows.g]\nfrom = \"b\"\nto = \"a\"\nprotocol = \"tcp\"\n"));
    for (a, b) in [(0, 0), (0, 3_000_000_000), (5_000_000_000, 0)] {
        let analysis = analysed(&[ahead(&captured, "b", b), ahead(&captured, "a", a)]);
        let [row] = rows(&analysis, "udp")[..] else { panic!("{:?}", analysis.subflows) };
        // 20 ms, and the time of 1028 bytes at 5 Mbit/s.
        let minimum = row.minimum_delay_ms.expect("a delay");
        assert!((21.6..22.6).contains(&minimum) && row.mean_delay_ms.is_some_and(|mean| mean < 23.0), "{row:?}");
        assert_eq!(row.overtaken_percent, Some(0.0));
        let datagrams = |host| captured.packets(host).iter().filter(|packet| packet.bytes[9] == 17).count() as u64;
        assert_eq!(row.lost, Some(datagrams("a") - datagrams("b")));
    }
}

/// A datagram with a number, in an IPv4 packet between port 5000 of 192.0.2.1 and of 192.0.2.2.
fn datagram(is_from_first: bool, number: u8) -> Vec<u8> {
    let [from, to] = if is_from_first { [1, 2] } else { [2, 1] };
    let ip = [0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, 17, 0, 0, 192, 0, 2, from, 192, 0, 2, to];
    [&ip[..], &[0x13, 0x88, 0x13, 0x88, 0, 20, 0, 0], &[7; 11], &[number]].concat()
}

#[test]
fn datagrams_of_both_ends_tell_the_clocks_themselves() {
    const MS: u64 = 1_000_000;
    const HOUR: u64 = 3_600_000 * MS;
    let captured = Captured::of(LOSSY);
    let mut at = [Vec::new(), Vec::new()];
    for number in 0..40 {
        let sent = HOUR + u64::from(number) * 20 * MS;
        for (is_from_first, sender, sent) in [(true, 0, sent), (false, 1, sent + 3 * MS)] {
            let bytes = datagram(is_from_first, number);
            at[sender].push(Packet { time: sent, bytes: bytes.clone() });
            // The third of the first sender is lost.
            if !(is_from_first && number == 2) {
                at[1 - sender].push(Packet { time: sent + 10 * MS, bytes });
            }
        }
    }
    at[1].iter_mut().for_each(|packet| packet.time -= HOUR);
    let [first, second] = [0, 1].map(|host| {
        at[host].sort_by_key(|packet| packet.time);
        captured.write(&format!("host{host}.pcap"), at[host].iter())
    });
    for (files, offset_ms) in [([&first, &second], -3_600_000.0), ([&second, &first], 3_600_000.0)] {
        let analysis = analysed(&files.map(Clone::clone));
        let shown = rows(&analysis, "udp");
        assert_eq!(shown.iter().map(|row| (row.packets, row.lost)).collect::<Vec<_>>(), [(40, Some(1)), (40, Some(0))]);
        for row in shown {
            let delays = [row.minimum_delay_ms, row.mean_delay_ms, row.maximum_delay_ms].map(|it| it.expect("a delay"));
            assert!(delays.iter().all(|delay| (delay - 10.0).abs() < 1e-3), "{row:?}");
        }
        assert!((analysis.clocks[0].offset_ms - offset_ms).abs() < 1e-3, "{:?}", analysis.clocks);
    }
}
