//! Small writes: Nagle's algorithm in Minshall's variant, request and response, the send buffer.

use subflow_transport::Event;
use subflow_wire::tcp::TcpFlags;

use crate::harness::tamper::{drop_first, has_data, has_fin, is_pure_ack};
use crate::harness::{CLIENT, Fate, SERVER, Setup, ms};

#[test]
fn a_second_small_segment_waits_for_the_first() {
    let mut pair = Setup::tcp().connected();
    let start = pair.now();
    for _ in 0..5 {
        pair.write(CLIENT, 100);
    }
    pair.settle();
    let sent: Vec<_> = pair.sent(CLIENT, start).filter(|sent| has_data(&sent.segment)).collect();
    let sizes: Vec<_> = sent.iter().map(|sent| (sent.at.since(start), sent.segment.payload.length)).collect();
    assert_eq!(sizes, [(ms(0), 100), (ms(20), 400)]);
}

#[test]
fn a_small_segment_does_not_wait_for_full_ones() {
    // Minshall: only another small segment holds it back.
    let mut pair = Setup::tcp().connected();
    let start = pair.now();
    pair.write(CLIENT, 3 * 1448 + 10);
    assert_eq!(
        pair.sent(CLIENT, start).map(|sent| sent.segment.payload.length).collect::<Vec<_>>(),
        [1448, 1448, 1448, 10]
    );
}

#[test]
fn the_end_of_the_stream_does_not_wait() {
    let mut pair = Setup::tcp().connected();
    let start = pair.now();
    pair.write(CLIENT, 100);
    pair.write(CLIENT, 100);
    pair.finish(CLIENT);
    assert_eq!(pair.sent(CLIENT, start).count(), 2);
    pair.close_gracefully();
}

#[test]
fn without_nagle_every_write_leaves_at_once() {
    let mut pair = Setup::tcp().both(|stack| stack.tcp.nagle = false).connected();
    let start = pair.now();
    for _ in 0..5 {
        pair.write(CLIENT, 100);
    }
    assert_eq!(pair.sent(CLIENT, start).map(|sent| sent.segment.payload.length).collect::<Vec<_>>(), [100; 5]);
    pair.close_gracefully();
    assert_eq!(pair.received(SERVER), 500);
}

#[test]
fn the_end_of_what_was_written_is_pushed_every_time_it_is_sent() {
    let mut pair = Setup::tcp().connected();
    let start = pair.now();
    pair.tamper(drop_first(2, |leaving| leaving.from == CLIENT && leaving.segment.payload.stream_offset == 2896));
    pair.write(CLIENT, 3000);
    pair.settle();
    let sent = pair.sent(CLIENT, start).filter(|sent| has_data(&sent.segment));
    let pushed: Vec<_> = sent.map(|sent| (sent.segment.payload.length, sent.segment.flags)).collect();
    let tail = (104, TcpFlags::ACK | TcpFlags::PSH);
    assert_eq!(pushed, [(1448, TcpFlags::ACK), (1448, TcpFlags::ACK), tail, tail, tail]);
}

#[test]
fn a_fin_without_data_pushes_nothing() {
    let mut pair = Setup::tcp().connected();
    pair.transfer(CLIENT, 1000);
    pair.tamper(drop_first(1, |leaving| has_fin(leaving.segment)));
    pair.close_gracefully();
    let fins: Vec<_> = pair.log.iter().filter(|sent| has_fin(&sent.segment)).map(|sent| sent.segment.flags).collect();
    assert_eq!(fins, [TcpFlags::FIN | TcpFlags::ACK; 3]);
}

#[test]
fn requests_and_responses_alternate_at_a_round_trip_each() {
    let mut pair = Setup::tcp().connected();
    for round in 1..=10 {
        let start = pair.now();
        pair.transfer(CLIENT, 300);
        pair.transfer(SERVER, 2000);
        assert_eq!(pair.now().since(start), ms(20), "round {round}");
    }
    pair.close_gracefully();
}

#[test]
fn both_directions_at_once() {
    let mut pair = Setup::tcp().connected();
    pair.write(SERVER, 300_000);
    pair.write(CLIENT, 300_000);
    pair.run_until("both", |pair| pair.received(CLIENT) == 300_000 && pair.received(SERVER) == 300_000);
    pair.close_gracefully();
}

