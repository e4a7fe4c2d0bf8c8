//! What a request asks to run: a scenario, or two variants of it. Two are one experiment: the points of both with one
//! more swept path, `variant`, and the differences of B to A. Figures, tables and pairs by seed are then those of any sweep with a baseline.

use serde::{Deserialize, Serialize};
use subflow_lab::Stop;
use subflow_lab::results::metrics::ComparedMetric;
use subflow_lab::results::parameters::word;
use subflow_lab::results::{Baseline, Experiment};
use subflow_scenario::sweep::{Bounds, Design, Parameters, Plan, Point, SeriesKept};

use crate::check::{Checked, Draft, Opened};

/// The name of the path that tells the variants apart.
const VARIANT: &str = "variant";

/// What is to be run: a scenario, or two variants of it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    pub(crate) a: Draft,
    #[serde(default)]
    pub(crate) b: Option<Draft>,
    /// Which variant is in sight.
    #[serde(default, skip_serializing)]
    shown: Variant,
}

/// The name of a variant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Variant {
    #[default]
    A,
    B,
}

/// What a check of a request finds.
#[derive(Debug)]
pub(crate) enum Answer {
    /// The scenario in sight, checked, and all runs.
    Runs(Checked, Box<Plan>),
    /// The scenario in sight has problems.
    Problems(Checked),
    /// The other one has.
    Other(Variant, Checked),
    /// The variants cannot be compared.
    Pair(String),
}

impl Request {
    /// Whether there are two variants.
    pub(crate) fn is_pair(&self) -> bool {
        self.b.is_some()
    }

    /// Checks all variants, each no larger than `bounds`, first the one in sight.
    pub(crate) fn checked(&self, opened: &Opened, bounds: Bounds, stop: &Stop) -> Answer {
        let Some(b) = &self.b else {
            return match self.a.checked(opened, bounds, stop) {
                (checked, Some(plan)) => Answer::Runs(checked, Box::new(plan)),
                (checked, None) => Answer::Problems(checked),
            };
        };
        let (shown, other, name) = match self.shown {
            Variant::A => (&self.a, b, Variant::B),
            Variant::B => (b, &self.a, Variant::A),
        };
        let (checked, plan) = shown.checked(opened, bounds, stop);
        let Some(plan) = plan else { return Answer::Problems(checked) };
        let (of_other, beside) = other.checked(opened, bounds, stop);
        let Some(beside) = beside else { return Answer::Other(name, of_other) };
        let (a, b) = if self.shown == Variant::A { (plan, beside) } else { (beside, plan) };
        match together(a, b) {
            Ok(both) => Answer::Runs(checked, Box::new(both)),
            Err(message) => Answer::Pair(message),
        }
    }
}

/// The runs of both plans.
///
/// # Errors
///
/// Where the variants are swept over different paths: their points have no counterparts then.
fn together(a: Plan, b: Plan) -> Result<Plan, String> {
    if a.parameters() != b.parameters() {
        return Err("A and B are swept over different paths, so their points cannot be compared: give both the same \
                    [sweep], or none"
            .to_owned());
    }
    let named = |point: &Point, name: &str| {
        let mut parameters = Parameters::from([(VARIANT.to_owned(), name.into())]);
        parameters.extend(point.parameters.clone());
        Point { parameters, ..point.clone() }
    };
    let points_a = a.points.iter().map(|point| named(point, "A"));
    let points: Vec<Point> = points_a.chain(b.points.iter().map(|point| named(point, "B"))).collect();
    let mut together = a.together.clone();
    together.insert(0, vec![VARIANT.to_owned()]);
    let traces = a.traces.iter().chain(b.traces.iter().filter(|trace| !a.traces.contains(trace))).cloned().collect();
    let mut plan = Plan { points, together, design: Design::Full, traces, ..a };
    plan.without_effect.extend(b.without_effect);
    plan.series = SeriesKept::usual(plan.jobs().len());
    Ok(plan)
}

/// Adds the differences of B to A.
pub(crate) fn add_differences(experiment: &mut Experiment) {
    let baseline = Baseline::of(experiment, VARIANT.to_owned(), "A".into(), &ComparedMetric::usual());
    experiment.baseline = Some(baseline);
}

/// The variant that a point is of; `None` where there is one only.
pub(crate) fn variant_of(parameters: &Parameters) -> Option<&str> {
    parameters.get(VARIANT)?.as_str()
}

/// Whether two points differ at most by their variants.
pub(crate) fn is_counterpart(a: &Parameters, b: &Parameters) -> bool {
    let others = |of: &Parameters| {
        of.iter()
            .filter(|(path, _)| *path != VARIANT)
            .map(|(path, value)| (path.clone(), value.clone()))
            .collect::<Vec<_>>()
    };
    others(a) == others(b)
}

/// A point in words: its variant, and the values that are swept over; empty if there is one point only.
pub(crate) fn name_of_point(parameters: &Parameters) -> String {
    let one = |(path, value)| if path == VARIANT { word(value) } else { format!("{path} = {}", word(value)) };
    parameters.iter().map(one).collect::<Vec<String>>().join(", ")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use subflow_lab::execute::execute;
    use subflow_lab::results::Pairing;
    use subflow_lab::simulate::RunOptions;
    use subflow_scenario::file::Document;

    use super::*;

    fn plan(set: &[&str]) -> Plan {
        let text = include_str!("gallery/wifi-lte.toml").to_owned();
        let mut document = Document::parse(Path::new("wifi-lte.toml"), text).expect("TOML");
        for assignment in ["duration=2 s", "repeat=3"].iter().chain(set) {
            document.set("--set", assignment).expect("a value");
        }
        Plan::read(document).expect("a scenario")
    }

    #[test]
    fn the_runs_of_two_variants_are_pairs_by_seed() {
        let plan = together(plan(&[]), plan(&["links.lte.delay=70 ms"])).expect("they can be compared");
        assert_eq!((plan.points.len(), plan.jobs().len()), (2, 6));
        let mut experiment = execute(&plan, 1, &RunOptions::default(), &|_| {}).expect("the runs succeed");
        add_differences(&mut experiment);
        let differences = experiment.baseline.expect("it was added").differences;
        let goodput = differences.iter().find(|row| row.metric == "goodput_mbps").expect("a goodput");
        assert_eq!((goodput.pairing, goodput.n, goodput.runs), (Pairing::Paired, 3, [3, 3]));
        assert!(goodput.difference.is_some_and(|difference| difference < 0.0), "a longer path is slower: {goodput:?}");
    }

    #[test]
    fn variants_of_the_same_sweep_are_compared_point_by_point_and_others_are_refused() {
        let swept = ["sweep={\"links.lte.loss\"=[\"none\", \"1 %\"]}"];
        let both = together(plan(&swept), plan(&swept)).expect("they can be compared");
        assert_eq!(both.parameters(), ["variant", "links.lte.loss"]);
        assert_eq!(both.points.len(), 4);
        assert!(together(plan(&swept), plan(&[])).is_err_and(|why| why.contains("different paths")));
    }
}
