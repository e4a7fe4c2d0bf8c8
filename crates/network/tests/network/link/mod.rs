//! Checks the times of a single link to the nanosecond.

mod backlog;
mod changes;
mod service;

use subflow_network::{LinkChange, LinkConfig, Service};
use subflow_quantity::{Duration, Rate};

const MICROSECOND: u64 = 1000;

/// 10 Mbit/s, 5 ms: a packet of 1500 bytes takes 1.2 ms and arrives 5 ms later.
fn ten_mbit() -> LinkConfig {
    LinkConfig::new(Rate::from_mbit(10), Duration::from_millis(5))
}

fn rate(mbit: u64) -> LinkChange {
    LinkChange::Service(Service::Rate(Rate::from_mbit(mbit)))
}
