//! The content of a folder, and which content may replace it.

use std::fmt;

use serde::{Deserialize, Serialize};
use subflow_lab::execute::keeps_series;
use subflow_scenario::Scenario;
use subflow_scenario::sweep::{Plan, SeriesKept};

/// The content that a command writes to a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Content {
    /// Runs of a scenario.
    Runs {
        /// The scenario's name.
        scenario: String,
        /// The number of runs.
        count: usize,
        /// What else is known of them; nothing of folders by versions that did not note it.
        #[serde(flatten)]
        extent: Option<Extent>,
    },
    /// Reproductions of publications.
    Reproductions {
        /// Their names.
        publications: Vec<String>,
        /// Only these items of them; all if empty.
        items: Vec<String>,
        /// Fewer and shorter runs.
        quick: bool,
        /// Configurations from a file instead of the publication's own.
        own_cases: bool,
    },
    /// A recording of a network, which cannot be repeated.
    Watched,
}

/// How much runs are, besides their number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// The scenario's title.
    title: String,
    /// Points of the sweep.
    points: usize,
    /// Simulated milliseconds of all runs that were asked for.
    simulated_ms: u64,
    /// Runs with metrics over time.
    with_series: usize,
}

impl Extent {
    fn of_plan(plan: &Plan) -> Self {
        let of_point = |scenario: &Scenario| scenario.duration.as_nanos() / 1_000_000 * u64::from(scenario.repeat);
        Self {
            title: plan.points[0].scenario.title.clone(),
            points: plan.points.len(),
            simulated_ms: plan.points.iter().map(|point| of_point(&point.scenario)).sum(),
            with_series: plan.jobs().into_iter().filter(|job| keeps_series(plan, *job)).count(),
        }
    }

    /// Whether this is of the same scenario as `held`, and not less.
    fn covers(&self, held: &Self) -> bool {
        self.title == held.title
            && self.points >= held.points
            && self.simulated_ms >= held.simulated_ms
            && self.with_series >= held.with_series
    }
}

impl Extent {
    /// Where this differs from `other`.
    fn beside(&self, other: &Self) -> String {
        let mut parts = Vec::new();
        if self.title != other.title {
            parts.push(format!("{:?}", self.title));
        }
        if self.points != other.points {
            parts.push(format!("{} {}", self.points, if self.points == 1 { "point" } else { "points" }));
        }
        if self.simulated_ms != other.simulated_ms {
            parts.push(format!("{} s simulated", self.simulated_ms as f64 / 1e3));
        }
        if self.with_series != other.with_series {
            parts.push(format!("metrics over time of {}", self.with_series));
        }
        parts.join(", ")
    }
}

impl Content {
    /// What it is, so that it can be told from `other`.
    pub(super) fn beside(&self, other: &Self) -> String {
        match (self, other) {
            (
                Self::Runs { scenario, count, extent: Some(extent) },
                Self::Runs { scenario: other_scenario, count: other_count, extent: Some(other_extent) },
            ) if scenario == other_scenario && count == other_count && extent != other_extent => {
                format!("{self} ({})", extent.beside(other_extent))
            }
            _ => self.to_string(),
        }
    }

    /// All runs of `plan`.
    pub fn of_plan(plan: &Plan) -> Self {
        Self::of_finished(plan, plan.jobs().len())
    }

    /// The files that all runs of `plan` write themselves, which have nothing of metrics over time.
    pub(super) fn of_run_files(plan: &Plan) -> Self {
        Self::of_plan(&Plan { series: SeriesKept::None, ..plan.clone() })
    }

    /// The `finished` runs of `plan` that have results.
    pub(super) fn of_finished(plan: &Plan, finished: usize) -> Self {
        let scenario = plan.document.name.clone();
        Self::Runs { scenario, count: finished, extent: Some(Extent::of_plan(plan)) }
    }

