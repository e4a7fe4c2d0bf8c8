//! The applications on the connections.
//!
//! | to find | look in |
//! |---|---|
//! | beginning and end of a flow, and what calls the rest | here |
//! | requests and responses | `requests.rs`; the record of each exchange: `exchange_log.rs` |
//! | a video player | `player.rs` |
//! | exchanges and data on streams of their own | `streams.rs` |
//! | exchanges that wait for each other | `script.rs`; those of other flows: `crate::simulate::page` |
//! | datagrams at a rate | `datagrams.rs` |
//! | an application that reads at its own pace | `reader.rs` |
//! | bulk transfers, at once or in bursts | `writer.rs` |

mod datagrams;
mod exchange_log;
mod player;
mod reader;
mod requests;
mod script;
mod streams;
mod writer;

use std::net::SocketAddr;
use std::sync::Arc;

use rand_pcg::Pcg64Mcg;
use subflow_network::{Network, TimerId, stream};
use subflow_quantity::{Duration, Instant};
use subflow_scenario::{Flow, Period, Traffic};
use subflow_transport::{Endpoint, EndpointId, Event, Listener};

use super::dialogue::ExchangeClock;
use super::nodes::Nodes;

use datagrams::Datagrams;
pub(crate) use exchange_log::ExchangeLog;
pub(crate) use player::Player;
pub(crate) use reader::Reader;
#[cfg(all(target_os = "linux", feature = "linux"))]
pub(crate) use reader::{Pace, Turn};
use requests::Requests;
use script::Script;
use streams::{Announced, StreamPlan};
pub(crate) use writer::Writer;

/// The application at both ends of a flow, and the state of its traffic.
pub(crate) struct Application {
    flow: Flow,
    timer: TimerId,
    connect: Option<Listener>,
    rng: Pcg64Mcg,
    /// The connecting endpoint and the accepted one.
    pub(crate) from: Option<EndpointId>,
    pub(crate) to: Option<EndpointId>,
    stage: Stage,
    /// The time at which the receiver had read the last byte.
    pub(crate) completed_at: Option<Instant>,
    /// Its exchanges, if it has any.
    requests: Option<Requests>,
    /// Its exchanges, if they are listed and wait for each other.
    script: Option<Script>,
    /// Its streams, if they are listed.
    streams: Option<StreamPlan>,
    /// What reads its data, if that is not read at once.
    reader: Option<Reader>,
    /// The bytes of messages that did not fit in the send buffer, at each end.
    owed: [u64; 2],
    datagrams: Option<Datagrams>,
    /// The bursts of a transfer that is not written at once, from its beginning on.
    writer: Option<Writer>,
}

/// The end at which data has arrived.
#[derive(Clone, Copy)]
struct Arrival {
    node: usize,
    endpoint: EndpointId,
    /// Whether it is the one that has opened the connection.
    connecting: bool,
}

/// The meaning of the application's timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// The flow has not begun.
    #[default]
    Waiting,
    Running,
    Stopped,
}

impl Application {
    /// The application of `flow` in the run with `seed`; `connect` configures its connecting end (`None` for UDP).
    pub(crate) fn new(flow: Flow, connect: Option<Listener>, timer: TimerId, seed: u64) -> Self {
        let rng = stream(seed, &format!("flow {}", flow.name));
        let player = flow.video().cloned().map(Player::new);
        let requests = flow.exchange_sizes(seed).map(|sizes| Requests::new(sizes, player));
        let streams = flow.planned_streams().map(StreamPlan::new);
        Self {
            flow,
            requests,
            script: None,
            streams,
            timer,
            connect,
            rng,
            from: None,
            to: None,
            stage: Stage::Waiting,
            completed_at: None,
            reader: None,
            owed: [0; 2],
            datagrams: None,
            writer: None,
        }
    }

    /// The timer that starts the flow.
    pub(crate) fn timer(&self) -> TimerId {
        self.timer
    }

    pub(crate) fn flow(&self) -> &Flow {
        &self.flow
    }

    /// Its exchanges so far, if it has any.
    pub(crate) fn exchanges(&self) -> Option<&ExchangeLog> {
        let planned = self.script.as_ref().map(|script| &script.log);
        let of_streams = || self.streams.as_ref().map(|streams| &streams.log);
        planned.or_else(of_streams).or_else(|| self.requests.as_ref().map(|requests| &requests.log))
    }

    /// Its exchanges are listed; `responder` is the timer of the far end.
    pub(super) fn follow_script(&mut self, responder: TimerId) {
        let start = self.sends_from();
        self.script = self.flow.planned_exchanges().map(|plan| Script::new(Arc::clone(plan), start, responder));
    }

    /// Its player, if it streams.
    pub(crate) fn player(&self) -> Option<&Player> {
        self.requests.as_ref()?.player.as_ref()
    }

