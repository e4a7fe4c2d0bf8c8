//! `[sweep]`: each key a path, or several joined by commas that move together, each value a list or a range.

use std::collections::BTreeMap;

use rand_core::RngCore;

use super::canonical::canonical;
use super::range::{self, Meaning, Span};
use super::{Bounds, Plan};
use crate::file::{DottedPath, Entry, Node, Place, Problem, Value, did_you_mean, list};
use crate::random::{below, one_in_each};
use crate::schema;

/// One key of `[sweep]`: one path or several.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    /// The paths that take the values.
    paths: Vec<DottedPath>,
    values: Values,
    place: Place,
}

#[derive(Clone, Debug)]
enum Values {
    /// For each step, one value per path.
    Steps(Vec<Vec<Node>>),
    /// Those of a range without a step; all paths take the same one.
    Span(Span),
}

impl Axis {
    /// The axes in `sweep`, each with no more values than `bounds` has points. There is none beside a design whose paths
    /// the command line has set.
    pub(super) fn read_all(sweep: &Entry, bounds: Bounds) -> Result<Vec<Self>, Problem> {
        let mut axes = Vec::new();
        collect(&[], sweep, bounds, &mut axes)?;
        if axes.is_empty() && sweep.node.entry("design").is_none() {
            return Err(Problem::at(&sweep.node.place, "sweep: there is no path in it, expected at least one")
                .help("for example \"flows.album.congestion\" = [\"lia\", \"olia\"]; or drop the table"));
        }
        refuse_overlaps(&axes)?;
        Ok(axes)
    }

    /// Its paths as they are written.
    pub(super) fn name(&self) -> String {
        self.shown_paths().join(", ")
    }

    /// Each of its paths as it is written.
    pub(super) fn shown_paths(&self) -> Vec<String> {
        self.paths.iter().map(DottedPath::shown).collect()
    }

    /// The number of values.
    pub(super) fn len(&self) -> u64 {
        match &self.values {
            Values::Steps(steps) => steps.len() as u64,
            Values::Span(span) => span.len(),
        }
    }

    /// A value, by its place among all.
    pub(super) fn draw(&self, rng: &mut impl RngCore) -> u64 {
        match &self.values {
            Values::Steps(steps) => below(steps.len() as u64, rng),
            Values::Span(span) => span.draw(rng),
        }
    }

    /// A value in each of so many equal parts, by their places among all.
    pub(super) fn draw_each(&self, parts: u64, rng: &mut impl RngCore) -> Vec<u64> {
        match &self.values {
            Values::Steps(steps) => one_in_each(parts, steps.len() as u64, rng),
            Values::Span(span) => span.draw_each(parts, rng),
        }
    }

    /// The values at this place, each with its path.
    pub(super) fn values_at(&self, place: u64) -> Vec<(&DottedPath, Node)> {
        match &self.values {
            Values::Steps(steps) => self.paths.iter().zip(steps[place as usize].iter().cloned()).collect(),
            Values::Span(span) => self.paths.iter().map(|path| (path, span.at(place))).collect(),
        }
    }

    /// Rejects a range without a step, whose values cannot all be gone through.
    pub(super) fn check_steps(&self) -> Result<(), Problem> {
        match &self.values {
            Values::Steps(_) => Ok(()),
            Values::Span(span) => Err(span.without_step()),
        }
    }
}

/// The axes in the table of `entry`, whose path is `prefix`. TOML turns unquoted dots in a key into nested tables,
/// which are traversed. The design, at the top, is no axis.
fn collect(prefix: &[String], entry: &Entry, bounds: Bounds, axes: &mut Vec<Axis>) -> Result<(), Problem> {
    match &entry.node.value {
        Value::Table(entries) => entries.iter().try_for_each(|below| match &below.node.value {
            _ if prefix.is_empty() && below.key == "design" => Ok(()),
            Value::Table(_) => {
                let deeper: Vec<String> = prefix.iter().chain([&below.key]).cloned().collect();
                collect(&deeper, below, bounds, axes)
            }
            _ => axis(prefix, below, bounds).map(|axis| axes.push(axis)),
        }),
        _ => Err(Problem::at(
            &entry.node.place,
            format!("sweep: found {}, expected a table of paths with a list of values each", entry.node.shown()),
        )),
    }
}

fn axis(prefix: &[String], entry: &Entry, bounds: Bounds) -> Result<Axis, Problem> {
    let paths = entry.key.split(',').map(|text| {
        let mut path = DottedPath::parse(text.trim(), entry.key_place.clone())?;
        path.keys.splice(0..0, prefix.iter().cloned());
        check(&path)?;
        Ok(path)
    });
    let paths = paths.collect::<Result<Vec<_>, Problem>>()?;
    let values = match range::read(&entry.node, bounds).transpose()? {
        Some(Meaning::Span(span)) => Values::Span(span),
        Some(Meaning::Values(_)) | None => {
            let steps: Vec<_> =
                listed(entry, bounds)?.iter().map(|value| step(value, paths.len())).collect::<Result<_, Problem>>()?;
            refuse_repetition(&entry.key, &steps)?;
            Values::Steps(steps)
        }
    };
    Ok(Axis { paths, values, place: entry.key_place.clone() })
}

