//! MP_JOIN (RFC 8684, section 3.2).

use subflow_transport::tcp::Closed;
use subflow_transport::{Endpoint, Event};
use subflow_wire::TcpSegment;
use subflow_wire::tcp::mptcp::{Join, MptcpOption, ResetReason};

use super::{exchange_and_close, has, is_join, join};
use crate::harness::tamper::{drop_all, drop_first, has_data, has_fin, is_pure_ack, is_reset, is_syn, is_syn_ack};
use crate::harness::{CLIENT, Fate, Pair, SERVER, Sent, Setup, ms, secs};

fn connected_with_data(setup: Setup) -> Pair {
    let mut pair = setup.connected();
    pair.transfer(CLIENT, 5000);
    pair.settle();
    pair
}

fn subflow_events(pair: &Pair, side: usize) -> usize {
    pair.events(side).iter().filter(|(_, event)| matches!(event, Event::SubflowEstablished(_))).count()
}

/// The reason that a reset gives.
fn reason(segment: &TcpSegment) -> Option<ResetReason> {
    segment.options.mptcp.iter().find_map(|option| match option {
        MptcpOption::Reset(reason) => Some(*reason),
        _ => None,
    })
}

/// Changes the MP_JOIN of every segment for which `which` holds.
fn forge(pair: &mut Pair, change: impl Fn(&mut Join) + 'static) {
    pair.tamper(move |leaving| {
        for option in &mut leaving.segment.options.mptcp {
            if let MptcpOption::Join(join) = option {
                change(join);
            }
        }
        Fate::Pass
    });
}

#[test]
fn a_full_mesh_joins_from_every_address_to_every_address() {
    let mut pair = connected_with_data(Setup::mptcp(2, 2));
    for side in [CLIENT, SERVER] {
        assert_eq!(pair.established_subflows(side), 4);
        assert_eq!(subflow_events(&pair, side), 3);
    }
    let mut paths: Vec<_> = pair.log.iter().filter(|sent| is_syn(&sent.segment)).map(|sent| sent.path).collect();
    paths.sort();
    assert_eq!(paths, [0, 1, 2, 3]);
    exchange_and_close(&mut pair);
}

#[test]
fn all_subflows_carry_data() {
    let mut pair = connected_with_data(Setup::mptcp(2, 2));
    pair.transfer(CLIENT, 2_000_000);
    for subflow in pair.mptcp(SERVER).subflows() {
        assert!(subflow.bytes_received() > 10_000, "{}", subflow.bytes_received());
    }
    let sum: u64 = pair.mptcp(SERVER).subflows().iter().map(|subflow| subflow.bytes_received()).sum();
    assert_eq!(sum, pair.received(SERVER));
}

#[test]
fn twenty_five_subflows() {
    let mut pair = connected_with_data(Setup::mptcp(5, 5));
    pair.run_for(secs(2));
    assert_eq!((pair.established_subflows(CLIENT), pair.established_subflows(SERVER)), (25, 25));
    pair.transfer(CLIENT, 3_000_000);
    pair.transfer(SERVER, 1_000_000);
    exchange_and_close(&mut pair);
}

#[test]
fn no_data_leaves_before_the_third_ack_is_acknowledged() {
    let mut pair = Setup::mptcp(2, 1).build();
    pair.connect();
    pair.write(CLIENT, 2_000_000);
    pair.run_until("the end", |pair| pair.received(SERVER) == 2_000_000);
    let answered = pair.log.iter().position(|sent| sent.path == 1 && sent.from == SERVER && is_pure_ack(&sent.segment));
    let data = pair.log.iter().position(|sent| sent.path == 1 && sent.from == CLIENT && has_data(&sent.segment));
    assert!(answered.expect("the fourth segment") < data.expect("data on the second path"));
}

#[test]
fn any_piece_of_a_join_may_be_lost() {
    for lost in [is_syn, is_syn_ack, is_pure_ack] {
        for times in [1, 2] {
            let mut pair = Setup::mptcp(2, 1).build();
            pair.tamper(drop_first(times, move |leaving| leaving.path == 1 && lost(leaving.segment)));
            pair.connect();
            pair.write(CLIENT, 5000);
            pair.run_for(secs(10));
            assert_eq!((pair.established_subflows(CLIENT), pair.established_subflows(SERVER)), (2, 2));
            exchange_and_close(&mut pair);
        }
    }
}

