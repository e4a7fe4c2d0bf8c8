//! Interfaces, their addresses and routes, as the kernel and `ip` show them, and their changes.

use std::io;
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::os::unix::net::UnixDatagram as StdDatagram;

use serde_json::Value;
use subflow_linux::netlink::InterfaceChanges;
use tokio::io::Interest;
use tokio::net::UnixDatagram;

use super::{Family, step};
use crate::error::{Error, Result};

/// The state of an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Interface {
    /// It stays when the interface is renamed; another one of the same name has another.
    pub(crate) index: u32,
    pub(crate) mtu: u32,
    /// Whether it is up and has a carrier.
    pub(crate) up: bool,
    /// An address that others can answer, of IPv4 and of IPv6.
    pub(crate) addresses: [Option<IpAddr>; 2],
    /// Its routes of both families, as words for `ip route`.
    pub(crate) routes: [Vec<String>; 2],
}

impl Interface {
    /// The state of the interface `name`, or `None` if there is none.
    pub(crate) fn read(name: &str) -> Result<Option<Self>> {
        let all = ip(&["address", "show"])?;
        let Some(link) = all.iter().find(|link| link["ifname"] == name) else { return Ok(None) };
        let has_flag = |flag: &str| link["flags"].as_array().is_some_and(|flags| flags.iter().any(|one| one == flag));
        let addresses = link["addr_info"].as_array().cloned().unwrap_or_default();
        let usable = |family: &str| {
            let is_usable = |address: &Value| {
                address["family"] == family && address["scope"] == "global" && address["tentative"] != true
            };
            addresses
                .iter()
                .filter(|address| is_usable(address))
                .find_map(|address| address["local"].as_str()?.parse().ok())
        };
        let mut routes = [Vec::new(), Vec::new()];
        for (family, routes) in Family::BOTH.into_iter().zip(&mut routes) {
            let shown = ip(&[family.option(), "route", "show", "table", "main", "dev", name]);
            // The interface may have gone meanwhile.
            let shown = shown.or_else(|error| if error.is_of_missing_object() { Ok(Vec::new()) } else { Err(error) });
            routes.extend(shown?.iter().filter_map(route));
        }
        Ok(Some(Self {
            index: link["ifindex"].as_u64().map_or(0, |index| index as u32),
            mtu: link["mtu"].as_u64().map_or(1500, |mtu| mtu as u32),
            up: has_flag("UP") && has_flag("LOWER_UP"),
            addresses: [usable("inet"), usable("inet6")],
            routes,
        }))
    }

    /// The names of all interfaces.
    pub(crate) fn names() -> Result<Vec<String>> {
        Ok(ip(&["link", "show"])?.iter().filter_map(|link| Some(link["ifname"].as_str()?.to_owned())).collect())
    }

    /// Whether packets of the family can leave by it.
    pub(crate) fn carries(&self, family: Family) -> bool {
        self.up && self.addresses[family as usize].is_some() && !self.routes[family as usize].is_empty()
    }

    /// Whether it carries packets of the family to a few networks only: it has no default route.
    pub(crate) fn is_confined(&self, family: Family) -> bool {
        let is_default = |route: &String| route.split(' ').next() == Some("default");
        self.carries(family) && !self.routes[family as usize].iter().any(is_default)
    }
}

/// The words for `ip route` of a route that was shown.
fn route(shown: &Value) -> Option<String> {
    let is_usable = |flag: &Value| flag != "linkdown" && flag != "dead";
    if shown.get("type").is_some_and(|kind| kind != "unicast")
        || !shown["flags"].as_array().is_none_or(|flags| flags.iter().all(is_usable))
    {
        return None;
    }
    let destination = shown["dst"].as_str()?;
    let via = match (shown["gateway"].as_str(), &shown["via"]) {
        (Some(gateway), _) => format!(" via {gateway}"),
        (None, Value::Object(via)) => format!(" via {} {}", via.get("family")?.as_str()?, via.get("host")?.as_str()?),
        _ => String::new(),
    };
    let is_on_link = shown["flags"].as_array().is_some_and(|flags| flags.iter().any(|flag| flag == "onlink"));
    let metric = shown["metric"].as_u64().map_or_else(String::new, |metric| format!(" metric {metric}"));
    Some(format!("{destination}{via}{metric}{}", if is_on_link { " onlink" } else { "" }))
}

