//! All scripts of `conformance/`, and the page that lists them.

use std::path::{Path, PathBuf};

use subflow_conformance::{Protocol, load, requirements_page, run, scripts_of};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn all() -> Vec<PathBuf> {
    scripts_of(&root().join("conformance")).unwrap_or_else(|problem| panic!("{problem:?}"))
}

#[test]
fn every_script_passes() {
    let outcome = |path: &PathBuf| load(path).and_then(|script| run(&script));
    let failures: Vec<String> = all()
        .iter()
        .filter_map(|path| outcome(path).err())
        .map(|problem| format!("{}\n{}\n{}", problem.message, problem.label, problem_shown(&problem)))
        .collect();
    assert!(failures.is_empty(), "{} failed:\n\n{}", failures.len(), failures.join("\n\n"));
}

fn problem_shown(problem: &subflow_scenario::file::Problem) -> String {
    let place = problem.place.as_ref().map_or(String::new(), |place| place.shown());
    format!("{place}\n{}", problem.help)
}

#[test]
fn every_script_is_in_the_folder_of_its_protocol() {
    for path in all() {
        let script = load(&path).unwrap_or_else(|problem| panic!("{problem:?}"));
        let folder = match script.protocol {
            Protocol::Tcp => "tcp",
            Protocol::Mptcp => "mptcp",
            Protocol::Sctp => "sctp",
        };
        assert!(path.parent().is_some_and(|parent| parent.ends_with(folder)), "{}", path.display());
    }
}

#[test]
fn the_page_of_requirements_lists_every_script() {
    let root = root();
    let name = |path: &Path| path.strip_prefix(&root).unwrap_or(path).display().to_string();
    let read = |path: &Path| load(path).unwrap_or_else(|problem| panic!("{problem:?}"));
    let scripts: Vec<_> = all().iter().map(|path| (name(path), read(path))).collect();
    let page = root.join("docs/src/conformance-requirements.md");
    let written = std::fs::read_to_string(&page).unwrap_or_default();
    let message = "cargo run -q -p subflow-conformance --example requirements > docs/src/conformance-requirements.md";
    assert!(written == requirements_page(&scripts), "the page is not that of the scripts; {message}");
}
