//! `ndiffports`: several subflows between the same two addresses.

use std::num::NonZeroU8;

use subflow_quantity::Instant;

use crate::catalogue::{Attribute, Catalogued, Description};

use super::mesh::{Mesh, Shape};
use super::retries::RETRY;
use super::{Command, Event, MAX_SUBFLOWS, PathManager};

/// The client opens subflows from other source ports on the pair of addresses of the initial subflow until there are n,
/// that one included. Nothing is announced; other addresses are not used.
///
/// Source: lima2017, section 3.3.3; Linux MPTCP 0.9x, `ndiffports`, whose n is 2 by default and which does not replace a
/// failed subflow. Here it is replaced as in a full mesh, or with `retry = false` when one of the two addresses is lost and
/// returns.
#[derive(Clone, Debug)]
pub struct NDiffPorts(Mesh);

impl NDiffPorts {
    /// The default n.
    pub const DEFAULT_N: NonZeroU8 = NonZeroU8::new(2).expect("not zero");

    /// Creates it with this number of subflows.
    pub fn new(n: NonZeroU8) -> Self {
        Self(Mesh::new(Shape::Ports(n)))
    }
}

impl Default for NDiffPorts {
    fn default() -> Self {
        Self::new(Self::DEFAULT_N)
    }
}

impl Catalogued for NDiffPorts {
    const DESCRIPTION: Description = Description {
        name: "ndiffports",
        aliases: &[],
        summary: "n subflows from different ports between the two addresses of the initial one",
        source: "lima2017, section 3.3.3; Linux MPTCP 0.9x, ndiffports",
    };

    const OPTIONS: &'static [Attribute<Self>] = &[
        Attribute::subflows(
            "n",
            "the number of subflows, including the initial one; \"disjoint-paths\": as many as there are paths without a \
             common link between the routers of the two addresses, at most mptcp.max_subflows",
            [1, MAX_SUBFLOWS as u64],
            |own| own.0.shape().subflows_per_pair().into(),
            |own, n| own.0.set_shape(Shape::Ports(NonZeroU8::new(n as u8).unwrap_or(NonZeroU8::MIN))),
        ),
        Attribute::flag("retry", RETRY, |own| own.0.retries_failed(), |own, retry| own.0.set_retries_failed(retry)),
    ];
}

impl PathManager for NDiffPorts {
    fn on_event(&mut self, event: &Event, now: Instant, commands: &mut Vec<Command>) {
        self.0.on_event(event, now, commands);
    }

    fn wake_at(&self) -> Instant {
        self.0.wake_at()
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_events::{
        established_as_client, established_as_server, local, lost, remote, tell, tell_after, tuple, up,
    };
    use super::*;

    fn client(n: u8) -> (NDiffPorts, Vec<String>) {
        let mut manager = NDiffPorts::new(NonZeroU8::new(n).unwrap());
        let opened = tell(&mut manager, &[local(0, "10.0.0.1"), local(1, "10.0.1.1"), established_as_client()]);
        (manager, opened)
    }

    const SECOND_SUBFLOW: &str = "open 10.0.0.1#0 -> 10.9.0.1:80#0";

    #[test]
    fn there_are_n_subflows_on_the_initial_pair() {
        assert_eq!(client(1).1, [""; 0]);
        assert_eq!(client(4).1, [SECOND_SUBFLOW; 3]);
        assert_eq!(tell(&mut client(4).0, &[remote(1, "10.9.1.1"), local(2, "10.0.2.1")]), [""; 0]);
        assert_eq!(client(200).1.len(), MAX_SUBFLOWS - 1);
    }

    #[test]
    fn failed_subflows_are_replaced_after_a_second_or_not_at_all() {
        for (retry, replaced) in [(true, 2), (false, 0)] {
            let (mut manager, _) = client(3);
            manager.0.set_retries_failed(retry);
            tell(&mut manager, &[up("10.0.0.1:1025", "10.9.0.1:80"), up("10.0.0.1:1026", "10.9.0.1:80")]);
            let failed = [1025, 1026].map(|port| tuple(&format!("10.0.0.1:{port}"), "10.9.0.1:80"));
            assert_eq!(tell(&mut manager, &failed.map(Event::SubflowClosed)), [""; 0]);
            assert_eq!(tell_after(&mut manager, 999, &[Event::Woken]), [""; 0]);
            assert_eq!(tell_after(&mut manager, 1000, &[Event::Woken]), vec![SECOND_SUBFLOW; replaced]);
        }
    }

    #[test]
    fn an_address_that_returns_gets_all_of_its_subflows_again() {
        let (mut manager, _) = client(3);
        tell(&mut manager, &[up("10.0.0.1:1025", "10.9.0.1:80"), up("10.0.0.1:1026", "10.9.0.1:80")]);
        assert_eq!(tell(&mut manager, &[lost(0, "10.0.0.1")]).len(), 4, "withdrawn, and three closed");
        let opened = tell(&mut manager, &[local(2, "10.0.0.1")]);
        assert_eq!(opened, ["open 10.0.0.1#2 -> 10.9.0.1:80#0"; 3]);
    }

    #[test]
    fn a_server_does_not_announce_its_addresses() {
        let mut manager = NDiffPorts::default();
        assert_eq!(tell(&mut manager, &[local(1, "10.9.1.1"), established_as_server()]), [""; 0]);
    }
}
