//! Two stacks over paths in memory, on tokio's clock.

mod mptcp_rs;
mod support;

use std::io::ErrorKind;
use std::time::Duration;

use subflow_tokio::{MemoryLink, MptcpStream};
use support::{Setup, pattern, receive, send, without_routes};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, sleep, timeout};

fn link(mbit: u64, delay_ms: u64) -> MemoryLink {
    let delay = Duration::from_millis(delay_ms);
    MemoryLink { delay, rate: Some(mbit * 125_000), queue: 200, lose_every: None }
}

async fn connected(setup: &Setup) -> (MptcpStream, MptcpStream) {
    let mut listener = setup.server.listen(80).expect("the port is free");
    let (client, server) = tokio::join!(setup.client.connect(setup.address(80)), listener_accept(&mut listener));
    (client.expect("connects"), server)
}

async fn listener_accept(listener: &mut subflow_tokio::MptcpListener) -> MptcpStream {
    listener.accept().await.expect("accepts").0
}

#[tokio::test(start_paused = true)]
async fn both_directions_arrive_whole_over_two_lossy_paths() {
    let lossy = |mbit, delay| MemoryLink { lose_every: Some(331), ..link(mbit, delay) };
    let setup = Setup::new(&[lossy(50, 5), lossy(20, 20)]);
    let (client, server) = connected(&setup).await;
    let (mut down, mut up) = (tokio::io::split(server), tokio::io::split(client));
    let (there, back, ..) = tokio::join!(
        receive(&mut down.0),
        receive(&mut up.0),
        send(&mut up.1, 5_000_000, 0),
        send(&mut down.1, 3_000_000, 7),
    );
    assert_eq!((there, back), (pattern(0, 5_000_000), pattern(7, 3_000_000)));
}

#[tokio::test(start_paused = true)]
async fn two_paths_carry_nearly_their_sum() {
    let setup = Setup::new(&[link(50, 5), link(20, 20)]);
    let (mut client, mut server) = connected(&setup).await;
    let begun = Instant::now();
    let (received, ()) = tokio::join!(receive(&mut client), send(&mut server, 40_000_000, 0));
    let mbit = received.len() as f64 * 8e-6 / begun.elapsed().as_secs_f64();
    assert!(received == pattern(0, 40_000_000));
    // Headers take 5 % of 70 Mbit/s.
    assert!((61.0..67.0).contains(&mbit), "{mbit} Mbit/s");
}

#[tokio::test(start_paused = true)]
async fn a_path_that_is_cut_and_restored_does_not_stop_a_transfer() {
    let setup = Setup::new(&[link(50, 5), link(50, 10)]);
    let (mut client, mut server) = connected(&setup).await;
    let cutting = async {
        sleep(Duration::from_millis(500)).await;
        setup.cut(0, true);
        sleep(Duration::from_secs(2)).await;
        setup.cut(0, false);
    };
    let (received, (), ()) = tokio::join!(receive(&mut client), send(&mut server, 30_000_000, 3), cutting);
    assert!(received == pattern(3, 30_000_000));
}

#[tokio::test(start_paused = true)]
async fn a_dead_path_does_not_keep_what_the_other_has_delivered() {
    let setup = Setup::new(&[link(50, 5), link(50, 10)]);
    let (mut client, mut server) = connected(&setup).await;
    let mut most = 0;
    let watching = async {
        sleep(Duration::from_millis(500)).await;
        setup.cut(0, true);
        for _ in 0..100 {
            sleep(Duration::from_millis(100)).await;
            most = most.max(setup.client.usage().1);
        }
    };
    let (received, (), ()) = tokio::join!(receive(&mut server), send(&mut client, 50_000_000, 1), watching);
    assert!(received == pattern(1, 50_000_000));
    assert!(most < 6 << 20, "{most} bytes");
}

#[tokio::test(start_paused = true)]
async fn addresses_that_are_lost_and_return_take_their_subflows_along() {
    let setup = Setup::new(&[link(50, 5), link(50, 10)]);
    let (mut client, mut server) = connected(&setup).await;
    let changing = async {
        sleep(Duration::from_millis(500)).await;
        setup.client.set_address_up(setup.client_addresses[0], false);
        sleep(Duration::from_secs(1)).await;
        setup.client.set_address_up(setup.client_addresses[0], true);
        sleep(Duration::from_millis(500)).await;
    };
    let (received, (), ()) = tokio::join!(receive(&mut server), send(&mut client, 20_000_000, 1), changing);
    assert!(received == pattern(1, 20_000_000));
    assert!(setup.client.is_address_up(setup.client_addresses[0]));
}

