//! Whole transfers, byte by byte: who connects, who joins, checksums, losses, a path that fails.

use subflow_linux::Transport;
use subflow_linux::netlink::{Endpoint, EndpointFlags};
use subflow_network::{LinkChange, LinkConfig, LossConfig, Probability};
use subflow_quantity::{Duration, Rate};
use subflow_transport::{EndpointId, Listener};

use crate::bench::{CLIENT, SERVER, address, machine_serves};
use crate::contest::{
    Contest, accept, at, close, connect, connect_kernel, fast, finish_after, links_of, listen_with, ours, subflows_up,
    talk,
};

const MEGABYTE: u64 = 1_000_000;

/// Our client and the kernel's server send `bytes` each way; ours opens a subflow per path.
fn our_client(
    name: &str,
    paths: &[LinkConfig],
    checksum: [bool; 2],
    bytes: u64,
    prepare: impl FnOnce(&mut Contest),
) -> Contest {
    let kernel_checksum = if checksum[1] { "1" } else { "0" };
    let mut contest = Contest::new(name, SERVER, paths, &[("mptcp/checksum_enabled", kernel_checksum)]);
    prepare(&mut contest);
    let config = ours("full-mesh", |config| config.checksum = checksum[0]);
    let mut most = 0;
    contest.run(
        |network, station| {
            connect(network, station, &config, bytes);
        },
        |kernel, interrupt| {
            // The kernel announces its other addresses; ours joins them.
            let others = paths.len();
            kernel
                .with_path_manager(|manager| {
                    for path in 1..others {
                        let flags = EndpointFlags { signal: true, ..EndpointFlags::default() };
                        manager.add_endpoint(&Endpoint {
                            id: None,
                            address: address(SERVER, path),
                            port: None,
                            flags,
                        })?;
                    }
                    Ok(())
                })
                .expect("endpoints");
            let (_listener, stream) = accept(kernel, Transport::Mptcp, interrupt);
            talk(&stream, bytes, bytes);
            let info = stream.info().expect("info");
            assert!(!info.fallback, "{info:?}");
            assert_eq!(info.checksum, checksum[0] || checksum[1]);
            close(&stream);
        },
        |network, station| {
            let id = EndpointId(0);
            most = most.max(subflows_up(station, id));
            finish_after(network, station, id, bytes)
        },
    );
    assert!(paths.len() == 1 || most > 1, "{most} subflows");
    contest
}

/// The kernel's client and our server, `bytes` each way; the kernel opens a subflow per path.
fn kernel_client(name: &str, paths: usize, checksum: [bool; 2], bytes: u64) -> Contest {
    let kernel_checksum = if checksum[1] { "1" } else { "0" };
    let mut contest = Contest::new(name, CLIENT, &vec![fast(); paths], &[("mptcp/checksum_enabled", kernel_checksum)]);
    let config = ours("full-mesh", |config| config.checksum = checksum[0]);
    let (mut most, mut written) = (0, false);
    contest.run(
        |_, station| listen_with(station, Listener::Mptcp(config)),
        |kernel, interrupt| {
            kernel
                .with_path_manager(|manager| {
                    for path in 0..paths {
                        let flags = EndpointFlags { subflow: true, fullmesh: true, ..EndpointFlags::default() };
                        manager.add_endpoint(&Endpoint {
                            id: None,
                            address: address(CLIENT, path),
                            port: None,
                            flags,
                        })?;
                    }
                    Ok(())
                })
                .expect("endpoints");
            let stream = connect_kernel(kernel, Transport::Mptcp, interrupt);
            talk(&stream, bytes, bytes);
            let info = stream.info().expect("info");
            assert!(!info.fallback, "{info:?}");
            assert_eq!(info.checksum, checksum[0] || checksum[1]);
            close(&stream);
        },
        |network, station| {
            let Some(&id) = station.accepted().first() else { return false };
            if !written {
                station.transport().endpoint_mut(id).write(bytes);
                station.drain(network, id);
                written = true;
            }
            most = most.max(subflows_up(station, id));
            finish_after(network, station, id, bytes)
        },
    );
    assert!(paths == 1 || most > 1, "{most} subflows");
    contest
}

