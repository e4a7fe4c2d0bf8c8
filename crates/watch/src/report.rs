//! What a watch reports, and its tables as text.

use serde::Serialize;
use subflow_lab::results::{Detection, Pair};

use crate::listen::Interval;

/// All connections at one time.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Seconds since the watch began.
    pub time_s: f64,
    /// The connections that may have several subflows, without those that fell back to TCP.
    pub connections: Vec<Connection>,
    /// The events since the last report.
    #[serde(flatten)]
    pub interval: Interval,
}

/// A connection.
#[derive(Clone, Debug, Serialize)]
pub struct Connection {
    /// Its local token, in hexadecimal digits.
    pub token: String,
    /// The address and port of this host.
    pub local: String,
    /// The address and port of the peer.
    pub remote: String,
    /// Whether this host sent the first SYN.
    pub client: bool,
    /// Bytes that MPTCP sent again on another subflow.
    pub reinjected_bytes: u64,
    /// Its subflows, by their numbers.
    pub subflows: Vec<Subflow>,
    /// What each detector reports.
    pub shared_bottlenecks: Vec<Detection>,
}

/// A subflow.
#[derive(Clone, Debug, Serialize)]
pub struct Subflow {
    /// Its number in the connection, counted from 0, as long as it exists.
    pub number: usize,
    /// The address and port of this host.
    pub local: String,
    /// The address and port of the peer.
    pub remote: String,
    /// `established` or `opening`.
    pub state: &'static str,
    /// Whether it is used only if no other subflow is.
    pub backup: bool,
    /// Congestion window in packets.
    pub cwnd: u32,
    /// Slow-start threshold in packets; `null` before the first loss.
    pub ssthresh: Option<u32>,
    /// Packets in flight.
    pub in_flight: u32,
    /// Smoothed round-trip time.
    pub srtt_ms: f64,
    /// The smallest round-trip time; 0 if none is known.
    pub min_rtt_ms: f64,
    /// Data that was acknowledged since the last report.
    pub sent_mbps: f64,
    /// Data that was received since the last report.
    pub received_mbps: f64,
    /// Retransmitted segments so far.
    pub retransmissions: u64,
    /// Timeouts so far.
    pub timeouts: u64,
    /// Bytes acknowledged and received so far.
    #[serde(skip)]
    pub bytes: [u64; 2],
}

/// What a connection without data counts: a SYN and a FIN.
const WITHOUT_DATA: u64 = 2;

impl Subflow {
    /// Whether it has sent data, and whether it has received some. Windows and times of one that sends nothing are those
    /// of the first packets.
    pub fn has_carried(&self) -> [bool; 2] {
        self.bytes.map(|bytes| bytes > WITHOUT_DATA)
    }
}

/// The headings of the table of subflows.
const HEADINGS: [&str; 11] = [
    "#",
    "local",
    "remote",
    "state",
    "cwnd packets",
    "srtt ms",
    "sent Mbit/s",
    "rcvd Mbit/s",
    "retrans",
    "RTOs",
    "shares with",
];

impl Connection {
    /// The connection in a line.
    pub fn title(&self) -> String {
        let Self { token, local, remote, client, subflows, .. } = self;
        let arrow = if *client { "to" } else { "from" };
        let plural = if subflows.len() == 1 { "" } else { "s" };
        format!("{token}  {local} {arrow} {remote}, {} subflow{plural}", subflows.len())
    }

    /// The lines of the table of subflows.
    fn rows(&self) -> Vec<[String; HEADINGS.len()]> {
        self.subflows.iter().map(|subflow| self.row(subflow)).collect()
    }

    fn row(&self, subflow: &Subflow) -> [String; HEADINGS.len()] {
        let of_sender = |value: String| if subflow.has_carried()[0] { value } else { "-".to_owned() };
        let state = if subflow.backup { format!("{}, backup", subflow.state) } else { subflow.state.to_owned() };
        [
            subflow.number.to_string(),
            subflow.local.clone(),
            subflow.remote.clone(),
            state,
            of_sender(subflow.cwnd.to_string()),
            of_sender(format!("{:.1}", subflow.srtt_ms)),
            format!("{:.2}", subflow.sent_mbps),
            format!("{:.2}", subflow.received_mbps),
            subflow.retransmissions.to_string(),
            subflow.timeouts.to_string(),
            self.sharing(subflow.number),
        ]
    }

