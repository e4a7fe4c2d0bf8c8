//! What a hostile peer can make an endpoint keep.

use subflow_wire::Packet;

use crate::harness::tamper::has_data;
use crate::harness::{CLIENT, Pair, SERVER, Setup, ms};

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
