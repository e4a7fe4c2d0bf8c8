//! Our SCTP with usrsctp as its peer: handshakes from either side, 8 MiB in each direction, shutdown and abort, on one
//! path, and on two paths with concurrent multipath transfer; in UDP encapsulation, and directly in IP.
//!
//! One path is the loopback interface. Two paths are veth pairs between two namespaces created by the tests, or emulated
//! links between our host and a namespace behind TUN devices or veth pairs; both need root. Without usrsctp (Debian:
//! libusrsctp-dev), a C compiler or, for two paths, root, a test prints a message and passes, unless `SUBFLOW_REQUIRE`
//! names what is missing.
#![cfg(target_os = "linux")]

mod driver;
mod emulated;
mod paths;
mod peer;

use std::net::IpAddr;

use driver::{Addressing, Driver};
use emulated::Emulated;
use peer::{Peer, Role};
use subflow_linux::DeviceKind;
use subflow_prerequisite::Prerequisite;
use subflow_transport::Event;
use subflow_transport::sctp::Config;
use subflow_transport::sctp::config::WindowGrowth;
use subflow_transport::tcp::Closed;
use subflow_wire::sctp::{UdpEncapsulation, chunk_type};

const MIB: u64 = 1 << 20;

/// Both ends on the loopback interface, with ports that no other test uses.
fn on_loopback(number: u16) -> Addressing {
    let loopback = vec![IpAddr::from([127, 0, 0, 1])];
    let udp = UdpEncapsulation { source_port: 19_900 + number, destination_port: 19_950 + number };
    Addressing {
        locals: loopback.clone(),
        remotes: loopback,
        udp,
        local_port: 7000 + number,
        remote_port: 8000 + number,
    }
}

fn config(place: &Addressing) -> Config {
    Config {
        encapsulation: Some(place.udp),
        record_deliveries: true,
        message_size: 1400,
        receive_buffer: MIB,
        send_buffer: Some(MIB),
        ..Config::rfc9260()
    }
}

fn start(place: &Addressing, namespace: Option<&str>, role: &Role<'_>) -> Option<Peer> {
    let program = match peer::build() {
        Ok(program) => program,
        Err(why) => {
            Prerequisite::Usrsctp.missing(why);
            return None;
        }
    };
    let list = |addresses: &[IpAddr]| addresses.iter().map(IpAddr::to_string).collect::<Vec<_>>().join(",");
    let ports = [place.udp.destination_port, place.udp.source_port, place.remote_port, place.local_port];
    let mut peer = Peer::start(program, namespace, role, ports, [list(&place.remotes), list(&place.locals)]);
    if role.opens == "listen" {
        peer.expect("ready");
    }
    Some(peer)
}

#[test]
fn we_open_send_8_mib_and_shut_down() {
    let place = on_loopback(1);
    let role = Role { opens: "listen", send: 0, receive: 8 * MIB, end: "wait", cmt: false };
    let Some(mut peer) = start(&place, None, &role) else { return };
    let mut ours = Driver::new(&place);
    ours.connect(config(&place), 8 * MIB);
    ours.run_until("everything is acknowledged", Driver::has_sent_all);
    ours.finish();
    ours.run_until("the association is closed", |ours| ours.closed().is_some());
    peer.expect("received 8388608");
    peer.expect("closed");
    assert_eq!(ours.closed(), Some(Closed::Gracefully));
}

#[test]
fn the_peer_opens_sends_8_mib_and_shuts_down() {
    let place = on_loopback(2);
    let mut ours = Driver::new(&place);
    ours.listen(config(&place), 0);
    let role = Role { opens: "connect", send: 8 * MIB, receive: 0, end: "finish", cmt: false };
    let Some(mut peer) = start(&place, None, &role) else { return };
    ours.run_until("8 MiB were received", |ours| ours.received == 8 * MIB);
    ours.run_until("the peer shuts down", |ours| ours.events.contains(&Event::PeerFinished));
    ours.finish();
    ours.run_until("the association is closed", |ours| ours.closed().is_some());
    peer.expect("closed");
    assert_eq!(ours.closed(), Some(Closed::Gracefully));
}

#[test]
fn the_peer_is_notified_of_our_abort() {
    let place = on_loopback(3);
    let role = Role { opens: "listen", send: 0, receive: 2 * MIB, end: "wait", cmt: false };
    let Some(mut peer) = start(&place, None, &role) else { return };
    let mut ours = Driver::new(&place);
    ours.connect(config(&place), MIB);
    ours.run_until("everything is acknowledged", Driver::has_sent_all);
    ours.abort();
    peer.expect("lost");
}

#[test]
fn we_are_notified_of_the_peers_abort() {
    let place = on_loopback(4);
    let mut ours = Driver::new(&place);
    ours.listen(config(&place), 0);
    let role = Role { opens: "connect", send: MIB, receive: 0, end: "abort", cmt: false };
    let Some(mut peer) = start(&place, None, &role) else { return };
    ours.run_until("the association is closed", |ours| ours.closed().is_some());
    peer.expect("closed");
    assert_eq!(ours.closed(), Some(Closed::Reset));
}