#[tokio::test(start_paused = true)]
async fn what_ended_subflows_carried_is_counted_by_their_addresses() {
    let setup = Setup::new(&[link(50, 5), link(50, 10)]);
    let (mut client, mut server) = connected(&setup).await;
    let sent =
        || setup.client_addresses.iter().map(|one| setup.client.ended_bytes().get(one).map_or(0, |b| b.acknowledged));
    let changing = async {
        sleep(Duration::from_millis(500)).await;
        assert_eq!(sent().sum::<u64>(), 0, "all are open");
        setup.client.set_address_up(setup.client_addresses[0], false);
        sleep(Duration::from_millis(500)).await;
        let counts: Vec<u64> = sent().collect();
        assert!(counts[0] > 1_000_000 && counts[1] == 0, "{counts:?}");
        counts[0]
    };
    let (received, (), first) = tokio::join!(receive(&mut server), send(&mut client, 20_000_000, 1), changing);
    assert_eq!(received.len(), 20_000_000);
    drop((client, server));
    sleep(Duration::from_secs(130)).await;
    let counts: Vec<u64> = sent().collect();
    // Data that was in flight on the first went again on the second.
    assert!(counts[0] == first && (20_000_000..21_000_000).contains(&(counts[0] + counts[1])), "{counts:?}");
    let arrived: u64 = setup.server.ended_bytes().values().map(|bytes| bytes.received).sum();
    assert!((20_000_000..21_000_000).contains(&arrived), "{arrived}");
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_stops_the_writer_and_memory_does_not_grow() {
    let setup = Setup::new(&[link(100, 1), link(100, 2)]);
    let (mut client, mut server) = connected(&setup).await;
    let writing = tokio::spawn(async move {
        let block = vec![1; 1 << 20];
        let mut written = 0;
        while timeout(Duration::from_secs(5), server.write_all(&block)).await.is_ok_and(|result| result.is_ok()) {
            written += block.len();
        }
        (server, written)
    });
    let (server, written) = writing.await.expect("ends");
    assert!(written < 14 << 20, "{written} bytes were accepted though nobody reads");
    // It goes on when the reader does.
    let memory = setup.client.usage().1 + setup.server.usage().1;
    assert!(memory < 16 << 20, "{memory} bytes");
    drop(server);
    let mut rest = Vec::new();
    client.read_to_end(&mut rest).await.expect("reads on");
    assert!(rest.len() >= written && rest.iter().all(|&byte| byte == 1), "{} of {written}", rest.len());
}

/// Bytes that the stream takes until nothing more fits.
async fn fill(stream: &mut MptcpStream) -> usize {
    let (block, mut written) = (vec![1; 64 << 10], 0);
    while let Ok(length) = timeout(Duration::from_secs(5), stream.write(&block)).await {
        written += length.expect("it is open");
    }
    written
}

#[tokio::test(start_paused = true)]
async fn reading_a_part_of_what_waits_makes_room_for_a_part_and_not_for_all() {
    let setup = Setup::new(&[link(100, 1), link(100, 2)]);
    let (mut client, mut server) = connected(&setup).await;
    fill(&mut server).await;
    // The buffers grow with the first reads.
    let (part, mut room) = (256 << 10, 0);
    for _ in 0..20 {
        client.read_exact(&mut vec![0; part]).await.expect("so much has arrived");
        room = fill(&mut server).await;
    }
    assert!((part / 2..2 * part).contains(&room), "{room} bytes");
}

#[tokio::test(start_paused = true)]
async fn either_side_may_end_its_stream_first() {
    let setup = Setup::new(&[link(10, 5)]);
    let (mut client, mut server) = connected(&setup).await;
    client.write_all(b"question").await.expect("writes");
    client.shutdown().await.expect("ends its stream");
    let mut question = String::new();
    server.read_to_string(&mut question).await.expect("reads to the end");
    server.write_all(b"answer").await.expect("may still write");
    server.shutdown().await.expect("ends its stream");
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.expect("reads to the end");
    assert_eq!((question.as_str(), answer.as_str()), ("question", "answer"));
    let after = client.write(b"more").await.expect_err("the stream has ended");
    assert_eq!(after.kind(), ErrorKind::BrokenPipe);
}

#[tokio::test(start_paused = true)]
async fn resets_and_refusals_are_errors_of_their_kinds() {
    let setup = Setup::new(&[link(10, 5), link(10, 5)]);
    let refused = setup.client.connect(setup.address(81)).await.expect_err("nobody listens");
    assert_eq!(refused.kind(), ErrorKind::ConnectionRefused, "{refused}");
    let (mut client, server) = connected(&setup).await;
    server.abort();
    let reset = client.read_u8().await.expect_err("reset");
    assert_eq!(reset.kind(), ErrorKind::ConnectionReset, "{reset}");
    assert_eq!(client.write(b"x").await.expect_err("reset").kind(), ErrorKind::ConnectionReset);
    for path in [0, 1] {
        setup.client.set_address_up(setup.client_addresses[path], false);
    }
    let unreachable = setup.client.connect(setup.address(80)).await.expect_err("no path");
    assert_eq!(unreachable.kind(), ErrorKind::NetworkUnreachable);
}

#[tokio::test(start_paused = true)]
async fn a_destination_without_a_route_is_reported_at_once() {
    let stack = without_routes(2);
    let begun = Instant::now();
    let error = stack.connect("10.9.0.1:80".parse().expect("an address")).await.expect_err("unreachable");
    assert_eq!(error.kind(), ErrorKind::NetworkUnreachable, "{error}");
    assert!(begun.elapsed() < Duration::from_millis(50), "{:?}", begun.elapsed());
    assert_eq!(stack.usage().0, 0, "no attempt goes on");
}

#[tokio::test(start_paused = true)]
async fn a_refusal_over_one_path_is_reported_at_once_whatever_the_others_do() {
    let setup = Setup::new(&[link(10, 5), link(10, 5), link(10, 5)]);
    setup.cut(0, true);
    let begun = Instant::now();
    let refused = setup.client.connect(setup.address(81)).await.expect_err("nobody listens");
    assert_eq!(refused.kind(), ErrorKind::ConnectionRefused, "{refused}");
    assert!(begun.elapsed() < Duration::from_millis(300), "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn data_that_nobody_reads_resets_the_connection() {
    let setup = Setup::new(&[link(10, 5)]);
    let (mut client, server) = connected(&setup).await;
    drop(server);
    sleep(Duration::from_millis(100)).await;
    client.write_all(b"to nobody").await.expect("the peer has only ended its stream");
    sleep(Duration::from_millis(100)).await;
    assert_eq!(client.write(b"x").await.expect_err("reset").kind(), ErrorKind::ConnectionReset);
}

#[tokio::test(start_paused = true)]
async fn a_dead_first_path_delays_a_connection_by_a_quarter_of_a_second() {
    let setup = Setup::new(&[link(10, 5), link(10, 5)]);
    let _listener = setup.server.listen(80).expect("free");
    setup.cut(0, true);
    let begun = Instant::now();
    let stream = setup.client.connect(setup.address(80)).await.expect("connects over the other path");
    assert!(begun.elapsed() < Duration::from_millis(300), "{:?}", begun.elapsed());
    assert_eq!(stream.local_addr().ip(), setup.client_addresses[1]);
}

#[tokio::test(start_paused = true)]
async fn a_peer_without_mptcp_gets_tcp() {
    let setup = Setup::without_mptcp(&[link(50, 5), link(50, 5)]);
    let (mut client, mut server) = connected(&setup).await;
    let (received, ()) = tokio::join!(receive(&mut client), send(&mut server, 5_000_000, 0));
    assert!(received == pattern(0, 5_000_000));
    assert!(client.has_fallen_back());
}

#[tokio::test(start_paused = true)]
async fn two_hundred_connections_come_and_go_and_leave_nothing() {
    let setup = Setup::new(&[link(100, 1), link(100, 2)]);
    let listener = setup.server.listen(80).expect("free");
    let serving = tokio::spawn(async move {
        for _ in 0..200 {
            let (mut stream, _) = listener.accept().await.expect("accepts");
            tokio::spawn(async move {
                let received = receive(&mut stream).await;
                send(&mut stream, received.len(), 9).await;
            });
        }
        listener
    });
    let clients: Vec<_> = (0..200)
        .map(|number| {
            let (stack, address) = (setup.client.clone(), setup.address(80));
            tokio::spawn(async move {
                let mut stream = stack.connect(address).await.expect("connects");
                send(&mut stream, 10_000 + number, 5).await;
                assert!(receive(&mut stream).await == pattern(9, 10_000 + number), "connection {number}");
            })
        })
        .collect();
    for client in clients {
        client.await.expect("no panic");
    }
    let _listener = serving.await.expect("no panic");
    sleep(Duration::from_secs(130)).await;
    assert_eq!((setup.client.usage(), setup.server.usage()), ((0, 0), (0, 0)));
}
