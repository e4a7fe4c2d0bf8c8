//! Falling back to plain TCP: where one side does not speak MPTCP, and where options are taken off on the way.

use subflow_linux::Transport;
use subflow_transport::Listener;

use crate::bench::{CLIENT, SERVER};
use crate::contest::{Contest, Setting, close, finish_after, has_fallen_back, ours, plain_tcp, talk};

const BYTES: u64 = 300_000;

/// Our client and the kernel's server transfer each way, and end up with plain TCP.
fn our_client_falls_back(mut contest: Contest) {
    let transport = contest.transport;
    let mut fallen_back = false;
    contest.with_our_client(
        &ours("full-mesh", |_| {}),
        BYTES,
        |_, stream| {
            talk(stream, BYTES, BYTES);
            assert!(transport == Transport::Tcp || stream.info().expect("info").fallback);
            close(stream);
        },
        |network, host, id| {
            fallen_back = has_fallen_back(host, id);
            finish_after(network, host, id, BYTES)
        },
    );
    assert!(fallen_back);
}

/// The kernel's client and our server transfer, and end up with plain TCP.
fn the_kernels_client_falls_back(mut contest: Contest, listener: Listener) {
    contest.with_our_server(
        listener,
        |_, stream| {
            talk(stream, BYTES, 0);
            assert!(stream.info().expect("info").fallback);
            close(stream);
        },
        |network, host, id| finish_after(network, host, id, BYTES),
    );
}

#[test]
fn ours_falls_back_where_the_kernel_speaks_tcp() {
    let test = "ours_falls_back_where_the_kernel_speaks_tcp";
    let setting = Setting { sysctls: vec![("mptcp/enabled", "0")], ..Setting::fast(SERVER, 1) };
    let Some(mut contest) = Contest::new(test, &setting) else { return };
    contest.transport = Transport::Tcp;
    our_client_falls_back(contest);
}

#[test]
fn both_fall_back_where_options_are_stripped_from_the_answer() {
    let test = "both_fall_back_where_options_are_stripped_from_the_answer";
    let Some(mut contest) = Contest::new(test, &Setting::fast(SERVER, 1)) else { return };
    contest.emulator.parts().1.strips_options = true;
    our_client_falls_back(contest);
}

#[test]
fn the_kernel_falls_back_where_ours_speaks_tcp() {
    let test = "the_kernel_falls_back_where_ours_speaks_tcp";
    let Some(contest) = Contest::new(test, &Setting::fast(CLIENT, 1)) else { return };
    the_kernels_client_falls_back(contest, Listener::Tcp(plain_tcp()));
}

#[test]
fn both_fall_back_where_options_are_stripped_from_the_syn() {
    let test = "both_fall_back_where_options_are_stripped_from_the_syn";
    let Some(mut contest) = Contest::new(test, &Setting::fast(CLIENT, 1)) else { return };
    contest.emulator.parts().1.strips_options = true;
    the_kernels_client_falls_back(contest, Listener::Mptcp(ours("full-mesh", |_| {})));
}
