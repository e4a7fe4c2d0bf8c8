//! The settings that let packets of the network in: forwarding from an interface, one for each family.
//!
//! The kernel keeps the settings when an interface is renamed. Therefore they are known by the index of the interface,
//! which stays: so the one that was opened is closed, whatever its name is by then.

use rustix::net::{AddressFamily, SocketFlags, SocketType, netdevice, socket_with};
use serde_json::{Value, json};

use super::interface::Family;
use super::step::Step;
use crate::error::{Error, Result};

/// Forwarding of packets of a family from an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Forwarding {
    pub(super) family: Family,
    /// The name when the proxy came to it.
    interface: String,
    index: u32,
}

impl Forwarding {
    /// That from `interface`, or `None` if this kernel has no such setting. Of IPv6 it is that for single interfaces
    /// (Linux 6.17): `forwarding` does another thing there.
    pub(crate) fn of(family: Family, interface: &str, index: u32) -> Option<Self> {
        let forwarding = Self { family, interface: interface.to_owned(), index };
        std::fs::exists(file_of(family, interface)).is_ok_and(|exists| exists).then_some(forwarding)
    }

    /// Whether the machine forwards nothing from it without proxies. `claims` are the steps that undo the changes of
    /// others: a setting that they have opened counts as closed.
    pub(crate) fn is_closed(&self, claims: &[Step]) -> bool {
        let is_claimed = claims.iter().any(|step| matches!(step, Step::Forward(of, false) if of.is_same(self)));
        is_claimed || std::fs::read_to_string(file_of(self.family, &self.interface)).is_ok_and(|now| now.trim() == "0")
    }

    /// Whether it is the same setting, by whatever name.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        (self.family, self.index) == (other.family, other.index)
    }

    pub(crate) fn is_from(&self, index: u32) -> bool {
        self.index == index
    }

    /// Sets it, by the name that the interface has now.
    pub(super) fn set(&self, on: bool) -> Result<()> {
        let name = self.name_now().map_err(|error| Error::system(format!("find {}", self.interface), error))?;
        Step::set(path_of(self.family, &name), value(on)).apply()
    }

    fn name_now(&self) -> std::io::Result<String> {
        let any = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
        Ok(netdevice::index_to_name(any, self.index)?)
    }

    /// The value for a line of a journal.
    pub(super) fn to_json(&self, on: bool) -> Value {
        let family = if self.family == Family::V4 { 4 } else { 6 };
        json!({ "forward": self.interface, "index": self.index, "family": family, "value": value(on) })
    }

    /// Reads what [`to_json`](Self::to_json) has made.
    pub(super) fn from_json(json: &Value) -> Option<(Self, bool)> {
        let family = match json.get("family")?.as_u64()? {
            4 => Family::V4,
            6 => Family::V6,
            _ => return None,
        };
        let interface = json.get("forward")?.as_str()?.to_owned();
        let index = u32::try_from(json.get("index")?.as_u64()?).ok()?;
        Some((Self { family, interface, index }, json.get("value")? == "1"))
    }

    /// The setting as `sysctl` has it.
    pub(super) fn assignment(&self, on: bool) -> String {
        format!("net/{}={}", path_of(self.family, &self.interface), value(on))
    }
}

fn value(on: bool) -> &'static str {
    if on { "1" } else { "0" }
}

/// The setting below `/proc/sys/net`.
pub(super) fn path_of(family: Family, interface: &str) -> String {
    match family {
        Family::V4 => format!("ipv4/conf/{interface}/forwarding"),
        Family::V6 => format!("ipv6/conf/{interface}/force_forwarding"),
    }
}

fn file_of(family: Family, interface: &str) -> String {
    format!("/proc/sys/net/{}", path_of(family, interface))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_proxy_has_opened_counts_as_closed_whatever_its_name_was() {
        let of = |index, family| Forwarding { family, interface: format!("was{index}"), index };
        let claim = |index, family| Step::Forward(of(index, family), false);
        let named = |name: &str| Forwarding { interface: name.to_owned(), ..of(7, Family::V4) };
        assert!(named("no-such").is_closed(&[claim(1, Family::V4), claim(7, Family::V4)]));
        for other in [claim(8, Family::V4), claim(7, Family::V6), Step::Forward(of(7, Family::V4), true)] {
            assert!(!named("no-such").is_closed(std::slice::from_ref(&other)), "{other:?}");
        }
    }

    #[test]
    fn an_interface_that_is_gone_has_no_name() {
        let gone = Forwarding { family: Family::V4, interface: "gone0".to_owned(), index: 1 << 30 };
        assert!(gone.set(false).is_err_and(|error| error.is_of_missing_object()));
        let first = Forwarding { index: 1, ..gone };
        assert_eq!(first.name_now().expect("the loopback interface has the index 1"), "lo");
    }
}
