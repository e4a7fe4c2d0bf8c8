//! What one request may take: a page in a browser is edited by people who try things.

use std::time::Duration;

use subflow_quantity::Size;
use subflow_scenario::sweep::Bounds;

use crate::jobs::Job;

/// How often a run is looked at.
pub(crate) const LOOK: Duration = Duration::from_millis(100);

/// The limits of the page. A larger sweep is for `subflow run`.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How large a scenario with its sweep may be. Default: 200 points, and 300,000 hosts, routers, links and flows at all
    /// points together.
    pub plan: Bounds,
    /// The most runs of one request. Default: 1000.
    pub runs: usize,
    /// How long the runs of one request may take in real time. Default: 60 s.
    pub time: Duration,
    /// How much the memory of the process may grow while they run, where the system tells it. Default: 2 GB.
    pub memory: Size,
    /// How long runs go on that no page follows: so long a page may take to load again. Default: 15 s.
    pub absence: Duration,
    /// The largest request. Default: 1 MB.
    pub request: Size,
    /// How long a request may take from its head to its last byte. Default: 30 s.
    pub upload: Duration,
    /// The most connections of clients at the same time. Default: 256.
    pub connections: usize,
    /// How long a connection may be without the complete head of a request. Default: 30 s.
    pub silence: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            plan: Bounds { points: 200, parts: 300_000 },
            runs: 1000,
            time: Duration::from_secs(60),
            memory: Size::from_bytes(2_000_000_000),
            absence: Duration::from_secs(15),
            request: Size::from_bytes(1_000_000),
            upload: Duration::from_secs(30),
            connections: 256,
            silence: Duration::from_secs(30),
        }
    }
}

/// Stops runs that take more time or memory than they may, or that nobody follows. Ends when they are stopped.
pub(crate) async fn watch(limits: Limits, job: &Job) {
    let before = resident();
    let (mut passed, mut absent) = (Duration::ZERO, Duration::ZERO);
    while !job.stop().is_requested() {
        tokio::time::sleep(LOOK).await;
        passed += LOOK;
        absent = if job.is_left() { absent + LOOK } else { Duration::ZERO };
        let grown = resident().zip(before).map_or(0, |(now, before)| now.saturating_sub(before));
        if passed > limits.time {
            job.stop_because(format!(
                "stopped after {} s of real time, the limit of this page: lower duration or repeat, or use `subflow run`",
                limits.time.as_secs_f64()
            ));
        } else if grown > limits.memory.as_bytes() {
            job.stop_because(format!(
                "stopped because the runs took more than {} of memory, the limit of this page: lower duration or \
                 repeat, or use `subflow run`",
                limits.memory
            ));
        } else if absent > limits.absence {
            job.stop_because("stopped because no page followed these runs any more".to_owned());
        }
    }
}

/// The resident memory of this process in bytes, where the system tells it.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::Jobs;

    fn watched(limits: Limits) -> Option<String> {
        let job = Jobs::default().add();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(watch(limits, &job));
        assert!(job.stop().is_requested());
        job.reason().map(str::to_owned)
    }

    #[test]
    fn runs_that_nobody_follows_are_stopped_and_told_why() {
        let why = watched(Limits { absence: Duration::from_millis(150), ..Limits::default() });
        assert!(why.is_some_and(|why| why.contains("no page followed")));
    }

    #[test]
    fn runs_that_take_too_long_are_stopped_and_told_why() {
        let why = watched(Limits { time: Duration::from_millis(150), ..Limits::default() });
        assert!(why.is_some_and(|why| why.contains("0.15 s of real time")));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn runs_that_take_too_much_memory_are_stopped_and_told_why() {
        let (done, wait) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            // The first look at the memory has been taken by then.
            std::thread::sleep(LOOK / 2);
            let held = vec![1_u8; 256 << 20];
            wait.recv().expect("it is told when the watch has ended");
            assert_eq!(held.last(), Some(&1));
        });
        let why = watched(Limits { memory: Size::from_bytes(1_000_000), ..Limits::default() });
        assert!(why.is_some_and(|why| why.contains("1 MB of memory")));
        done.send(()).expect("the thread waits");
        thread.join().expect("it has not failed");
    }
}
