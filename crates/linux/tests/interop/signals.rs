//! What is said besides data: addresses, priorities and resets.

use core::sync::atomic::{AtomicBool, Ordering};

use subflow_linux::netlink::{Endpoint, EndpointFlags, NewSubflow};
use subflow_linux::{KernelHost, Stream};
use subflow_transport::tcp::Closed;
use subflow_transport::{Event, Listener};

use crate::bench::{CLIENT, PORT, SERVER, address, end};
use crate::contest::{Contest, Setting, close, connection, finish_after, happened, ours, send, subflows_up, talk};

const BYTES: u64 = 300_000;

fn pause(milliseconds: u64) {
    std::thread::sleep(std::time::Duration::from_millis(milliseconds));
}

/// Waits until `counter` of the kernel's MPTCP is `value`, or more.
fn wait_for(kernel: &KernelHost, counter: &str, value: i64) {
    let count = || kernel.counters().expect("counters").of(&format!("MPTcpExt{counter}"));
    assert!(comes_true(|| count() >= value), "{counter} is {} instead of {value}", count());
}

/// Waits until `condition` holds, on a machine that may be busy. Returns whether it came to that.
fn comes_true(condition: impl Fn() -> bool) -> bool {
    (0..2000).any(|_| {
        condition() || {
            pause(10);
            false
        }
    })
}

/// Bytes that the kernel sent over its subflow to our address on `path`, and that were acknowledged.
fn sent_over(stream: &Stream, path: usize) -> u64 {
    let info = stream.info().expect("info");
    let subflow = info.subflows.iter().find(|subflow| subflow.remote.ip() == address(CLIENT, path));
    subflow.map_or(0, |subflow| subflow.bytes_acknowledged)
}

fn announced(path: usize) -> Endpoint {
    let flags = EndpointFlags { signal: true, ..EndpointFlags::default() };
    Endpoint { id: Some(7), address: address(SERVER, path), port: None, flags }
}

#[test]
fn the_kernel_announces_an_address_and_takes_it_back() {
    let test = "the_kernel_announces_an_address_and_takes_it_back";
    let Some(mut contest) = Contest::new(test, &Setting::fast(SERVER, 2)) else { return };
    let (mut most, mut fewest_after) = (0, usize::MAX);
    contest.with_our_client(
        &ours("full-mesh", |_| {}),
        BYTES,
        |kernel, stream| {
            // Its application does not read yet: our data waits at a closed window meanwhile.
            pause(100);
            kernel.with_path_manager(|manager| manager.add_endpoint(&announced(1))).expect("announced");
            // One to the address that was known before, and one to this one.
            wait_for(kernel, "MPJoinAckRx", 2);
            pause(200);
            kernel.with_path_manager(|manager| manager.remove_endpoint(&announced(1))).expect("taken back");
            pause(300);
            talk(stream, BYTES, BYTES);
            close(stream);
        },
        |network, host, id| {
            let up = subflows_up(host, id);
            if up > most {
                (most, fewest_after) = (up, up);
            }
            fewest_after = fewest_after.min(up);
            finish_after(network, host, id, BYTES)
        },
    );
    assert!(most >= 2 && fewest_after < most, "{most} subflows, then {fewest_after}");
    assert!(contest.counter("EchoAdd") >= 1, "ours echoes the announcement");
    // Taking an address back ends its subflows by a reset.
    contest.assert_no_errors(&["MPRstTx", "MPRstRx"]);
}

#[test]
fn ours_announces_an_address_and_takes_it_back() {
    let test = "ours_announces_an_address_and_takes_it_back";
    let Some(mut contest) = Contest::new(test, &Setting::fast(CLIENT, 2)) else { return };
    let (mut removed, mut most, mut since) = (false, 0, None);
    contest.with_our_server(
        Listener::Mptcp(ours("full-mesh", |_| {})),
        |kernel, stream| {
            wait_for(kernel, "RmAddr", 1);
            talk(stream, BYTES, 0);
            close(stream);
        },
        |network, host, id| {
            let up = subflows_up(host, id);
            most = most.max(up);
            if up >= 2 && since.is_none() {
                since = Some(network.now());
            }
            if !removed && since.is_some_and(|since| network.now().since(since).as_millis() > 200) {
                removed = true;
                let now = network.now();
                host.transport().remove_address(address(SERVER, 1), now);
                host.drain(network, id);
            }
            finish_after(network, host, id, BYTES)
        },
    );
    assert!(most >= 2 && removed, "{most} subflows");
    assert!(contest.counter("AddAddr") >= 1 && contest.counter("RmAddr") >= 1);
    contest.assert_no_errors(&["MPRstTx", "MPRstRx"]);
}

