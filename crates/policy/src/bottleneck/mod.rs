//! Shared-bottleneck detection: which subflows of a connection queue at the same link.
//!
//! A detector sees what a sender knows of each path ([`PathSample`]): smoothed RTTs, one-way delays, losses. It answers
//! with a degree for each pair of paths ([`Correlations`]). Two paths are taken to share a bottleneck where the degree
//! reaches the detector's threshold. The scheduler `red-diversity` keeps copies off such pairs, and with
//! `coupling = "shared-bottleneck"` only such paths are coupled by congestion control
//! ([`Controller::set_groups`](crate::congestion::Controller::set_groups)).
//!
//! Each detector is one file with its formula, source and tests; [`BottleneckDetection`] names them.

mod coefficient;
mod correlations;
mod detection;
pub mod mscm;
mod ranked_window;
pub mod red_cpi;
pub mod rfc8382;

pub use coefficient::{pearson, spearman};
pub use correlations::Correlations;
pub use detection::{BottleneckDetection, DetectorEntry, Parameters};
pub use mscm::Mscm;
pub use red_cpi::RedCpi;
pub use rfc8382::Rfc8382;

use subflow_quantity::{Duration, Instant};

/// What one acknowledgment told of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathSample {
    /// When it arrived.
    pub at: Instant,
    /// The smoothed RTT after it (RFC 6298).
    pub srtt: Duration,
    /// The one-way delay of what it acknowledges in nanoseconds, relative to an origin that stays the same over the
    /// connection: clocks need not agree. Where the path has no timestamps, its latest RTT.
    pub one_way_delay: i64,
    /// Segments sent on the path so far.
    pub sent: u64,
    /// Segments lost on it so far, as far as the sender knows.
    pub lost: u64,
}

/// A detector for one connection.
pub trait BottleneckDetector {
    /// A path gave a sample. Paths are known by their index from the first sample on; times never fall.
    fn on_sample(&mut self, path: usize, sample: &PathSample);

    /// The degrees of all pairs by all samples so far.
    fn correlations(&mut self) -> &Correlations;
}
