//! The events of a log. docs/src/event-log.md describes their members.

use core::ops::Range;
use std::collections::VecDeque;

use subflow_policy::congestion::{Controller, Path, RecoveryState};
use subflow_quantity::{Duration, Instant};
use subflow_scenario::Scenario;
use subflow_transport::tcp::{Closed, Ends};
use subflow_transport::{Endpoint, Event, Note, Noted, Seen, Why};

use super::EventFolder;
use super::line::{Line, member};
use super::names::{Names, quoted};
use super::stream::Stream;
use crate::RunError;

/// The form of the events. It changes when an event or a member changes its meaning.
const SCHEMA: &str = "urn:subflow:events:1";

/// The name of an event, as it stands in its line after the time.
macro_rules! event {
    ($name:literal) => {
        concat!(",\"name\":\"", $name, "\"")
    };
}

/// The event log of one run.
pub(crate) struct EventLog {
    stream: Stream,
    line: Vec<u8>,
    names: Names,
    /// What the timeline still has to change: when, and what, as JSON.
    timeline: VecDeque<(Instant, String)>,
    /// By flow, what was logged last of the windows: of each path at both hosts.
    windows: Vec<Vec<[Option<Window>; 2]>>,
}

/// A congestion window as it was logged last.
#[derive(Clone, Copy, Debug)]
struct Window {
    ends: Ends,
    cwnd: u32,
    ssthresh: u32,
}

/// How a range of data relates to what was sent before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sending {
    /// It was never sent before.
    New,
    /// This subflow was the last to carry it.
    Retransmission,
    /// Another subflow was.
    Copy,
}

/// Where and when something happened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) now: Instant,
    pub(crate) flow: usize,
    pub(crate) host: usize,
}

impl EventLog {
    /// The log of run number `run` of `scenario`, which begins now.
    pub(crate) fn create(scenario: &Scenario, seed: u64, folder: &EventFolder, run: usize) -> Result<Self, RunError> {
        let timeline = scenario.events().into_iter().map(|(at, what)| (Instant::ZERO + at, quoted(&what)));
        let mut log = Self {
            stream: Stream::create(folder.path(run))?,
            line: Vec::new(),
            names: Names::of(scenario),
            timeline: timeline.collect(),
            windows: vec![Vec::new(); scenario.flows.len()],
        };
        let header = serde_json::json!({
            "file_schema": "urn:ietf:params:qlog:file:sequential",
            "serialization_format": "application/x-ndjson",
            "title": scenario.title,
            "trace": {
                "common_fields": {
                    "time_format": "relative_to_epoch",
                    "reference_time": { "clock_type": "other", "epoch": "unknown" },
                },
                "vantage_point": { "name": concat!("subflow ", env!("CARGO_PKG_VERSION")), "type": "network" },
                "event_schemas": [SCHEMA],
                "seed": seed,
                "run": run,
            },
        });
        log.stream.write(format!("{header}\n").as_bytes());
        Ok(log)
    }

    /// Fails if the log could not be written.
    pub(crate) fn check(&self) -> Result<(), RunError> {
        self.stream.check()
    }

    /// Ends the log of a run that ended at `end`.
    pub(crate) fn finish(mut self, end: Instant) -> Result<(), RunError> {
        self.tell_timeline(end);
        self.stream.finish()
    }

    /// A packet with data leaves.
    pub(crate) fn sent(&mut self, at: Place, ends: Ends, data: Range<u64>, sending: Option<Sending>) {
        self.write(at, event!("transport:packet_sent"), Some(ends), |line, _| {
            range(line, data);
            if let Some(sending) = sending {
                line.quoted(
                    member!("kind"),
                    match sending {
                        Sending::New => "\"new\"",
                        Sending::Retransmission => "\"retransmission\"",
                        Sending::Copy => "\"copy\"",
                    },
                );
            }
        });
    }

    /// A packet with data has arrived, and `readable` can be read now. `ends` are those of the host that it has arrived
    /// at.
    pub(crate) fn received(&mut self, at: Place, ends: Ends, data: Range<u64>, readable: Option<Range<u64>>) {
        self.write(at, event!("transport:packet_received"), Some(ends), |line, _| {
            range(line, data);
            if let Some(readable) = readable {
                line.number(member!("readable_to"), readable.end);
            }
        });
    }

    /// The flow is complete: its reader has all.
    pub(crate) fn completed(&mut self, at: Place, bytes: u64) {
        self.write(at, event!("application:completed"), None, |line, _| {
            line.number(member!("bytes"), bytes);
        });
    }

