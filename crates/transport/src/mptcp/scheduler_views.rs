//! The scheduler's views of the subflows, updated when the subflows change.

use subflow_policy::congestion::RecoveryState;
use subflow_policy::scheduler::{SubflowSet, SubflowSets, SubflowView};

use super::Connection;
use super::Subflow;
use super::send_memory::held_by;
use crate::tcp;

/// The views of all subflows, by place.
#[derive(Clone, Debug, Default)]
pub(super) struct Views {
    all: Vec<SubflowView>,
    /// What the subflows may do, according to their views.
    sets: SubflowSets,
    /// The subflows whose views are updated before the scheduler sees them next. An end that only receives never asks
    /// it.
    outdated: SubflowSet,
}

impl Views {
    #[inline]
    pub(super) fn all(&self) -> &[SubflowView] {
        &self.all
    }

    #[inline]
    pub(super) fn sets(&self) -> SubflowSets {
        self.sets
    }

    /// There is a subflow at place `index`.
    pub(super) fn add(&mut self, index: usize) {
        if self.all.len() <= index {
            self.all.resize(index + 1, SubflowView::default());
        }
    }

    /// The place `index` is free.
    pub(super) fn clear(&mut self, index: usize) {
        self.set(index, SubflowView::default());
    }

    #[inline]
    fn set(&mut self, index: usize, view: SubflowView) {
        self.all[index] = view;
        self.sets.update(index, &self.all[index]);
    }
}

impl Connection {
    /// Subflow `index` has changed.
    #[inline]
    pub(super) fn outdate_view(&mut self, index: usize) {
        self.views.outdated.insert(index);
        if self.memory.is_some() {
            // Data is assigned before a view is asked for, and its memory depends on the views.
            self.refresh_views();
        }
    }

    /// Updates the views of all subflows that have changed.
    #[inline]
    pub(crate) fn refresh_views(&mut self) {
        for index in core::mem::take(&mut self.views.outdated).iter() {
            self.update_view(index);
        }
    }

    /// Updates the view of subflow `index`.
    pub(super) fn update_view(&mut self, index: usize) {
        let subflow = &self.subflows[index];
        let tcp = &subflow.tcp;
        let path = self.congestion.path(tcp.path());
        let mss = tcp.mss();
        let (in_flight, stuck) = (assigned_packets(tcp), self.is_stuck(subflow));
        let established = self.takes_data(subflow);
        let (held_bytes, buffer_full) = match &mut self.memory {
            Some(memory) => {
                if memory.buffer(index) == 0 && tcp.state().is_synchronised() && !subflow.is_closed() {
                    memory.expand(index, path.cwnd());
                } else if subflow.is_closed() {
                    memory.remove(index);
                }
                let held = held_by(tcp);
                (held, held >= memory.buffer(index))
            }
            None => (u64::from(in_flight) * u64::from(mss), false),
        };
        let can_send = self.can_send(subflow);
        // Notes show it as well.
        let reads_rates = self.scheduler.reads_pacing_rates() || self.notes.is_some();
        let view = SubflowView {
            local_id: subflow.join_ends().local_id,
            srtt: tcp.rtt().srtt(),
            rtt_variation: tcp.rtt().variation(),
            latest_rtt: tcp.rtt().latest(),
            cwnd: path.cwnd(),
            in_flight,
            mss,
            queued_bytes: tcp.queued_bytes(),
            held_bytes,
            buffer_full,
            pacing_rate: if reads_rates { tcp.pacing_rate(&self.congestion) } else { 0 },
            packets_sent: tcp.counters().data_segments_sent + tcp.counters().retransmissions,
            packets_resent: tcp.counters().retransmissions,
            slow_start: path.in_slow_start(),
            established,
            backup: subflow.is_backup(),
            potentially_failed: stuck,
            can_send,
        };
        self.views.set(index, view);
    }

    /// Whether the scheduler has to be asked: a subflow can send. The views of subflows that cannot are not updated for
    /// that.
    #[inline]
    pub(super) fn any_can_send(&self) -> bool {
        let (open, outdated) = (self.views.sets.open, self.views.outdated);
        !open.difference(outdated).is_empty() || outdated.iter().any(|index| self.can_send(&self.subflows[index]))
    }

    fn can_send(&self, subflow: &Subflow) -> bool {
        let tcp = &subflow.tcp;
        assigned_packets(tcp) < self.congestion.path(tcp.path()).cwnd()
            && tcp.has_no_losses()
            && !tcp.is_throttled()
            && self.takes_data(subflow)
            && !self.is_stuck(subflow)
    }

    /// Whether data may be assigned to `subflow` in its state.
    #[inline]
    fn takes_data(&self, subflow: &Subflow) -> bool {
        // A client may send on the initial subflow before the peer's first DSS confirms the connection.
        let opening = subflow.is_capable() && self.phase.is_multipath();
        let tcp = &subflow.tcp;
        (subflow.is_established() || opening) && tcp.state().may_send() && !tcp.is_finishing()
    }

    #[inline]
    fn is_stuck(&self, subflow: &Subflow) -> bool {
        match self.config.stale_loss_count {
            0 => {
                let tcp = &subflow.tcp;
                tcp.timed_out() && self.congestion.path(tcp.path()).state() == RecoveryState::Loss
            }
            _ => subflow.delivery.is_stale(),
        }
    }
}

/// Packets in flight and those that the data assigned and not sent will fill.
#[inline]
fn assigned_packets(tcp: &tcp::Connection) -> u32 {
    let queued = tcp.queued_bytes();
    // In most cases nothing waits, and no division is needed.
    let waiting =
        if queued == 0 { 0 } else { queued.div_ceil(u64::from(tcp.mss())).min(u64::from(u32::MAX / 2)) as u32 };
    tcp.in_flight() + waiting
}
