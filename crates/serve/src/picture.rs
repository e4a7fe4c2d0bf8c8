//! The network of a scenario for a picture: nodes, links between them, and the flows.

use serde::Serialize;
use subflow_network::{LinkConfig, Service};
use subflow_scenario::{Attachment, Scenario};

/// A larger network has no picture: nobody could read it.
const MOST_NODES: usize = 120;

/// What is drawn. A network that is too large has its numbers only.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Picture {
    hosts: Vec<Node>,
    routers: Vec<String>,
    links: Vec<Line>,
    flows: Vec<Arrow>,
    /// The numbers of hosts, routers, links and flows.
    counts: [usize; 4],
}

#[derive(Debug, Serialize)]
struct Node {
    name: String,
    interfaces: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Line {
    name: String,
    ends: [End; 2],
    /// What there is in each direction.
    up: Direction,
    down: Direction,
}

#[derive(Debug, Serialize)]
struct End {
    node: String,
    /// Null at a router.
    interface: Option<String>,
}

/// A direction of a link in words.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Direction {
    rate: String,
    delay: String,
}

#[derive(Debug, Serialize)]
struct Arrow {
    name: String,
    from: String,
    to: String,
    protocol: &'static str,
}

impl Picture {
    /// The network and the flows of `scenario`.
    pub(crate) fn of(scenario: &Scenario) -> Self {
        let Scenario { hosts, routers, links, flows, .. } = scenario;
        let counts = [hosts.len(), routers.len(), links.len(), flows.len()];
        if counts[0] + counts[1] > MOST_NODES {
            return Self { counts, ..Self::default() };
        }
        let end = |attachment: &Attachment| match attachment {
            Attachment::Router(router) => End { node: routers[*router].name.clone(), interface: None },
            Attachment::Interface(at) => {
                let host = &hosts[at.host];
                let interface = Some(host.interfaces[at.interface].name.clone());
                End { node: host.name.clone(), interface }
            }
        };
        let line = |link: &subflow_scenario::Link| Line {
            name: link.name.clone(),
            ends: [end(&link.ends[0]), end(&link.ends[1])],
            up: Direction::of(&link.up),
            down: Direction::of(&link.down),
        };
        let node = |host: &subflow_scenario::Host| Node {
            name: host.name.clone(),
            interfaces: host.interfaces.iter().map(|interface| interface.name.clone()).collect(),
        };
        let arrow = |flow: &subflow_scenario::Flow| Arrow {
            name: flow.name.clone(),
            from: hosts[flow.from.host].name.clone(),
            to: hosts[flow.to.host].name.clone(),
            protocol: flow.protocol.name(),
        };
        Self {
            hosts: hosts.iter().map(node).collect(),
            routers: routers.iter().map(|router| router.name.clone()).collect(),
            links: links.iter().map(line).collect(),
            flows: flows.iter().take(MOST_NODES).map(arrow).collect(),
            counts,
        }
    }
}

impl Direction {
    fn of(config: &LinkConfig) -> Self {
        let rate = match &config.service {
            Service::Unlimited => "unlimited".to_owned(),
            Service::Rate(rate) => rate.to_string(),
            Service::Trace(_) => "trace".to_owned(),
            Service::TokenBucket(_) => "token bucket".to_owned(),
            Service::Cellular(cellular) => format!("{}, cellular", cellular.rate),
            Service::Wifi(wifi) => format!("{}, WiFi", wifi.rate),
        };
        Self { rate, delay: config.delay.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use subflow_scenario::file::Document;
    use subflow_scenario::sweep::Plan;

    use super::*;

    fn picture(text: &str) -> Picture {
        let document = Document::parse(Path::new("picture.toml"), text.to_owned()).expect("TOML");
        Picture::of(&Plan::read(document).expect("a scenario").points[0].scenario)
    }

    #[test]
    fn links_have_their_ends_and_what_they_do_in_each_direction() {
        let picture = picture(include_str!("gallery/wifi-lte.toml"));
        assert_eq!(picture.counts, [2, 1, 3, 1]);
        let lte = picture.links.iter().find(|link| link.name == "lte").expect("a link");
        assert_eq!((lte.ends[0].node.as_str(), lte.ends[0].interface.as_deref()), ("phone", Some("lte")));
        assert_eq!((lte.ends[1].node.as_str(), lte.ends[1].interface.as_deref()), ("internet", None));
        assert_eq!([&lte.up.rate, &lte.down.rate], ["20 Mbit/s", "40 Mbit/s"]);
        assert_eq!(lte.up.delay, "35 ms");
    }

    #[test]
    fn a_large_network_has_numbers_only() {
        let text = "duration = \"1 s\"\n[topology]\nkind = \"fat-tree\"\nk = 8\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n\
                    [flows.f]\nfrom = \"h0\"\nto = \"h1\"\n";
        let Ok(document) = Document::parse(Path::new("tree.toml"), text.to_owned()) else { panic!("TOML") };
        let scenario = Plan::read(document).expect("a scenario").points[0].scenario.clone();
        let picture = Picture::of(&scenario);
        assert!(picture.counts[0] + picture.counts[1] > MOST_NODES && picture.hosts.is_empty());
    }
}
