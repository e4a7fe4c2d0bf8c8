//! The figures of a flow, computed from those of its ends, which may be of any stack.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use subflow_quantity::{Duration, Instant};
use subflow_scenario::{Flow, Host, Scenario, Traffic};
use subflow_transport::mptcp::SubflowTotals;
use subflow_transport::tcp::{Closed, Ends};
use subflow_transport::{Figures, RetransmissionsByReason};

use super::application::{ExchangeLog, Player};
use super::flow_data::FlowDelays;
use crate::results::{Abandoned, Datagrams, FlowResult, GroupMember, Retransmitted, SubflowResult, goodput_mbps};

/// The name of the row for all subflows that are not listed. No subflow has this name: those of subflows contain a
/// hyphen.
const OTHER_SUBFLOWS: &str = "others";

/// Delivered bytes by subflow, with its ends as seen by the sender: the bytes that the receiver counted, or the
/// acknowledged ones if it does not count them.
pub(crate) fn delivered_by_subflow(sender: Option<&Figures>, receiver: Option<&Figures>) -> BTreeMap<Ends, u64> {
    let subflows = |end: Option<&Figures>| end.map_or_else(Vec::new, |end| end.paths.clone());
    let received = subflows(receiver).into_iter().map(|subflow| (subflow.ends.reversed(), subflow.bytes_received));
    let acknowledged = subflows(sender).into_iter().filter_map(|s| Some((s.ends, s.bytes_acknowledged?)));
    received.chain(acknowledged).collect()
}

/// Delivered bytes of all subflows as in [`delivered_by_subflow`], including those that are not listed.
fn delivered_by_all(by_subflow: &BTreeMap<Ends, u64>, receiver: Option<&Figures>) -> u64 {
    by_subflow.values().sum::<u64>() + receiver.map_or(0, |receiver| receiver.others.bytes_received)
}

/// The name in results for how a connection ended.
pub(crate) fn end_name(closed: Closed) -> &'static str {
    match closed {
        Closed::Gracefully => "gracefully",
        Closed::Reset => "reset",
        Closed::Refused => "refused",
        Closed::TimedOut => "timed-out",
        Closed::Aborted => "aborted",
    }
}

/// The data of a flow delivered before measuring began.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowBaseline {
    delivered: u64,
    /// Data bytes by subflow.
    subflows: BTreeMap<Ends, u64>,
    /// Data bytes of all subflows.
    all_subflows: u64,
}

impl FlowBaseline {
    /// From the current state of the ends.
    pub(crate) fn of(sender: Option<&Figures>, receiver: Option<&Figures>) -> Self {
        let subflows = delivered_by_subflow(sender, receiver);
        Self {
            delivered: receiver.map_or(0, |receiver| receiver.delivered),
            all_subflows: delivered_by_all(&subflows, receiver),
            subflows,
        }
    }

    /// The same with other ends of subflows.
    #[cfg(all(target_os = "linux", feature = "linux"))]
    pub(crate) fn with_ends(self, of: impl Fn(Ends) -> Ends) -> Self {
        let subflows = self.subflows.into_iter().map(|(ends, bytes)| (of(ends), bytes)).collect();
        Self { subflows, ..self }
    }
}

/// A flow after its run.
pub(crate) struct MeasuredFlow<'a> {
    pub(crate) flow: &'a Flow,
    /// The end that sends the data.
    pub(crate) sender: Option<Figures>,
    /// The end that receives the data.
    pub(crate) receiver: Option<Figures>,
    /// The time at which the receiver had read the last byte.
    pub(crate) completed_at: Option<Instant>,
    /// Its exchanges, if it has any.
    pub(crate) exchanges: Option<&'a ExchangeLog>,
    /// Its player, if it streams.
    pub(crate) player: Option<&'a Player>,
    /// Delays of its data, if they were recorded.
    pub(crate) delays: Option<&'a FlowDelays>,
}

