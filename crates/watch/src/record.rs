//! What is kept of the reports of a watch for a page of the whole time.

use subflow_lab::results::Series;
use subflow_quantity::{Duration, Instant};
use subflow_report::{Cell, Observation, Observed, ObservedSeries, Table};

use crate::listen::Interval;
use crate::record_events::RecordedEvents;
use crate::report::{Connection, Report, Subflow};

/// The most connections that are kept: a report is a page for people.
const MOST_CONNECTIONS: usize = 50;
/// The most subflows that are kept of a connection, of those that come and go.
const MOST_SUBFLOWS: usize = 64;

/// A metric of a subflow over time.
struct Metric {
    title: &'static str,
    name: &'static str,
    unit: &'static str,
    /// Whether it is a mean since the last look; otherwise a state.
    is_rate: bool,
    /// The position in [`Subflow::has_carried`] of the direction that it is of: it means nothing without data there.
    direction: usize,
    of: fn(&Subflow) -> Option<f64>,
}

const SENT: usize = 0;
const RECEIVED: usize = 1;

const METRICS: [Metric; 7] = [
    Metric {
        title: "Rate sent",
        name: "sent",
        unit: "Mbit/s",
        is_rate: true,
        direction: SENT,
        of: |s| Some(s.sent_mbps),
    },
    Metric {
        title: "Rate received",
        name: "received",
        unit: "Mbit/s",
        is_rate: true,
        direction: RECEIVED,
        of: |s| Some(s.received_mbps),
    },
    Metric {
        title: "Congestion window",
        name: "cwnd",
        unit: "packets",
        is_rate: false,
        direction: SENT,
        of: |s| Some(f64::from(s.cwnd)),
    },
    Metric {
        title: "Slow-start threshold",
        name: "ssthresh",
        unit: "packets",
        is_rate: false,
        direction: SENT,
        of: |s| s.ssthresh.map(f64::from),
    },
    Metric {
        title: "Packets in flight",
        name: "in-flight",
        unit: "packets",
        is_rate: false,
        direction: SENT,
        of: |s| Some(f64::from(s.in_flight)),
    },
    Metric {
        title: "Smoothed round-trip time",
        name: "srtt",
        unit: "ms",
        is_rate: false,
        direction: SENT,
        of: |s| Some(s.srtt_ms),
    },
    Metric {
        title: "Retransmitted segments",
        name: "retransmissions",
        unit: "segments",
        is_rate: false,
        direction: SENT,
        of: |s| Some(s.retransmissions as f64),
    },
];

const COLUMNS: [&str; 12] = [
    "connection",
    "subflow",
    "local",
    "remote",
    "backup",
    "first_s",
    "last_s",
    "mean_sent_mbps",
    "mean_received_mbps",
    "retransmissions",
    "timeouts",
    "shares_with",
];

/// Keeps what the reports say. Its memory does not grow with time.
pub struct Recorder {
    command: String,
    interval: Duration,
    connections: Vec<Recorded>,
    events: RecordedEvents,
    /// Whether there were more connections.
    left_out: bool,
    duration_s: f64,
}

/// A connection.
struct Recorded {
    token: String,
    local: String,
    title: String,
    subflows: Vec<RecordedSubflow>,
}

/// A subflow: its latest figures, and its metrics over time.
struct RecordedSubflow {
    latest: Subflow,
    sharing: String,
    first_s: f64,
    last_s: f64,
    /// Megabits sent and received while it was watched.
    megabits: [f64; 2],
    series: Vec<(&'static Metric, Series)>,
}

impl Recorder {
    /// Keeps looks that follow each other at `interval`. `command` is shown as the one that watches again.
    pub fn new(command: String, interval: Duration) -> Self {
        Self {
            command,
            // Looks may be early.
            interval: Duration::from_nanos(interval.as_nanos() / 2),
            connections: Vec::new(),
            events: RecordedEvents::default(),
            left_out: false,
            duration_s: 0.0,
        }
    }

    /// Keeps the events of a report.
    pub fn record_events(&mut self, interval: &Interval) {
        self.events.record(interval);
    }

    /// Keeps the connections of a look.
    pub fn record(&mut self, report: &Report) {
        let since = report.time_s - self.duration_s;
        self.duration_s = report.time_s;
        for connection in &report.connections {
            let is_known = |known: &Recorded| known.token == connection.token && known.local == connection.local;
            let position = match self.connections.iter().position(is_known) {
                Some(position) => position,
                None if self.connections.len() < MOST_CONNECTIONS => {
                    self.connections.push(Recorded::of(connection));
                    self.connections.len() - 1
                }
                None => {
                    self.left_out = true;
                    continue;
                }
            };
            self.connections[position].record(connection, report.time_s, since, self.interval);
        }
    }