    /// Shows the waiting time of its exchanges during the run.
    pub(crate) fn show_exchanges(&mut self, clock: Arc<ExchangeClock>) {
        if let Some(requests) = &mut self.requests {
            requests.clock = Some(clock);
        }
    }

    /// Its data is read by `reader`.
    pub(super) fn read_by(&mut self, reader: Reader) {
        self.reader = Some(reader);
    }

    /// Handles the application's timer. Returns the endpoint that has to be drained.
    pub(crate) fn on_timer(
        &mut self,
        nodes: &mut Nodes,
        network: &mut Network,
        index: usize,
    ) -> Option<(usize, EndpointId)> {
        match self.stage {
            Stage::Waiting if self.stop_is_due(network.now()) => self.stop(nodes),
            Stage::Waiting if self.awaits_first_request(network) => {}
            Stage::Waiting => {
                self.stage = Stage::Running;
                self.begin(nodes, network, index);
            }
            Stage::Running if self.stop_is_due(network.now()) => self.stop(nodes),
            Stage::Running => match self.flow.traffic {
                Traffic::OnOff { .. } => self.send_datagrams(nodes, network),
                Traffic::RequestResponse { .. } | Traffic::Video(_) => self.send_request(nodes, network),
                Traffic::Exchanges(_) => self.send_due_requests(nodes, network),
                Traffic::Streams(_) => self.write_due_streams(nodes, network),
                Traffic::Bulk { bytes } => self.begin_bulk(nodes, network, bytes),
            },
            Stage::Stopped => {}
        }
        Some((self.flow.from.host, self.from?))
    }

    /// What is known at the accepting end of the flow only: the endpoint, and when it had read the last byte.
    pub(super) fn accepting_end(&self) -> (Option<EndpointId>, Option<Instant>) {
        (self.to, self.completed_at)
    }

    /// Takes over what another copy knows of the accepting end.
    pub(super) fn learn_accepting_end(&mut self, (to, completed_at): (Option<EndpointId>, Option<Instant>)) {
        self.to = to;
        self.completed_at = self.completed_at.or(completed_at);
    }

    fn stop_is_due(&self, now: Instant) -> bool {
        self.flow.stop.is_some_and(|stop| Instant::ZERO + stop <= now)
    }

    /// Sets the timer for `at`, or for the flow's stop if that is earlier.
    fn sleep_until(&self, network: &mut Network, at: Option<Instant>) {
        let stop = self.flow.stop.map(|stop| Instant::ZERO + stop);
        let next = [at, stop].into_iter().flatten().min();
        network.set_timer(self.timer, next);
    }

    fn begin(&mut self, nodes: &mut Nodes, network: &mut Network, index: usize) {
        let now = network.now();
        let from = self.flow.from;
        let [local, remote] = self.flow.addresses;
        let local = SocketAddr::new(local, self.flow.source_port.unwrap_or(0));
        let remote = SocketAddr::new(remote, self.flow.port);
        let host = nodes.transport_mut(from.host);
        let opened = match &self.connect {
            Some(stack) if self.flow.fixed_source => host.connect(stack, local, remote, now),
            Some(stack) => host.connect_from_any(stack, local, remote, now),
            None => {
                self.open_datagram_receiver(nodes, network, index);
                let local = self.datagram_source(nodes);
                nodes.transport_mut(from.host).open_udp(local, remote)
            }
        };
        let endpoint = match opened {
            Ok(endpoint) => endpoint,
            Err(error) => return nodes.fail(&self.flow.name, error),
        };
        nodes.register(network, from.host, endpoint, index);
        self.from = Some(endpoint);
        self.plan_subflows(nodes, now, endpoint);
        self.begin_datagrams(now);
        if self.reads(true) {
            self.begin_reading(nodes, network, Arrival { node: from.host, endpoint, connecting: true });
        }
        match self.flow.traffic {
            Traffic::OnOff { .. } => self.send_datagrams(nodes, network),
            Traffic::Bulk { bytes } if self.flow.send_after.is_zero() => self.begin_bulk(nodes, network, bytes),
            Traffic::Bulk { .. } => self.sleep_until(network, Some(self.sends_from())),
            Traffic::RequestResponse { .. } | Traffic::Video(_) | Traffic::Exchanges(_) | Traffic::Streams(_) => {
                self.sleep_until(network, None);
            }
        }
    }

    /// When it begins to send.
    fn sends_from(&self) -> Instant {
        Instant::ZERO + self.flow.sends_from()
    }

    /// Writes a message of `bytes` bytes after the rest of earlier ones.
    fn write_message(&mut self, socket: &mut Endpoint, connecting: bool, bytes: u64) {
        let owed = &mut self.owed[usize::from(!connecting)];
        *owed += bytes;
        *owed -= socket.write(*owed);
    }

