//! Streams of QUIC: exchanges that have one each, and data that is divided over several. Each stream is read at once, in its
//! own order. The main stream of the connection carries nothing but the end of the flow.

use std::collections::VecDeque;
use std::sync::Arc;

use subflow_network::Network;
use subflow_quantity::Duration;
use subflow_scenario::{Exchange, PlannedStream, Traffic};
use subflow_transport::EndpointId;
use subflow_transport::quic::Priority;

use super::exchange_log::ExchangeLog;
use super::{Application, Arrival};
use crate::event_log::Act;
use crate::simulate::nodes::Nodes;

/// The streams of a flow at both of its ends.
pub(super) struct StreamPlan {
    /// Those that are not written yet, in the order of their times.
    due: VecDeque<PlannedStream>,
    count: u64,
    /// Whether the connection is established.
    pub(super) is_established: bool,
    /// Each stream as an exchange without a request.
    pub(super) log: ExchangeLog,
}

/// What an endpoint says of a stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Announced {
    pub(super) number: u64,
    pub(super) is_complete: bool,
}

impl StreamPlan {
    /// Before the first stream is written.
    pub(super) fn new(planned: &Arc<[PlannedStream]>) -> Self {
        let mut due: Vec<_> = planned.to_vec();
        due.sort_by_key(|stream| stream.at);
        Self { count: due.len() as u64, due: due.into(), is_established: false, log: ExchangeLog::default() }
    }

    /// The next stream that is to be written so long after the flow has begun to send.
    fn take_due(&mut self, since: Duration) -> Option<PlannedStream> {
        self.due.front().filter(|next| next.at <= since)?;
        self.due.pop_front()
    }
}

/// Opens a stream, and writes and ends it.
pub(super) fn write_on_new_stream(
    nodes: &mut Nodes,
    (node, endpoint): (usize, EndpointId),
    bytes: u64,
    priority: Priority,
) {
    let socket = nodes.transport_mut(node).endpoint_mut(endpoint);
    if let Some(number) = socket.open_stream(priority) {
        socket.write_on_stream(number, bytes, priority);
    }
}

impl Application {
    /// Writes the streams that are due, once there is a connection.
    pub(super) fn write_due_streams(&mut self, nodes: &mut Nodes, network: &mut Network) {
        let (now, node, begin) = (network.now(), self.flow.from.host, self.sends_from());
        let (Some(endpoint), Some(streams)) = (self.from, &mut self.streams) else { return };
        if !streams.is_established {
            return;
        }
        while now >= begin
            && let Some(stream) = streams.take_due(now - begin)
        {
            streams.log.ask(now, Exchange { request: 0, response: stream.bytes });
            let number = streams.log.asked();
            write_on_new_stream(nodes, (node, endpoint), stream.bytes, stream.priority);
            nodes.record_act(now, (node, endpoint), || Act::StreamWritten { number, bytes: stream.bytes });
        }
        match streams.due.front() {
            Some(next) => {
                let at = begin + next.at;
                self.sleep_until(network, Some(at));
            }
            None => nodes.transport_mut(node).endpoint_mut(endpoint).finish(),
        }
    }

    /// The first byte of a stream has arrived at an end, or all of it.
    pub(super) fn on_stream(&mut self, nodes: &mut Nodes, network: &mut Network, at: Arrival, announced: Announced) {
        match self.flow.traffic {
            Traffic::Streams(_) if !at.connecting => self.on_data_of_stream(nodes, network, at, announced),
            Traffic::RequestResponse { streams: Some(_), .. } if at.connecting => {
                self.on_response_of_stream(nodes, network, at, announced);
            }
            Traffic::RequestResponse { streams: Some(priority), .. } if announced.is_complete => {
                let Some(requests) = &mut self.requests else { return };
                let bytes = requests.sizes_of(announced.number).response;
                let socket = nodes.transport_mut(at.node).endpoint_mut(at.endpoint);
                socket.write_on_stream(announced.number, bytes, priority);
            }
            _ => {}
        }
    }

    fn on_data_of_stream(&mut self, nodes: &mut Nodes, network: &mut Network, at: Arrival, announced: Announced) {
        let now = network.now();
        let Some(streams) = &mut self.streams else { return };
        let Announced { number, is_complete } = announced;
        if !is_complete {
            streams.log.on_first_byte_of(number, now);
            return nodes.record_act(now, (at.node, at.endpoint), || Act::FirstByte { number });
        }
        // The far end sends nothing on it.
        nodes.transport_mut(at.node).endpoint_mut(at.endpoint).write_on_stream(number, 0, Priority::default());
        let Some((sizes, (duration, _))) = streams.log.complete_number(number, now) else { return };
        let act = Act::ExchangeCompleted { number, bytes: sizes.response, started_at: now - duration };
        if streams.log.completed() == streams.count {
            self.completed_at = Some(now);
        }
        nodes.record_act(now, (at.node, at.endpoint), || act);
    }

    fn on_response_of_stream(&mut self, nodes: &mut Nodes, network: &mut Network, at: Arrival, announced: Announced) {
        let now = network.now();
        let Some(requests) = &mut self.requests else { return };
        let Announced { number, is_complete } = announced;
        if !is_complete {
            requests.log.on_first_byte_of(number, now);
            return nodes.record_act(now, (at.node, at.endpoint), || Act::FirstByte { number });
        }
        let Some((sizes, (duration, next_asked_at))) = requests.log.complete_number(number, now) else { return };
        if let Some(clock) = &requests.clock {
            clock.answer(duration);
            next_asked_at.into_iter().for_each(|asked_at| clock.ask(asked_at));
        }
        let completed = requests.log.completed();
        let act = Act::ExchangeCompleted { number, bytes: sizes.response, started_at: now - duration };
        nodes.record_act(now, (at.node, at.endpoint), || act);
        self.go_on(nodes, network, at, (completed, false));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_written_at_their_times() {
        let planned = |bytes, ms| PlannedStream { bytes, at: Duration::from_millis(ms), priority: Priority::default() };
        let mut plan = StreamPlan::new(&[planned(1, 20), planned(2, 0), planned(3, 20)].into());
        let mut due = |ms| {
            let taken = core::iter::from_fn(|| plan.take_due(Duration::from_millis(ms)));
            taken.map(|stream| stream.bytes).collect::<Vec<_>>()
        };
        assert_eq!([due(0), due(19), due(20)], [vec![2], vec![], vec![1, 3]]);
    }
}
