//! QUIC between two hosts.

mod handshake;
mod mistakes;
mod recovery;
mod transfer;
mod wire;

use subflow_policy::congestion::Algorithm;
use subflow_transport::quic::Config;

/// The defaults at both ends.
fn configs() -> [Config; 2] {
    [Config::default(), Config::default()]
}

fn with_congestion(config: Config, name: &str) -> Config {
    Config { congestion: Algorithm::from_name(name).expect("a congestion control"), ..config }
}