#[test]
fn the_acknowledgment_of_the_third_ack_may_be_lost() {
    let mut pair = Setup::mptcp(2, 1).build();
    pair.tamper(drop_first(2, |leaving| leaving.path == 1 && leaving.from == SERVER && is_pure_ack(leaving.segment)));
    pair.connect();
    pair.write(CLIENT, 5000);
    pair.run_for(secs(10));
    assert_eq!(pair.established_subflows(CLIENT), 2);
    exchange_and_close(&mut pair);
}

#[test]
fn a_third_ack_that_is_never_acknowledged_is_given_up() {
    let mut pair = Setup::mptcp(2, 1).build();
    pair.tamper(drop_all(|leaving| leaving.path == 1 && leaving.from == CLIENT && !is_syn(leaving.segment)));
    pair.connect();
    pair.write(CLIENT, 5000);
    pair.run_for(secs(1000));
    let sent: Vec<_> = pair.log.iter().filter(|sent| sent.path == 1 && sent.from == CLIENT).collect();
    let joins = sent.iter().filter(|sent| is_syn(&sent.segment)).count();
    // The path manager opens another after each, with a delay that grows.
    assert!((2..30).contains(&joins) && sent.len() <= 15 * joins, "{joins} joins, {} segments", sent.len());
    assert!(pair.mptcp(CLIENT).subflows()[1].is_closed());
    pair.stop_tampering();
    exchange_and_close(&mut pair);
}

#[test]
fn an_unknown_token_is_refused() {
    let mut pair = Setup::mptcp(2, 1).build();
    forge(&mut pair, |join| {
        if let Join::Syn { token, .. } = join {
            *token ^= 1;
        }
    });
    pair.connect();
    pair.write(CLIENT, 5000);
    pair.settle();
    assert_eq!((pair.established_subflows(CLIENT), pair.established_subflows(SERVER)), (1, 1));
    let reset = pair.log.iter().find(|sent| sent.path == 1 && is_reset(&sent.segment)).expect("a reset");
    assert!(reset.from == SERVER && has(&reset.segment, |option| matches!(option, MptcpOption::Reset(_))));
    exchange_and_close(&mut pair);
}

#[test]
fn a_join_to_a_connection_whose_streams_have_ended_is_refused_and_does_not_keep_it() {
    let mut pair = connected_with_data(Setup::mptcp(2, 1));
    // The client's subflows never close.
    pair.tamper(|leaving| if leaving.from == CLIENT && has_fin(leaving.segment) { Fate::Drop } else { Fate::Pass });
    pair.finish(CLIENT);
    pair.finish(SERVER);
    pair.run_for(ms(300));
    let is_join = |sent: &&Sent| sent.path == 1 && is_syn(&sent.segment);
    let mut syn = pair.log.iter().find(is_join).expect("it has joined").segment.clone();
    for _ in 0..10 {
        syn.source_port += 100;
        let start = pair.now();
        pair.inject(SERVER, &pair.first_path(SERVER, syn.clone()), ms(1));
        pair.run_for(secs(5));
        let mut answers = pair.sent(SERVER, start).filter(|sent| sent.segment.destination_port == syn.source_port);
        let answer = &answers.next().expect("an answer").segment;
        assert_eq!((is_reset(answer), reason(answer)), (true, Some(ResetReason::MPTCP_SPECIFIC)));
        assert_eq!(answers.count(), 0);
    }
    pair.run_for(secs(15));
    assert_eq!(pair.count(SERVER, Event::Closed(Closed::Gracefully)), 1, "a minute after the ends");
}

