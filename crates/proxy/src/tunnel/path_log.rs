//! The paths of a connection in the log: those that open and close, and what each has carried.

use std::fmt::Write;
use std::net::SocketAddr;
use std::time::Duration;

use subflow_tokio::quic::{Connection, PathState};

/// Time between two looks at the paths.
pub(super) const INTERVAL: Duration = Duration::from_secs(1);

/// What is told of a proxy's events.
pub(super) type Report = dyn Fn(&str) + Send + Sync;

/// The paths of a connection when they were last looked at.
#[derive(Debug, Default)]
pub(super) struct PathLog {
    paths: Vec<PathState>,
}

impl PathLog {
    /// Looks at the paths of a connection, and reports those that have opened or closed since.
    pub(super) fn update(&mut self, connection: &Connection, report: &Report) {
        let now = connection.paths();
        // There are none any more once the connection is over: what was known before is what is left to tell.
        if now.is_empty() {
            return;
        }
        let ends = |path: &PathState| (path.local, path.remote);
        let is_open =
            |paths: &[PathState], of: &PathState| paths.iter().any(|path| path.is_open && ends(path) == ends(of));
        for path in now.iter().filter(|path| path.is_open != is_open(&self.paths, path)) {
            match path.is_open {
                true => report(&format!("{} opened", between(path.local, path.remote))),
                false => report(&format!("{} closed", between(path.local, path.remote))),
            }
        }
        self.paths = now;
    }

    /// Reports what each path has carried, at the end of the connection.
    pub(super) fn end(&mut self, connection: &Connection, report: &Report) {
        self.update(connection, report);
        core::mem::take(&mut self.paths).iter().for_each(|path| report(&carried(path)));
    }
}

fn between(local: SocketAddr, remote: SocketAddr) -> String {
    format!("path {local} - {remote}")
}

/// Counts as a line.
fn carried(path: &PathState) -> String {
    let mut line = format!(
        "{}: {} bytes sent, {} received, {} packets with data sent again, {} timeouts",
        between(path.local, path.remote),
        path.bytes_sent,
        path.bytes_received,
        path.retransmissions,
        path.timeouts
    );
    if let Some(srtt) = path.srtt {
        let _ = write!(line, ", RTT {:.1} ms", srtt.as_secs_f64() * 1e3);
    }
    line
}
