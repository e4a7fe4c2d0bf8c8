//! What the programs do where the formulas were not made for: more subflows than they look at, values that do not fit.

use crate::native::{Answer, Event, Native, Socket};
use crate::states::{ESTABLISHED, SUBFLOWS_MAX};

/// A window of one packet and an RTT of 1 s.
const SIBLING: Socket = Socket { cwnd: 1, ssthresh: 1, srtt: 8_000_000, credit: 0, recovery: 0, state: ESTABLISHED };
/// Ten packets and 1 ms.
const OWN: Socket = Socket { cwnd: 10, ssthresh: 5, srtt: 8_000, ..SIBLING };

/// The window of the last of many subflows after an acknowledgment of `acked` packets.
fn last_of(native: &mut Native, subflows: usize, own: Socket, acked: u32) -> u32 {
    native.begin(subflows);
    (0..subflows - 1).for_each(|path| native.set(path, SIBLING));
    native.set(subflows - 1, own);
    native.happen(subflows - 1, Event::Ack { acked });
    native.flush();
    native.answer().cwnd
}

#[test]
fn a_subflow_behind_more_than_are_looked_at_grows_no_faster_than_reno() {
    for program in ["lia", "olia", "balia", "cmt_rpv1", "cmt_rpv2", "wvegas"] {
        let Some(mut native) = Native::start(program) else { return };
        for subflows in [33, SUBFLOWS_MAX as usize, SUBFLOWS_MAX as usize + 1, 80] {
            let windows = [1, 9, 10, 100].map(|acked| last_of(&mut native, subflows, OWN, acked));
            let reno = [10, 10, 11, 20];
            let holds = windows.iter().zip(reno).all(|(&window, reno)| window <= reno);
            assert!(holds, "{program} with {subflows} subflows: {windows:?}");
        }
    }
}

#[test]
fn an_olia_subflow_that_is_being_closed_counts_in_its_own_formula() {
    const FIN_WAIT1: u32 = 4;
    let closing = Socket { state: FIN_WAIT1, ..OWN };
    let Some(mut native) = Native::start("olia") else { return };
    assert_eq!([1, 10].map(|acked| last_of(&mut native, 3, closing, acked)), [10, 10]);
}

#[test]
fn what_was_acknowledged_before_the_window_fell_counts_as_one_window() {
    // A window of 1000 packets that idle time took to 10, as tcp_cwnd_restart leaves it.
    let restarted = Socket { credit: 990, ..OWN };
    for program in ["lia", "olia", "balia", "cmt_rpv1", "cmt_rpv2", "wvegas"] {
        let Some(mut native) = Native::start(program) else { return };
        native.begin(1);
        native.set(0, restarted);
        native.happen(0, Event::Ack { acked: 1 });
        native.flush();
        let Answer { cwnd, credit, .. } = native.answer();
        assert!((10..=11).contains(&cwnd), "{program}: {cwnd} packets");
        assert!(credit == 1 || program == "olia" || program == "wvegas", "{program}: {credit} wait");
    }
}
