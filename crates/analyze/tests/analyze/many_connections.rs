//! More connections than are followed: those that have ended leave, and their totals stay.

use std::io::Write;

use subflow_analyze::{Analysis, Clocks, ConnectionRow, MOST_FLOWS, analyze};
use tempfile::NamedTempFile;

const ACK: u8 = 0x10;
const SYN: u8 = 2;
const RST: u8 = 4;

/// A packet of the host `from` in 10.0.0.0/8 to 192.168.0.1, or the other way round.
fn packet(from: u32, port: u16, is_answer: bool, sequence: u32, flags: u8, length: u16) -> Vec<u8> {
    let [a, b, c, d] = (10 << 24 | from).to_be_bytes();
    let ends = [[a, b, c, d], [192, 168, 0, 1]];
    let [source, destination] = if is_answer { [ends[1], ends[0]] } else { ends };
    let [source_port, destination_port] = if is_answer { [80, port] } else { [port, 80] };
    let [high, low] = (40 + length).to_be_bytes();
    let ip = [&[0x45, 0, high, low, 0, 0, 0x40, 0, 64, 6, 0, 0][..], &source, &destination].concat();
    let ports = [source_port.to_be_bytes(), destination_port.to_be_bytes()].concat();
    let rest = [&sequence.to_be_bytes()[..], &[0, 0, 0, 1, 0x50, flags, 0xff, 0xff, 0, 0, 0, 0]].concat();
    [ip, ports, rest].concat()
}

/// Packets of raw IP with their times in microseconds; payload was cut.
fn capture(packets: impl IntoIterator<Item = (u64, Vec<u8>)>) -> NamedTempFile {
    let mut packets: Vec<(u64, Vec<u8>)> = packets.into_iter().collect();
    packets.sort_by_key(|(time, _)| *time);
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let mut bytes = words(&[0xa1b2_c3d4, 2 | 4 << 16, 0, 0, 65_535, 101]);
    for (time, packet) in packets {
        let on_link = u32::from(u16::from_be_bytes([packet[2], packet[3]]));
        let (seconds, rest) = ((time / 1_000_000) as u32, (time % 1_000_000) as u32);
        bytes.extend(words(&[seconds, rest, packet.len() as u32, on_link]));
        bytes.extend(packet);
    }
    let mut file = NamedTempFile::new().expect("a file");
    file.write_all(&bytes).expect("written");
    file
}

/// So many connections, one each millisecond, that the server resets; each 1024th time, the first host sends 100 bytes more
/// of its own connection. Captured at the clients, or 5 ms from there at the server.
fn refused(count: u32, is_at_server: bool) -> NamedTempFile {
    let [there, back] = if is_at_server { [5_000, 5_001] } else { [0, 10_001] };
    capture((0..count).flat_map(|number| {
        let time = u64::from(number) * 1000;
        let (client, port) = (1 + number / 50_000, (1000 + number % 50_000) as u16);
        let data = packet(0, 7, false, 1 + number / 1024 * 100, ACK, 100);
        let syn = packet(client, port, false, number, SYN, 0);
        let answer = packet(client, port, true, 0, RST | ACK, 0);
        let data = (number % 1024 == 0).then_some((time + there, data));
        data.into_iter().chain([(time + there, syn), (time + back, answer)])
    }))
}

fn read(files: &[&NamedTempFile]) -> Analysis {
    let paths: Vec<_> = files.iter().map(|file| file.path().to_owned()).collect();
    analyze(&paths, Clocks::Auto).expect("a capture")
}

fn long_one(analysis: &Analysis) -> &ConnectionRow {
    analysis.connections.iter().find(|row| row.client == "10.0.0.0:7").expect("it is followed")
}

#[test]
fn those_that_have_ended_leave_and_every_packet_is_in_a_row_or_a_total() {
    let count = MOST_FLOWS as u32 + 20_000;
    let analysis = read(&[&refused(count, false)]);
    let [total] = analysis.totals.as_slice() else { panic!("{:?}", analysis.totals) };
    assert_eq!((total.protocol, total.outcome, total.unfinished), ("tcp", "refused", 0));
    assert!(analysis.connections.len() < MOST_FLOWS);
    assert_eq!(analysis.connections.len() as u64 + total.connections, u64::from(count) + 1);
    let in_rows: u64 = analysis.connections.iter().flat_map(|row| &row.directions).map(|it| it.packets).sum();
    assert_eq!(in_rows + total.packets, analysis.files[0].packets);
    // The one that stays open lost nothing.
    let data = 100 * u64::from(count.div_ceil(1024));
    assert_eq!((long_one(&analysis).directions[0].bytes, long_one(&analysis).outcome), (data, "open"));
    let said = analysis.notes().join("\n");
    assert!(said.contains(&format!("Of {} connections there are only totals", total.connections)), "{said}");
    assert!(analysis.to_text().contains("tcp     refused"), "{}", analysis.to_text());
    assert_eq!(analysis.to_json()["totals"][0]["connections"], total.connections);
}

#[test]
fn what_two_captures_show_of_a_connection_leaves_together_and_counts_once() {
    let count = MOST_FLOWS as u32 / 2 + 5_000;
    let analysis = read(&[&refused(count, false), &refused(count, true)]);
    let left: u64 = analysis.totals.iter().map(|row| row.connections).sum();
    assert_eq!((analysis.connections.len() as u64 + left, analysis.totals.len()), (u64::from(count) + 1, 1));
    let long_one = long_one(&analysis);
    let row = analysis.subflows.iter().find(|row| row.connection == long_one.number).expect("its row");
    assert_eq!((row.lost, row.mean_delay_ms), (Some(0), Some(5.0)));
}

#[test]
fn of_those_that_are_open_the_longest_silent_leave_and_a_note_says_so() {
    // No time passes: none has ended.
    let syn = |number: u32| packet(1 + number / 50_000, (1000 + number % 50_000) as u16, false, number, SYN, 0);
    let analysis = read(&[&capture((0..=MOST_FLOWS as u32).map(|number| (u64::from(number / 1000), syn(number))))]);
    let [total] = analysis.totals.as_slice() else { panic!("{:?}", analysis.totals) };
    let half = MOST_FLOWS as u64 / 2;
    assert_eq!((total.outcome, total.connections, total.unfinished), ("no answer", half, half));
    assert!(analysis.notes().iter().any(|note| note.starts_with(&format!("Of them, {half} had not ended"))));
}

#[test]
fn without_so_many_there_are_no_totals() {
    let analysis = read(&[&refused(10, false)]);
    assert_eq!((analysis.connections.len(), analysis.totals.len()), (11, 0));
    assert!(analysis.to_json().get("totals").is_none());
}
