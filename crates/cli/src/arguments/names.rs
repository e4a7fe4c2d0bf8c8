//! Names that shells offer for an argument, which takes any text: whoever reads it says what is wrong with a name, and
//! which one may be meant.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command};
use subflow_scenario::Description;
use subflow_scenario::schema::TABLES;

/// What stands for the names of this machine's interfaces until a shell's script is written.
pub(crate) const INTERFACES: &str = "@interfaces@";

/// The names that scenarios may give to a key of the table at this path.
pub(crate) fn of_key(path: &str, key: &str) -> &'static [Description] {
    let table = TABLES.iter().find(|table| table.path == path).expect("the schema has this table");
    table.field(key).names().expect("the schema has names for this key")
}

/// Takes any text, and offers names.
#[derive(Clone)]
pub(crate) struct Offers(fn() -> Vec<PossibleValue>);

impl TypedValueParser for Offers {
    type Value = String;

    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.0)().into_iter()))
    }
}

fn values(path: &str, key: &str, prefix: &str) -> Vec<PossibleValue> {
    let named = |entry: &Description| PossibleValue::new(format!("{prefix}{}", entry.name)).help(entry.summary);
    of_key(path, key).iter().map(named).collect()
}

/// Offers schedulers.
#[cfg(all(feature = "live", target_os = "linux"))]
pub(crate) fn schedulers() -> Offers {
    Offers(|| values("[flows.NAME]", "scheduler", ""))
}

/// Offers congestion controls.
#[cfg(all(feature = "live", target_os = "linux"))]
pub(crate) fn congestion_controls() -> Offers {
    Offers(|| values("[flows.NAME]", "congestion", ""))
}

/// Offers the congestion controls that there are programs for, by their names in scenarios.
#[cfg(all(feature = "live", target_os = "linux"))]
pub(crate) fn programs() -> Offers {
    Offers(|| subflow_linux::congestion::PROGRAMS.iter().map(|program| PossibleValue::new(program.name)).collect())
}

/// Offers path managers.
#[cfg(all(feature = "live", target_os = "linux"))]
pub(crate) fn path_managers() -> Offers {
    Offers(|| values("[flows.NAME]", "path_manager", ""))
}

/// Offers the interfaces of the machine on which a shell completes.
#[cfg(all(feature = "live", target_os = "linux"))]
pub(crate) fn interfaces() -> Offers {
    Offers(|| vec![PossibleValue::new(INTERFACES)])
}

/// Offers publications, and all of them.
#[cfg(feature = "publications")]
pub(crate) fn publications() -> Offers {
    Offers(|| {
        let papers = subflow_publications::registry().iter();
        papers
            .map(|paper| PossibleValue::new(paper.name()).help(paper.title()))
            .chain([PossibleValue::new("all")])
            .collect()
    })
}

/// Offers the profiles of stacks as settings of a scenario.
pub(crate) fn profiles() -> Offers {
    Offers(|| values("the top of the file", "profile", "profile="))
}