    /// All that was kept.
    pub fn observation(&self) -> Observation {
        let mut table = Table::new(COLUMNS);
        self.connections.iter().for_each(|connection| connection.rows(&mut table));
        let mut notes = vec![
            "Rates are means since the last look, about ten a second; other figures are those at the time of a look. The \
             kernel's lists contain them (inet_diag). Of a direction without data there are none."
                .to_owned(),
        ];
        if self.left_out {
            notes.push(format!("Only the first {MOST_CONNECTIONS} connections are shown; there were more."));
        }
        notes.extend(self.events.notes());
        Observation {
            title: "MPTCP connections, watched".to_owned(),
            duration_s: self.duration_s,
            facts: vec![
                ("kernel", subflow_linux::kernel_release()),
                ("watched for", format!("{:.1} s", self.duration_s)),
                ("connections", self.connections.len().to_string()),
                ("subflows", table.rows().len().to_string()),
                ("events", self.events.count().to_string()),
            ],
            connections: self.connections.iter().map(|known| known.observed(&self.events)).collect(),
            table,
            events: self.events.table(),
            event_counts: self.events.counts(),
            notes,
            command: self.command.clone(),
        }
    }
}

impl Recorded {
    fn of(connection: &Connection) -> Self {
        let Connection { token, local, remote, client, .. } = connection;
        let arrow = if *client { "to" } else { "from" };
        let title = format!("{token}: {local} {arrow} {remote}");
        Self { token: token.clone(), local: local.clone(), title, subflows: Vec::new() }
    }

    fn record(&mut self, connection: &Connection, time_s: f64, since_s: f64, interval: Duration) {
        for subflow in &connection.subflows {
            let is_known = |known: &RecordedSubflow| {
                (&known.latest.local, &known.latest.remote) == (&subflow.local, &subflow.remote)
            };
            let position = match self.subflows.iter().position(is_known) {
                Some(position) => position,
                None if self.subflows.len() < MOST_SUBFLOWS => {
                    self.subflows.push(RecordedSubflow::of(subflow, time_s - since_s, &connection.token, interval));
                    self.subflows.len() - 1
                }
                None => continue,
            };
            self.subflows[position].record(subflow, connection.sharing(subflow.number), time_s, since_s);
        }
    }

    fn rows(&self, table: &mut Table) {
        for (number, subflow) in self.subflows.iter().enumerate() {
            let RecordedSubflow { latest, sharing, first_s, last_s, megabits, .. } = subflow;
            let span = last_s - first_s;
            let mean = |megabits: f64| if span > 0.0 { Cell::Number(megabits / span) } else { Cell::Empty };
            let count = |n: u64| Cell::Integer(i64::try_from(n).unwrap_or(i64::MAX));
            table.row([
                Cell::Text(self.token.clone()),
                count(number as u64),
                Cell::Text(latest.local.clone()),
                Cell::Text(latest.remote.clone()),
                Cell::Text(if latest.backup { "yes" } else { "no" }.to_owned()),
                Cell::Number(*first_s),
                Cell::Number(*last_s),
                mean(megabits[0]),
                mean(megabits[1]),
                count(latest.retransmissions),
                count(latest.timeouts),
                Cell::Text(sharing.clone()),
            ]);
        }
    }

    fn observed(&self, events: &RecordedEvents) -> Observed {
        let name = |subflow: &RecordedSubflow| format!("{} – {}", subflow.latest.local, subflow.latest.remote);
        let series = self.subflows.iter().enumerate().flat_map(|(subflow, recorded)| {
            let of = move |(metric, series): &(&'static Metric, Series)| ObservedSeries {
                subflow,
                title: metric.title,
                series: series.clone(),
            };
            let carried = recorded.latest.has_carried();
            let has_values = move |(metric, series): &&(&'static Metric, Series)| {
                carried[metric.direction] && !series.points().is_empty()
            };
            recorded.series.iter().filter(has_values).map(of)
        });
        Observed {
            title: self.title.clone(),
            subflows: self.subflows.iter().map(name).collect(),
            series: series.collect(),
            sequences: Vec::new(),
            events: events.of(&self.token),
        }
    }
}

impl RecordedSubflow {
    fn of(subflow: &Subflow, time_s: f64, token: &str, interval: Duration) -> Self {
        let of = format!("{token}/{} – {}", subflow.local, subflow.remote);
        let series = |metric: &'static Metric| {
            let series = Series::new(of.as_str(), metric.name, metric.unit, interval);
            (metric, if metric.is_rate { series.of_rate() } else { series })
        };
        Self {
            latest: subflow.clone(),
            sharing: String::new(),
            first_s: time_s,
            last_s: time_s,
            megabits: [0.0; 2],
            series: METRICS.iter().map(series).collect(),
        }
    }

    fn record(&mut self, subflow: &Subflow, sharing: String, time_s: f64, since_s: f64) {
        let rates = [subflow.sent_mbps, subflow.received_mbps];
        self.megabits.iter_mut().zip(rates).for_each(|(sum, rate)| *sum += rate * since_s);
        (self.latest, self.sharing, self.last_s) = (subflow.clone(), sharing, time_s);
        let at = Instant::from_nanos((time_s * 1e9) as u64);
        for (metric, series) in &mut self.series {
            if let Some(value) = (metric.of)(subflow) {
                series.push(at, value);
            }
        }
    }
}
