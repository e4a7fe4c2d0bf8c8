//! The applications on the connections: bulk transfers, datagrams at a rate, requests and responses.

use std::net::SocketAddr;
use std::sync::Arc;

use rand_pcg::Pcg64Mcg;
use subflow_network::{Network, TimerId, stream};
use subflow_quantity::{Duration, Instant, Pacing};
use subflow_scenario::{Flow, Period, Traffic};
use subflow_transport::{Endpoint, EndpointId, Event, Listener};

use super::dialogue::{Dialogue, ExchangeClock};
use super::nodes::Nodes;
use crate::statistics::DurationSummary;

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
    /// Durations of finished exchanges.
    pub(crate) exchanges: DurationSummary,
    asked_at: Instant,
    /// Shows the waiting time of the exchanges during the run.
    pub(crate) exchange_clock: Option<Arc<ExchangeClock>>,
    /// Its exchanges at the connecting and at the accepting end, if it has any.
    dialogues: Option<[Dialogue; 2]>,
    /// The bytes of messages that did not fit in the send buffer, at each end.
    owed: [u64; 2],
    /// The end of the current on period of an on-off source.
    on_until: Instant,
    next_packet_at: Instant,
    /// The intervals between datagrams.
    pacing: Option<Pacing>,
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

/// Bytes written by a bulk transfer without an end.
const ENDLESS: u64 = u64::MAX / 8;

impl Application {
    /// The application of `flow` in the run with `seed`; `connect` configures its connecting end (`None` for UDP).
    pub(crate) fn new(flow: Flow, connect: Option<Listener>, timer: TimerId, seed: u64) -> Self {
        let rng = stream(seed, &format!("flow {}", flow.name));
        let dialogues = flow.exchange_sizes(seed).map(|sizes| [Dialogue::new(sizes.clone()), Dialogue::new(sizes)]);
        Self {
            flow,
            dialogues,
            timer,
            connect,
            rng,
            from: None,
            to: None,
            stage: Stage::Waiting,
            completed_at: None,
            exchanges: DurationSummary::default(),
            asked_at: Instant::ZERO,
            exchange_clock: None,
            owed: [0; 2],
            on_until: Instant::ZERO,
            next_packet_at: Instant::ZERO,
            pacing: None,
        }
    }

    /// The timer that starts the flow.
    pub(crate) fn timer(&self) -> TimerId {
        self.timer
    }

    pub(crate) fn flow(&self) -> &Flow {
        &self.flow
    }

