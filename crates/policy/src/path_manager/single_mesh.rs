//! `single-mesh`: one subflow from each local address.

use subflow_quantity::Instant;

use crate::catalogue::{Attribute, Catalogued, Description};

use super::mesh::{Mesh, Shape};
use super::retries::RETRY;
use super::{Command, Event, PathManager};

/// Like a full mesh, but the client skips a pair if another subflow already uses its source address. Each of its
/// addresses thus has one subflow, and the subflows of a connection do not compete for the client's links. Pairs are
/// tried in the order in which remote addresses became known. If a subflow fails or closes, the next remote address is
/// tried from its source address. A pair that failed is tried again as in a full mesh, while no other subflow uses its
/// source address.
///
/// Source: lima2017, section 4.2, Algorithm 7 and code A.4. According to the thesis this gives min(n_s, n_d) subflows.
/// Its code checks only the source address, which gives n_s subflows, and so does this implementation: a client with
/// two addresses and a server with one have two subflows. Announced, lost and returned addresses are handled as in a
/// full mesh.
#[derive(Clone, Debug)]
pub struct SingleMesh(Mesh);

impl Default for SingleMesh {
    fn default() -> Self {
        Self(Mesh::new(Shape::Single))
    }
}

impl Catalogued for SingleMesh {
    const DESCRIPTION: Description = Description {
        name: "single-mesh",
        aliases: &["singlemesh"],
        summary: "one subflow from every local address",
        source: "lima2017, section 4.2, Algorithm 7",
    };

    const OPTIONS: &'static [Attribute<Self>] =
        &[Attribute::flag("retry", RETRY, |own| own.0.retries_failed(), |own, retry| own.0.set_retries_failed(retry))];
}

impl PathManager for SingleMesh {
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
        established_as_client, established_as_server, local, lost, remote, tell, tuple, up,
    };
    use super::*;

    /// A client with three addresses whose initial subflow is up.
    fn client() -> (SingleMesh, Vec<String>) {
        let mut manager = SingleMesh::default();
        let events = [local(0, "10.0.0.1"), local(1, "10.0.1.1"), local(2, "10.0.2.1"), established_as_client()];
        let opened = tell(&mut manager, &events);
        (manager, opened)
    }

    #[test]
    fn every_source_address_has_one_subflow() {
        let (mut manager, opened) = client();
        assert_eq!(opened, ["open 10.0.1.1#1 -> 10.9.0.1:80#0", "open 10.0.2.1#2 -> 10.9.0.1:80#0"]);
        assert_eq!(tell(&mut manager, &[remote(1, "10.9.1.1"), remote(2, "10.9.2.1")]), [""; 0]);
        assert_eq!(manager.0.subflows(), 3);
    }

    #[test]
    fn after_a_failed_subflow_its_source_tries_the_next_remote_address() {
        let (mut manager, _) = client();
        let failed = Event::SubflowClosed(tuple("10.0.1.1:1025", "10.9.0.1:80"));
        assert_eq!(
            tell(&mut manager, &[failed]),
            [""; 0],
            "there is no other remote address yet, and this one is not tried again at once"
        );
        assert_eq!(tell(&mut manager, &[remote(1, "10.9.1.1")]), ["open 10.0.1.1#1 -> 10.9.1.1:80#1"]);
    }

    #[test]
    fn an_address_that_returns_gets_its_subflow_again() {
        let (mut manager, _) = client();
        tell(&mut manager, &[up("10.0.1.1:1025", "10.9.0.1:80")]);
        let closed = tell(&mut manager, &[lost(1, "10.0.1.1")]);
        assert_eq!(closed, ["withdraw #1", "close 10.0.1.1:1025 -> 10.9.0.1:80"]);
        assert_eq!(tell(&mut manager, &[local(3, "10.0.1.1")]), ["open 10.0.1.1#3 -> 10.9.0.1:80#0"]);
    }

    #[test]
    fn a_server_announces_its_addresses() {
        let mut manager = SingleMesh::default();
        let announced = tell(&mut manager, &[local(1, "10.9.1.1"), established_as_server()]);
        assert_eq!(announced, ["announce 10.9.1.1#1"]);
    }
}