impl MeasuredFlow<'_> {
    /// Its figures for a run that ended at `end`.
    pub(crate) fn result(&self, scenario: &Scenario, baseline: &FlowBaseline, end: Instant) -> FlowResult {
        let flow = self.flow;
        let started = Instant::ZERO + flow.sends_from();
        let from = started.max(Instant::ZERO + scenario.measure_from);
        let stopped = flow.stop.map_or(end, |stop| Instant::ZERO + stop).min(end);
        let span = self.completed_at.unwrap_or(stopped).since(from);
        let delivered = self.receiver.as_ref().map_or(0, |receiver| receiver.delivered);
        let [delay, reassembly_delay] = self.delays.map_or([None, None], FlowDelays::of_flow);
        let mut result = FlowResult {
            name: flow.name.clone(),
            group: group_member(flow),
            goodput_mbps: goodput_mbps(delivered - baseline.delivered, span),
            bytes_delivered: delivered,
            completion_s: self.completed_at.map(|at| at.since(started).as_secs_f64()),
            exchanges: self.exchanges.map(|log| log.figures(flow.deadline(), end)),
            video: self.player.map(|player| player.result(end)),
            delay,
            reassembly_delay,
            ..protocol_fields(flow)
        };
        if let Some(sender) = &self.sender {
            result.ended = sender.ended.map(end_name);
            result.reinjected_bytes = sender.reinjected_bytes;
            result.fallback = sender.fallback;
            let abandoned = sender.abandoned.filter(|_| flow.may_give_up());
            result.abandoned =
                abandoned.map(|given_up| Abandoned { messages: given_up.messages, bytes: given_up.bytes });
            self.add_subflows(&mut result, scenario, sender, baseline, span);
        }
        let datagrams = |end: &Option<Figures>| end.as_ref().and_then(|end| end.datagrams);
        if let (Some([sent, _]), Some([_, received])) = (datagrams(&self.sender), datagrams(&self.receiver)) {
            result.datagrams = Some(Datagrams { sent, received });
        }
        result
    }

    fn add_subflows(
        &self,
        result: &mut FlowResult,
        scenario: &Scenario,
        sender: &Figures,
        baseline: &FlowBaseline,
        span: Duration,
    ) {
        let mut names = BTreeMap::new();
        let reopened = reopened(sender, self.receiver.as_ref());
        let delivered = delivered_by_subflow(Some(sender), self.receiver.as_ref());
        let mut unlisted_bytes =
            delivered_by_all(&delivered, self.receiver.as_ref()).saturating_sub(baseline.all_subflows);
        for subflow in &sender.paths {
            result.retransmissions += subflow.retransmissions;
            result.timeouts += subflow.timeouts;
            result.duplicate_acks += subflow.duplicate_acks;
            let retransmitted = subflow.retransmitted.map(by_reason);
            if let Some(retransmitted) = retransmitted {
                *result.retransmitted.get_or_insert_default() += retransmitted;
            }
            let before = baseline.subflows.get(&subflow.ends).copied().unwrap_or(0);
            let bytes = delivered.get(&subflow.ends).copied().unwrap_or(0).saturating_sub(before);
            unlisted_bytes = unlisted_bytes.saturating_sub(bytes);
            let [one_way_delay, rtt] = self.delays.map_or([None, None], |delays| delays.of_subflow(subflow.all_ends()));
            result.subflows.push(SubflowResult {
                name: unique(&mut names, path_name(hosts_of(scenario, self.flow), subflow.all_ends())),
                opened_again: reopened.contains(&subflow.ends),
                goodput_mbps: goodput_mbps(bytes, span),
                packets_sent: subflow.packets_sent,
                retransmissions: subflow.retransmissions,
                copies: subflow.copies,
                retransmitted,
                srtt_ms: subflow.srtt.map(|srtt| srtt.as_secs_f64() * 1e3),
                cwnd_packets: Some(subflow.cwnd),
                one_way_delay,
                rtt,
            });
        }
        if sender.others.subflows > 0 {
            add_others(result, &sender.others, goodput_mbps(unlisted_bytes, span));
        }
    }
}

/// The subflows that were opened in place of one that had ended, by their ends as seen by the sender. The end that opened
/// them may have known alone that the former one had ended.
fn reopened(sender: &Figures, receiver: Option<&Figures>) -> BTreeSet<Ends> {
    let of = |end: &Figures| end.paths.iter().filter(|path| path.reopens).map(|path| path.ends).collect::<Vec<_>>();
    let theirs = receiver.map(of).unwrap_or_default().into_iter().map(Ends::reversed);
    of(sender).into_iter().chain(theirs).collect()
}

/// One row for all subflows that are not listed.
fn add_others(result: &mut FlowResult, others: &SubflowTotals, goodput_mbps: f64) {
    result.retransmissions += others.counters.retransmissions;
    result.timeouts += others.counters.timeouts;
    result.duplicate_acks += others.counters.duplicate_acks;
    result.unlisted_subflows = others.subflows;
    result.subflows.push(SubflowResult {
        name: OTHER_SUBFLOWS.to_owned(),
        goodput_mbps,
        packets_sent: others.counters.segments_sent,
        retransmissions: others.counters.retransmissions,
        copies: others.copies,
        ..SubflowResult::default()
    });
}

