//! Sizes of transfers and messages: one size, or a distribution.

use super::Traces;
use crate::file::{Field, Problem, Section, Value, list};
use crate::size_table::MOST_BYTES;
use crate::{SizeDistribution, schema};

/// The keys that name distributions; a table has exactly one of them.
const DISTRIBUTIONS: [&str; 5] = ["exponential", "pareto", "lognormal", "uniform", "empirical"];

/// The distribution in `send` of a flow; `None` for a size or no `send` at all.
pub(super) fn read(flow: &Section<'_>, traces: &Traces) -> Result<Option<SizeDistribution>, Problem> {
    match flow.given("send") {
        Some(field) if matches!(field.value(), Value::Table(_)) => distribution(&field, traces).map(Some),
        _ => Ok(None),
    }
}

/// The size of a message, or the distribution of sizes.
pub(super) fn message(field: &Field<'_>, traces: &Traces) -> Result<SizeDistribution, Problem> {
    match field.value() {
        Value::Table(_) => distribution(field, traces),
        _ => field.size(1..=MOST_BYTES).map(SizeDistribution::Constant),
    }
}

fn distribution(field: &Field<'_>, traces: &Traces) -> Result<SizeDistribution, Problem> {
    let section = field.section(&schema::SIZES)?;
    let given: Vec<_> = DISTRIBUTIONS.iter().filter_map(|key| section.given(key)).collect();
    let [of] = &given[..] else {
        let expected = format!("one of {}", list(DISTRIBUTIONS));
        let found = if given.is_empty() { "no distribution" } else { "several distributions" };
        return Err(field.problem(format!("found {found}, expected {expected}")).help(HELP));
    };
    let key = DISTRIBUTIONS.into_iter().find(|key| section.given(key).is_some()).unwrap_or_default();
    refuse_strays(&section, key)?;
    Ok(match key {
        "exponential" => SizeDistribution::Exponential { mean: of.size(1..=MOST_BYTES)? },
        "pareto" => pareto(of, &section)?,
        "lognormal" => SizeDistribution::Lognormal {
            mean: of.size(1..=MOST_BYTES)?,
            sigma: section.ratio("sigma", [(0, 1), (10, 1)])?.as_f64(),
        },
        "uniform" => uniform(of)?,
        _ => SizeDistribution::Empirical(traces.sizes(of)?),
    })
}

const HELP: &str = "for example { exponential = \"100 kB\" }";

fn pareto(mean: &Field<'_>, section: &Section<'_>) -> Result<SizeDistribution, Problem> {
    let shape = section.ratio("shape", [(101, 100), (100, 1)])?.as_f64();
    let mean = mean.size(1..=MOST_BYTES)?;
    // The scale of the distribution: no size is smaller.
    let least = ((mean as f64 * (shape - 1.0) / shape) as u64).max(1);
    let most = section.given("most").map_or(Ok(MOST_BYTES), |most| most.size(least..=MOST_BYTES))?;
    Ok(SizeDistribution::Pareto { mean, shape, most })
}

fn uniform(field: &Field<'_>) -> Result<SizeDistribution, Problem> {
    let expected = "a list of two sizes, the smallest and the largest";
    let bounds = field.list(expected)?;
    let [least, most] = &bounds[..] else { return Err(field.expected(expected)) };
    let least = least.size(1..=MOST_BYTES)?;
    Ok(SizeDistribution::Uniform { least, most: most.size(least..=MOST_BYTES)? })
}

/// Rejects parameters of other distributions.
fn refuse_strays(section: &Section<'_>, distribution: &str) -> Result<(), Problem> {
    for (key, of) in [("shape", "pareto"), ("most", "pareto"), ("sigma", "lognormal")] {
        if let Some(stray) = section.given(key).filter(|_| distribution != of) {
            return Err(stray
                .problem(format!("{key} is a parameter of {of}, and the distribution is {distribution}"))
                .help("drop the key, or choose the other distribution"));
        }
    }
    Ok(())
}
