//! What the page asks of the folder that the command was given.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;

use crate::answers::{framed, in_json, parsed, saved};
use crate::kept::{Finished, Shared};
use crate::run::headlines;

const NO_FOLDER: &str = "no folder was opened: start `subflow serve` with one\n";

/// What a path in an address begins with: browsers remove parts like `.` from addresses.
const BEFORE_PATH: char = '_';

/// Which runs are to be opened.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    path: String,
    plan: String,
}

/// The list of what can be opened.
pub(crate) async fn list(State(shared): State<Arc<Shared>>) -> Response {
    in_turn(&shared, |shared| match &shared.folder {
        Some(folder) => in_json(&folder.entries()),
        None => (StatusCode::NOT_FOUND, NO_FOLDER).into_response(),
    })
    .await
}

/// Opens the runs of a sweep that are there, as results with a number.
pub(crate) async fn open(State(shared): State<Arc<Shared>>, body: Bytes) -> Response {
    let asked: Asked = match parsed(&body) {
        Ok(asked) => asked,
        Err(response) => return *response,
    };
    in_turn(&shared, move |shared| {
        let Some(folder) = &shared.folder else { return (StatusCode::NOT_FOUND, NO_FOLDER).into_response() };
        let sweep = match folder.sweep(&asked.path, &asked.plan) {
            Ok(sweep) => sweep,
            Err(why) => return (StatusCode::CONFLICT, format!("{why}\n")).into_response(),
        };
        let (share, text, name) = (sweep.share, sweep.plan.document.text(), sweep.plan.document.name.clone());
        let flows = headlines(&sweep.experiment);
        let number = shared.keep(Finished { plan: sweep.plan, experiment: sweep.experiment, request: None });
        in_json(&json!({ "number": number, "share": share, "text": text, "name": name, "flows": flows }))
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
