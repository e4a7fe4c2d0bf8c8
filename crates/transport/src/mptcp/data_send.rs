//! Sending at the data level: data written, assigned to subflows by the scheduler, and acknowledged (RFC 8684, section
//! 3.3.2).

use core::ops::Range;
use std::collections::VecDeque;

use subflow_policy::scheduler::{Assignment, QueueView, Scheduler, SentRange, SubflowSet, What};
use subflow_quantity::{Duration, Instant};

use super::Connection;
use super::phase::Mode;
use crate::Why;

/// Number of repetitions of data, or of a DATA_FIN, without progress at the data level before the interval starts to
/// double. Without backoff, a peer that acknowledges the repetitions on the subflow and never at the data level would
/// receive them without end.
pub(super) const REPEATS_AT_ONE_RATE: u32 = 10;

/// The send side of the data level. Offsets count this side's bytes from 0.
#[derive(Clone, Debug, Default)]
pub(crate) struct DataSend {
    /// Everything below is acknowledged.
    pub(crate) una: u64,
    /// Next byte that has not been assigned to a subflow.
    pub(crate) next: u64,
    /// Offset after the last byte within the peer's window.
    pub(crate) window_end: u64,
    /// Ranges assigned and not acknowledged, oldest first.
    pub(crate) outstanding: VecDeque<SentRange>,
    /// Number of outstanding ranges that wait for reinjection.
    pub(crate) reinjections: usize,
    /// How often the peer's window prevented a subflow with room from sending.
    pub(crate) blocked: u64,
    /// Expiry of the data-level timer: when to repeat data that the subflows have delivered and the peer has not
    /// acknowledged, or to check for stale subflows (`stale.rs`).
    pub(crate) repeat_at: Option<Instant>,
    /// Interval of that timer; `None` for the shortest one (`stale.rs`).
    pub(super) repeat_interval: Option<Duration>,
    /// Number of such repetitions without any progress.
    pub(crate) repeats: u32,
    pub(crate) fin: DataFin,
    /// When to repeat a DATA_FIN.
    pub(crate) fin_repeat_at: Option<Instant>,
    /// Number of repetitions since the last DATA_ACK.
    pub(crate) fin_unanswered: u32,
    /// Number of repetitions since the last DATA_ACK that acknowledged new data.
    pub(crate) fin_repeats: u32,
}

/// The end of this side's stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DataFin {
    #[default]
    None,
    /// The application has finished; data may still wait to be sent.
    Wanted,
    /// Sent at this offset.
    Sent(u64),
    Acknowledged,
}

impl DataSend {
    pub(crate) fn finishing(&self) -> bool {
        self.fin != DataFin::None
    }

    /// Goes back to offset `from`: data above it is treated as never sent.
    pub(crate) fn rewind(&mut self, from: u64) {
        self.next = self.next.min(from);
        self.outstanding.retain(|sent| sent.range.end <= from);
        self.reinjections = self.outstanding.iter().filter(|sent| sent.reinject).count();
    }

    /// Clears `carrier` from the outstanding ranges, because another subflow takes its place. Ranges that no other
    /// subflow has carried are marked for reinjection.
    pub(super) fn forget_carrier(&mut self, carrier: usize) {
        for sent in &mut self.outstanding {
            sent.carried_by.remove(carrier);
            if sent.carried_by.is_empty() && !sent.reinject {
                sent.reinject = true;
                self.reinjections += 1;
            }
        }
    }

    /// Everything below `una` is acknowledged now.
    fn acknowledge(&mut self, una: u64) {
        self.una = una;
        while let Some(sent) = self.outstanding.front().filter(|sent| sent.range.end <= una) {
            self.reinjections -= usize::from(sent.reinject);
            self.outstanding.pop_front();
        }
    }

    /// The index of the outstanding range that contains `offset`.
    pub(crate) fn position(&self, offset: u64) -> Option<usize> {
        let at = self.outstanding.partition_point(|sent| sent.range.end <= offset);
        self.outstanding.get(at).is_some_and(|sent| sent.range.start <= offset).then_some(at)
    }
}

impl Connection {
    pub(crate) fn write(&mut self, bytes: u64) -> u64 {
        let admitted = self.admit(bytes);
        if self.phase.is_plain() && admitted > 0 {
            self.touch(0);
        }
        admitted
    }

    /// Processes a DATA_ACK and the window of its segment.
    pub(super) fn on_data_ack(&mut self, acknowledged: u64, window: u64) {
        let fin = u64::from(matches!(self.send.fin, DataFin::Sent(_)));
        if acknowledged > self.send.next + fin || acknowledged < self.send.una {
            return;
        }
        self.send.window_end = self.send.window_end.max(acknowledged + window);
        self.send.fin_unanswered = 0;
        if acknowledged > self.send.una {
            self.send.fin_repeats = 0;
            self.send.repeats = 0;
            self.send.repeat_at = None;
            self.send.acknowledge(acknowledged.min(self.send.next));
            self.send.una = acknowledged.min(self.send.next);
        }
        if let DataFin::Sent(offset) = self.send.fin
            && acknowledged > offset
        {
            self.on_data_fin_acknowledged();
        }
    }

    /// New data that may be assigned: written, and within the peer's window. If nothing is outstanding, one segment may
    /// exceed a closed window, so that its subflow sends a window probe.
    fn new_data(&self) -> Range<u64> {
        let probe = if self.send.outstanding.is_empty() { self.send.next + 1 } else { 0 };
        let end = self.stream.written.min(self.send.window_end.max(probe));
        self.send.next..end.max(self.send.next)
    }

