//! Runs in the background: begun by a request, followed by pages, ended by one of them or by a limit.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use axum::response::Response;
use subflow_lab::execute::{Progress, execute};
use subflow_lab::results::{Experiment, FlowResult, Run};
use subflow_lab::simulate::RunOptions;
use subflow_scenario::sweep::Plan;
use tokio::sync::OwnedSemaphorePermit;

use crate::jobs::Job;
use crate::kept::{Finished, Shared};
use crate::limits::{LOOK, Limits, watch};
use crate::lines::{Headline, Line};
use crate::variants::{Answer, Request, add_differences, is_counterpart, name_of_point};

/// Begins runs. The answer has a line for each event, the last one with the number of the results or with an error. The
/// runs go on for a while when nobody reads it.
pub(crate) fn begin(shared: &Arc<Shared>, request: Request) -> Response {
    let job = shared.jobs.add();
    let response = job.follow();
    let shared = Arc::clone(shared);
    tokio::spawn(async move {
        let limits = shared.limits;
        // A check does not wait for runs that go on.
        let Ok(turn) = Arc::clone(&shared.checks).acquire_owned().await else { return };
        let checked = watched(limits, &job, checked(turn, &shared, request, &job)).await;
        let Some((request, plan)) = checked else { return };
        let turn = loop {
            if !is_wanted(&job, limits.absence).await {
                return job.end(&Line::Error(job.reason().unwrap_or("nobody waited for these runs")));
            }
            let Ok(turn) = Arc::clone(&shared.turns).acquire_owned().await else { return };
            // It may have been left while it waited for its turn, which goes to another one then.
            if !job.is_left() && !job.stop().is_requested() {
                break turn;
            }
        };
        let of_job = Arc::clone(&job);
        let work = move || {
            let _turn = turn;
            run(&shared, request, plan, &of_job);
        };
        // It tells its errors itself; what is left is that of a server that ends.
        let _ = watched(limits, &job, tokio::task::spawn_blocking(work)).await;
    });
    response
}

/// Whether somebody follows a job that has not begun. A page that is loaded again comes back within `absence`.
async fn is_wanted(job: &Job, absence: Duration) -> bool {
    let mut absent = Duration::ZERO;
    while job.is_left() && !job.stop().is_requested() && absent < absence {
        tokio::time::sleep(LOOK).await;
        absent += LOOK;
    }
    !job.is_left() && !job.stop().is_requested()
}

/// Does `work` of a job, which is stopped when it takes more than it may.
async fn watched<T>(limits: Limits, job: &Arc<Job>, work: impl Future<Output = T>) -> T {
    let of_job = Arc::clone(job);
    let watching = tokio::spawn(async move { watch(limits, &of_job).await });
    let done = work.await;
    watching.abort();
    done
}

/// Checks a request. What it finds is told to who follows the job; the runs are returned, if there are some.
async fn checked(
    turn: OwnedSemaphorePermit,
    shared: &Arc<Shared>,
    request: Request,
    job: &Arc<Job>,
) -> Option<(Request, Plan)> {
    let (shared, of_job) = (Arc::clone(shared), Arc::clone(job));
    let work = move || {
        let _turn = turn;
        let refuse = |line: &Line<'_>| {
            of_job.end(line);
            None
        };
        let answer = request.checked(&shared.opened, shared.limits.plan, of_job.stop());
        if of_job.stop().is_requested() {
            return refuse(&Line::Error(of_job.reason().unwrap_or("the check was stopped")));
        }
        let plan = match answer {
            Answer::Runs(checked, plan) => {
                of_job.check(&checked);
                plan
            }
            Answer::Problems(checked) => return refuse(&Line::Checked(&checked)),
            Answer::Other(variant, checked) => return refuse(&Line::Refused { variant, checked: &checked }),
            Answer::Pair(message) => return refuse(&Line::Error(&message)),
        };
        let (runs, most) = (plan.jobs().len(), shared.limits.runs);
        if runs > most {
            let message = format!("{runs} runs, expected at most {most} here: lower repeat, or use `subflow run`");
            return refuse(&Line::Error(&message));
        }
        Some((request, *plan))
    };
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| {
        job.end(&Line::Error("internal error: the check of this scenario failed"));
        None
    })
}

/// Does all runs and tells what becomes of them.
fn run(shared: &Shared, request: Request, plan: Plan, job: &Job) {
    let error = |message: &str| job.end(&Line::Error(message));
    let runs = plan.jobs().len();
    job.start(&plan.points[0].scenario.title, runs);
    let options = RunOptions { series: true, stop: Some(job.stop().clone()), ..RunOptions::default() };
    let progress = |Progress { done, .. }| job.advance(done);
    let finished = catch_unwind(AssertUnwindSafe(|| execute(&plan, 0, &options, &progress)));
    let mut experiment = match finished {
        Ok(Ok(experiment)) => experiment,
        Ok(Err(failure)) => return error(job.reason().unwrap_or(&failure.to_string())),
        Err(_) => return error("internal error: the results could not be put together"),
    };
    if request.is_pair() {
        add_differences(&mut experiment);
    }
    let cpu_s = experiment.runs.iter().map(|run| run.result.engine.cpu_s).sum();
    let flows = headlines(&experiment);
    let number = shared.keep(Finished { plan, experiment, request: Some(request) });
    job.end(&Line::Result { number, runs, cpu_s, flows });
}

/// The flows of the first point, of each variant: their mean goodput over its runs, and when they completed.
pub(crate) fn headlines(experiment: &Experiment) -> Vec<Headline> {
    let Some(first) = experiment.runs.iter().find(|run| run.point == 0) else { return Vec::new() };
    let mut points: Vec<usize> = Vec::new();
    for run in experiment.runs.iter().filter(|run| is_counterpart(&run.parameters, &first.parameters)) {
        if !points.contains(&run.point) {
            points.push(run.point);
        }
    }
    points.into_iter().flat_map(|point| headlines_of(experiment, point)).collect()
}

/// The flows of a point.
fn headlines_of(experiment: &Experiment, point: usize) -> Vec<Headline> {
    /// More are for the report.
    const MOST: usize = 4;
    let runs: Vec<&Run> = experiment.runs.iter().filter(|run| run.point == point).collect();
    let mean = |values: Vec<f64>| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    let headline = |(index, flow): (usize, &FlowResult)| {
        let flows = || runs.iter().filter_map(|run| run.result.flows.get(index));
        Headline {
            at: name_of_point(&runs[0].parameters),
            flow: flow.name.clone(),
            goodput_mbps: mean(flows().map(|flow| flow.goodput_mbps).collect()).unwrap_or_default(),
            completion_s: mean(flows().filter_map(|flow| flow.completion_s).collect()),
        }
    };
    runs[0].result.flows.iter().take(MOST).enumerate().map(headline).collect()
}
