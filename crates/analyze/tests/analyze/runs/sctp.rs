//! SCTP: retransmissions by their causes, timeouts and round-trip times, as the runs have counted and set them.

use std::collections::BTreeMap;

use subflow_analyze::{Analysis, Clocks, Sending, SubflowRow, analyze};
use subflow_lab::results::{SequenceKind, SequencePoint};

use super::support::Captured;

fn scenario(first: &str, second: &str, flow: &str) -> String {
    format!(
        "duration = \"60 s\"\n[hosts]\na = [\"eth0\", \"eth1\"]\nb = [\"eth0\", \"eth1\"]\n\
         [links.l]\nbetween = [\"a.eth0\", \"b.eth0\"]\nrate = \"10 Mbit/s\"\ndelay = \"20 ms\"\n{first}\n\
         [links.m]\nbetween = [\"a.eth1\", \"b.eth1\"]\nrate = \"5 Mbit/s\"\ndelay = \"40 ms\"\n{second}\n\
         [flows.f]\nprotocol = \"sctp\"\n{flow}\n"
    )
}

/// The rows of the paths of `a`.
fn paths(analysis: &Analysis) -> Vec<&SubflowRow> {
    analysis.subflows.iter().filter(|row| row.from.starts_with("10.0.1.")).collect()
}

#[test]
fn retransmissions_have_the_causes_that_the_run_has_counted() {
    const SEND: &str = "from = \"a\"\nto = \"b\"\nsend = \"5 MB\"";
    const REQUESTS: &str =
        "from = \"b\"\nto = \"a\"\nrequests = { request = \"1 kB\", response = \"20 kB\", count = 100 }";
    const CMT: &str = "from = \"a\"\nto = \"b\"\nsend = \"5 MB\"\nsctp = { cmt = true }";
    let cases = [
        ("loss", "loss = \"1 %\"", "", SEND),
        ("more loss", "loss = \"5 %\"", "", SEND),
        ("short queue", "queue = \"15 packets\"", "", SEND),
        ("requests", "loss = \"3 %\"", "", REQUESTS),
        ("two paths", "loss = \"1 %\"", "loss = \"2 %\"", CMT),
        ("two short queues", "queue = \"15 packets\"", "queue = \"15 packets\"", CMT),
    ];
    let mut differences = Vec::new();
    for (name, first, second, flow) in cases {
        let captured = Captured::of(&scenario(first, second, flow));
        let analysis = analyze(&[captured.file("a")], Clocks::Auto).expect("a capture");
        let rows = paths(&analysis);
        let own: Vec<[u64; 3]> = captured.run.flows[0]
            .subflows
            .iter()
            .filter(|path| path.packets_sent > 0)
            .map(|path| path.retransmitted.map_or([0; 3], |it| [it.fast, it.timeout, it.timeouts]))
            .collect();
        let found: Vec<[u64; 3]> = rows.iter().map(|row| [row.fast, row.after_timeout, row.timeouts]).collect();
        println!("{name}: {own:?} {found:?}");
        assert!(own.iter().flatten().sum::<u64>() > 0, "{name}");
        if own != found {
            differences.push(format!("{name}: {found:?} instead of {own:?}"));
        }
        for row in rows.iter().filter(|row| row.retransmissions != row.fast + row.after_timeout) {
            differences.push(format!("{name}: {} retransmissions of {}", row.retransmissions, row.from));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn both_ends_tell_round_trips_delays_and_losses_of_paths() {
    let flow = "from = \"a\"\nto = \"b\"\nsend = \"2 MB\"\nsctp = { cmt = true }";
    let captured = Captured::of(&scenario("loss = \"2 %\"", "", flow));
    let files = ["a", "b"].map(|host| captured.file(host));
    let analysis = analyze(&files, Clocks::Auto).expect("captures");
    let run = &captured.run;
    let rows = paths(&analysis);
    assert_eq!(rows.len(), 2);
    for ((row, delay), link) in rows.iter().zip([20.0, 40.0]).zip(&run.links) {
        assert_eq!(row.lost, Some(link.up.losses + link.up.drops), "{row:?}");
        assert_eq!(row.overtaken_percent, Some(0.0));
        let is_near = |found: Option<f64>, least: f64, most: f64| found.is_some_and(|it| (least..=most).contains(&it));
        assert!(is_near(row.minimum_delay_ms, delay, delay + 2.5), "{row:?}");
        // A SACK may take the shorter way back.
        assert!(is_near(row.minimum_rtt_ms, delay + 20.0, 2.0 * delay + 4.0), "{row:?}");
        // A new address is probed at once, while nothing waits.
        assert!(is_near(row.heartbeat_rtt_ms, 2.0 * delay, 2.0 * delay + 15.0), "{row:?}");
    }
    assert!(rows[0].lost > Some(0));
    // The sender measures one chunk of each round trip (RFC 9260, section 6.3.1), and HEARTBEATs.
    let (mean, own) =
        (rows[0].mean_rtt_ms.expect("there is data"), run.flows[0].subflows[0].rtt.expect("there are samples"));
    assert!((mean / own.mean_ms - 1.0).abs() < 0.1, "{mean} {own:?}");
    assert!(rows[0].handshake_ms.is_some_and(|handshake| (40.0..41.0).contains(&handshake)));
}

/// When chunks were sent, in microseconds, and their positions in the data, by their path and by what they are.
type Chunks = BTreeMap<(usize, SequenceKind), Vec<(i64, u64)>>;

fn add(chunks: &mut Chunks, of: (usize, SequenceKind), points: &[SequencePoint]) {
    let all = chunks.entry(of).or_default();
    all.extend(points.iter().map(|point| ((point.time_s * 1e6).round() as i64, point.offset)));
    all.sort_unstable();
}

#[test]
fn chunks_over_time_are_those_of_the_run() {
    let cases = [
        ("loss = \"3 %\"", "from = \"a\"\nto = \"b\"\nsend = \"3 MB\""),
        ("loss = \"3 %\"", "from = \"a\"\nto = \"b\"\nsend = \"3 MB\"\nsctp = { cmt = true }"),
    ];
    for (first, flow) in cases {
        let captured = Captured::of(&scenario(first, "", flow));
        let analysis = analyze(&[captured.file("a")], Clocks::Auto).expect("a capture");
        let (mut own, mut found) = (Chunks::new(), Chunks::new());
        for sequence in &captured.run.sequences {
            let is_sent =
                matches!(sequence.kind, SequenceKind::Sent | SequenceKind::Retransmitted | SequenceKind::Copied);
            if let Some(path) = sequence.of.strip_prefix("f/").filter(|_| is_sent) {
                add(&mut own, (path.parse().expect("a number"), sequence.kind), sequence.points());
            }
        }
        for sequence in &analysis.sequences {
            let kind = match sequence.sending {
                Sending::New => SequenceKind::Sent,
                Sending::Copied => SequenceKind::Copied,
                Sending::Again(_) => SequenceKind::Retransmitted,
            };
            add(&mut found, (usize::from(sequence.subflow.starts_with("10.0.1.2:")), kind), sequence.points());
        }
        assert_eq!(found, own, "{flow}");
        let count = |is: fn(SequenceKind) -> bool| -> usize {
            own.iter().filter(|((_, kind), _)| is(*kind)).map(|(_, chunks)| chunks.len()).sum()
        };
        assert!(count(|kind| kind == SequenceKind::Sent) > 2000 && count(|kind| kind != SequenceKind::Sent) > 30);
    }
}
