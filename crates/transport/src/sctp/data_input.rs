//! Chunks with data, and the application that reads (RFC 9260, section 6.2). What is received is in [`Inbound`].

use subflow_wire::sctp::{Chunk, DataChunk, ErrorCause, ForwardTsnChunk};

use super::Association;
use super::inbound::{Fault, Inbound, Receiver};
use super::input::Origin;
use super::phase::Phase;
use crate::tcp::Closed;

impl Association {
    /// Received data, with what it needs of the association.
    fn receiving(&mut self) -> (&mut Inbound, Receiver<'_>) {
        let Self { inbound, config, stream, counters, peer, .. } = self;
        (inbound, Receiver { config, stream, counters, nr_sack: peer.has_nr_sack() })
    }

    pub(super) fn on_data(&mut self, index: usize, data: &DataChunk) {
        if !self.phase.state().may_receive_data() {
            return;
        }
        if data.payload.length == 0 {
            self.abort_with(vec![ErrorCause::NoUserData { tsn: data.tsn }], Closed::Aborted);
            return;
        }
        let (inbound, receiver) = self.receiving();
        match inbound.on_data(index, data, receiver) {
            Ok(()) => {}
            Err(Fault::NoSuchStream(stream)) => self.report(ErrorCause::InvalidStreamIdentifier { stream }),
            Err(Fault::Violation(violation)) => self.abort_with(vec![violation.cause()], Closed::Aborted),
        }
    }

    /// A packet has been processed: handles the acknowledgment of its data.
    pub(super) fn finish_data(&mut self, origin: Origin) {
        if !self.inbound.had_data() || self.phase.is_closed() {
            return;
        }
        let deadline = self.config.deadline(origin.now, self.config.sack_delay);
        self.inbound.schedule_sack((origin.destination, origin.local), deadline, &self.config);
        if self.inbound.is_sack_due() {
            self.report_mark(self.inbound.sack_destination().min(self.destinations.len() - 1));
        }
        if matches!(self.phase, Phase::ShutdownSent(_)) {
            self.on_data_after_shutdown(origin.now);
        }
    }

    /// The peer has abandoned data (RFC 3758, section 3.6).
    pub(super) fn on_forward_tsn(&mut self, forward: &ForwardTsnChunk) {
        if self.peer.has_forward_tsn() && self.phase.state().may_receive_data() {
            let (inbound, receiver) = self.receiving();
            inbound.on_forward_tsn(forward, receiver);
        }
    }

    /// The SACK or NR-SACK of the current state, at most `room` bytes of it.
    pub(super) fn take_sack(&mut self, room: u32) -> Chunk {
        let (inbound, receiver) = self.receiving();
        inbound.take_sack(room, receiver)
    }

    /// The free part of the receive buffer, in bytes.
    pub fn receive_window(&self) -> u64 {
        self.inbound.window(&self.config, &self.stream)
    }

    /// The application has read the first `total` bytes that were delivered, and reads no more by itself.
    pub(crate) fn set_bytes_read(&mut self, total: u64) {
        self.stream.set_bytes_read(total);
        self.update_window();
    }

    /// The application reads from now on, or stops.
    pub(crate) fn set_reading(&mut self, reading: bool) {
        self.stream.reading = reading;
        if reading {
            self.stream.read = self.stream.received;
            let (inbound, receiver) = self.receiving();
            inbound.resume(receiver);
            self.update_window();
        }
    }

    fn update_window(&mut self) {
        if self.phase.state().may_receive_data() {
            self.inbound.update_window(&self.config, &self.stream);
        }
    }
}
