//! Requests and responses: what both ends do when data has arrived, and when a request is due.

use std::sync::Arc;

use subflow_network::Network;
use subflow_quantity::Duration;
use subflow_scenario::{Exchange, ExchangeSizes, Traffic};

use super::exchange_log::ExchangeLog;
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
    /// Shows the waiting time of the exchanges during the run.
    pub(super) clock: Option<Arc<ExchangeClock>>,
}

impl Requests {
    /// Before the first exchange.
    pub(super) fn new(sizes: ExchangeSizes) -> Self {
        let answering = Dialogue::new(sizes.clone());
        Self { sizes, answered: 0, answering, log: ExchangeLog::default(), clock: None }
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
        let (&Traffic::RequestResponse { count, every, .. }, Some(endpoint)) = (&self.flow.traffic, self.from) else {
            return;
        };
        let Some(requests) = &mut self.requests else { return };
        let (now, node) = (network.now(), self.flow.from.host);
        let sizes = requests.sizes.draw();
        let is_first = requests.log.next().is_none();
        requests.log.ask(now, sizes);
        let (number, awaited) = (requests.log.asked(), requests.awaited());
        if let Some(clock) = requests.clock.as_ref().filter(|_| is_first) {
            clock.ask(now);
        }
        if let Some(total) = awaited.filter(|_| is_first) {
            self.await_bytes(nodes, (node, endpoint), true, total);
        }
        self.write_message(nodes.transport_mut(node).endpoint_mut(endpoint), true, sizes.request);
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
        let response = requests.answering.current().response;
        requests.answering.advance();
        let next = requests.asked();
        self.await_bytes(nodes, (at.node, at.endpoint), at.connecting, next);
        self.write_message(nodes.transport_mut(at.node).endpoint_mut(at.endpoint), at.connecting, response);
    }

    /// The first byte of a response has arrived, or its last one.
    pub(super) fn on_response(&mut self, nodes: &mut Nodes, network: &mut Network, at: Arrival) {
        let &Traffic::RequestResponse { count, think, every, .. } = &self.flow.traffic else { return };
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
        let act = Act::ExchangeCompleted { number, bytes: response, started_at: now - duration };
        nodes.record_act(now, (at.node, at.endpoint), || act);
        self.await_next(nodes, at, awaited);
        if count == Some(number) {
            self.completed_at = Some(now);
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
