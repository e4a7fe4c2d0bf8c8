//! What is said besides data: addresses, priorities, resets, and falling back to TCP.

use subflow_linux::Transport;
use subflow_linux::netlink::{Endpoint, EndpointFlags};
use subflow_transport::tcp::Closed;
use subflow_transport::{Endpoint as Socket, EndpointId, Event, Listener};

use crate::bench::{CLIENT, SERVER, address, end, machine_serves};
use crate::contest::{
    Contest, accept, close, connect, connect_kernel, fast, finish_after, happened, has_fallen_back, listen_with, ours,
    plain_tcp, subflows_up, talk,
};

const BYTES: u64 = 300_000;
const FIRST: EndpointId = EndpointId(0);

fn pause(milliseconds: u64) {
    std::thread::sleep(std::time::Duration::from_millis(milliseconds));
}

fn announced(path: usize) -> Endpoint {
    let flags = EndpointFlags { signal: true, ..EndpointFlags::default() };
    Endpoint { id: Some(7), address: address(SERVER, path), port: None, flags }
}

#[test]
fn the_kernel_announces_an_address_and_takes_it_back() {
    if !machine_serves("the_kernel_announces_an_address_and_takes_it_back") {
        return;
    }
    let mut contest = Contest::new("addr-k", SERVER, &[fast(), fast()], &[]);
    let config = ours("full-mesh", |_| {});
    let (mut most, mut fewest_after) = (0, usize::MAX);
    contest.run(
        |network, station| {
            connect(network, station, &config, BYTES);
        },
        |kernel, interrupt| {
            let (_listener, stream) = accept(kernel, Transport::Mptcp, interrupt);
            // Its application does not read yet: our data waits at a closed window meanwhile.
            pause(100);
            kernel.with_path_manager(|manager| manager.add_endpoint(&announced(1))).expect("announced");
            pause(300);
            kernel.with_path_manager(|manager| manager.remove_endpoint(&announced(1))).expect("taken back");
            pause(300);
            talk(&stream, BYTES, BYTES);
            close(&stream);
        },
        |network, station| {
            let up = subflows_up(station, FIRST);
            if up > most {
                (most, fewest_after) = (up, up);
            }
            fewest_after = fewest_after.min(up);
            finish_after(network, station, FIRST, BYTES)
        },
    );
    assert!(most >= 2 && fewest_after < most, "{most} subflows, then {fewest_after}");
    assert!(contest.counter("EchoAdd") >= 1, "ours echoes the announcement");
    // Taking an address back ends its subflows by a reset.
    contest.assert_no_errors(&["MPRstTx", "MPRstRx"]);
}

#[test]
fn ours_announces_an_address_and_takes_it_back() {
    if !machine_serves("ours_announces_an_address_and_takes_it_back") {
        return;
    }
    let mut contest = Contest::new("addr-o", CLIENT, &[fast(), fast()], &[]);
    let config = ours("full-mesh", |_| {});
    let (mut removed, mut most, mut since) = (false, 0, None);
    contest.run(
        |_, station| listen_with(station, Listener::Mptcp(config)),
        |kernel, interrupt| {
            let stream = connect_kernel(kernel, Transport::Mptcp, interrupt);
            pause(800);
            talk(&stream, BYTES, 0);
            close(&stream);
        },
        |network, station| {
            let Some(&id) = station.accepted().first() else { return false };
            let up = subflows_up(station, id);
            most = most.max(up);
            if up >= 2 && since.is_none() {
                since = Some(network.now());
            }
            if !removed && since.is_some_and(|since| network.now().since(since).as_millis() > 200) {
                removed = true;
                let now = network.now();
                station.transport().remove_address(address(SERVER, 1), now);
                station.drain(network, id);
            }
            finish_after(network, station, id, BYTES)
        },
    );
    assert!(most >= 2 && removed, "{most} subflows");
    assert!(contest.counter("AddAddr") >= 1 && contest.counter("RmAddr") >= 1);
    contest.assert_no_errors(&["MPRstTx", "MPRstRx"]);
}

