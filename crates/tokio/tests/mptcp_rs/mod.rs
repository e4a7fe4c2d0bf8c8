//! Our server and the client of the crate `mptcp-rs`, another implementation of RFC 8684, over paths in memory.

mod client;

use std::io::ErrorKind;
use std::time::Duration;

use client::connected;
use mptcp_rs::{CloseReason, Event, ReadError};
use subflow_tokio::MemoryLink;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::sleep;

use super::link;
use crate::support::{Setup, pattern, receive, send};

fn lossy(mbit: u64, delay_ms: u64) -> MemoryLink {
    MemoryLink { lose_every: Some(331), ..link(mbit, delay_ms) }
}

#[tokio::test(start_paused = true)]
async fn both_directions_arrive_whole_over_two_lossy_paths() {
    let setup = Setup::for_another(&[lossy(50, 5), lossy(20, 20)]);
    let (mut client, server) = connected(&setup).await;
    client.join(1);
    let (mut down, mut up) = tokio::io::split(server);
    let server = async { tokio::join!(receive(&mut down), send(&mut up, 3_000_000, 7)) };
    let (received, (there, ())) = client.exchange(pattern(0, 5_000_000), server).await;
    assert!(there == pattern(0, 5_000_000) && received == Ok(pattern(7, 3_000_000)));
    assert!(client.saw(|event| matches!(event, Event::SubflowUp { .. })));
    assert!(client.packets.iter().all(|&packets| packets > 500), "{:?}", client.packets);
}

#[tokio::test(start_paused = true)]
async fn a_path_that_is_cut_and_restored_stops_neither_direction() {
    let setup = Setup::for_another(&[link(50, 5), link(50, 10)]);
    let (mut client, server) = connected(&setup).await;
    client.join(1);
    let cutting = async {
        sleep(Duration::from_millis(500)).await;
        setup.cut(0, true);
        sleep(Duration::from_secs(4)).await;
        setup.cut(0, false);
    };
    let (mut down, mut up) = tokio::io::split(server);
    let server = async { tokio::join!(receive(&mut down), send(&mut up, 20_000_000, 3), cutting) };
    let (received, (there, ..)) = client.exchange(pattern(1, 20_000_000), server).await;
    assert!(there == pattern(1, 20_000_000) && received == Ok(pattern(3, 20_000_000)));
}

#[tokio::test(start_paused = true)]
async fn a_backup_path_stays_unused_until_the_other_one_is_cut() {
    let setup = Setup::for_another(&[link(20, 5), link(20, 10)]);
    let (mut client, mut server) = connected(&setup).await;
    client.join_as_backup(1);
    let sending = async {
        server.write_all(&pattern(0, 4_000_000)).await.expect("writes");
        sleep(Duration::from_secs(3)).await;
        let states = server.subflows();
        setup.cut(0, true);
        server.write_all(&pattern(4, 1_000_000)).await.expect("writes");
        server.shutdown().await.expect("ends");
        states
    };
    let (received, states) = client.exchange(Vec::new(), sending).await;
    let mut all = pattern(0, 4_000_000);
    all.extend(pattern(4, 1_000_000));
    assert!(received == Ok(all));
    assert_eq!(states.iter().map(|subflow| subflow.bytes_acknowledged > 0).collect::<Vec<_>>(), [true, false]);
}

#[tokio::test(start_paused = true)]
async fn without_mptcp_on_the_way_both_use_tcp() {
    let setup = Setup::for_another_without_mptcp(&[link(50, 5)]);
    let (mut client, mut server) = connected(&setup).await;
    assert!(server.has_fallen_back());
    let (received, ()) = client.exchange(Vec::new(), send(&mut server, 1_000_000, 5)).await;
    assert!(received == Ok(pattern(5, 1_000_000)));
    assert!(client.saw(|event| *event == Event::Connected { mptcp: false }));
}

#[tokio::test(start_paused = true)]
async fn each_side_understands_the_others_fastclose() {
    let setup = Setup::for_another(&[link(50, 5), link(20, 5)]);
    let (mut client, mut server) = connected(&setup).await;
    client.abort();
    let (_, error) = tokio::join!(client.run_for(Duration::from_secs(1)), server.read_u8());
    assert_eq!(error.expect_err("it is gone").kind(), ErrorKind::ConnectionReset);

    let (mut client, server) = connected(&setup).await;
    server.abort();
    assert_eq!(client.exchange(vec![1; 1000], async {}).await.0, Err(ReadError::Reset));
    assert!(client.saw(|event| *event == Event::Closed { reason: CloseReason::Reset }));
}
