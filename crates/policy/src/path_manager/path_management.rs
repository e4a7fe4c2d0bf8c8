//! All path managers as one type, with static dispatch. A new one is one file and its type in the list in `mod.rs`.

use super::*;
use crate::catalogue::{catalogue, dispatch};
use crate::custom::{CustomPathManager, FlowEnd};

path_managers! { catalogue!
    /// One of the path managers, chosen by name.
    PathManagement
}

// Every method goes to every path manager: one that overrides a default of the trait is asked.
impl PathManager for PathManagement {
    fn on_event(&mut self, event: &Event, commands: &mut Vec<Command>) {
        path_managers!(dispatch! self, manager => manager.on_event(event, commands))
    }

    fn begin(&mut self, end: FlowEnd) {
        path_managers!(dispatch! self, manager => manager.begin(end))
    }
}

/// `default`.
impl Default for PathManagement {
    fn default() -> Self {
        Self::Passive(Passive)
    }
}
