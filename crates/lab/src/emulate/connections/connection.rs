//! A connection with the ends that were seen of it: its figures and its metrics over time.

use std::collections::BTreeMap;

use subflow_quantity::{Duration, Instant};
use subflow_scenario::Scenario;
use subflow_transport::tcp::Ends;

use super::super::sample::state_of;
use super::end::{End, Subflow};
use super::host_sockets::SocketEnds;
use crate::results::{ConnectionResult, FlowResult, Series, SubflowResult, goodput_mbps};
use crate::simulate::figures::{path_name, unique};
use crate::simulate::flow_series::FlowSeries;
use crate::simulate::object_series::Moment;

/// A connection.
pub(super) struct Connection {
    /// The ends in the order in which they were seen.
    pub(super) ends: Vec<End>,
    started: Instant,
    ended: Option<Instant>,
    series: Option<FlowSeries>,
    sampled: Instant,
}

/// The two directions of a connection: from the end that opened it, and to it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Sent,
    Received,
}

impl Connection {
    /// One with the end that was seen first, which began at `started`.
    pub(super) fn new(end: End, started: Instant, with_series: bool) -> Self {
        let series = with_series.then(|| FlowSeries::new(""));
        Self { ends: vec![end], started, ended: None, series, sampled: started }
    }

    /// Notes when all of its sockets have ended.
    pub(super) fn note_end(&mut self, now: Instant) {
        match self.ends.iter().any(End::is_open) {
            true => self.ended = None,
            false => self.ended = self.ended.or(Some(now)),
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended.is_some()
    }

    /// Whether an end of it has completed the handshake.
    pub(super) fn was_established(&self) -> bool {
        self.ends.iter().any(End::was_established)
    }

    fn was_listed(&self) -> bool {
        self.ends.iter().flat_map(|end| &end.subflows).any(|subflow| subflow.was_listed)
    }

    /// The end that opened it, and the other one. Of two that are not known the first one seen has opened it.
    fn opened_and_accepted(&self) -> [Option<usize>; 2] {
        match self.ends.as_slice() {
            [only] if only.listened => [None, Some(0)],
            [_] => [Some(0), None],
            [first, second] if first.listened && !second.listened => [Some(1), Some(0)],
            _ => [Some(0), Some(1)],
        }
    }

    /// The end that sends in this direction, and the one that receives.
    fn sender_and_receiver(&self, direction: Direction) -> [Option<&End>; 2] {
        let [opened, accepted] = self.opened_and_accepted().map(|end| end.map(|end| &self.ends[end]));
        if direction == Direction::Sent { [opened, accepted] } else { [accepted, opened] }
    }

    /// What subflows have delivered in a direction, by their ends as the sender has them: bytes so far, and those before
    /// measuring began.
    fn delivered_by_subflow(&self, direction: Direction) -> Vec<(SocketEnds, [u64; 2])> {
        let of_receiver = |subflow: &Subflow, sender: Option<&End>| {
            let [local, remote] = subflow.ends();
            let sent =
                sender.and_then(|sender| sender.facing([local, remote])).map(|facing| facing.socket.payload_sent);
            // The kernel counts a FIN as a byte received.
            let received = subflow.socket.info.bytes_received.min(sent.unwrap_or(u64::MAX));
            ([remote, local], [received, subflow.before.min(received)])
        };
        match self.sender_and_receiver(direction) {
            [sender, Some(receiver)] => receiver.subflows.iter().map(|subflow| of_receiver(subflow, sender)).collect(),
            [Some(sender), None] => {
                let acknowledged = |subflow: &Subflow| {
                    // The kernel counts SYN and FIN as bytes acknowledged.
                    let info = &subflow.socket.info;
                    (subflow.ends(), [info.bytes_acknowledged.min(subflow.socket.payload_sent), 0])
                };
                sender.subflows.iter().map(acknowledged).collect()
            }
            [None, None] => Vec::new(),
        }
    }

    /// The subflows of a direction in the order of the sender's, if that was seen: ends, bytes as in
    /// [`delivered_by_subflow`](Self::delivered_by_subflow), and the sender's socket.
    fn subflows(&self, direction: Direction) -> Vec<(SocketEnds, [u64; 2], Option<&Subflow>)> {
        let delivered = self.delivered_by_subflow(direction);
        let Some(sender) = self.sender_and_receiver(direction)[0] else {
            return delivered.into_iter().map(|(ends, bytes)| (ends, bytes, None)).collect();
        };
        let bytes_on = |ends| delivered.iter().find(|(known, _)| *known == ends).map_or([0; 2], |(_, bytes)| *bytes);
        sender.subflows.iter().map(|subflow| (subflow.ends(), bytes_on(subflow.ends()), Some(subflow))).collect()
    }

    /// Bytes that a direction has delivered once, and those of them before measuring began.
    fn delivered(&self, direction: Direction) -> [u64; 2] {
        let [sender, receiver] = self.sender_and_receiver(direction);
        // Data beyond a missing piece counts as surplus, too, until that has arrived.
        let repeated = sender.filter(|end| end.mptcp.is_some()).map_or(u64::MAX, |end| end.reinjected_bytes);
        let duplicates = receiver.map_or(0, End::surplus).min(repeated);
        let subflows = self.delivered_by_subflow(direction);
        let sum = |index: usize| subflows.iter().map(|(_, bytes)| bytes[index]).sum::<u64>();
        let all = sum(0).saturating_sub(duplicates);
        [all, sum(1).min(all)]
    }

    /// The direction with more data.
    fn main_direction(&self) -> Direction {
        let of = |direction| self.delivered(direction)[0];
        if of(Direction::Received) > of(Direction::Sent) { Direction::Received } else { Direction::Sent }
    }

    /// Samples the metrics over time, if that is due.
    pub(super) fn sample(&mut self, now: Instant, interval: Duration) {
        if self.series.is_none() || now.since(self.sampled) < interval {
            return;
        }
        let at = Moment { now, now_s: now.as_secs_f64(), span: now.since(self.sampled), interval };
        self.sampled = now;
        let direction = self.main_direction();
        let [total, _] = self.delivered(direction);
        let delivered: BTreeMap<SocketEnds, u64> =
            self.delivered_by_subflow(direction).into_iter().map(|(ends, [bytes, _])| (ends, bytes)).collect();
        let sender = self.sender_and_receiver(direction)[0];
        let paths = |end: &End| {
            let open = end.subflows.iter().enumerate().filter(|(_, subflow)| subflow.is_open);
            let state = |(number, subflow): (usize, &Subflow)| {
                let [local, remote] = subflow.ends();
                (subflow.ends(), state_of(number, Ends { local, remote }, &subflow.socket.info))
            };
            open.map(state).collect::<Vec<_>>()
        };
        let (paths, is_multipath) =
            (sender.map(paths).unwrap_or_default(), sender.is_some_and(|end| end.mptcp.is_some()));
        let Some(series) = &mut self.series else { return };
        series.push_delivered(total, at);
        for (ends, state) in paths {
            match is_multipath {
                true => series.push_subflow(delivered.get(&ends).copied().unwrap_or(0), &state, at),
                false => series.push_own_path(&state, at),
            }
        }
    }

    pub(super) fn begin_measuring(&mut self) {
        self.ends.iter_mut().for_each(End::begin_measuring);
    }

    /// Who has its ends: the one that opened it, and the other one.
    pub(super) fn owners(&self) -> [Option<&str>; 2] {
        self.opened_and_accepted().map(|end| end.and_then(|end| self.ends[end].owner.as_deref()))
    }

    /// What connections like this one are called before their number: the program that opened it, or else the one that
    /// accepted it, or else the host of the first end.
    pub(super) fn label<'a>(&'a self, scenario: &'a Scenario) -> &'a str {
        let owned = |end: Option<usize>| end.map(|end| &self.ends[end]).filter(|end| end.owner.is_some());
        let [opened, accepted] = self.opened_and_accepted().map(owned);
        let of_program = [opened, accepted].into_iter().flatten().find(|end| end.is_program);
        let owner = of_program.or(opened).or(accepted).and_then(|end| end.owner.as_deref());
        owner.unwrap_or_else(|| &scenario.hosts[self.ends[0].host].name)
    }

    /// Its figures as a connection.
    pub(super) fn result(&mut self, name: String) -> ConnectionResult {
        let [program, peer] = self.owners().map(|owner| owner.map(str::to_owned));
        let [opened, accepted] = self.opened_and_accepted();
        let ends = |end: Option<usize>| end.and_then(|end| self.ends[end].first_ends());
        let [local, remote] = ends(opened)
            .or_else(|| ends(accepted).map(|[local, remote]| [remote, local]))
            .map(|ends| ends.map(|end| end.to_string()))
            .unwrap_or_default();
        let [bytes_sent, bytes_received] =
            [Direction::Sent, Direction::Received].map(|direction| self.delivered(direction)[0]);
        let subflows = self.ends.iter().flat_map(|end| &end.subflows);
        let sender = match (self.main_direction(), [opened, accepted]) {
            (Direction::Sent, [sender, _]) | (Direction::Received, [_, sender]) => sender,
        };
        let retransmissions = subflows.map(|subflow| subflow.socket.info.retransmissions).sum();
        ConnectionResult {
            name,
            program,
            peer,
            protocol: self.protocol().to_owned(),
            local,
            remote,
            start_s: self.started.as_secs_f64(),
            end_s: self.ended.map(Instant::as_secs_f64),
            bytes_sent,
            bytes_received,
            retransmissions,
            was_listed: self.was_listed(),
            shared_bottlenecks: sender.map(|sender| self.ends[sender].shared_bottlenecks()).unwrap_or_default(),
        }
    }

    fn protocol(&self) -> &'static str {
        if self.ends.iter().any(|end| end.mptcp.is_some()) { "mptcp" } else { "tcp" }
    }

