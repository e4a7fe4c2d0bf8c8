//! How connections end.

use std::time::Duration;

use subflow_tokio::quic::{ConnectionError, Options, StreamError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{server, within};

#[tokio::test]
async fn the_error_and_the_reason_of_an_application_arrive() {
    let server = server(&["127.0.0.1"], &Options::default());
    let client = server.client(&["127.0.0.1"], &Options::default());
    let (ours, theirs) = server.connected(&client).await;
    let (mut up, _down) = ours.open_bi().await.expect("a stream");
    up.write_all(b"x").await.expect("an open stream");
    let (mut back, mut there) = within(theirs.accept_bi()).await.expect("the stream");
    assert_eq!(there.read_u8().await.expect("a byte"), b'x');
    theirs.close(42, "no more work");
    let error = ConnectionError::ClosedByPeer { error_code: 42, reason: "no more work".into() };
    assert_eq!(within(ours.closed()).await, error);
    assert_eq!(error.to_string(), "the peer has closed the connection with error 42: no more work");
    assert_eq!(within(ours.accept_bi()).await.err(), Some(error.clone()));
    assert_eq!(within(up.acknowledged()).await, Err(StreamError::Connection(error)));
    assert_eq!(theirs.closed().await, ConnectionError::Closed);
    let write = back.write(b"y").await.expect_err("the connection is closed");
    assert_eq!(write.kind(), std::io::ErrorKind::NotConnected);
}

#[tokio::test]
async fn what_was_written_arrives_though_everything_is_dropped() {
    let server = server(&["127.0.0.1"], &Options::default());
    let client = server.client(&["127.0.0.1"], &Options::default());
    let (ours, theirs) = server.connected(&client).await;
    let (mut up, down) = ours.open_bi().await.expect("a stream");
    up.write_all(&[3; 500_000]).await.expect("an open stream");
    drop((up, down, ours));
    let (_, mut there) = within(theirs.accept_bi()).await.expect("the stream");
    let mut read = Vec::new();
    within(there.read_to_end(&mut read)).await.expect("all of it");
    assert_eq!((read.len(), read.iter().all(|&byte| byte == 3)), (500_000, true));
    let error = within(theirs.closed()).await;
    assert_eq!(error, ConnectionError::ClosedByPeer { error_code: 0, reason: String::new() });
    within(client.wait_idle()).await;
}

#[tokio::test]
async fn a_peer_that_vanishes_ends_a_connection_after_the_idle_timeout() {
    let options = Options { idle_timeout: Some(Duration::from_millis(400)), ..Options::default() };
    let server = server(&["127.0.0.1"], &options);
    let client = server.client(&["127.0.0.1"], &options);
    let (ours, theirs) = server.connected(&client).await;
    let begin = tokio::time::Instant::now();
    // Its socket is closed without a word, as by a machine that loses power.
    assert!(server.endpoint.remove_address(server.address.ip()));
    assert_eq!(within(ours.closed()).await, ConnectionError::TimedOut);
    assert!(begin.elapsed() >= Duration::from_millis(300), "{:?}", begin.elapsed());
    assert_ne!(within(theirs.closed()).await, ConnectionError::Closed);
    let io: std::io::Error = ConnectionError::TimedOut.into();
    assert_eq!(io.kind(), std::io::ErrorKind::TimedOut);
}

#[tokio::test]
async fn a_server_that_was_restarted_tells_clients_that_it_knows_nothing_of_them() {
    let options = Options { reset_key: Some([5; 32]), ..Options::default() };
    let (before, after) = (server(&["127.0.0.1"], &options), server(&["127.0.0.2"], &options));
    let client = before.client(&["127.0.0.1"], &Options::default());
    let (ours, _theirs) = before.connected(&client).await;
    // Another server takes its address, with the same key.
    assert!(before.endpoint.remove_address(before.address.ip()));
    let taken = async {
        // The socket is closed as soon as the task of its endpoint has run.
        while after.endpoint.add_address(before.address).is_err() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    within(taken).await;
    let (mut up, _down) = ours.open_bi().await.expect("the client knows nothing of that");
    up.write_all(&[0; 5000]).await.expect("the client knows nothing of that");
    assert_eq!(within(ours.closed()).await, ConnectionError::Reset);
}

#[tokio::test]
async fn an_endpoint_closes_all_its_connections() {
    let server = server(&["127.0.0.1"], &Options::default());
    let clients = [0; 3].map(|_| server.client(&["127.0.0.1"], &Options::default()));
    let mut ends = Vec::new();
    for client in &clients {
        ends.push(server.connected(client).await);
    }
    server.endpoint.close(9, "the server ends");
    for (ours, theirs) in &ends {
        let error = ConnectionError::ClosedByPeer { error_code: 9, reason: "the server ends".into() };
        assert_eq!((within(ours.closed()).await, theirs.closed().await), (error, ConnectionError::Closed));
    }
    drop(ends);
    within(server.endpoint.wait_idle()).await;
}
