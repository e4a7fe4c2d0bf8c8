//! Peers and middleboxes that do not know MPTCP (RFC 8684, section 3.7): the stream survives as plain TCP.

use subflow_transport::Event;
use subflow_wire::tcp::mptcp::MptcpOption;

use super::{capable, exchange_and_close, has};
use crate::harness::tamper::{has_data, is_pure_ack, is_syn, is_syn_ack, strip_mptcp};
use crate::harness::{CLIENT, Fate, Leaving, Pair, SERVER, Sent, Setup, ms};

/// A connection whose every segment for which `which` holds loses its MPTCP options.
fn stripping(which: impl Fn(&Leaving<'_>) -> bool + 'static) -> Pair {
    let mut pair = Setup::mptcp(2, 2).build();
    pair.tamper(strip_mptcp(which));
    pair.connect();
    pair
}

/// Both fell back, once, and data passes both ways until both close.
fn works_as_plain_tcp(pair: &mut Pair) {
    pair.write(SERVER, 30_000);
    pair.transfer(CLIENT, 30_000);
    exchange_and_close(pair);
    for side in [CLIENT, SERVER] {
        assert!(pair.mptcp(side).has_fallen_back(), "side {side}");
        assert_eq!(pair.count(side, Event::FellBack), 1, "side {side}");
    }
    assert!(!pair.log.iter().any(|sent| sent.path > 0 && has_data(&sent.segment)), "no other subflow carries data");
}

#[test]
fn a_server_that_speaks_plain_tcp() {
    let mut pair = Setup::mptcp(2, 2).on(SERVER, |stack| stack.mptcp = None).connected();
    exchange_and_close(&mut pair);
    assert!(pair.mptcp(CLIENT).has_fallen_back());
    assert!(!pair.log.iter().any(|sent| !is_syn(&sent.segment) && !sent.segment.options.mptcp.is_empty()));
}

#[test]
fn a_client_that_speaks_plain_tcp() {
    let mut pair = Setup::mptcp(2, 2).on(CLIENT, |stack| stack.mptcp = None).connected();
    exchange_and_close(&mut pair);
    assert!(pair.mptcp(SERVER).has_fallen_back());
}

#[test]
fn options_stripped_from_the_syn() {
    works_as_plain_tcp(&mut stripping(|leaving| is_syn(leaving.segment)));
}

#[test]
fn options_stripped_from_the_syn_ack() {
    works_as_plain_tcp(&mut stripping(|leaving| is_syn_ack(leaving.segment)));
}

#[test]
fn options_stripped_from_all_segments_without_syn() {
    let stripped = |leaving: &Leaving<'_>| !is_syn(leaving.segment) && !is_syn_ack(leaving.segment);
    works_as_plain_tcp(&mut stripping(stripped));
    for side in [CLIENT, SERVER] {
        works_as_plain_tcp(&mut stripping(move |leaving| leaving.from == side && stripped(leaving)));
    }
}

/// The client still waits for a first word of MPTCP when the server, which fell back, ends its side: that is one, too.
#[test]
fn a_peer_that_ends_before_it_acknowledges_anything_is_plain() {
    let mut pair = stripping(|leaving| leaving.from == CLIENT && !is_syn(leaving.segment));
    pair.settle();
    pair.finish(SERVER);
    pair.write(CLIENT, 100_000);
    pair.finish(CLIENT);
    pair.run_until("the data", |pair| pair.received(SERVER) == 100_000);
    assert!(pair.mptcp(CLIENT).has_fallen_back());
}

#[test]
fn options_stripped_from_the_third_ack_alone() {
    let mut once = false;
    let mut pair = Setup::mptcp(1, 1).build();
    pair.tamper(move |leaving| {
        if is_pure_ack(leaving.segment) && !core::mem::replace(&mut once, true) {
            leaving.segment.options.mptcp.clear();
        }
        Fate::Pass
    });
    pair.connect();
    works_as_plain_tcp(&mut pair);
}

#[test]
fn options_stripped_from_data_segments_of_either_side() {
    for side in [CLIENT, SERVER] {
        works_as_plain_tcp(&mut stripping(move |leaving| leaving.from == side && has_data(leaving.segment)));
    }
    works_as_plain_tcp(&mut stripping(|leaving| has_data(leaving.segment)));
}

#[test]
fn options_that_vanish_in_mid_connection() {
    // A route changes: from now on, in one direction or both, no segment keeps its options.
    for (from, what) in [(Some(CLIENT), "client"), (Some(SERVER), "server"), (None, "both")] {
        for lossy in [false, true] {
            let mut pair = Setup::mptcp(1, 1).connected();
            pair.transfer(CLIENT, 50_000);
            pair.transfer(SERVER, 50_000);
            pair.write(CLIENT, 400_000);
            pair.write(SERVER, 400_000);
            pair.run_for(ms(35));
            pair.tamper(strip_mptcp(move |leaving| from.is_none_or(|from| leaving.from == from)));
            if lossy {
                pair.paths[0].loss = 0.05;
            }
            pair.run_until(what, |pair| pair.received(CLIENT) == 450_000 && pair.received(SERVER) == 450_000);
            exchange_and_close(&mut pair);
            assert_eq!(pair.count(CLIENT, Event::FellBack) + pair.count(SERVER, Event::FellBack), 2, "{what}");
        }
    }
}

#[test]
fn a_subflow_that_loses_its_options_is_reset_while_another_lives() {
    let mut pair = Setup::mptcp(2, 1).connected();
    pair.transfer(CLIENT, 50_000);
    pair.settle();
    pair.write(CLIENT, 1_000_000);
    pair.run_for(ms(15));
    pair.tamper(strip_mptcp(|leaving| leaving.path == 1 && has_data(leaving.segment)));
    pair.run_until("the data", |pair| pair.received(SERVER) == 1_050_000);
    pair.settle();
    assert_eq!((pair.established_subflows(CLIENT), pair.established_subflows(SERVER)), (1, 1));
    assert!(!pair.mptcp(CLIENT).has_fallen_back());
    exchange_and_close(&mut pair);
}

#[test]
fn a_version_that_the_server_does_not_know() {
    let mut pair = Setup::mptcp(2, 1).build();
    pair.tamper(|leaving| {
        for option in &mut leaving.segment.options.mptcp {
            if let MptcpOption::Capable(capable) = option {
                capable.version = 2;
            }
        }
        Fate::Pass
    });
    pair.connect();
    works_as_plain_tcp(&mut pair);
    assert!(!pair.log.iter().any(|sent| is_syn_ack(&sent.segment) && capable(&sent.segment).is_some()));
}

/// The version is settled by the SYN/ACK: keys shown under another one afterwards are none.
#[test]
fn another_version_behind_the_handshake() {
    let mut pair = Setup::mptcp(2, 1).build();
    pair.tamper(|leaving| {
        let opening = is_syn(leaving.segment) || is_syn_ack(leaving.segment);
        for option in &mut leaving.segment.options.mptcp {
            if let (MptcpOption::Capable(capable), false) = (option, opening) {
                capable.version = 0;
            }
        }
        Fate::Pass
    });
    pair.connect();
    works_as_plain_tcp(&mut pair);
}

#[test]
fn plain_tcp_has_the_room_that_options_took() {
    let mut pair = stripping(|leaving| is_syn(leaving.segment));
    pair.transfer(CLIENT, 50_000);
    assert_eq!(pair.tcp(CLIENT).mss(), 1448);
    assert!(!pair.log.iter().any(|sent| has(&sent.segment, |option| matches!(option, MptcpOption::Join(_)))));
}

#[test]
fn a_fallen_connection_obeys_its_send_and_receive_buffers() {
    let setup = Setup::mptcp(1, 1).both(|stack| {
        stack.send_buffer(20_000);
        stack.receive_buffer(10_000);
    });
    let mut pair = setup.build();
    pair.tamper(strip_mptcp(|leaving| is_syn(leaving.segment)));
    pair.connect();
    pair.settle();
    pair.act(SERVER, |endpoint, now| endpoint.set_reading(false, now));
    pair.write(CLIENT, 100_000);
    pair.run_for(ms(2000));
    assert!(pair.received(SERVER) <= 10_000, "{}", pair.received(SERVER));
    assert!(pair.endpoint(CLIENT).bytes_written() <= 30_000);
    pair.act(SERVER, |endpoint, now| endpoint.set_reading(true, now));
    pair.run_until("the rest", |pair| pair.received(SERVER) == 100_000);
    exchange_and_close(&mut pair);
}

/// Whether `side` has sent each byte of its stream at one place of the first path's stream only.
fn sent_each_byte_once(pair: &Pair, side: usize) -> bool {
    let data = |sent: &&Sent| sent.from == side && sent.path == 0 && has_data(&sent.segment);
    let place = |sent: &Sent| sent.segment.sequence.wrapping_sub(sent.segment.payload.stream_offset as u32);
    let places: Vec<u32> = pair.log.iter().filter(data).map(place).collect();
    !places.is_empty() && places.iter().all(|place| *place == places[0])
}

/// A join comes to nothing while data is under way on the only subflow, whose options vanish at the same time: what the
/// peer then takes for the data, in the order of the subflow, must not have copies in it.
#[test]
fn the_only_subflow_carries_no_copies_when_a_join_fails() {
    for stale_loss_count in [0, 4] {
        let mut pair =
            Setup::mptcp(2, 1).on(CLIENT, |stack| stack.multipath().stale_loss_count = stale_loss_count).build();
        pair.tamper(strip_mptcp(|leaving| leaving.path == 1 && is_syn_ack(leaving.segment)));
        pair.connect();
        pair.write(CLIENT, 100);
        pair.run_for(ms(45));
        pair.write(CLIENT, 900);
        pair.tamper(strip_mptcp(|leaving| leaving.path == 0 && leaving.from == CLIENT));
        pair.run_for(ms(10));
        pair.write(CLIENT, 5000);
        pair.run_until("the data", |pair| pair.received(SERVER) == 6000);
        assert!(sent_each_byte_once(&pair, CLIENT), "stale_loss_count {stale_loss_count}");
        exchange_and_close(&mut pair);
    }
}

/// The DATA_ACK is asked for where the subflow has delivered everything: sending the data again would put a copy into
/// the subflow's stream.
#[test]
fn a_lost_data_ack_of_the_only_subflow_is_asked_for() {
    let mut pair = Setup::mptcp(1, 1).connected();
    pair.transfer(CLIENT, 5000);
    pair.settle();
    let start = pair.now();
    pair.tamper(move |leaving| {
        if let (SERVER, Some(dss)) = (leaving.from, &mut leaving.segment.options.dss)
            && let (true, Some(ack)) = (leaving.at < start + ms(100), &mut dss.data_ack)
        {
            ack.value = ack.value.wrapping_sub(1000) & 0xFFFF_FFFF;
        }
        Fate::Pass
    });
    pair.write(CLIENT, 1000);
    pair.run_until("the acknowledgment", |pair| pair.endpoint(CLIENT).bytes_acknowledged() == 6000);
    assert!(sent_each_byte_once(&pair, CLIENT));
    exchange_and_close(&mut pair);
}

/// A peer that maps its first data to some place beyond, and then maps nothing: what is reported is what was taken.
#[test]
fn a_first_mapping_beyond_a_hole_and_then_none() {
    let mut pair = Setup::mptcp(1, 1).connected();
    pair.trust_content = true;
    let mut first = true;
    pair.tamper(move |leaving| {
        if leaving.from == SERVER && has_data(leaving.segment) {
            match leaving.segment.options.dss.as_mut().and_then(|dss| dss.mapping.as_mut()) {
                Some(mapping) if core::mem::replace(&mut first, false) => mapping.data_sequence += 7475,
                _ => leaving.segment.options.dss = None,
            }
        }
        Fate::Pass
    });
    pair.write(SERVER, 1000);
    pair.run_for(ms(50));
    pair.write(SERVER, 3000);
    pair.run_until("the data", |pair| pair.received(CLIENT) == 3000);
    assert!(pair.mptcp(CLIENT).has_fallen_back());
}
