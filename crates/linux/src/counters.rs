//! Kernel counters.

use std::collections::BTreeMap;
use std::fs;

use crate::error::{Result, While};
use crate::netlink::RouteControl;

/// The counters of a network namespace, as `nstat` names them: `TcpRetransSegs`, `MPTcpExtMPCapableSYNRX`, ….
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters(BTreeMap<String, i64>);

impl Counters {
    /// Reads the counters of the calling thread's namespace.
    pub fn read() -> Result<Self> {
        let mut counters = BTreeMap::new();
        for file in ["/proc/thread-self/net/snmp", "/proc/thread-self/net/netstat"] {
            let text = fs::read_to_string(file).during(|| format!("cannot read {file}"))?;
            parse(&text, &mut counters);
        }
        Ok(Self(counters))
    }

    /// The counter `name`; zero if this kernel does not have it.
    pub fn of(&self, name: &str) -> i64 {
        self.0.get(name).copied().unwrap_or(0)
    }

    /// The counters above zero whose names start with `prefix`, in alphabetical order.
    pub fn raised(&self, prefix: &str) -> impl Iterator<Item = (&str, i64)> {
        self.0
            .iter()
            .map(|(name, &value)| (name.as_str(), value))
            .filter(move |(name, value)| name.starts_with(prefix) && *value > 0)
    }
}

/// Parses pairs of lines: `Group: name name …` and `Group: value value …`.
fn parse(text: &str, counters: &mut BTreeMap<String, i64>) {
    let lines: Vec<&str> = text.lines().collect();
    for pair in lines.chunks_exact(2) {
        let (Some((group, names)), Some((_, values))) = (pair[0].split_once(": "), pair[1].split_once(": ")) else {
            continue;
        };
        for (name, value) in names.split_whitespace().zip(values.split_whitespace()) {
            if let Ok(value) = value.parse() {
                counters.insert(format!("{group}{name}"), value);
            }
        }
    }
}

/// Packets that interfaces of the calling thread's namespace dropped because a queue or buffer was full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InterfaceDrops {
    /// Packets that the kernel sent and we did not read in time.
    pub outgoing: u64,
    /// Packets that we wrote and the kernel did not accept.
    pub incoming: u64,
}

/// The total drops of `interfaces`.
pub fn interface_drops<'a>(interfaces: impl IntoIterator<Item = &'a str>) -> Result<InterfaceDrops> {
    let mut control = RouteControl::open()?;
    let mut drops = InterfaceDrops::default();
    for name in interfaces {
        let [incoming, outgoing] = control.drops(name)?;
        drops.incoming += incoming;
        drops.outgoing += outgoing;
    }
    Ok(drops)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_are_paired() {
        let text = "Tcp: MaxConn RetransSegs\nTcp: -1 7\nMPTcpExt: MPCapableSYNRX DataCsumErr\nMPTcpExt: 2 0\n";
        let mut counters = BTreeMap::new();
        parse(text, &mut counters);
        let counters = Counters(counters);
        assert_eq!((counters.of("TcpMaxConn"), counters.of("TcpRetransSegs"), counters.of("None")), (-1, 7, 0));
        assert_eq!(counters.raised("MPTcpExt").collect::<Vec<_>>(), [("MPTcpExtMPCapableSYNRX", 2)]);
    }
}
