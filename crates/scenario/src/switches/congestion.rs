//! The switches of a stack that its congestion controls have: their catalogue declares them.

use std::sync::LazyLock;

use subflow_policy::catalogue::Catalogue;
use subflow_policy::congestion::Algorithm;

use super::{Stack, Switch};
use crate::file::Field;
use crate::options::{Shared, literal, of_no_link, parse, shared};

static SHARED: LazyLock<Vec<Shared>> = LazyLock::new(|| shared(Algorithm::switches));

/// A row for each.
pub(super) fn rows() -> Vec<Switch<Stack>> {
    let row = |switch: &'static Shared| {
        let (schema, usual) = (switch.schema(), &switch.of[0].1.value);
        let read = |field: &Field<'_>, stack: &mut Stack| {
            stack.congestion_switches.insert(switch.key, parse(field, switch.domain(), &of_no_link)?);
            Ok(())
        };
        let value = move |stack: &Stack| literal(stack.congestion_switches.get(switch.key).unwrap_or(usual));
        Switch::new(switch.key, schema.kind, schema.doc, read, value)
    };
    SHARED.iter().map(row).collect()
}

/// The keys of the switches, each with the names of the congestion controls that have it.
pub(crate) fn readers() -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    SHARED.iter().map(|switch| (switch.key, switch.of.iter().map(|(name, _)| *name).collect()))
}

impl Stack {
    /// The prototype `algorithm` with the switches of this stack.
    pub(crate) fn switched(&self, algorithm: &Algorithm) -> Algorithm {
        let own = algorithm.switches().into_iter();
        let given = own.filter_map(|own| Some((own.key, self.congestion_switches.get(own.key)?.clone())));
        given.fold(algorithm.clone(), |algorithm, (key, value)| {
            algorithm.with(key, value).expect("it was read as a value of this switch")
        })
    }
}