    /// Whether the peer's window has no room for a full segment of the written data.
    pub(super) fn window_is_full(&self) -> bool {
        if self.send.window_end >= self.stream.written.min(self.send.next + u64::from(u16::MAX)) {
            // There is room for any segment, whatever those of the subflows are.
            return false;
        }
        let mss = self.subflows.iter().map(|subflow| subflow.tcp.mss()).min().unwrap_or(0);
        self.send.window_end < self.stream.written.min(self.send.next + u64::from(mss))
    }

    /// Calls the scheduler once and executes its decision. Returns whether a subflow has something to send.
    pub(super) fn assign(&mut self, now: Instant) -> bool {
        if !self.phase.is_multipath() {
            return self.assign_without_scheduler();
        }
        let new_data = self.new_data();
        let all_assigned = new_data.is_empty() && self.send.reinjections == 0;
        if all_assigned && self.send_data_fin(now) {
            return true;
        }
        if all_assigned && !self.scheduler.repeats() {
            return self.retransmit_opportunistically(now, None);
        }
        self.refresh_views();
        if self.sets.open.is_empty() && !self.scheduler.queues_ahead() {
            return false;
        }
        let reinjection = match self.send.reinjections {
            0 => None,
            _ => self.send.outstanding.iter().find(|sent| sent.reinject),
        };
        let fragment_end = self.memory.as_ref().map_or(new_data.start, |memory| memory.fragment_end(new_data.start));
        let queue = QueueView {
            now,
            new_data: new_data.clone(),
            fragment_end,
            backlog: self.stream.written - self.send.next.min(self.stream.written),
            window: self.send.window_end.saturating_sub(self.send.una),
            window_left: self.send.window_end.saturating_sub(self.send.next),
            blocked: self.send.blocked,
            reinjection,
            outstanding: self.send.outstanding.as_slices(),
            sets: Some(self.sets),
        };
        let choice = self.scheduler.next(&self.views, &queue);
        self.choose_interval(now);
        match choice {
            Some(Assignment { subflow, what: What::New { at_most } }) if !new_data.is_empty() => {
                self.assign_new(subflow, new_data, at_most, now)
                    || self.retransmit_opportunistically(now, Some(subflow))
            }
            Some(Assignment { subflow, what: What::Copy { range } }) => self.assign_copy(subflow, range),
            _ => {
                let repeats = self.retransmit_opportunistically(now, None);
                if !repeats && self.notes.is_some() {
                    self.note_waiting();
                }
                repeats
            }
        }
    }

    #[cold]
    fn assign_without_scheduler(&mut self) -> bool {
        match self.phase.mode() {
            Mode::Opening | Mode::Multipath(_) => false,
            Mode::Plain => self.assign_plain(0),
            Mode::Infinite(infinite) => self.assign_plain(infinite.subflow()),
        }
    }

    /// Assigns all data for which the subflows' buffers have room, before any of it is sent: a short segment at the end
    /// of one piece is completed by the next (Linux `__mptcp_push_pending`).
    pub(super) fn push_ahead(&mut self, now: Instant) {
        for index in SubflowSet(self.dirty).iter() {
            self.update_view(index);
        }
        self.release_send_memory();
        while self.assign(now) {}
    }

    fn assign_new(&mut self, index: usize, new_data: Range<u64>, at_most: u64, now: Instant) -> bool {
        let tcp = &mut self.subflows[index].tcp;
        let mss = u64::from(tcp.mss());
        let mut most = mss;
        if let Some(payload) = tcp.probe_payload(now, &self.congestion)
            && new_data.end - new_data.start >= tcp.data_for_probe(payload)
        {
            tcp.grant_probe();
            most = payload;
        }
        let length = (new_data.end - new_data.start).min(most).min(at_most.max(1));
        let completes_later = self.memory.is_some();
        if length < mss && self.window_is_full() && !self.send.outstanding.is_empty() && !completes_later {
            // The peer's window ends within a segment: wait instead of sending a small segment (RFC 9293, section
            // 3.8.6.2.1).
            return false;
        }
        let range = new_data.start..new_data.start + length;
        self.note_assigned(index, &range, Why::New);
        self.subflows[index].tcp.push_data(range.clone());
        let mut carried_by = SubflowSet::default();
        carried_by.insert(index);
        self.send.next = range.end;
        self.send.outstanding.push_back(SentRange { range, carried_by, reinject: false });
        self.after_assignment(index);
        true
    }

    pub(super) fn assign_copy(&mut self, index: usize, range: Range<u64>) -> bool {
        let Some(at) = self.send.position(range.start) else { return false };
        let sent = &mut self.send.outstanding[at];
        let range = range.start..range.end.min(sent.range.end);
        let why = if sent.reinject { Why::Reinjection } else { Why::Copy };
        if sent.reinject && range == sent.range {
            sent.reinject = false;
            self.send.reinjections -= 1;
        }
        sent.carried_by.insert(index);
        self.note_assigned(index, &range, why);
        self.counters.bytes_reinjected += range.end - range.start;
        self.subflows[index].copies += 1;
        self.subflows[index].tcp.push_data(range);
        self.after_assignment(index);
        true
    }

    fn after_assignment(&mut self, index: usize) {
        self.touch(index);
        self.outdate_view(index);
    }

    /// Assigns all written data to the only subflow (plain TCP).
    fn assign_plain(&mut self, index: usize) -> bool {
        let written = self.stream.written;
        let may_end = self.send.finishing() && self.may_end_plain(index);
        let subflow = &mut self.subflows[index];
        let pushed = self.send.next < written && !subflow.tcp.is_finishing();
        if pushed {
            subflow.tcp.push_data(self.send.next..written);
            self.send.next = written;
        }
        let finish = may_end && !subflow.tcp.is_finishing();
        if finish {
            subflow.tcp.finish();
        }
        if pushed || finish {
            self.touch(index);
        }
        pushed || finish
    }
}