fn group_member(flow: &Flow) -> Option<GroupMember> {
    let send_bytes = match flow.traffic {
        Traffic::Bulk { bytes } => bytes,
        _ => None,
    };
    flow.group.clone().map(|name| GroupMember { name, start_s: flow.start.as_secs_f64(), send_bytes })
}

fn protocol_fields(flow: &Flow) -> FlowResult {
    let protocol = &flow.protocol;
    FlowResult {
        protocol: protocol.name().into(),
        congestion: flow.congestion().map(|congestion| congestion.name().into()),
        scheduler: protocol.scheduler().map(|scheduler| scheduler.name().into()),
        path_manager: protocol.path_manager().map(|path_manager| path_manager.name().into()),
        ..FlowResult::default()
    }
}

fn by_reason(reasons: RetransmissionsByReason) -> Retransmitted {
    let RetransmissionsByReason { fast, timeout, timeouts, fast_recoveries, fast_retransmits } = reasons;
    Retransmitted { fast, timeout, timeouts, fast_recoveries, fast_retransmits }
}

/// The name, with a number if it was given before.
pub(crate) fn unique(names: &mut BTreeMap<String, u32>, name: String) -> String {
    let count = names.entry(name.clone()).or_insert(0);
    *count += 1;
    if *count == 1 { name } else { format!("{name}#{count}") }
}

/// The hosts at the ends of `flow`.
fn hosts_of<'a>(scenario: &'a Scenario, flow: &Flow) -> impl Iterator<Item = &'a Host> + Clone {
    [flow.from.host, flow.to.host].map(|host| &scenario.hosts[host]).into_iter()
}

/// `host.interface-host.interface` of a path between some of `hosts` whose packets had these ends, with the family if an
/// interface has both. Of ends that differ in the local address, `host.interface` of each, with `+` between them.
pub(crate) fn path_name<'a>(
    hosts: impl Iterator<Item = &'a Host> + Clone,
    ends: impl IntoIterator<Item = Ends>,
) -> String {
    let place_of = |address: IpAddr| {
        let place = hosts.clone().find_map(|host| Some((host, &host.interfaces[host.interface_with(address)?])));
        place.map_or_else(
            || (format!("{address}"), ""),
            |(host, interface)| (format!("{}.{}", host.name, interface.name), interface.family_of(address)),
        )
    };
    let (mut locals, mut to) = (Vec::new(), (String::new(), ""));
    for ends in ends {
        let (local, family) = place_of(ends.local.ip());
        let (remote, other) = place_of(ends.remote.ip());
        locals.push(local);
        to = (remote, if family.is_empty() { other } else { family });
    }
    format!("{}-{}{}", locals.join("+"), to.0, to.1)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use subflow_scenario::Scenario;
    use subflow_scenario::file::Document;

    use crate::simulate::{RunOptions, simulate};

    #[test]
    fn subflows_of_both_families_between_the_same_interfaces_are_told_apart() {
        let text = "duration = \"1 s\"\n[hosts]\n\
                    phone = [{ name = \"wifi\", address = [\"10.1.0.1\", \"2001:db8:1::1\"] }, \"lte\"]\n\
                    server = [{ name = \"eth\", address = [\"10.2.0.1\", \"2001:db8:2::1\"] }]\n[routers]\nr = {}\n\
                    [links.a]\nbetween = [\"phone.wifi\", \"r\"]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n\
                    [links.b]\nbetween = [\"phone.lte\", \"r\"]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n\
                    [links.c]\nbetween = [\"r\", \"server.eth\"]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n\
                    [flows.file]\nfrom = \"phone\"\nto = \"server\"\nprotocol = \"mptcp\"\nsend = \"500 kB\"\n\
                    path_manager = \"full-mesh\"\n";
        let document = Document::parse(Path::new("dual.toml"), text.to_owned()).expect("TOML");
        let scenario = Scenario::read(&document).unwrap_or_else(|problems| panic!("{problems:?}"));
        let result = simulate(&scenario, 1, &RunOptions::default()).expect("it runs");
        let mut names: Vec<&str> = result.flows[0].subflows.iter().map(|subflow| subflow.name.as_str()).collect();
        names.sort_unstable();
        let expected = ["phone.lte-server.eth IPv4", "phone.wifi-server.eth IPv4", "phone.wifi-server.eth IPv6"];
        assert_eq!(names, expected);
    }
}