/// Whether packets to an address stay on this machine, by its routes.
pub(crate) fn routes_to_itself(address: IpAddr) -> Result<bool> {
    let family = if address.is_ipv4() { Family::V4 } else { Family::V6 };
    match ip(&[family.option(), "route", "get", &address.to_string()]) {
        Ok(routes) => Ok(routes.iter().any(|route| route["type"] == "local" || route["type"] == "broadcast")),
        // By the machine's own routes it is unreachable, which those of a path need not be.
        Err(Error::Command { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// What `ip -j` prints.
pub(super) fn ip(words: &[&str]) -> Result<Vec<Value>> {
    let words: Vec<String> = ["ip", "-j"].iter().chain(words).map(|word| (*word).to_owned()).collect();
    let text = step::run(&words, "")?;
    match serde_json::from_str(if text.trim().is_empty() { "[]" } else { &text }) {
        Ok(Value::Array(list)) => Ok(list),
        _ => Err(Error::Unexpected(format!("`{}` prints no list", words.join(" ")))),
    }
}

/// Reports that something has changed, whatever it is.
#[derive(Debug)]
pub(crate) struct Changes {
    changes: InterfaceChanges,
    /// The same socket. Only its readiness is used, which is the same for every kind of socket.
    socket: UnixDatagram,
}

impl Changes {
    pub(crate) fn open() -> io::Result<Self> {
        let changes = InterfaceChanges::open_with_routes().map_err(io::Error::other)?;
        let socket = StdDatagram::from(changes.as_fd().try_clone_to_owned()?);
        Ok(Self { changes, socket: UnixDatagram::from_std(socket)? })
    }

    /// Waits for the next change, and takes all that have come.
    pub(crate) async fn next(&self) -> io::Result<()> {
        loop {
            self.socket.readable().await?;
            let mut any = Ok(false);
            // All is taken, so that the socket is not ready until the kernel reports more.
            let _ = self.socket.try_io(Interest::READABLE, || -> io::Result<()> {
                any = self.changes.any();
                Err(io::ErrorKind::WouldBlock.into())
            });
            if any.map_err(io::Error::other)? {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_routes_tell_which_addresses_are_this_machines_own() {
        if !subflow_prerequisite::programs(&["ip"]) {
            return;
        }
        let is_own = |address: &str| routes_to_itself(address.parse().expect("an address")).expect("ip tells");
        assert!(is_own("127.0.0.2"));
        assert!(!is_own("192.0.2.1"));
    }

    #[test]
    fn an_interface_without_a_default_route_is_confined_if_it_carries_anything() {
        let state = |routes: &[&str]| Interface {
            index: 1,
            mtu: 1500,
            up: true,
            addresses: [Some([10, 0, 0, 7].into()), None],
            routes: [routes.iter().map(|route| (*route).to_owned()).collect(), Vec::new()],
        };
        let confined = |routes: &[&str]| state(routes).is_confined(Family::V4);
        assert!(confined(&["10.0.0.0/24"]));
        assert!(!confined(&["10.0.0.0/24", "default via 10.0.0.1 metric 600"]));
        assert!(!confined(&[]), "it does not carry IPv4 at all");
    }

    #[test]
    fn routes_become_words_and_those_that_lead_nowhere_are_left_out() {
        let words = |shown: Value| route(&shown);
        let default = json!({"dst": "default", "gateway": "10.0.0.1", "metric": 600, "flags": []});
        assert_eq!(words(default).as_deref(), Some("default via 10.0.0.1 metric 600"));
        let network = json!({"dst": "10.0.0.0/24", "scope": "link", "prefsrc": "10.0.0.7", "flags": []});
        assert_eq!(words(network).as_deref(), Some("10.0.0.0/24"));
        let by_v6 = json!({"dst": "default", "via": {"family": "inet6", "host": "fe80::1"}, "flags": ["onlink"]});
        assert_eq!(words(by_v6).as_deref(), Some("default via inet6 fe80::1 onlink"));
        assert_eq!(words(json!({"dst": "default", "gateway": "10.0.0.1", "flags": ["linkdown"]})), None);
        assert_eq!(words(json!({"type": "unreachable", "dst": "default", "flags": []})), None);
    }
}