    /// What an endpoint has noted.
    pub(crate) fn noted(&mut self, at: Place, Noted { ends, note }: &Noted) {
        match note {
            Note::Lost { data, sent_at } => self.write(at, event!("recovery:packet_lost"), Some(*ends), |line, _| {
                range(line, data.clone());
                line.exact_millis(member!("sent_at"), sent_at.as_nanos());
            }),
            Note::Timeout { in_a_row } => {
                self.write(at, event!("recovery:loss_timer_updated"), Some(*ends), |line, _| {
                    line.quoted(member!("timer_type"), "\"rto\"").quoted(member!("event_type"), "\"expired\"");
                    line.number(member!("timeouts_in_a_row"), (*in_a_row).into());
                })
            }
            Note::State { old, new } => {
                self.write(at, event!("recovery:congestion_state_updated"), Some(*ends), |line, _| {
                    line.quoted(member!("old"), state(*old)).quoted(member!("new"), state(*new));
                });
            }
            Note::Undone => self.write(at, event!("recovery:reduction_undone"), Some(*ends), |_, _| {}),
            Note::Assigned { data, why, seen } => {
                let views = self.numbered(at, seen);
                self.write(at, event!("multipath:data_assigned"), Some(*ends), |line, names| {
                    range(line, data.clone());
                    line.quoted(
                        member!("kind"),
                        match why {
                            Why::New => "\"new\"",
                            Why::Reinjection => "\"reinjection\"",
                            Why::Copy => "\"copy\"",
                        },
                    );
                    view(line, seen, &views, &names.flows[at.flow]);
                });
            }
            Note::Waits { seen } => {
                let views = self.numbered(at, seen);
                self.write(at, event!("multipath:scheduler_waits"), None, |line, names| {
                    view(line, seen, &views, &names.flows[at.flow]);
                });
            }
        }
    }

    /// What an endpoint reports to its application.
    pub(crate) fn event(&mut self, at: Place, event: Event) {
        const CONNECTION: &str = event!("connectivity:connection_state_updated");
        match event {
            Event::Established => self.write(at, CONNECTION, None, |line, _| {
                line.quoted(member!("new"), "\"established\"");
            }),
            Event::Closed(how) => self.write(at, CONNECTION, None, |line, _| {
                line.quoted(member!("new"), "\"closed\"").quoted(member!("trigger"), closed(how));
            }),
            Event::SubflowEstablished(ends) => {
                self.write(at, event!("multipath:subflow_established"), Some(ends), |_, _| {});
            }
            Event::SubflowClosed(ends) => self.write(at, event!("multipath:subflow_closed"), Some(ends), |_, _| {}),
            Event::FellBack => self.write(at, event!("multipath:fell_back"), None, |_, _| {}),
            Event::Acknowledged => self.write(at, event!("transport:all_acknowledged"), None, |_, _| {}),
            Event::Received | Event::Writable | Event::PeerFinished => {}
        }
    }

    /// Logs the windows of an endpoint that have changed.
    pub(crate) fn windows(&mut self, at: Place, endpoint: &Endpoint) {
        match endpoint {
            Endpoint::Tcp(tcp) => self.window(at, tcp.connection(), tcp.congestion()),
            Endpoint::Mptcp(mptcp) => {
                for subflow in mptcp.subflows().iter().filter(|subflow| !subflow.is_closed()) {
                    self.window(at, subflow.connection(), mptcp.congestion());
                }
            }
            Endpoint::Sctp(_) | Endpoint::Udp(_) => {}
        }
    }

    fn window(&mut self, at: Place, tcp: &subflow_transport::tcp::Connection, controller: &Controller) {
        let Path { cwnd, ssthresh, .. } = *controller.path(tcp.path());
        let windows = &mut self.windows[at.flow];
        if windows.len() <= tcp.path() {
            windows.resize(tcp.path() + 1, [None; 2]);
        }
        // A later subflow may have the path of one that was closed.
        let known = &mut windows[tcp.path()][self.names.flows[at.flow].end(at.host)];
        if known.as_ref().is_some_and(|old| (old.cwnd, old.ssthresh) == (cwnd, ssthresh) && old.ends == tcp.ends()) {
            return;
        }
        let new = Window { ends: tcp.ends(), cwnd, ssthresh };
        *known = Some(new);
        self.write(at, event!("recovery:metrics_updated"), Some(new.ends), |line, _| {
            line.number(member!("cwnd"), cwnd.into());
            if ssthresh < Path::INFINITE {
                line.number(member!("ssthresh"), ssthresh.into());
            }
            line.number(member!("in_flight"), tcp.in_flight().into());
            rtts(line, tcp.rtt().srtt(), tcp.rtt().latest());
        });
    }

