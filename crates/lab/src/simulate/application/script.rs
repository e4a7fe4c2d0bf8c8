//! Exchanges of a list, each as soon as those are complete that it waits for: the objects of a page.
//!
//! Requests go in the order in which they are due, and responses in the order in which the far end has them, so that
//! several may be under way on a connection. [`Schedule`] knows which exchange comes next at either end; the
//! [`Application`] writes and reads. What waits for exchanges of other flows is in `crate::simulate::page`.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use subflow_network::{Network, TimerId};
use subflow_quantity::Instant;
use subflow_scenario::{Exchange, PlannedExchange};
use subflow_transport::EndpointId;

use super::exchange_log::ExchangeLog;
use super::{Application, Arrival};
use crate::event_log::Act;
use crate::simulate::nodes::Nodes;

/// The exchanges of one flow at both of its ends. They are named by their places in the list.
pub(super) struct Script {
    schedule: Schedule,
    /// The timer of the far end, for responses that it does not have yet.
    responder: TimerId,
    /// Whether the connection is established.
    pub(super) is_established: bool,
    pub(super) log: ExchangeLog,
    /// The end of the request that the far end waits for, in the stream of requests.
    asked: u64,
    /// The bytes of all complete responses.
    answered: u64,
    /// Whether the first byte of the present response has arrived.
    has_begun: bool,
    /// Those that were completed since the last look.
    news: Vec<usize>,
}

/// What comes next at either end.
struct Schedule {
    plan: Arc<[PlannedExchange]>,
    /// How many exchanges each one still waits for.
    missing: Vec<usize>,
    /// Those whose requests may go, at these times.
    due: BTreeSet<(Instant, usize)>,
    /// Those whose requests are on their way.
    requested: VecDeque<usize>,
    /// Those whose responses the far end has at these times.
    ready: BTreeSet<(Instant, usize)>,
    /// Those whose requests went and whose responses have not begun, in the order of the requests.
    waiting: Vec<usize>,
    /// Those whose responses are on their way.
    responding: VecDeque<usize>,
    completed: usize,
}

impl Schedule {
    fn new(plan: Arc<[PlannedExchange]>, start: Instant) -> Self {
        let missing: Vec<usize> = plan.iter().map(|exchange| exchange.after.len()).collect();
        let free = (0..plan.len()).filter(|&at| missing[at] == 0);
        let due = free.map(|at| (start + plan[at].pause, at)).collect();
        Self {
            plan,
            missing,
            due,
            requested: VecDeque::new(),
            ready: BTreeSet::new(),
            waiting: Vec::new(),
            responding: VecDeque::new(),
            completed: 0,
        }
    }

    /// One of those that `exchange` waits for is complete.
    fn release(&mut self, exchange: usize, now: Instant) {
        self.missing[exchange] -= 1;
        if self.missing[exchange] == 0 {
            self.due.insert((now + self.plan[exchange].pause, exchange));
        }
    }

    fn next_due(&self) -> Option<Instant> {
        self.due.first().map(|&(at, _)| at)
    }

    fn next_ready(&self) -> Option<Instant> {
        self.ready.first().map(|&(at, _)| at)
    }

    /// The next exchange whose request goes at `now`.
    fn request(&mut self, now: Instant) -> Option<usize> {
        let exchange = pop_due(&mut self.due, now)?;
        self.requested.push_back(exchange);
        self.waiting.push(exchange);
        Some(exchange)
    }

    /// The next request has arrived.
    fn arrive(&mut self, now: Instant) {
        if let Some(exchange) = self.requested.pop_front() {
            self.ready.insert((now + self.plan[exchange].wait, exchange));
        }
    }

    /// The next exchange whose response goes at `now`, and its place among those that wait for theirs.
    fn respond(&mut self, now: Instant) -> Option<(usize, usize)> {
        let exchange = pop_due(&mut self.ready, now)?;
        let place = self.waiting.iter().position(|waiting| *waiting == exchange)?;
        self.waiting.remove(place);
        self.responding.push_back(exchange);
        Some((exchange, place))
    }

    /// The response under way is complete.
    fn complete(&mut self) -> Option<usize> {
        self.completed += 1;
        self.responding.pop_front()
    }

    fn is_complete(&self) -> bool {
        self.completed == self.plan.len()
    }

    fn sizes(&self, exchange: usize) -> Exchange {
        let PlannedExchange { request, response, .. } = self.plan[exchange];
        Exchange { request, response }
    }
}

