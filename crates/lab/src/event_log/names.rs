//! The names of hosts, flows and subflows as JSON text. Subflows have the names that they have in results.

use std::collections::BTreeMap;
use std::net::IpAddr;

use subflow_scenario::Scenario;
use subflow_transport::tcp::Ends;

use super::line::Rtts;

/// The names of a scenario.
pub(super) struct Names {
    pub(super) flows: Vec<FlowNames>,
    /// Names of interfaces, and what the names of subflows end with.
    interfaces: BTreeMap<IpAddr, (String, &'static str)>,
}

/// The names of a flow and of its subflows.
pub(super) struct FlowNames {
    /// The host that sends the data: names of subflows begin with its end.
    sender: usize,
    /// The hosts at its ends, with what stands in front of the data of their events.
    hosts: [(usize, String); 2],
    /// By the sender's ends, in the order in which they were seen first.
    subflows: Vec<(Ends, SubflowNames)>,
    /// How many subflows have a name without its number.
    alike: BTreeMap<String, u32>,
    /// The subflow that was looked up last.
    latest: usize,
}

/// A subflow.
pub(super) struct SubflowNames {
    /// What stands in front of the window in what a scheduler saw of it.
    pub(super) before_view: String,
    /// Its RTTs in what a scheduler saw last.
    pub(super) rtts: Rtts,
    /// For the host at each end, what stands in front of the data of its events there.
    at_hosts: [String; 2],
}

impl Names {
    pub(super) fn of(scenario: &Scenario) -> Self {
        let interfaces = scenario.hosts.iter().flat_map(|host| {
            host.interfaces.iter().flat_map(|interface| {
                let name = format!("{}.{}", host.name, interface.name);
                let named = move |&address| (address, (name.clone(), interface.family_of(address)));
                interface.addresses.iter().map(named)
            })
        });
        let flow = |flow: &subflow_scenario::Flow| FlowNames {
            sender: flow.data_sender(),
            hosts: [flow.from.host, flow.to.host].map(|host| {
                let name = quoted(&scenario.hosts[host].name);
                (host, format!(",\"group_id\":{},\"data\":{{\"host\":{name}", quoted(&flow.name)))
            }),
            subflows: Vec::new(),
            alike: BTreeMap::new(),
            latest: 0,
        };
        Self { flows: scenario.flows.iter().map(flow).collect(), interfaces: interfaces.collect() }
    }

    /// The number of the subflow of `flow` that `host` sees with these ends.
    pub(super) fn subflow(&mut self, flow: usize, host: usize, ends: Ends) -> usize {
        let names = &mut self.flows[flow];
        let ends = if host == names.sender { ends } else { ends.reversed() };
        // The same subflow as before, or the next one of a list.
        let next = if names.latest + 1 < names.subflows.len() { names.latest + 1 } else { 0 };
        for likely in [names.latest, next] {
            if names.subflows.get(likely).is_some_and(|(known, _)| *known == ends) {
                names.latest = likely;
                return likely;
            }
        }
        let known = names.subflows.iter().position(|(known, _)| *known == ends);
        names.latest = known.unwrap_or_else(|| {
            let of =
                |address: IpAddr| self.interfaces.get(&address).cloned().unwrap_or_else(|| (address.to_string(), ""));
            let [(local, family), (remote, other)] = [of(ends.local.ip()), of(ends.remote.ip())];
            let name = format!("{local}-{remote}{}", if family.is_empty() { other } else { family });
            let count = names.alike.entry(name.clone()).or_insert(0);
            *count += 1;
            let name = quoted(&if *count == 1 { name } else { format!("{name}#{count}") });
            let at_hosts = names.hosts.each_ref().map(|(_, before)| format!("{before},\"subflow\":{name}"));
            let before_view = format!("{{\"subflow\":{name},\"cwnd\":");
            names.subflows.push((ends, SubflowNames { before_view, rtts: Rtts::default(), at_hosts }));
            names.subflows.len() - 1
        });
        names.latest
    }
}

impl FlowNames {
    /// A subflow, by the number that [`Names::subflow`] returned.
    pub(super) fn subflow_mut(&mut self, number: usize) -> &mut SubflowNames {
        &mut self.subflows[number].1
    }

    /// The index of the end that is at `host`.
    #[inline]
    pub(super) fn end(&self, host: usize) -> usize {
        usize::from(host != self.hosts[0].0)
    }

    /// What stands in front of the data of an event at `host`, on a subflow if it is on one.
    pub(super) fn before_data(&self, host: usize, subflow: Option<usize>) -> &str {
        let end = self.end(host);
        subflow.map_or(&self.hosts[end].1, |number| &self.subflows[number].1.at_hosts[end])
    }
}

/// Text as JSON.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
