//! Every folder of a paper.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use serde_json::Value;
use subflow_report::Chart;

use super::*;
use crate::registry;

impl Study {
    /// Results of all experiments in which the runs of a cell gave what `runs` says.
    pub(crate) fn invented(&self, effort: Effort, runs: impl Fn(&Cell) -> Vec<Sample>) -> Results {
        let row = |cell: Cell| Row { runs: runs(&cell), cell };
        self.results_of(self.simulated_cells(effort).into_iter().map(row).collect())
    }

    /// The cells of all simulated experiments. Those of the program are made once: that takes longer than most tests.
    fn simulated_cells(&self, effort: Effort) -> Vec<Cell> {
        static KNOWN: Mutex<BTreeMap<(usize, String), Vec<Cell>>> = Mutex::new(BTreeMap::new());
        let make = || {
            let cases = self.cases(&Request::default()).expect("good tables");
            self.cells(effort, None, &cases, &|_| true).expect("good cells")
        };
        match registry().iter().position(|known| std::ptr::eq(*known, self)) {
            Some(place) => {
                let mut known = KNOWN.lock().expect("making cells does not panic");
                known.entry((place, format!("{effort:?}"))).or_insert_with(make).clone()
            }
            None => make(),
        }
    }
}

impl Results {
    /// The first cell of an item with these variables.
    pub(crate) fn find<const N: usize>(&self, item: &str, wanted: [(&str, Value); N]) -> Option<&Row> {
        self.of(item).find(|row| wanted.iter().all(|(name, value)| row.cell.variables.get(*name) == Some(value)))
    }
}

/// All cells, simulated or on Linux.
fn all_cells(study: &Study, effort: Effort) -> Vec<Cell> {
    let mut cells = study.simulated_cells(effort);
    cells.extend(study.cells_on_linux(effort));
    cells
}

fn digest(study: &Study, cell: &Cell, seed: u64) -> [u8; 32] {
    cell.plan(&study.folder, seed).unwrap_or_else(|problems| panic!("{problems}")).points[0].digest
}

#[test]
fn every_cell_is_a_scenario_whose_runs_differ_only_if_it_says_so() {
    for study in registry() {
        for cell in all_cells(study, Effort::Full) {
            let [first, second] = [1, 2].map(|seed| digest(study, &cell, seed));
            assert!(first == second || cell.varies(), "{}: {:?}", study.folder.name, cell.variables);
            assert!(study.items().iter().any(|item| item.name == cell.item), "{}", cell.item);
        }
    }
}

#[test]
fn every_choice_changes_a_published_cell() {
    for study in registry() {
        for choice in study.description.choices.iter().filter(|choice| choice.shown.is_empty()) {
            let wanted =
                |cell: &Cell| cell.is_published && choice.is_about(&cell.item) && study.description.is_judged(cell);
            let cells =
                |other| study.cells(Effort::QuickAlternatives, other, &[], &wanted).expect("good cells").into_iter();
            let digest = |cell: Cell| digest(study, &cell, 1);
            // Only up to the first that differs.
            let differs = cells(Some(choice)).map(digest).ne(cells(None).map(digest));
            assert!(differs, "{}: {}", study.folder.name, choice.name);
        }
    }
}

#[test]
fn every_published_figure_belongs_to_a_cell() {
    for study in registry() {
        let unused = study.published.unused(&all_cells(study, Effort::Full)).concat();
        assert!(unused.is_empty(), "{}: {unused:?}", study.folder.name);
    }
}

#[test]
fn every_check_of_a_paper_has_a_claim() {
    for study in registry() {
        let claimed: BTreeSet<&str> = study.description.claims.iter().map(|claim| claim.check.as_str()).collect();
        assert!(study.code.checks.iter().all(|(name, _)| claimed.contains(name)), "{}", study.folder.name);
    }
}

#[test]
fn notes_have_the_values_of_their_variables() {
    for study in registry() {
        for effort in [Effort::Full, Effort::Quick, Effort::Hurried] {
            assert!(study.notes(effort, &Results::default()).is_ok_and(|notes| !notes.concat().contains("${")));
        }
    }
}

#[test]
fn figures_have_a_curve_for_each_value_and_ratios_to_the_reference() {
    let study = crate::find("leitner2019").expect("it is one of the papers");
    let all = study.invented(Effort::Quick, |cell| {
        let x = if cell.is("mode", "proposal") { 0.8 } else { 1.0 };
        [x, 1.01 * x].map(|x| vec![x; 6]).to_vec()
    });
    let figures = study.shown(&all).figures;
    assert_eq!(figures.len(), 2 * (2 * 6 + 4) + 1, "two experiments at two RTTs, and what lies beyond");
    let [Chart::Curves(times), Chart::Curves(ratios)] = [0, 12].map(|place| &figures[place].chart) else {
        panic!("curves")
    };
    assert_eq!(times.curves.iter().map(|curve| curve.name.as_str()).collect::<Vec<_>>(), ["reference", "proposal"]);
    assert_eq!(
        (times.curves[0].points.len(), ratios.curves.len()),
        (4, 2),
        "a point for each loss, a curve for each RTT"
    );
    assert!((ratios.curves[0].points[1].y - 0.8).abs() < 1e-9);
}

#[test]
fn a_quick_look_on_linux_takes_minutes() {
    for study in registry() {
        let length = |cell: &Cell| cell.scenario(&study.folder, 1).expect("a good scenario").duration.as_secs_f64();
        let cells = study.cells_on_linux(Effort::Quick);
        let all: f64 = cells.iter().map(|cell| cell.runs as f64 * length(cell)).sum();
        assert!(all < 8.0 * 60.0, "{}: {all} s", study.folder.name);
    }
}
