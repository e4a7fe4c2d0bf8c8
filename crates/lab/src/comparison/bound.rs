//! How much worse a metric may become.

use std::str::FromStr;

use serde::Serialize;

use super::difference::Difference;
use super::metric::{Metric, with_percentage};
use crate::number;

/// A bound on what may become worse, such as `goodput 5 %`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// The metric.
    pub metric: Metric,
    /// By how many percent of the baseline's mean it may be worse.
    pub percent: f64,
}

impl FromStr for Bound {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (metric, percent) = with_percentage(text, &[])?;
        Ok(Self { metric, percent })
    }
}

/// A difference beyond its bound.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Regression {
    /// Its position among the differences, from 0.
    pub difference: usize,
    /// By how many percent of the baseline it is worse; null if the baseline is zero, or a value is missing.
    #[serde(serialize_with = "number::optional")]
    pub worse_percent: Option<f64>,
    /// How many runs lack the metric although the baseline has it.
    pub lacking: usize,
    /// The bound in percent.
    #[serde(serialize_with = "number::serialize")]
    pub bound_percent: f64,
}

impl Bound {
    /// The differences that are worse than one of `bounds` allows. What decides is the mean: the same results always
    /// give the same answer. Runs that lack the metric where the baseline has it are beyond any bound.
    pub fn exceeded(bounds: &[Self], differences: &[Difference]) -> Vec<Regression> {
        let mut regressions = Vec::new();
        for (index, difference) in differences.iter().enumerate() {
            for bound in bounds.iter().filter(|bound| bound.metric.column == difference.metric) {
                let worse = difference.worse_percent();
                // Rounded as it is printed: no last bit of a division decides.
                if difference.lacking > 0 || worse.is_some_and(|worse| number::rounded(worse) > bound.percent) {
                    regressions.push(Regression {
                        difference: index,
                        worse_percent: worse.filter(|worse| worse.is_finite()),
                        lacking: difference.lacking,
                        bound_percent: bound.percent,
                    });
                }
            }
        }
        regressions
    }
}
