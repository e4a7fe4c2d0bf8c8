//! What a proxy changes on the machine: devices, rules, routes, settings, translation of addresses.

mod firewall;
mod interface;
mod journal;
mod pending;
mod plan;
mod step;

use std::net::IpAddr;

use interface::ip;
use plan::{devices_of, is_address_of, tables_of};
use serde_json::Value;

use crate::error::Result;

pub(crate) use firewall::Firewall;
pub(crate) use interface::{Changes, Interface, routes_to_itself};
pub(crate) use journal::{Journal, claims_here, free_number};
pub(crate) use plan::{Change, PathPlan, firewall_changes};
pub(crate) use step::Step;

/// What the names of all proxies' devices begin with.
const DEVICES: &str = "subflow";

/// An address family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    V4,
    V6,
}

impl Family {
    pub(crate) const BOTH: [Self; 2] = [Self::V4, Self::V6];

    /// The option of `ip`.
    pub(crate) fn option(self) -> &'static str {
        if self == Self::V4 { "-4" } else { "-6" }
    }
}

/// Undoes what killed proxies have left in this network namespace, and removes their journals of namespaces that are
/// gone. `report` gets a line for each, also where something else fails.
///
/// # Errors
///
/// Without the right to do so, or where something cannot be undone: it is tried again by the next call.
pub fn cleanup(mut report: impl FnMut(&str)) -> Result<()> {
    subflow_linux::status::remove_of_killed();
    journal::cleanup(&mut report)
}

/// The devices, addresses, routing tables and tables of the firewall in this network namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Occupied {
    pub(super) devices: Vec<String>,
    addresses: Vec<IpAddr>,
    tables: Vec<u32>,
    firewall: Vec<String>,
}

impl Occupied {
    pub(crate) fn read(firewall: Firewall) -> Result<Self> {
        let mut occupied = Self { firewall: firewall.tables(), ..Self::default() };
        for link in ip(&["address", "show"])? {
            occupied.devices.extend(link["ifname"].as_str().map(str::to_owned));
            let addresses = link["addr_info"].as_array().into_iter().flatten();
            occupied.addresses.extend(addresses.filter_map(|entry| entry["local"].as_str()?.parse::<IpAddr>().ok()));
        }
        for family in Family::BOTH {
            // A kernel may lack one of the families.
            let routes = ip(&[family.option(), "route", "show", "table", "all"]).unwrap_or_default();
            occupied.tables.extend(routes.iter().filter_map(table_of));
        }
        Ok(occupied)
    }

    /// Whether something has a name, an address or a table that proxy `number` would use.
    pub(crate) fn has(&self, number: u8) -> bool {
        self.devices.iter().any(|device| device.starts_with(&devices_of(number)))
            || self.addresses.iter().any(|&address| is_address_of(number, address))
            || self.tables.iter().any(|table| tables_of(number).contains(table))
            || self.firewall.contains(&Firewall::table_of(number))
    }
}

/// The table of a route, which has no name in `/etc/iproute2/rt_tables`.
fn table_of(route: &Value) -> Option<u32> {
    route["table"].as_str()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_free_if_nothing_of_it_is_there() {
        let with = |change: fn(&mut Occupied)| {
            let mut occupied = Occupied::default();
            change(&mut occupied);
            (0..64).filter(|&number| occupied.has(number)).collect::<Vec<u8>>()
        };
        assert_eq!(with(|_| {}), [0; 0]);
        assert_eq!(with(|occupied| occupied.devices = vec!["subflow1x0".into(), "subflow".into(), "eth0".into()]), [1]);
        assert_eq!(with(|all| all.addresses = vec!["198.19.2.77".parse().expect("one"), [198, 18, 2, 1].into()]), [2]);
        assert_eq!(with(|all| all.addresses = vec!["fd73:7562:666c:6f77:3::1".parse().expect("one")]), [3]);
        assert_eq!(with(|all| all.tables = vec![254, 500_063, 500_064 * 2]), [0]);
        assert_eq!(with(|all| all.firewall = vec!["filter".into(), "subflow_proxy_5".into()]), [5]);
        assert_eq!(table_of(&serde_json::json!({"dst": "default", "table": "500001"})), Some(500_001));
        assert_eq!(table_of(&serde_json::json!({"dst": "default", "table": "local"})), None);
    }
}
