//! What identifies a run.

use std::fmt;

use sha2::{Digest, Sha256};
use subflow_scenario::sweep::{Job, Plan};

/// The number of the format of records and of their keys.
pub(crate) const FORMAT: u32 = 4;
/// The version of this program. Runs of another version may have other results. So may those of another build of it,
/// which stores are told apart by: keys are the same on all machines that share a study.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Half of the SHA-256 of all that decides on the record of a run: the version of this program, the scenario with all
/// values and traces, the seed, and whether metrics over time are kept. As text it has 32 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key([u8; 16]);

impl Key {
    /// The keys of records with all that is wanted of a run of `plan`: that of [`Key::of`], and if no metrics over time
    /// are kept, that of the same run with them.
    pub fn all_of(plan: &Plan, job: Job, series: bool) -> [Self; 2] {
        [Self::of(plan, job, series), Self::new(plan, job, true)]
    }

    /// The key of a run of `plan`, of which metrics over time are kept if `series` is set and the plan allows it.
    pub fn of(plan: &Plan, job: Job, series: bool) -> Self {
        Self::new(plan, job, series && subflow_lab::execute::keeps_series(plan, job))
    }

    fn new(plan: &Plan, job: Job, series: bool) -> Self {
        let mut hash = Sha256::new();
        hash.update(FORMAT.to_le_bytes());
        hash.update(VERSION);
        hash.update([0, u8::from(series)]);
        hash.update(job.seed.to_le_bytes());
        hash.update(plan.points[job.point].digest);
        let mut half = [0; 16];
        half.copy_from_slice(&hash.finalize()[..16]);
        Self(half)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
