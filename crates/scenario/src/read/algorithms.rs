//! `congestion = …`, `scheduler = …`, `path_manager = …`, `bottleneck = …`: a name, or a table with a name and options.

use subflow_policy::bottleneck::BottleneckDetection;
use subflow_policy::catalogue::{Catalogue, Conflict, Value as OptionValue};
use subflow_policy::congestion::Algorithm;
use subflow_policy::path_manager::PathManagement;
use subflow_policy::scheduler::{Scheduler, Scheduling};
use subflow_transport::mptcp::Bottleneck;

use crate::CustomAlgorithms;
use crate::file::{Field, Problem, Section, Value, list};
use crate::options::{self, OfPlace};
use crate::schema::{self, COUPLINGS, Coupling};
use crate::table::TableSchema;

/// The congestion control of a flow.
pub(super) fn congestion(
    section: &Section<'_>,
    default: &Algorithm,
    custom: &CustomAlgorithms,
) -> Result<Algorithm, Problem> {
    let what = section.kind("congestion");
    let Some(field) = section.given("congestion") else { return Ok(default.clone()) };
    algorithm(&field, &what, &custom.congestion, (&schema::CONGESTION, "name"))
}

/// The packet scheduler of a flow.
pub(super) fn scheduler(
    section: &Section<'_>,
    default: &Scheduling,
    custom: &CustomAlgorithms,
) -> Result<Scheduling, Problem> {
    let Some(field) = section.given("scheduler") else { return Ok(default.clone()) };
    algorithm(&field, "the name of a packet scheduler", &custom.schedulers, (&schema::SCHEDULER, "name"))
}

/// The path manager of a flow whose connections have at most `most` subflows, over so many disjoint `paths`.
pub(super) fn path_manager(
    section: &Section<'_>,
    default: &PathManagement,
    custom: &CustomAlgorithms,
    most: usize,
    paths: &dyn Fn() -> usize,
) -> Result<PathManagement, Problem> {
    let Some(field) = section.given("path_manager") else { return Ok(default.clone()) };
    let what = "the name of a path manager";
    if !matches!(field.value(), Value::Table(_)) {
        return named(&field, what, &custom.path_managers);
    }
    let section = field.section(&schema::PATH_MANAGER)?;
    let number = |field: &Field<'_>| match field.string("a number, or \"disjoint-paths\"")? {
        "disjoint-paths" => Ok(OptionValue::Integer(paths().min(most) as u64)),
        _ => Err(field.expected("a whole number, or \"disjoint-paths\"")),
    };
    let manager = in_section(&section, &section.required("name")?, what, &custom.path_managers, &number)?;
    for key in ["subflows_per_pair", "n"] {
        if let Some(field) = section.given(key)
            && matches!(field.value(), Value::Integer(count) if usize::try_from(*count).is_ok_and(|n| n > most))
        {
            return Err(field.expected(&format!("at most {most}, the limit of mptcp.max_subflows")));
        }
    }
    Ok(manager)
}

/// The detector of a flow: the named one, or the one that `scheduler` or the coupling requires.
pub(super) fn bottleneck(section: &Section<'_>, scheduler: &Scheduling) -> Result<Option<Bottleneck>, Problem> {
    let coupling = section.value("coupling").choice("a coupling", &COUPLINGS)?;
    let table: (&'static TableSchema, _) = (&schema::BOTTLENECK, "detector");
    let field = section.given("bottleneck");
    let detection = match &field {
        Some(field) => algorithm(field, "the name of a shared-bottleneck detector", &[], table)?,
        None if scheduler.goes_by_correlations() => BottleneckDetection::RedCpi(Default::default()),
        None if coupling == Coupling::SharedBottleneck => BottleneckDetection::Rfc8382(Default::default()),
        None => return Ok(None),
    };
    let regroup = match &field {
        Some(field) if matches!(field.value(), Value::Table(_)) => field.section(table.0)?.value("regroup"),
        _ => Field::default_of(table.0, "regroup"),
    };
    let regroup = regroup.positive_duration()?;
    Ok(Some(Bottleneck { detection, regroup: (coupling == Coupling::SharedBottleneck).then_some(regroup) }))
}

/// An algorithm by name, or by a table with its name and options. It is one of `custom`, or of the catalogue.
fn algorithm<A: Catalogue>(
    field: &Field<'_>,
    what: &str,
    custom: &[A],
    (table, name_key): (&'static TableSchema, &'static str),
) -> Result<A, Problem> {
    if !matches!(field.value(), Value::Table(_)) {
        return named(field, what, custom);
    }
    let section = field.section(table)?;
    in_section(&section, &section.required(name_key)?, what, custom, &options::of_no_place)
}

/// The algorithm that `name` names, with the options that the section gives.
pub(super) fn in_section<A: Catalogue>(
    section: &Section<'_>,
    name: &Field<'_>,
    what: &str,
    custom: &[A],
    of_place: OfPlace<'_>,
) -> Result<A, Problem> {
    let mut algorithm = named(name, what, custom)?;
    let own = algorithm.options();
    refuse_others(section, algorithm.name(), &own.iter().map(|option| option.key).collect::<Vec<_>>())?;
    for option in &own {
        let given = match option.is_required {
            true => Some(section.required(option.key)?),
            false => section.given(option.key),
        };
        if let Some(field) = given {
            let value = options::parse(&field, &option.domain, of_place)?;
            algorithm = algorithm.with(option.key, value).map_err(|refused| field.problem(refused))?;
        }
    }
    let conflict = algorithm.configurable().and_then(|options| options.conflict());
    match conflict {
        Some(conflict) => Err(conflicting(section, &algorithm, &conflict)),
        None => Ok(algorithm),
    }
}

fn named<A: Catalogue>(field: &Field<'_>, what: &str, custom: &[A]) -> Result<A, Problem> {
    let name = field.string(what)?;
    let own = custom.iter().find(|custom| custom.name() == name).cloned();
    own.or_else(|| A::from_name(name)).ok_or_else(|| {
        let names = A::ALL.iter().map(|entry| entry.name).chain(custom.iter().map(A::name));
        field.unknown_name(name, what, names)
    })
}

/// Rejects options of algorithms other than the named one.
fn refuse_others(section: &Section<'_>, name: &str, own: &[&str]) -> Result<(), Problem> {
    let mut others = section.keys().filter(|field| !field.algorithms.is_empty() && !own.contains(&field.key));
    let Some(other) = others.next() else { return Ok(()) };
    let stray = section.required(other.key)?;
    let owners = list(other.algorithms.iter().copied());
    let help = match own {
        [] => format!("{name} takes no options"),
        own => format!("{name} takes {}", list(own.iter().copied())),
    };
    Err(stray.problem(format!("{name} has no such option")).label(format!("an option of {owners}")).help(help))
}

/// The problem of an option that does not go with the others. It may be a default.
pub(super) fn conflicting<A: Catalogue>(section: &Section<'_>, algorithm: &A, conflict: &Conflict) -> Problem {
    let Conflict { key, expected } = conflict;
    match section.given(key) {
        Some(given) => given.expected(expected),
        None => {
            let value = algorithm.options().into_iter().find(|option| option.key == *key).map(|option| option.value);
            let value = value.map_or_else(String::new, |value| value.to_string());
            section.field().problem(format!("{key} is {value}, expected {expected}"))
        }
    }
}
