//! Fetching the state of a connection from memory before a packet needs it.

use core::mem::offset_of;

use super::{Connection, TcpEndpoint};
use crate::prefetch::{prefetch, prefetch_whole, prefetch_with_next};

impl TcpEndpoint {
    /// Fetches the endpoint.
    #[inline]
    pub(crate) fn fetch(&self) {
        prefetch_whole::<Self, _>(&self.all_acknowledged, offset_of!(Self, all_acknowledged));
    }
}

impl Connection {
    /// Fetches the ends of the queue of sent segments: the first one, the last one and the place of the next one. The
    /// connection can be read.
    #[inline]
    pub(crate) fn fetch_queues(&self) {
        if let Some(head) = self.sent.head() {
            prefetch(head);
            prefetch_with_next(self.sent.get(self.sent.last_id()));
        }
    }
}
