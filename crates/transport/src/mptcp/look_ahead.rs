//! Fetching the state of a connection from memory before a packet needs it.

use core::mem::offset_of;

use super::Connection;
use crate::prefetch::{prefetch, prefetch_all, prefetch_whole, prefetch_with_next};

impl Connection {
    /// Fetches the connection without its subflows.
    #[inline]
    pub(crate) fn fetch(&self) {
        prefetch_whole::<Self, _>(&self.client, offset_of!(Self, client));
    }

    /// Fetches a subflow, and what concerns all of them. The connection can be read.
    #[inline]
    pub(crate) fn fetch_subflow(&self, index: usize) {
        if let Some(subflow) = self.subflows.get(index) {
            subflow.fetch();
        }
        prefetch_all(self.subflows.summaries());
        prefetch(&self.config.stale_loss_count);
        prefetch(&self.config.data_acks);
        if self.send.una() < self.stream.written {
            // An end without data of its own does not ask the scheduler.
            prefetch_all(self.views.all());
            prefetch_all(self.congestion.paths());
        }
    }

    /// Fetches the ends of the queues. The subflow can be read.
    #[inline]
    pub(crate) fn fetch_queues(&self, index: usize) {
        if let Some(subflow) = self.subflows.get(index) {
            subflow.tcp.fetch_queues();
        }
        if let Some(range) = self.send.outstanding().front() {
            prefetch(range);
        }
        if let Some(range) = self.send.outstanding().back() {
            prefetch_with_next(range);
        }
    }
}
