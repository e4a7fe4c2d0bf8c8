//! Shared-bottleneck detection, as scenarios choose it.

use subflow_policy::bottleneck::{BottleneckDetection, Parameters};
use subflow_quantity::Duration;

use super::DetectorName;

/// A detector with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Detector {
    /// Which one.
    pub(crate) name: DetectorName,
    /// What it is tuned by.
    pub(crate) parameters: Parameters,
    /// How often coupling looks at what it finds.
    pub(crate) regroup: Duration,
}

/// Which subflows of a connection coupled congestion control couples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Coupling {
    /// All (RFC 6356).
    #[default]
    Connection,
    /// Those that share a bottleneck.
    SharedBottleneck,
}

impl Detector {
    /// How often coupling looks, where nothing is said: T of RFC 8382.
    pub(crate) const REGROUP: Duration = Duration::from_millis(350);

    /// The detector of this name with its defaults.
    pub(crate) fn of(name: DetectorName) -> Self {
        Self { name, parameters: name.defaults(), regroup: Self::REGROUP }
    }

    /// A new instance, for one connection.
    pub(crate) fn build(self) -> BottleneckDetection {
        self.name.entry().create(self.parameters)
    }
}
