//! A simulation in a thread of its own, for Python.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};
use std::thread::JoinHandle;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use subflow_lab::results::FlowResult;
use subflow_lab::simulate::{ExchangeClock, RunOptions};
use subflow_lab::{RunError as LabRunError, Stop};
use subflow_quantity::{Duration, Instant};
use subflow_scenario::sweep::{Parameters, Plan};
use subflow_scenario::{Protocol, Scenario as OneScenario, Traffic};

use super::congestion_agent::CongestionAgent;
use super::port::{Abandoned, AgentSide, Message, Port, State};
use super::scheduler_agent::SchedulerAgent;
use crate::algorithms::{Failures, simulate_with_python};
use crate::error::{failed, not_valid, refused};
use crate::scenario::Scenario;

/// The name of the algorithm that asks.
const AGENT: &str = "gymnasium-agent";

/// A run that waits at each decision of one flow's sender. It has a thread, which ends with the run or with ``close``.
#[pyclass(module = "subflow._native")]
pub(crate) struct Simulation {
    index: usize,
    /// The flow's name.
    #[pyo3(get)]
    flow: String,
    /// Simulated time at which the flow begins.
    #[pyo3(get)]
    start_s: f64,
    duration_s: f64,
    /// Whether the flow exchanges requests and responses, and whether it completes if all its data arrives.
    #[pyo3(get)]
    exchanges: bool,
    #[pyo3(get)]
    completes: bool,
    exchange_clock: Arc<ExchangeClock>,
    running: Option<Running>,
    result: Option<FlowResult>,
}

struct Running {
    agent: AgentSide,
    stop: Stop,
    failures: Arc<Failures>,
    thread: JoinHandle<()>,
}

/// What the agent sees. Rows are subflows or paths; numbers are in seconds, segments and bytes.
#[pyclass(module = "subflow._native", frozen, get_all)]
pub(crate) struct Decision {
    /// Simulated time.
    now: f64,
    /// The path that the decision is about; 0 for a scheduler.
    path: usize,
    /// A scheduler's: established, eligible, srtt, cwnd, in_flight, queued_bytes. A congestion control's: established,
    /// srtt, min_rtt, cwnd, ssthresh.
    rows: Vec<Vec<f64>>,
    /// A scheduler's: backlog, window, acknowledged. A congestion control's: delivered, losses, elapsed.
    totals: Vec<f64>,
}

#[pymethods]
impl Simulation {
    /// Begins the run of the only point of `scenario` with `seed`. `kind` is `scheduler` or `congestion`.
    #[new]
    fn new(py: Python<'_>, scenario: &Scenario, kind: &str, flow: Option<&str>, seed: u64) -> PyResult<Self> {
        let point = only_point(py, scenario)?;
        let index = flow_of(&point, flow, kind)?;
        let flow = point.flows[index].name.clone();
        let (port, agent) = Port::new();
        let mut document = scenario.document().clone();
        let added = match kind {
            "scheduler" => document.custom.scheduler(AGENT, SchedulerAgent::new(port.clone())),
            _ => document.custom.congestion(AGENT, CongestionAgent::new(port.clone())),
        };
        added.map_err(|problem| refused(py, problem))?;
        let set = document.set("overrides", &format!("flows.{flow}.{kind}=\"{AGENT}\""));
        set.map_err(|problem| refused(py, problem))?;
        let plan = py.detach(|| Plan::read(document)).map_err(|problems| not_valid(py, &problems))?;
        let scenario = Arc::clone(&plan.points[0].scenario);
        let (start_s, duration_s) = (scenario.flows[index].start.as_secs_f64(), scenario.duration.as_secs_f64());
        let (exchanges, completes) = match &scenario.flows[index].traffic {
            Traffic::RequestResponse { count, .. } => (true, count.is_some()),
            Traffic::Video(video) => (true, video.chunks().is_some()),
            // The agent's reward follows one clock of exchanges, which come one after the other.
            Traffic::Exchanges(_) | Traffic::Streams(_) => (false, true),
            Traffic::Bulk { bytes } => (false, bytes.is_some()),
            Traffic::OnOff { .. } => (false, false),
        };
        let (stop, failures) = (Stop::default(), Arc::new(Failures::default()));
        let exchange_clock = Arc::new(ExchangeClock::default());
        let options = RunOptions {
            stop: Some(stop.clone()),
            exchange_clock: Some((index, Arc::clone(&exchange_clock))),
            ..RunOptions::default()
        };
        let seen = Arc::clone(&failures);
        let thread = std::thread::Builder::new()
            .name("subflow-simulation".to_owned())
            .spawn(move || run(&port, &scenario, seed, &options, &seen))?;
        let running = Some(Running { agent, stop, failures, thread });
        Ok(Self { index, flow, start_s, duration_s, exchanges, completes, exchange_clock, running, result: None })
    }

