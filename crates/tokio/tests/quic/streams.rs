//! Data over one path.

use subflow_tokio::quic::{Options, StreamError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::JoinSet;

use crate::support::{receive, send, server, within};

#[tokio::test(flavor = "multi_thread")]
async fn ten_megabytes_arrive_whole_in_both_directions() {
    let server = server(&["127.0.0.1"], &Options::default());
    let client = server.client(&["127.0.0.1"], &Options::default());
    let (ours, theirs) = server.connected(&client).await;
    let (up, down) = ours.open_bi().await.expect("a stream");
    let transfer = async {
        let accepting = async {
            let (back, there) = theirs.accept_bi().await.expect("the client's stream");
            tokio::join!(send(back, 10_000_000, 2), receive(there, 1)).1
        };
        let (_, received, arrived) = tokio::join!(send(up, 10_000_000, 1), receive(down, 2), accepting);
        (received, arrived)
    };
    assert_eq!(within(transfer).await, (10_000_000, 10_000_000));
    let path = &ours.paths()[0];
    assert!(path.is_open && path.srtt.is_some() && path.bytes_sent > 10_000_000 && path.bytes_received > 10_000_000);
    assert_eq!((path.data_received, path.remote, ours.remote_addr()), (10_000_000, server.address, server.address));
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_streams_at_once_each_carry_their_own_data() {
    let server = server(&["127.0.0.1"], &Options::default());
    let client = server.client(&["127.0.0.1"], &Options::default());
    let (ours, theirs) = server.connected(&client).await;
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let mut echoes = JoinSet::new();
        for _ in 0..20 {
            let (back, there) = theirs.accept_bi().await.expect("a stream");
            let number = there.id();
            echoes
                .spawn(async move { tokio::join!(send(back, 100_000 + number, number + 1), receive(there, number)).1 });
        }
        assert_eq!(echoes.join_all().await.into_iter().sum::<u64>(), 20 * 300_000);
        0
    });
    for _ in 0..20 {
        let (up, down) = ours.open_bi().await.expect("a stream");
        let number = up.id();
        tasks.spawn(async move {
            let (_, received) = tokio::join!(send(up, 300_000, number), receive(down, number + 1));
            received - number
        });
    }
    assert_eq!(within(tasks.join_all()).await.into_iter().sum::<u64>(), 20 * 100_000);
}

#[tokio::test]
async fn a_writer_waits_for_a_reader_that_does_not_read() {
    let small = Options { stream_receive_buffer: 50_000, stream_send_buffer: 70_000, ..Options::default() };
    let server = server(&["127.0.0.1"], &small);
    let client = server.client(&["127.0.0.1"], &small);
    let (ours, theirs) = server.connected(&client).await;
    let (mut up, _down) = ours.open_bi().await.expect("a stream");
    let mut written = 0;
    let part = [7; 10_000];
    while let Ok(length) = tokio::time::timeout(std::time::Duration::from_millis(300), up.write(&part)).await {
        written += length.expect("an open stream");
    }
    // What the peer's window takes, and what waits here.
    assert_eq!(written, 50_000 + 70_000);
    let (_, mut there) = theirs.accept_bi().await.expect("the stream");
    let mut read = vec![0; 60_000];
    within(there.read_exact(&mut read)).await.expect("data");
    let more = within(up.write(&part)).await.expect("there is room again");
    assert!(more > 0 && read.iter().all(|&byte| byte == 7));
}

#[tokio::test]
async fn streams_are_reset_and_stopped_with_their_errors() {
    let server = server(&["127.0.0.1"], &Options::default());
    let client = server.client(&["127.0.0.1"], &Options::default());
    let (ours, theirs) = server.connected(&client).await;
    let (mut up, down) = ours.open_bi().await.expect("a stream");
    up.write_all(b"half of").await.expect("an open stream");
    let (mut back, mut there) = within(theirs.accept_bi()).await.expect("the stream");
    up.reset(17);
    assert_eq!(within(up.acknowledged()).await, Err(StreamError::Finished));
    down.stop(23);
    let mut text = Vec::new();
    let error = within(there.read_to_end(&mut text)).await.expect_err("the stream has no end");
    let cause = error.get_ref().and_then(|error| error.downcast_ref::<StreamError>());
    assert_eq!(cause, Some(&StreamError::Reset(17)), "{error}");
    assert_eq!(within(back.acknowledged()).await, Err(StreamError::Stopped(23)));
    assert_eq!(back.write(b"x").await.expect_err("nobody reads it").kind(), std::io::ErrorKind::BrokenPipe);
    // Others go on.
    let (up, down) = ours.open_bi().await.expect("a stream");
    let (sent, echoed) = (send(up, 1000, 3), async {
        let (back, there) = theirs.accept_bi().await.expect("the stream");
        tokio::join!(send(back, 10, 4), receive(there, 3)).1
    });
    let (_, echoed, received) = within(async { tokio::join!(sent, echoed, receive(down, 4)) }).await;
    assert_eq!((echoed, received), (1000, 10));
}

#[tokio::test]
async fn opening_waits_while_the_peer_has_as_many_streams_as_it_takes() {
    let server = server(&["127.0.0.1"], &Options { streams: 2, ..Options::default() });
    let client = server.client(&["127.0.0.1"], &Options::default());
    let (ours, theirs) = server.connected(&client).await;
    let first = ours.open_bi().await.expect("one");
    let (second, _down) = ours.open_bi().await.expect("two");
    let waiting = tokio::time::timeout(std::time::Duration::from_millis(200), ours.open_bi()).await;
    assert!(waiting.is_err(), "a third one is too many");
    let serving = async {
        let (back, there) = theirs.accept_bi().await.expect("the first stream");
        tokio::join!(send(back, 20, 2), receive(there, 1)).1
    };
    let asking = async { tokio::join!(send(first.0, 10, 1), receive(first.1, 2)).1 };
    let (third, asked, answered) = within(async { tokio::join!(ours.open_bi(), serving, asking) }).await;
    assert_eq!((third.expect("the first is over").0.id(), asked, answered), (8, 10, 20));
    drop(second);
}
