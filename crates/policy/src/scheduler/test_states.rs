//! States for the schedulers' unit tests.

use subflow_quantity::Duration;

use super::{QueueView, SentRange, SubflowSet, SubflowView};

/// An established subflow with this smoothed RTT in milliseconds, a window of ten packets of 1000 bytes and none in
/// flight.
pub(super) fn subflow(srtt_ms: u64) -> SubflowView {
    let rtt = Some(Duration::from_millis(srtt_ms));
    SubflowView {
        srtt: rtt,
        latest_rtt: rtt,
        cwnd: 10,
        mss: 1000,
        pacing_rate: 1_000_000,
        established: true,
        can_send: true,
        ..SubflowView::default()
    }
}

/// A queue with `new` bytes of new data from offset zero, and nothing else.
pub(super) fn queue(new: u64) -> QueueView<'static> {
    QueueView { new_data: 0..new, fragment_end: new, backlog: new, ..QueueView::default() }
}

/// The first `n` subflows.
pub(super) fn all(n: usize) -> SubflowSet {
    SubflowSet((1 << n) - 1)
}

/// The first 1000 bytes, to be sent again.
pub(super) fn reinjection(carried_by: SubflowSet) -> SentRange {
    SentRange { range: 0..1000, carried_by, reinject: true }
}
