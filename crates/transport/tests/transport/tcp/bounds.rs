//! What a hostile peer can make an endpoint keep.

use subflow_wire::Packet;

use crate::harness::tamper::has_data;
use crate::harness::{CLIENT, Fate, Pair, SERVER, Setup, ms};

/// The client's byte at `ahead` bytes from what it has sent, alone.
fn lone_byte(pair: &Pair, ahead: u32) -> Packet {
    let mut segment = pair.log.iter().rfind(|sent| sent.from == CLIENT).expect("the client has spoken").segment.clone();
    segment.sequence = segment.sequence.wrapping_add(segment.payload.length + ahead);
    segment.payload.length = 1;
    pair.first_path(SERVER, segment)
}

#[test]
fn every_second_byte_costs_no_more_than_the_buffer_has_room_for_packets() {
    let mut pair = Setup::tcp().both(|stack| stack.receive_buffer(65_536)).connected();
    pair.transfer(CLIENT, 20_000);
    pair.trust_content = true;
    for ahead in (1..60_000).step_by(2) {
        let byte = lone_byte(&pair, ahead);
        pair.inject(SERVER, &byte, ms(1));
    }
    pair.run_for(ms(2));
    assert_eq!(pair.tcp(SERVER).out_of_order_pieces(), 65_536 / 896);
    // What was nearest is held: the client need not send it again.
    let start = pair.now();
    pair.write(CLIENT, 1000);
    pair.settle();
    assert_eq!(pair.received(SERVER), 21_000);
    assert_eq!(pair.sent(CLIENT, start).filter(|sent| has_data(&sent.segment)).count(), 1);
}

#[test]
fn data_nearest_to_rcv_nxt_is_kept_when_the_queue_is_full() {
    let mut pair = Setup::tcp().both(|stack| stack.receive_buffer(65_536)).connected();
    pair.transfer(CLIENT, 20_000);
    pair.trust_content = true;
    for ahead in (1..60_000).step_by(2).rev() {
        let byte = lone_byte(&pair, ahead);
        pair.inject(SERVER, &byte, ms(1));
    }
    pair.run_for(ms(2));
    let blocks: Vec<_> = pair.log.last().expect("an acknowledgment").segment.options.sack.iter().copied().collect();
    let next = pair.log.last().expect("an acknowledgment").segment.acknowledgment;
    assert_eq!(blocks.first().map(|block| block.left.wrapping_sub(next)), Some(1));
    assert_eq!(pair.tcp(SERVER).out_of_order_pieces(), 65_536 / 896);
}

/// The client's window after the server, whose own acknowledgments are lost, has acknowledged the first window in
/// pieces of `piece` bytes.
fn window_after_acknowledgments_of(piece: u32) -> u32 {
    let mut pair = Setup::tcp().both(|stack| stack.receive_buffer(1 << 20)).connected();
    pair.transfer(CLIENT, 1448);
    let mut acknowledgment = pair.log.iter().rfind(|sent| sent.from == SERVER).expect("it answers").segment.clone();
    let first = acknowledgment.acknowledgment;
    pair.tamper(|leaving| if leaving.from == SERVER { Fate::Drop } else { Fate::Pass });
    let before = pair.cwnd(CLIENT, 0);
    pair.write(CLIENT, 1_000_000);
    pair.run_for(ms(1));
    let window = before * 1448;
    for length in (piece..=window).step_by(piece as usize) {
        acknowledgment.acknowledgment = first.wrapping_add(length);
        let packet = pair.first_path(CLIENT, acknowledgment.clone());
        pair.inject(CLIENT, &packet, ms(0));
        pair.run_for(ms(0));
    }
    pair.run_for(ms(1));
    pair.cwnd(CLIENT, 0) - before
}

/// Savage, Cardwell, Wetherall, Anderson: "TCP Congestion Control with a Misbehaving Receiver" (CCR 1999), section 2.1.
#[test]
fn acknowledging_a_segment_in_pieces_opens_the_window_no_faster() {
    let [whole, pieces, bytes] = [1448, 181, 8].map(window_after_acknowledgments_of);
    assert!((9..=11).contains(&whole), "in slow start by what was acknowledged: {whole}");
    assert!(pieces <= whole && bytes <= whole, "{whole}, {pieces}, {bytes}");
}