/// Takes the first exchange whose time has come.
fn pop_due(exchanges: &mut BTreeSet<(Instant, usize)>, now: Instant) -> Option<usize> {
    exchanges.first().filter(|(at, _)| *at <= now)?;
    exchanges.pop_first().map(|(_, exchange)| exchange)
}

impl Script {
    /// Before the first exchange of a flow that sends from `start` on.
    pub(super) fn new(plan: Arc<[PlannedExchange]>, start: Instant, responder: TimerId) -> Self {
        Self {
            schedule: Schedule::new(plan, start),
            responder,
            is_established: false,
            log: ExchangeLog::default(),
            asked: 0,
            answered: 0,
            has_begun: false,
            news: Vec::new(),
        }
    }

    /// When the next request is due.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.schedule.next_due()
    }

    /// The end of the next request in the stream of requests, if one is under way.
    pub(super) fn awaited_request(&self) -> Option<u64> {
        self.schedule.requested.front().map(|exchange| self.asked + self.schedule.plan[*exchange].request)
    }

    /// The number of bytes of the stream of responses that is waited for, if a response is under way.
    fn awaited_response(&self) -> Option<u64> {
        let exchange = *self.schedule.responding.front()?;
        Some(self.answered + if self.has_begun { self.schedule.plan[exchange].response } else { 1 })
    }
}

impl Application {
    /// The exchanges that were completed since the last look.
    pub(crate) fn take_news(&mut self) -> Vec<usize> {
        self.script.as_mut().map(|script| core::mem::take(&mut script.news)).unwrap_or_default()
    }

    /// Whether its first request is not due yet. The connection is opened when it is.
    pub(super) fn awaits_first_request(&self, network: &mut Network) -> bool {
        let Some(script) = &self.script else { return false };
        let due = script.next_due();
        let awaits = due.is_none_or(|at| at > network.now());
        if awaits {
            self.sleep_until(network, due);
        }
        awaits
    }

    /// An exchange that `exchange` waits for is complete.
    pub(crate) fn release(&mut self, network: &mut Network, exchange: usize) {
        let Some(script) = &mut self.script else { return };
        script.schedule.release(exchange, network.now());
        let due = script.next_due();
        self.sleep_until(network, due);
    }

    /// Sends the requests that are due, once there is a connection.
    pub(super) fn send_due_requests(&mut self, nodes: &mut Nodes, network: &mut Network) {
        let (now, node) = (network.now(), self.flow.from.host);
        let is_established = self.script.as_ref().is_some_and(|script| script.is_established);
        let Some(endpoint) = self.from.filter(|_| is_established) else { return };
        while let Some(script) = &mut self.script
            && let Some(exchange) = script.schedule.request(now)
        {
            let sizes = script.schedule.sizes(exchange);
            let number = exchange as u64 + 1;
            script.log.ask_numbered(now, sizes, number);
            let is_first = script.schedule.requested.len() == 1;
            self.write_message(nodes.transport_mut(node).endpoint_mut(endpoint), true, sizes.request);
            nodes.record_act(now, (node, endpoint), || Act::RequestSent { number, bytes: sizes.request });
            if is_first {
                self.await_request(nodes);
            }
        }
        let due = self.script.as_ref().and_then(Script::next_due);
        self.sleep_until(network, due);
    }

    /// Lets the far end wait for the next request.
    fn await_request(&mut self, nodes: &mut Nodes) {
        let awaited = self.script.as_ref().and_then(Script::awaited_request);
        if let (Some(total), Some(endpoint)) = (awaited, self.to) {
            self.await_bytes(nodes, (self.flow.to.host, endpoint), false, total);
        }
    }

    /// A whole request has arrived at the far end.
    pub(super) fn on_planned_request(&mut self, nodes: &mut Nodes, network: &mut Network) {
        let Some(script) = &mut self.script else { return };
        let Some(total) = script.awaited_request() else { return };
        script.asked = total;
        script.schedule.arrive(network.now());
        self.await_request(nodes);
        self.send_ready_responses(nodes, network);
    }

    /// Sends the responses that the far end has.
    fn send_ready_responses(&mut self, nodes: &mut Nodes, network: &mut Network) {
        let (now, node) = (network.now(), self.flow.to.host);
        let Some(endpoint) = self.to else { return };
        while let Some(script) = &mut self.script
            && let Some((exchange, place)) = script.schedule.respond(now)
        {
            let before = script.schedule.responding.len() - 1;
            script.log.bring_forward(before + place, before);
            let bytes = script.schedule.sizes(exchange).response;
            self.write_message(nodes.transport_mut(node).endpoint_mut(endpoint), false, bytes);
            if before == 0 {
                self.await_response(nodes);
            }
        }
        if let Some(script) = &self.script {
            network.set_timer(script.responder, script.schedule.next_ready());
        }
    }

