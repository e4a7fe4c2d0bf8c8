//! The connection's window as a receiver (RFC 9000, section 4).

use super::error::TransportError;

/// The connection's window as a receiver, for all streams together.
#[derive(Clone, Debug)]
pub(super) struct Window {
    size: u64,
    /// What the peer was told.
    maximum: u64,
    /// The ends of the data of all streams, added up.
    received: u64,
    /// What was read of it.
    read: u64,
    /// Whether the peer is to be told of a larger window.
    owes_maximum: bool,
}

impl Window {
    pub(super) fn new(size: u64) -> Self {
        Self { size, maximum: size, received: 0, read: 0, owes_maximum: false }
    }

    /// The data of all streams has grown by `growth`.
    ///
    /// # Errors
    ///
    /// That is beyond what the peer was told.
    pub(super) fn count(&mut self, growth: u64) -> Result<(), TransportError> {
        self.received += growth;
        if self.received > self.maximum { Err(TransportError::FlowControl) } else { Ok(()) }
    }

    /// `bytes` more were read. Returns whether the peer is to be told of a larger window.
    pub(super) fn on_read(&mut self, bytes: u64) -> bool {
        self.read += bytes;
        self.owes_maximum |= self.maximum - self.read.min(self.maximum) <= self.size - self.size / 8;
        self.owes_maximum
    }

    /// What the peer is to be told, if anything.
    pub(super) fn take_maximum(&mut self) -> Option<u64> {
        if !core::mem::take(&mut self.owes_maximum) {
            return None;
        }
        self.maximum = self.maximum.max(self.read + self.size);
        Some(self.maximum)
    }

    /// What the peer was told is lost.
    pub(super) fn tell_again(&mut self) {
        self.owes_maximum = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peer_is_told_when_an_eighth_of_the_window_was_read() {
        let mut window = Window::new(1000);
        assert_eq!((window.count(1000), window.count(1)), (Ok(()), Err(TransportError::FlowControl)));
        assert_eq!((window.on_read(124), window.take_maximum()), (false, None));
        assert_eq!((window.on_read(1), window.take_maximum(), window.take_maximum()), (true, Some(1125), None));
        window.tell_again();
        assert_eq!((window.count(124), window.take_maximum()), (Ok(()), Some(1125)));
    }
}
