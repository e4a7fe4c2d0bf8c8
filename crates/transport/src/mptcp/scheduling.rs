//! Sending at the data level: data written, assigned to subflows by the scheduler, and acknowledged (RFC 8684, section
//! 3.3.2).

use core::ops::Range;

use subflow_policy::scheduler::{Assignment, QueueView, Scheduler, What};
use subflow_quantity::Instant;

use super::Connection;
use super::phase::Mode;
use super::send_side::Acknowledged;
use crate::Why;

impl Connection {
    pub(crate) fn write(&mut self, bytes: u64) -> u64 {
        let admitted = self.admit(bytes);
        if self.phase.is_plain() && admitted > 0 {
            self.subflows.touch(0);
        }
        admitted
    }

    /// Processes a DATA_ACK and the window of its segment.
    pub(super) fn on_data_ack(&mut self, acknowledged: u64, window: u64) {
        match self.send.on_data_ack(acknowledged, window, self.fin.offset().is_some()) {
            Acknowledged::Invalid => return,
            Acknowledged::Nothing => self.fin.on_data_ack(false),
            Acknowledged::New => {
                self.data_timer.on_progress();
                self.fin.on_data_ack(true);
            }
        }
        self.acknowledge_data_fin(acknowledged);
    }

    /// Whether the peer's window has no room for a full segment of the written data.
    pub(super) fn window_is_full(&self) -> bool {
        if self.send.has_room(u64::from(u16::MAX), self.stream.written) {
            // There is room for any segment, whatever those of the subflows are.
            return false;
        }
        let mss = self.subflows.iter().map(|subflow| subflow.tcp.mss()).min().unwrap_or(0);
        !self.send.has_room(u64::from(mss), self.stream.written)
    }

    /// Calls the scheduler once and executes its decision. Returns whether a subflow has something to send.
    pub(super) fn assign(&mut self, now: Instant) -> bool {
        if !self.phase.is_multipath() {
            return self.assign_without_scheduler();
        }
        let new_data = self.send.new_data(self.stream.written);
        let all_assigned = new_data.is_empty() && !self.send.has_reinjections();
        if all_assigned && self.send_data_fin(now) {
            return true;
        }
        if all_assigned && !self.scheduler.repeats() {
            return self.retransmit_opportunistically(now, None);
        }
        if !self.any_can_send() && !self.scheduler.queues_ahead() {
            return false;
        }
        self.refresh_views();
        let fragment_end = self.memory.as_ref().map_or(new_data.start, |memory| memory.fragment_end(new_data.start));
        let queue = QueueView {
            now,
            new_data: new_data.clone(),
            fragment_end,
            backlog: self.send.backlog(self.stream.written),
            window: self.send.window(),
            window_left: self.send.window_left(),
            blocked: self.send.blocked(),
            reinjection: self.send.first_reinjection(),
            outstanding: self.send.outstanding().as_slices(),
            sets: Some(self.views.sets()),
        };
        let choice = self.scheduler.next(self.views.all(), &queue);
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
        for index in self.subflows.changed().iter() {
            self.update_view(index);
        }
        self.release_send_memory();
        while self.assign(now) {}
    }

    fn assign_new(&mut self, index: usize, new_data: Range<u64>, at_most: u64, now: Instant) -> bool {
        let tcp = &self.subflows[index].tcp;
        let mss = u64::from(tcp.mss());
        let available = new_data.end - new_data.start;
        let probe = tcp.probe_payload(now, &self.congestion);
        let probe = probe.filter(|&payload| available >= tcp.data_for_probe(payload));
        let length = available.min(probe.unwrap_or(mss)).min(at_most.max(1));
        let completes_later = self.memory.is_some();
        if length < mss && self.window_is_full() && !self.send.outstanding().is_empty() && !completes_later {
            // The peer's window ends within a segment: wait instead of sending a small segment (RFC 9293, section
            // 3.8.6.2.1).
            return false;
        }
        let range = new_data.start..new_data.start + length;
        self.note_assigned(index, &range, Why::New);
        let tcp = &mut self.subflows.touch(index).tcp;
        if probe.is_some() {
            tcp.grant_probe();
        }
        tcp.push_data(range.clone());
        self.send.assign(range, index);
        self.outdate_view(index);
        true
    }

    pub(super) fn assign_copy(&mut self, index: usize, range: Range<u64>) -> bool {
        let Some((range, waited)) = self.send.assign_copy(range, index) else { return false };
        let why = if waited { Why::Reinjection } else { Why::Copy };
        self.note_assigned(index, &range, why);
        self.counters.bytes_reinjected += range.end - range.start;
        let subflow = self.subflows.touch(index);
        subflow.count_copy();
        subflow.tcp.push_data(range);
        self.outdate_view(index);
        true
    }

    /// Assigns all written data to the only subflow (plain TCP).
    fn assign_plain(&mut self, index: usize) -> bool {
        let written = self.stream.written;
        let may_end = self.fin.is_finishing() && self.may_end_plain(index);
        if self.subflows[index].tcp.is_finishing() {
            return false;
        }
        let rest = self.send.assign_rest(written);
        if rest.is_none() && !may_end {
            return false;
        }
        let tcp = &mut self.subflows.touch(index).tcp;
        if let Some(rest) = rest {
            tcp.push_data(rest);
        }
        if may_end {
            tcp.finish();
        }
        true
    }
}
