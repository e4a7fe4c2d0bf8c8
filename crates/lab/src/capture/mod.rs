//! Captures of a run: one pcapng file per host, with all its interfaces. An estimate of their size, and its limit.

mod estimate;
mod files;
mod maximum_flow;
mod streams;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use subflow_quantity::Size;
use subflow_scenario::sweep::Plan;

pub use estimate::estimate;
pub(crate) use files::Capture;

/// The folder that the captures of all runs are written to, and their maximum size together. Clones share the limit.
#[derive(Clone, Debug)]
pub struct CaptureFolder {
    directory: PathBuf,
    limit: Size,
    written: Arc<AtomicU64>,
}

impl CaptureFolder {
    /// Captures in `directory`, which exists. A run fails when its captures and those of earlier runs exceed `limit`.
    pub fn new(directory: impl Into<PathBuf>, limit: Size) -> Self {
        Self { directory: directory.into(), limit, written: Arc::default() }
    }

    /// The name of the capture of `host` in `run`.
    pub fn file_name(run: usize, host: &str) -> String {
        format!("{run}-{host}.pcapng")
    }

    /// The names of all captures of `plan`.
    pub fn file_names(plan: &Plan) -> impl Iterator<Item = String> + '_ {
        plan.jobs().into_iter().flat_map(|job| {
            let hosts = plan.points[job.point].scenario.hosts.iter();
            hosts.map(move |host| Self::file_name(job.run, &host.name))
        })
    }

    fn directory(&self) -> &Path {
        &self.directory
    }

    /// Reserves `bytes` of the limit. Fails if fewer are left.
    fn reserve(&self, bytes: u64) -> Result<(), String> {
        let before = self.written.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) <= self.limit.as_bytes() {
            return Ok(());
        }
        Err(format!(
            "{}: the captures have reached their limit of {}; the files contain the packets until then. Raise \
             --pcap-limit, or capture fewer or shorter runs",
            self.directory.display(),
            self.limit
        ))
    }
}