#[test]
fn the_kernel_makes_a_subflow_a_backup() {
    if !machine_serves("the_kernel_makes_a_subflow_a_backup") {
        return;
    }
    let mut contest = Contest::new("prio-k", CLIENT, &[fast(), fast()], &[]);
    let config = ours("default", |_| {});
    let mut seen_backup = false;
    let second = {
        let flags = EndpointFlags { subflow: true, ..EndpointFlags::default() };
        Endpoint { id: Some(2), address: address(CLIENT, 1), port: None, flags }
    };
    contest.run(
        |_, station| listen_with(station, Listener::Mptcp(config)),
        |kernel, interrupt| {
            kernel.with_path_manager(|manager| manager.add_endpoint(&second)).expect("an endpoint");
            let stream = connect_kernel(kernel, Transport::Mptcp, interrupt);
            talk(&stream, BYTES, 0);
            pause(200);
            kernel.with_path_manager(|manager| manager.set_backup(&second, true)).expect("a backup");
            pause(200);
            close(&stream);
        },
        |network, station| {
            let Some(&id) = station.accepted().first() else { return false };
            if let Socket::Mptcp(mptcp) = station.endpoint(id) {
                seen_backup |= mptcp.subflows().iter().any(subflow_transport::mptcp::Subflow::is_backup);
            }
            let over = station.endpoint(id).bytes_received() >= BYTES && seen_backup;
            over && finish_after(network, station, id, BYTES)
        },
    );
    assert!(contest.counter("MPPrioTx") >= 1);
    contest.assert_no_errors(&[]);
}

#[test]
fn ours_joins_with_a_backup() {
    if !machine_serves("ours_joins_with_a_backup") {
        return;
    }
    let mut contest = Contest::new("prio-o", SERVER, &[fast(), fast()], &[]);
    let config = ours("full-mesh", |config| config.backup_addresses = vec![address(CLIENT, 1)]);
    contest.run(
        |network, station| {
            connect(network, station, &config, BYTES);
        },
        |kernel, interrupt| {
            let (_listener, stream) = accept(kernel, Transport::Mptcp, interrupt);
            pause(200);
            talk(&stream, BYTES, BYTES);
            let info = stream.info().expect("info");
            let over_backup = info.subflows.iter().find(|subflow| subflow.remote.ip() == address(CLIENT, 1));
            // A backup carries nothing while another subflow works.
            assert!(over_backup.is_some_and(|subflow| subflow.bytes_acknowledged < BYTES / 10), "{info:?}");
            close(&stream);
        },
        |network, station| finish_after(network, station, FIRST, BYTES),
    );
    contest.assert_no_errors(&[]);
}

#[test]
fn ours_closes_fast() {
    if !machine_serves("ours_closes_fast") {
        return;
    }
    let mut contest = Contest::new("fast-o", SERVER, &[fast()], &[]);
    let config = ours("default", |_| {});
    let mut aborted = false;
    contest.run(
        |network, station| {
            connect(network, station, &config, BYTES);
        },
        |kernel, interrupt| {
            let (_listener, stream) = accept(kernel, Transport::Mptcp, interrupt);
            talk(&stream, 0, BYTES);
            let mut buffer = [0; 16];
            let error = stream.read(&mut buffer).expect_err("a reset");
            assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
        },
        |network, station| {
            let endpoint = station.endpoint(FIRST);
            if !aborted && endpoint.bytes_acknowledged() >= BYTES {
                aborted = true;
                station.transport().endpoint_mut(FIRST).abort();
                station.drain(network, FIRST);
            }
            aborted
        },
    );
    assert_eq!(contest.counter("MPFastcloseRx"), 1);
    contest.assert_no_errors(&["MPFastcloseRx", "MPRstTx", "MPRstRx"]);
}

#[test]
fn the_kernel_closes_fast() {
    if !machine_serves("the_kernel_closes_fast") {
        return;
    }
    let mut contest = Contest::new("fast-k", SERVER, &[fast()], &[]);
    let config = ours("default", |_| {});
    let mut seen = Vec::new();
    contest.run(
        |network, station| {
            connect(network, station, &config, BYTES);
        },
        |kernel, interrupt| {
            let (_listener, stream) = accept(kernel, Transport::Mptcp, interrupt);
            talk(&stream, 0, BYTES);
            stream.reset_on_close().expect("lingers no time");
        },
        |_, station| happened(&mut seen, station, |event| matches!(event, Event::Closed(Closed::Reset))),
    );
    assert_eq!(contest.counter("MPFastcloseTx"), 1);
}

