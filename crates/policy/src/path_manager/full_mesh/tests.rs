//! Sequences of events and the commands of a full mesh.

use super::super::test_events::{
    address, established_as_client, established_as_server, local, lost, remote, tell, tell_after, tuple, up,
};
use super::super::{Address, MAX_SUBFLOWS};
use super::*;

use subflow_quantity::Duration;

mod properties;

/// A client with 10.0.0.1 and 10.0.1.1 whose second subflow, to the server's only address, is open.
fn phone() -> FullMesh {
    let mut manager = FullMesh::default();
    let opened = tell(&mut manager, &[local(0, "10.0.0.1"), local(1, "10.0.1.1"), established_as_client()]);
    assert_eq!(opened, ["open 10.0.1.1#1 -> 10.9.0.1:80#0"]);
    assert_eq!(tell(&mut manager, &[up("10.0.1.1:1025", "10.9.0.1:80")]), [""; 0]);
    manager
}

#[test]
fn a_client_opens_every_pair_but_the_one_it_has() {
    let opened = tell(&mut phone(), &[remote(2, "10.9.1.1")]);
    assert_eq!(opened, ["open 10.0.0.1#0 -> 10.9.1.1:80#2", "open 10.0.1.1#1 -> 10.9.1.1:80#2"]);
}

#[test]
fn an_announcement_repeated_opens_nothing_more() {
    assert_eq!(tell(&mut phone(), &[remote(2, "10.9.1.1"), remote(2, "10.9.1.1")]), [""; 0]);
    assert_eq!(tell(&mut phone(), &[remote(2, "10.9.1.1"), remote(3, "10.9.1.1")]), [""; 0]);
}

#[test]
fn another_port_of_the_same_host_is_another_target() {
    let announced = Address { port: Some(81), ..address(1, "10.9.0.1") };
    let opened = tell(&mut phone(), &[Event::RemoteAddressAdded(announced)]);
    assert_eq!(opened, ["open 10.0.0.1#0 -> 10.9.0.1:81#1", "open 10.0.1.1#1 -> 10.9.0.1:81#1"]);
}

#[test]
fn a_server_announces_its_further_addresses_and_opens_nothing() {
    let mut manager = FullMesh::default();
    let announced = tell(&mut manager, &[local(0, "10.9.0.1"), local(1, "10.9.1.1"), established_as_server()]);
    assert_eq!(announced, ["announce 10.9.1.1#1"]);
    assert_eq!(tell(&mut manager, &[remote(1, "10.0.1.1")]), [""; 0]);
    assert_eq!(tell(&mut manager, &[local(2, "10.9.2.1")]), ["announce 10.9.2.1#2"]);
    assert_eq!(tell(&mut manager, &[Event::LocalAddressRemoved(address(1, "10.9.1.1"))]), ["withdraw #1"]);
    assert_eq!(tell(&mut manager, &[local(3, "10.9.1.1")]), ["announce 10.9.1.1#3"]);
}

#[test]
fn a_lost_address_closes_its_subflow_and_its_return_opens_it_again() {
    let mut manager = phone();
    let lost = tell(&mut manager, &[Event::LocalAddressRemoved(address(0, "10.0.0.1"))]);
    assert_eq!(lost, ["withdraw #0", "close 10.0.0.1:1024 -> 10.9.0.1:80"]);
    assert_eq!(tell(&mut manager, &[local(2, "10.0.0.1")]), ["open 10.0.0.1#2 -> 10.9.0.1:80#0"]);
}

#[test]
fn a_subflow_that_comes_up_after_its_address_was_lost_is_closed() {
    let mut manager = phone();
    tell(&mut manager, &[remote(1, "10.9.1.1"), Event::LocalAddressRemoved(address(1, "10.0.1.1"))]);
    let late = tell(&mut manager, &[up("10.0.1.1:1027", "10.9.1.1:80")]);
    assert_eq!(late, ["close 10.0.1.1:1027 -> 10.9.1.1:80"]);
}

#[test]
fn an_unanswered_request_is_not_repeated_when_its_address_returns() {
    let mut manager = phone();
    tell(&mut manager, &[remote(1, "10.9.1.1"), Event::LocalAddressRemoved(address(1, "10.0.1.1"))]);
    assert_eq!(tell(&mut manager, &[local(2, "10.0.1.1")]), ["open 10.0.1.1#2 -> 10.9.0.1:80#0"]);
    assert_eq!(tell(&mut manager, &[up("10.0.1.1:1027", "10.9.1.1:80")]), [""; 0]);
}

#[test]
fn the_subflows_of_a_withdrawn_address_are_not_tried_again_and_it_may_return() {
    let mut manager = phone();
    tell(
        &mut manager,
        &[remote(1, "10.9.1.1"), up("10.0.0.1:1026", "10.9.1.1:80"), up("10.0.1.1:1027", "10.9.1.1:80")],
    );
    let closed = ["10.0.0.1:1026", "10.0.1.1:1027"].map(|local| Event::SubflowClosed(tuple(local, "10.9.1.1:80")));
    tell(&mut manager, &[Event::RemoteAddressRemoved { id: 1 }]);
    assert_eq!(tell(&mut manager, &closed), [""; 0], "by the transport");
    assert_eq!(manager.wake_at(), Instant::MAX);
    assert_eq!(tell(&mut manager, &[remote(1, "10.9.1.1")]).len(), 2);
}

