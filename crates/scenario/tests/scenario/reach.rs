//! Which files a scenario may name.

use std::fs;

use subflow_scenario::file::{Document, Problems, Reach};
use subflow_scenario::sweep::Plan;

/// Reads a scenario in the folder `at/inside`, whose link has a trace at `trace`.
fn read(at: &tempfile::TempDir, trace: &str, reach: Reach) -> Result<Plan, Problems> {
    let text = format!(
        "duration = \"1 s\"\n[hosts]\na = [\"x\"]\nb = [\"x\"]\n[links.l]\nbetween = [\"a\", \"b\"]\nrate = {trace:?}\n\
         [flows.f]\nfrom = \"a\"\nto = \"b\"\n"
    );
    let mut document = Document::parse(&at.path().join("inside/scenario.toml"), text)?;
    document.restrict(reach);
    Plan::read(document)
}

fn folder() -> tempfile::TempDir {
    let at = tempfile::tempdir().expect("a temporary folder");
    let inside = at.path().join("inside/traces");
    fs::create_dir_all(&inside).expect("a folder");
    for file in [at.path().join("secret"), inside.join("good"), at.path().join("inside/good")] {
        fs::write(file, "1\n2\n").expect("written");
    }
    at
}

#[test]
fn a_scenario_within_reach_of_its_directory_names_files_there_and_no_others() {
    let at = folder();
    for name in ["good", "traces/good", "./traces/good"] {
        assert!(read(&at, name, Reach::Directory).is_ok(), "{name}");
    }
    let absolute = at.path().join("secret").display().to_string();
    for name in ["../secret", "traces/../../secret", &absolute, "/dev/zero", "../no-such-file"] {
        let problems = read(&at, name, Reach::Directory).expect_err("refused");
        assert!(problems.first[0].label.contains("outside of the scenario's directory"), "{name}: {problems}");
        assert_eq!(read(&at, name, Reach::Any).is_ok(), name.ends_with("secret"), "{name}");
    }
}

#[cfg(unix)]
#[test]
fn links_do_not_lead_out_of_the_directory() {
    let at = folder();
    std::os::unix::fs::symlink(at.path().join("secret"), at.path().join("inside/link")).expect("a link");
    std::os::unix::fs::symlink(at.path().join("inside/good"), at.path().join("inside/inner")).expect("a link");
    let problems = read(&at, "link", Reach::Directory).expect_err("refused");
    assert!(problems.first[0].label.contains("leads out"), "{problems}");
    assert!(read(&at, "inner", Reach::Directory).is_ok());
}

#[test]
fn a_scenario_without_reach_names_no_file_and_does_not_tell_which_exist() {
    let at = folder();
    let labels = ["good", "no-such-file", "../secret"].map(|name| {
        let problems = read(&at, name, Reach::None).expect_err("refused");
        problems.first[0].label.replace(name, "")
    });
    assert!(labels[0].contains("cannot name files"), "{}", labels[0]);
    assert!(labels.iter().all(|label| *label == labels[0]), "{labels:?}");
}
