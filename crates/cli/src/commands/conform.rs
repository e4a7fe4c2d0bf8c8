//! `subflow conform`: runs scripts of protocol tests.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use subflow_conformance::{Script, scripts_of};
use subflow_scenario::file::{Problem, Problems};

use crate::arguments::{Conform, Platform};
use crate::failure::{Failure, rendered};
use crate::output::print;

pub(crate) fn conform(arguments: &Conform) -> Result<(), Failure> {
    let mut scripts = Vec::new();
    for path in &arguments.scripts {
        scripts.extend(scripts_of(path)?);
    }
    let (mut read, mut wrong) = (Vec::new(), Vec::new());
    for path in scripts {
        match subflow_conformance::load(&path) {
            Ok(script) => read.push((path, script)),
            Err(problem) => wrong.push(problem),
        }
    }
    if !wrong.is_empty() {
        let count = wrong.len();
        wrong.truncate(Problems::MOST_KEPT);
        return Err(Problems { first: wrong, count }.into());
    }
    if arguments.on == Platform::Linux {
        return on_linux(&read, arguments);
    }
    let mut failed = 0;
    for (path, script) in &read {
        let outcome = subflow_conformance::run(script);
        failed += usize::from(outcome.is_err());
        print(&line(path, &script.claim, outcome))?;
    }
    match failed {
        0 => print(&format!("{} passed\n", counted(read.len()))),
        _ => Err(Failure::RunFailed(format!("{failed} of {} failed", counted(read.len())))),
    }
}

fn line(path: &Path, claim: &str, outcome: Result<(), Problem>) -> String {
    match outcome {
        Ok(()) => format!("passed  {}  {claim}\n", path.display()),
        Err(problem) => format!(
            "FAILED  {}  {claim}\n{}\n",
            path.display(),
            rendered(&problem.into(), std::io::stdout().is_terminal())
        ),
    }
}

/// Against the kernel. A script that it passes although it is listed as a difference fails, too: the list is wrong.
#[cfg(all(feature = "linux", target_os = "linux"))]
fn on_linux(scripts: &[(PathBuf, Script)], arguments: &Conform) -> Result<(), Failure> {
    use subflow_conformance::{Differences, Outcome, run_all_on_linux};
    let known = arguments.differences.as_deref().map(Differences::load).transpose()?.unwrap_or_default();
    let outcomes = run_all_on_linux(scripts, &known, arguments.jobs as usize);
    let outcomes = outcomes.map_err(|error| Failure::RunFailed(error.to_string()))?;
    let (mut passed, mut failed, mut differ, mut left_out) = (0, 0, 0, 0);
    for ((path, script), outcome) in scripts.iter().zip(outcomes) {
        let (name, claim) = (path.display(), &script.claim);
        let text = match (outcome, known.reason(path)) {
            (Outcome::DoesNotApply(reason), _) => {
                left_out += 1;
                format!("left    {name}  {reason}\n")
            }
            (Outcome::Failed(_), Some(reason)) => {
                differ += 1;
                format!("differs {name}  {reason}\n")
            }
            (Outcome::Passed, Some(_)) => {
                failed += 1;
                format!("FAILED  {name}  Linux passes it: take it off the list of differences\n")
            }
            (Outcome::Passed, None) => {
                passed += 1;
                line(path, claim, Ok(()))
            }
            (Outcome::Failed(problem), None) => {
                failed += 1;
                line(path, claim, Err(problem))
            }
        };
        print(&text)?;
    }
    let rest = format!("{differ} differ as listed, {left_out} do not apply");
    match failed {
        0 => print(&format!("{} passed on Linux, {rest}\n", counted(passed))),
        _ => Err(Failure::RunFailed(format!("{} failed on Linux, {passed} passed, {rest}", counted(failed)))),
    }
}

#[cfg(not(all(feature = "linux", target_os = "linux")))]
fn on_linux(_scripts: &[(PathBuf, Script)], _arguments: &Conform) -> Result<(), Failure> {
    Err(crate::part::Part::Linux.is_missing("runs against the kernel"))
}

fn counted(scripts: usize) -> String {
    format!("{scripts} script{}", if scripts == 1 { "" } else { "s" })
}
