//! A peer that has ended its stream, or a subflow, hears what this side still has to say (RFC 8684, section 3.3.3).

use subflow_transport::Event;
use subflow_transport::tcp::State;
use subflow_wire::tcp::TcpFlags;

use crate::harness::tamper::has_fin;
use crate::harness::{CLIENT, Fate, Pair, SERVER, Sent, Setup, ms, secs};

/// The client ends its direction of the only subflow at once, which its stack would not do before both streams have
/// ended: the FIN is added on the way, and the numbers behind it are shifted.
fn end_subflow_of_client(pair: &mut Pair) {
    let speaks = |sent: &&Sent| sent.from == CLIENT && sent.path == 0 && sent.segment.options.dss.is_some();
    let last = pair.log.iter().rfind(speaks).expect("it has spoken").segment.clone();
    let fin = last.sequence.wrapping_add(last.payload.length);
    let mut own_fin = false;
    pair.tamper(move |leaving| {
        if leaving.path != 0 {
            return Fate::Pass;
        }
        own_fin |= leaving.from == CLIENT && has_fin(leaving.segment);
        if own_fin {
            return Fate::Pass;
        }
        if leaving.from == CLIENT {
            leaving.segment.sequence = leaving.segment.sequence.wrapping_add(1);
        } else if leaving.segment.acknowledgment == fin.wrapping_add(1) {
            leaving.segment.acknowledgment = fin;
        }
        Fate::Pass
    });
    let mut segment = last;
    (segment.sequence, segment.payload.length) = (fin, 0);
    segment.options.dss.as_mut().expect("multipath").mapping = None;
    segment.options.dss.as_mut().expect("multipath").data_fin = false;
    segment.flags |= TcpFlags::FIN;
    pair.inject(SERVER, &pair.first_path(SERVER, segment), ms(1));
    pair.run_for(ms(100));
    assert!(pair.tcp(SERVER).peer_finished());
}

#[test]
fn a_peer_that_ended_its_stream_and_its_last_subflow_still_gets_everything() {
    for written_before in [0, 400_000] {
        let mut pair = Setup::mptcp(1, 1).connected();
        pair.transfer(CLIENT, 20_000);
        pair.finish(CLIENT);
        pair.run_for(ms(300));
        pair.write(SERVER, written_before);
        end_subflow_of_client(&mut pair);
        assert_eq!((pair.count(SERVER, Event::PeerFinished), pair.state(SERVER)), (1, State::CloseWait));
        pair.run_for(secs(5));
        pair.write(SERVER, 300_000);
        pair.run_until("the data", |pair| pair.received(CLIENT) == written_before + 300_000);
        pair.close_gracefully();
    }
}

#[test]
fn a_last_subflow_that_the_peer_ends_early_is_closed_once_what_was_written_has_arrived() {
    let mut pair = Setup::mptcp(1, 1).connected();
    pair.transfer(CLIENT, 20_000);
    pair.settle();
    pair.write(SERVER, 4_000_000);
    end_subflow_of_client(&mut pair);
    assert_eq!(pair.state(SERVER), State::CloseWait, "its data is still on the way");
    pair.run_until("the data", |pair| pair.received(CLIENT) == 4_000_000);
    pair.run_for(secs(1));
    assert!(pair.tcp(SERVER).is_finishing(), "the peer may open another one");
    assert!(!pair.endpoint(SERVER).is_closed());
}

#[test]
fn a_subflow_that_the_peer_ends_is_closed_at_once_where_another_goes_on() {
    let mut pair = Setup::mptcp(2, 1).connected();
    pair.transfer(CLIENT, 20_000);
    pair.settle();
    pair.paths[1].delay = ms(200);
    pair.write(SERVER, 4_000_000);
    let ends = |pair: &Pair| pair.mptcp(SERVER).subflows()[0].connection().is_finishing();
    end_subflow_of_client(&mut pair);
    assert!(ends(&pair), "the second one has all that is left");
    pair.run_until("the data", |pair| pair.received(CLIENT) == 4_000_000);
    pair.close_gracefully();
}
