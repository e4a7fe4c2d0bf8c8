//! The paths of a running proxy, which follow their interfaces.

use std::time::Duration;

use subflow_tokio::Stack;

use crate::error::{Error, Result};
use crate::machine::{Changes, Family, Interface, PathPlan};

/// Changes of interfaces come in groups: the paths are looked at this long after the first.
const SETTLE: Duration = Duration::from_millis(200);
/// Time until the next try where the interfaces cannot be looked at.
const RETRY: Duration = Duration::from_secs(1);

/// The paths, with the state of their interfaces.
#[derive(Debug)]
pub(crate) struct Paths {
    plans: Vec<PathPlan>,
    /// `None` if there is no such interface, or it was not looked at yet.
    states: Vec<Option<Interface>>,
}

impl Paths {
    pub(crate) fn new(plans: Vec<PathPlan>) -> Self {
        let states = vec![None; plans.len()];
        Self { plans, states }
    }

    /// Adapts routes, and the addresses of the stack, to the interfaces.
    pub(crate) fn update(&mut self, stack: &Stack, report: &impl Fn(&str)) -> Result<()> {
        for (plan, before) in self.plans.iter().zip(&mut self.states) {
            let now = Interface::read(&plan.interface)?;
            if now != *before {
                adapt(plan, before.as_ref(), now.as_ref());
                *before = now;
            }
            for family in Family::BOTH {
                let Some(address) = plan.address(family) else { continue };
                let up = before.as_ref().is_some_and(|state| state.carries(family));
                if stack.is_address_up(address) != up {
                    stack.set_address_up(address, up);
                    let verb = if up { "carries" } else { "does not carry" };
                    report(&format!("{} {verb} IPv{}", plan.interface, if family == Family::V4 { 4 } else { 6 }));
                }
            }
        }
        Ok(())
    }

    /// Follows the interfaces until none is left.
    pub(crate) async fn follow(&mut self, changes: &Changes, stack: &Stack, report: &impl Fn(&str)) -> Result<()> {
        while self.states.iter().any(Option::is_some) {
            let failed = |error| Error::Failed(format!("cannot follow the interfaces: {error}"));
            changes.next().await.map_err(failed)?;
            tokio::time::sleep(SETTLE).await;
            let mut has_failed = false;
            // Descriptors or memory may be short for a while: connections must not end with that.
            while let Err(error) = self.update(stack, report) {
                if !has_failed {
                    report(&format!("cannot look at the interfaces: {error}; it is tried again each second"));
                }
                has_failed = true;
                tokio::time::sleep(RETRY).await;
            }
        }
        Err(Error::bad_input("no interface of --via exists any more", "start again when there is one"))
    }
}

/// Puts the routes of `now` in place of those of `before`. A step may fail if the interface is changing: then another
/// change follows.
fn adapt(plan: &PathPlan, before: Option<&Interface>, now: Option<&Interface>) {
    let removed = before.map_or_else(Vec::new, |before| plan.without_routes(before));
    let added = now.map_or_else(Vec::new, |now| [plan.forwarding(), plan.routes(now)].concat());
    for step in removed.into_iter().chain(added) {
        let _ = step.apply();
    }
}
