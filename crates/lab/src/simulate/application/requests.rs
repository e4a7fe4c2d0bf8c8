//! Requests and responses: what both ends do when data has arrived, and when a request is due.

use std::sync::Arc;

use subflow_network::Network;
use subflow_quantity::{Duration, Instant};
use subflow_scenario::{Exchange, ExchangeSizes, Period, Traffic};

use super::exchange_log::ExchangeLog;
use super::player::{Next, Playback, Player};
use super::streams::write_on_new_stream;
use super::{Application, Arrival};
use crate::event_log::Act;
use crate::simulate::dialogue::{Dialogue, ExchangeClock};
use crate::simulate::nodes::Nodes;

/// The exchanges of a flow at both of its ends.
pub(super) struct Requests {
    /// The sizes of the next exchange that is asked for.
    sizes: ExchangeSizes,
    /// The bytes of all complete responses.
    answered: u64,
    /// The end that answers.
    answering: Dialogue,
    pub(super) log: ExchangeLog,
    /// What chooses the sizes of responses, of a video.
    pub(super) player: Option<Player>,
    /// Shows the waiting time of the exchanges during the run.
    pub(super) clock: Option<Arc<ExchangeClock>>,
}

impl Requests {
    /// Before the first exchange.
    pub(super) fn new(sizes: ExchangeSizes, player: Option<Player>) -> Self {
        let answering = Dialogue::new(sizes.clone());
        Self { sizes, answered: 0, answering, log: ExchangeLog::default(), player, clock: None }
    }

    /// The sizes of the next exchange at `now`, or when a player may request it.
    fn next_sizes(&mut self, now: Instant) -> Result<Exchange, Option<Instant>> {
        let Some(player) = &mut self.player else { return Ok(self.sizes.draw()) };
        match player.next(now) {
            Next::Request(response) => Ok(Exchange { request: player.request_bytes(), response }),
            Next::Waits(until) => Err(Some(until)),
            Next::Done => Err(None),
        }
    }

    /// The bytes of the response to the request that has arrived.
    fn response(&self) -> u64 {
        match (&self.player, self.log.next()) {
            // A player has one request under way, and this is the answer to it.
            (Some(_), Some((exchange, _))) => exchange.response,
            _ => self.answering.current().response,
        }
    }

    /// The sizes of exchange `number`, at the end that answers; the numbers may come in any order.
    pub(super) fn sizes_of(&mut self, number: u64) -> Exchange {
        self.answering.of_number(number)
    }

    /// The end of the next request in the stream of requests.
    pub(super) fn asked(&self) -> u64 {
        self.answering.asked()
    }

    /// The number of bytes of the stream of responses that is waited for: up to the first byte of a response, then up to
    /// its last one.
    fn awaited(&self) -> Option<u64> {
        let (Exchange { response, .. }, has_begun) = self.log.next()?;
        Some(self.answered + if has_begun { response } else { 1 })
    }
}

impl Application {
    /// The connection is established: the first request goes, as soon as the flow sends.
    pub(super) fn begin_requests(&mut self, nodes: &mut Nodes, network: &mut Network) {
        if self.requests.is_some() {
            let pause = self.sends_from().since(network.now());
            self.send_request_after(nodes, network, pause);
        }
    }

    /// Sends the next request, and sets the timer for the one after it if that waits for no response.
    pub(super) fn send_request(&mut self, nodes: &mut Nodes, network: &mut Network) {
        let (count, every, streams) = match self.flow.traffic {
            Traffic::RequestResponse { count, every, streams, .. } => (count, every, streams),
            _ => (None, None, None),
        };
        let (Some(requests), Some(endpoint)) = (&mut self.requests, self.from) else { return };
        let (now, node) = (network.now(), self.flow.from.host);
        let sizes = match requests.next_sizes(now) {
            Ok(sizes) => sizes,
            Err(until) => return self.sleep_until(network, until),
        };
        let is_first = requests.log.next().is_none();
        requests.log.ask(now, sizes);
        let number = requests.log.asked();
        let awaited = requests.awaited().filter(|_| streams.is_none());
        if let Some(clock) = requests.clock.as_ref().filter(|_| is_first) {
            clock.ask(now);
        }
        if let Some(total) = awaited.filter(|_| is_first) {
            self.await_bytes(nodes, (node, endpoint), true, total);
        }
        match streams {
            Some(priority) => write_on_new_stream(nodes, (node, endpoint), sizes.request, priority),
            None => self.write_message(nodes.transport_mut(node).endpoint_mut(endpoint), true, sizes.request),
        }
        nodes.record_act(now, (node, endpoint), || Act::RequestSent { number, bytes: sizes.request });
        let next = every.filter(|_| count != Some(number)).map(|every| now + self.draw(every));
        self.sleep_until(network, next);
    }