    /// Lets the near end wait for the next bytes of a response.
    fn await_response(&mut self, nodes: &mut Nodes) {
        let awaited = self.script.as_ref().and_then(Script::awaited_response);
        if let (Some(total), Some(endpoint)) = (awaited, self.from) {
            self.await_bytes(nodes, (self.flow.from.host, endpoint), true, total);
        }
    }

    /// The timer of the far end has expired. Returns the endpoint that has to be drained.
    pub(crate) fn on_responder_timer(
        &mut self,
        nodes: &mut Nodes,
        network: &mut Network,
    ) -> Option<(usize, EndpointId)> {
        self.send_ready_responses(nodes, network);
        Some((self.flow.to.host, self.to?))
    }

    /// The first byte of a response has arrived, or its last one.
    pub(super) fn on_planned_response(&mut self, nodes: &mut Nodes, network: &mut Network, at: Arrival) {
        let now = network.now();
        let Some(script) = &mut self.script else { return };
        let Some(&exchange) = script.schedule.responding.front() else { return };
        let number = exchange as u64 + 1;
        if !script.has_begun {
            script.has_begun = true;
            script.log.on_first_byte(now);
            nodes.record_act(now, (at.node, at.endpoint), || Act::FirstByte { number });
            return self.await_response(nodes);
        }
        let bytes = script.schedule.sizes(exchange).response;
        script.has_begun = false;
        script.answered += bytes;
        script.schedule.complete();
        script.news.push(exchange);
        let is_last = script.schedule.is_complete();
        if let Some((duration, _)) = script.log.complete(now) {
            let act = Act::ExchangeCompleted { number, bytes, started_at: now - duration };
            nodes.record_act(now, (at.node, at.endpoint), || act);
        }
        if is_last {
            self.completed_at = Some(now);
            nodes.transport_mut(at.node).endpoint_mut(at.endpoint).finish();
        } else {
            self.await_response(nodes);
        }
    }
}

#[cfg(test)]
mod tests {
    use subflow_quantity::Duration;
    use subflow_scenario::Prerequisite;

    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// Three exchanges: the second and the third wait for the first; the far end has the third one earlier.
    fn page() -> Schedule {
        let after = |exchange| vec![Prerequisite { flow: "page".to_owned(), exchange }];
        let planned = |wait, after, pause| PlannedExchange {
            request: 100,
            response: 1000,
            wait: Duration::from_millis(wait),
            after,
            pause: Duration::from_millis(pause),
        };
        Schedule::new([planned(0, vec![], 5), planned(50, after(0), 0), planned(10, after(0), 2)].into(), at(100))
    }

    #[test]
    fn requests_go_when_what_they_wait_for_is_complete() {
        let mut page = page();
        assert_eq!((page.next_due(), page.request(at(104))), (Some(at(105)), None));
        assert_eq!(page.request(at(105)), Some(0));
        page.arrive(at(110));
        assert_eq!(page.respond(at(110)), Some((0, 0)));
        assert_eq!(page.complete(), Some(0));
        page.release(1, at(120));
        page.release(2, at(120));
        assert_eq!([page.request(at(120)), page.request(at(120)), page.request(at(122))], [Some(1), None, Some(2)]);
    }

    #[test]
    fn responses_go_in_the_order_in_which_the_far_end_has_them() {
        let mut page = page();
        for exchange in [1, 2] {
            page.release(exchange, at(0));
        }
        assert_eq!([page.request(at(200)), page.request(at(200)), page.request(at(200))], [Some(1), Some(2), Some(0)]);
        [0, 1, 2].iter().for_each(|_| page.arrive(at(210)));
        assert_eq!(page.next_ready(), Some(at(210)));
        assert_eq!(page.respond(at(210)), Some((0, 2)), "the last request needs no time");
        assert_eq!(page.respond(at(219)), None);
        assert_eq!([page.respond(at(260)), page.respond(at(260))], [Some((2, 1)), Some((1, 0))]);
        let completed: Vec<_> = (0..3).map(|_| page.complete()).collect();
        assert_eq!((completed, page.is_complete()), (vec![Some(0), Some(2), Some(1)], true));
    }
}
