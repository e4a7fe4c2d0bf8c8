//! The content of a folder, and which content may replace it.

use std::fmt;

use serde::{Deserialize, Serialize};
use subflow_scenario::sweep::Plan;

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
    /// What was watched, of which nothing can be had again.
    Watched,
}

impl Content {
    /// All runs of `plan`.
    pub fn of_plan(plan: &Plan) -> Self {
        Self::Runs { scenario: plan.document.name.clone(), count: plan.jobs().len() }
    }

    /// Whether this includes at least as much as `held`, so that it may replace it. Runs of different scenarios, and
    /// runs and reproductions, cannot be compared.
    pub fn covers(&self, held: &Self) -> bool {
        match (self, held) {
            (Self::Runs { scenario, count }, Self::Runs { scenario: held_scenario, count: held }) => {
                scenario == held_scenario && count >= held
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
            Self::Runs { scenario, count: 1 } => write!(f, "1 run of {scenario}"),
            Self::Runs { scenario, count } => write!(f, "{count} runs of {scenario}"),
            Self::Reproductions { publications, items, quick, own_cases } => {
                let quick = if *quick { "a quick reproduction" } else { "a reproduction" };
                write!(f, "{quick} of {}", publications.join(", "))?;
                if !items.is_empty() {
                    write!(f, " ({})", items.join(", "))?;
                }
                if *own_cases { f.write_str(" with other cases") } else { Ok(()) }
            }
            Self::Watched => f.write_str("what was watched"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(count: usize) -> Content {
        Content::Runs { scenario: "album".to_owned(), count }
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
    fn runs_do_not_cover_those_of_another_scenario() {
        let other = Content::Runs { scenario: "single".to_owned(), count: 9 };
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
