//! The packet walk of leitner2019, figure 6: the TSNs that may grow a window in each mode, and other effects of single
//! SACKs.
//!
//! TSNs 1, 2, 4, 5, 8, 9, 12 go over path 1, TSNs 3, 6, 7, 10, 11 over path 2. TSN 3 is late, TSN 6 is lost. Every
//! arrival is acknowledged. The third miss of TSN 6 comes with TSN 11 and begins fast recovery; TSN 13 follows over
//! path 1.

use std::sync::{Arc, Mutex};

use rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;
use subflow_policy::catalogue::Choice;
use subflow_policy::congestion::{Ack, Algorithm, CongestionControl, Path};
use subflow_quantity::{Duration, Instant};
use subflow_wire::sctp::{GapBlock, SackChunk};

use super::Association;
use super::config::{Config, MessageOptions, WindowGrowth};
use super::cookie::{Cookie, Extensions};
use super::phase::Phase;
use crate::RandomSource;
use crate::tcp::Ends;

const LENGTH: u32 = 1000;
const PATH_1: [u64; 8] = [1, 2, 4, 5, 8, 9, 12, 13];
const ARRIVALS: [u64; 12] = [1, 2, 4, 5, 3, 8, 9, 7, 12, 10, 11, 13];

/// An established association with two destinations, as after the handshake.
fn established(config: Config) -> Association {
    established_with(config, Extensions::default())
}

/// The same, with a peer that supports `extensions`.
pub(super) fn established_with(config: Config, extensions: Extensions) -> Association {
    let address = |last: u8| std::net::IpAddr::from([10, 0, 0, last]);
    let cookie = Cookie {
        created: Instant::ZERO,
        life: Duration::from_secs(60),
        local_port: 80,
        remote_port: 81,
        local_tag: 1,
        remote_tag: 2,
        tie_tags: (0, 0),
        local_tsn: 1000,
        remote_tsn: 2000,
        outbound_streams: 1,
        inbound_streams: 1,
        remote_window: 1 << 20,
        extensions,
        local: address(1),
        remotes: vec![address(3), address(4)],
    };
    let ends = Ends { local: (address(1), 80).into(), remote: (address(3), 81).into() };
    let rng = RandomSource::from(Pcg64Mcg::seed_from_u64(1));
    let locals = vec![address(1), address(2)];
    let mut association = Association::accept(Arc::new(config), [0; 32], ends, locals, &cookie, rng);
    association.phase = Phase::Established;
    association.set_active(1);
    association
}

/// CMT with windows that grow by `growth`. The small MTU lets one chunk fill the initial window.
fn config(growth: &str) -> Config {
    let growth = Choice::find(WindowGrowth::ALL, growth).expect("a mode");
    Config { mtu: 100, ..Config::rfc9260().with_cmt(growth) }
}

/// Writes a message, and assigns it to a path. Returns its TSN.
fn assign(association: &mut Association, offset: u64, path: usize) -> u64 {
    let length = u64::from(LENGTH);
    association.outbound.push(offset, length, length, MessageOptions::default(), Instant::ZERO);
    association.outbound.assign_next(LENGTH, path, Instant::ZERO).expect("just written").0
}

/// Sends TSN `tsn` over its path.
fn send(association: &mut Association, tsn: u64) {
    let path = usize::from(!PATH_1.contains(&tsn));
    assert_eq!(assign(association, tsn * 1000, path), tsn);
    association.transmit(tsn, path, Instant::ZERO);
}

/// The SACK after `arrived`.
fn sack(arrived: &[u64]) -> SackChunk {
    let cumulative = (1..).take_while(|tsn| arrived.contains(tsn)).count() as u64;
    let beyond = (cumulative + 1..=20).filter(|tsn| arrived.contains(tsn));
    let gap = |tsn: u64| GapBlock { start: (tsn - cumulative) as u16, end: (tsn - cumulative) as u16 };
    SackChunk {
        cumulative_tsn: 1000 + cumulative as u32 - 1,
        a_rwnd: 1 << 20,
        gaps: beyond.map(gap).collect(),
        ..SackChunk::default()
    }
}

/// Keeps the initial window, which each of the walk's chunks fills, and notes the paths whose window may grow.
#[derive(Clone, Debug, Default)]
struct NotesGrowth(Arc<Mutex<Vec<usize>>>);

