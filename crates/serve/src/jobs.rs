//! The requests to run that this server has begun, by number. Any page of this server can follow one, also after it was
//! loaded again, and end it. One that no page follows is ended after a while.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use axum::http::{HeaderName, HeaderValue};
use axum::response::Response;
use serde::Serialize;
use subflow_lab::Stop;
use tokio::sync::watch;

use crate::check::Checked;
use crate::follow::follow;
use crate::lines::{Heard, Line, Told};

/// How many are known: those that go on, and the last ones that have ended.
pub(crate) const MOST_KNOWN: usize = 8;
/// The header with the number of a job.
const NUMBER: HeaderName = HeaderName::from_static("subflow-job");

/// A request to run.
#[derive(Debug)]
pub(crate) struct Job {
    number: u64,
    title: OnceLock<String>,
    stop: Stop,
    /// Why it was stopped.
    reason: OnceLock<String>,
    followers: AtomicUsize,
    told: watch::Sender<Told>,
}

/// The last jobs.
#[derive(Debug, Default)]
pub(crate) struct Jobs(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    last: u64,
    jobs: VecDeque<Arc<Job>>,
}

/// A job that goes on.
#[derive(Debug, Serialize)]
pub(crate) struct Listed {
    number: u64,
    title: String,
    done: usize,
    /// Null while it waits for its turn.
    total: Option<usize>,
}

impl Jobs {
    /// A new job.
    pub(crate) fn add(&self) -> Arc<Job> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.last += 1;
        let job = Arc::new(Job::new(known.last));
        known.jobs.push_back(Arc::clone(&job));
        if known.jobs.len() > MOST_KNOWN
            && let Some(ended) = known.jobs.iter().position(|job| job.has_ended())
        {
            known.jobs.remove(ended);
        }
        job
    }

    /// The job with this number, if it is still known.
    pub(crate) fn find(&self, number: u64) -> Option<Arc<Job>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.jobs.iter().find(|job| job.number == number).map(Arc::clone)
    }

    /// Those that go on.
    pub(crate) fn list(&self) -> Vec<Listed> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.jobs.iter().filter(|job| !job.has_ended()).map(|job| job.listed()).collect()
    }
}

impl Job {
    fn new(number: u64) -> Self {
        let (told, _) = watch::channel(Told::default());
        Self {
            number,
            title: OnceLock::new(),
            stop: Stop::default(),
            reason: OnceLock::new(),
            followers: AtomicUsize::new(0),
            told,
        }
    }

    /// What ends its runs.
    pub(crate) fn stop(&self) -> &Stop {
        &self.stop
    }

    /// Ends its runs, and says why. The first reason counts.
    pub(crate) fn stop_because(&self, reason: String) {
        self.reason.get_or_init(|| reason);
        self.stop.request();
    }

    /// Why it was stopped, if it was.
    pub(crate) fn reason(&self) -> Option<&str> {
        self.reason.get().map(String::as_str)
    }

    /// A check has found this in the scenario in sight, which can be run.
    pub(crate) fn check(&self, checked: &Checked) {
        self.told.send_modify(|told| told.checked = Some(Line::Checked(checked).bytes()));
    }

    /// So many runs have begun.
    pub(crate) fn start(&self, title: &str, total: usize) {
        self.title.get_or_init(|| title.to_owned());
        self.told.send_modify(|told| told.total = Some(total));
    }

    /// How many runs are done. Threads may report in another order than they count.
    pub(crate) fn advance(&self, done: usize) {
        self.told.send_modify(|told| told.done = told.done.max(done));
    }

    /// It has ended, with this line.
    pub(crate) fn end(&self, line: &Line<'_>) {
        self.told.send_modify(|told| told.end = Some(line.bytes()));
    }

    /// Whether nobody follows it.
    pub(crate) fn is_left(&self) -> bool {
        self.followers.load(Ordering::Relaxed) == 0
    }

    fn has_ended(&self) -> bool {
        self.told.borrow().end.is_some()
    }

    fn listed(&self) -> Listed {
        let (total, done) = {
            let told = self.told.borrow();
            (told.total, told.done)
        };
        Listed { number: self.number, title: self.title.get().cloned().unwrap_or_default(), done, total }
    }

    /// The answer that follows it to its end.
    pub(crate) fn follow(self: &Arc<Self>) -> Response {
        self.followers.fetch_add(1, Ordering::Relaxed);
        let mut heard = Heard::default();
        let news = move |told: &Told| heard.news(told);
        let follower = Follower(Arc::clone(self));
        let mut response = follow(self.told.subscribe(), "application/x-ndjson; charset=utf-8", follower, news);
        response.headers_mut().insert(NUMBER, HeaderValue::from(self.number));
        response
    }
}

/// Someone who follows a job.
struct Follower(Arc<Job>);

impl Drop for Follower {
    fn drop(&mut self) {
        self.0.followers.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_knows_whether_someone_follows_it_and_tells_each_of_its_end() {
        let jobs = Jobs::default();
        let job = jobs.add();
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            assert!(job.is_left());
            let [first, second] = [job.follow(), job.follow()];
            drop(first);
            assert!(!job.is_left());
            job.start("a title", 2);
            job.advance(1);
            assert_eq!(serde_json::to_value(jobs.list()).expect("data")[0]["done"], 1);
            job.end(&Line::Error("over"));
            assert_eq!(second.headers()["subflow-job"], "1");
            let lines = axum::body::to_bytes(second.into_body(), 1000).await.expect("all lines");
            assert!(lines.ends_with(b"{\"error\":\"over\"}\n"));
            assert!(job.is_left() && jobs.list().is_empty() && jobs.find(1).is_some(), "it can be asked for its end");
        });
    }

    #[test]
    fn ended_jobs_are_forgotten_before_those_that_go_on() {
        let jobs = Jobs::default();
        let first = jobs.add();
        for _ in 0..2 * MOST_KNOWN {
            jobs.add().end(&Line::Error("over"));
        }
        assert!(jobs.find(1).is_some() && jobs.find(2).is_none());
        first.stop_because("cancelled".to_owned());
        first.stop_because("too late".to_owned());
        assert!(first.stop().is_requested() && first.reason() == Some("cancelled"));
    }
}
