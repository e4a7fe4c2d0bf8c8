//! Streams beyond the first one: each is complete by itself, in the order of priorities, and leaves its place to another.

use subflow_quantity::Duration;
use subflow_transport::quic::{Config, Priority};
use subflow_transport::tcp::Closed;
use subflow_transport::{Endpoint, Event};
use subflow_wire::quic::Frame;

use super::configs;
use super::wire::{CLIENT, Leaving, SERVER, Wire, ms};

/// The numbers of the streams that `side` has received whole, in that order.
fn completed(wire: &Wire, side: usize) -> Vec<u64> {
    let of_side = wire.events.iter().filter(|(of, _)| *of == side);
    of_side
        .filter_map(|(_, event)| if let Event::StreamCompleted(number) = event { Some(*number) } else { None })
        .collect()
}

/// The client sends these amounts on streams of their own, with these urgencies.
fn send(wire: &mut Wire, streams: &[(u64, u8)]) -> Vec<u64> {
    let open = |endpoint: &mut Endpoint, bytes, urgency| {
        let priority = Priority { urgency, incremental: false };
        let number = endpoint.open_stream(priority).expect("a client opens streams");
        endpoint.write_on_stream(number, bytes, priority);
        number
    };
    wire.with(CLIENT, |endpoint| streams.iter().map(|&(bytes, urgency)| open(endpoint, bytes, urgency)).collect())
}

#[test]
fn the_most_urgent_stream_is_complete_first_and_others_in_their_order() {
    let mut wire = Wire::new(configs(), 1, Wire::lossy(0, 0));
    wire.run(ms(200));
    assert_eq!(send(&mut wire, &[(50_000, 3), (50_000, 3), (50_000, 1)]), [1, 2, 3]);
    wire.run(Duration::from_secs(3));
    assert_eq!(completed(&wire, SERVER), [3, 1, 2]);
    assert_eq!(wire.endpoint(SERVER).bytes_received(), 150_000);
}

#[test]
fn a_hole_in_one_stream_does_not_hold_up_another() {
    // The first packet with data of stream 1 arrives 3 s late, and what repeats it as well.
    let is_first = |frame: &Frame| matches!(frame, Frame::Stream(data) if data.stream.index() == 1 && data.offset == 0);
    let mut wire = Wire::new(configs(), 2, move |leaving: &mut Leaving<'_>| {
        let mut frames = leaving.datagram.packets.iter().flat_map(|packet| &packet.frames);
        vec![if leaving.from == CLIENT && frames.any(is_first) { ms(3000) } else { ms(20) }]
    });
    wire.run(ms(200));
    send(&mut wire, &[(20_000, 3), (20_000, 3)]);
    wire.run(ms(2000));
    assert_eq!(completed(&wire, SERVER), [2]);
    let received = |number| wire.endpoint(SERVER).received_on_stream(number);
    assert_eq!((received(1), received(2)), (Some(0), Some(20_000)));
    wire.run(Duration::from_secs(3));
    assert_eq!(completed(&wire, SERVER), [2, 1]);
}

#[test]
fn more_streams_than_are_open_at_a_time_are_answered_one_after_the_other() {
    let [client, server] = configs();
    let mut wire = Wire::new([client, Config { streams: 4, ..server }], 3, Wire::lossy(5, 5));
    wire.run(ms(200));
    let numbers = send(&mut wire, &[(3000, 3); 50]);
    let mut answered = 0;
    for _ in 0..2000 {
        wire.run(ms(10));
        let arrived = completed(&wire, SERVER);
        for &number in &arrived[answered..] {
            wire.with(SERVER, |endpoint| endpoint.write_on_stream(number, 10 * number, Priority::default()));
        }
        answered = arrived.len();
    }
    let mut answers = completed(&wire, CLIENT);
    answers.sort_unstable();
    assert_eq!(answers, numbers);
    let sum: u64 = numbers.iter().map(|number| 10 * number).sum();
    assert_eq!(wire.endpoint(CLIENT).bytes_received(), sum);
    for side in [CLIENT, SERVER] {
        wire.with(side, |endpoint| endpoint.finish());
        wire.run(Duration::from_secs(5));
    }
    assert_eq!(wire.endpoint(CLIENT).ended(), Some(Closed::Gracefully));
}