    /// Waits for the next decision; `None` after the end of the run.
    fn decision(&mut self, py: Python<'_>) -> PyResult<Option<Decision>> {
        let Some(running) = &mut self.running else { return Ok(None) };
        let states = running.agent.states.get_mut().unwrap_or_else(PoisonError::into_inner);
        let outcome = match py.detach(move || states.recv()) {
            Ok(Message::Asked(state)) => return Ok(Some(Decision::from(*state))),
            Ok(Message::Ended(outcome)) => *outcome,
            Err(_) => return Err(PyRuntimeError::new_err("internal error: the simulation ended in a panic")),
        };
        let failures = Arc::clone(&running.failures);
        self.close(py);
        let mut result = outcome.map_err(|error| failed(py, &error, failures.cause_of(&error)))?;
        self.result = Some(result.flows.swap_remove(self.index));
        Ok(None)
    }

    /// Answers the decision.
    fn act(&self, action: f64) -> PyResult<()> {
        let running = self.running.as_ref();
        let sent = running.and_then(|running| running.agent.actions.send(action).ok());
        sent.ok_or_else(|| PyRuntimeError::new_err("the run has ended, expected reset() before the next step()"))
    }

    /// Ends the run and waits for the end of its thread.
    fn close(&mut self, py: Python<'_>) {
        let Some(Running { agent, stop, thread, .. }) = self.running.take() else { return };
        stop.request();
        drop(agent);
        // Whatever its end was, it is the end.
        let _ = py.detach(move || thread.join());
    }

    /// Seconds to the last byte of the flow, after the end of the run.
    #[getter]
    fn completion_s(&self) -> Option<f64> {
        self.result.as_ref().and_then(|result| result.completion_s)
    }

    /// Simulated time at which the flow was complete, or the run ended.
    #[getter]
    fn end_s(&self) -> f64 {
        let complete = self.completion_s().map(|completion| self.start_s + completion);
        complete.unwrap_or(self.duration_s)
    }

    /// Mean time of a request and its response in milliseconds, after the end of the run.
    #[getter]
    fn exchange_mean_ms(&self) -> Option<f64> {
        self.result.as_ref()?.exchanges.as_ref()?.mean_ms
    }

    /// Median of the time of a request and its response in milliseconds, after the end of the run.
    #[getter]
    fn exchange_median_ms(&self) -> Option<f64> {
        self.result.as_ref()?.exchanges.as_ref()?.median_ms
    }

    /// 95th percentile of it.
    #[getter]
    fn exchange_p95_ms(&self) -> Option<f64> {
        self.result.as_ref()?.exchanges.as_ref()?.p95_ms
    }

    /// Seconds for which requests of the flow have waited for their responses until `now`, in simulated time.
    fn waited_s(&self, now: f64) -> f64 {
        self.exchange_clock.waited(Instant::ZERO + Duration::from_secs_f64(now)).as_secs_f64()
    }

    /// Bytes that the receiving application has read, after the end of the run.
    #[getter]
    fn bytes_delivered(&self) -> u64 {
        self.result.as_ref().map_or(0, |result| result.bytes_delivered)
    }

    /// Goodput of the flow in Mbit/s, after the end of the run.
    #[getter]
    fn goodput_mbps(&self) -> Option<f64> {
        self.result.as_ref().map(|result| result.goodput_mbps)
    }
}