/// The peer has answered joins to the address with the identifier that it has since it returned. The transport knows them
/// by that, and does not close them.
#[test]
fn a_late_withdrawal_leaves_the_subflows_of_an_address_that_has_returned() {
    let mut manager = phone();
    let both = [up("10.0.0.1:1026", "10.9.1.1:80"), up("10.0.1.1:1027", "10.9.1.1:80")];
    tell(&mut manager, &[remote(1, "10.9.1.1")]);
    tell(&mut manager, &both);
    assert_eq!(tell(&mut manager, &[Event::RemoteAddressRemoved { id: 1 }]), [""; 0]);
    assert_eq!(tell(&mut manager, &[remote(2, "10.9.1.1")]), [""; 0], "both pairs have their subflow");
}

#[test]
fn a_path_that_worked_is_tried_in_time_after_its_address_was_lost_though_its_peer_was_announced() {
    let mut manager = phone();
    tell(&mut manager, &[remote(1, "10.9.1.1"), up("10.0.1.1:1027", "10.9.1.1:80")]);
    tell(&mut manager, &[lost(1, "10.0.1.1")]);
    assert_eq!(tell(&mut manager, &[local(2, "10.0.1.1")]).len(), 2);
    tell(&mut manager, &[Event::SubflowClosed(tuple("10.0.1.1:0", "10.9.1.1:80"))]);
    assert_eq!(tell_after(&mut manager, 1000, &[Event::Woken]), ["open 10.0.1.1#2 -> 10.9.1.1:80#1"]);
}

#[test]
fn a_server_leaves_the_subflows_of_a_withdrawn_address_to_the_transport() {
    let mut manager = FullMesh::default();
    tell(&mut manager, &[established_as_server(), up("10.9.1.1:80", "10.0.0.1:1025")]);
    assert_eq!(tell(&mut manager, &[Event::RemoteAddressRemoved { id: 0 }]), [""; 0]);
}

#[test]
fn a_failed_subflow_is_opened_again_with_a_delay_that_grows() {
    let (mut manager, again) = (phone(), ["open 10.0.1.1#1 -> 10.9.0.1:80#0"]);
    let failed = Event::SubflowClosed(tuple("10.0.1.1:1025", "10.9.0.1:80"));
    assert_eq!(tell(&mut manager, &[failed]), [""; 0]);
    assert_eq!(tell_after(&mut manager, 999, &[Event::Woken]), [""; 0]);
    assert_eq!(tell_after(&mut manager, 1000, &[Event::Woken]), again);
    let unanswered = Event::SubflowClosed(tuple("10.0.1.1:0", "10.9.0.1:80"));
    tell_after(&mut manager, 5000, &[unanswered]);
    assert_eq!(manager.wake_at(), Instant::ZERO + Duration::from_secs(7));
    assert_eq!(tell_after(&mut manager, 7000, &[Event::Woken]), again);
    assert_eq!(manager.wake_at(), Instant::MAX, "it is being opened");
}

#[test]
fn a_change_of_routes_lets_failed_subflows_be_opened_at_once() {
    let mut manager = phone();
    let failed = Event::SubflowClosed(tuple("10.0.1.1:1025", "10.9.0.1:80"));
    let opened = tell(&mut manager, &[Event::RoutesChanged, failed, Event::RoutesChanged]);
    assert_eq!(opened, ["open 10.0.1.1#1 -> 10.9.0.1:80#0"]);
    assert_eq!(tell(&mut manager, &[Event::RoutesChanged]), [""; 0]);
}

#[test]
fn an_announced_address_that_never_answered_is_tried_again_when_it_is_announced_again() {
    let mut manager = phone();
    tell(&mut manager, &[remote(1, "10.9.1.1")]);
    let unanswered = |local: &str| Event::SubflowClosed(tuple(local, "10.9.1.1:80"));
    tell(&mut manager, &[unanswered("10.0.0.1:0"), unanswered("10.0.1.1:0")]);
    assert_eq!(manager.wake_at(), Instant::MAX, "RFC 8684, section 3.4.1");
    assert_eq!(tell(&mut manager, &[remote(1, "10.9.1.1")]).len(), 2);
}

#[test]
fn a_subflow_that_the_connection_may_not_have_is_not_tried_again() {
    let mut manager = FullMesh::default();
    tell(&mut manager, &[local(1, "10.0.1.1"), established_as_client()]);
    tell(&mut manager, &[Event::NotOpened(tuple("10.0.1.1:0", "10.9.0.1:80"))]);
    assert_eq!((manager.wake_at(), manager.0.subflows()), (Instant::MAX, 1));
}

