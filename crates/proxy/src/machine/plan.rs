//! The changes that a proxy makes for its paths.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::Range;

use super::firewall::{Firewall, Translation};
use super::interface::Interface;
use super::step::{Forwarding, Step, path_of};
use super::{DEVICES, Family};

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
    /// Whether this kernel has a setting for the forwarding of IPv6 from single interfaces.
    forwards_v6_singly: bool,
    /// The settings that the machine has closed without proxies.
    closed: Vec<Forwarding>,
}

/// A change, and what undoes it. What belongs to a device of ours ends with the device.
pub(crate) type Change = (Step, Option<Step>);

/// What the names of a proxy's devices begin with.
pub(crate) fn devices_of(number: u8) -> String {
    format!("{DEVICES}{number}x")
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
    /// Path `index` of proxy `number`, over `interface` in this `state`. IPv6 is left out if the kernel cannot forward it
    /// for single interfaces. `claims` are the steps that undo the changes of other proxies.
    pub(crate) fn new(number: u8, index: usize, interface: &str, state: &Interface, claims: &[Step]) -> Self {
        let path = index as u32;
        let (v4, v6) = addresses_of(number, index);
        let mut plan = Self {
            interface: interface.to_owned(),
            device: format!("{}{index}", devices_of(number)),
            addresses: vec![v4.into()],
            table: tables_of(number).start + path,
            priority: FIRST_PRIORITY + path,
            forwards_v6_singly: Forwarding::of(Family::V6, interface, state.index).is_some(),
            closed: Vec::new(),
        };
        if plan.forwards_v6_singly || forwards_all_v6() {
            plan.addresses.push(v6.into());
        }
        plan.closed = plan.closed_from(state.index, claims);
        plan
    }

    /// The settings that are closed without proxies, of the interface that has this index now.
    fn closed_from(&self, index: u32, claims: &[Step]) -> Vec<Forwarding> {
        let settings = Family::BOTH.into_iter().filter_map(|family| Forwarding::of(family, &self.interface, index));
        let is_router = |setting: &Forwarding| setting.family == Family::V6 && forwards_all_v6();
        settings.filter(|setting| setting.is_closed(claims) && !is_router(setting)).collect()
    }

    pub(crate) fn address(&self, family: Family) -> Option<IpAddr> {
        self.addresses.iter().copied().find(|address| address.is_ipv4() == (family == Family::V4))
    }

    /// The command that would create the device.
    pub(crate) fn device_step(&self) -> Step {
        Step::run(&format!("ip tuntap add dev {} mode tun vnet_hdr", self.device))
    }

    /// The changes once the device exists, except for the firewall and forwarding from the interface.
    pub(crate) fn changes(&self, mtu: u16) -> Vec<Change> {
        let Self { device, table, priority, .. } = self;
        let mut changes = vec![
            (Step::set(path_of(Family::V4, device), "1"), None),
            (Step::run(&format!("ip link set dev {device} mtu {mtu} txqueuelen 1000 up")), None),
        ];
        if self.forwards_v6_singly {
            changes.push((Step::set(path_of(Family::V6, device), "1"), None));
        }
        for family in Family::BOTH {
            let (option, Some(address)) = (family.option(), self.address(family)) else { continue };
            let rule = |action: &str| {
                Step::run(&format!("ip {option} rule {action} from {address} lookup {table} priority {priority}"))
            };
            changes.push((Step::run(&format!("ip {option} route add {address} dev {device}")), None));
            changes.push((rule("add"), Some(rule("del"))));
            changes.push((self.unreachable(family), Some(self.flush(family))));
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

    /// The removal of all routes, also those over an interface that has another name now.
    pub(crate) fn emptied(&self) -> Vec<Step> {
        let families = Family::BOTH.into_iter().filter(|&family| self.address(family).is_some());
        families.flat_map(|family| [self.flush(family), self.unreachable(family)]).collect()
    }

    fn flush(&self, family: Family) -> Step {
        Step::run(&format!("ip {} route flush table {}", family.option(), self.table))
    }

    /// What the interface does not reach must not leave by another, under an address of ours.
    fn unreachable(&self, family: Family) -> Step {
        let (option, table) = (family.option(), self.table);
        Step::run(&format!("ip {option} route add unreachable default metric 4294967294 table {table}"))
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

    /// What lets packets of the network in. It comes last: the firewall must drop those of others before.
    pub(crate) fn opening(&self) -> Vec<Change> {
        let step = |of: &Forwarding, on| Step::Forward(of.clone(), on);
        self.closed.iter().map(|of| (step(of, true), Some(step(of, false)))).collect()
    }

    /// Takes the interface that has the name and this index now in place of another. Returns the changes of the firewall
    /// of proxy `number` that this needs: for families whose forwarding was open before. Rules that are there stay.
    pub(crate) fn reopen(&mut self, firewall: Firewall, number: u8, index: u32, claims: &[Step]) -> Vec<Change> {
        let before: Vec<Translation> = self.translations().collect();
        self.closed = self.closed_from(index, claims);
        let after = self.translations().zip(before);
        let newly = after.filter(|(now, before)| now.forwards_for_us_only && !before.forwards_for_us_only);
        newly.map(|(now, _)| firewall.close(number, &now)).collect()
    }

    fn translations(&self) -> impl Iterator<Item = Translation> + '_ {
        self.addresses.iter().map(|&address| {
            let family = if address.is_ipv4() { Family::V4 } else { Family::V6 };
            let forwards_for_us_only = self.closed.iter().any(|setting| setting.family == family);
            Translation { address, interface: self.interface.clone(), forwards_for_us_only }
        })
    }
}

/// The changes of the firewall for all paths of proxy `number`.
pub(crate) fn firewall_changes(firewall: Firewall, number: u8, paths: &[PathPlan]) -> Vec<Change> {
    let translations: Vec<Translation> = paths.iter().flat_map(PathPlan::translations).collect();
    let steps = firewall.steps(number, &translations);
    steps.into_iter().map(|(step, undo)| (step, Some(undo))).collect()
}

/// Whether the machine is a router of IPv6.
fn forwards_all_v6() -> bool {
    std::fs::read_to_string("/proc/sys/net/ipv6/conf/all/forwarding").is_ok_and(|value| value.trim() != "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lo() -> Interface {
        Interface {
            index: 1,
            mtu: 1500,
            up: true,
            addresses: [Some([10, 0, 0, 7].into()), None],
            routes: [Vec::new(), Vec::new()],
        }
    }

    #[test]
    fn every_change_that_outlives_the_device_can_be_undone() {
        // Another proxy has opened it: so it counts as closed.
        let claim = Step::Forward(Forwarding::of(Family::V4, "lo", 1).expect("each kernel has it"), false);
        let plan = PathPlan::new(3, 1, "lo", &lo(), &[claim]);
        let changes = [plan.changes(1400), plan.opening()].concat();
        let lines: Vec<String> = changes.iter().map(|(step, _)| step.to_string()).collect();
        assert!(lines.contains(&"ip -4 rule add from 198.19.3.2 lookup 500193 priority 9001".to_owned()), "{lines:?}");
        assert!(lines.contains(&"sysctl -w net/ipv4/conf/lo/forwarding=1".to_owned()), "{lines:?}");
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
        let plan = PathPlan::new(0, 0, "lo", &lo(), &[]);
        let routes = [vec!["default via 10.0.0.1".to_owned(), "10.0.0.0/24".to_owned()], Vec::new()];
        let state = Interface { routes, ..lo() };
        let lines: Vec<String> = plan.routes(&state).iter().map(Step::to_string).collect();
        assert_eq!(lines[0], "ip -4 route replace 10.0.0.0/24 dev lo table 500000");
        assert_eq!(lines[1], "ip -4 route replace default via 10.0.0.1 dev lo table 500000");
    }
}