/// Both directions at the same time, over both paths, with CMT, DAC and NR-SACK.
fn two_paths(we_open: bool) {
    let network = match paths::TwoPaths::make(if we_open { "a" } else { "b" }) {
        Ok(network) => network,
        Err(why) => return Prerequisite::Kernel.missing(why),
    };
    let place = network.place();
    let cmt = Config { nr_sack: true, ..config(&place) }.with_cmt(WindowGrowth::PerDestination);
    let (opens, end) = if we_open { ("listen", "wait") } else { ("connect", "finish") };
    let role = Role { opens, send: 8 * MIB, receive: 8 * MIB, end, cmt: true };
    network.inside(|| {
        let mut ours = Driver::new(&place);
        let mut peer;
        if we_open {
            let Some(started) = start(&place, Some(network.peer()), &role) else { return };
            peer = started;
            ours.connect(cmt, 8 * MIB);
        } else {
            ours.listen(cmt, 8 * MIB);
            let Some(started) = start(&place, Some(network.peer()), &role) else { return };
            peer = started;
        }
        ours.run_until("8 MiB were transferred in each direction", |ours| {
            ours.has_sent_all() && ours.received == 8 * MIB
        });
        peer.expect("received 8388608");
        if we_open {
            ours.finish();
        } else {
            ours.run_until("the peer shuts down", |ours| ours.events.contains(&Event::PeerFinished));
            ours.finish();
        }
        ours.run_until("the association is closed", |ours| ours.closed().is_some());
        peer.expect("closed");
        assert_eq!(ours.closed(), Some(Closed::Gracefully));

        let active =
            peer.output_lines().iter().filter(|line| line.starts_with("path") && line.ends_with("active")).count();
        assert_eq!(active, 2, "both of our addresses are active at the peer: {:?}", peer.output_lines());
        println!("sent {:?}, received {:?}", ours.sent_on, ours.received_on);
        for (direction, bytes) in [("sent", &ours.sent_on), ("received", &ours.received_on)] {
            let least = bytes.values().copied().min().unwrap_or(0);
            assert!(bytes.len() == 2 && least > MIB, "{direction} on both paths: {bytes:?}");
        }
        assert!(ours.chunk_types.contains_key(&chunk_type::NR_SACK), "NR-SACKs were received: {:?}", ours.chunk_types);
        // A peer with DAC counts the packets that a SACK answers: 2 where it delays, 1 where it has data to send with it.
        assert!(ours.most_packets_acknowledged >= 1, "the peer's SACKs count no packets");
    });
}

#[test]
fn eight_mib_in_each_direction_over_two_paths_opened_by_us() {
    two_paths(true);
}

#[test]
fn eight_mib_in_each_direction_over_two_paths_opened_by_the_peer() {
    two_paths(false);
}

/// Both directions at the same time over two emulated paths, with CMT, DAC and NR-SACK; `udp` is the port of UDP
/// encapsulation, or 0 for SCTP directly in IP.
fn over_emulated_paths(test: &str, device: DeviceKind, udp: u16, we_open: bool) {
    const BYTES: u64 = 2 * MIB;
    let addresses = |host| [1, 2].map(|path| IpAddr::from([10, path, 0, host])).to_vec();
    let place = Addressing {
        locals: addresses(1),
        remotes: addresses(2),
        udp: UdpEncapsulation { source_port: udp, destination_port: udp },
        local_port: 7000,
        remote_port: 8000,
    };
    let mut network = match Emulated::make(test, device, place.clone()) {
        Ok(network) => network,
        Err(why) => return Prerequisite::Kernel.missing(why),
    };
    let plain = Config { encapsulation: (udp != 0).then_some(place.udp), record_deliveries: false, ..config(&place) };
    let cmt = Config { nr_sack: true, ..plain }.with_cmt(WindowGrowth::PerDestination);
    let (opens, end) = if we_open { ("listen", "wait") } else { ("connect", "finish") };
    let role = Role { opens, send: BYTES, receive: BYTES, end, cmt: true };
    let Some(mut peer) = start(&place, Some(network.namespace()), &role) else { return };
    let id = if we_open { network.connect(cmt, BYTES) } else { network.listen(cmt, BYTES) };
    network.exchange(id, BYTES);
    network.finish(id);
    peer.expect(&format!("received {BYTES}"));
    peer.expect("closed");
    let by_path = network.acknowledged_by_path(id);
    assert_eq!(by_path.iter().sum::<u64>(), BYTES, "{by_path:?}");
    assert!(by_path.iter().all(|&bytes| bytes > MIB / 2), "on both paths: {by_path:?}");
}

#[test]
fn protocol_132_passes_tun_devices_to_usrsctp() {
    over_emulated_paths("raw-tun", DeviceKind::Tun, 0, true);
}

#[test]
fn protocol_132_passes_veth_pairs_from_usrsctp() {
    over_emulated_paths("raw-veth", DeviceKind::Veth, 0, false);
}

#[test]
fn sctp_in_udp_passes_tun_devices_from_usrsctp() {
    over_emulated_paths("udp-tun", DeviceKind::Tun, 9899, false);
}
