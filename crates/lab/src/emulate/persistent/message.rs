//! What is asked of a network and what it answers: a JSON object on a line each, over its socket.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::results::NetworkResults;

/// What a network is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "kebab-case")]
pub enum Request {
    /// What it is, and what runs in it.
    Status,
    /// Where a program of this host runs.
    Enter {
        /// The host's name.
        host: String,
    },
    /// To interrupt a link, or to restore it.
    Link {
        /// The link's name.
        link: String,
        /// Whether it works from now on.
        up: bool,
    },
    /// To change a value of the scenario, such as `links.lte.rate`.
    Set {
        /// The path of the value.
        path: String,
        /// The value, as TOML, or else text.
        value: String,
    },
    /// What it has measured until now.
    Results,
    /// To end. The answer comes when everything has been removed.
    Down,
}

/// What a network answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "kebab-case")]
pub enum Answer {
    /// It is done.
    Done,
    /// The answer to [`Request::Status`].
    Status(Box<NetworkStatus>),
    /// The answer to [`Request::Enter`].
    Entrance {
        /// A process whose namespaces are those of the host's programs.
        process: u32,
    },
    /// The answer to [`Request::Results`].
    Results(Box<NetworkResults>),
    /// The request is not valid, and nothing was changed.
    Refused {
        /// Why, and what would be valid.
        message: String,
    },
    /// The request is valid, and could not be fulfilled.
    Failed {
        /// Why.
        message: String,
    },
}

/// What a network is, and what runs in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NetworkStatus {
    /// Its name.
    pub name: String,
    /// The title of its scenario.
    pub title: String,
    /// The process that runs its links.
    pub process: u32,
    /// For how long it has existed, in seconds.
    pub running_s: f64,
    /// What its links have carried, and how punctually.
    pub emulation: Emulation,
    /// Its hosts with a kernel.
    pub hosts: Vec<HostStatus>,
    /// Whether each link works, by name.
    pub links: BTreeMap<String, bool>,
    /// What was changed of the scenario, as `PATH = VALUE`, the latest last.
    pub changes: Vec<String>,
}

/// A host of a network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostStatus {
    /// Its name.
    pub name: String,
    /// Its network namespace, for `ip netns exec`.
    pub namespace: String,
    /// The addresses of its interfaces, by their names.
    pub addresses: BTreeMap<String, Vec<IpAddr>>,
    /// What runs in it.
    pub programs: Vec<ProgramStatus>,
}

/// A process in a host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgramStatus {
    /// Its number, as the process of the network sees it.
    pub process: u32,
    /// Its arguments, separated by spaces.
    pub command: String,
    /// For how long it has run, in seconds.
    pub running_s: f64,
}

/// What the links of a network have carried since it exists, and how punctually.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Emulation {
    /// Packets that links have delivered, each at each link.
    pub packet_hops: u64,
    /// CPU time of the network's process, in seconds.
    pub cpu_s: f64,
    /// The kind of the devices.
    pub device: String,
    /// The median of the lateness of packets, in microseconds.
    pub late_p50_us: f64,
    /// The 99th percentile of it, in microseconds.
    pub late_p99_us: f64,
    /// The 99.9th percentile of it, in microseconds.
    pub late_p999_us: f64,
    /// The largest lateness, in microseconds.
    pub late_max_us: f64,
    /// Packets that links do not carry: fragments, and those of other protocols than TCP, UDP, SCTP and the echoes of ICMP.
    pub ignored_packets: u64,
    /// Packets that devices have dropped.
    pub device_drops: u64,
    /// Whether the thread of the links runs before all others.
    pub real_time_priority: bool,
    /// Why the network was not as the scenario says; empty if it was.
    pub objections: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_as_the_documentation_shows_them() {
        let link = Request::Link { link: "wifi".into(), up: false };
        let text = serde_json::to_string(&link).expect("it is plain");
        assert_eq!(text, r#"{"request":"link","link":"wifi","up":false}"#);
        assert_eq!(serde_json::from_str::<Request>(&text).expect("it is a request"), link);
        assert_eq!(serde_json::to_string(&Answer::Done).expect("it is plain"), r#"{"answer":"done"}"#);
        assert!(serde_json::from_str::<Request>(r#"{"request":"start"}"#).is_err());
    }
}