/// The values to go through, with those of ranges.
fn listed(entry: &Entry, bounds: Bounds) -> Result<Vec<Node>, Problem> {
    let expected = "a list of values such as [\"lia\", \"olia\"]";
    let listed = match &entry.node.value {
        Value::Array(values) => values.as_slice(),
        _ => std::slice::from_ref(&entry.node),
    };
    let mut values = Vec::new();
    for value in listed {
        match range::read(value, bounds).transpose()? {
            Some(Meaning::Values(of_range)) => values.extend(of_range),
            Some(Meaning::Span(span)) => return Err(span.in_a_list()),
            None if matches!(entry.node.value, Value::Array(_)) => values.push(value.clone()),
            None => {
                let message = format!("sweep of {}: found {}, expected {expected}", entry.key, entry.node.shown());
                return Err(Problem::at(&entry.node.place, message)
                    .label("a sweep needs a list of values")
                    .help("give a list, a range such as \"1 .. 10 step 1\", or set the value outside of [sweep]"));
            }
        }
    }
    if values.is_empty() {
        return Err(Problem::at(
            &entry.node.place,
            format!("sweep of {}: the list is empty, expected {expected}", entry.key),
        )
        .label("no run would be left")
        .help("name the values to go through, or drop the line"));
    }
    Ok(values)
}

/// The values of the paths of one axis: one for each path if the value is a list, otherwise the same for all.
fn step(value: &Node, paths: usize) -> Result<Vec<Node>, Problem> {
    match &value.value {
        Value::Array(each) if paths > 1 && each.len() == paths => Ok(each.clone()),
        Value::Array(each) if paths > 1 => Err(Problem::at(
            &value.place,
            format!("found {} values for {paths} paths, expected one value for all or one for each", each.len()),
        )),
        _ => Ok(vec![value.clone(); paths]),
    }
}

/// Rejects values that are equal: their points would be the same one, counted twice.
fn refuse_repetition(key: &str, steps: &[Vec<Node>]) -> Result<(), Problem> {
    let mut known: BTreeMap<Vec<String>, &Vec<Node>> = BTreeMap::new();
    for step in steps {
        let Some(earlier) = known.insert(step.iter().map(|node| canonical(&node.to_json())).collect(), step) else {
            continue;
        };
        let shown = |step: &[Node]| match step.iter().map(Node::shown).collect::<Vec<_>>() {
            each if each.iter().all(|value| *value == each[0]) => each[0].clone(),
            each => format!("[{}]", each.join(", ")),
        };
        let message = format!("sweep of {key}: found {} and {}, which are the same", shown(earlier), shown(step));
        return Err(Problem::at(&step[0].place, message)
            .label("the same value again")
            .help("drop one of them; for more runs of each point raise `repeat`")
            .also(&earlier[0].place, "the first one"));
    }
    Ok(())
}

fn check(path: &DottedPath) -> Result<(), Problem> {
    let first = &path.keys[0];
    if first == "sweep" {
        return Err(Problem::at(
            &path.place,
            format!("found a sweep over {}, expected a path outside [sweep]", path.shown()),
        )
        .label("a sweep over the sweep would never end")
        .help("name the value itself: \"flows.album.congestion\" instead of \"sweep.…\""));
    }
    if !Plan::is_known_root(first) {
        return Err(Problem::at(
            &path.place,
            format!("sweep of {}: there is no {first:?} in a scenario", path.shown()),
        )
        .label(did_you_mean(first, schema::ROOT.keys(), "no such key"))
        .help(format!("paths begin with {}", list(schema::ROOT.keys()))));
    }
    Ok(())
}

/// Rejects an axis that would replace a value of another one.
fn refuse_overlaps(axes: &[Axis]) -> Result<(), Problem> {
    let paths: Vec<(&DottedPath, &Axis)> =
        axes.iter().flat_map(|axis| axis.paths.iter().map(move |p| (p, axis))).collect();
    for (index, (path, axis)) in paths.iter().enumerate() {
        for (earlier, other) in &paths[..index] {
            if path.keys.starts_with(&earlier.keys) || earlier.keys.starts_with(&path.keys) {
                let message = format!("sweep of {}: it is part of the sweep of {}", path.shown(), earlier.shown());
                let message = match path.keys == earlier.keys {
                    true => format!("sweep of {}: it is swept twice", path.shown()),
                    false => message,
                };
                return Err(Problem::at(&axis.place, message)
                    .label("one would replace what the other sets")
                    .also(&other.place, "the other one")
                    .help("sweep over each value once; paths that move together share a line: \"a.b, c.d\" = […]"));
            }
        }
    }
    Ok(())
}
