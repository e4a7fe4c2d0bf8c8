//! What the page asks of the folder that the command was given.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;

use crate::answers::{framed, in_json, parsed, saved};
use crate::folder::Opened;
use crate::kept::{Finished, Shared};
use crate::run::headlines;

const NO_FOLDER: &str = "no folder was opened: start `subflow serve` with one\n";

/// What a path in an address begins with: browsers remove parts like `.` from addresses.
const BEFORE_PATH: char = '_';

/// Which runs are meant: those of a plan in a store, or of results.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    path: String,
    plan: Option<String>,
}

/// The list of what can be opened.
pub(crate) async fn list(State(shared): State<Arc<Shared>>) -> Response {
    in_turn(&shared, |shared| match &shared.folder {
        Some(folder) => in_json(&folder.entries()),
        None => (StatusCode::NOT_FOUND, NO_FOLDER).into_response(),
    })
    .await
}

/// Opens the runs of a sweep that are there, or those of results without a report, as results with a number.
pub(crate) async fn open(State(shared): State<Arc<Shared>>, body: Bytes) -> Response {
    let asked: Asked = match parsed(&body) {
        Ok(asked) => asked,
        Err(response) => return *response,
    };
    in_turn(&shared, move |shared| {
        let Some(folder) = &shared.folder else { return (StatusCode::NOT_FOUND, NO_FOLDER).into_response() };
        let found = match &asked.plan {
            Some(plan) => folder.sweep(&asked.path, plan),
            None => folder.results(&asked.path),
        };
        let Opened { plan, experiment, share } = match found {
            Ok(opened) => opened,
            Err(why) => return (StatusCode::CONFLICT, format!("{why}\n")).into_response(),
        };
        let (text, name, flows) = (plan.document.text(), plan.document.name.clone(), headlines(&experiment));
        let number = shared.keep(Finished { plan, experiment, request: None });
        in_json(&json!({ "number": number, "share": share, "text": text, "name": name, "flows": flows }))
    })
    .await
}

/// Asks the process that does a sweep to end it.
pub(crate) async fn stop(State(shared): State<Arc<Shared>>, body: Bytes) -> Response {
    let asked: Asked = match parsed(&body) {
        Ok(asked) => asked,
        Err(response) => return *response,
    };
    in_turn(&shared, move |shared| {
        let Some(folder) = &shared.folder else { return (StatusCode::NOT_FOUND, NO_FOLDER).into_response() };
        match folder.stop(&asked.path) {
            Ok(process) => in_json(&json!({ "process": process })),
            Err(why) => (StatusCode::CONFLICT, format!("{why}\n")).into_response(),
        }
    })
    .await
}

/// A file of results. Reports are shown in the frame of the page, without its rights; others are saved.
pub(crate) async fn file(
    State(shared): State<Arc<Shared>>,
    Path((_, path, name)): Path<(String, String, String)>,
) -> Response {
    in_turn(&shared, move |shared| {
        let folder = shared.folder.as_ref().zip(path.strip_prefix(BEFORE_PATH));
        let found = folder.and_then(|(folder, path)| folder.file(path, &name));
        let Some(content) = found.and_then(|file| std::fs::read(file).ok()) else {
            return (StatusCode::NOT_FOUND, "no command has written this file\n").into_response();
        };
        let ending = name.rsplit('.').next().unwrap_or_default();
        match ending {
            "html" => framed(content),
            "toml" => saved(&name, "application/toml; charset=utf-8", content),
            "csv" => saved(&name, "text/csv; charset=utf-8", content),
            "json" => saved(&name, "application/json", content),
            _ => saved(&name, "application/octet-stream", content),
        }
    })
    .await
}

/// Does what may take a while, when it is its turn.
async fn in_turn(shared: &Arc<Shared>, work: impl FnOnce(&Shared) -> Response + Send + 'static) -> Response {
    let Ok(turn) = Arc::clone(&shared.checks).acquire_owned().await else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let shared = Arc::clone(shared);
    let done = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        work(&shared)
    });
    done.await.unwrap_or_else(|_| (StatusCode::INTERNAL_SERVER_ERROR, "the folder could not be read\n").into_response())
}