#[test]
fn the_kernel_makes_a_subflow_a_backup() {
    let test = "the_kernel_makes_a_subflow_a_backup";
    let Some(mut contest) = Contest::new(test, &Setting::fast(CLIENT, 2)) else { return };
    let mut seen_backup = false;
    let second = {
        let flags = EndpointFlags { subflow: true, ..EndpointFlags::default() };
        Endpoint { id: Some(2), address: address(CLIENT, 1), port: None, flags }
    };
    contest.kernel.with_path_manager(|manager| manager.add_endpoint(&second)).expect("an endpoint");
    contest.with_our_server(
        Listener::Mptcp(ours("default", |_| {})),
        |kernel, stream| {
            talk(stream, BYTES, 0);
            wait_for(kernel, "MPJoinSynAckRx", 1);
            pause(200);
            kernel.with_path_manager(|manager| manager.set_backup(&second, true)).expect("a backup");
            pause(200);
            close(stream);
        },
        |network, host, id| {
            let subflows = connection(host, id).subflows();
            seen_backup |= subflows.iter().any(subflow_transport::mptcp::Subflow::is_backup);
            let over = host.endpoint(id).bytes_received() >= BYTES && seen_backup;
            over && finish_after(network, host, id, BYTES)
        },
    );
    assert!(contest.counter("MPPrioTx") >= 1);
    contest.assert_no_errors(&[]);
}

#[test]
fn ours_makes_a_subflow_a_backup_and_the_kernel_spares_it() {
    let test = "ours_makes_a_subflow_a_backup_and_the_kernel_spares_it";
    let Some(mut contest) = Contest::new(test, &Setting::fast(SERVER, 2)) else { return };
    // What our end wants, and what it has said: whether the second subflow is a backup.
    let (wants, mut said) = (AtomicBool::new(false), false);
    contest.with_our_client(
        &ours("full-mesh", |_| {}),
        BYTES,
        |kernel, stream| {
            talk(stream, 0, BYTES);
            wait_for(kernel, "MPJoinAckRx", 1);
            wants.store(true, Ordering::Relaxed);
            wait_for(kernel, "MPPrioRx", 1);
            let before = sent_over(stream, 1);
            send(stream, 0..10 * BYTES);
            pause(200);
            let meanwhile = sent_over(stream, 1) - before;
            assert!(meanwhile < BYTES, "{meanwhile} bytes over a backup");
            wants.store(false, Ordering::Relaxed);
            wait_for(kernel, "MPPrioRx", 2);
            send(stream, 10 * BYTES..20 * BYTES);
            let again = || sent_over(stream, 1) - before - meanwhile;
            assert!(comes_true(|| again() > BYTES), "{} bytes over what is no backup any more", again());
            close(stream);
        },
        |network, host, id| {
            let wants = wants.load(Ordering::Relaxed);
            if wants != said {
                connection(host, id).set_backup(1, wants);
                host.drain(network, id);
                said = wants;
            }
            finish_after(network, host, id, 20 * BYTES)
        },
    );
    contest.assert_no_errors(&[]);
}

#[test]
fn ours_joins_with_a_backup() {
    let Some(mut contest) = Contest::new("ours_joins_with_a_backup", &Setting::fast(SERVER, 2)) else { return };
    contest.with_our_client(
        &ours("full-mesh", |config| config.backup_addresses = vec![address(CLIENT, 1)]),
        BYTES,
        |kernel, stream| {
            wait_for(kernel, "MPJoinAckRx", 1);
            talk(stream, BYTES, BYTES);
            // A backup carries nothing while another subflow works.
            let over_backup = sent_over(stream, 1);
            assert!(over_backup < BYTES / 10, "{over_backup} bytes over a backup");
            close(stream);
        },
        |network, host, id| finish_after(network, host, id, BYTES),
    );
    contest.assert_no_errors(&[]);
}

#[test]
fn ours_closes_fast() {
    let Some(mut contest) = Contest::new("ours_closes_fast", &Setting::fast(SERVER, 1)) else { return };
    let mut aborted = false;
    contest.with_our_client(
        &ours("default", |_| {}),
        BYTES,
        |_, stream| {
            talk(stream, 0, BYTES);
            let mut buffer = [0; 16];
            let error = stream.read(&mut buffer).expect_err("a reset");
            assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
        },
        |network, host, id| {
            if !aborted && host.endpoint(id).bytes_acknowledged() >= BYTES {
                aborted = true;
                host.transport().endpoint_mut(id).abort();
                host.drain(network, id);
            }
            aborted
        },
    );
    assert_eq!(contest.counter("MPFastcloseRx"), 1);
    contest.assert_no_errors(&["MPFastcloseRx", "MPRstTx", "MPRstRx"]);
}

