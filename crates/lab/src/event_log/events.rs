//! The events of a log. docs/src/event-log.md describes their members.

use core::ops::Range;
use std::collections::VecDeque;

use subflow_policy::congestion::{Controller, Path, RecoveryState};
use subflow_quantity::Instant;
use subflow_scenario::Scenario;
use subflow_transport::tcp::{Closed, Ends};
use subflow_transport::{Endpoint, Event, Note, Noted, Seen, Why};

use super::EventFolder;
use super::line::{Line, member, smoothed_and_latest};
use super::names::{FlowNames, Names, quoted};
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
pub(super) use event;

/// The event log of one run.
pub(crate) struct EventLog {
    stream: Stream,
    names: Names,
    /// How the lines of an instant begin: much happens at the same time.
    begin: (Instant, Vec<u8>),
    /// The numbers of the subflows that a scheduler saw.
    seen: Vec<usize>,
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
    /// This subflow has carried it before; of SCTP, it was sent to this destination last.
    Retransmission,
    /// Only other subflows have; of SCTP, it was sent to another destination last.
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
            stream: Stream::create(folder.paths(run))?,
            names: Names::of(scenario),
            begin: (Instant::ZERO, b"{\"time\":0".to_vec()),
            seen: Vec::new(),
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
        log.stream.collected().extend_from_slice(format!("{header}\n").as_bytes());
        log.stream.end_line();
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
                self.number(at, seen);
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
                    names.view(line, seen);
                });
            }
            Note::Waits { seen } => {
                self.number(at, seen);
                self.write(at, event!("multipath:scheduler_waits"), None, |line, names| {
                    names.view(line, seen);
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
            Event::Received
            | Event::Writable
            | Event::PeerFinished
            | Event::StreamBegun(_)
            | Event::StreamCompleted(_) => {}
        }
    }

    /// Logs the windows of an endpoint that have changed.
    pub(crate) fn windows(&mut self, at: Place, endpoint: &Endpoint) {
        endpoint.visit_connections(|connection, controller| self.window(at, connection, controller));
    }

    fn window(&mut self, at: Place, tcp: &subflow_transport::tcp::Connection, controller: &Controller) {
        let path = controller.path(tcp.path());
        let (cwnd, ssthresh) = (path.cwnd(), path.ssthresh());
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
            smoothed_and_latest(line, tcp.rtt().srtt(), tcp.rtt().latest());
        });
    }

    /// Finds the numbers of the subflows that a scheduler saw.
    fn number(&mut self, at: Place, seen: &Seen) {
        self.seen.clear();
        self.seen.extend(seen.subflows.iter().map(|(ends, _)| self.names.subflow(at.flow, at.host, *ends)));
    }

    pub(super) fn write(
        &mut self,
        at: Place,
        name: &'static str,
        ends: Option<Ends>,
        members: impl FnOnce(&mut Line<'_>, &mut Subflows<'_>),
    ) {
        if self.timeline.front().is_some_and(|(next, _)| *next <= at.now) {
            self.tell_timeline(at.now);
        }
        if self.begin.0 != at.now {
            self.begin.0 = at.now;
            self.begin.1.clear();
            Line(&mut self.begin.1).exact_millis("{\"time\":", at.now.as_nanos());
        }
        let subflow = ends.map(|ends| self.names.subflow(at.flow, at.host, ends));
        let names = &mut self.names.flows[at.flow];
        let mut line = Line(self.stream.collected());
        line.bytes(&self.begin.1).json(name).json(names.before_data(at.host, subflow));
        members(&mut line, &mut Subflows { numbers: &self.seen, names });
        line.json("}}\n");
        self.stream.end_line();
    }

    /// The next event of the timeline, if it is not after `now`.
    fn due(&mut self, now: Instant) -> Option<(Instant, String)> {
        self.timeline.front().is_some_and(|(at, _)| *at <= now).then(|| self.timeline.pop_front())?
    }

    /// Logs the events of the timeline until `now`.
    fn tell_timeline(&mut self, now: Instant) {
        while let Some((at, what)) = self.due(now) {
            let mut line = Line(self.stream.collected());
            line.exact_millis("{\"time\":", at.as_nanos()).json(event!("network:changed"));
            line.quoted(",\"data\":{\"change\":", &what).json("}}\n");
            self.stream.end_line();
        }
    }
}

fn range(line: &mut Line<'_>, data: Range<u64>) {
    line.number(member!("offset"), data.start).number(member!("length"), data.end - data.start);
}

/// The subflows that a scheduler saw.
pub(super) struct Subflows<'a> {
    numbers: &'a [usize],
    names: &'a mut FlowNames,
}

impl Subflows<'_> {
    /// What it saw.
    fn view(&mut self, line: &mut Line<'_>, seen: &Seen) {
        line.number(member!("backlog"), seen.backlog)
            .number(member!("window"), seen.window)
            .number(member!("outstanding"), seen.outstanding);
        line.json(",\"subflows\":[");
        for (position, ((_, view), &number)) in seen.subflows.iter().zip(self.numbers).enumerate() {
            if position > 0 {
                line.json(",");
            }
            let subflow = self.names.subflow_mut(number);
            line.json(&subflow.before_view).integer(view.cwnd.into());
            line.number(member!("in_flight"), view.in_flight.into());
            if view.queued_bytes > 0 {
                line.number(member!("queued_bytes"), view.queued_bytes);
            }
            line.bytes(subflow.rtts.json(view.srtt, view.latest_rtt, view.rtt_variation));
            for (flag, is_set) in [
                (concat!(member!("can_send"), "true"), view.can_send),
                (concat!(member!("slow_start"), "true"), view.slow_start),
                (concat!(member!("buffer_full"), "true"), view.buffer_full),
                (concat!(member!("backup"), "true"), view.backup),
                (concat!(member!("potentially_failed"), "true"), view.potentially_failed),
            ] {
                if is_set {
                    line.json(flag);
                }
            }
            line.json("}");
        }
        line.json("]");
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
