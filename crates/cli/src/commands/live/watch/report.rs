//! What `subflow watch` reports, and its tables.

use serde::Serialize;
use subflow_quantity::Instant;

use super::listen::Interval;

/// A time in seconds since the command began, to the millisecond.
pub(super) fn seconds_of(at: Instant) -> f64 {
    (at.as_nanos() as f64 * 1e-6).round() / 1e3
}

/// All connections at one time.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Report {
    /// Seconds since the command began.
    pub(super) time_s: f64,
    pub(super) connections: Vec<Connection>,
    #[serde(flatten)]
    pub(super) interval: Interval,
}

/// A connection.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Connection {
    /// Its local token, in hexadecimal digits.
    pub(super) token: String,
    pub(super) local: String,
    pub(super) remote: String,
    /// Whether this host sent the first SYN.
    pub(super) client: bool,
    pub(super) reinjected_bytes: u64,
    pub(super) subflows: Vec<Subflow>,
    pub(super) shared_bottlenecks: Vec<Detection>,
}

/// A subflow.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Subflow {
    /// Its number in the connection, counted from 0, as long as it exists.
    pub(super) number: usize,
    pub(super) local: String,
    pub(super) remote: String,
    pub(super) state: &'static str,
    pub(super) backup: bool,
    /// Congestion window in packets.
    pub(super) cwnd: u32,
    /// Slow-start threshold in packets; `null` before the first loss.
    pub(super) ssthresh: Option<u32>,
    pub(super) in_flight: u32,
    pub(super) srtt_ms: f64,
    pub(super) min_rtt_ms: f64,
    /// Acknowledged and received data since the last report.
    pub(super) sent_mbps: f64,
    pub(super) received_mbps: f64,
    /// Retransmitted segments and timeouts so far.
    pub(super) retransmissions: u64,
    pub(super) timeouts: u64,
}

/// What a detector says.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Detection {
    pub(super) detector: &'static str,
    pub(super) threshold: f64,
    pub(super) pairs: Vec<Pair>,
}

/// Two subflows, by number.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Pair {
    pub(super) subflows: [usize; 2],
    /// The degree of their correlation; `null` if it is not known yet.
    pub(super) degree: Option<f64>,
    /// Whether they share a bottleneck; `null` if it is not known yet.
    pub(super) shared: Option<bool>,
}

/// The headings of the table of subflows.
const HEADINGS: [&str; 11] = [
    "#",
    "local",
    "remote",
    "state",
    "cwnd",
    "srtt ms",
    "sent Mbit/s",
    "rcvd Mbit/s",
    "retrans",
    "RTOs",
    "shares with",
];

impl Connection {
    /// The connection in a line.
    pub(super) fn title(&self) -> String {
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
        let state = if subflow.backup { format!("{}, backup", subflow.state) } else { subflow.state.to_owned() };
        [
            subflow.number.to_string(),
            subflow.local.clone(),
            subflow.remote.clone(),
            state,
            subflow.cwnd.to_string(),
            format!("{:.1}", subflow.srtt_ms),
            format!("{:.2}", subflow.sent_mbps),
            format!("{:.2}", subflow.received_mbps),
            subflow.retransmissions.to_string(),
            subflow.timeouts.to_string(),
            self.sharing(subflow.number),
        ]
    }

    /// The subflows that share a bottleneck with this one, by each detector.
    pub(super) fn sharing(&self, number: usize) -> String {
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
    pub(super) fn text(&self) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

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
        }
    }

    #[test]
    fn the_table_names_the_subflows_that_share_a_bottleneck() {
        let pair = |a, b, shared| Pair { subflows: [a, b], degree: Some(0.9), shared };
        let pairs = vec![pair(0, 1, Some(true)), pair(0, 2, Some(false)), pair(1, 2, None)];
        let connection = Connection {
            token: "0000000a".into(),
            local: "10.0.0.1:40000".into(),
            remote: "10.9.0.1:80".into(),
            client: true,
            reinjected_bytes: 0,
            subflows: (0..3).map(subflow).collect(),
            shared_bottlenecks: vec![Detection { detector: "red-cpi", threshold: 0.8, pairs }],
        };
        let rows = connection.rows();
        assert_eq!([0, 1, 2].map(|n: usize| rows[n][10].clone()), ["1 (red-cpi)", "0 (red-cpi)", "-"]);
        assert_eq!((rows[0][3].as_str(), rows[2][3].as_str()), ("established", "established, backup"));
        assert!(connection.title().ends_with("10.0.0.1:40000 to 10.9.0.1:80, 3 subflows"));
        let text = Report { time_s: 1.0, connections: vec![connection], interval: Interval::default() }.text();
        assert!(text.contains("20.0") && text.lines().count() == 8, "{text}");
    }
}
