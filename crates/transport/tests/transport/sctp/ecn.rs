//! Explicit congestion notification of SCTP (RFC 9260, appendix A).

use subflow_wire::Ecn;
use subflow_wire::sctp::{Chunk, Parameter};

use crate::harness::sctp::{data_of, has, has_data, sack_of};
use crate::harness::{CLIENT, Fate, Pair, Path, SERVER, Setup, ms};

fn is_echo(chunk: &Chunk) -> bool {
    matches!(chunk, Chunk::EcnEcho { .. })
}

fn is_reduced(chunk: &Chunk) -> bool {
    matches!(chunk, Chunk::CongestionWindowReduced { .. })
}

/// Two hosts that offer ECN, on a path of 20 ms one way.
fn both() -> Setup {
    Setup::sctp(1).both(|stack| stack.association().ecn = true).path(0, Path::with_delay(ms(20)).rate(20, 1000))
}

/// Marks data packets of the client for which `which` holds, by their number from 0.
fn mark(pair: &mut Pair, which: impl Fn(u64) -> bool + 'static) {
    let mut number = 0;
    pair.tamper_sctp(move |leaving| {
        if leaving.from == CLIENT && has_data(leaving.packet) && *leaving.ecn == Ecn::Ect0 {
            if which(number) {
                *leaving.ecn = Ecn::CongestionExperienced;
            }
            number += 1;
        }
        Fate::Pass
    });
}

#[test]
fn both_sides_offer_it_and_packets_with_new_data_are_ecn_capable() {
    let mut pair = both().connected();
    let since = pair.sctp.log.len();
    let offers = pair.sctp.log.iter().filter(|sent| {
        sent.packet.chunks.iter().any(|chunk| match chunk {
            Chunk::Init(init) | Chunk::InitAck(init) => init.parameters.contains(&Parameter::EcnCapable),
            _ => false,
        })
    });
    assert_eq!(offers.count(), 2);
    pair.transfer(CLIENT, 100_000);
    assert!(pair.sctp(CLIENT).uses_ecn() && pair.sctp(SERVER).uses_ecn());
    for sent in &pair.sctp.log[since..] {
        assert_eq!(sent.ecn, if has_data(&sent.packet) { Ecn::Ect0 } else { Ecn::NotEct });
    }
}

#[test]
fn with_one_side_alone_nothing_is_ecn_capable() {
    for side in [CLIENT, SERVER] {
        let mut pair = Setup::sctp(1).on(side, |stack| stack.association().ecn = true).connected();
        pair.transfer(CLIENT, 50_000);
        assert!(pair.sctp.log.iter().all(|sent| sent.ecn == Ecn::NotEct));
        assert!(!pair.sctp(CLIENT).uses_ecn() && !pair.sctp(SERVER).uses_ecn());
    }
}

#[test]
fn a_mark_is_reported_with_every_sack_until_cwr_answers_and_costs_one_reduction() {
    let mut pair = both().connected();
    mark(&mut pair, |number| number == 60);
    pair.transfer(CLIENT, 300_000);
    let client = *pair.sctp(CLIENT).counters();
    assert_eq!((client.mark_reductions, pair.sctp(SERVER).counters().ce_received), (1, 1));
    let log = &pair.sctp.log;
    let echoes: Vec<_> = log.iter().filter(|sent| has(&sent.packet, is_echo)).collect();
    let answers: Vec<_> = log.iter().filter(|sent| has(&sent.packet, is_reduced)).collect();
    assert_eq!(answers.len(), echoes.len(), "each report is answered");
    assert!(echoes.iter().all(|sent| sent.from == SERVER && sack_of(&sent.packet).is_some()));
    let (first, last) = (echoes[0].at, echoes[echoes.len() - 1].at);
    let sacks = log.iter().filter(|sent| sent.from == SERVER && sack_of(&sent.packet).is_some());
    assert_eq!(sacks.filter(|sent| (first..=last).contains(&sent.at)).count(), echoes.len());
    assert!(last < answers[0].at + ms(25));
    // Nothing is sent twice.
    let mut tsns: Vec<u32> = log
        .iter()
        .filter(|sent| sent.from == CLIENT)
        .flat_map(|sent| sent.packet.chunks.iter().filter_map(data_of))
        .map(|data| data.tsn)
        .collect();
    let sent = tsns.len();
    tsns.sort_unstable();
    tsns.dedup();
    assert_eq!(tsns.len(), sent);
}

#[test]
fn all_marks_of_a_window_cost_one_reduction_and_half_the_window() {
    let mut pair = both().path(0, Path::with_delay(ms(20))).connected();
    pair.transfer(CLIENT, 100_000);
    let before = pair.cwnd(CLIENT, 0);
    mark(&mut pair, |number| number < 20);
    pair.write(CLIENT, 60_000);
    pair.run_for(ms(60));
    assert_eq!(pair.sctp(CLIENT).counters().mark_reductions, 1);
    assert!(pair.cwnd(CLIENT, 0) < before * 3 / 4, "{} of {before}", pair.cwnd(CLIENT, 0));
}