#[test]
fn a_wrong_hmac_of_either_side_resets_the_subflow_alone() {
    for side in [CLIENT, SERVER] {
        let mut pair = Setup::mptcp(2, 1).build();
        forge(&mut pair, move |join| match join {
            Join::SynAck { truncated_hmac, .. } if side == SERVER => *truncated_hmac ^= 1,
            Join::Ack { hmac } if side == CLIENT => hmac[19] ^= 1,
            _ => {}
        });
        pair.connect();
        pair.write(CLIENT, 500_000);
        pair.run_until("the data", |pair| pair.received(SERVER) == 500_000);
        pair.settle();
        assert_eq!((pair.established_subflows(CLIENT), pair.established_subflows(SERVER)), (1, 1));
        let reset = pair.log.iter().find(|sent| sent.path == 1 && is_reset(&sent.segment)).expect("a reset");
        assert_eq!((reset.from, reason(&reset.segment)), (1 - side, Some(ResetReason::MPTCP_SPECIFIC)));
        assert_eq!(pair.mptcp(side).subflows()[1].reset_reason(), Some(ResetReason::MPTCP_SPECIFIC), "and it is heard");
        assert!(!pair.log.iter().any(|sent| sent.path == 1 && has_data(&sent.segment)));
        exchange_and_close(&mut pair);
    }
}

#[test]
fn a_segment_with_a_wrong_hmac_says_nothing_else_either() {
    // What it claims beside, here that the peer gave up a path, must not be believed.
    let mut pair = Setup::mptcp(2, 1).build();
    pair.tamper(|leaving| {
        let third = matches!(join(leaving.segment), Some(Join::Ack { .. }));
        if third {
            let forged = MptcpOption::RemoveAddress([0].into_iter().collect());
            leaving.segment.options.mptcp.iter_mut().for_each(|option| {
                if let MptcpOption::Join(Join::Ack { hmac }) = option {
                    hmac[0] ^= 1;
                }
            });
            leaving.segment.options.timestamps = None;
            leaving.segment.options.mptcp.push(forged);
        }
        Fate::Pass
    });
    pair.connect();
    pair.write(CLIENT, 5000);
    pair.settle();
    assert_eq!(pair.established_subflows(SERVER), 1);
    pair.stop_tampering();
    exchange_and_close(&mut pair);
}

#[test]
fn a_join_stripped_of_its_option_is_reset() {
    for stripped in [is_syn_ack, is_pure_ack] {
        let mut pair = Setup::mptcp(2, 1).build();
        pair.tamper(move |leaving| {
            if leaving.path == 1 && stripped(leaving.segment) && is_join(leaving.segment) {
                leaving.segment.options.mptcp.clear();
            }
            Fate::Pass
        });
        pair.connect();
        pair.write(CLIENT, 5000);
        pair.run_for(secs(5));
        assert_eq!((pair.established_subflows(CLIENT), pair.established_subflows(SERVER)), (1, 1));
        exchange_and_close(&mut pair);
    }
}

#[test]
fn no_more_subflows_than_the_server_allows() {
    let mut pair = connected_with_data(Setup::mptcp(4, 1).on(SERVER, |stack| stack.multipath().max_subflows = 2));
    assert_eq!((pair.established_subflows(CLIENT), pair.established_subflows(SERVER)), (2, 2));
    let refused: Vec<_> = pair.log.iter().filter(|sent| sent.from == SERVER && is_reset(&sent.segment)).collect();
    assert_eq!(refused.len(), 2);
    assert!(refused.iter().all(|sent| reason(&sent.segment) == Some(ResetReason::MPTCP_SPECIFIC)));
    exchange_and_close(&mut pair);
}

#[test]
fn a_path_that_the_server_refused_for_good_is_tried_again_only_where_the_reason_may_pass() {
    for transient in [false, true] {
        let mut pair = connected_with_data(Setup::mptcp(2, 1));
        pair.tamper(move |leaving| {
            for option in &mut leaving.segment.options.mptcp {
                if let MptcpOption::Reset(reason) = option {
                    reason.transient = transient;
                }
            }
            Fate::Pass
        });
        pair.act(SERVER, |endpoint, now| match endpoint {
            Endpoint::Mptcp(connection) => connection.forbid_subflow(1, now),
            _ => unreachable!("it speaks MPTCP"),
        });
        pair.settle();
        assert_eq!(pair.established_subflows(CLIENT), 1);
        pair.lose_address(CLIENT, 1);
        pair.regain_address(CLIENT, 1);
        pair.settle();
        assert_eq!(pair.established_subflows(CLIENT), if transient { 2 } else { 1 });
        exchange_and_close(&mut pair);
    }
}

