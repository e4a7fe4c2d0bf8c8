//! The arguments of `serve`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use subflow_quantity::Size;
use subflow_scenario::sweep::Bounds;
use subflow_serve::Limits;

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// What the page begins with: a scenario in a TOML file, which is never written; a folder with results or stores, also
    /// while a sweep runs; or #s=… as the page shares a scenario [default: an example]
    #[arg(value_name = "SCENARIO|FOLDER")]
    pub(crate) source: Option<PathBuf>,
    /// The port of loopback to listen on; 0 is any that is free
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) port: u16,
    /// Also open the page in the browser of this desktop. Other users of the machine may see the address, with its token,
    /// among the arguments of the browser
    #[arg(long)]
    pub(crate) open: bool,
    /// How many seconds the runs of one change may take
    #[arg(long, value_name = "SECONDS", default_value_t = Limits::default().time.as_secs())]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=86_400))]
    time_limit: u64,
    /// How much memory the runs of one change may take
    #[arg(long, value_name = "SIZE", default_value_t = Limits::default().memory)]
    memory_limit: Size,
    /// How many runs one change may have
    #[arg(long, value_name = "N", default_value_t = Limits::default().runs as u64)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=100_000))]
    run_limit: u64,
}

impl Serve {
    /// The limits of the page. A sweep has at most as many points as runs.
    pub(crate) fn limits(&self) -> Limits {
        let runs = usize::try_from(self.run_limit).unwrap_or(usize::MAX);
        let usual = Limits::default();
        Limits {
            plan: Bounds { points: usual.plan.points.max(runs / 5).min(runs), ..usual.plan },
            runs,
            time: Duration::from_secs(self.time_limit),
            memory: self.memory_limit,
            ..usual
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Given {
        #[command(flatten)]
        serve: Serve,
    }

    fn limits(arguments: &[&str]) -> Limits {
        let given = Given::try_parse_from([&["serve"], arguments].concat()).expect("good arguments");
        given.serve.limits()
    }

    #[test]
    fn limits_are_the_usual_ones_unless_they_are_given() {
        let (usual, given) = (Limits::default(), limits(&[]));
        assert_eq!((given.plan, given.runs, given.time), (usual.plan, usual.runs, usual.time));
        let given = limits(&["--run-limit", "50", "--time-limit", "5", "--memory-limit", "1 MB"]);
        assert_eq!((given.plan.points, given.runs, given.time.as_secs()), (50, 50, 5));
        assert_eq!(given.memory, Size::from_bytes(1_000_000));
    }
}
