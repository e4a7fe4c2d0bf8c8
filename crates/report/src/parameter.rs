//! The swept parameters of an experiment, as axes and as text.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use subflow_lab::results::Experiment;
use subflow_lab::results::parameters::word;
use subflow_scenario::sweep::Parameters;

/// A swept parameter whose values are numbers, all in one unit.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Parameter {
    pub(super) path: String,
    pub(super) unit: String,
    /// The parameters that vary independently of it.
    others: Vec<String>,
}

impl Parameter {
    /// The first numeric parameter of an experiment with at least three values; for fewer values bars are sufficient.
    pub(super) fn numeric(experiment: &Experiment) -> Option<Self> {
        Self::all_numeric(experiment).next()
    }

    /// All numeric parameters of an experiment with at least three values, in the order of the scenario file.
    pub(super) fn all_numeric(experiment: &Experiment) -> impl Iterator<Item = Self> + '_ {
        let paths = &experiment.scenario.sweep;
        let points: Vec<&Parameters> = experiment.statistics.iter().map(|point| &point.parameters).collect();
        paths.iter().filter_map(move |path| {
            let values = points.iter().map(|point| quantity(point.get(path)?)).collect::<Option<Vec<_>>>()?;
            let unit = values.iter().map(|(_, unit)| unit).find(|unit| !unit.is_empty()).cloned().unwrap_or_default();
            // Zero needs no unit.
            let one_unit = values.iter().all(|(x, other)| *other == unit || *x == 0.0);
            let mut distinct: Vec<f64> = values.iter().map(|(x, _)| *x).collect();
            distinct.sort_by(f64::total_cmp);
            distinct.dedup();
            (one_unit && distinct.len() >= 3).then(|| Self {
                path: path.clone(),
                unit,
                others: paths.iter().filter(|other| !determines(&points, path, other)).cloned().collect(),
            })
        })
    }

    /// Its value at a point.
    pub(super) fn value(&self, values: &Parameters) -> Option<f64> {
        values.get(&self.path).and_then(quantity).map(|(x, _)| x)
    }

    /// The values of the other parameters at a point.
    pub(super) fn others(&self, values: &Parameters) -> String {
        words(values.iter().filter(|(path, _)| self.others.contains(path)).map(|(_, value)| value))
    }
}

/// Whether values are spaced like a logarithmic scale: over a factor of eight or more, and each step by a factor that is
/// at most the square of any other, as in 1, 2, 5, 10.
pub(super) fn are_logarithmic(values: impl Iterator<Item = f64>) -> bool {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let steps: Vec<f64> = values.windows(2).map(|pair| (pair[1] / pair[0]).ln()).collect();
    let (Some(first), Some(last)) = (values.first(), values.last()) else { return false };
    let (least, most) =
        steps.iter().fold((f64::MAX, 0.0_f64), |(least, most), step| (least.min(*step), most.max(*step)));
    *first > 0.0 && steps.len() > 1 && *last >= 8.0 * first && most <= 2.0 * least
}

/// A swept parameter with a few values, which are words.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Category {
    pub(super) path: String,
    /// In ascending order of their first points.
    pub(super) values: Vec<String>,
}

impl Category {
    /// The first parameter of an experiment that has at least two values, at most `most`, and is not numeric.
    pub(super) fn first(experiment: &Experiment, most: usize) -> Option<Self> {
        let points: Vec<&Parameters> = experiment.statistics.iter().map(|point| &point.parameters).collect();
        experiment.scenario.sweep.iter().find_map(|path| {
            let values: Vec<String> = distinct(&points, path).into_iter().map(word).collect();
            let is_numeric = points.iter().all(|point| point.get(path).and_then(quantity).is_some());
            ((2..=most).contains(&values.len()) && !is_numeric).then(|| Self { path: path.clone(), values })
        })
    }

    /// Its value at a point.
    pub(super) fn value(&self, values: &Parameters) -> String {
        values.get(&self.path).map_or_else(String::new, word)
    }
}

/// Whether the value of `path` determines that of `other`.
pub(super) fn determines(points: &[&Parameters], path: &str, other: &str) -> bool {
    let mut seen: BTreeMap<String, &Value> = BTreeMap::new();
    points.iter().all(|point| {
        let (Some(value), Some(follows)) = (point.get(path), point.get(other)) else { return false };
        *seen.entry(value.to_string()).or_insert(follows) == follows
    })
}

/// The values of `path`, in the order of the points.
pub(super) fn distinct<'p>(points: &[&'p Parameters], path: &str) -> Vec<&'p Value> {
    let mut seen = BTreeSet::new();
    points.iter().filter_map(|point| point.get(path)).filter(|value| seen.insert(value.to_string())).collect()
}

/// The values of a point as text, in the order of the scenario file.
pub(super) fn label(values: &Parameters) -> String {
    words(values.values())
}

/// Values as text. Each distinct value appears once, because paths that are swept together mostly have equal values.
pub(super) fn words<'v>(values: impl Iterator<Item = &'v Value>) -> String {
    let mut words: Vec<String> = Vec::new();
    for value in values {
        let word = word(value);
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words.join(", ")
}

/// A number and its unit, as in `2`, `"2 %"` and `"50 Mbit/s"`; `"none"` (of losses) is zero.
fn quantity(value: &Value) -> Option<(f64, String)> {
    match value {
        Value::Number(number) => Some((number.as_f64()?, String::new())),
        Value::String(text) if text == "none" => Some((0.0, String::new())),
        Value::String(text) => {
            let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
            let (number, unit) = text.split_at(end);
            Some((number.parse().ok()?, unit.trim().to_owned()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_units_and_words_are_not_numbers() {
        assert_eq!(quantity(&Value::from("2.5 %")), Some((2.5, "%".to_owned())));
        assert_eq!(quantity(&Value::from(20)), Some((20.0, String::new())));
        assert_eq!(quantity(&Value::from("lia")), None);
        assert_eq!(quantity(&Value::from("2x4")), Some((2.0, "x4".to_owned())));
    }

    #[test]
    fn values_that_multiply_have_a_logarithmic_axis() {
        let are = |values: &[f64]| are_logarithmic(values.iter().copied());
        assert!(are(&[1.0, 10.0, 100.0]) && are(&[20.0, 5.0, 10.0, 50.0, 2.0, 1.0]) && are(&[1.0, 2.0, 4.0, 8.0]));
        assert!(
            !are(&[10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0]) && !are(&[0.0, 1.0, 10.0]) && !are(&[1.0, 9.0])
        );
        assert!(!are(&[1.0, 2.0, 4.0]));
    }

    #[test]
    fn equal_values_of_several_paths_are_named_once() {
        let values = [("a", "lia"), ("b", "lia"), ("c", "1 %")].map(|(path, value)| (path.to_owned(), value.into()));
        assert_eq!(label(&values.into()), "lia, 1 %");
    }
}
