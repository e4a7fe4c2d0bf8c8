//! What has to hold for a claim, as data and in words.

use std::ops::RangeInclusive;

use subflow_report::Measured;

use super::averages::Tendency;
use super::claims::Told;
use super::comparisons::{Comparison, Decided};
use super::ratio::Ratio;
use super::selection::Selection;

/// What has to hold of the cells of a claim.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    Compare(Comparison),
    Within {
        bounds: RangeInclusive<f64>,
        /// Whether values decide and no intervals.
        by_values: bool,
    },
    /// How far apart the cells of each combination may be, as a share.
    Alike(f64),
    /// Along a variable, upwards or downwards.
    Moves(String, bool),
    Near(f64),
    OnAverage(Tendency),
    GainGrows(String),
}

impl Kind {
    /// What has to hold, in words.
    pub(super) fn text(&self, of: &Selection, words: Option<&str>) -> String {
        let unit = &of.unit;
        let pairs = |joint: &str| match words {
            Some(words) => words.to_owned(),
            None => of.pairs.iter().map(|pair| pair.names().join(joint)).collect::<Vec<_>>().join(", "),
        };
        let mean = if of.is_average { "mean over the cells of " } else { "" };
        let subject = format!("{mean}{}", of.subject());
        match self {
            Self::Compare(comparison) => match comparison {
                Comparison::Ahead(by) => {
                    let above = match *by {
                        by if by > 0.0 => format!(" more than {:.0} % above ", 100.0 * by),
                        by if by < 0.0 => format!(" less than {:.0} % below ", -100.0 * by),
                        _ => " above ".to_owned(),
                    };
                    format!("{subject}, {}, and intervals lie apart", pairs(&above))
                }
                Comparison::AheadInEachRun => format!("{subject}, {}, in each run", pairs(" above ")),
                Comparison::Behind => format!("{subject}, {}, and intervals lie apart", pairs(" below ")),
                Comparison::Equal(share) => format!("{subject}, {}, within {:.0} %", pairs(" as "), 100.0 * share),
                Comparison::Ratio { times, decided } => {
                    let is_of_interval = matches!(decided, Decided::ByInterval);
                    let how = if is_of_interval { " with its interval" } else { " by its value" };
                    format!("{subject}, {}, {}{how}", pairs(" over "), between(times, "times"))
                }
                Comparison::Best(times) => {
                    format!(
                        "{subject}, {}, {} with its interval, and not all equal",
                        pairs(" over "),
                        between(times, "times")
                    )
                }
                Comparison::Apart(bounds) => format!("{subject}, {}, {}", pairs(" less "), between(bounds, unit)),
            },
            Self::Within { bounds, by_values } => {
                let interval = if *by_values { "" } else { " with its interval" };
                format!("{subject} {}{interval}", between(bounds, unit))
            }
            Self::Alike(share) => format!("{subject}, the largest over the smallest, at most {} times", 1.0 + share),
            Self::Moves(along, true) => format!("{subject} rises with each step of {along}, and intervals lie apart"),
            Self::Moves(along, false) => format!("{subject} falls with each step of {along}, and intervals lie apart"),
            Self::Near(share) => format!("{subject} within {:.0} % of the published figure", 100.0 * share),
            Self::OnAverage(tendency) => format!("{subject}, {}: {}", pairs(" over "), tendency.text()),
            Self::GainGrows(along) => {
                format!("{subject} of {}, and by more the greater {along} is", pairs(" is less than of "))
            }
        }
    }
}

/// Bounds in words.
fn between(bounds: &RangeInclusive<f64>, unit: &str) -> String {
    let range = match (bounds.start().is_finite() && *bounds.start() != 0.0, bounds.end().is_finite()) {
        (true, true) if bounds.start() == bounds.end() => format!("{}", bounds.start()),
        (true, false) => format!("at least {}", bounds.start()),
        (false, true) => format!("at most {}", bounds.end()),
        _ => format!("from {} to {}", bounds.start(), bounds.end()),
    };
    if unit.is_empty() { range } else { format!("{range} {unit}") }
}

impl Told {
    /// A ratio in this unit.
    pub(super) fn measured(self, ratio: Measured) -> Measured {
        let Measured { value, low, high, .. } = ratio;
        let percent = |ratio: f64| 100.0 * (ratio - 1.0);
        match self {
            Self::Times => ratio,
            Self::More => Measured {
                value: percent(value),
                low: low.map(percent),
                high: high.map(percent),
                unit: "% more".to_owned(),
            },
            Self::Less => {
                let less = |ratio: f64| -percent(ratio);
                Measured { value: less(value), low: high.map(less), high: low.map(less), unit: "% less".to_owned() }
            }
        }
    }

    /// The same to read, with half of its interval.
    pub(super) fn text(self, ratio: Ratio) -> String {
        let (percent, half) = (100.0 * (ratio.value - 1.0), 100.0 * ratio.half());
        match self {
            Self::Times => format!("{:.2} ± {:.2} times", ratio.value, ratio.half()),
            _ => format!("{:.1} ± {half:.1} % {}", percent.abs(), if percent < 0.0 { "less" } else { "more" }),
        }
    }
}