    pub(crate) fn on_accept(&mut self, nodes: &mut Nodes, network: &mut Network, node: usize, endpoint: EndpointId) {
        // A join that has lost its option on the way opens another connection. Where the first has received nothing yet,
        // its SYN was sent again from another address.
        let is_in_use = |first| {
            let first = nodes.transport(node).endpoint(first);
            first.ended().is_none() && first.bytes_received() > 0
        };
        if self.to.is_some_and(is_in_use) {
            return;
        }
        self.to = Some(endpoint);
        let awaited = match self.flow.traffic {
            Traffic::Bulk { bytes } => bytes,
            Traffic::Exchanges(_) => self.script.as_ref().and_then(Script::awaited_request),
            _ if self.flow.has_streams() => None,
            _ => self.requests.as_ref().map(Requests::asked),
        };
        if let Some(total) = awaited {
            self.await_bytes(nodes, (node, endpoint), false, total);
        }
        if self.reads(false) {
            self.begin_reading(nodes, network, Arrival { node, endpoint, connecting: false });
        }
    }

    pub(crate) fn on_event(
        &mut self,
        nodes: &mut Nodes,
        network: &mut Network,
        node: usize,
        endpoint: EndpointId,
        event: Event,
    ) {
        let connecting = self.from == Some(endpoint) && node == self.flow.from.host;
        match event {
            Event::Established if connecting => {
                if let Some(script) = &mut self.script {
                    script.is_established = true;
                }
                if let Some(streams) = &mut self.streams {
                    streams.is_established = true;
                }
                match self.flow.traffic {
                    Traffic::Exchanges(_) => self.send_due_requests(nodes, network),
                    Traffic::Streams(_) => self.write_due_streams(nodes, network),
                    _ => self.begin_requests(nodes, network),
                }
            }
            Event::Writable => {
                let socket = nodes.transport_mut(node).endpoint_mut(endpoint);
                match self.flow.traffic {
                    Traffic::Bulk { bytes } if connecting && network.now() >= self.sends_from() => {
                        self.write_bulk(socket, bytes);
                    }
                    Traffic::RequestResponse { .. } | Traffic::Video(_) | Traffic::Exchanges(_) => {
                        self.write_message(socket, connecting, 0);
                    }
                    _ => {}
                }
            }
            Event::Received if self.reads(connecting) => {
                self.read(nodes, network, Arrival { node, endpoint, connecting });
            }
            Event::Received => self.on_received(nodes, network, Arrival { node, endpoint, connecting }),
            Event::StreamBegun(number) => {
                let at = Arrival { node, endpoint, connecting };
                self.on_stream(nodes, network, at, Announced { number, is_complete: false });
            }
            Event::StreamCompleted(number) => {
                let at = Arrival { node, endpoint, connecting };
                self.on_stream(nodes, network, at, Announced { number, is_complete: true });
            }
            Event::PeerFinished if !connecting => {
                self.complete_if_abandoned(network.now());
                nodes.transport_mut(node).endpoint_mut(endpoint).finish();
            }
            _ => {}
        }
    }

    /// Requests the subflows that the scenario names.
    fn plan_subflows(&self, nodes: &mut Nodes, now: Instant, endpoint: EndpointId) {
        for plan in self.flow.protocol.subflows() {
            let [local, remote] = plan.addresses;
            let remote = SocketAddr::new(remote, self.flow.port);
            let host = nodes.transport_mut(self.flow.from.host);
            host.open_subflow(endpoint, local, plan.source_port, remote, plan.backup, now);
        }
    }

    /// What the application waits for has arrived, and was read.
    fn on_received(&mut self, nodes: &mut Nodes, network: &mut Network, at: Arrival) {
        match self.flow.traffic {
            Traffic::Bulk { bytes: Some(_) } if !at.connecting => self.completed_at = Some(network.now()),
            Traffic::RequestResponse { .. } | Traffic::Video(_) => match at.connecting {
                true => self.on_response(nodes, network, at),
                false => self.answer(nodes, at),
            },
            Traffic::Exchanges(_) => match at.connecting {
                true => self.on_planned_response(nodes, network, at),
                false => self.on_planned_request(nodes, network),
            },
            Traffic::Bulk { .. } | Traffic::OnOff { .. } | Traffic::Streams(_) => {}
        }
    }

    fn stop(&mut self, nodes: &mut Nodes) {
        self.stage = Stage::Stopped;
        if let Some(endpoint) = self.from {
            nodes.transport_mut(self.flow.from.host).endpoint_mut(endpoint).stop();
        }
    }

    /// Draws a duration from the distribution.
    fn draw(&mut self, period: Period) -> Duration {
        period.draw(&mut self.rng)
    }
}
