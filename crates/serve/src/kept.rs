//! What all requests share: the limits, the turns of runs, and the last results, each with what can be saved of it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use subflow_lab::output::to_csv;
use subflow_lab::results::Experiment;
use subflow_report::{of_experiment, of_experiment_in_frame};
use subflow_scenario::sweep::Plan;
use tokio::sync::Semaphore;

use crate::assets::CARDS;
use crate::check::Opened;
use crate::lessons::lesson;
use crate::limits::Limits;
use crate::moments::Moments;

/// The number of results that are kept: those in sight, and some before them.
const MOST_KEPT: usize = 8;
/// The most samples over time in all results that are kept, of 16 bytes each; the last results are kept in any case.
const MOST_SAMPLES: usize = 30_000_000;

/// What a report in a frame may do: run its own script, without the rights of our origin. The text of a scenario is in
/// it, and no mistake in it should reach the page.
const FRAME_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; \
                            base-uri 'none'; form-action 'none'; frame-ancestors 'self'; \
                            sandbox allow-scripts allow-downloads";

/// How many requests run or check scenarios at the same time; others wait.
const TURNS: usize = 2;

/// What all requests share.
#[derive(Debug)]
pub(crate) struct Shared {
    /// The scenario that the page shows first.
    pub(crate) opened: Opened,
    pub(crate) limits: Limits,
    /// The turns of runs.
    pub(crate) turns: Arc<Semaphore>,
    /// The turns of checks.
    pub(crate) checks: Arc<Semaphore>,
    kept: Mutex<Kept>,
}

impl Shared {
    pub(crate) fn new(opened: Option<Opened>, limits: Limits) -> Self {
        let example = || Opened::without_file(CARDS[0].name, CARDS[0].text);
        Self {
            opened: opened.unwrap_or_else(example),
            limits,
            turns: Arc::new(Semaphore::new(TURNS)),
            checks: Arc::new(Semaphore::new(TURNS)),
            kept: Mutex::default(),
        }
    }

    /// Keeps results, and returns their number.
    pub(crate) fn keep(&self, finished: Finished) -> u64 {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).keep(finished)
    }

    /// The results with this number, if they are still kept.
    pub(crate) fn find(&self, number: u64) -> Option<Arc<Finished>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).find(number)
    }
}

/// Finished runs.
#[derive(Debug)]
pub(crate) struct Finished {
    /// What was run.
    pub(crate) plan: Plan,
    /// Its results.
    pub(crate) experiment: Experiment,
}

/// The last results, by number.
#[derive(Debug, Default)]
struct Kept {
    last: u64,
    finished: VecDeque<(u64, Arc<Finished>)>,
}

impl Kept {
    /// Keeps results, and returns their number. The oldest ones are dropped for them.
    fn keep(&mut self, finished: Finished) -> u64 {
        self.last += 1;
        self.finished.push_back((self.last, Arc::new(finished)));
        let samples = |kept: &VecDeque<(u64, Arc<Finished>)>| kept.iter().map(|(_, of)| of.samples()).sum::<usize>();
        while self.finished.len() > MOST_KEPT || self.finished.len() > 1 && samples(&self.finished) > MOST_SAMPLES {
            self.finished.pop_front();
        }
        self.last
    }

    /// The results with this number, if they are still kept.
    fn find(&self, number: u64) -> Option<Arc<Finished>> {
        self.finished.iter().find(|(known, _)| *known == number).map(|(_, finished)| Arc::clone(finished))
    }
}

impl Finished {
    /// The number of its samples over time.
    fn samples(&self) -> usize {
        let series = self.experiment.runs.iter().flat_map(|run| &run.result.series);
        series.map(|series| series.points().len()).sum()
    }

    /// The file with this name; `None` if there is no such file.
    pub(crate) fn file(&self, name: &str) -> Option<Response> {
        let Self { plan, experiment } = self;
        match name {
            "frame" => Some(framed(of_experiment_in_frame(plan, experiment))),
            "report.html" => Some(saved(name, "text/html; charset=utf-8", of_experiment(plan, experiment))),
            "series.json" => {
                let json = serde_json::to_string(&Moments::of(experiment)).expect("the keys of all values are texts");
                Some(([(header::CONTENT_TYPE, "application/json")], json).into_response())
            }
            "results.csv" => Some(saved(name, "text/csv; charset=utf-8", to_csv(experiment))),
            "results.json" => {
                let json = serde_json::to_string_pretty(experiment).expect("the keys of all values are texts");
                Some(saved(name, "application/json", json))
            }
            "scenario.toml" => Some(saved(name, "application/toml; charset=utf-8", plan.document.text())),
            _ => {
                let lesson = lesson(name.strip_prefix("lesson-")?.strip_suffix(".json")?)?;
                let measured = serde_json::to_string(&lesson.measured(plan, experiment)).expect("plain data");
                Some(([(header::CONTENT_TYPE, "application/json")], measured).into_response())
            }
        }
    }
}

/// A report for the frame of the page.
fn framed(html: String) -> Response {
    let kind = (header::CONTENT_TYPE, "text/html; charset=utf-8");
    ([kind, (header::CONTENT_SECURITY_POLICY, FRAME_POLICY)], html).into_response()
}

/// A file that the browser saves, and does not show as a page of our origin.
fn saved(name: &str, kind: &'static str, content: String) -> Response {
    let headers: [(HeaderName, HeaderValue); 2] = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (
            header::CONTENT_DISPOSITION,
            HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")).expect("a plain name"),
        ),
    ];
    (headers, content).into_response()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use subflow_scenario::file::Document;

    use super::*;

    fn finished() -> Finished {
        let text = include_str!("gallery/wifi-lte.toml").to_owned();
        let document = Document::parse(Path::new("wifi-lte.toml"), text).expect("TOML");
        let plan = Plan::read(document).expect("a scenario");
        let experiment = Experiment::new(&plan, Vec::new());
        Finished { plan, experiment }
    }

    #[test]
    fn the_last_results_are_kept_and_earlier_ones_dropped() {
        let mut kept = Kept::default();
        let numbers: Vec<u64> = (0..MOST_KEPT + 2).map(|_| kept.keep(finished())).collect();
        let found: Vec<bool> = numbers.iter().map(|number| kept.find(*number).is_some()).collect();
        assert_eq!(found.iter().filter(|found| **found).count(), MOST_KEPT);
        assert!(!found[0] && !found[1] && found[2]);
        assert!(kept.find(99).is_none());
    }

    #[test]
    fn files_are_saved_and_not_shown_as_pages_of_our_origin() {
        let finished = finished();
        for name in ["results.json", "scenario.toml"] {
            let response = finished.file(name).expect("there is one");
            let disposition = response.headers()[header::CONTENT_DISPOSITION].to_str().expect("text");
            assert!(disposition.starts_with("attachment") && disposition.contains(name));
        }
        assert!(finished.file("../secret").is_none() && finished.file("").is_none());
    }
}
