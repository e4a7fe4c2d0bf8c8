//! What the path manager is told, one event after another.

use std::collections::VecDeque;

use subflow_policy::path_manager::{Command, Event, PathManagement, PathManager};

/// The path manager, and the events that it has not yet processed. A command may cause further events. They are processed
/// afterwards: the number of addresses that the peer announces determines how many attempts follow each other, so
/// recursion would have no bound.
#[derive(Clone, Debug)]
pub(super) struct PathEvents {
    manager: PathManagement,
    waiting: VecDeque<Event>,
    is_processing: bool,
}

impl PathEvents {
    pub(super) fn new(manager: PathManagement) -> Self {
        Self { manager, waiting: VecDeque::new(), is_processing: false }
    }

    /// Adds an event. Returns whether the caller has to process what waits, with [`next`](Self::next) until there is no
    /// more; otherwise a caller further up does.
    pub(super) fn add(&mut self, event: Event) -> bool {
        self.waiting.push_back(event);
        !core::mem::replace(&mut self.is_processing, true)
    }

    /// Passes the next event to the path manager, which appends its commands. Returns whether there was one.
    pub(super) fn next(&mut self, commands: &mut Vec<Command>) -> bool {
        match self.waiting.pop_front() {
            Some(event) => self.manager.on_event(&event, commands),
            None => self.is_processing = false,
        }
        self.is_processing
    }
}
