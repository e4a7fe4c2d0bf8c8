//! `subflow conform`: runs scripts of protocol tests.

use std::io::IsTerminal;
use std::path::Path;

use subflow_conformance::scripts_of;
use subflow_scenario::file::{Problem, Problems};

use crate::arguments::Conform;
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

fn counted(scripts: usize) -> String {
    format!("{scripts} script{}", if scripts == 1 { "" } else { "s" })
}
