//! What is left of connections that are over.

use allocation_counter::measure;

use super::rig::{MPTCP, Rig, TCP};
use crate::harness::secs;

/// The client connects, sends a little, and both close; after a minute nobody has it any more.
fn one_connection(rig: &mut Rig, port: u16) {
    let client = rig.connect(port);
    rig.client.endpoint_mut(client).write(100);
    rig.client.endpoint_mut(client).finish();
    rig.talk();
    let server = rig.accepted.pop().expect("a connection");
    assert_eq!(rig.server.endpoint(server).bytes_received(), 100);
    rig.server.endpoint_mut(server).finish();
    rig.talk();
}

#[test]
fn a_host_is_no_larger_after_40_000_connections_than_after_20_000() {
    let mut rig = Rig::new();
    let mut connections = |count: usize| {
        measure(|| {
            for _ in 0..count / 200 {
                for number in 0..200 {
                    one_connection(&mut rig, if number % 2 == 0 { TCP } else { MPTCP });
                }
                rig.pass(secs(61));
                rig.remove_closed();
                assert_eq!((rig.client.endpoint_ids(), rig.server.endpoint_ids()), (vec![], vec![]));
            }
        })
    };
    connections(20_000);
    let more = connections(20_000);
    assert!(more.bytes_current <= 0, "{} bytes more", more.bytes_current);
}
