//! Where a simulation and its agent meet.

use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use subflow_lab::RunError;
use subflow_lab::results::RunResult;
use subflow_policy::congestion::Path;
use subflow_policy::scheduler::SubflowView;

/// What the simulation says.
pub(super) enum Message {
    /// It waits for an action.
    Asked(Box<State>),
    /// The run has ended, and so has its thread.
    Ended(Box<Result<RunResult, RunError>>),
}

/// What the agent sees before an action.
pub(super) enum State {
    /// A scheduler chooses a subflow.
    Scheduler {
        now: f64,
        subflows: Vec<SubflowView>,
        /// Which of them may be chosen, as bits.
        eligible: u64,
        backlog: u64,
        window: u64,
        /// Bytes from the start of the stream that are acknowledged at the data level.
        acknowledged: u64,
    },
    /// A congestion control changes the window of a path.
    Congestion {
        now: f64,
        path: usize,
        paths: Vec<Path>,
        /// Amount delivered on the path since its last decision.
        delivered: u64,
        /// Losses since then.
        losses: u32,
        /// Seconds since then.
        elapsed: f64,
    },
}

/// The simulation's side. All clones are one port.
#[derive(Clone, Debug)]
pub(super) struct Port {
    states: Sender<Message>,
    actions: Arc<Mutex<Receiver<f64>>>,
}

/// The agent's side.
pub(super) struct AgentSide {
    /// Behind a lock that is never contended: classes of Python are shared between threads.
    pub(super) states: Mutex<Receiver<Message>>,
    pub(super) actions: Sender<f64>,
}

/// The payload of the unwinding that ends an abandoned simulation.
pub(super) struct Abandoned;

impl Port {
    pub(super) fn new() -> (Self, AgentSide) {
        let (states, received) = channel();
        let (actions, taken) = channel();
        let port = Self { states, actions: Arc::new(Mutex::new(taken)) };
        (port, AgentSide { states: Mutex::new(received), actions })
    }

    /// The agent's action in this state. Ends the run by unwinding if the agent is gone.
    pub(super) fn ask(&self, state: State) -> f64 {
        let sent = self.states.send(Message::Asked(Box::new(state)));
        let action = sent.ok().and_then(|()| self.actions.lock().unwrap_or_else(PoisonError::into_inner).recv().ok());
        action.unwrap_or_else(|| resume_unwind(Box::new(Abandoned)))
    }

    /// Says that the run has ended.
    pub(super) fn end(&self, outcome: Result<RunResult, RunError>) {
        // Nobody hears it only if the agent is gone.
        let _ = self.states.send(Message::Ended(Box::new(outcome)));
    }
}
