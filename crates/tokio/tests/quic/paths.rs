//! Several paths: loopback addresses are as good as those of interfaces.

use std::time::Duration;

use subflow_tokio::quic::{Connection, Options, PathState};

use crate::support::{receive, send, server, within};

/// Waits until that many paths are open and validated: those with a measured RTT.
async fn open_paths(connection: &Connection, number: usize) -> Vec<PathState> {
    loop {
        let paths = connection.paths();
        let open: Vec<PathState> = paths.into_iter().filter(|path| path.is_open && path.srtt.is_some()).collect();
        if open.len() == number {
            return open;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Sends `length` bytes from the client to the server, which compares them.
async fn upload(ours: &Connection, theirs: &Connection, length: u64) -> u64 {
    let (up, down) = ours.open_bi().await.expect("a stream");
    drop(down);
    let accepting = async {
        let (_, there) = theirs.accept_bi().await.expect("the stream");
        receive(there, 5).await
    };
    within(async { tokio::join!(send(up, length, 5), accepting).1 }).await
}

#[tokio::test(flavor = "multi_thread")]
async fn each_local_address_is_a_path_and_carries_data() {
    let options = Options::named("olia", "round-robin", "single-mesh").expect("names of algorithms");
    let server = server(&["127.0.0.1", "::1"], &options);
    let client = server.client(&["127.0.0.1", "127.0.0.2", "::1"], &options);
    let (ours, theirs) = server.connected(&client).await;
    let v6 = server.endpoint.local_addrs()[1];
    ours.open_path("::1".parse().expect("an address"), v6);
    let paths = within(open_paths(&ours, 3)).await;
    let locals: Vec<_> = paths.iter().map(|path| path.local).collect();
    let mut expected = client.local_addrs();
    expected.sort_by_key(|address| locals.iter().position(|local| local == address));
    assert_eq!((locals, paths[2].remote.is_ipv6() || paths[1].remote.is_ipv6()), (expected, true));
    assert_eq!(upload(&ours, &theirs, 6_000_000).await, 6_000_000);
    let carried: Vec<u64> = theirs.paths().iter().map(|path| path.data_received).collect();
    assert_eq!(carried.iter().sum::<u64>(), 6_000_000);
    assert!(carried.len() == 3 && carried.iter().all(|&bytes| bytes > 100_000), "{carried:?}");
    assert!(ours.is_multipath() && theirs.is_multipath() && !ours.has_fallen_back());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transfer_goes_on_over_the_other_path_when_a_socket_is_closed() {
    let options = Options::named("lia", "round-robin", "single-mesh").expect("names of algorithms");
    let server = server(&["127.0.0.1"], &options);
    let client = server.client(&["127.0.0.1", "127.0.0.2"], &options);
    let (ours, theirs) = server.connected(&client).await;
    within(open_paths(&ours, 2)).await;
    // The path is lost while half of the data is on its way, and comes back with another port.
    let loss = async {
        while theirs.paths().iter().map(|path| path.data_received).sum::<u64>() < 1_000_000 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert!(client.remove_address(ours.local_addr().ip()) && !client.remove_address(ours.local_addr().ip()));
        theirs.paths()[0].data_received
    };
    let (arrived, before) = tokio::join!(upload(&ours, &theirs, 10_000_000), loss);
    assert!(arrived == 10_000_000 && before < 10_000_000, "{before}");
    let open = within(open_paths(&ours, 1)).await;
    assert_eq!(open[0].local.ip().to_string(), "127.0.0.2");
    let back = client.add_address("127.0.0.1:0".parse().expect("an address")).expect("it is free");
    let open = within(open_paths(&ours, 2)).await;
    assert!(open.iter().any(|path| path.local == back));
    assert_eq!(upload(&ours, &theirs, 1_000_000).await, 1_000_000);
}

#[tokio::test]
async fn a_peer_without_multipath_has_one_path() {
    let server = server(&["127.0.0.1"], &Options::single_path("cubic").expect("a name"));
    let client = server.client(&["127.0.0.1", "127.0.0.2"], &Options::default());
    let (ours, theirs) = server.connected(&client).await;
    assert_eq!(upload(&ours, &theirs, 300_000).await, 300_000);
    assert!(ours.has_fallen_back() && !ours.is_multipath() && !theirs.has_fallen_back());
    assert_eq!((ours.paths().len(), theirs.paths().len()), (1, 1));
}

#[test]
fn names_of_algorithms_are_checked() {
    let error = Options::named("olia", "redundant", "single-mesh").expect_err("QUIC sends no copies");
    assert!(error.known.contains(&"ll") && !error.known.contains(&"red-module"), "{error}");
    let error = Options::single_path("newreno").expect_err("it is called reno");
    assert!(error.known.contains(&"reno"), "{error}");
}