#[test]
fn no_more_subflows_than_the_client_wants() {
    let mut pair = connected_with_data(Setup::mptcp(4, 1).on(CLIENT, |stack| stack.multipath().max_subflows = 3));
    assert_eq!(pair.established_subflows(CLIENT), 3);
    exchange_and_close(&mut pair);
}

#[test]
fn an_initial_address_closed_to_joins_is_left_alone() {
    let setup = Setup::mptcp(2, 2).on(SERVER, |stack| stack.multipath().deny_join_to_initial_address = true);
    let mut pair = connected_with_data(setup);
    let joined: Vec<_> = pair.log.iter().filter(|sent| is_syn(&sent.segment)).skip(1).map(|sent| sent.path).collect();
    assert_eq!(joined, [1, 3], "to the server's second address only");
    exchange_and_close(&mut pair);
}

#[test]
fn a_subflow_asked_for_beside_the_path_manager_is_opened() {
    let mut pair = Setup::mptcp(2, 1).both(|stack| stack.multipath().path_manager = Default::default()).connected();
    let (local, remote) = (pair.address(CLIENT, 1), pair.endpoint(CLIENT).ends().remote);
    let (id, now) = (pair.connection(CLIENT), pair.now());
    pair.host(CLIENT).open_subflow(id, local, Some(4321), remote, false, now);
    pair.transfer(CLIENT, 5000);
    pair.settle();
    assert_eq!(pair.established_subflows(CLIENT), 2);
    assert_eq!(pair.mptcp(CLIENT).subflows()[1].connection().ends().local.port(), 4321);
    exchange_and_close(&mut pair);
}

#[test]
fn such_a_subflow_is_opened_again_after_its_path_failed_and_when_its_address_returns() {
    let setup = Setup::mptcp(2, 1).both(|stack| {
        stack.multipath().path_manager = Default::default();
        stack.tcp.max_retries = 2;
    });
    let mut pair = setup.connected();
    let (local, remote) = (pair.address(CLIENT, 1), pair.endpoint(CLIENT).ends().remote);
    let (id, now) = (pair.connection(CLIENT), pair.now());
    pair.host(CLIENT).open_subflow(id, local, None, remote, false, now);
    pair.transfer(CLIENT, 5000);
    pair.paths[1].up = false;
    pair.write(CLIENT, 2_000_000);
    pair.run_until("the failure", |pair| pair.established_subflows(CLIENT) == 1);
    pair.paths[1].up = true;
    pair.run_for(secs(2));
    assert_eq!((pair.established_subflows(CLIENT), pair.established_subflows(SERVER)), (2, 2));
    pair.lose_address(CLIENT, 1);
    pair.run_for(secs(5));
    assert_eq!(pair.established_subflows(CLIENT), 1);
    pair.regain_address(CLIENT, 1);
    pair.run_for(ms(200));
    assert_eq!(pair.established_subflows(CLIENT), 2);
    exchange_and_close(&mut pair);
    pair.run_for(secs(100));
    assert!(pair.endpoint(CLIENT).is_closed());
}

#[test]
fn such_a_subflow_waits_for_its_address() {
    let setup = Setup::mptcp(2, 1).both(|stack| stack.multipath().path_manager = Default::default());
    let mut pair = setup.connected();
    pair.transfer(CLIENT, 5000);
    pair.lose_address(CLIENT, 1);
    let (local, remote) = (pair.address(CLIENT, 1), pair.endpoint(CLIENT).ends().remote);
    let (id, now) = (pair.connection(CLIENT), pair.now());
    pair.host(CLIENT).open_subflow(id, local, None, remote, false, now);
    pair.run_for(secs(5));
    assert_eq!(pair.established_subflows(CLIENT), 1);
    pair.regain_address(CLIENT, 1);
    pair.run_for(secs(1));
    assert_eq!(pair.established_subflows(CLIENT), 2);
    exchange_and_close(&mut pair);
}
