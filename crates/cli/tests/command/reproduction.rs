//! `subflow reproduce` and the runs that it keeps.

use crate::desk::Desk;

const DIAMOND: [&str; 7] = ["reproduce", "multiflow2016", "--item", "diamond", "--quick", "--format", "json"];

fn with<'a>(further: &[&'a str]) -> Vec<&'a str> {
    DIAMOND.into_iter().chain(further.iter().copied()).collect()
}

#[test]
fn runs_in_a_store_are_used_and_missing_ones_are_done_with_the_same_results() {
    let desk = Desk::new("");
    let (code, plain, _) = desk.subflow(&with(&[]));
    assert_eq!(code, Some(0));
    let in_store = with(&["--store", "store"]);
    let (code, stdout, stderr) = desk.subflow(&in_store);
    assert!(code == Some(0) && stdout == plain, "{stderr}");
    let runs = || {
        let folders = desk.files_in("store").into_iter().filter(|name| name.len() == 2);
        let files = folders.flat_map(|folder| {
            let names = desk.files_in(&format!("store/{folder}"));
            names.into_iter().map(move |name| format!("store/{folder}/{name}"))
        });
        files.collect::<Vec<String>>()
    };
    let all = runs();
    // Eight modes, four runs of each.
    assert_eq!(all.len(), 32, "{all:?}");
    all.iter().step_by(2).for_each(|file| std::fs::remove_file(desk.path(file)).expect("it is there"));
    let (code, stdout, stderr) = desk.subflow(&in_store);
    assert!(code == Some(0) && stdout == plain, "{stderr}");
    assert_eq!(runs(), all);
}

#[test]
fn runs_beside_the_folder_for_the_results_are_removed_once_these_are_written() {
    let desk = Desk::new("");
    let (code, _, stderr) = desk.subflow(&with(&["--out", "out"]));
    assert_eq!(code, Some(0), "{stderr}");
    assert!(desk.path("out/report.html").exists() && !desk.path("out.runs").exists(), "{:?}", desk.files());
}

#[test]
fn what_keeps_no_runs_says_so() {
    let desk = Desk::new("");
    let (code, _, stderr) = desk.subflow(&with(&["--keep-going"]));
    assert!(code == Some(2) && stderr.contains("add --store DIR"), "{stderr}");
    let (code, _, stderr) = desk.subflow(&["reproduce", "linux612", "--quick", "--store", "store"]);
    assert!(code == Some(2) && stderr.contains("the runs of linux612 are not kept"), "{stderr}");
}
