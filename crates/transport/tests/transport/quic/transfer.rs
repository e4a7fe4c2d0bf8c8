//! Data arrives whole and in order whatever the link does, and connections end as both ends agreed.

use proptest::prelude::*;
use subflow_quantity::Duration;
use subflow_transport::Event;
use subflow_transport::quic::{Config, MAIN_STREAM, Priority};
use subflow_transport::tcp::Closed;
use subflow_wire::quic::StreamId;

use super::wire::{CLIENT, SERVER, Wire, ms};
use super::{configs, with_congestion};

/// Both sides write this many bytes and end their streams; the server does when it has received everything.
fn transfer(mut wire: Wire, client: u64, server: u64) -> Wire {
    wire.with(CLIENT, |endpoint| {
        endpoint.write(client);
        endpoint.finish();
    });
    let mut answered = false;
    for _ in 0..4000 {
        wire.run(ms(50));
        if !answered && wire.events.contains(&(SERVER, Event::PeerFinished)) {
            wire.with(SERVER, |endpoint| {
                endpoint.write(server);
                endpoint.finish();
            });
            answered = true;
        }
        let ended = [CLIENT, SERVER].map(|side| wire.has_connection(side) && wire.endpoint(side).is_closed());
        if ended == [true; 2] {
            break;
        }
    }
    assert!(answered, "the client's data has arrived: {:?}", wire.events);
    for (side, bytes) in [(SERVER, client), (CLIENT, server)] {
        assert_eq!(wire.endpoint(side).bytes_received(), bytes, "at side {side}");
        wire.check_data(side, MAIN_STREAM, bytes);
    }
    wire
}

#[test]
fn a_handshake_takes_one_round_trip_before_the_client_sends_data() {
    let mut wire = Wire::new(configs(), 1, Wire::lossy(0, 0));
    wire.run(ms(39));
    assert!(wire.events.is_empty());
    wire.run(ms(2));
    assert_eq!(wire.events, [(CLIENT, Event::Established)]);
    wire.with(CLIENT, |endpoint| endpoint.write(5000));
    wire.run(ms(20));
    assert_eq!(wire.events[1..], [(SERVER, Event::Established)]);
    assert_eq!(wire.endpoint(SERVER).bytes_received(), 5000);
}

#[test]
fn both_ends_close_gracefully_after_everything_has_arrived() {
    let wire = transfer(Wire::new(configs(), 2, Wire::lossy(0, 0)), 500_000, 300_000);
    for side in [CLIENT, SERVER] {
        assert_eq!(wire.endpoint(side).ended(), Some(Closed::Gracefully), "side {side}: {:?}", wire.events);
        let of_side = wire.events.iter().filter(|(from, _)| *from == side).map(|(_, event)| *event);
        let events: Vec<_> = of_side.collect();
        assert_eq!(events.last(), Some(&Event::Closed(Closed::Gracefully)));
        assert!(events.contains(&Event::Acknowledged) && events.contains(&Event::PeerFinished), "{events:?}");
    }
    assert_eq!(wire.connection(CLIENT).counters().retransmissions, 0);
}

#[test]
fn every_congestion_control_transfers_over_a_lossy_link() {
    for name in ["reno", "cubic", "westwood", "vegas", "dctcp"] {
        let configs = configs().map(|config| with_congestion(config, name));
        let wire = transfer(Wire::new(configs, 3, Wire::lossy(2, 5)), 1_000_000, 1000);
        let counters = wire.connection(CLIENT).counters();
        assert!(counters.packets_lost > 0 && counters.retransmissions > 0, "{name}: {counters:?}");
    }
}

#[test]
fn small_windows_of_flow_control_bound_what_is_outstanding() {
    let [client, server] = configs();
    let server = Config { connection_window: 20_000, stream_window: 15_000, ..server };
    let mut wire = Wire::new([client, server], 4, Wire::lossy(0, 0));
    wire.with(CLIENT, |endpoint| endpoint.write(400_000));
    wire.run(ms(100));
    wire.with(SERVER, |endpoint| endpoint.set_reading(false, subflow_quantity::Instant::ZERO));
    wire.run(Duration::from_secs(3));
    let received = wire.endpoint(SERVER).bytes_received();
    assert_eq!(wire.endpoint(SERVER).receive_window(), Some(0));
    wire.with(SERVER, |endpoint| endpoint.set_reading(true, subflow_quantity::Instant::ZERO));
    wire.run(Duration::from_secs(3));
    assert!(received < 400_000);
    assert_eq!(wire.endpoint(SERVER).bytes_received(), 400_000);
}

#[test]
fn several_streams_share_a_connection() {
    let mut wire = Wire::new(configs(), 5, Wire::lossy(3, 3));
    let streams: Vec<StreamId> = wire.with(CLIENT, |endpoint| {
        let quic = endpoint.as_quic_mut().expect("it speaks QUIC");
        let streams: Vec<StreamId> = (0..5).map(|_| quic.open_stream(Priority::default())).collect();
        for (&stream, bytes) in streams.iter().zip([70_000, 1, 0, 120_000, 4000]) {
            quic.write_on(stream, bytes);
            quic.finish_stream(stream);
        }
        streams
    });
    wire.run(Duration::from_secs(20));
    for (&stream, bytes) in streams.iter().zip([70_000, 1, 0, 120_000, 4000]) {
        assert_eq!(wire.connection(SERVER).received_on(stream), Some((bytes, true)), "{stream:?}");
        wire.check_data(SERVER, stream, bytes);
    }
}

#[test]
fn an_idle_connection_ends_without_a_packet() {
    let [client, server] = configs();
    let client = Config { idle_timeout: Some(Duration::from_secs(5)), ..client };
    let mut wire = Wire::new([client, server], 6, Wire::lossy(0, 0));
    wire.run(ms(500));
    let sent = wire.log.len();
    wire.run(Duration::from_secs(6));
    for side in [CLIENT, SERVER] {
        assert_eq!(wire.endpoint(side).ended(), Some(Closed::TimedOut), "the smaller of both timeouts");
    }
    assert_eq!(wire.log.len(), sent);
}

#[test]
fn an_abort_resets_the_peer() {
    let mut wire = Wire::new(configs(), 7, Wire::lossy(0, 0));
    wire.with(CLIENT, |endpoint| endpoint.write(50_000));
    wire.run(ms(100));
    wire.with(CLIENT, |endpoint| endpoint.abort());
    wire.run(Duration::from_secs(2));
    let ended = [CLIENT, SERVER].map(|side| wire.endpoint(side).ended());
    assert_eq!(ended, [Some(Closed::Aborted), Some(Closed::Reset)]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

    #[test]
    fn every_byte_arrives_whatever_is_lost_late_or_repeated(
        seed: u32,
        loss in 0..25_u64,
        reordered in 0..40_u64,
        repeated in 0..10_u64,
        client in 0..200_000_u64,
        server in 0..50_000_u64,
    ) {
        let mut lossy = Wire::lossy(loss, reordered);
        let link = move |leaving: &mut super::wire::Leaving<'_>| {
            let mut fate = lossy(leaving);
            if leaving.number as u64 % 100 < repeated {
                fate.extend(fate.clone());
            }
            fate
        };
        // The loss of many packets of the handshake may last for minutes.
        let configs = configs().map(|config| Config { idle_timeout: None, ..config });
        transfer(Wire::new(configs, seed.into(), link), client, server);
    }
}
