//! What a stack of MPTCP or an endpoint of QUIC shares with its streams and its task: a state behind a lock that keeps the
//! time, and the timers of its connections, for which the task wakes up.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};

use subflow_quantity::Instant;
use subflow_transport::EndpointId;
use tokio::task::JoinHandle;
use tokio::time::Sleep;

/// A state with connections that have keys.
pub(crate) trait Driven {
    /// The time of its clock, which is brought up to date when it is locked.
    fn now(&mut self) -> &mut Instant;

    /// The timers of its connections.
    fn timers(&mut self) -> &mut Timers;

    /// The timer of this connection has expired.
    fn handle_timer(&mut self, key: usize);
}

/// A state that several tasks share.
#[derive(Debug)]
pub(crate) struct Shared<S> {
    state: Mutex<S>,
    start: tokio::time::Instant,
}

impl<S: Driven> Shared<S> {
    pub(crate) fn new(state: S) -> Self {
        Self { state: Mutex::new(state), start: tokio::time::Instant::now() }
    }

    /// Locks the state and brings its clock up to date.
    pub(crate) fn lock(&self) -> MutexGuard<'_, S> {
        // After a panic the state may be inconsistent, but a stream that is dropped must not panic again.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = state.now();
        *now = (*now).max(Instant::from_nanos(self.start.elapsed().as_nanos() as u64));
        state
    }

    /// What a task waits with.
    pub(crate) fn sleep(&self) -> Pin<Box<Sleep>> {
        Box::pin(tokio::time::sleep_until(self.start))
    }

    /// Handles the timers that have expired, each time after `work`, until `sleep` wakes the task up for the next one.
    pub(crate) fn poll_timers(
        &self,
        sleep: &mut Pin<Box<Sleep>>,
        context: &mut Context<'_>,
        mut work: impl FnMut(&mut S, &mut Context<'_>),
    ) {
        loop {
            let next = {
                let mut state = self.lock();
                work(&mut state, context);
                let now = *state.now();
                while let Some(key) = state.timers().pop(now) {
                    state.handle_timer(key);
                }
                state.timers().wait(context)
            };
            if next == Instant::MAX {
                return;
            }
            sleep.as_mut().reset(self.start + std::time::Duration::from_nanos(next.as_nanos()));
            if sleep.as_mut().poll(context).is_pending() {
                return;
            }
        }
    }
}

/// A state with its task, which ends with it.
#[derive(Debug)]
pub(crate) struct Running<S> {
    pub(crate) shared: Arc<Shared<S>>,
    task: JoinHandle<()>,
}

impl<S> Running<S> {
    /// Starts the task, within a tokio runtime.
    pub(crate) fn new(shared: Arc<Shared<S>>, task: impl Future<Output = ()> + Send + 'static) -> Self {
        Self { shared, task: tokio::spawn(task) }
    }
}

impl<S> Drop for Running<S> {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The timers of connections, by their keys.
#[derive(Debug)]
pub(crate) struct Timers {
    all: BTreeSet<(Instant, usize)>,
    /// When the task wakes up by itself.
    armed: Instant,
    task: Option<Waker>,
}

impl Default for Timers {
    fn default() -> Self {
        Self { all: BTreeSet::new(), armed: Instant::MAX, task: None }
    }
}

impl Timers {
    /// Changes the timer of a connection, which the connection knows as `timer`.
    pub(crate) fn set(&mut self, key: usize, timer: &mut Option<Instant>, at: Option<Instant>) {
        if at == *timer {
            return;
        }
        if let Some(before) = core::mem::replace(timer, at) {
            self.all.remove(&(before, key));
        }
        if let Some(at) = at {
            self.all.insert((at, key));
            if at < self.armed {
                self.wake_task();
            }
        }
    }

    pub(crate) fn wake_task(&mut self) {
        if let Some(waker) = self.task.take() {
            waker.wake();
        }
    }

    /// A connection whose timer has expired.
    fn pop(&mut self, now: Instant) -> Option<usize> {
        let &(at, _) = self.all.first()?;
        if at > now { None } else { self.all.pop_first().map(|(_, key)| key) }
    }

    /// The task waits for the first timer, whose time is returned.
    fn wait(&mut self, context: &Context<'_>) -> Instant {
        self.armed = self.all.first().map_or(Instant::MAX, |&(at, _)| at);
        self.task = Some(context.waker().clone());
        self.armed
    }
}

/// The keys of connections by their endpoints in the host.
#[derive(Debug, Default)]
pub(crate) struct Keys(Vec<Option<usize>>);

impl Keys {
    pub(crate) fn insert(&mut self, id: EndpointId, key: usize) {
        let index = id.0 as usize;
        if self.0.len() <= index {
            self.0.resize(index + 1, None);
        }
        self.0[index] = Some(key);
    }

    pub(crate) fn of(&self, id: EndpointId) -> Option<usize> {
        self.0.get(id.0 as usize).copied().flatten()
    }

    pub(crate) fn remove(&mut self, id: EndpointId) {
        if let Some(key) = self.0.get_mut(id.0 as usize) {
            *key = None;
        }
    }
}
