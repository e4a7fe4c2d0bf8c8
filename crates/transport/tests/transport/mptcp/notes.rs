//! What a connection notes of its algorithms.

use subflow_policy::congestion::RecoveryState;
use subflow_transport::{Note, Noted, Why};

use crate::harness::{CLIENT, Pair, Path, SERVER, Setup, ms, secs};

/// A connection over two paths, the first of which fails in the middle of a transfer.
fn with_a_failure(keep: bool) -> (Pair, Vec<Noted>) {
    let path = Path::default().rate(10, 100);
    let mut pair = Setup::mptcp(2, 1).path(0, path.clone()).path(1, path).connected();
    pair.settle();
    if keep {
        pair.endpoint_mut(CLIENT).keep_notes(true);
    }
    pair.write(CLIENT, 1_000_000);
    pair.run_for(ms(300));
    pair.paths[0].up = false;
    pair.run_until("the data", |pair| pair.received(SERVER) == 1_000_000);
    pair.run_for(secs(1));
    let mut notes = Vec::new();
    pair.endpoint_mut(CLIENT).take_notes(&mut notes);
    (pair, notes)
}

#[test]
fn all_data_is_noted_when_it_is_assigned_with_the_views_of_the_scheduler() {
    let (pair, notes) = with_a_failure(true);
    let mut next = 0;
    for Noted { ends, note } in &notes {
        let Note::Assigned { data, why, seen } = note else { continue };
        let (_, view) = seen.subflows.iter().find(|(known, _)| known == ends).expect("the chosen subflow was seen");
        if *why == Why::New {
            assert!(data.start == next && view.can_send && view.in_flight < view.cwnd, "{note:?}");
            assert_eq!(seen.backlog, 1_000_000 - next);
            next = data.end;
        }
    }
    assert_eq!(next, 1_000_000);
    let again = notes.iter().filter_map(|noted| match &noted.note {
        Note::Assigned { data, why: Why::Reinjection | Why::Copy, .. } => Some(data.end - data.start),
        _ => None,
    });
    assert_eq!(again.sum::<u64>(), pair.mptcp(CLIENT).counters().bytes_reinjected);
}

#[test]
fn the_failure_of_a_path_is_noted_as_timeout_losses_and_states_in_this_order() {
    let (pair, notes) = with_a_failure(true);
    let failed = pair.mptcp(CLIENT).subflows()[0].connection().ends();
    let ours: Vec<&Note> = notes.iter().filter(|noted| noted.ends == failed).map(|noted| &noted.note).collect();
    let timeout = ours.iter().position(|note| matches!(note, Note::Timeout { in_a_row: 1 })).expect("a timeout");
    let entered = |note: &&Note| matches!(note, Note::State { new: RecoveryState::Loss, .. });
    let lost = ours[timeout + 1..].iter().take_while(|note| !entered(note)).inspect(|note| {
        assert!(matches!(note, Note::Lost { .. }), "{note:?}");
    });
    assert!(lost.count() > 0 && ours[timeout..].iter().any(entered));
}

#[test]
fn a_connection_notes_nothing_unless_it_is_asked_to_and_sends_the_same() {
    let (without, notes) = with_a_failure(false);
    assert!(notes.is_empty());
    let (with, notes) = with_a_failure(true);
    assert!(!notes.is_empty());
    let packets =
        |pair: &Pair| pair.log.iter().map(|sent| (sent.at, sent.path, sent.segment.clone())).collect::<Vec<_>>();
    assert!(packets(&with) == packets(&without));
}
