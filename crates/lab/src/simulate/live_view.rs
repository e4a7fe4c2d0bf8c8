//! Metrics over time of runs that go on, for whoever watches them.
//!
//! A watcher asks, and each run that keeps metrics over time answers at its next sample with a copy of them. A run that
//! nobody asks compares a number at each sample, and its results are the same in any case.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use subflow_quantity::Instant;

use crate::results::Series;

/// What runs under way show of their metrics. All clones are the same view.
#[derive(Clone, Debug, Default)]
pub struct LiveView(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    /// How often was asked.
    asked: AtomicU64,
    /// The last answer of each run under way that has given one, by the number of the run.
    runs: Mutex<BTreeMap<usize, LiveRun>>,
}

/// A run under way.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveRun {
    /// Its number.
    pub run: usize,
    /// The simulated time that has passed, in seconds.
    pub time_s: f64,
    /// Its metrics until then, as its results will have them.
    pub series: Vec<Series>,
}

impl LiveView {
    /// Asks all runs under way. They answer at their next sample.
    pub fn ask(&self) {
        self.0.asked.fetch_add(1, Ordering::Relaxed);
    }

    /// The answer of the run with the lowest number, if one has answered and has not ended.
    pub fn first(&self) -> Option<LiveRun> {
        self.runs().first_key_value().map(|(_, run)| run.clone())
    }

    fn runs(&self) -> std::sync::MutexGuard<'_, BTreeMap<usize, LiveRun>> {
        self.0.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The answers of one run. When it is dropped, the run has ended.
#[derive(Debug)]
pub(super) struct Answers {
    view: LiveView,
    run: usize,
    /// The question that was answered last.
    answered: u64,
}

impl Answers {
    pub(super) fn new(view: LiveView, run: usize) -> Self {
        Self { view, run, answered: 0 }
    }

    /// Whether there is a question that the run has not answered.
    #[inline]
    pub(super) fn is_asked(&self) -> bool {
        self.view.0.asked.load(Ordering::Relaxed) != self.answered
    }

    /// Answers with the metrics until `now`.
    pub(super) fn answer(&mut self, now: Instant, series: Vec<Series>) {
        self.answered = self.view.0.asked.load(Ordering::Relaxed);
        let answer = LiveRun { run: self.run, time_s: now.as_secs_f64(), series };
        self.view.runs().insert(self.run, answer);
    }
}

impl Drop for Answers {
    fn drop(&mut self) {
        self.view.runs().remove(&self.run);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use subflow_scenario::Scenario;
    use subflow_scenario::file::Document;

    use super::*;
    use crate::simulate::{RunOptions, simulate};

    fn scenario() -> Scenario {
        let text = "duration = \"2 s\"\n[hosts]\na = [\"x\"]\nb = [\"x\"]\n[links.l]\nbetween = [\"a\", \"b\"]\n\
                    rate = \"8 Mbit/s\"\ndelay = \"20 ms\"\n[flows.f]\nfrom = \"a\"\nto = \"b\"\nprotocol = \"tcp\"\n";
        let document = Document::parse(Path::new("live.toml"), text.to_owned()).expect("TOML");
        Scenario::read(&document).expect("a good scenario")
    }

    #[test]
    fn a_run_answers_once_for_each_question_and_is_gone_when_it_ends() {
        let view = LiveView::default();
        let mut answers = Answers::new(view.clone(), 7);
        let at = Instant::from_nanos(1_500_000_000);
        assert!(!answers.is_asked() && view.first().is_none(), "nobody has asked");
        view.ask();
        view.ask();
        assert!(answers.is_asked());
        answers.answer(at, Vec::new());
        assert!(!answers.is_asked());
        assert_eq!(view.first().map(|run| (run.run, run.time_s)), Some((7, 1.5)));
        drop(answers);
        assert_eq!(view.first(), None);
    }

    #[test]
    fn a_run_that_is_watched_has_the_same_results_and_shows_what_they_will_have() {
        let scenario = scenario();
        let options = RunOptions { series: true, run: 3, ..RunOptions::default() };
        let plain = simulate(&scenario, 1, &options).expect("it runs");
        let view = LiveView::default();
        let watched = RunOptions { live: Some(view.clone()), ..options };
        let (done, seen) = (std::sync::atomic::AtomicBool::new(false), Mutex::new(Vec::new()));
        let result = std::thread::scope(|threads| {
            let run = threads.spawn(|| {
                let result = simulate(&scenario, 1, &watched).expect("it runs");
                done.store(true, Ordering::Relaxed);
                result
            });
            while !done.load(Ordering::Relaxed) {
                view.ask();
                seen.lock().expect("no panic").extend(view.first());
            }
            run.join().expect("it does not panic")
        });
        assert_eq!(result.series, plain.series);
        assert_eq!(view.first(), None);
        for shown in seen.into_inner().expect("no panic") {
            let cwnd = |series: &[Series]| series.iter().find(|one| one.metric == "cwnd").cloned();
            let (early, whole) = (cwnd(&shown.series), cwnd(&plain.series).expect("a window"));
            let early = early.map_or_else(Vec::new, |series| series.points().to_vec());
            assert_eq!(shown.run, 3);
            assert_eq!(early, whole.points()[..early.len()], "at {} s", shown.time_s);
        }
    }
}
