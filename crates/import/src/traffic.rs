//! What an imported network carries: the demands of the file, or one connection.

use subflow_quantity::Rate;
use subflow_scenario::builder::{FlowBuilder, LinkBuilder};

use crate::names::Names;
use crate::network::counted;
use crate::scenario::{Writer, scaled};
use crate::{ImportError, distance};

impl Writer<'_> {
    /// Adds the demands of the file as flows; where there are none, one connection.
    pub(crate) fn with_traffic(mut self) -> Result<Self, ImportError> {
        if self.choices.demands && self.choices.between.is_none() && !self.network.demands.is_empty() {
            return self.with_demands();
        }
        if !self.network.demands.is_empty() {
            self.notes.push(format!("{}: left out", counted(self.network.demands.len(), "demand")));
        }
        self.with_connection()
    }

    /// UDP at the rate of each demand, between hosts at its nodes.
    fn with_demands(mut self) -> Result<Self, ImportError> {
        let mut hosts: Vec<Option<String>> = vec![None; self.nodes.len()];
        let (mut flows, mut total) = (Names::default(), 0.0);
        let reachable: Vec<_> =
            self.network.demands.iter().filter(|demand| distance::is_connected(self.network, demand.ends)).collect();
        for demand in &reachable {
            for end in demand.ends.into_iter().filter(|end| !self.network.nodes[*end].is_host) {
                if hosts[end].is_none() {
                    let host;
                    (self, host) = self.with_host_at(end);
                    hosts[end] = Some(host);
                }
            }
            let [from, to] = demand.ends.map(|end| hosts[end].as_ref().unwrap_or(&self.nodes[end]));
            let rate = scaled(demand.rate, self.choices.scale);
            total += rate.as_mbit();
            let name = flows.of_link(&self.nodes[demand.ends[0]], &self.nodes[demand.ends[1]]);
            self.builder = self.builder.flow(&name, FlowBuilder::udp(from, to, rate));
        }
        let unreachable = self.network.demands.len() - reachable.len();
        if unreachable > 0 {
            self.notes.push(format!("{} between nodes without a path: left out", counted(unreachable, "demand")));
        }
        if reachable.is_empty() {
            return self.with_connection();
        }
        let all = counted(reachable.len(), "demand");
        self.notes.push(format!("{all} as UDP, {total:.0} Mbit/s together; --scale makes all rates smaller"));
        Ok(self)
    }

    /// A connection between two nodes: MPTCP where a host has several interfaces, else TCP.
    fn with_connection(mut self) -> Result<Self, ImportError> {
        let ends = self.ends()?;
        let mut names = Vec::new();
        for end in ends {
            let name = match self.network.nodes[end].is_host {
                true => self.nodes[end].clone(),
                false => {
                    let name;
                    (self, name) = self.with_host_at(end);
                    name
                }
            };
            names.push(name);
        }
        let is_multihomed = ends.iter().any(|end| {
            let links = self.network.links.iter().filter(|link| link.ends.contains(end)).count();
            self.network.nodes[*end].is_host && links > 1
        });
        let (protocol, flow) = match is_multihomed {
            true => ("an MPTCP", FlowBuilder::mptcp(&names[0], &names[1])),
            false => ("a TCP", FlowBuilder::tcp(&names[0], &names[1])),
        };
        self.builder = self.builder.flow("bulk", flow);
        let [from, to] = ends.map(|end| &*self.nodes[end]);
        let are_routers = ends.iter().all(|end| !self.network.nodes[*end].is_host);
        let why =
            if self.choices.between.is_none() && are_routers { ", the nodes that are farthest apart" } else { "" };
        self.notes.push(format!("{protocol} connection between {from} and {to}{why}"));
        Ok(self)
    }

    /// The ends of the connection: the chosen nodes; else the first host and the last that it reaches; else the two
    /// nodes that are farthest apart.
    fn ends(&self) -> Result<[usize; 2], ImportError> {
        let network = self.network;
        if let Some([first, second]) = &self.choices.between {
            let ends = [self.place(first)?, self.place(second)?];
            return match ends[0] != ends[1] && distance::is_connected(network, ends) {
                true => Ok(ends),
                false => {
                    let message = format!("there is no path between {first} and {second}");
                    Err(ImportError::new(message, "choose two other nodes"))
                }
            };
        }
        let mut hosts = (0..network.nodes.len()).filter(|node| network.nodes[*node].is_host);
        let first = hosts.next();
        let last = first.and_then(|first| hosts.rfind(|last| distance::is_connected(network, [first, *last])));
        if let (Some(first), Some(last)) = (first, last) {
            return Ok([first, last]);
        }
        let pair = distance::farthest_pair(network, &self.delays);
        pair.ok_or_else(|| ImportError::new("no two nodes have a path between them", "there is nothing to send over"))
    }

    /// The node that the user calls by its name, its label or its id.
    fn place(&self, chosen: &str) -> Result<usize, ImportError> {
        let by_name = self.nodes.iter().position(|name| name == chosen);
        let by_label = || self.network.nodes.iter().position(|node| node.label == chosen || node.id == chosen);
        by_name.or_else(by_label).ok_or_else(|| {
            let some = self.nodes.iter().take(12).cloned().collect::<Vec<_>>().join(", ");
            ImportError::new(format!("the network has no node {chosen:?}"), format!("there are, among others: {some}"))
        })
    }

    /// Adds a host at a router, with a link that is no slower than the router's others and delays nothing. Returns its
    /// name.
    fn with_host_at(mut self, router: usize) -> (Self, String) {
        let host = self.names.of(&format!("{}-host", self.nodes[router]));
        let of_router = self.network.links.iter().zip(&self.rates).filter(|(link, _)| link.ends.contains(&router));
        let rate: Rate = of_router.map(|(_, rate)| *rate).max().unwrap_or(self.choices.rate);
        let name = self.names.of_link(&host, "access");
        let link = LinkBuilder::between(&host, &self.nodes[router]).rate(rate);
        self.builder = self.builder.host(&host, ["eth"]).link(&name, link);
        (self, host)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Choices, read, scenario, sndlib};

    #[test]
    fn demands_become_udp_between_hosts_at_their_nodes() {
        let network = read(sndlib::tests::XML.as_bytes(), "instance.xml").expect("it is SNDlib's");
        let text = scenario(&network, &Choices { scale: 0.01, ..Choices::default() }).expect("a scenario").text;
        assert!(text.contains("A-C = { from = \"A-host\", to = \"C-host\", protocol = \"udp\""), "{text}");
        assert!(text.contains("rate = \"125 kbit/s\""), "{text}");
        assert!(!text.contains("B-host"), "{text}");
        assert!(text.contains("# - 1 demand as UDP, 0 Mbit/s together"), "{text}");
    }

    #[test]
    fn without_demands_there_is_one_connection() {
        let network = read(sndlib::tests::XML.as_bytes(), "instance.xml").expect("it is SNDlib's");
        let imported = scenario(&network, &Choices { demands: false, ..Choices::default() }).expect("a scenario");
        assert!(imported.text.contains("bulk = { from = \"A-host\", to = \"C-host\", protocol = \"tcp\" }"));
        assert!(imported.notes.contains(&"1 demand: left out".to_owned()), "{:?}", imported.notes);
    }
}
