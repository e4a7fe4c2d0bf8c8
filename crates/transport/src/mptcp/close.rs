//! Closing a connection and its subflows: FIN, reset, and fast close (RFC 8684, sections 3.3.3, 3.5 and 3.6).

use subflow_policy::path_manager::{Event as PathEvent, FourTuple};
use subflow_quantity::Instant;
use subflow_wire::TcpSegment;
use subflow_wire::tcp::mptcp::{MptcpOption, ResetReason};

use super::Connection;
use crate::Event;
use crate::tcp::Closed;

impl Connection {
    /// The application will write no more.
    pub(crate) fn finish(&mut self) {
        self.stream.finished = true;
        self.fin.want();
    }

    /// The application stops: data not yet assigned to a subflow is discarded. After a fallback, so is the data that
    /// waits on the subflow, except for data queued before the fallback: it may contain copies that fill holes in what
    /// was sent.
    pub(crate) fn stop(&mut self) {
        if let Some((subflow, start)) = self.unmapped_from() {
            let tcp = &mut self.subflows.touch(subflow).tcp;
            let queued_from = tcp.push_offset() - tcp.queued_bytes();
            self.send.take_back(tcp.discard_unsent(start.saturating_sub(queued_from)));
        }
        self.stream.written = self.send.next();
        self.finish();
    }

    /// Limits the time for an orderly close of the subflows after both streams have ended: a subflow whose path has
    /// failed, or whose peer has no state for it, must not keep the connection for ever.
    pub(super) fn limit_closing(&mut self, now: Instant) {
        if self.phase.is_multipath() && self.is_done() {
            self.phase.limit_closing(now + self.config.without_subflow);
        }
    }

    /// The timer expired before a subflow was established again, or before all of them were closed.
    pub(super) fn give_up(&mut self) {
        let how = if self.is_done() { Closed::Gracefully } else { Closed::TimedOut };
        for index in 0..self.subflows.len() {
            if !self.subflows[index].is_closed() {
                let subflow = self.subflows.touch(index);
                subflow.tcp.abort();
                subflow.close();
            }
        }
        self.end(how);
    }

    /// Progress on plain TCP, which is the progress of the connection.
    pub(super) fn on_plain_progress(&mut self, index: usize, segment: &TcpSegment, now: Instant) {
        if self.phase.is_plain() {
            let acknowledged = self.subflows[index].tcp.counters().bytes_acknowledged;
            self.send.on_plain_ack(acknowledged.min(self.stream.written));
        } else {
            self.acknowledge_infinite(index, segment);
        }
        if self.subflows[index].tcp.fin_is_acknowledged() && self.fin.acknowledge() {
            self.emit(Event::Acknowledged);
        }
        if self.subflows[index].tcp.peer_finished() && !self.receive.has_ended() {
            // The segment with the FIN may have filled the last hole.
            self.collect_data(index, now);
            if self.misses_data() {
                // After its FIN the peer cannot retransmit data that was refused.
                return self.reset_subflow(index, ResetReason::MIDDLEBOX_INTERFERENCE, now);
            }
            self.receive.end_here();
            self.emit(Event::PeerFinished);
        }
    }

    /// Aborts the connection: a reset with MP_FASTCLOSE on every subflow (section 3.5, option R).
    pub(crate) fn abort(&mut self) {
        if self.phase.ended().is_some() {
            return;
        }
        let remote = self.phase.remote_key().filter(|_| self.phase.is_multipath()).copied();
        for index in 0..self.subflows.len() {
            if self.subflows[index].is_closed() {
                continue;
            }
            let subflow = self.subflows.touch(index);
            if let Some(key) = remote.filter(|_| subflow.is_established() || subflow.is_capable()) {
                subflow.reset_with(vec![MptcpOption::FastClose { receiver_key: key.key }]);
            }
            subflow.tcp.abort();
            subflow.close();
        }
        self.end(Closed::Aborted);
    }

    /// MP_FASTCLOSE on subflow `on`: the peer has aborted the connection. An option with a wrong key is ignored.
    pub(super) fn on_fast_close(&mut self, on: usize, with_reset: bool, key: u64) {
        if !self.local_key.is(key) || self.phase.ended().is_some() {
            return;
        }
        for index in 0..self.subflows.len() {
            if !self.subflows[index].is_closed() {
                let subflow = self.subflows.touch(index);
                subflow.reset_with(vec![MptcpOption::Reset(ResetReason::UNSPECIFIED)]);
                match index == on && with_reset {
                    // A reset is never answered with a reset.
                    true => subflow.tcp.close(Closed::Reset),
                    false => subflow.tcp.abort(),
                }
                subflow.close();
            }
        }
        self.end(Closed::Reset);
    }

