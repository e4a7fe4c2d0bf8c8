//! SACKs that no receiver sends that follows the protocol (RFC 9260, sections 3.3.4 and 6.2.1).

use subflow_policy::scheduler::Scheduling;
use subflow_transport::sctp::State;
use subflow_transport::sctp::config::{Distribution, WindowGrowth};
use subflow_transport::tcp::Closed;
use subflow_wire::sctp::{Chunk, GapBlock, NrSackChunk, SackChunk};

use super::multipath::two_paths;
use crate::harness::sctp::{data_of, drop_data, has, sack_of};
use crate::harness::{CLIENT, Fate, Pair, SERVER, Setup, ms, secs};

fn sack(cumulative_tsn: u32, gaps: &[(u16, u16)]) -> SackChunk {
    let gaps = gaps.iter().map(|&(start, end)| GapBlock { start, end }).collect();
    SackChunk { cumulative_tsn, a_rwnd: 1 << 20, gaps, ..SackChunk::default() }
}

/// The TSN in front of all that the client has sent from now on, with nothing outstanding.
fn acknowledged(pair: &mut Pair) -> u32 {
    pair.transfer(CLIENT, 3000);
    pair.settle();
    pair.sctp.log.iter().filter_map(|sent| sack_of(&sent.packet)).next_back().expect("a SACK").cumulative_tsn
}

#[test]
fn a_gap_block_right_behind_the_cumulative_tsn_is_passed_over() {
    let mut pair = Setup::sctp(1).connected();
    let cumulative = acknowledged(&mut pair);
    pair.tamper_sctp(drop_data(CLIENT, &[0]));
    pair.write(CLIENT, 1000);
    pair.inject_sctp(CLIENT, vec![Chunk::Sack(sack(cumulative, &[(1, 1)]))], |_| {});
    pair.run_for(ms(10));
    assert_eq!(pair.sctp(CLIENT).bytes_in_flight(), 1000);
    pair.run_until("the data, sent again", |pair| pair.received(SERVER) == 4000);
}

#[test]
fn blocks_that_overlap_end_before_they_begin_or_reach_beyond_everything_do_no_harm() {
    let mut pair = Setup::sctp(1).connected();
    let cumulative = acknowledged(&mut pair);
    pair.tamper_sctp(drop_data(CLIENT, &[0]));
    pair.write(CLIENT, 3 * 1452);
    let gaps = [(9, 3), (0, 0), (0, 7), (3, 3), (2, 3), (2, 2), (2, 65_535), (60_000, 65_535)];
    pair.inject_sctp(CLIENT, vec![Chunk::Sack(sack(cumulative, &gaps))], |_| {});
    pair.run_for(ms(2));
    assert_eq!(pair.sctp(CLIENT).bytes_in_flight(), 1452);
    pair.run_until("the data", |pair| pair.received(SERVER) == 3000 + 3 * 1452);
}

#[test]
fn an_nr_sack_that_was_not_negotiated_frees_nothing() {
    let mut pair = Setup::sctp(1).both(|stack| stack.association().send_buffer = Some(10_000)).connected();
    let cumulative = acknowledged(&mut pair);
    pair.tamper_sctp(drop_data(CLIENT, &[0]));
    pair.write(CLIENT, 3 * 1452);
    let non_renegable = [GapBlock { start: 2, end: 3 }].into_iter().collect();
    let nr_sack = NrSackChunk { sack: sack(cumulative, &[]), non_renegable };
    let before = pair.sctp(CLIENT).counters().sacks_received;
    pair.inject_sctp(CLIENT, vec![Chunk::NrSack(nr_sack)], |_| {});
    pair.run_for(ms(2));
    assert_eq!(pair.sctp(CLIENT).bytes_outstanding(), 3 * 1452);
    assert_eq!(pair.sctp(CLIENT).counters().sacks_received, before);
}

#[test]
fn what_was_never_sent_cannot_be_acknowledged() {
    // A scheduler assigns more than the windows let out.
    let scheduler = Scheduling::from_name("linux-default").expect("a scheduler");
    let mut pair = two_paths(|config| {
        *config = config.clone().with_cmt(WindowGrowth::PerDestination);
        config.distribution = Distribution::Scheduler(scheduler.clone());
    })
    .connected();
    let cumulative = acknowledged(&mut pair);
    pair.tamper_sctp(|leaving| if leaving.from == SERVER { Fate::Drop } else { Fate::Pass });
    pair.write(CLIENT, 1_000_000);
    pair.run_for(ms(5));
    let last = pair.sctp.log.iter().flat_map(|sent| &sent.packet.chunks).filter_map(data_of).next_back();
    let last = last.expect("data was sent").tsn;
    assert!(last.wrapping_sub(cumulative) > 4);
    pair.inject_sctp(CLIENT, vec![Chunk::Sack(sack(last.wrapping_add(1), &[]))], |_| {});
    pair.run_for(ms(2));
    assert_eq!(pair.sctp(CLIENT).state(), State::Closed(Closed::Aborted));
    let abort = |chunk: &Chunk| matches!(chunk, Chunk::Abort { .. });
    assert!(pair.sctp.log.iter().any(|sent| sent.from == CLIENT && has(&sent.packet, abort)));
}

#[test]
fn a_receiver_that_drops_what_it_promised_to_keep_is_in_violation() {
    let mut pair = Setup::sctp(1).both(|stack| stack.association().nr_sack = true).connected();
    pair.transfer(CLIENT, 3000);
    pair.settle();
    let chunks = pair.sctp.log.iter().flat_map(|sent| &sent.packet.chunks);
    let cumulative = chunks.filter_map(data_of).next_back().expect("data was sent").tsn;
    pair.paths[0].up = false;
    pair.write(CLIENT, 2 * 1452);
    let non_renegable = [GapBlock { start: 2, end: 2 }].into_iter().collect();
    for nr_sack in [
        NrSackChunk { sack: sack(cumulative, &[]), non_renegable },
        NrSackChunk { sack: sack(cumulative.wrapping_add(1), &[]), ..NrSackChunk::default() },
    ] {
        assert!(!pair.sctp(CLIENT).state().is_closed());
        pair.inject_sctp(CLIENT, vec![Chunk::NrSack(nr_sack)], |_| {});
        pair.run_for(ms(2));
    }
    assert_eq!(pair.sctp(CLIENT).state(), State::Closed(Closed::Aborted));
    pair.run_for(secs(1));
}
