//! Two namespaces with two paths between them, 50 Mbit/s and 5 ms in each direction.

use std::net::IpAddr;
use std::process::Command;

use subflow_linux::Namespace;
use subflow_wire::sctp::UdpEncapsulation;

use crate::driver::Addressing;

/// Our namespace, the peer's, and the links between them. Dropping it removes all of them.
pub(crate) struct TwoPaths {
    ours: Namespace,
    peer: Namespace,
}

impl TwoPaths {
    /// Creates them. `Err` contains the reason if that is not possible on this machine.
    pub(crate) fn make(name: &str) -> Result<Self, String> {
        let namespace = |side: &str| Namespace::create(&format!("{side}-{name}")).map_err(|error| error.to_string());
        let made = Self { ours: namespace("ours")?, peer: namespace("peer")? };
        for path in 1..=2 {
            let (ours, peer) = (made.ours.name(), made.peer.name());
            ip(&[
                "-n",
                ours,
                "link",
                "add",
                &format!("o{path}"),
                "type",
                "veth",
                "peer",
                "name",
                &format!("p{path}"),
                "netns",
                peer,
            ])?;
            for (side, prefix, host) in [(ours, "o", 1), (peer, "p", 2)] {
                let device = format!("{prefix}{path}");
                ip(&["-n", side, "addr", "add", &format!("10.{path}.0.{host}/24"), "dev", &device])?;
                ip(&["-n", side, "link", "set", &device, "up"])?;
                // The limit is larger than a burst of usrsctp. Without netem the paths have no rate limit and no delay.
                let shape = [
                    "netns", "exec", side, "tc", "qdisc", "add", "dev", &device, "root", "netem", "rate", "50mbit",
                    "delay", "5ms", "limit", "400",
                ];
                let _ = ip(&shape);
            }
        }
        for side in [made.ours.name(), made.peer.name()] {
            ip(&["-n", side, "link", "set", "lo", "up"])?;
        }
        Ok(made)
    }

    /// The peer's namespace, for `ip netns exec`.
    pub(crate) fn peer(&self) -> &str {
        self.peer.name()
    }

    pub(crate) fn place(&self) -> Addressing {
        let addresses = |host| [1, 2].map(|path| IpAddr::from([10, path, 0, host])).to_vec();
        let udp = UdpEncapsulation { source_port: 9899, destination_port: 9899 };
        Addressing { locals: addresses(1), remotes: addresses(2), udp, local_port: 7000, remote_port: 8000 }
    }

    /// Runs `work` in our namespace.
    pub(crate) fn inside(&self, work: impl FnOnce() + Send) {
        self.ours
            .run(|| {
                work();
                Ok(())
            })
            .expect("our own namespace can be entered");
    }
}

fn ip(arguments: &[&str]) -> Result<(), String> {
    let output = Command::new("ip").args(arguments).output().map_err(|error| format!("ip: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("ip {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim())),
    }
}