    pub(super) fn end(&mut self, how: Closed) {
        if self.phase.end(how) {
            self.data_timer.stop();
            self.fin.stop_repeating();
            self.announcements.stop();
            self.withdrawals.stop();
            self.emit(Event::Closed(how));
        }
    }

    /// The peer has closed its direction of subflow `index`. This side closes the other direction, and the data of the
    /// subflow is reinjected on other subflows. The last subflow stays half-open for the data that this side still has
    /// to send: the peer's FIN does not end this side's stream (RFC 8684, section 3.3.3).
    pub(super) fn follow_peer_fin(&mut self, index: usize, now: Instant) {
        let is_last = !self.subflows.iter().enumerate().any(|(other, subflow)| other != index && subflow.takes_data());
        let may_write = self.receive.has_ended() && !self.fin.is_acknowledged();
        let has_data = self.send.una() < self.stream.written;
        if !(is_last && (may_write || has_data)) {
            self.close_subflow(index, now);
        }
    }

    /// Closes subflows that were kept half-open because there was no other, now that there is one.
    pub(super) fn close_half_open_subflows(&mut self, now: Instant) {
        for index in 0..self.subflows.len() {
            let subflow = &self.subflows[index];
            if subflow.takes_data() && subflow.tcp.peer_finished() {
                self.follow_peer_fin(index, now);
            }
        }
    }

    /// Closes a subflow with a FIN. Its data is reinjected on other subflows.
    pub(super) fn close_subflow(&mut self, index: usize, now: Instant) {
        if self.subflows[index].tcp.state().is_synchronised() {
            self.subflows.touch(index).tcp.finish();
            self.reinject_from(index);
            self.update_view(index);
        } else {
            self.drop_subflow(index, now);
        }
    }

    /// Resets subflow `index`; the connection continues on the others (MP_TCPRST, RFC 8684, section 3.6; reason:
    /// administratively prohibited). Drain the connection afterwards.
    pub fn forbid_subflow(&mut self, index: usize, now: Instant) {
        self.reset_subflow(index, ResetReason::PROHIBITED, now);
    }

    /// Resets a subflow with the reason for it (MP_TCPRST).
    pub(super) fn reset_subflow(&mut self, index: usize, reason: ResetReason, now: Instant) {
        self.subflows.touch(index).reset_with(vec![MptcpOption::Reset(reason)]);
        self.close_subflow_with_reset(index, now);
    }

    pub(super) fn close_subflow_with_reset(&mut self, index: usize, now: Instant) {
        self.subflows.touch(index).tcp.abort();
        self.on_subflow_closed(index, now);
    }

    /// The local address of a subflow was lost: nothing can be sent on it any more.
    pub(super) fn drop_subflow(&mut self, index: usize, now: Instant) {
        self.close_subflow_with_reset(index, now);
    }

    /// A subflow is closed, for whatever reason.
    pub(super) fn on_subflow_closed(&mut self, index: usize, now: Instant) {
        if self.subflows[index].is_closed() {
            return;
        }
        let how = match self.subflows[index].tcp.state() {
            crate::tcp::State::Closed(how) => how,
            _ => Closed::Aborted,
        };
        let subflow = &self.subflows[index];
        let (ends, was_established) = (subflow.tcp.ends(), subflow.is_established());
        let was_half_open = subflow.is_half_open_join();
        self.congestion.set_established(subflow.tcp.path(), false);
        self.subflows.close(index);
        self.update_view(index);
        if !was_half_open {
            self.reinject_from(index);
        }
        if was_established && index > 0 {
            self.emit(Event::SubflowClosed(ends));
        }
        // A join that was never authenticated was not reported as established either.
        if self.phase.is_multipath() && !was_half_open {
            let closed = FourTuple { local: ends.local, remote: ends.remote };
            // A peer such as Linux says "unspecified" with each reset for which it has no reason.
            let is_refusal = |reason: ResetReason| !reason.transient && reason != ResetReason::UNSPECIFIED;
            if self.subflows[index].reset_reason().is_some_and(is_refusal) {
                self.on_path_event(PathEvent::PathRefused(closed), now);
            }
            self.on_path_event(PathEvent::SubflowClosed(closed), now);
        }
        let opens_another = self.has_open_requests() && self.subflows.available_places() > 0;
        if self.subflows.iter().any(|subflow| !subflow.is_closed()) || opens_another {
            return;
        }
        match self.is_done() {
            true => self.end(Closed::Gracefully),
            false if self.phase.is_confirmed() => self.phase.wait_for_subflow(now + self.config.without_subflow),
            false => self.end(how),
        }
    }
}