    /// Its figures as a flow in the direction with more data, which is measured from `measure_from` on.
    pub(super) fn flow(
        &mut self,
        connection: &ConnectionResult,
        scenario: &Scenario,
        measure_from: Instant,
        now: Instant,
    ) -> FlowResult {
        let direction = self.main_direction();
        let [sender, receiver] = self.sender_and_receiver(direction);
        let last = receiver.into_iter().flat_map(|end| &end.subflows).filter_map(|subflow| subflow.data_at).max();
        let from = self.started.max(measure_from);
        let until = last.unwrap_or_else(|| self.ended.unwrap_or(now)).max(from);
        let span = until.since(from);
        let [bytes_delivered, before] = self.delivered(direction);
        let is_mptcp = connection.protocol == "mptcp";
        let mut flow = FlowResult {
            name: connection.name.clone(),
            protocol: connection.protocol.clone(),
            congestion: sender.and_then(congestion_of),
            scheduler: is_mptcp.then(|| "linux-default".to_owned()),
            goodput_mbps: goodput_mbps(bytes_delivered - before, span),
            bytes_delivered,
            completion_s: self.ended.and(last).map(|last| last.since(self.started).as_secs_f64()),
            reinjected_bytes: sender.map_or(0, |end| end.reinjected_bytes),
            fallback: self.ends.iter().filter_map(|end| end.mptcp.as_ref()).any(|whole| whole.fallback),
            connection: Some(Box::new(connection.clone())),
            ..FlowResult::default()
        };
        let mut names = BTreeMap::new();
        for (ends, [bytes, before], sending) in self.subflows(direction) {
            let named = path_name(scenario.hosts.iter(), [Ends { local: ends[0], remote: ends[1] }]);
            let mut subflow = SubflowResult {
                name: unique(&mut names, named),
                goodput_mbps: goodput_mbps(bytes - before, span),
                ..SubflowResult::default()
            };
            if let Some(Subflow { socket, .. }) = sending {
                let info = &socket.info;
                flow.retransmissions += info.retransmissions;
                flow.timeouts += info.timeouts;
                subflow.packets_sent = info.segments_sent;
                subflow.retransmissions = info.retransmissions;
                subflow.srtt_ms = (!info.srtt.is_zero()).then(|| info.srtt.as_secs_f64() * 1e3);
                subflow.cwnd_packets = Some(info.cwnd.into());
            }
            flow.subflows.push(subflow);
        }
        flow
    }

    /// Its metrics over time so far, as those of the flow `name`.
    pub(super) fn series(&self, name: &str) -> Vec<Series> {
        let objects = self.series.clone().into_iter().flat_map(FlowSeries::into_objects);
        let mut series: Vec<Series> = objects.flat_map(|object| object.into_series()).collect();
        series.iter_mut().for_each(|series| series.of.insert_str(0, name));
        series
    }
}

/// The congestion control of an end, which all of its subflows have.
fn congestion_of(end: &End) -> Option<String> {
    end.subflows.iter().map(|subflow| &subflow.congestion).find(|name| !name.is_empty()).cloned()
}
