//! Publications whose experiments also run in real time.

use std::path::Path;

use subflow_lab::execute::Progress;
use subflow_lab::results::RunResult;
use subflow_lab::simulate::RunOptions;
use subflow_lab::{RunError, emulate};
use subflow_publications::{Done, Emulator, Request, Routers, Study, reproduce_on_linux};
use subflow_scenario::Scenario;

use super::stop_on_signals;
use crate::failure::Failure;

/// What runs the emulations of publications.
struct RealTimeRuns<'a> {
    /// The command of the switches' controller.
    controller: &'a Path,
    stop: emulate::Stop,
}

impl RealTimeRuns<'_> {
    fn machinery(&self, routers: Routers) -> emulate::Machinery {
        let switches = (routers == Routers::OpenVSwitch)
            .then(|| emulate::SwitchOptions { controller: self.controller.as_os_str().to_owned() });
        emulate::Machinery { device: None, switches }
    }
}

impl Emulator for RealTimeRuns<'_> {
    fn check(&self, scenario: &Scenario, routers: Routers) -> Result<(), RunError> {
        emulate::check(scenario, &self.machinery(routers))
    }

    fn run(
        &self,
        scenario: &Scenario,
        seed: u64,
        routers: Routers,
        options: &RunOptions,
    ) -> Result<RunResult, RunError> {
        emulate::emulate(scenario, seed, &self.machinery(routers), options, &self.stop)
    }
}

/// Reproduces in the simulator and in real time.
pub(crate) fn reproduce(
    paper: &Study,
    request: &Request,
    controller: Option<&Path>,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Done, Failure> {
    let controller = controller.unwrap_or(Path::new("subflow-openflow"));
    let stop = stop_on_signals()?;
    Ok(reproduce_on_linux(paper, request, &RealTimeRuns { controller, stop }, progress)?)
}