    /// The numbers of the subflows that a scheduler saw.
    fn numbered(&mut self, at: Place, seen: &Seen) -> Vec<usize> {
        seen.subflows.iter().map(|(ends, _)| self.names.subflow(at.flow, at.host, *ends)).collect()
    }

    fn write(
        &mut self,
        at: Place,
        name: &'static str,
        ends: Option<Ends>,
        members: impl FnOnce(&mut Line<'_>, &Names),
    ) {
        if self.timeline.front().is_some_and(|(next, _)| *next <= at.now) {
            self.tell_timeline(at.now);
        }
        let subflow = ends.map(|ends| self.names.subflow(at.flow, at.host, ends));
        let Self { names, line, stream, .. } = self;
        line.clear();
        let mut end = Line(line);
        end.exact_millis("{\"time\":", at.now.as_nanos()).json(name);
        end.json(names.flows[at.flow].before_data(at.host, subflow));
        members(&mut end, names);
        end.json("}}\n");
        stream.write(line);
    }

    /// The next event of the timeline, if it is not after `now`.
    fn due(&mut self, now: Instant) -> Option<(Instant, String)> {
        self.timeline.front().is_some_and(|(at, _)| *at <= now).then(|| self.timeline.pop_front())?
    }

    /// Logs the events of the timeline until `now`.
    fn tell_timeline(&mut self, now: Instant) {
        while let Some((at, what)) = self.due(now) {
            self.line.clear();
            let mut line = Line(&mut self.line);
            line.exact_millis("{\"time\":", at.as_nanos()).json(event!("network:changed"));
            line.quoted(",\"data\":{\"change\":", &what).json("}}\n");
            self.stream.write(&self.line);
        }
    }
}

fn range(line: &mut Line<'_>, data: Range<u64>) {
    line.number(member!("offset"), data.start).number(member!("length"), data.end - data.start);
}

/// What a scheduler saw; `numbers` are those of its subflows.
fn view(line: &mut Line<'_>, seen: &Seen, numbers: &[usize], names: &super::names::FlowNames) {
    line.number(member!("backlog"), seen.backlog)
        .number(member!("window"), seen.window)
        .number(member!("outstanding"), seen.outstanding);
    line.json(",\"subflows\":[");
    for (position, ((_, view), &number)) in seen.subflows.iter().zip(numbers).enumerate() {
        line.json(if position == 0 { "{\"subflow\":" } else { ",{\"subflow\":" }).json(names.of_subflow(number));
        line.number(member!("cwnd"), view.cwnd.into()).number(member!("in_flight"), view.in_flight.into());
        if view.queued_bytes > 0 {
            line.number(member!("queued_bytes"), view.queued_bytes);
        }
        rtts(line, view.srtt, view.latest_rtt);
        if view.srtt.is_some() {
            line.millis(member!("rttvar"), view.rtt_variation.as_nanos());
        }
        for (flag, is_set) in [
            (member!("can_send"), view.can_send),
            (member!("slow_start"), view.slow_start),
            (member!("buffer_full"), view.buffer_full),
            (member!("backup"), view.backup),
            (member!("potentially_failed"), view.potentially_failed),
        ] {
            if is_set {
                line.boolean(flag, true);
            }
        }
        line.json("}");
    }
    line.json("]");
}

/// The smoothed RTT and the latest sample, once there are any.
fn rtts(line: &mut Line<'_>, smoothed: Option<Duration>, latest: Option<Duration>) {
    if let Some(smoothed) = smoothed {
        line.millis(member!("srtt"), smoothed.as_nanos());
    }
    if let Some(latest) = latest {
        line.millis(member!("latest_rtt"), latest.as_nanos());
    }
}

fn state(state: RecoveryState) -> &'static str {
    match state {
        RecoveryState::Open => "\"open\"",
        RecoveryState::Disorder => "\"disorder\"",
        RecoveryState::WindowReduced => "\"window_reduced\"",
        RecoveryState::Recovery => "\"recovery\"",
        RecoveryState::Loss => "\"loss\"",
    }
}

fn closed(how: Closed) -> &'static str {
    match how {
        Closed::Gracefully => "\"gracefully\"",
        Closed::Reset => "\"reset\"",
        Closed::Refused => "\"refused\"",
        Closed::TimedOut => "\"timed_out\"",
        Closed::Aborted => "\"aborted\"",
    }
}