    fn send_request_after(&mut self, nodes: &mut Nodes, network: &mut Network, pause: Duration) {
        if pause.is_zero() {
            self.send_request(nodes, network);
        } else {
            let at = network.now() + pause;
            self.sleep_until(network, Some(at));
        }
    }

    /// A whole request has arrived: the response goes.
    pub(super) fn answer(&mut self, nodes: &mut Nodes, at: Arrival) {
        let Some(requests) = &mut self.requests else { return };
        let response = requests.response();
        requests.answering.advance();
        let next = requests.asked();
        self.await_bytes(nodes, (at.node, at.endpoint), at.connecting, next);
        self.write_message(nodes.transport_mut(at.node).endpoint_mut(at.endpoint), at.connecting, response);
    }

    /// The first byte of a response has arrived, or its last one.
    pub(super) fn on_response(&mut self, nodes: &mut Nodes, network: &mut Network, at: Arrival) {
        let Some(requests) = &mut self.requests else { return };
        let Some((Exchange { response, .. }, has_begun)) = requests.log.next() else { return };
        let (now, number) = (network.now(), requests.log.completed() + 1);
        if !has_begun {
            requests.log.on_first_byte(now);
            let awaited = requests.awaited();
            nodes.record_act(now, (at.node, at.endpoint), || Act::FirstByte { number });
            return self.await_next(nodes, at, awaited);
        }
        let Some((duration, next_asked_at)) = requests.log.complete(now) else { return };
        requests.answered += response;
        if let Some(clock) = &requests.clock {
            clock.answer(duration);
            next_asked_at.into_iter().for_each(|asked_at| clock.ask(asked_at));
        }
        let awaited = requests.awaited();
        let playback = requests.player.as_mut().map(|player| player.on_chunk(now, response, duration));
        let has_all = requests.player.as_ref().is_some_and(Player::has_all);
        let act = Act::ExchangeCompleted { number, bytes: response, started_at: now - duration };
        nodes.record_act(now, (at.node, at.endpoint), || act);
        match playback {
            Some(Playback::Begins) => nodes.record_act(now, (at.node, at.endpoint), || Act::PlaybackBegins),
            Some(Playback::Resumes(since)) => {
                nodes.record_act(now, (at.node, at.endpoint), || Act::PlaybackResumes { stalled_since: since });
            }
            Some(Playback::Same) | None => {}
        }
        self.await_next(nodes, at, awaited);
        self.go_on(nodes, network, at, (number, has_all));
    }

    /// So many exchanges are complete, with `has_all` all that a player needs: the next request goes, or the flow is complete.
    pub(super) fn go_on(
        &mut self,
        nodes: &mut Nodes,
        network: &mut Network,
        at: Arrival,
        (completed, has_all): (u64, bool),
    ) {
        let (count, think, every) = match self.flow.traffic {
            Traffic::RequestResponse { count, think, every, .. } => (count, think, every),
            _ => (None, Period::Constant(Duration::ZERO), None),
        };
        if count == Some(completed) || has_all {
            self.completed_at = Some(network.now());
            nodes.transport_mut(at.node).endpoint_mut(at.endpoint).finish();
        } else if every.is_none() {
            let pause = self.draw(think);
            self.send_request_after(nodes, network, pause);
        }
    }

    fn await_next(&mut self, nodes: &mut Nodes, at: Arrival, total: Option<u64>) {
        if let Some(total) = total {
            self.await_bytes(nodes, (at.node, at.endpoint), at.connecting, total);
        }
    }
}
