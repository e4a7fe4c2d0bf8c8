//! Commands and options whose part this build lacks.

#[cfg(not(all(feature = "linux", target_os = "linux")))]
pub(crate) use linux::{cleanup, down, enter_shell, exec, link, ps, set, up, validate};
#[cfg(not(all(feature = "live", target_os = "linux")))]
pub(crate) use live::{cc, paths, proxy, status, watch};

/// Runs in real time.
#[cfg(not(all(feature = "linux", target_os = "linux")))]
mod linux {
    use crate::arguments::{Down, Exec, Link, Ps, Set, Shell, Up, Validate};
    use crate::failure::Failure;
    use crate::part::missing;

    pub(crate) fn validate(_: &Validate) -> Result<(), Failure> {
        Err(missing("validate"))
    }

    pub(crate) fn cleanup() -> Result<(), Failure> {
        Err(missing("cleanup"))
    }

    pub(crate) fn up(_: &Up) -> Result<(), Failure> {
        Err(missing("up"))
    }

    pub(crate) fn exec(_: &Exec) -> Result<(), Failure> {
        Err(missing("exec"))
    }

    pub(crate) fn enter_shell(_: &Shell) -> Result<(), Failure> {
        Err(missing("shell"))
    }

    pub(crate) fn ps(_: &Ps) -> Result<(), Failure> {
        Err(missing("ps"))
    }

    pub(crate) fn link(_: &Link) -> Result<(), Failure> {
        Err(missing("link"))
    }

    pub(crate) fn set(_: &Set) -> Result<(), Failure> {
        Err(missing("set"))
    }

    pub(crate) fn down(_: &Down) -> Result<(), Failure> {
        Err(missing("down"))
    }
}

/// The functions of the module of this name that a build with it has.
#[cfg(not(all(feature = "linux", target_os = "linux")))]
pub(super) mod on_linux {
    use subflow_lab::execute::Progress;
    use subflow_lab::results::{Experiment, RunResult};
    use subflow_lab::simulate::RunOptions;
    use subflow_lab::{RunError, Stop};
    use subflow_scenario::sweep::{Job, Plan};

    use crate::arguments::{BenchTun, Run};
    use crate::failure::Failure;
    use crate::part::Part;

    pub(crate) fn check(_: &Plan, _: &Run) -> Result<(), Failure> {
        Err(no_runs())
    }

    pub(crate) fn execute(
        _: &Plan,
        _: &Run,
        _: &RunOptions,
        _: &(dyn Fn(Progress) + Sync),
    ) -> Result<Experiment, Failure> {
        Err(no_runs())
    }

    pub(crate) fn runner<'a>(
        _: &'a Plan,
        _: &Run,
        _: &'a RunOptions,
        _: &Stop,
    ) -> impl Fn(Job) -> Result<RunResult, RunError> + Sync + use<'a> {
        |_| unreachable!("`check` has refused the plan")
    }

    pub(crate) fn identity(_: &Run) -> Result<String, Failure> {
        Err(no_runs())
    }

    pub(crate) fn bench_tun(_: &BenchTun) -> Result<String, Failure> {
        Err(no_runs())
    }

    /// Nothing here runs a publication, or a script of a protocol test, on Linux.
    #[cfg(feature = "publications")]
    pub(crate) fn reproduce(
        _: &subflow_publications::Study,
        _: &subflow_publications::Request,
        _: Option<&std::path::Path>,
        _: &(dyn Fn(Progress) + Sync),
    ) -> Result<subflow_publications::Done, Failure> {
        Err(no_runs())
    }

    fn no_runs() -> Failure {
        Part::Linux.is_missing("runs in real time")
    }
}

/// The items of the module of this name that a build with it has.
#[cfg(not(all(feature = "live", target_os = "linux")))]
pub(crate) mod run_screen {
    use subflow_lab::execute::Progress;
    use subflow_lab::simulate::LiveView;

    use crate::arguments::Run;
    use crate::failure::Failure;
    use crate::part::Part;

    /// There is none.
    pub(crate) enum Screen {}

    impl Screen {
        pub(crate) fn open(_: &str, _: &[String], _: LiveView) -> Result<Self, Failure> {
            Err(no_screen())
        }

        pub(crate) fn note(&self, _: Progress) {
            match *self {}
        }
    }

    pub(crate) fn check(arguments: &Run) -> Result<(), Failure> {
        match arguments.tui {
            Some(_) => Err(no_screen()),
            None => Ok(()),
        }
    }

    fn no_screen() -> Failure {
        Part::Live.is_missing("view of runs in a terminal (--tui)")
    }
}

#[cfg(not(all(feature = "live", target_os = "linux")))]
mod live {
    use crate::arguments::{Cc, Paths, Proxy, StatusArguments, Watch};
    use crate::failure::Failure;
    use crate::part::missing;

    pub(crate) fn cc(_: &Cc) -> Result<(), Failure> {
        Err(missing("cc"))
    }

    pub(crate) fn paths(_: &Paths) -> Result<(), Failure> {
        Err(missing("paths"))
    }

    pub(crate) fn proxy(_: &Proxy) -> Result<(), Failure> {
        Err(missing("proxy"))
    }

    pub(crate) fn status(_: &StatusArguments) -> Result<(), Failure> {
        Err(missing("status"))
    }

    pub(crate) fn watch(_: &Watch) -> Result<(), Failure> {
        Err(missing("watch"))
    }
}

#[cfg(not(feature = "publications"))]
pub(crate) fn reproduce(_: &crate::arguments::Reproduce) -> Result<(), crate::failure::Failure> {
    Err(crate::part::missing("reproduce"))
}

#[cfg(not(feature = "conformance"))]
pub(crate) fn conform(_: &crate::arguments::Conform) -> Result<(), crate::failure::Failure> {
    Err(crate::part::missing("conform"))
}

#[cfg(not(feature = "import"))]
pub(crate) fn import(_: &crate::arguments::Import) -> Result<(), crate::failure::Failure> {
    Err(crate::part::missing("import"))
}

#[cfg(not(feature = "analyze"))]
pub(crate) fn analyze(_: &crate::arguments::Analyze) -> Result<(), crate::failure::Failure> {
    Err(crate::part::missing("analyze"))
}

#[cfg(not(feature = "serve"))]
pub(crate) fn serve(_: &crate::arguments::Serve) -> Result<(), crate::failure::Failure> {
    Err(crate::part::missing("serve"))
}
