//! Every folder of a paper.

use std::collections::BTreeSet;
use std::path::Path;

use super::*;
use crate::leitner2019::LEITNER2019;
use crate::lima2017::LIMA2017;
use crate::lugowski2017::LUGOWSKI2017;
use crate::multiflow2016::MULTIFLOW2016;

fn studies() -> [&'static Study; 4] {
    [&LEITNER2019, &LIMA2017, &LUGOWSKI2017, &MULTIFLOW2016]
}

/// All cells, simulated or on Linux.
fn cells(study: &Study, effort: Effort) -> Vec<Cell> {
    let experiments = study.description.experiments.iter();
    experiments.flat_map(|experiment| grid::cells(&study.description, experiment, effort, None)).collect()
}

fn files_in(folder: &Path, found: &mut Vec<String>, root: &Path) {
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => files_in(&path, found, root),
            false => found.push(path.strip_prefix(root).expect("below it").to_string_lossy().replace('\\', "/")),
        }
    }
}

#[test]
fn every_file_of_a_folder_is_in_the_crate() {
    for study in studies() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("papers").join(study.folder.name);
        let mut found = Vec::new();
        files_in(&root, &mut found, &root);
        let known: BTreeSet<&str> = study.folder.files.iter().map(|(path, _)| *path).collect();
        assert_eq!(found.iter().map(String::as_str).collect::<BTreeSet<_>>(), known, "{}", study.folder.name);
    }
}

#[test]
fn every_cell_is_a_scenario_whose_runs_differ_if_it_draws() {
    for study in studies() {
        for cell in cells(study, Effort::Full) {
            let digests = [1, 2].map(|seed| cell.plan(&study.folder, seed).points[0].digest);
            assert_eq!(digests[0] != digests[1], cell.varies(), "{}: {:?}", study.folder.name, cell.variables);
            assert!(study.items.iter().any(|item| item.name == cell.item), "{}", cell.item);
        }
    }
}

#[test]
fn every_choice_changes_a_published_cell() {
    for study in studies() {
        let digests = |choice: Option<&Choice>| {
            let mut cells = study.cells(Effort::QuickAlternatives, choice, &|experiment| experiment.is_published);
            cells.retain(|cell| cell.is_published && (study.code.is_judged)(cell));
            cells.iter().map(|cell| cell.plan(&study.folder, 1).points[0].digest).collect::<Vec<_>>()
        };
        let usual = digests(None);
        for choice in &study.description.choices {
            assert_ne!(digests(Some(choice)), usual, "{}: {}", study.folder.name, choice.name);
        }
    }
}

#[test]
fn every_published_figure_belongs_to_a_cell() {
    for study in studies() {
        let cells = cells(study, Effort::Full);
        for table in &study.published {
            assert!(table.unused(&cells).is_empty(), "{}: {:?}", study.folder.name, table.unused(&cells));
        }
    }
}

#[test]
fn every_claim_has_a_check_and_every_check_of_a_paper_a_claim() {
    for study in studies() {
        let claimed: BTreeSet<&str> = study.description.claims.iter().map(|claim| claim.check.as_str()).collect();
        let own: BTreeSet<&str> = study.code.checks.iter().map(|(name, _)| *name).collect();
        let shared: BTreeSet<&str> = checks::CHECKS.iter().map(|(name, _)| *name).collect();
        assert!(own.is_subset(&claimed), "{}", study.folder.name);
        assert!(claimed.iter().all(|check| own.contains(check) || shared.contains(check)), "{}", study.folder.name);
    }
}

#[test]
fn notes_have_the_values_of_their_variables() {
    for study in studies() {
        for effort in [Effort::Full, Effort::Quick, Effort::Hurried] {
            assert!(study.notes(effort, &Results::default()).iter().all(|note| !note.contains("${")));
        }
    }
}

#[test]
fn a_quick_look_on_linux_takes_minutes() {
    for study in studies() {
        let experiments = study.description.experiments.iter().filter(|experiment| experiment.on_linux);
        let cells = experiments.flat_map(|experiment| grid::cells(&study.description, experiment, Effort::Quick, None));
        let seconds = |cell: Cell| cell.runs() as f64 * cell.scenario(&study.folder, 1).duration.as_secs_f64();
        let all: f64 = cells.map(seconds).sum();
        assert!(all < 8.0 * 60.0, "{}: {all} s", study.folder.name);
    }
}
