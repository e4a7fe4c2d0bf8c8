//! `subflow paths`: the path managers of the simulator for this machine's MPTCP connections. The daemon: its requirements,
//! signals, log and end.

mod configuration;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use subflow_linux::Presence;
use subflow_linux::paths::{Driver, Ownership, Rules};
use subflow_linux::status::{Status, StatusSocket};

use super::logging::start_logging;
use crate::arguments::Paths;
use crate::failure::Failure;
use configuration::Configuration;

/// The longest time to the next look at the signals that came while the kernel was asked.
const LONGEST_WAIT: Duration = Duration::from_millis(500);

pub(crate) fn paths(arguments: &Paths) -> Result<(), Failure> {
    let configuration = Configuration::read(arguments)?;
    start_logging(arguments.log);
    // The signals first: from here on one that ends the command has to put the kernel's setting back.
    let signals = Signals::install()?;
    let ownership = Ownership::take()?;
    let mut driver = Driver::open(rules(&configuration))?;
    log::info!("{} for new connections; SIGHUP reads the configuration again", configuration.description());
    driver.count_ended()?;
    let socket = StatusSocket::open("paths")?;
    let outcome = serve(&mut driver, &signals, &socket, arguments, configuration);
    log::info!("ending; {} connections keep their subflows", driver.connections());
    ownership.release()?;
    outcome
}

/// Puts back the setting of the kernel that a killed daemon has left, and removes the records of network namespaces
/// that are gone. Reports what it did, a line each.
pub(crate) fn cleanup(report: &mut dyn FnMut(&str)) -> Result<(), Failure> {
    let undone = Ownership::undo_of_killed();
    if let Ok(Some(value)) = &undone {
        report(&format!("restored net.mptcp.pm_type to {value}"));
    }
    let removed = Ownership::remove_of_ended(|record, presence| match presence {
        Presence::Gone => report("removed the setting of a path manager of a network namespace that no longer exists"),
        _ => report(&format!("kept {}: cannot determine whether its network namespace exists", record.display())),
    });
    Ok(undone.and(removed)?)
}

fn serve(
    driver: &mut Driver,
    signals: &Signals,
    socket: &StatusSocket,
    arguments: &Paths,
    mut now: Configuration,
) -> Result<(), Failure> {
    while !signals.end.load(Ordering::Relaxed) {
        if signals.reload.swap(false, Ordering::Relaxed) {
            match Configuration::read(arguments) {
                Ok(new) => {
                    driver.set_rules(rules(&new))?;
                    log::info!("read the configuration again: {} for new connections", new.description());
                    now = new;
                }
                Err(problem) => {
                    log::error!("the configuration is unchanged, {}: {}", now.description(), problem.in_one_line());
                }
            }
        }
        driver.run(LONGEST_WAIT)?;
        socket.answer(|| {
            driver
                .status(now.description())
                .unwrap_or_else(|error| Status { about: error.to_string(), ..Status::default() })
        });
    }
    Ok(())
}

fn rules(configuration: &Configuration) -> Rules {
    Rules::uniform(configuration.path_manager(), configuration.interfaces.clone())
}

/// The signals that came.
struct Signals {
    end: Arc<AtomicBool>,
    reload: Arc<AtomicBool>,
}

impl Signals {
    fn install() -> Result<Self, Failure> {
        let signals = Self { end: Arc::default(), reload: Arc::default() };
        let installed = flag::register(SIGHUP, Arc::clone(&signals.reload))
            .and_then(|_| flag::register(SIGTERM, Arc::clone(&signals.end)))
            .and_then(|_| flag::register(SIGINT, Arc::clone(&signals.end)));
        match installed {
            Ok(_) => Ok(signals),
            Err(error) => Err(Failure::RunFailed(format!("cannot install handlers for signals: {error}"))),
        }
    }
}
