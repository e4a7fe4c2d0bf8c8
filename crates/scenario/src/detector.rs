//! Shared-bottleneck detection, as scenarios choose it.

use subflow_policy::bottleneck::{BottleneckDetection, Parameters};
use subflow_quantity::Duration;

use super::DetectorName;

/// A detector with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Detector {
    /// Which one.
    pub name: DetectorName,
    /// What it is tuned by.
    pub parameters: Parameters,
    /// How often coupling looks at what it finds.
    pub regroup: Duration,
}

/// Which subflows of a connection coupled congestion control couples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coupling {
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
    pub fn of(name: DetectorName) -> Self {
        Self { name, parameters: name.defaults(), regroup: Self::REGROUP }
    }

    /// A new instance, for one connection.
    pub fn build(self) -> BottleneckDetection {
        self.name.entry().create(self.parameters)
    }
}
