//! `binder`: one subflow through each gateway.

use subflow_quantity::Instant;

use crate::catalogue::{Attribute, Catalogued, Description};

use super::mesh::{Mesh, Shape};
use super::retries::RETRY;
use super::{Command, Event, PathManager};

/// The client opens one subflow from each of its addresses to the server's initial address. Each subflow uses a gateway
/// of its own. No addresses are announced. A subflow that failed is opened again as in a
/// full mesh. The network must route the packets of each address through its gateway.
///
/// Source: Boccassi, Fayed, Marina, Binder: A system to aggregate multiple internet gateways in community networks,
/// MobiCom workshop on lowest cost denominator networking, 2013; lima2017, section 3.3.2; Linux MPTCP 0.9x, `binder`.
/// The kernel writes the gateway into each subflow's packets as a loose source route (RFC 791). Here the client's
/// address identifies the gateway: the network model routes packets from and to that address through it. On the return
/// path this is what the tunnels of the Binder relays do.
#[derive(Clone, Debug)]
pub struct Binder(Mesh);

impl Default for Binder {
    fn default() -> Self {
        Self(Mesh::new(Shape::Gateways))
    }
}

impl Catalogued for Binder {
    const DESCRIPTION: Description = Description {
        name: "binder",
        aliases: &[],
        summary: "one subflow through each gateway of the client's interfaces",
        source: "Boccassi, Fayed, Marina, LCDNet 2013; lima2017, section 3.3.2; Linux MPTCP 0.9x, binder",
    };

    const OPTIONS: &'static [Attribute<Self>] =
        &[Attribute::flag("retry", RETRY, |own| own.0.retries_failed(), |own, retry| own.0.set_retries_failed(retry))];
}

impl PathManager for Binder {
    fn on_event(&mut self, event: &Event, now: Instant, commands: &mut Vec<Command>) {
        self.0.on_event(event, now, commands);
    }

    fn wake_at(&self) -> Instant {
        self.0.wake_at()
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_events::{established_as_client, established_as_server, local, lost, remote, tell};
    use super::*;

    #[test]
    fn every_gateway_s_address_has_one_subflow_to_the_initial_address() {
        let mut manager = Binder::default();
        let opened = tell(
            &mut manager,
            &[local(0, "10.0.0.1"), local(1, "10.0.0.2"), local(2, "10.0.0.3"), established_as_client()],
        );
        assert_eq!(opened, ["open 10.0.0.2#1 -> 10.9.0.1:80#0", "open 10.0.0.3#2 -> 10.9.0.1:80#0"]);
        assert_eq!(tell(&mut manager, &[remote(1, "10.9.1.1")]), [""; 0]);
        assert_eq!(tell(&mut manager, &[lost(1, "10.0.0.2")]), ["withdraw #1"]);
        assert_eq!(tell(&mut manager, &[local(1, "10.0.0.2")]).len(), 0, "the first request is not yet answered");
    }

    #[test]
    fn a_server_does_not_announce_its_addresses() {
        assert_eq!(tell(&mut Binder::default(), &[local(1, "10.9.1.1"), established_as_server()]), [""; 0]);
    }
}
