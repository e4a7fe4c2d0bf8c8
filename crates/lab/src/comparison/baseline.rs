//! The points of a sweep, compared with those that have a chosen value.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;
use subflow_scenario::sweep::{Parameters, canonical};

use super::difference::{adjust, differences};
use crate::results::InputError;
use crate::results::metrics::ComparedMetric;
use crate::results::parameters::word;
use crate::results::{Baseline, Experiment, Run};

impl Baseline {
    /// The path and the value that `text` names, as `NAME=VALUE`, among the points of a sweep. The name may be the end
    /// of a path, if no other path ends alike. The value may be written otherwise: `10 ms` is `0.01 s`. `together` has
    /// the paths by key of `[sweep]`. An error if no point has a counterpart with this value.
    pub fn choose(text: &str, points: &[&Parameters], together: &[Vec<String>]) -> Result<(String, Value), InputError> {
        let error = |message: String, help: String| InputError { message, help };
        let paths: Vec<&String> = points.first().map_or_else(Vec::new, |point| point.keys().collect());
        if paths.is_empty() {
            let message = format!("found {text:?}, but nothing is swept");
            return Err(error(message, "sweep over what is compared: --sweep PATH=V1,V2".to_owned()));
        }
        let known = || format!("there are {}", list(paths.iter().copied()));
        let Some((name, value)) = text.split_once('=') else {
            return Err(error(format!("found {text:?}, expected NAME=VALUE of a swept name"), known()));
        };
        let (name, value) = (name.trim(), value.trim());
        let is_meant = |path: &&&String| path.as_str() == name || path.ends_with(&format!(".{name}"));
        let meant: Vec<&&String> = match paths.iter().find(|path| path.as_str() == name) {
            Some(path) => vec![path],
            None => paths.iter().filter(is_meant).collect(),
        };
        let [path] = meant[..] else {
            let found = if meant.is_empty() { "which is not swept" } else { "which several paths end with" };
            return Err(error(format!("found {name:?}, {found}"), known()));
        };
        let mut values: Vec<&Value> = Vec::new();
        for value in points.iter().filter_map(|point| point.get(path.as_str())) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        let Some(&chosen) = values.iter().find(|known| is_value(known, value)) else {
            return Err(error(
                format!("found {value:?}, which is no value of {path}"),
                format!("there are {}", list(values.into_iter().map(word))),
            ));
        };
        if counterparts(points, together, path, chosen).is_empty() {
            return Err(error(
                format!(
                    "no point differs from one with {path} = {value} in this alone, so there is nothing to compare"
                ),
                "sweep over further values; points of a random or Latin-hypercube design differ in each swept range: \
                 give lists or steps, and choose a full design"
                    .to_owned(),
            ));
        }
        Ok(((*path).clone(), chosen.clone()))
    }

    /// The differences of `metrics` in an experiment to its points with `value` at `path`, as [`Baseline::choose`]
    /// returns them.
    pub fn of(experiment: &Experiment, path: String, value: Value, metrics: &[ComparedMetric]) -> Self {
        let mut runs: BTreeMap<usize, Vec<&Run>> = BTreeMap::new();
        experiment.runs.iter().for_each(|run| runs.entry(run.point).or_default().push(run));
        let points: Vec<&Parameters> = experiment.statistics.iter().map(|point| &point.parameters).collect();
        let mut found = Vec::new();
        for (baseline, point) in counterparts(&points, &experiment.scenario.swept_together, &path, &value) {
            if let (Some(before), Some(after)) = (runs.get(&baseline), runs.get(&point)) {
                found.extend(differences(metrics, points[point], before, after));
            }
        }
        adjust(&mut found);
        Self { path, value, differences: found }
    }
}

/// Whether `text` is this value, however it is written: `0.01 s` is `10 ms`.
fn is_value(value: &Value, text: &str) -> bool {
    let same = |written: &Value| canonical(written) == canonical(value);
    word(value) == text || same(&Value::from(text)) || serde_json::from_str(text).is_ok_and(|json| same(&json))
}

/// The points with another value than `value` at `path`, each after the point that has this one and all else alike.
fn counterparts(points: &[&Parameters], together: &[Vec<String>], path: &str, value: &Value) -> Vec<(usize, usize)> {
    let others = independent(points, together, path);
    let rest = |point: &Parameters| others.iter().map(|other| point[*other].to_string()).collect::<Vec<_>>();
    let is_baseline = |point: &&Parameters| point.get(path) == Some(value);
    let mut baselines = BTreeMap::new();
    for (index, point) in points.iter().enumerate().filter(|(_, point)| is_baseline(point)) {
        baselines.entry(rest(point)).or_insert(index);
    }
    let compared = points.iter().enumerate().filter(|(_, point)| !is_baseline(point));
    compared.filter_map(|(index, point)| Some((*baselines.get(&rest(point))?, index))).collect()
}

/// The paths that change on their own: those of other keys of `[sweep]`, and those of the same key that do not always
/// change with `path`. In a drawn design a path of another key may do so by chance.
fn independent<'p>(points: &[&'p Parameters], together: &[Vec<String>], path: &str) -> Vec<&'p str> {
    let same_key = together.iter().find(|paths| paths.iter().any(|known| known == path));
    let others = points.first().into_iter().flat_map(|point| point.keys()).filter(|other| *other != path);
    let changes = |other: &&String| {
        let mut seen: BTreeMap<String, &Value> = BTreeMap::new();
        points.iter().any(|point| *seen.entry(point[path].to_string()).or_insert(&point[*other]) != &point[*other])
    };
    let is_independent = |other: &&String| !same_key.is_some_and(|paths| paths.contains(other)) || changes(other);
    others.filter(is_independent).map(String::as_str).collect()
}

fn list(words: impl Iterator<Item = impl fmt::Display>) -> String {
    words.map(|word| word.to_string()).collect::<Vec<_>>().join(", ")
}
