//! Loss recovery: how far an episode reaches, and what it has requested to be sent.

/// The state of loss recovery beside [`RecoveryState`](subflow_policy::congestion::RecoveryState), which is in the
/// controller.
#[derive(Clone, Debug, Default)]
pub(super) struct Recovery {
    /// The episode ends when this offset is acknowledged (Linux `high_seq`; RFC 6675: RecoveryPoint).
    point: u64,
    /// Segments delivered since the connection began, acknowledged or SACKed.
    delivered: u64,
    /// The outstanding tail loss probe.
    probe: Option<LossProbe>,
    /// F-RTO is testing whether the last timeout was spurious.
    tests_timeout: bool,
    /// What is to be sent, as a set of [`Transmission`]s.
    requested: u8,
}

/// An outstanding tail loss probe.
#[derive(Clone, Copy, Debug)]
pub(super) struct LossProbe {
    /// SND.NXT when it was sent (RFC 8985: TLP.end_seq).
    pub(super) end: u64,
    pub(super) is_retransmission: bool,
}

/// A transmission that recovery may request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transmission {
    /// Lost segments, as the congestion window admits.
    LostSegments = 1,
    /// New data before any retransmission (F-RTO).
    NewDataFirst = 2,
    /// The head of the retransmission queue, regardless of the congestion window.
    Head = 4,
    /// A tail loss probe, regardless of the congestion window.
    LossProbe = 8,
    /// A zero-window probe.
    WindowProbe = 16,
}

impl Recovery {
    /// The handshake is complete.
    pub(super) fn on_established(&mut self, nxt: u64) {
        self.point = nxt;
    }

    /// The recovery point: the episode ends when this offset is acknowledged.
    #[inline]
    pub(super) fn point(&self) -> u64 {
        self.point
    }

    /// The episode lasts until all up to `nxt` is acknowledged.
    pub(super) fn last_until(&mut self, nxt: u64) {
        self.point = nxt;
    }

    /// The window is being reduced, until all up to `nxt` is acknowledged.
    pub(super) fn begin_reduction(&mut self, nxt: u64) {
        self.point = nxt;
        self.probe = None;
    }

    /// A timeout begins an episode that ends at `nxt`; F-RTO tests whether it was spurious if `tests_timeout`. What was
    /// requested before is not sent.
    pub(super) fn begin_loss(&mut self, nxt: u64, tests_timeout: bool) {
        self.begin_reduction(nxt);
        self.tests_timeout = tests_timeout;
        self.requested = 0;
    }

    /// Outstanding segments were cut, since they are too large: only their parts are to be sent.
    pub(super) fn resend_parts(&mut self) {
        self.probe = None;
        self.tests_timeout = false;
        self.requested = Transmission::LostSegments as u8;
    }

    /// Segments delivered since the connection began, acknowledged or SACKed.
    #[inline]
    pub(super) fn delivered(&self) -> u64 {
        self.delivered
    }

    /// `segments` more were delivered.
    #[inline]
    pub(super) fn on_delivered(&mut self, segments: u32) {
        self.delivered += u64::from(segments);
    }

    /// The outstanding tail loss probe.
    #[inline]
    pub(super) fn probe(&self) -> Option<LossProbe> {
        self.probe
    }

    pub(super) fn on_probe_sent(&mut self, probe: LossProbe) {
        self.probe = Some(probe);
    }

    /// The tail loss probe has arrived.
    pub(super) fn end_probe(&mut self) {
        self.probe = None;
    }

    /// Whether F-RTO is testing the last timeout.
    pub(super) fn tests_timeout(&self) -> bool {
        self.tests_timeout
    }

    /// F-RTO has not found that the timeout was spurious: conventional recovery follows.
    pub(super) fn end_timeout_test(&mut self) {
        self.tests_timeout = false;
    }

    #[inline]
    pub(super) fn request(&mut self, transmission: Transmission) {
        self.requested |= transmission as u8;
    }

    #[inline]
    pub(super) fn requests(&self, transmission: Transmission) -> bool {
        self.requested & transmission as u8 != 0
    }

    #[inline]
    pub(super) fn requests_any(&self) -> bool {
        self.requested != 0
    }

    /// Ends a request, and returns whether there was one.
    #[inline]
    pub(super) fn take_request(&mut self, transmission: Transmission) -> bool {
        let was_requested = self.requests(transmission);
        self.requested &= !(transmission as u8);
        was_requested
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_and_cut_segments_replace_what_was_requested() {
        let mut recovery = Recovery::default();
        let all = [Transmission::LostSegments, Transmission::NewDataFirst, Transmission::Head];
        recovery.on_probe_sent(LossProbe { end: 10, is_retransmission: true });
        all.into_iter().for_each(|transmission| recovery.request(transmission));
        recovery.begin_loss(10, true);
        assert!(!recovery.requests_any() && recovery.tests_timeout() && recovery.probe().is_none());
        recovery.request(Transmission::NewDataFirst);
        recovery.resend_parts();
        assert_eq!(all.map(|transmission| recovery.take_request(transmission)), [true, false, false]);
        assert!(!recovery.tests_timeout() && recovery.point() == 10);
    }
}
