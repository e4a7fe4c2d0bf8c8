//! MP_CAPABLE (RFC 8684, section 3.1).

use subflow_transport::Event;
use subflow_transport::mptcp::keys::Key;
use subflow_wire::tcp::mptcp::Dss;

use super::{capable, exchange_and_close};
use crate::harness::tamper::{drop_first, has_data, is_pure_ack, is_syn, is_syn_ack};
use crate::harness::{CLIENT, Fate, SERVER, Setup, ms, secs};

#[test]
fn keys_are_exchanged_in_three_segments() {
    let mut pair = Setup::mptcp(1, 1).connected();
    let seen: Vec<_> = pair.log.iter().filter_map(|sent| capable(&sent.segment)).collect();
    let keys: Vec<_> =
        seen.iter().map(|capable| (capable.sender_key.is_some(), capable.receiver_key.is_some())).collect();
    assert_eq!(keys, [(false, false), (true, false), (true, true)]);
    assert_eq!(seen[1].sender_key, seen[2].receiver_key);
    assert!(seen.iter().all(|capable| capable.version == 1 && !capable.flags.checksum_required));
    let client_key = seen[2].sender_key.expect("just seen");
    assert_eq!(pair.mptcp(CLIENT).token(), Key::new(client_key).token);
    exchange_and_close(&mut pair);
}

#[test]
fn the_first_data_carries_both_keys_until_the_server_shows_that_it_has_them() {
    let mut pair = Setup::mptcp(1, 1).build();
    pair.connect();
    pair.write(CLIENT, 5000);
    pair.drive();
    let first = pair.log.iter().find(|sent| has_data(&sent.segment)).expect("data");
    let option = capable(&first.segment).expect("MP_CAPABLE with the first data");
    assert_eq!(option.data_length.map(u32::from), Some(first.segment.payload.length));
    let second = pair.log.iter().filter(|sent| has_data(&sent.segment)).nth(1).expect("more data");
    assert!(capable(&second.segment).is_none() && second.segment.options.dss.is_some());
    assert_eq!(pair.received(SERVER), 5000);
    exchange_and_close(&mut pair);
}

#[test]
fn all_data_is_mapped_and_acknowledged_at_the_data_level() {
    let mut pair = Setup::mptcp(1, 1).connected();
    pair.transfer(CLIENT, 20_000);
    let start = pair.now();
    pair.transfer(CLIENT, 20_000);
    pair.settle();
    for sent in pair.sent(CLIENT, start).filter(|sent| has_data(&sent.segment)) {
        let mapping = sent.segment.options.dss.and_then(|dss| dss.mapping).expect("a mapping");
        assert_eq!(u32::from(mapping.length), sent.segment.payload.length);
    }
    assert!(pair.sent(SERVER, start).all(|sent| sent.segment.options.dss.is_some_and(|dss| dss.data_ack.is_some())));
    assert_eq!(pair.endpoint(CLIENT).bytes_acknowledged(), 40_000);
}

#[test]
fn the_server_may_speak_first() {
    let mut pair = Setup::mptcp(2, 1).connected();
    pair.transfer(SERVER, 50_000);
    pair.settle();
    assert_eq!(pair.established_subflows(CLIENT), 2);
    exchange_and_close(&mut pair);
}

#[test]
fn any_piece_of_the_handshake_may_be_lost() {
    for lost in [is_syn, is_syn_ack, is_pure_ack] {
        for bytes in [0, 300, 50_000] {
            let mut pair = Setup::mptcp(1, 1).build();
            pair.tamper(drop_first(1, move |leaving| lost(leaving.segment)));
            pair.connect();
            pair.write(CLIENT, bytes);
            pair.run_for(secs(5));
            assert!(!pair.mptcp(SERVER).has_fallen_back() && !pair.mptcp(CLIENT).has_fallen_back());
            assert_eq!(pair.received(SERVER), bytes);
            exchange_and_close(&mut pair);
        }
    }
}

#[test]
fn the_third_ack_and_the_first_data_may_be_lost_together() {
    for segments in 1..4 {
        let mut pair = Setup::mptcp(1, 1).build();
        pair.tamper(drop_first(1, |leaving| is_pure_ack(leaving.segment)));
        pair.induce_loss(segments);
        pair.connect();
        pair.write(CLIENT, 20_000);
        pair.run_until("the data", |pair| pair.received(SERVER) == 20_000);
        assert!(!pair.mptcp(SERVER).has_fallen_back());
        exchange_and_close(&mut pair);
    }
}

#[test]
fn a_client_that_never_writes_can_close() {
    let mut pair = Setup::mptcp(1, 1).connected();
    pair.finish(CLIENT);
    pair.settle();
    assert_eq!(pair.count(SERVER, Event::PeerFinished), 1);
    pair.close_gracefully();
}

#[test]
fn a_client_that_closes_before_the_handshake_is_over_can_close() {
    for lost in [false, true] {
        let mut pair = Setup::mptcp(1, 1).build();
        if lost {
            pair.tamper(drop_first(1, |leaving| is_pure_ack(leaving.segment)));
        }
        pair.connect();
        pair.finish(CLIENT);
        pair.run_for(secs(5));
        assert_eq!(pair.count(SERVER, Event::PeerFinished), 1, "third ACK lost: {lost}");
        pair.close_gracefully();
    }
}

#[test]
fn establishment_is_reported_once_by_each_side() {
    let mut pair = Setup::mptcp(2, 2).build();
    let start = pair.now();
    pair.connect();
    pair.settle();
    assert_eq!(pair.when(CLIENT, Event::Established), Some(start + ms(20)));
    assert_eq!(pair.when(SERVER, Event::Established), Some(start + ms(30)));
    assert_eq!((pair.count(CLIENT, Event::Established), pair.count(SERVER, Event::Established)), (1, 1));
}

#[test]
fn the_window_of_a_third_ack_whose_dss_has_no_data_ack_is_the_servers() {
    let mut pair = Setup::mptcp(1, 1).build();
    pair.tamper(|leaving| {
        if leaving.from == CLIENT && capable(leaving.segment).is_some_and(|capable| capable.receiver_key.is_some()) {
            leaving.segment.options.dss = Some(Dss { data_ack: None, mapping: None, data_fin: false });
        }
        Fate::Pass
    });
    pair.connect();
    pair.settle();
    pair.write(SERVER, 100_000);
    pair.run_for(ms(100));
    let first = pair.log.iter().find(|sent| sent.from == SERVER && has_data(&sent.segment)).expect("data");
    assert_eq!(first.segment.payload.length, pair.tcp(SERVER).mss());
}

#[test]
fn tiny_streams_of_every_size_arrive() {
    for bytes in [1, 2, 1427, 1428, 1429, 2856, 14_280, 14_281] {
        let mut pair = Setup::mptcp(2, 1).build();
        pair.connect();
        pair.write(CLIENT, bytes);
        pair.finish(CLIENT);
        pair.run_until("the server's bytes", |pair| pair.received(SERVER) == bytes);
        pair.close_gracefully();
        assert_eq!(pair.received(SERVER), bytes);
    }
}