#[test]
fn a_full_send_buffer_cuts_writes_short_until_a_third_is_free() {
    let mut pair = Setup::tcp().on(CLIENT, |stack| stack.send_buffer(30_000)).connected();
    let admitted = pair.act(CLIENT, |endpoint, _| endpoint.write(100_000));
    assert_eq!(admitted, 30_000);
    assert_eq!(pair.act(CLIENT, |endpoint, _| endpoint.write(1)), 0);
    assert_eq!(pair.count(CLIENT, Event::Writable), 0);
    pair.run_until("room", |pair| pair.count(CLIENT, Event::Writable) == 1);
    let outstanding = 30_000 - pair.endpoint(CLIENT).bytes_acknowledged();
    assert!(outstanding <= 20_000 && outstanding + 1448 * 2 > 20_000, "{outstanding}");
}

#[test]
fn acknowledgments_inside_a_segment_free_the_send_buffer() {
    let mut pair = Setup::tcp().on(CLIENT, |stack| stack.send_buffer(20_000)).connected();
    let mut count = 0;
    pair.tamper(move |leaving| {
        // Every second acknowledgment says 700 bytes less than there is to say.
        let acknowledges = leaving.from == SERVER && is_pure_ack(leaving.segment);
        count += u32::from(acknowledges);
        if acknowledges && count % 2 == 0 {
            leaving.segment.acknowledgment = leaving.segment.acknowledgment.wrapping_sub(700);
        }
        Fate::Pass
    });
    pair.transfer(CLIENT, 300_000);
    pair.stop_tampering();
    pair.close_gracefully();
    assert_eq!(pair.endpoint(CLIENT).bytes_acknowledged(), 300_000);
}

#[test]
fn what_an_acknowledgment_leaves_of_a_segment_is_all_that_is_sent_again() {
    let mut pair = Setup::tcp().connected();
    pair.tamper(drop_first(3, |leaving| leaving.from == CLIENT && has_data(leaving.segment)));
    pair.write(CLIENT, 1448);
    let mut ack = pair.log.iter().rfind(|sent| sent.from == SERVER).expect("the server has spoken").segment.clone();
    ack.flags = TcpFlags::ACK;
    ack.sequence = ack.sequence.wrapping_add(1);
    ack.acknowledgment = ack.acknowledgment.wrapping_add(1000);
    ack.options.syn = Default::default();
    let packet = pair.first_path(CLIENT, ack);
    pair.inject(CLIENT, &packet, ms(1));
    let start = pair.now() + ms(2);
    pair.settle();
    let again: Vec<_> = pair.sent(CLIENT, start).map(|sent| sent.segment.payload).collect();
    assert!(!again.is_empty() && again.iter().all(|payload| (payload.stream_offset, payload.length) == (1000, 448)));
}

#[test]
fn a_write_that_fits_asks_for_no_event() {
    let mut pair = Setup::tcp().on(CLIENT, |stack| stack.send_buffer(30_000)).connected();
    pair.transfer(CLIENT, 30_000);
    assert_eq!(pair.count(CLIENT, Event::Writable), 0);
    pair.close_gracefully();
}

#[test]
fn tiny_send_buffers_pass_everything() {
    for buffer in [1, 100, 1448, 5000] {
        let mut pair = Setup::tcp().both(|stack| stack.send_buffer(buffer)).connected();
        pair.write(CLIENT, 40 * buffer);
        pair.finish(CLIENT);
        pair.close_gracefully();
        assert_eq!(pair.received(SERVER), 40 * buffer);
    }
}

#[test]
fn a_stopped_writer_takes_back_what_was_not_sent() {
    let mut pair = Setup::tcp().connected();
    pair.write(CLIENT, 10_000_000);
    pair.run_for(ms(50));
    pair.act(CLIENT, |endpoint, _| endpoint.stop());
    let written = pair.endpoint(CLIENT).bytes_written();
    pair.close_gracefully();
    assert!(written < 1_000_000 && pair.received(SERVER) == written, "{written}");
}

#[test]
fn the_receive_mark_is_reported_once_it_is_reached() {
    let mut pair = Setup::tcp().connected();
    pair.act(SERVER, |endpoint, _| endpoint.set_receive_mark(2000));
    pair.transfer(CLIENT, 1999);
    assert_eq!(pair.count(SERVER, Event::Received), 0);
    pair.transfer(CLIENT, 5000);
    assert_eq!(pair.count(SERVER, Event::Received), 1);
}