#[test]
fn the_kernel_resets_one_subflow_and_the_rest_goes_on() {
    if !machine_serves("the_kernel_resets_one_subflow_and_the_rest_goes_on") {
        return;
    }
    let mut contest = Contest::new("rst-k", CLIENT, &[fast(), fast()], &[("mptcp/pm_type", "1")]);
    let config = ours("default", |_| {});
    let (mut most, mut fewest_after) = (0, usize::MAX);
    contest.run(
        |_, station| listen_with(station, Listener::Mptcp(config)),
        |kernel, interrupt| {
            let stream = connect_kernel(kernel, Transport::Mptcp, interrupt);
            talk(&stream, BYTES, 0);
            pause(100);
            let token = stream.info().expect("info").token.expect("a token");
            let (from, to) = (end(CLIENT, 1, 0), end(SERVER, 1, crate::bench::PORT));
            kernel.with_path_manager(|manager| manager.open_subflow(token, 2, from, to, false)).expect("a subflow");
            pause(200);
            let info = stream.info().expect("info");
            let second = info.subflows.iter().find(|subflow| subflow.local.ip() == address(CLIENT, 1));
            let (from, to) = second.map(|subflow| (subflow.local, subflow.remote)).expect("a second subflow");
            kernel.with_path_manager(|manager| manager.close_subflow(token, from, to)).expect("closed");
            pause(200);
            let mut bytes = vec![0; BYTES as usize];
            subflow_linux::Pattern.fill(BYTES, &mut bytes);
            let mut sent = 0;
            while sent < bytes.len() {
                sent += stream.write(&bytes[sent..]).expect("writes").expect("in time");
            }
            close(&stream);
        },
        |network, station| {
            let Some(&id) = station.accepted().first() else { return false };
            let up = subflows_up(station, id);
            if up > most {
                (most, fewest_after) = (up, up);
            }
            fewest_after = fewest_after.min(up);
            finish_after(network, station, id, 2 * BYTES)
        },
    );
    assert!(most == 2 && fewest_after < 2, "{most} subflows, then {fewest_after}");
    contest.assert_no_errors(&["MPRstTx"]);
}

/// A transfer each way that ends up as plain TCP.
fn falls_back(mut contest: Contest, transport: Transport) -> Contest {
    let config = ours("full-mesh", |_| {});
    contest.run(
        |network, station| {
            connect(network, station, &config, BYTES);
        },
        |kernel, interrupt| {
            let (_listener, stream) = accept(kernel, transport, interrupt);
            talk(&stream, BYTES, BYTES);
            assert!(transport == Transport::Tcp || stream.info().expect("info").fallback);
            close(&stream);
        },
        |network, station| finish_after(network, station, FIRST, BYTES),
    );
    assert!(has_fallen_back(&contest.emulator.userspace().station, FIRST));
    contest
}

#[test]
fn ours_falls_back_where_the_kernel_speaks_tcp() {
    if machine_serves("ours_falls_back_where_the_kernel_speaks_tcp") {
        falls_back(Contest::new("fall-o", SERVER, &[fast()], &[("mptcp/enabled", "0")]), Transport::Tcp);
    }
}

#[test]
fn both_fall_back_where_options_are_stripped_from_the_answer() {
    if machine_serves("both_fall_back_where_options_are_stripped_from_the_answer") {
        let mut contest = Contest::new("strip-o", SERVER, &[fast()], &[]);
        contest.emulator.parts().1.strips_options = true;
        falls_back(contest, Transport::Mptcp);
    }
}

#[test]
fn the_kernel_falls_back_where_ours_speaks_tcp() {
    if !machine_serves("the_kernel_falls_back_where_ours_speaks_tcp") {
        return;
    }
    let mut contest = Contest::new("fall-k", CLIENT, &[fast()], &[]);
    contest.run(
        |_, station| listen_with(station, Listener::Tcp(plain_tcp())),
        |kernel, interrupt| {
            let stream = connect_kernel(kernel, Transport::Mptcp, interrupt);
            talk(&stream, BYTES, 0);
            assert!(stream.info().expect("info").fallback);
            close(&stream);
        },
        |network, station| {
            station.accepted().first().copied().is_some_and(|id| finish_after(network, station, id, BYTES))
        },
    );
}

#[test]
fn both_fall_back_where_options_are_stripped_from_the_syn() {
    if !machine_serves("both_fall_back_where_options_are_stripped_from_the_syn") {
        return;
    }
    let mut contest = Contest::new("strip-k", CLIENT, &[fast()], &[]);
    contest.emulator.parts().1.strips_options = true;
    let config = ours("full-mesh", |_| {});
    contest.run(
        |_, station| listen_with(station, Listener::Mptcp(config)),
        |kernel, interrupt| {
            let stream = connect_kernel(kernel, Transport::Mptcp, interrupt);
            talk(&stream, BYTES, 0);
            assert!(stream.info().expect("info").fallback);
            close(&stream);
        },
        |network, station| {
            station.accepted().first().copied().is_some_and(|id| finish_after(network, station, id, BYTES))
        },
    );
}
