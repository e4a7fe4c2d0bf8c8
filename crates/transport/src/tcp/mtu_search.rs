//! The search for a larger path MTU after a black hole (RFC 4821, section 7; RFC 8899, section 5.3; Linux
//! `tcp_mtu_probe`).
//!
//! Ten minutes after packets became small, one segment with new data is as large as they were before: the path may be
//! another one. If it is acknowledged, all are as large. If it is lost, it is sent again in segments of the usual size,
//! and the next probe has a size in the middle, until little is unknown. The loss of a probe says nothing about
//! congestion (RFC 4821, section 7.6.2): as in Linux `tcp_fastretrans_alert` it does not begin fast recovery and leaves
//! the window as it is. In Linux it reduces the window where the timer of RACK finds it; here it does not. As in Linux,
//! other losses that are found until the data of the probe is acknowledged do not reduce it either.

use subflow_policy::congestion::{Controller, RecoveryState};
use subflow_quantity::{Duration, Instant};

use super::Connection;
use super::loss_detection::DUP_THRESH;
use super::sent_segments::Tags;

/// From the last change of the path MTU, or the end of a search, to the next one (RFC 8899, section 5.1.1:
/// PMTU_RAISE_TIMER; Linux `tcp_probe_interval`).
const INTERVAL: Duration = Duration::from_secs(600);
/// The search ends if the least size that is lost is less than so many bytes above the largest that passes (Linux
/// `tcp_probe_threshold`).
const THRESHOLD: u16 = 8;
/// With a smaller congestion window, in packets, no probe is sent (Linux `tcp_mtu_probe`).
const LEAST_WINDOW: u32 = 11;
/// Segments behind a probe, whose SACKs tell that it is lost.
const BEHIND: u64 = DUP_THRESH as u64 + 1;

/// State of the search, from the time when packets became small.
#[derive(Clone, Debug)]
pub(super) struct MtuSearch {
    /// No probe is sent before.
    due: Instant,
    /// The smallest packet that was lost in this search.
    failed: Option<u16>,
    /// The probe that is outstanding in one piece.
    probe: Option<Probe>,
    /// MPTCP has assigned data for a probe, and has more.
    granted: bool,
}

/// A probe: its offsets, and the size of its packet.
#[derive(Clone, Copy, Debug)]
struct Probe {
    start: u64,
    end: u64,
    mtu: u16,
}

/// The size of the next packet to try between one that passes and the largest one; `None` if there is too little between.
fn next_size(passes: u16, failed: Option<u16>, largest: u16) -> Option<u16> {
    let between = failed.unwrap_or(largest).saturating_sub(passes);
    match failed {
        None => (between > 0).then_some(largest),
        Some(_) => (between >= THRESHOLD).then_some(passes + between / 2),
    }
}

impl Connection {
    /// The path MTU was lowered without a report.
    pub(super) fn search_mtu_later(&mut self, now: Instant) {
        let search = MtuSearch { due: now + INTERVAL, failed: None, probe: None, granted: false };
        self.mtu_search = Some(Box::new(search));
    }

    /// The payload of a probe that may be sent now, if there is data for it and behind it.
    #[inline]
    pub(crate) fn probe_payload(&self, now: Instant, cc: &Controller) -> Option<u64> {
        self.mtu_search.as_deref().and_then(|search| self.next_probe(search, now, cc)).map(|(_, payload)| payload)
    }

    /// The bytes that must be there to send a probe with this payload: it, and what tells its loss.
    pub(crate) fn data_for_probe(&self, payload: u64) -> u64 {
        payload + BEHIND * u64::from(self.size.mss())
    }

    /// The data of the next probe was added to the queue; more will follow.
    pub(crate) fn grant_probe(&mut self) {
        if let Some(search) = &mut self.mtu_search {
            search.granted = true;
        }
    }

    #[cold]
    fn next_probe(&self, search: &MtuSearch, now: Instant, cc: &Controller) -> Option<(u16, u64)> {
        let path = cc.path(self.path);
        let may = search.probe.is_none()
            && now >= search.due
            && self.negotiated.sack
            && path.state() == RecoveryState::Open
            && path.cwnd() >= LEAST_WINDOW
            && self.sent.in_flight() + 2 <= path.cwnd();
        let mtu = next_size(self.size.path_mtu(), search.failed, self.size.largest_mtu()).filter(|_| may)?;
        let payload = u64::from(self.size.within(mtu));
        let fits = self.send.admits(self.data_for_probe(payload));
        (payload > u64::from(self.size.mss()) && fits).then_some((mtu, payload))
    }

