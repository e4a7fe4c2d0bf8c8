//! The scripts of `conformance/` against the kernel: it differs where it is known to.

use std::path::{Path, PathBuf};

use subflow_conformance::{Differences, Outcome, load, run_all_on_linux, scripts_of};
use subflow_prerequisite::Prerequisite;

/// Scripts that run at a time. They wait most of the time.
const JOBS: usize = 12;

#[test]
fn linux_passes_the_scripts_but_for_the_differences_that_are_listed() {
    let device = Some(subflow_linux::DeviceKind::Tun);
    let needs = subflow_linux::Needs { mptcp: true, device, ..Default::default() };
    if let Err(missing) = subflow_linux::require(&needs) {
        return Prerequisite::Kernel.missing(missing);
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    let known = Differences::load(&folder.join("linux.differences")).unwrap_or_else(|problem| panic!("{problem:?}"));
    let paths: Vec<PathBuf> = scripts_of(&folder).unwrap_or_else(|problem| panic!("{problem:?}"));
    let read = |path: PathBuf| (path.clone(), load(&path).unwrap_or_else(|problem| panic!("{problem:?}")));
    let scripts: Vec<_> = paths.into_iter().map(read).collect();
    let outcomes = run_all_on_linux(&scripts, &known, JOBS).unwrap_or_else(|error| panic!("{error}"));
    let mut passed = 0;
    let mut wrong = Vec::new();
    for ((path, _), outcome) in scripts.iter().zip(outcomes) {
        let name = path.display();
        match (outcome, known.reason(path)) {
            (Outcome::Passed, None) => passed += 1,
            (Outcome::Passed, Some(_)) => wrong.push(format!("{name} passes, and is listed as a difference")),
            (Outcome::Failed(problem), None) => {
                wrong.push(format!("{name}: {} {}\n{}", problem.message, problem.label, problem.help));
            }
            (Outcome::Failed(_), Some(_)) | (Outcome::DoesNotApply(_), _) => {}
        }
    }
    assert!(wrong.is_empty(), "{} of {} scripts:\n{}", wrong.len(), wrong.len() + passed, wrong.join("\n\n"));
    assert!(passed > 0, "no script applies");
}