    /// Handles the application's timer. Returns the endpoint that has to be drained.
    pub(crate) fn on_timer(
        &mut self,
        nodes: &mut Nodes,
        network: &mut Network,
        index: usize,
    ) -> Option<(usize, EndpointId)> {
        match self.stage {
            Stage::Waiting => {
                self.stage = Stage::Running;
                self.begin(nodes, network, index);
            }
            Stage::Running if self.stop_is_due(network.now()) => self.stop(nodes),
            Stage::Running => match self.flow.traffic {
                Traffic::OnOff { .. } => self.send_datagrams(nodes, network),
                Traffic::RequestResponse { .. } => self.send_request(nodes, network),
                Traffic::Bulk { .. } => {}
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
        let socket = nodes.transport_mut(from.host).endpoint_mut(endpoint);
        match self.flow.traffic {
            Traffic::Bulk { bytes } => self.write_bulk(socket, bytes),
            Traffic::OnOff { rate, on, .. } => {
                self.on_until = now + self.draw(on);
                self.next_packet_at = now;
                self.pacing = Some(Pacing::new(rate));
            }
            Traffic::RequestResponse { .. } => {}
        }
        match self.flow.traffic {
            Traffic::OnOff { .. } => self.send_datagrams(nodes, network),
            _ => self.sleep_until(network, None),
        }
    }

    /// The source address of datagrams. The port identifies the flow, so that the same number serves as source port.
    fn datagram_source(&self, nodes: &Nodes) -> SocketAddr {
        let port = self.flow.source_port.unwrap_or(self.flow.port);
        let Flow { from, fixed_source, addresses: [preferred, remote], .. } = self.flow;
        let source = if fixed_source { preferred } else { nodes.transport(from.host).source(preferred, remote) };
        SocketAddr::new(source, port)
    }

    /// Opens the receiving end of a flow of datagrams.
    pub(crate) fn open_datagram_receiver(&mut self, nodes: &mut Nodes, network: &mut Network, index: usize) {
        let to = self.flow.to;
        let at = SocketAddr::new(self.flow.addresses[1], self.flow.port);
        let source = self.datagram_source(nodes);
        let receiver = match nodes.transport_mut(to.host).open_udp(at, source) {
            Ok(receiver) => receiver,
            Err(error) => return nodes.fail(&self.flow.name, error),
        };
        nodes.register(network, to.host, receiver, index);
        self.to = Some(receiver);
    }

    fn write_bulk(&self, socket: &mut Endpoint, bytes: Option<u64>) {
        let total = bytes.unwrap_or(ENDLESS);
        let written = socket.bytes_written();
        if written + socket.write(total - written) == total && bytes.is_some() {
            socket.finish();
        }
    }

    /// Writes a message of `bytes` bytes after the rest of earlier ones.
    fn write_message(&mut self, socket: &mut Endpoint, connecting: bool, bytes: u64) {
        let owed = &mut self.owed[usize::from(!connecting)];
        *owed += bytes;
        *owed -= socket.write(*owed);
    }

    pub(crate) fn on_accept(&mut self, nodes: &mut Nodes, node: usize, endpoint: EndpointId) {
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
        let socket = nodes.transport_mut(node).endpoint_mut(endpoint);
        match self.flow.traffic {
            Traffic::Bulk { bytes: Some(bytes) } => socket.set_receive_mark(bytes),
            _ => {
                if let Some([_, accepting]) = &self.dialogues {
                    socket.set_receive_mark(accepting.asked());
                }
            }
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
                if let Traffic::RequestResponse { .. } = self.flow.traffic {
                    self.send_request_after(nodes, network, Duration::ZERO);
                }
            }
            Event::Writable => {
                let socket = nodes.transport_mut(node).endpoint_mut(endpoint);
                match self.flow.traffic {
                    Traffic::Bulk { bytes } if connecting => self.write_bulk(socket, bytes),
                    Traffic::RequestResponse { .. } => self.write_message(socket, connecting, 0),
                    _ => {}
                }
            }
            Event::Received => self.on_received(nodes, network, node, endpoint, connecting),
            Event::PeerFinished if !connecting => {
                self.complete_if_abandoned(network.now());
                nodes.transport_mut(node).endpoint_mut(endpoint).finish();
            }
            _ => {}
        }
    }

    /// Completes a transfer whose last byte was abandoned: it is complete when the sender reports this.
    fn complete_if_abandoned(&mut self, now: Instant) {
        let is_whole = matches!(self.flow.traffic, Traffic::Bulk { bytes: Some(_) }) && self.stage == Stage::Running;
        if is_whole && self.flow.may_give_up() {
            self.completed_at.get_or_insert(now);
        }
    }

    /// Requests the subflows that the scenario names.
    fn plan_subflows(&self, nodes: &mut Nodes, now: Instant, endpoint: EndpointId) {
        let Some(mptcp) = self.flow.protocol.mptcp() else { return };
        for plan in &mptcp.subflows {
            let [local, remote] = plan.addresses;
            let remote = SocketAddr::new(remote, self.flow.port);
            let host = nodes.transport_mut(self.flow.from.host);
            host.open_subflow(endpoint, local, plan.source_port, remote, plan.backup, now);
        }
    }

    fn on_received(
        &mut self,
        nodes: &mut Nodes,
        network: &mut Network,
        node: usize,
        endpoint: EndpointId,
        connecting: bool,
    ) {
        let now = network.now();
        match self.flow.traffic {
            Traffic::Bulk { bytes: Some(_) } if !connecting => self.completed_at = Some(now),
            Traffic::RequestResponse { count, think, .. } => {
                let socket = nodes.transport_mut(node).endpoint_mut(endpoint);
                let Some([asking, answering]) = &mut self.dialogues else { return };
                if !connecting {
                    let response = answering.current().response;
                    answering.advance();
                    socket.set_receive_mark(answering.asked());
                    self.write_message(socket, connecting, response);
                    return;
                }
                asking.advance();
                socket.set_receive_mark(asking.answered());
                let duration = now - self.asked_at;
                self.exchanges.add(duration);
                if let Some(clock) = &self.exchange_clock {
                    clock.answer(duration);
                }
                let done = self.exchanges.count();
                if count == Some(done) {
                    self.completed_at = Some(now);
                    socket.finish();
                } else {
                    let pause = self.draw(think);
                    self.send_request_after(nodes, network, pause);
                }
            }
            _ => {}
        }
    }

    fn send_request_after(&mut self, nodes: &mut Nodes, network: &mut Network, pause: Duration) {
        if pause.is_zero() {
            self.send_request(nodes, network);
        } else {
            let at = network.now() + pause;
            self.sleep_until(network, Some(at));
        }
    }

    /// Sends the next request.
    fn send_request(&mut self, nodes: &mut Nodes, network: &mut Network) {
        let (Some([asking, _]), Some(endpoint)) = (&self.dialogues, self.from) else { return };
        let (request, answered) = (asking.current().request, asking.answered());
        self.asked_at = network.now();
        if let Some(clock) = &self.exchange_clock {
            clock.ask(self.asked_at);
        }
        let node = self.flow.from.host;
        let socket = nodes.transport_mut(node).endpoint_mut(endpoint);
        socket.set_receive_mark(answered);
        self.write_message(socket, true, request);
        self.sleep_until(network, None);
    }

    /// Sends the datagrams that are due and sets the timer for the next one.
    fn send_datagrams(&mut self, nodes: &mut Nodes, network: &mut Network) {
        let (&Traffic::OnOff { packet, on, off, .. }, Some(endpoint)) = (&self.flow.traffic, self.from) else { return };
        let Some(mut pacing) = self.pacing else { return };
        let now = network.now();
        while self.next_packet_at <= now {
            nodes.transport_mut(self.flow.from.host).endpoint_mut(endpoint).write(u64::from(packet));
            self.next_packet_at += pacing.time_of(u64::from(packet));
            while self.next_packet_at >= self.on_until {
                let pause = self.draw(off);
                let burst = self.draw(on);
                self.next_packet_at = self.next_packet_at.max(self.on_until) + pause;
                self.on_until = self.next_packet_at + burst.max(Duration::from_nanos(1));
                if pause.is_zero() && burst.is_zero() {
                    break;
                }
            }
        }
        self.pacing = Some(pacing);
        self.sleep_until(network, Some(self.next_packet_at));
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