impl Drop for Simulation {
    fn drop(&mut self) {
        // The thread may need the interpreter for its other algorithms: it is not to be waited for with it.
        Python::attach(|py| self.close(py));
    }
}

/// The body of the thread.
fn run(port: &Port, scenario: &OneScenario, seed: u64, options: &RunOptions, failures: &Failures) {
    let simulate = || simulate_with_python(scenario, seed, options, failures);
    let outcome = match catch_unwind(AssertUnwindSafe(simulate)) {
        Err(panic) if panic.is::<Abandoned>() => return,
        Err(_) => Err(LabRunError::Defect("the simulation panicked".to_owned())),
        Ok(outcome) => outcome,
    };
    let named = |error| LabRunError::InRun {
        run: options.run,
        seed,
        parameters: Parameters::default(),
        error: Box::new(error),
    };
    port.end(outcome.map_err(named));
}

fn only_point(py: Python<'_>, scenario: &Scenario) -> PyResult<Arc<OneScenario>> {
    let plan = scenario.plan(py, scenario.document().clone())?;
    match &plan.points[..] {
        [point] => Ok(Arc::clone(&point.scenario)),
        points => Err(PyValueError::new_err(format!(
            "scenario: found a sweep of {} points, expected one; choose one with with_overrides",
            points.len()
        ))),
    }
}

/// The index of the flow that the agent serves: `wanted`, or the first one that it can serve.
fn flow_of(scenario: &OneScenario, wanted: Option<&str>, kind: &str) -> PyResult<usize> {
    let serves = |protocol: &Protocol| match protocol {
        Protocol::Mptcp(_) => true,
        Protocol::Sctp(sctp) => kind == "congestion" || sctp.scheduler.is_some(),
        Protocol::Tcp(_) | Protocol::Quic(_) => kind == "congestion",
        Protocol::Udp => false,
    };
    let flows = || scenario.flows.iter().enumerate().filter(|(_, flow)| serves(&flow.protocol));
    let found = flows().find(|(_, flow)| wanted.is_none_or(|wanted| flow.name == wanted));
    found.map(|(index, _)| index).ok_or_else(|| {
        let names: Vec<&str> = flows().map(|(_, flow)| flow.name.as_str()).collect();
        let found = wanted.map_or_else(|| "none".to_owned(), |wanted| format!("{wanted:?}"));
        PyValueError::new_err(format!(
            "flow: found {found}, expected a flow with a {kind} of its own; there are: [{}]",
            names.join(", ")
        ))
    })
}

impl From<State> for Decision {
    fn from(state: State) -> Self {
        let seconds = |time: Option<subflow_quantity::Duration>| time.map_or(0.0, |time| time.as_secs_f64());
        match state {
            State::Scheduler { now, subflows, eligible, backlog, window, acknowledged } => {
                let row = |(index, view): (usize, &subflow_policy::scheduler::SubflowView)| {
                    let is_eligible = f64::from(u8::from(eligible >> index & 1 == 1));
                    let (cwnd, in_flight) = (f64::from(view.cwnd), f64::from(view.in_flight));
                    let established = f64::from(u8::from(view.established));
                    vec![established, is_eligible, seconds(view.srtt), cwnd, in_flight, view.queued_bytes as f64]
                };
                let rows = subflows.iter().enumerate().map(row).collect();
                Self { now, path: 0, rows, totals: vec![backlog as f64, window as f64, acknowledged as f64] }
            }
            State::Congestion { now, path, paths, delivered, losses, elapsed } => {
                let row = |path: &subflow_policy::congestion::Path| {
                    let segments = |window: u32| f64::from(window) / f64::from(path.quantum());
                    let established = f64::from(u8::from(path.is_established()));
                    let (cwnd, ssthresh) = (segments(path.cwnd()), segments(path.ssthresh()));
                    vec![established, seconds(path.srtt()), seconds(path.min_rtt()), cwnd, ssthresh]
                };
                let delivered = delivered as f64 / f64::from(paths[path].quantum());
                let rows = paths.iter().map(row).collect();
                Self { now, path, rows, totals: vec![delivered, f64::from(losses), elapsed] }
            }
        }
    }
}
