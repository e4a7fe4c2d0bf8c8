//! The addresses under the token, and what each answers.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::json;
use subflow_lab::Stop;
use subflow_scenario::schema::json_schema;

use crate::access::{Access, guard};
use crate::answers::{in_json, in_text, parsed};
use crate::assets::{CARDS, PAGE, asset, card_pictures};
use crate::check::{Draft, Opened};
use crate::connections::whole;
use crate::exports::PARQUET;
use crate::kept::Shared;
use crate::lessons::lessons;
use crate::limits::Limits;
use crate::{folder_routes, run};

/// All addresses. Requests that `access` refuses reach none of them.
pub(crate) fn router(access: Arc<Access>, shared: Arc<Shared>) -> Router {
    let largest = usize::try_from(shared.limits.request.as_bytes()).unwrap_or(usize::MAX);
    Router::new()
        .route("/{token}/", get(page))
        .route("/{token}/start.json", get(start))
        .route("/{token}/schema.json", get(schema))
        .route("/{token}/pictures.json", get(pictures))
        .route("/{token}/check", post(check))
        .route("/{token}/text", post(text))
        .route("/{token}/run", post(begin))
        .route("/{token}/runs.json", get(runs))
        .route("/{token}/runs/{number}", get(follow))
        .route("/{token}/runs/{number}/cancel", post(cancel))
        .route("/{token}/live", get(live))
        .route("/{token}/folder.json", get(folder_routes::list))
        .route("/{token}/folder/open", post(folder_routes::open))
        .route("/{token}/folder/stop", post(folder_routes::stop))
        .route("/{token}/folder/{path}/{*file}", get(folder_routes::file))
        .route("/{token}/results/{number}/{file}", get(results))
        .route("/{token}/{asset}", get(of_asset))
        .layer(from_fn_with_state(shared.limits.upload, whole))
        .with_state(shared)
        .layer(DefaultBodyLimit::max(largest))
        .layer(from_fn_with_state(access, guard))
}

async fn page() -> Response {
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], PAGE).into_response()
}

async fn of_asset(Path((_, name)): Path<(String, String)>) -> Response {
    match asset(&name) {
        Some((kind, content)) => ([(header::CONTENT_TYPE, kind)], content).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// What the page begins with.
async fn start(State(shared): State<Arc<Shared>>) -> Response {
    let Opened { path, text, .. } = &shared.opened;
    let Limits { plan, runs, time, .. } = shared.limits;
    in_json(&json!({
        "version": env!("CARGO_PKG_VERSION"),
        "path": path.display().to_string(),
        "name": path.file_stem().map(|name| name.to_string_lossy()),
        "text": text,
        "limits": { "points": plan.points, "runs": runs, "seconds": time.as_secs_f64() },
        "cards": CARDS,
        "lessons": lessons(),
        "folder": shared.folder.as_ref().map(|folder| folder.path().display().to_string()),
        "parquet": PARQUET,
    }))
}

/// The networks of the examples.
async fn pictures() -> Response {
    match tokio::task::spawn_blocking(card_pictures).await {
        Ok(pictures) => in_json(pictures),
        Err(_) => (StatusCode::INTERNAL_SERVER_ERROR, "the examples cannot be drawn\n").into_response(),
    }
}

async fn schema() -> Response {
    in_json(&json_schema())
}

async fn check(State(shared): State<Arc<Shared>>, body: Bytes) -> Response {
    let draft: Draft = match parsed(&body) {
        Ok(draft) => draft,
        Err(response) => return *response,
    };
    let Ok(turn) = Arc::clone(&shared.checks).acquire_owned().await else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let stop = Stop::default();
    // A page that types on does not wait for this answer any more.
    let _gone = StopWhenGone(stop.clone());
    let work = move || {
        let _turn = turn;
        serde_json::to_value(draft.checked(&shared.opened, shared.limits.plan, &stop).0)
    };
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(checked)) => in_json(&checked),
        _ => (StatusCode::INTERNAL_SERVER_ERROR, "the check of this scenario failed\n").into_response(),
    }
}

/// Ends what is done for a client when it has gone.
struct StopWhenGone(Stop);

impl Drop for StopWhenGone {
    fn drop(&mut self) {
        self.0.request();
    }
}

/// The text of a scenario with what the page changes: swept pins and the number of seeds.
async fn text(State(shared): State<Arc<Shared>>, body: Bytes) -> Response {
    match parsed::<Draft>(&body) {
        Ok(draft) => draft
            .changed(&shared.opened)
            .map_or_else(|problem| (StatusCode::UNPROCESSABLE_ENTITY, format!("{problem}\n")).into_response(), in_text),
        Err(response) => *response,
    }
}

async fn begin(State(shared): State<Arc<Shared>>, body: Bytes) -> Response {
    match parsed(&body) {
        Ok(request) => run::begin(&shared, request),
        Err(response) => *response,
    }
}

/// The runs of this server that go on.
async fn runs(State(shared): State<Arc<Shared>>) -> Response {
    in_json(&json!(shared.jobs.list()))
}

/// The lines of runs, from their begin on.
async fn follow(State(shared): State<Arc<Shared>>, Path((_, number)): Path<(String, String)>) -> Response {
    match number.parse().ok().and_then(|number| shared.jobs.find(number)) {
        Some(job) => job.follow(),
        None => (StatusCode::NOT_FOUND, "these runs are not known any more\n").into_response(),
    }
}

async fn cancel(State(shared): State<Arc<Shared>>, Path((_, number)): Path<(String, String)>) -> Response {
    match number.parse().ok().and_then(|number| shared.jobs.find(number)) {
        Some(job) => {
            job.stop_because("cancelled".to_owned());
            StatusCode::NO_CONTENT.into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// What the kernel's connections do, as long as the page listens.
async fn live(State(shared): State<Arc<Shared>>) -> Response {
    shared.live.follow()
}

async fn results(
    State(shared): State<Arc<Shared>>,
    Path((_, number, file)): Path<(String, String, String)>,
) -> Response {
    let Some(finished) = number.parse().ok().and_then(|number| shared.find(number)) else {
        return (StatusCode::NOT_FOUND, "these results are not kept any more: run the scenario again\n")
            .into_response();
    };
    let made = tokio::task::spawn_blocking(move || finished.file(&file)).await;
    match made {
        Ok(Some(response)) => response,
        Ok(None) => StatusCode::NOT_FOUND.into_response(),
        Err(_) => (StatusCode::INTERNAL_SERVER_ERROR, "the report could not be made\n").into_response(),
    }
}