    /// Whether this includes at least as much as `held`, so that it may replace it. Runs of different scenarios, and
    /// runs and reproductions, cannot be compared.
    pub fn covers(&self, held: &Self) -> bool {
        match (self, held) {
            (
                Self::Runs { scenario, count, extent },
                Self::Runs { scenario: held_scenario, count: held, extent: held_extent },
            ) => {
                let extents = extent.as_ref().zip(held_extent.as_ref());
                scenario == held_scenario && count >= held && extents.is_none_or(|(new, held)| new.covers(held))
            }
            (
                Self::Reproductions { publications, items, quick, own_cases },
                Self::Reproductions {
                    publications: held_publications,
                    items: held_items,
                    quick: held_quick,
                    own_cases: held_own_cases,
                },
            ) => {
                let has_items =
                    items.is_empty() || !held_items.is_empty() && held_items.iter().all(|item| items.contains(item));
                held_publications.iter().all(|name| publications.contains(name))
                    && has_items
                    && (*held_quick || !quick)
                    && own_cases == held_own_cases
            }
            _ => false,
        }
    }
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Runs { scenario, count: 1, .. } => write!(f, "1 run of {scenario}"),
            Self::Runs { scenario, count, .. } => write!(f, "{count} runs of {scenario}"),
            Self::Reproductions { publications, items, quick, own_cases } => {
                let quick = if *quick { "a quick reproduction" } else { "a reproduction" };
                write!(f, "{quick} of {}", publications.join(", "))?;
                if !items.is_empty() {
                    write!(f, " ({})", items.join(", "))?;
                }
                if *own_cases { f.write_str(" with other cases") } else { Ok(()) }
            }
            Self::Watched => f.write_str("a recording"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(count: usize) -> Content {
        Content::Runs { scenario: "album".to_owned(), count, extent: None }
    }

    fn reproductions(publications: &[&str], items: &[&str], quick: bool) -> Content {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        Content::Reproductions { publications: owned(publications), items: owned(items), quick, own_cases: false }
    }

    #[test]
    fn more_runs_cover_fewer() {
        assert!(runs(3).covers(&runs(3)) && runs(3).covers(&runs(2)) && !runs(2).covers(&runs(3)));
    }

    #[test]
    fn a_reproduction_covers_its_parts_and_its_quick_form() {
        let all = reproductions(&["a", "b"], &[], false);
        let one = reproductions(&["a"], &[], false);
        let item = reproductions(&["a"], &["table-1"], false);
        let quick = reproductions(&["a"], &[], true);
        for part in [&all, &one, &item, &quick] {
            assert!(all.covers(part), "{part}");
        }
        assert!(one.covers(&item) && one.covers(&quick) && quick.covers(&quick));
        for (new, held) in [(&one, &all), (&item, &one), (&quick, &one), (&quick, &item)] {
            assert!(!new.covers(held), "{new} and {held}");
        }
    }

    #[test]
    fn as_many_runs_do_not_cover_longer_ones_other_points_metrics_over_time_or_another_scenario() {
        let extent = Extent { title: "Two paths".to_owned(), points: 9, simulated_ms: 540_000, with_series: 9 };
        let of = |extent: &Extent| Content::Runs { scenario: "a".to_owned(), count: 54, extent: Some(extent.clone()) };
        let held = of(&extent);
        for (less, beside) in [
            (Extent { title: "One path".to_owned(), ..extent.clone() }, ["\"Two paths\"", "\"One path\""]),
            (Extent { points: 1, ..extent.clone() }, ["9 points", "1 point"]),
            (Extent { simulated_ms: 54_500, ..extent.clone() }, ["540 s simulated", "54.5 s simulated"]),
            (Extent { with_series: 8, ..extent.clone() }, ["metrics over time of 9", "metrics over time of 8"]),
        ] {
            let less = of(&less);
            assert!(!less.covers(&held));
            let expected = beside.map(|beside| format!("54 runs of a ({beside})"));
            assert_eq!([held.beside(&less), less.beside(&held)], expected);
        }
        assert!(of(&Extent { with_series: 54, ..extent.clone() }).covers(&held));
        let unknown = Content::Runs { scenario: "a".to_owned(), count: 54, extent: None };
        assert!(held.covers(&unknown), "of an earlier version");
        let written = serde_json::to_string(&held).expect("plain data");
        assert_eq!(serde_json::from_str::<Content>(&written).expect("it can be read"), held);
        let earlier = r#"{"runs":{"scenario":"a","count":54}}"#;
        assert_eq!(serde_json::from_str::<Content>(earlier).expect("it can be read"), unknown);
    }

    #[test]
    fn runs_do_not_cover_those_of_another_scenario() {
        let other = Content::Runs { scenario: "single".to_owned(), count: 9, extent: None };
        assert!(!other.covers(&runs(1)) && other.covers(&other));
    }

    #[test]
    fn nothing_covers_what_was_watched() {
        let watched = Content::Watched;
        assert!(!watched.covers(&watched) && !runs(9).covers(&watched) && !watched.covers(&runs(1)));
    }

    #[test]
    fn runs_and_reproductions_do_not_cover_each_other() {
        assert!(!runs(9).covers(&reproductions(&["a"], &[], true)));
        assert!(!reproductions(&["a"], &[], false).covers(&runs(1)));
    }
}
