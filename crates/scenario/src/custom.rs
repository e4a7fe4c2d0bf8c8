//! Algorithms that are not in the catalogues, by the names that a scenario has for them.

use subflow_policy::catalogue::{Catalogue, Description};
use subflow_policy::congestion::Algorithm;
use subflow_policy::custom::{CustomCongestionControl, CustomPathManager, CustomQueue, CustomScheduler};
use subflow_policy::path_manager::PathManagement;
use subflow_policy::queue::Discipline;
use subflow_policy::scheduler::Scheduling;

use crate::file::{Problem, check_name};

/// Algorithms of a library user's crate. A [`Document`](crate::file::Document) with them names them like those of the
/// catalogues.
#[derive(Clone, Debug, Default)]
pub struct CustomAlgorithms {
    pub(crate) congestion: Vec<Algorithm>,
    pub(crate) schedulers: Vec<Scheduling>,
    pub(crate) path_managers: Vec<PathManagement>,
    pub(crate) queues: Vec<Discipline>,
}

impl CustomAlgorithms {
    /// Adds a congestion control, in the place of an earlier one of this name. Every connection takes a clone of
    /// `prototype`. Fails if the name is not one, or is in the catalogue.
    pub fn congestion(&mut self, name: &str, prototype: impl CustomCongestionControl + 'static) -> Result<(), Problem> {
        let prototype = Algorithm::Custom(name.into(), Box::new(prototype));
        add(&mut self.congestion, "congestion control", prototype)
    }

    /// Adds a scheduler, as [`congestion`](Self::congestion) does.
    pub fn scheduler(&mut self, name: &str, prototype: impl CustomScheduler + 'static) -> Result<(), Problem> {
        let prototype = Scheduling::Custom(name.into(), Box::new(prototype));
        add(&mut self.schedulers, "scheduler", prototype)
    }

    /// Adds a path manager, as [`congestion`](Self::congestion) does.
    pub fn path_manager(&mut self, name: &str, prototype: impl CustomPathManager + 'static) -> Result<(), Problem> {
        let prototype = PathManagement::Custom(name.into(), Box::new(prototype));
        add(&mut self.path_managers, "path manager", prototype)
    }

    /// Adds a queue discipline, as [`congestion`](Self::congestion) does. Each direction of a link that names it, as in
    /// `queue = { discipline = "NAME", limit = "100 packets" }`, takes a clone.
    pub fn queue(&mut self, name: &str, prototype: impl CustomQueue + 'static) -> Result<(), Problem> {
        let prototype = Discipline::Custom(name.into(), Box::new(prototype));
        add(&mut self.queues, "queue discipline", prototype)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.congestion.is_empty()
            && self.schedulers.is_empty()
            && self.path_managers.is_empty()
            && self.queues.is_empty()
    }
}

fn add<A: Catalogue>(prototypes: &mut Vec<A>, kind: &str, prototype: A) -> Result<(), Problem> {
    check(prototype.name(), kind, A::ALL)?;
    prototypes.retain(|known| known.name() != prototype.name());
    prototypes.push(prototype);
    Ok(())
}

/// Rejects what is no name, and the names of `catalogue`.
fn check(name: &str, kind: &str, catalogue: &[Description]) -> Result<(), Problem> {
    check_name(name, kind).map_err(|(message, help)| Problem::nowhere(message).help(help))?;
    match catalogue.iter().any(|entry| entry.is_called(name)) {
        false => Ok(()),
        true => {
            Err(Problem::nowhere(format!("found {name:?} as the name of a custom {kind}, which is a built-in one"))
                .help("choose another name: a scenario means the same thing wherever it is read"))
        }
    }
}
