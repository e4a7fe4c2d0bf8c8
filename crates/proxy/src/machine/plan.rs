//! The changes that a proxy makes for its paths.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::Range;

use super::firewall::{Firewall, Translation};
use super::interface::{Family, Interface};
use super::step::Step;

/// The first routing table of the first proxy, and the priority of its first rule. Each proxy has room for 64 paths.
const FIRST_TABLE: u32 = 500_000;
const TABLES: u32 = 64;
const FIRST_PRIORITY: u32 = 9_000;

/// One path of a proxy: an interface, and the device whose packets leave by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathPlan {
    pub(crate) interface: String,
    /// The name of the TUN device.
    pub(crate) device: String,
    /// The addresses of our stack on it, of the families that can be forwarded.
    pub(crate) addresses: Vec<IpAddr>,
    table: u32,
    priority: u32,
    /// Settings that let packets of each family in from the network: path, value now.
    forwarding: Vec<(String, String)>,
}

/// A change, and what undoes it. What belongs to a device of ours ends with the device.
pub(crate) type Change = (Step, Option<Step>);

/// What the names of a proxy's devices begin with.
pub(crate) fn devices_of(number: u8) -> String {
    format!("subflow{number}x")
}

/// The routing tables of proxy `number`.
pub(super) fn tables_of(number: u8) -> Range<u32> {
    let first = FIRST_TABLE + TABLES * u32::from(number);
    first..first + TABLES
}

/// The addresses of a proxy's path of this index, of IPv4 and of IPv6. 198.18.0.0/15 is for benchmarks (RFC 2544) and is
/// not routed; the IPv6 addresses are local (RFC 4193).
fn addresses_of(number: u8, index: usize) -> (Ipv4Addr, Ipv6Addr) {
    let v6 = Ipv6Addr::new(0xfd73, 0x7562, 0x666c, 0x6f77, u16::from(number), 0, 0, index as u16 + 1);
    (Ipv4Addr::new(198, 19, number, index as u8 + 1), v6)
}

/// Whether an address is in the networks of proxy `number`.
pub(super) fn is_address_of(number: u8, address: IpAddr) -> bool {
    let (v4, v6) = addresses_of(number, 0);
    match address {
        IpAddr::V4(address) => address.octets()[..3] == v4.octets()[..3],
        IpAddr::V6(address) => address.segments()[..5] == v6.segments()[..5],
    }
}

impl PathPlan {
    /// Path `index` of proxy `number`, over `interface`. IPv6 is left out if the kernel cannot forward it for single
    /// interfaces.
    pub(crate) fn new(number: u8, index: usize, interface: &str) -> Self {
        let path = index as u32;
        let (v4, v6) = addresses_of(number, index);
        let mut plan = Self {
            interface: interface.to_owned(),
            device: format!("{}{index}", devices_of(number)),
            addresses: Vec::new(),
            table: tables_of(number).start + path,
            priority: FIRST_PRIORITY + path,
            forwarding: Vec::new(),
        };
        plan.addresses.push(v4.into());
        plan.forwarding.extend(setting(format!("ipv4/conf/{interface}/forwarding")));
        let own = format!("ipv6/conf/{interface}/force_forwarding");
        let forwards_all = setting("ipv6/conf/all/forwarding".into()).is_some_and(|(_, value)| value != "0");
        if let Some(own) = setting(own) {
            plan.forwarding.push(own);
        } else if !forwards_all {
            return plan;
        }
        plan.addresses.push(v6.into());
        plan
    }

    pub(crate) fn address(&self, family: Family) -> Option<IpAddr> {
        self.addresses.iter().copied().find(|address| address.is_ipv4() == (family == Family::V4))
    }

    /// The command that would create the device.
    pub(crate) fn device_step(&self) -> Step {
        Step::run(&format!("ip tuntap add dev {} mode tun vnet_hdr", self.device))
    }

    /// The changes once the device exists, except for the firewall.
    pub(crate) fn changes(&self, mtu: u16) -> Vec<Change> {
        let Self { device, table, priority, .. } = self;
        let mut changes = vec![
            (Step::set(format!("ipv4/conf/{device}/forwarding"), "1"), None),
            (Step::run(&format!("ip link set dev {device} mtu {mtu} txqueuelen 1000 up")), None),
        ];
        for (path, value) in &self.forwarding {
            if value == "0" {
                changes.push((Step::set(path, "1"), Some(Step::set(path, "0"))));
            }
            if path.starts_with("ipv6") {
                changes.push((Step::set(format!("ipv6/conf/{device}/force_forwarding"), "1"), None));
            }
        }
        for address in &self.addresses {
            let option = if address.is_ipv4() { "-4" } else { "-6" };
            let rule = |action: &str| {
                Step::run(&format!("ip {option} rule {action} from {address} lookup {table} priority {priority}"))
            };
            changes.push((Step::run(&format!("ip {option} route add {address} dev {device}")), None));
            changes.push((rule("add"), Some(rule("del"))));
            let flush = Step::run(&format!("ip {option} route flush table {table}"));
            // What the interface does not reach must not leave by another, under an address of ours.
            let none = format!("ip {option} route add unreachable default metric 4294967294 table {table}");
            changes.push((Step::run(&none), Some(flush)));
        }
        changes
    }

