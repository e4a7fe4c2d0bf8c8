//! What the steps of processing an acknowledgment tell each other.

use subflow_quantity::{Duration, Instant};

/// Findings about one acknowledgment.
#[derive(Debug, Default)]
pub(super) struct AckFindings {
    /// SND.UNA before.
    pub(crate) prior_una: u64,
    /// Its acknowledgment number, as an offset.
    pub(crate) acknowledgment: u64,
    /// End of the highest segment SACKed or acknowledged before.
    pub(crate) prior_highest: u64,
    /// SND.UNA advanced.
    pub(crate) una_advanced: bool,
    /// Segments newly acknowledged cumulatively.
    pub(crate) acknowledged: u32,
    /// Segments newly SACKed.
    pub(crate) newly_sacked: u32,
    /// A retransmitted segment was acknowledged.
    pub(crate) retransmission_acknowledged: bool,
    /// A segment of this recovery episode that was never retransmitted was newly acknowledged or SACKed.
    pub(crate) original_acknowledged: bool,
    /// Transmission times of the first and the last segment that were cumulatively acknowledged without having been
    /// retransmitted.
    pub(crate) originals: Option<(Instant, Instant)>,
    /// Transmission times of the first and the last segment that were newly SACKed without having been retransmitted.
    pub(crate) sacked_originals: Option<(Instant, Instant)>,
    /// It carries a D-SACK.
    pub(crate) dsack: bool,
    /// The D-SACK reports the tail loss probe.
    pub(crate) dsack_of_probe: bool,
    /// A retransmission was marked lost.
    pub(crate) lost_retransmission: bool,
    /// A duplicate acknowledgment (RFC 5681, section 2).
    pub(crate) duplicate: bool,
    /// The retransmission timer is to be restarted.
    pub(crate) rearm_timer: bool,
    /// The latest RTT sample.
    pub(crate) rtt: Option<Duration>,
}
