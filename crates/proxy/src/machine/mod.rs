//! What a proxy changes on the machine: devices, rules, routes, settings, translation of addresses.

mod firewall;
mod interface;
mod journal;
mod occupied;
mod pending;
mod plan;
mod step;

pub(crate) use firewall::Firewall;
pub(crate) use interface::{Changes, Interface, routes_to_itself};
pub(crate) use journal::{Journal, claims_here, free_number};
pub(crate) use occupied::Occupied;
pub(crate) use plan::{Change, PathPlan, firewall_changes};
pub(crate) use step::Step;

use crate::error::Result;

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
    journal::cleanup(&mut report)
}
