//! A scheduler that asks an agent.

use subflow_policy::custom::FlowEnd;
use subflow_policy::scheduler::{Assignment, LowestLatency, QueueView, Scheduler, SubflowView, next_work};

use super::port::{Port, State};

/// Asks the agent for the sender of the flow's data; the other end, and a clone with which the transport asks what the
/// scheduler would do, take the lowest RTT.
#[derive(Debug)]
pub(super) struct SchedulerAgent {
    port: Port,
    role: Role,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// It waits for a connection.
    Prototype,
    /// It serves one.
    Asking,
    LowestRtt,
}

impl SchedulerAgent {
    pub(super) fn new(port: Port) -> Self {
        Self { port, role: Role::Prototype }
    }
}

impl Clone for SchedulerAgent {
    fn clone(&self) -> Self {
        let role = if self.role == Role::Asking { Role::LowestRtt } else { self.role };
        Self { port: self.port.clone(), role }
    }
}

impl Scheduler for SchedulerAgent {
    fn next(&mut self, subflows: &[SubflowView], queue: &QueueView<'_>) -> Option<Assignment> {
        if self.role == Role::LowestRtt {
            return LowestLatency.next(subflows, queue);
        }
        self.role = Role::Asking;
        let (what, eligible) = next_work(subflows, queue)?;
        let action = self.port.ask(State::Scheduler {
            now: queue.now.as_secs_f64(),
            subflows: subflows.to_vec(),
            eligible: eligible.0,
            backlog: queue.backlog,
            window: queue.window,
            acknowledged: queue.outstanding_from(0).next().map_or(queue.new_data.start, |sent| sent.range.start),
        });
        let subflow = action as usize;
        (subflow < subflows.len() && eligible.contains(subflow)).then_some(Assignment { subflow, what })
    }

    fn begin(&mut self, end: FlowEnd) {
        if !end.sends {
            self.role = Role::LowestRtt;
        }
    }
}
