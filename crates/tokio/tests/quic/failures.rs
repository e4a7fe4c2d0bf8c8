//! Connections that must not come about, and what a server does with what is no connection.

use subflow_tokio::quic::{ConnectError, ConnectionError, Endpoint, Options};
use tokio::net::UdpSocket;

use crate::support::{NAME, client_tls, locals, receive, send, server, within};

#[tokio::test]
async fn a_certificate_that_nobody_trusted_has_signed_is_an_error() {
    let (right, wrong) = (server(&["127.0.0.1"], &Options::default()), server(&["127.0.0.1"], &Options::default()));
    let client = right.client(&["127.0.0.1"], &Options::default());
    let error = within(client.connect(wrong.address, NAME)).await.expect_err("another certificate");
    let ConnectError::Connection(ConnectionError::Tls { by_peer: false, .. }) = &error else { panic!("{error:?}") };
    assert!(error.to_string().starts_with("this side refuses the TLS handshake: the certificate"), "{error}");
    let error = within(client.connect(right.address, "another.example")).await.expect_err("another name");
    assert!(error.to_string().contains("is for another name"), "{error}");
    let error = client.connect(right.address, "no name").await.expect_err("a space");
    assert!(matches!(error, ConnectError::Unfit(_)), "{error}");
}

#[tokio::test]
async fn ends_without_a_common_application_protocol_say_so() {
    let server = server(&["127.0.0.1"], &Options::default());
    let mut tls = client_tls(&server.certificate);
    tls.alpn_protocols = vec![b"another".to_vec()];
    let client = Endpoint::client(tls, &locals(&["127.0.0.1"]), &Options::default()).expect("a loopback address");
    let error = within(client.connect(server.address, NAME)).await.expect_err("no common protocol");
    let ConnectError::Connection(ConnectionError::Tls { alert: 120, by_peer: true }) = &error else {
        panic!("{error:?}")
    };
    assert!(error.to_string().contains("no common application protocol"), "{error}");
}

#[tokio::test]
async fn where_nobody_answers_the_attempt_ends_with_the_idle_timeout() {
    let timeout = Some(std::time::Duration::from_millis(500));
    let server = server(&["127.0.0.1"], &Options::default());
    let client = server.client(&["127.0.0.1"], &Options { idle_timeout: timeout, ..Options::default() });
    let silent = UdpSocket::bind("127.0.0.1:0").await.expect("a port");
    let address = silent.local_addr().expect("it is bound");
    let error = within(client.connect(address, NAME)).await.expect_err("nobody answers");
    assert!(matches!(error, ConnectError::Connection(ConnectionError::TimedOut)), "{error}");
    let error = client.connect("[::1]:443".parse().expect("an address"), NAME).await.expect_err("only IPv4 here");
    assert!(matches!(error, ConnectError::NoAddress { .. }), "{error}");
    let error = Endpoint::client(client_tls(&server.certificate), &locals(&["0.0.0.0"]), &Options::default());
    assert_eq!(error.expect_err("no address").kind(), std::io::ErrorKind::InvalidInput);
}

#[tokio::test]
async fn garbage_opens_nothing_and_harms_nobody() {
    let server = server(&["127.0.0.1"], &Options::default());
    let client = server.client(&["127.0.0.1"], &Options::default());
    let (ours, theirs) = server.connected(&client).await;
    let stranger = UdpSocket::bind("127.0.0.1:0").await.expect("a port");
    let mut state = 1_u64;
    for length in (0..3000_usize).map(|n| n * 7 % 1500) {
        let mut bytes: Vec<u8> = (0..length)
            .map(|_| {
                state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                (state >> 56) as u8
            })
            .collect();
        // Half of them look like Initial packets of version 1.
        if length % 2 == 0 && length > 5 {
            bytes[..5].copy_from_slice(&[0xc3, 0, 0, 0, 1]);
        }
        // Some go to the client, whose port is known to the server only.
        let to = if length % 5 == 0 { ours.local_addr() } else { server.address };
        stranger.send_to(&bytes, to).await.expect("the loopback takes it");
    }
    let (up, down) = ours.open_bi().await.expect("a stream");
    drop(down);
    let accepting = async {
        let (_, there) = theirs.accept_bi().await.expect("the stream");
        receive(there, 1).await
    };
    assert_eq!(within(async { tokio::join!(send(up, 200_000, 1), accepting).1 }).await, 200_000);
    assert_eq!((server.endpoint.local_addrs().len(), theirs.paths().len()), (1, 1));
}