#[test]
fn a_server_leaves_it_to_the_client_to_open_failed_subflows_again() {
    let mut manager = FullMesh::default();
    tell(&mut manager, &[established_as_server(), up("10.9.0.1:80", "10.0.1.1:1025")]);
    tell(&mut manager, &[Event::SubflowClosed(tuple("10.9.0.1:80", "10.0.1.1:1025"))]);
    assert_eq!(manager.wake_at(), Instant::MAX);
}

#[test]
fn without_retry_a_failed_subflow_stays_closed_until_its_address_returns() {
    let mut manager = phone();
    manager.0.set_retries_failed(false);
    tell(&mut manager, &[Event::SubflowClosed(tuple("10.0.1.1:1025", "10.9.0.1:80"))]);
    assert_eq!(manager.wake_at(), Instant::MAX);
    tell(&mut manager, &[lost(1, "10.0.1.1")]);
    assert_eq!(tell(&mut manager, &[local(2, "10.0.1.1")]), ["open 10.0.1.1#2 -> 10.9.0.1:80#0"]);
}

#[test]
fn a_path_that_the_peer_refused_for_good_is_not_tried_again_when_its_address_returns() {
    let mut manager = phone();
    let subflow = tuple("10.0.1.1:1025", "10.9.0.1:80");
    tell(&mut manager, &[Event::PathRefused(subflow), Event::SubflowClosed(subflow)]);
    let lost = Event::LocalAddressRemoved(address(1, "10.0.1.1"));
    assert_eq!(tell(&mut manager, &[lost, local(1, "10.0.1.1")]), [""; 0]);
    assert_eq!(tell(&mut manager, &[remote(2, "10.9.1.1")]).len(), 2, "other paths are open to it");
}

#[test]
fn joins_to_a_closed_initial_address_are_not_tried() {
    let initial = tuple("10.0.0.1:1024", "10.9.0.1:80");
    let established = Event::Established { initial, client: true, initial_address_closed: true };
    let mut manager = FullMesh::default();
    assert_eq!(tell(&mut manager, &[local(1, "10.0.1.1"), established]), [""; 0]);
    assert_eq!(tell(&mut manager, &[remote(1, "10.9.1.1")]).len(), 2);
}

#[test]
fn several_subflows_per_pair_count_the_initial_one() {
    let mut manager = FullMesh::new(NonZeroU8::new(2).unwrap());
    let opened = tell(&mut manager, &[local(1, "10.0.1.1"), established_as_client()]);
    let [other, initial] = ["open 10.0.1.1#1 -> 10.9.0.1:80#0", "open 10.0.0.1#0 -> 10.9.0.1:80#0"];
    assert_eq!(opened, [other, initial, other]);
}

#[test]
fn addresses_of_different_families_form_no_pair() {
    assert_eq!(tell(&mut phone(), &[remote(1, "2001:db8::1")]), [""; 0]);
    assert_eq!(tell(&mut phone(), &[local(2, "2001:db8::2")]), [""; 0]);
}

#[test]
fn there_are_at_most_64_subflows_and_a_closed_one_is_replaced() {
    let mut manager = FullMesh::default();
    tell(&mut manager, &[established_as_client()]);
    for id in 1..=70 {
        tell(&mut manager, &[remote(id, &format!("10.9.{id}.1"))]);
    }
    assert_eq!(manager.0.subflows(), MAX_SUBFLOWS);
    for id in 1..9 {
        let withdrawn = tell(&mut manager, &[local(id, &format!("10.0.{id}.1"))]);
        assert_eq!(withdrawn, [""; 0]);
    }
    let freed = tell(&mut manager, &[Event::SubflowClosed(tuple("10.0.0.1:1024", "10.9.0.1:80"))]);
    assert_eq!(freed, ["open 10.0.1.1#1 -> 10.9.0.1:80#0"]);
}

#[test]
fn a_connection_that_is_taken_over_gets_only_what_it_lacks() {
    let mut manager = FullMesh::default();
    let opened = tell(
        &mut manager,
        &[
            local(3, "10.0.1.1"),
            local(4, "10.0.2.1"),
            remote(1, "10.9.1.1"),
            up("10.0.1.1:1025", "10.9.0.1:80"),
            up("10.0.0.1:1026", "10.9.1.1:80"),
            established_as_client(),
        ],
    );
    let missing =
        ["open 10.0.1.1#3 -> 10.9.1.1:80#1", "open 10.0.2.1#4 -> 10.9.1.1:80#1", "open 10.0.2.1#4 -> 10.9.0.1:80#0"];
    assert_eq!(opened, missing);
    let initial = Event::SubflowClosed(tuple("10.0.0.1:1024", "10.9.0.1:80"));
    assert_eq!(tell(&mut manager, &[initial]), [""; 0], "as if it had closed while it was managed");
    assert_eq!(tell(&mut manager, &[lost(3, "10.0.1.1")]), ["withdraw #3", "close 10.0.1.1:1025 -> 10.9.0.1:80"]);
}