impl CongestionControl for NotesGrowth {
    fn on_ack(&mut self, _paths: &mut [Path], path: usize, _ack: &Ack) {
        self.0.lock().expect("one thread").push(path);
    }

    fn ssthresh_after_loss(&mut self, paths: &[Path], path: usize, _now: Instant) -> u32 {
        paths[path].cwnd()
    }
}

/// The TSNs whose acknowledgment may grow the window of their path, and whether path 1 and path 2 are held by fast
/// recovery at the end.
fn walk(growth: &str) -> (Vec<u64>, [bool; 2]) {
    let notes = NotesGrowth::default();
    let congestion = Algorithm::Custom("notes".into(), Box::new(notes.clone()));
    let mut association = established(Config { congestion, ..config(growth) });
    (1..=13).for_each(|tsn| send(&mut association, tsn));
    let mut grew = Vec::new();
    for (count, &tsn) in (1..).zip(&ARRIVALS) {
        association.on_sack(&sack(&ARRIVALS[..count]), &[], 0, Instant::ZERO);
        let path = usize::from(!PATH_1.contains(&tsn));
        if core::mem::take(&mut *notes.0.lock().expect("one thread")).contains(&path) {
            grew.push(tsn);
        }
    }
    (grew, [0, 1].map(|path| association.is_recovering(path)))
}

#[test]
fn the_traditional_view_takes_what_advances_the_cumulative_tsn() {
    assert_eq!(walk("rfc4960"), (vec![1, 2, 3], [true, true]));
}

#[test]
fn cuc_takes_what_advances_the_pseudo_cumulative_tsn_of_its_path() {
    for version in ["cuc", "cuc-v2"] {
        assert_eq!(walk(version), (vec![1, 2, 4, 5, 3, 8, 9, 12], [true, true]), "{version}");
    }
}

#[test]
fn the_proposal_takes_everything_and_holds_only_the_path_with_the_loss() {
    assert_eq!(walk("per-destination"), (vec![1, 2, 4, 5, 3, 8, 9, 7, 12, 10, 11, 13], [false, true]));
}

#[test]
fn rfc_9260_takes_everything_until_fast_recovery_holds_both_paths() {
    assert_eq!(walk("rfc9260"), (vec![1, 2, 4, 5, 3, 8, 9, 7, 12, 10, 11], [true, true]));
}

#[test]
fn without_sfr_reordering_between_the_paths_looks_like_loss() {
    let change = |config: Config| Config { split_fast_retransmit: false, ..config };
    let mut association = established(change(config("rfc9260")));
    (1..=8).for_each(|tsn| send(&mut association, tsn));
    for count in 3..=6 {
        association.on_sack(&sack(&[1, 2, 4, 5, 7, 8][..count]), &[], 0, Instant::ZERO);
    }
    assert!(association.in_recovery() && association.outbound.queue.lost().contains(3));
    let mut association = established(config("rfc9260"));
    (1..=8).for_each(|tsn| send(&mut association, tsn));
    for count in 3..=6 {
        association.on_sack(&sack(&[1, 2, 4, 5, 7, 8][..count]), &[], 0, Instant::ZERO);
    }
    assert!(!association.in_recovery(), "one SACK alone acknowledged what was sent later to path 2");
}

#[test]
fn only_a_sack_that_is_newer_for_certain_takes_anything_back() {
    let mut association = established(config("rfc9260"));
    (1..=5).for_each(|tsn| send(&mut association, tsn));
    let mut taken_back = |arrived: &[u64], from: usize| {
        association.on_sack(&sack(arrived), &[], from, Instant::ZERO);
        association.counters.reneged_by_peer
    };
    assert_eq!(taken_back(&[2, 3, 4], 0), 0);
    // From path 2, with the same cumulative TSN: it may have been overtaken.
    assert_eq!(taken_back(&[2, 3], 1), 0);
    // Behind the first one on path 1.
    assert_eq!(taken_back(&[2, 4], 0), 1);
    // With a higher cumulative TSN, whatever the path.
    assert_eq!(taken_back(&[1, 2], 1), 2);
}

#[test]
fn what_was_never_sent_goes_before_what_is_lost_behind_it() {
    let mut association = established(config("rfc9260"));
    let waiting = assign(&mut association, 0, 0);
    association.destinations[0].assigned.push(waiting, LENGTH);
    send(&mut association, 2);
    assert_eq!(association.next_overdue(), None, "nothing is lost");
    association.mark_lost(2);
    assert_eq!(association.next_overdue(), Some(0));
}