#[test]
fn our_client_over_one_path() {
    if machine_serves("our_client_over_one_path") {
        let contest = our_client("oc1", &[fast()], [false, false], MEGABYTE, |_| {});
        contest.assert_no_errors(&[]);
        assert_eq!(contest.counter("MPCapableSYNRX"), 1);
    }
}

#[test]
fn our_client_joins() {
    if machine_serves("our_client_joins") {
        let contest = our_client("oc2", &[fast(), fast()], [false, false], 3 * MEGABYTE, |_| {});
        contest.assert_no_errors(&[]);
        assert!(contest.counter("MPJoinAckRx") >= 1);
    }
}

#[test]
fn our_client_with_checksums() {
    if machine_serves("our_client_with_checksums") {
        for (name, checksum) in [("oc-k1", [true, false]), ("oc-k2", [false, true]), ("oc-k3", [true, true])] {
            our_client(name, &[fast(), fast()], checksum, MEGABYTE, |_| {}).assert_no_errors(&[]);
        }
    }
}

#[test]
fn the_kernels_client_over_one_path() {
    if machine_serves("the_kernels_client_over_one_path") {
        let contest = kernel_client("kc1", 1, [false, false], MEGABYTE);
        contest.assert_no_errors(&[]);
        assert_eq!(contest.counter("MPCapableSYNACKRX"), 1);
    }
}

#[test]
fn the_kernels_client_joins() {
    if machine_serves("the_kernels_client_joins") {
        let contest = kernel_client("kc2", 2, [false, false], 3 * MEGABYTE);
        contest.assert_no_errors(&[]);
        assert!(contest.counter("MPJoinSynAckRx") >= 1);
    }
}

#[test]
fn the_kernels_client_with_checksums() {
    if machine_serves("the_kernels_client_with_checksums") {
        for (name, checksum) in [("kc-k1", [true, false]), ("kc-k2", [false, true]), ("kc-k3", [true, true])] {
            kernel_client(name, 2, checksum, MEGABYTE).assert_no_errors(&[]);
        }
    }
}

fn lossy(mbit: u64, delay_ms: u64, loss: f64) -> LinkConfig {
    LinkConfig::new(Rate::from_mbit(mbit), Duration::from_millis(delay_ms))
        .with_loss(LossConfig::Bernoulli(Probability::new(loss).expect("a probability")))
}

/// How much is sent each way over lossy paths. 100 takes some ten seconds of a free core.
fn megabytes() -> u64 {
    std::env::var("SUBFLOW_INTEROP_MEGABYTES").ok().and_then(|text| text.parse().ok()).unwrap_or(10)
}

#[test]
fn every_byte_arrives_over_two_lossy_unequal_paths() {
    if machine_serves("every_byte_arrives_over_two_lossy_unequal_paths") {
        let paths = [lossy(300, 2, 0.0002), lossy(100, 10, 0.0005)];
        our_client("lossy", &paths, [false, true], megabytes() * MEGABYTE, |_| {}).assert_no_errors(&[]);
    }
}

#[test]
fn a_path_is_cut_and_restored() {
    if machine_serves("a_path_is_cut_and_restored") {
        let slow = LinkConfig::new(Rate::from_mbit(20), Duration::from_millis(5));
        let contest = our_client("cut", &[slow.clone(), slow], [false, false], 4 * MEGABYTE, |contest| {
            let (network, _) = contest.emulator.parts();
            for link in links_of(0) {
                network.schedule_change(at(300), link, LinkChange::Down);
                network.schedule_change(at(1500), link, LinkChange::Up);
            }
        });
        contest.assert_no_errors(&[]);
    }
}