    /// The routes of the interface, for packets from our addresses; those that are there already are replaced.
    pub(crate) fn routes(&self, state: &Interface) -> Vec<Step> {
        let Self { interface, table, .. } = self;
        let of = |family: Family| {
            let routes = state.routes[family as usize].iter().filter(move |_| self.address(family).is_some());
            // Without a gateway first: they make the gateways reachable.
            let (gateways, links): (Vec<&String>, Vec<&String>) = routes.partition(|route| route.contains(" via "));
            let step = move |route: &String| {
                Step::run(&format!("ip {} route replace {route} dev {interface} table {table}", family.option()))
            };
            links.into_iter().chain(gateways).map(step).collect::<Vec<_>>()
        };
        Family::BOTH.into_iter().flat_map(of).collect()
    }

    /// The removal of the routes that [`routes`](Self::routes) has added.
    pub(crate) fn without_routes(&self, before: &Interface) -> Vec<Step> {
        let Self { interface, table, .. } = self;
        let of = |family: Family| {
            let routes = before.routes[family as usize].iter().filter(move |_| self.address(family).is_some());
            routes.map(move |route| {
                Step::run(&format!("ip {} route del {route} dev {interface} table {table}", family.option()))
            })
        };
        Family::BOTH.into_iter().flat_map(of).collect()
    }

    /// What lets packets of the network in again, after the interface was away.
    pub(crate) fn forwarding(&self) -> Vec<Step> {
        self.forwarding.iter().map(|(path, _)| Step::set(path, "1")).collect()
    }

    fn translations(&self) -> impl Iterator<Item = Translation> + '_ {
        self.addresses.iter().map(|&address| {
            let family = if address.is_ipv4() { "ipv4" } else { "ipv6" };
            let closed = |(path, value): &(String, String)| path.starts_with(family) && value == "0";
            let forwards_for_us_only = self.forwarding.iter().any(closed);
            Translation { address, interface: self.interface.clone(), forwards_for_us_only }
        })
    }
}

/// The changes of the firewall for all paths of proxy `number`.
pub(crate) fn firewall_changes(firewall: Firewall, number: u8, paths: &[PathPlan]) -> Vec<Change> {
    let translations: Vec<Translation> = paths.iter().flat_map(PathPlan::translations).collect();
    let steps = firewall.steps(number, &devices_of(number), &translations);
    steps.into_iter().map(|(step, undo)| (step, Some(undo))).collect()
}

/// A setting below `/proc/sys/net` and its value, if this kernel has it.
fn setting(path: String) -> Option<(String, String)> {
    let value = std::fs::read_to_string(format!("/proc/sys/net/{path}")).ok()?;
    Some((path, value.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_that_outlives_the_device_can_be_undone() {
        let plan = PathPlan::new(3, 1, "lo");
        let changes = plan.changes(1400);
        let lines: Vec<String> = changes.iter().map(|(step, _)| step.to_string()).collect();
        assert!(lines.contains(&"ip -4 rule add from 198.19.3.2 lookup 500193 priority 9001".to_owned()), "{lines:?}");
        for (step, undo) in &changes {
            let line = step.to_string();
            let ends_with_device = line.contains("subflow3x1");
            assert_eq!(undo.is_none(), ends_with_device, "{line}");
        }
        for firewall in [Firewall::Nft, Firewall::Iptables] {
            let changes = firewall_changes(firewall, 3, std::slice::from_ref(&plan));
            assert!(!changes.is_empty() && changes.iter().all(|(_, undo)| undo.is_some()));
        }
    }

    #[test]
    fn links_come_before_gateways() {
        let plan = PathPlan::new(0, 0, "lo");
        let routes = [vec!["default via 10.0.0.1".to_owned(), "10.0.0.0/24".to_owned()], Vec::new()];
        let state = Interface { mtu: 1500, up: true, has_address: [true, false], routes };
        let lines: Vec<String> = plan.routes(&state).iter().map(Step::to_string).collect();
        assert_eq!(lines[0], "ip -4 route replace 10.0.0.0/24 dev lo table 500000");
        assert_eq!(lines[1], "ip -4 route replace default via 10.0.0.1 dev lo table 500000");
    }
}
