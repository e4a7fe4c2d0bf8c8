//! What programs in hosts print, and the files that it is written to.

use std::path::PathBuf;

use subflow_scenario::Scenario;
use subflow_scenario::sweep::Plan;

use crate::RunError;

/// Where the output of programs goes.
#[derive(Clone, Debug, Default)]
pub struct ProgramOutput {
    /// The folder of its files, which exists; without one, output is not kept.
    pub folder: Option<PathBuf>,
    /// Also write it to standard error, with the name of the program before each line.
    pub terminal: bool,
}

/// An output of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Output,
    /// Standard error.
    Error,
}

impl Stream {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Output, Self::Error];

    /// The ending of its file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Output => "stdout",
            Self::Error => "stderr",
        }
    }

    /// The name of the file with what `program` printed in `run`.
    pub fn file_name(self, run: usize, program: &str) -> String {
        format!("{run}-{program}.{}", self.name())
    }
}

/// The names of all files that the programs of `plan` are written to.
pub fn file_names(plan: &Plan) -> impl Iterator<Item = String> + '_ {
    plan.jobs().into_iter().flat_map(|job| {
        let programs = plan.points[job.point].scenario.programs.iter();
        programs.flat_map(move |program| Stream::ALL.map(|stream| stream.file_name(job.run, &program.name)))
    })
}

/// Refuses to simulate a scenario with programs.
pub fn refuse_programs(scenario: &Scenario) -> Result<(), RunError> {
    match scenario.programs.first() {
        None => Ok(()),
        Some(program) => Err(RunError::Scenario(format!(
            "programs.{}: the simulator runs no programs; `subflow run --on linux` does, and `subflow run \
             --without-programs` simulates the flows alone",
            program.name
        ))),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use subflow_scenario::file::Document;

    use super::*;

    #[test]
    fn the_simulator_names_the_command_that_runs_programs() {
        let text = "duration = '1 s'\n[hosts]\na = ['eth']\nb = ['eth']\n[links.wire]\nbetween = ['a.eth', 'b.eth']\n\
                    rate = '1 Mbit/s'\n[programs.ping]\non = 'a'\nrun = ['ping', '{address:b}']\n";
        let document = Document::parse(Path::new("ping.toml"), text.to_owned()).expect("TOML");
        let plan = Plan::read(document).expect("it is valid");
        let names: Vec<String> = file_names(&plan).collect();
        assert_eq!(names, ["0-ping.stdout", "0-ping.stderr"]);
        let scenario = &plan.points[0].scenario;
        let refused = refuse_programs(scenario).expect_err("it has a program").to_string();
        assert!(refused.contains("programs.ping") && refused.contains("--on linux"), "{refused}");
        let simulated = crate::simulate::simulate(scenario, 1, &crate::simulate::RunOptions::default());
        assert!(simulated.expect_err("no run").is_refusal());
    }
}