    /// The largest payload of the next new segment during a search: `usual`, or that of a probe.
    #[cold]
    pub(super) fn size_with_probe(&mut self, usual: u64, now: Instant, cc: &Controller) -> u64 {
        let Some(search) = self.mtu_search.as_deref() else { return usual };
        let Some((mtu, payload)) = self.next_probe(search, now, cc) else { return usual };
        let has_more = search.granted || self.send.queue().bytes() >= self.data_for_probe(payload);
        if !has_more || self.send.queue().front_bytes().is_none_or(|front| front < payload) {
            return usual;
        }
        let start = self.send.next();
        if let Some(search) = &mut self.mtu_search {
            search.probe = Some(Probe { start, end: start + payload, mtu });
            search.granted = false;
        }
        payload
    }

    /// An acknowledgment was processed: a probe may have arrived (Linux `tcp_mtup_probe_success`).
    #[cold]
    pub(super) fn look_at_mtu_probe(&mut self, now: Instant, cc: &mut Controller) {
        let Some(search) = &mut self.mtu_search else { return };
        let Some(probe) = search.probe.filter(|probe| probe.end <= self.send.una()) else { return };
        search.probe = None;
        search.due = now;
        let before = self.size.set_path_mtu(probe.mtu);
        cc.scale_to_mtu(self.path, before.into(), probe.mtu.into());
        self.end_mtu_search_if_done(now);
    }

    fn end_mtu_search_if_done(&mut self, now: Instant) {
        let (passes, largest) = (self.size.path_mtu(), self.size.largest_mtu());
        let Some(search) = &mut self.mtu_search else { return };
        if passes >= largest {
            self.mtu_search = None;
        } else if next_size(passes, search.failed, largest).is_none() {
            (search.failed, search.due) = (None, now + INTERVAL);
        }
    }

    /// Whether the only lost segment is the probe, and nothing else speaks for congestion (Linux
    /// `tcp_fastretrans_alert`).
    pub(super) fn is_mtu_probe_lost(&self, cc: &Controller) -> bool {
        let Some(probe) = self.mtu_search.as_deref().and_then(|search| search.probe) else { return false };
        self.sent.lost_out() == 1
            && self.sent.head().is_some_and(|head| head.start == probe.start && head.tags.has(Tags::LOST))
            && matches!(self.recovery_state(cc), RecoveryState::Open | RecoveryState::Disorder)
    }

    /// The probe was too large (Linux `tcp_mtup_probe_failed`).
    pub(super) fn on_mtu_probe_lost(&mut self, now: Instant, cc: &mut Controller) {
        if let Some(search) = &mut self.mtu_search {
            search.failed = search.probe.map(|probe| probe.mtu).or(search.failed);
        }
        self.end_mtu_search_if_done(now);
        self.send_large_again(now, cc);
    }

    /// What is outstanding in large segments is being cut: an acknowledgment of it tells nothing about its size.
    pub(super) fn forget_mtu_probe(&mut self) {
        if let Some(search) = &mut self.mtu_search {
            search.probe = None;
        }
    }

    /// Whether the last segment is the probe: it is not sent again as a whole.
    pub(super) fn is_last_an_mtu_probe(&self) -> bool {
        let probe = self.mtu_search.as_deref().and_then(|search| search.probe);
        probe.is_some_and(|probe| !self.sent.is_empty() && self.sent.get(self.sent.last_id()).start == probe.start)
    }

    /// Segment `id`, which is considered lost, is sent again: if it is the probe, in parts. Why it was lost is not known
    /// (RFC 4821, section 7.6.3).
    #[cold]
    pub(super) fn cut_mtu_probe(&mut self, id: u32) {
        if self.sent.get(id).length() > u64::from(self.size.mss()) {
            self.forget_mtu_probe();
            self.sent.cut(self.size.mss().into());
            self.cut_snapshots();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_probe_is_as_large_as_possible_and_the_next_ones_halve_what_is_unknown() {
        let mut tried = Vec::new();
        // The path carries 1420 bytes.
        let (mut passes, mut failed) = (1280, None);
        while let Some(size) = next_size(passes, failed, 1500) {
            tried.push(size);
            if size <= 1420 { passes = size } else { failed = Some(size) }
        }
        assert_eq!(tried, [1500, 1390, 1445, 1417, 1431, 1424]);
        assert_eq!(passes, 1417);
    }

    #[test]
    fn nothing_is_tried_where_little_is_unknown() {
        assert_eq!([1499, 1500, 9000].map(|passes| next_size(passes, None, 1500)), [Some(1500), None, None]);
        assert_eq!(
            [1296, 1288, 1287].map(|failed| next_size(1280, Some(failed), 1500)),
            [Some(1288), Some(1284), None]
        );
        assert_eq!(next_size(1280, Some(1200), 1500), None, "it became smaller by a report");
    }
}
