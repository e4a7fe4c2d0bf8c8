//! `single-mesh`: one subflow from each local address.

use super::mesh::{Mesh, Shape};
use super::{Command, Event, PathManager};

/// Like a full mesh, but the client passes over a pair whose source address another subflow uses already: one subflow for
/// each of its addresses, so that subflows of one connection do not compete on the way there. Pairs are tried in the order
/// in which remote addresses became known; where a subflow fails or closes, its source goes on to the next remote address.
///
/// Source: lima2017, section 4.2, Algorithm 7 and code A.4. The thesis says that this makes min(n_s, n_d) subflows. Its
/// code looks at the source alone, which makes n_s of them, and so does this: a client with two addresses and a server with
/// one get two subflows. Addresses are announced, lost and found again as in a full mesh.
#[derive(Clone, Debug)]
pub struct SingleMesh(Mesh);

impl Default for SingleMesh {
    fn default() -> Self {
        Self(Mesh::new(Shape::Single))
    }
}

impl PathManager for SingleMesh {
    fn on_event(&mut self, event: &Event, commands: &mut Vec<Command>) {
        self.0.on_event(event, commands);
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
    fn a_source_whose_subflow_failed_goes_on_to_the_next_remote_address() {
        let (mut manager, _) = client();
        let failed = Event::SubflowClosed(tuple("10.0.1.1:1025", "10.9.0.1:80"));
        assert_eq!(tell(&mut manager, &[failed]), [""; 0], "there is no other yet, and it is not tried again");
        assert_eq!(tell(&mut manager, &[remote(1, "10.9.1.1")]), ["open 10.0.1.1#1 -> 10.9.1.1:80#1"]);
    }

    #[test]
    fn an_address_that_comes_back_gets_its_subflow_again() {
        let (mut manager, _) = client();
        tell(&mut manager, &[up("10.0.1.1:1025", "10.9.0.1:80")]);
        let closed = tell(&mut manager, &[lost(1, "10.0.1.1")]);
        assert_eq!(closed, ["withdraw #1", "close 10.0.1.1:1025 -> 10.9.0.1:80"]);
        assert_eq!(tell(&mut manager, &[local(1, "10.0.1.1")]), ["open 10.0.1.1#1 -> 10.9.0.1:80#0"]);
    }

    #[test]
    fn a_server_announces_its_addresses() {
        let mut manager = SingleMesh::default();
        let announced = tell(&mut manager, &[local(1, "10.9.1.1"), established_as_server()]);
        assert_eq!(announced, ["announce 10.9.1.1#1"]);
    }
}
