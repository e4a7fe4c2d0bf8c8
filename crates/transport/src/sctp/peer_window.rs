//! The receive window that the peer offers, and the probes of a closed one (RFC 9260, sections 6.1, rule A, and 6.2.1).

/// The peer's window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PeerWindow {
    /// What the peer offered last, in bytes from its cumulative TSN.
    offer: u64,
    /// The most that it has ever offered.
    largest_offer: u64,
    /// The chunk in flight that was larger than the window when it was sent.
    probe: Option<Probe>,
    /// A SACK came since the latest probe was sent.
    is_answered: bool,
}

/// A chunk that was sent into a closed window.
#[derive(Clone, Copy, Debug)]
struct Probe {
    tsn: u64,
    /// What the peer offered then.
    offer: u64,
}

impl PeerWindow {
    /// The peer offers so many bytes.
    #[inline]
    pub(super) fn set_offer(&mut self, bytes: u32) {
        self.offer = u64::from(bytes);
        self.largest_offer = self.largest_offer.max(self.offer);
    }

    /// The bytes offered last.
    pub(super) fn offer(&self) -> u64 {
        self.offer
    }

    /// What is left of the window beside the data in flight.
    #[inline]
    pub(super) fn free(&self, in_flight: u64) -> u64 {
        self.offer.saturating_sub(in_flight)
    }

    /// Whether a chunk may be sent: it fits, or nothing is in flight and it is a probe.
    #[inline]
    pub(super) fn admits(&self, length: u64, in_flight: u64) -> bool {
        length <= self.free(in_flight) || in_flight == 0
    }

    /// A chunk is about to be sent. Returns whether it is a probe of a closed window.
    #[inline]
    pub(super) fn on_transmit(&mut self, tsn: u64, length: u64, in_flight: u64) -> bool {
        let is_probe = in_flight == 0 && length > self.free(in_flight);
        if is_probe {
            (self.probe, self.is_answered) = (Some(Probe { tsn, offer: self.offer }), false);
        }
        is_probe
    }

    /// A SACK came.
    #[inline]
    pub(super) fn on_sack(&mut self) {
        self.is_answered = true;
    }

    /// Whether `chunks`, not acknowledged in time, is one probe of a closed window that the peer has answered since: that
    /// is no sign of failure. An answer counts once.
    pub(super) fn is_answered_probe(&mut self, in_flight: u64, chunks: u64) -> bool {
        in_flight > self.offer && chunks == 1 && core::mem::take(&mut self.is_answered)
    }

    /// The probe that the peer had no room for, after the window has opened. `in_flight` gives the length of a chunk that
    /// is still in flight. It is to be sent again now: otherwise it would wait for T3, which probes have backed off up to
    /// RTO.Max, while later chunks go. A chunk that is larger than any window there was never fits, and goes again when
    /// the window has grown: a peer whose buffer is empty takes it.
    #[inline]
    pub(super) fn take_refused_probe(&mut self, in_flight: impl FnOnce(u64) -> Option<u64>) -> Option<u64> {
        let probe = self.probe?;
        let may_fit = |length: u64| {
            let never_fits = length > self.largest_offer;
            length <= self.offer || never_fits && self.offer > probe.offer
        };
        match in_flight(probe.tsn) {
            Some(length) if !may_fit(length) => None,
            Some(_) => self.probe.take().map(|probe| probe.tsn),
            None => {
                self.probe = None;
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_chunk_probes_a_closed_window_and_goes_again_when_it_opens() {
        let mut window = PeerWindow::default();
        window.set_offer(1000);
        assert!(!window.on_transmit(1, 1000, 0));
        assert!(!window.admits(1, 1000));
        window.set_offer(0);
        assert!(window.admits(500, 0) && window.on_transmit(2, 500, 0));
        assert_eq!(window.take_refused_probe(|_| Some(500)), None, "the window is closed");
        window.set_offer(500);
        assert_eq!(window.take_refused_probe(|_| Some(500)), Some(2));
        assert_eq!(window.take_refused_probe(|_| Some(500)), None);
    }

    #[test]
    fn a_chunk_larger_than_any_window_goes_again_when_the_window_grows() {
        let mut window = PeerWindow::default();
        window.set_offer(3000);
        window.set_offer(0);
        assert!(window.on_transmit(1, 8952, 0));
        assert_eq!(window.take_refused_probe(|_| Some(8952)), None, "the window is as before");
        window.set_offer(2000);
        assert_eq!(window.take_refused_probe(|_| Some(2500)), None, "2500 bytes will fit");
        assert_eq!(window.take_refused_probe(|_| Some(8952)), Some(1));
        assert!(window.on_transmit(1, 8952, 0));
        assert_eq!(window.take_refused_probe(|_| Some(8952)), None, "the peer has not read since");
    }

    #[test]
    fn a_probe_that_was_acknowledged_is_forgotten() {
        let mut window = PeerWindow::default();
        window.on_transmit(1, 500, 0);
        window.set_offer(500);
        assert_eq!(window.take_refused_probe(|_| None), None);
        assert_eq!(window.take_refused_probe(|_| Some(500)), None);
    }

    #[test]
    fn each_timeout_of_a_probe_needs_an_answer_of_its_own() {
        let mut window = PeerWindow::default();
        window.on_transmit(1, 500, 0);
        assert!(!window.is_answered_probe(500, 1));
        window.on_sack();
        assert_eq!([0; 2].map(|_| window.is_answered_probe(500, 1)), [true, false]);
    }
}
