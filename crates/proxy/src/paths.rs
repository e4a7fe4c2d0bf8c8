//! The paths of a running proxy, which follow their interfaces.

use std::time::Duration;

use subflow_tokio::Stack;

use crate::error::{Error, Result};
use crate::machine::{Changes, Family, Firewall, Interface, Journal, PathPlan};

/// Changes of interfaces come in groups: the paths are looked at this long after the first.
const SETTLE: Duration = Duration::from_millis(200);
/// Time until the next try where the interfaces cannot be looked at.
const RETRY: Duration = Duration::from_secs(1);

/// The paths of a proxy.
#[derive(Debug)]
pub(crate) struct Paths {
    paths: Vec<Followed>,
    firewall: Firewall,
}

/// A path, with the state of its interface.
#[derive(Debug)]
struct Followed {
    plan: PathPlan,
    /// `None` if there is no such interface, or it was not looked at yet.
    state: Option<Interface>,
    /// The index of the interface from which packets are let in. One that has another name now is not the path's any
    /// more, and one that has its name need not be the one before.
    opened: Option<u32>,
    /// Whether it was reported that packets of each family reach a few networks only.
    confined: [bool; 2],
}

impl Followed {
    /// Lets packets in from the interface that has this index now, and from no other.
    fn reopen(&mut self, index: Option<u32>, firewall: Firewall, journal: &mut Journal) -> Result<()> {
        if self.opened == index {
            return Ok(());
        }
        if let Some(before) = self.opened {
            journal.close_interface(before)?;
            self.opened = None;
            for step in self.plan.emptied() {
                let _ = step.apply();
            }
            self.state = None;
        }
        let Some(index) = index else { return Ok(()) };
        let mut plan = self.plan.clone();
        journal.beside_others(|journal, claims| {
            let changes = plan.reopen(firewall, journal.number(), index, claims);
            journal.apply_all([changes, plan.opening()].concat())
        })?;
        self.plan = plan;
        self.opened = Some(index);
        Ok(())
    }
}

impl Paths {
    /// The paths of these plans, which were carried out with interfaces in these states.
    pub(crate) fn new(plans: Vec<PathPlan>, states: &[Interface], firewall: Firewall) -> Self {
        let paths = plans.into_iter().zip(states);
        let followed = |(plan, state): (_, &Interface)| Followed {
            plan,
            state: None,
            opened: Some(state.index),
            confined: [false; 2],
        };
        Self { paths: paths.map(followed).collect(), firewall }
    }

    /// The interfaces with their devices and addresses.
    pub(crate) fn plans(&self) -> impl Iterator<Item = &PathPlan> {
        self.paths.iter().map(|path| &path.plan)
    }

    /// Adapts routes, forwarding, and the addresses of the stack, to the interfaces.
    pub(crate) fn update(&mut self, stack: &Stack, journal: &mut Journal, report: &impl Fn(&str)) -> Result<()> {
        for path in &mut self.paths {
            let now = Interface::read(&path.plan.interface)?;
            path.reopen(now.as_ref().map(|now| now.index), self.firewall, journal)?;
            let Followed { plan, state, confined, .. } = path;
            if now != *state {
                adapt(plan, state.as_ref(), now.as_ref());
                *state = now;
            }
            for family in Family::BOTH {
                let Some(address) = plan.address(family) else { continue };
                let up = state.as_ref().is_some_and(|state| state.carries(family));
                let version = if family == Family::V4 { 4 } else { 6 };
                if stack.is_address_up(address) != up {
                    stack.set_address_up(address, up);
                    let verb = if up { "carries" } else { "does not carry" };
                    report(&format!("{} {verb} IPv{version}", plan.interface));
                }
                let is_confined = state.as_ref().is_some_and(|state| state.is_confined(family));
                if core::mem::replace(&mut confined[family as usize], is_confined) != is_confined && up {
                    let reach = match is_confined {
                        true => "has no default route: it reaches only the networks of its routes",
                        false => "has a default route",
                    };
                    report(&format!("{} {reach} (IPv{version})", plan.interface));
                }
            }
        }
        Ok(())
    }

    /// Follows the interfaces until none is left.
    pub(crate) async fn follow(
        &mut self,
        changes: &Changes,
        stack: &Stack,
        journal: &mut Journal,
        report: &impl Fn(&str),
    ) -> Result<()> {
        while self.paths.iter().any(|path| path.state.is_some()) {
            changes.next().await.map_err(|error| Error::system("follow the interfaces", error))?;
            tokio::time::sleep(SETTLE).await;
            let mut has_failed = false;
            // Descriptors or memory may be short for a while: connections must not end with that.
            while let Err(error) = self.update(stack, journal, report) {
                if !has_failed {
                    report(&format!("cannot read the interfaces: {error}; retrying every second"));
                }
                has_failed = true;
                tokio::time::sleep(RETRY).await;
            }
        }
        Err(Error::machine("no interface of --via exists any more", "start the proxy again when there is one"))
    }
}

/// Puts the routes of `now` in place of those of `before`. A step may fail if the interface is changing: then another
/// change follows.
fn adapt(plan: &PathPlan, before: Option<&Interface>, now: Option<&Interface>) {
    let removed = before.map_or_else(Vec::new, |before| plan.without_routes(before));
    let added = now.map_or_else(Vec::new, |now| plan.routes(now));
    for step in removed.into_iter().chain(added) {
        let _ = step.apply();
    }
}
