//! QUIC between two hosts.

mod handshake;
mod mistakes;
mod multipath;
mod recovery;
mod streams;
mod transfer;
mod wire;

use subflow_policy::congestion::Algorithm;
use subflow_policy::path_manager::PathManagement;
use subflow_policy::scheduler::Scheduling;
use subflow_transport::quic::{Config, MultipathConfig};

/// The defaults at both ends.
fn configs() -> [Config; 2] {
    [Config::default(), Config::default()]
}

fn with_congestion(config: Config, name: &str) -> Config {
    Config { congestion: Algorithm::from_name(name).expect("a congestion control"), ..config }
}

/// Both ends with several paths, which a scheduler and `fullmesh` use.
fn multipath(scheduler: &str) -> [Config; 2] {
    let scheduler = Scheduling::from_name(scheduler).expect("a scheduler");
    let manager = PathManagement::from_name("fullmesh").expect("a path manager");
    let multipath = MultipathConfig::new(scheduler, manager);
    configs().map(|config| Config { multipath: Some(multipath.clone()), ..config })
}
