//! `congestion = …`, `scheduler = …`, `path_manager = …`: a name, or a table with a name and options.

use std::num::NonZeroU8;

use subflow_policy::catalogue::Description;
use subflow_policy::congestion::{cubic, wvegas};
use subflow_policy::path_manager::{self, MAX_SUBFLOWS};
use subflow_policy::scheduler::{Options, blest};
use subflow_quantity::Ratio;

use crate::algorithm::{PathManager, Scheduler};
use crate::custom::Prototypes;
use crate::file::{Field, Problem, Section, Value, list};
use crate::{Congestion, CongestionName, CustomAlgorithms, PathManagerName, SchedulerName, schema};

/// The congestion control of a flow.
pub(super) fn congestion(
    section: &Section<'_>,
    default: &str,
    custom: &CustomAlgorithms,
) -> Result<Congestion, Problem> {
    let field = given_or(section, "congestion", default);
    let (own, what) = (&custom.congestion, section.kind("congestion"));
    let name = |field: &Field<'_>| named(field, &what, CongestionName::parse_with, own, CongestionName::catalogue);
    if !matches!(field.value(), Value::Table(_)) {
        return Ok(Congestion::new(name(&field)?));
    }
    let section = field.section(&schema::CONGESTION)?;
    let name = name(&section.required("name")?)?;
    refuse_others(&section, name.name(), name.options())?;
    let packets = |key| Ok::<_, Problem>(section.value(key).integer(1..=1000)? as u32);
    Ok(Congestion {
        name,
        cubic: cubic::Constants {
            beta: section.ratio("beta", [(1, 100), (99, 100)])?,
            c: section.ratio("c", [(1, 1000), (10, 1)])?,
            fast_convergence: section.value("fast_convergence").boolean()?,
        },
        wvegas: wvegas::Constants { alpha: packets("alpha")?, gamma: packets("gamma")? },
    })
}

/// The packet scheduler of a flow.
pub(super) fn scheduler(section: &Section<'_>, default: &str, custom: &CustomAlgorithms) -> Result<Scheduler, Problem> {
    const WHAT: &str = "the name of a packet scheduler";
    let field = given_or(section, "scheduler", default);
    let own = &custom.schedulers;
    let name = |field: &Field<'_>| named(field, WHAT, SchedulerName::parse_with, own, SchedulerName::catalogue);
    if !matches!(field.value(), Value::Table(_)) {
        return Ok(Scheduler { name: name(&field)?, options: Options::default() });
    }
    let section = field.section(&schema::SCHEDULER)?;
    let name = name(&section.required("name")?)?;
    refuse_others(&section, name.name(), name.options())?;
    let lambda = blest::Bounds {
        lambda: ratio(&section, "lambda")?,
        lambda_min: ratio(&section, "lambda_min")?,
        lambda_max: ratio(&section, "lambda_max")?,
    };
    if !(lambda.lambda_min <= lambda.lambda && lambda.lambda <= lambda.lambda_max) {
        return Err(field.problem(format!(
            "lambda is {}, expected it to be from lambda_min, {}, to lambda_max, {}",
            lambda.lambda, lambda.lambda_min, lambda.lambda_max
        )));
    }
    let oldest_first = section.value("oldest_first").boolean()?;
    Ok(Scheduler { name, options: Options { oldest_first, beta: ratio(&section, "beta")?, lambda } })
}

/// The path manager of a flow whose connections have at most `most` subflows.
pub(super) fn path_manager(
    section: &Section<'_>,
    default: &str,
    custom: &CustomAlgorithms,
    most: usize,
) -> Result<PathManager, Problem> {
    const WHAT: &str = "the name of a path manager";
    let field = given_or(section, "path_manager", default);
    let own = &custom.path_managers;
    let name = |field: &Field<'_>| named(field, WHAT, PathManagerName::parse_with, own, PathManagerName::catalogue);
    if !matches!(field.value(), Value::Table(_)) {
        return Ok(PathManager { name: name(&field)?, options: path_manager::Options::default() });
    }
    let section = field.section(&schema::PATH_MANAGER)?;
    let name = name(&section.required("name")?)?;
    refuse_others(&section, name.name(), name.options())?;
    let count = |key| subflows(&section.value(key), most);
    let options = path_manager::Options { subflows_per_pair: count("subflows_per_pair")?, n: count("n")? };
    Ok(PathManager { name, options })
}

/// A number of subflows.
fn subflows(field: &Field<'_>, most: usize) -> Result<NonZeroU8, Problem> {
    let count = field.integer(1..=MAX_SUBFLOWS as u64)?;
    if count > most as u64 && !field.is_default() {
        return Err(field.expected(&format!("at most {most}, the limit of mptcp.max_subflows")));
    }
    Ok(NonZeroU8::new(count as u8).expect("it is at least 1"))
}

fn given_or<'a>(section: &Section<'a>, key: &'static str, default: &str) -> Field<'a> {
    section.given(key).unwrap_or_else(|| section.default_literal(key, &format!("'{default}'")))
}

/// An algorithm by name: one of `custom`, or of the catalogue.
fn named<N, T>(
    field: &Field<'_>,
    what: &str,
    parse: fn(&str, &Prototypes<T>) -> Option<N>,
    custom: &Prototypes<T>,
    catalogue: fn() -> Vec<Description>,
) -> Result<N, Problem> {
    let name = field.string(what)?;
    let entries = catalogue();
    let own = custom.iter().map(|(name, _)| name.as_str());
    parse(name, custom).ok_or_else(|| field.unknown_name(name, what, entries.iter().map(|entry| entry.name).chain(own)))
}

/// Rejects options of algorithms other than the named one.
fn refuse_others(section: &Section<'_>, name: &str, options: &[&str]) -> Result<(), Problem> {
    let stray =
        section.keys().filter(|key| *key != "name" && !options.contains(key)).find_map(|key| section.given(key));
    let Some(stray) = stray else { return Ok(()) };
    let help = match options {
        [] => format!("{name} takes no options"),
        options => format!("{name} takes {}", list(options.iter().copied())),
    };
    Err(stray.problem(format!("{name} has no such option")).label("an option of another algorithm").help(help))
}

/// A ratio of at most ten.
fn ratio(section: &Section<'_>, key: &'static str) -> Result<Ratio, Problem> {
    section.ratio(key, [(0, 1), (10, 1)])
}