    /// The subflows that share a bottleneck with this one, by each detector.
    pub fn sharing(&self, number: usize) -> String {
        let of = |detection: &Detection| {
            let mine = detection.pairs.iter().filter(|pair| pair.subflows.contains(&number));
            let shared: Vec<String> = mine
                .filter(|pair| pair.shared == Some(true))
                .map(|Pair { subflows: [a, b], .. }| if *a == number { b } else { a }.to_string())
                .collect();
            (!shared.is_empty()).then(|| format!("{} ({})", shared.join(" "), detection.detector))
        };
        let all: Vec<String> = self.shared_bottlenecks.iter().filter_map(of).collect();
        if all.is_empty() { "-".to_owned() } else { all.join(", ") }
    }
}

impl Report {
    /// The report as text.
    pub fn text(&self) -> String {
        let mut text = format!("{:.1} s, {} MPTCP connections\n", self.time_s, self.connections.len());
        for connection in &self.connections {
            text += &format!("\n{}\n", connection.title());
            let rows = connection.rows();
            let widths: Vec<usize> = (0..HEADINGS.len())
                .map(|column| rows.iter().map(|row| row[column].len()).fold(HEADINGS[column].len(), usize::max))
                .collect();
            let headings = HEADINGS.map(str::to_owned);
            for row in std::iter::once(&headings).chain(&rows) {
                let cells: Vec<String> =
                    row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
                text += &format!("  {}\n", cells.join("  ").trim_end());
            }
        }
        text + &self.interval.text() + "\n"
    }
}

/// A connection for tests.
#[cfg(test)]
pub(crate) mod made {
    use super::*;

    /// A connection of three subflows, of which the third is a backup and the first two share a bottleneck.
    pub(crate) fn connection() -> Connection {
        let pair = |a, b, shared| Pair { subflows: [a, b], degree: Some(0.9), shared };
        let pairs = vec![pair(0, 1, Some(true)), pair(0, 2, Some(false)), pair(1, 2, None)];
        Connection {
            token: "0000000a".into(),
            local: "10.0.0.1:40000".into(),
            remote: "10.9.0.1:80".into(),
            client: true,
            reinjected_bytes: 0,
            subflows: (0..3).map(subflow).collect(),
            shared_bottlenecks: vec![Detection { detector: "red-cpi".to_owned(), threshold: 0.8, pairs }],
        }
    }

    fn subflow(number: usize) -> Subflow {
        Subflow {
            number,
            local: format!("10.0.{number}.1:40000"),
            remote: "10.9.0.1:80".into(),
            state: "established",
            backup: number == 2,
            cwnd: 10,
            ssthresh: None,
            in_flight: 3,
            srtt_ms: 20.04,
            min_rtt_ms: 20.0,
            sent_mbps: 1.0,
            received_mbps: 0.0,
            retransmissions: 4,
            timeouts: 0,
            bytes: [1_000_000, 0],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::made::connection;
    use super::*;

    #[test]
    fn the_table_names_the_subflows_that_share_a_bottleneck() {
        let connection = connection();
        let rows = connection.rows();
        assert_eq!([0, 1, 2].map(|n: usize| rows[n][10].clone()), ["1 (red-cpi)", "0 (red-cpi)", "-"]);
        assert_eq!((rows[0][3].as_str(), rows[2][3].as_str()), ("established", "established, backup"));
        assert!(connection.title().ends_with("10.0.0.1:40000 to 10.9.0.1:80, 3 subflows"));
        let text = Report { time_s: 1.0, connections: vec![connection], interval: Interval::default() }.text();
        assert!(text.contains("20.0") && text.lines().count() == 8, "{text}");
    }

    #[test]
    fn a_subflow_that_only_receives_has_no_window_and_no_time() {
        let mut connection = connection();
        connection.subflows[1].bytes = [1, 5_000_000];
        let rows = connection.rows();
        assert_eq!([0, 1].map(|n: usize| [rows[n][4].as_str(), rows[n][5].as_str()]), [["10", "20.0"], ["-", "-"]]);
    }
}