#[test]
fn the_kernel_closes_fast() {
    let Some(mut contest) = Contest::new("the_kernel_closes_fast", &Setting::fast(SERVER, 1)) else { return };
    let mut seen = Vec::new();
    contest.with_our_client(
        &ours("default", |_| {}),
        BYTES,
        |_, stream| {
            talk(stream, 0, BYTES);
            stream.reset_on_close().expect("lingers no time");
        },
        |_, host, _| happened(&mut seen, host, |event| matches!(event, Event::Closed(Closed::Reset))),
    );
    assert_eq!(contest.counter("MPFastcloseTx"), 1);
}

#[test]
fn the_kernel_resets_one_subflow_and_the_rest_goes_on() {
    let test = "the_kernel_resets_one_subflow_and_the_rest_goes_on";
    let setting = Setting { sysctls: vec![("mptcp/pm_type", "1")], ..Setting::fast(CLIENT, 2) };
    let Some(mut contest) = Contest::new(test, &setting) else { return };
    let (mut most, mut fewest_after) = (0, usize::MAX);
    contest.with_our_server(
        Listener::Mptcp(ours("default", |_| {})),
        |kernel, stream| {
            talk(stream, BYTES, 0);
            pause(100);
            let token = stream.info().expect("info").token.expect("a token");
            let (from, to) = (end(CLIENT, 1, 0), end(SERVER, 1, PORT));
            let subflow = NewSubflow { id: 2, from, to, interface: None, backup: false };
            kernel.with_path_manager(|manager| manager.open_subflow(token, &subflow)).expect("a subflow");
            wait_for(kernel, "MPJoinSynAckRx", 1);
            pause(200);
            let info = stream.info().expect("info");
            let second = info.subflows.iter().find(|subflow| subflow.local.ip() == address(CLIENT, 1));
            let (from, to) = second.map(|subflow| (subflow.local, subflow.remote)).expect("a second subflow");
            kernel.with_path_manager(|manager| manager.close_subflow(token, from, to)).expect("closed");
            pause(200);
            send(stream, BYTES..2 * BYTES);
            close(stream);
        },
        |network, host, id| {
            let up = subflows_up(host, id);
            if up > most {
                (most, fewest_after) = (up, up);
            }
            fewest_after = fewest_after.min(up);
            finish_after(network, host, id, 2 * BYTES)
        },
    );
    assert!(most == 2 && fewest_after < 2, "{most} subflows, then {fewest_after}");
    contest.assert_no_errors(&["MPRstTx"]);
}

/// Our end resets subflow `which` of two in mid-transfer; all bytes of both directions arrive over the other.
fn ours_resets_subflow(test: &str, which: usize) {
    let Some(mut contest) = Contest::new(test, &Setting::fast(SERVER, 2)) else { return };
    let all = 10 * BYTES;
    let mut reset = false;
    contest.with_our_client(
        &ours("full-mesh", |_| {}),
        all,
        |kernel, stream| {
            wait_for(kernel, "MPJoinAckRx", 1);
            talk(stream, all, all);
            wait_for(kernel, "MPRstRx", 1);
            let left = stream.info().expect("info").subflows;
            assert!(matches!(&left[..], [one] if one.remote.ip() == address(CLIENT, 1 - which)), "{left:?}");
            close(stream);
        },
        |network, host, id| {
            let in_the_middle = host.endpoint(id).bytes_received() > all / 4 && subflows_up(host, id) == 2;
            if in_the_middle && !reset {
                reset = true;
                let now = network.now();
                connection(host, id).forbid_subflow(which, now);
                host.drain(network, id);
            }
            finish_after(network, host, id, all)
        },
    );
    assert!(reset, "there was a middle");
    contest.assert_no_errors(&["MPRstRx"]);
}

#[test]
fn ours_resets_the_second_subflow_and_the_first_goes_on() {
    ours_resets_subflow("ours_resets_the_second_subflow_and_the_first_goes_on", 1);
}

#[test]
fn ours_resets_the_first_subflow_and_the_second_goes_on() {
    ours_resets_subflow("ours_resets_the_first_subflow_and_the_second_goes_on", 0);
}
