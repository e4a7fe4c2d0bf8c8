//! All scripts of `conformance/`, and the page that lists them.

use std::path::{Path, PathBuf};

use subflow_conformance::{
    Held, Protocol, RequirementList, load, load_requirements, requirements_page, run, scripts_of,
};

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
            Protocol::Quic => "quic",
            Protocol::Mpquic => "mpquic",
        };
        assert!(path.parent().is_some_and(|parent| parent.ends_with(folder)), "{}", path.display());
    }
}

fn lists() -> Vec<RequirementList> {
    load_requirements(&root().join("conformance")).unwrap_or_else(|problem| panic!("{problem:?}"))
}

#[test]
fn what_the_lists_of_requirements_name_is_there() {
    for list in lists() {
        for statement in list.statements() {
            let missing = match &statement.held {
                Held::Scripts(names) => {
                    let folder = root().join("conformance").join(list.folder());
                    names.iter().find(|name| !folder.join(format!("{name}.conform")).exists()).cloned()
                }
                Held::Elsewhere { file, test } => {
                    let text = std::fs::read_to_string(root().join(file)).unwrap_or_default();
                    (!text.contains(&format!("fn {test}("))).then(|| format!("{test} in {file}"))
                }
                Held::Not(_) => None,
            };
            assert_eq!(missing, None, "section {}: {}", statement.section, statement.text);
        }
    }
}

#[test]
fn a_list_of_requirements_that_is_wrong_is_refused_with_its_line() {
    let mistake = |text: &str| {
        let problem = RequirementList::parse("test", text).expect_err("a mistake");
        problem.place.as_ref().expect("a place").line_and_column().0
    };
    assert_eq!(mistake("# nothing\n"), 1);
    assert_eq!(mistake("rfc 9260 sctp\n3 MUST It does\n3 MUST It does more\n  a-script\n"), 2);
    assert_eq!(mistake("rfc 9260 sctp\n3 SHOULD It does\n  a-script\n"), 2);
    assert_eq!(mistake("rfc 9260 sctp\n3 MUST It does\n  elsewhere a/file.rs\n"), 3);
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
    assert!(written == requirements_page(&scripts, &lists()), "the page is not that of the scripts; {message}");
}
