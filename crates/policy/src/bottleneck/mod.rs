//! Shared-bottleneck detection: which subflows of a connection queue at the same link.
//!
//! A detector gets what a sender knows about each path ([`PathSample`]): smoothed RTTs, one-way delays, losses. It
//! returns a degree of correlation for each pair of paths ([`Correlations`]). Two paths count as sharing a bottleneck
//! if their degree reaches the detector's threshold. The scheduler `red-diversity` sends no copies over such pairs, and
//! with `coupling = "shared-bottleneck"` congestion control couples only such paths
//! ([`Controller::set_groups`](crate::congestion::Controller::set_groups)).
//!
//! Each detector is one file with its formula, source and tests. [`BottleneckDetection`] lists them by name.

// The types of all detectors, in the order of lists. See `catalogue/list.rs`.
macro_rules! detectors {
    ($macro:ident! $($arguments:tt)*) => {
        $macro! { [RedCpi Mscm Rfc8382] [] $($arguments)* }
    };
}

mod coefficient;
mod correlations;
mod detection;
pub mod mscm;
pub(crate) mod ranked_window;
mod readings;
pub mod red_cpi;
pub mod rfc8382;

pub use coefficient::{pearson, spearman};
pub use correlations::Correlations;
pub use detection::BottleneckDetection;
pub use mscm::Mscm;
pub use readings::{LARGEST_WINDOW, Readings, SMALLEST_WINDOW};
pub use red_cpi::RedCpi;
pub use rfc8382::Rfc8382;

use subflow_quantity::{Duration, Instant};

/// What the sender learned about a path from one acknowledgment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathSample {
    /// When the acknowledgment arrived.
    pub at: Instant,
    /// The smoothed RTT, updated by it (RFC 6298).
    pub srtt: Duration,
    /// The one-way delay of the acknowledged data in nanoseconds, relative to an origin that is constant during the
    /// connection, so that the clocks need not agree. On a path without timestamps, its latest RTT.
    pub one_way_delay: i64,
    /// Segments sent on the path so far.
    pub sent: u64,
    /// Segments lost on the path so far, as far as the sender knows.
    pub lost: u64,
}

/// A detector for one connection.
pub trait BottleneckDetector {
    /// Processes a sample of a path. A path is known from its first sample on. Times never decrease.
    fn on_sample(&mut self, path: usize, sample: &PathSample);

    /// The degrees of all pairs, from all samples so far.
    fn correlations(&mut self) -> &Correlations;

    /// Another path takes the number `path`: it is unknown until its first sample.
    fn on_replaced(&mut self, path: usize);
}
