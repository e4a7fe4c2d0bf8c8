//! The differences between two groups of runs, as `comparison` computes them.

use serde::Serialize;
use serde_json::Value;
use subflow_scenario::sweep::Parameters;

use crate::number;

/// Which direction of a metric is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Larger values are.
    Higher,
    /// Smaller values are.
    Lower,
}

/// The differences of all other points of a sweep to those with a chosen value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Baseline {
    /// The swept path.
    pub path: String,
    /// The chosen value.
    pub value: Value,
    /// Each point is compared with that which has the chosen value, and all other swept values alike.
    pub differences: Vec<Difference>,
}

/// How the runs of two groups belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pairing {
    /// By seed: runs with the same seed have the same random numbers for losses, delays and traffic.
    Paired,
    /// Not at all: they have at most one seed in common.
    Unpaired,
}

/// A metric of one flow, or of a whole run, in two groups of runs. What needs more runs than there are is absent
/// (`null`), and so are intervals where all differences are equal.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The swept values of the second group.
    pub parameters: Parameters,
    /// The metric's name in tables.
    pub metric: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// The flow; null if the metric is one of the whole run.
    pub flow: Option<String>,
    /// How runs are compared.
    pub pairing: Pairing,
    /// Runs of the baseline that are compared: of pairs, those where both runs have the metric.
    pub baseline_n: usize,
    /// Runs of the other group that are compared.
    pub n: usize,
    /// Runs that lack the metric although the baseline's run with this seed has it; without pairs, by how many fewer
    /// runs have it than would in the same share as the baseline's, rounded up. Of the completion of a group also runs
    /// in which more flows did not complete than in the baseline's; without pairs, if that is so on average, those in
    /// which more did not than on average in the baseline's.
    pub lacking: usize,
    /// Mean of the baseline.
    #[serde(serialize_with = "number::optional")]
    pub baseline_mean: Option<f64>,
    /// Mean of the other group.
    #[serde(serialize_with = "number::optional")]
    pub mean: Option<f64>,
    /// The mean less that of the baseline.
    #[serde(serialize_with = "number::optional")]
    pub difference: Option<f64>,
    /// Lower end of its 95 % interval (paired t, or Welch's).
    #[serde(serialize_with = "number::optional")]
    pub difference_ci95_low: Option<f64>,
    /// Upper end of it.
    #[serde(serialize_with = "number::optional")]
    pub difference_ci95_high: Option<f64>,
    /// The difference in percent of the baseline's mean.
    #[serde(serialize_with = "number::optional")]
    pub change_percent: Option<f64>,
    /// Lower end of its 95 % interval (Fieller's: it contains 0 exactly where that of the difference does). Absent also
    /// where the baseline's mean cannot be told from zero.
    #[serde(serialize_with = "number::optional")]
    pub change_percent_ci95_low: Option<f64>,
    /// Upper end of it.
    #[serde(serialize_with = "number::optional")]
    pub change_percent_ci95_high: Option<f64>,
    /// The median of the differences within pairs; without pairs, the difference of the medians.
    #[serde(serialize_with = "number::optional")]
    pub median_difference: Option<f64>,
    /// Lower end of its 95 % interval (percentile bootstrap; from five runs on).
    #[serde(serialize_with = "number::optional")]
    pub median_difference_ci95_low: Option<f64>,
    /// Upper end of it.
    #[serde(serialize_with = "number::optional")]
    pub median_difference_ci95_high: Option<f64>,
    /// p-value of the t-test. Where all differences are equal there is no such test: 1 if they are zero and no run lacks
    /// the metric, else absent.
    #[serde(serialize_with = "exact")]
    pub p_value: Option<f64>,
    /// The same, adjusted for all differences of the command (Holm).
    #[serde(serialize_with = "exact")]
    pub p_value_holm: Option<f64>,
    /// Runs that might have the metric, of the baseline and of the other group; of pairs, the number of pairs.
    #[serde(skip)]
    pub runs: [usize; 2],
    /// Of the completion of a group: how many flows did not complete in a run, on average, of the baseline and of this.
    /// `None` if all did.
    #[serde(skip)]
    pub unfinished: Option<[f64; 2]>,
    /// Which direction of the metric is better.
    #[serde(skip)]
    pub better: Better,
}

/// P-values may be far below the last decimal of measured numbers: six significant digits.
fn exact<S: serde::Serializer>(p: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    let shown = p.and_then(|p| format!("{p:.5e}").parse::<f64>().ok());
    shown.serialize(serializer)
}

impl Difference {
    /// Whether there is no interval although there are enough runs: all differences are equal.
    pub fn is_without_spread(&self) -> bool {
        self.n.min(self.baseline_n) > 1 && self.difference_ci95_low.is_none()
    }

    /// Whether some runs do not have the metric, in both groups or in one.
    pub fn is_partial(&self) -> bool {
        [self.baseline_n, self.n] != self.runs
    }

    /// By how many percent of the baseline it is worse; negative if it is better. Infinite if the baseline is zero and
    /// this is worse. `None` if one of the two has no value.
    pub fn worse_percent(&self) -> Option<f64> {
        let worse = match self.better {
            Better::Higher => -self.difference?,
            Better::Lower => self.difference?,
        };
        let baseline = self.baseline_mean?.abs();
        // Nothing is worse than an equal value, also if both are zero.
        Some(if worse == 0.0 { 0.0 } else { 100.0 * worse / baseline })
    }
}
