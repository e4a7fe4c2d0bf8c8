//! What can be saved of finished runs, and what the page shows of them.

use axum::response::Response;
use subflow_lab::output::to_csv;
use subflow_report::{content_of_experiment, of_experiment_enclosing, of_experiment_in_frame};

use crate::answers::{framed, in_json, in_text, plain, pretty, saved};
use crate::kept::Finished;
use crate::lessons::lesson;
use crate::moments::{Moments, Packets};

/// The tables that can be saved as Parquet files; none in builds without the feature `parquet`.
pub(crate) const PARQUET: &[&str] =
    if cfg!(feature = "parquet") { &["runs", "flows", "subflows", "links", "statistics", "series"] } else { &[] };

impl Finished {
    /// The file with this name; `None` if there is no such file.
    pub(crate) fn file(&self, name: &str) -> Option<Response> {
        let Self { plan, experiment, .. } = self;
        match name {
            "frame" => Some(framed(of_experiment_in_frame(plan, experiment))),
            // A text for the frame: as a page of our origin it would be one with our rights.
            "content" => Some(in_text(content_of_experiment(plan, experiment))),
            "report.html" => Some(saved(name, "text/html; charset=utf-8", self.report())),
            "results.csv" => Some(saved(name, "text/csv; charset=utf-8", to_csv(experiment))),
            "results.json" => Some(saved(name, "application/json", pretty(experiment))),
            "scenario.toml" => Some(saved(name, "application/toml; charset=utf-8", plan.document.text())),
            _ => self.of_run(name).or_else(|| self.measured(name)).or_else(|| self.parquet(name)),
        }
    }

    /// The report with everything in one file: both variants, and for the page the request and the results.
    fn report(&self) -> String {
        let Self { plan, experiment, request } = self;
        let text = plan.document.text();
        let variants = request.as_ref().and_then(|request| Some((&request.a, request.b.as_ref()?)));
        let scenarios = match &variants {
            Some((a, b)) => vec![("Scenario A", a.text.as_str()), ("Scenario B", b.text.as_str())],
            None => vec![("Scenario", text.as_str())],
        };
        let of_store = || serde_json::json!({ "a": { "text": text, "set": [], "name": plan.document.name } });
        let request = request.as_ref().map_or_else(of_store, |request| serde_json::json!(request));
        let enclosed = vec![("subflow-request", request.to_string()), ("subflow-results", plain(experiment))];
        of_experiment_enclosing(plan, experiment, &scenarios, enclosed)
    }

    /// A run over time, or its packets: `series.json` and `packets.json` are of the first run, `series-b.json` of the first one
    /// of the variant B, and `series-7.json` of the run with this number.
    fn of_run(&self, name: &str) -> Option<Response> {
        let name = name.strip_suffix(".json")?;
        let (kind, which) = name.split_once('-').unwrap_or((name, ""));
        match kind {
            "series" => Some(in_json(&Moments::of(&self.experiment, which).coloured(&self.plan, &self.experiment))),
            "packets" => Some(in_json(&Packets::of(&self.experiment, which))),
            _ => None,
        }
    }

    /// What `lesson-NAME.json` measures in them.
    fn measured(&self, name: &str) -> Option<Response> {
        let lesson = lesson(name.strip_prefix("lesson-")?.strip_suffix(".json")?)?;
        Some(in_json(&lesson.measured(&self.plan, &self.experiment)))
    }

    #[cfg(feature = "parquet")]
    fn parquet(&self, name: &str) -> Option<Response> {
        let wanted = name.strip_suffix(".parquet")?;
        let tables = subflow_store::tables::all(&self.experiment);
        let (_, table) = tables.iter().find(|(known, _)| *known == wanted)?;
        Some(saved(name, "application/vnd.apache.parquet", subflow_store::to_parquet(table)))
    }

    #[cfg(not(feature = "parquet"))]
    fn parquet(&self, _name: &str) -> Option<Response> {
        None
    }
}

#[cfg(test)]
mod tests {
    use axum::http::header;

    use super::*;
    use crate::kept::made::finished;

    #[test]
    fn files_are_saved_and_not_shown_as_pages_of_our_origin() {
        let finished = finished();
        for name in ["results.json", "scenario.toml", "report.html"] {
            let response = finished.file(name).expect("there is one");
            let disposition = response.headers()[header::CONTENT_DISPOSITION].to_str().expect("text");
            assert!(disposition.starts_with("attachment") && disposition.contains(name));
        }
        assert!(finished.file("../secret").is_none() && finished.file("").is_none());
    }

    #[test]
    fn every_table_that_is_offered_as_parquet_is_there() {
        let finished = finished();
        for name in PARQUET.iter().filter(|name| **name != "series") {
            assert!(finished.file(&format!("{name}.parquet")).is_some(), "{name}");
        }
        assert!(finished.file("secrets.parquet").is_none());
    }
}
