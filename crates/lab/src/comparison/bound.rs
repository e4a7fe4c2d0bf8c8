//! How much worse a metric may become.

use std::str::FromStr;

use serde::Serialize;

use crate::number;
use crate::results::Difference;
use crate::results::metrics::ComparedMetric;

/// A bound on what may become worse, such as `goodput 5 %`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// The metric.
    pub metric: ComparedMetric,
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

/// A metric and a percentage, such as `goodput 5 %`. `between` are the signs that may stand between them.
pub(super) fn with_percentage(text: &str, between: &[&str]) -> Result<(ComparedMetric, f64), String> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_')).unwrap_or(text.len());
    // "goodput+-2%" ends before the sign; a name ends with no "-".
    let (name, rest) = text.split_at(end);
    let metric = name.parse::<ComparedMetric>()?;
    let rest = rest.trim_start();
    let rest = match between.iter().find_map(|sign| rest.strip_prefix(sign)) {
        Some(rest) => rest,
        None if between.is_empty() => rest,
        None => {
            return Err(format!("found {rest:?} after {name:?}, expected {} and a percentage", between.join(" or ")));
        }
    };
    let number = rest.trim().strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    match number.filter(|percent| percent.is_finite() && *percent >= 0.0) {
        Some(percent) => Ok((metric, percent)),
        None => Err(format!("found {:?} after {name:?}, expected a percentage such as 5 %", rest.trim())),
    }
}
