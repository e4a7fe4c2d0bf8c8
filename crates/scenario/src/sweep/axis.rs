//! `[sweep]`: each key a path, or several joined by commas that move together, each value a list or a range.

use super::{MOST_RUNS, Plan, range};
use crate::file::{Document, DottedPath, Entry, Node, Place, Problem, Value, did_you_mean, list};
use crate::schema;

/// One key of `[sweep]`: one path or several.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    /// The paths that take the values.
    paths: Vec<DottedPath>,
    /// For each step, one value per path.
    steps: Vec<Vec<Node>>,
    place: Place,
}

impl Axis {
    /// The axes of a document; empty if it has no sweep.
    pub(super) fn read_all(document: &Document) -> Result<Vec<Self>, Problem> {
        let Some(sweep) = document.root.entry("sweep") else { return Ok(Vec::new()) };
        let mut axes = Vec::new();
        collect(&[], sweep, &mut axes)?;
        if axes.is_empty() {
            return Err(Problem::at(&sweep.node.place, "sweep: there is no path in it, expected at least one")
                .help("for example \"flows.album.congestion\" = [\"lia\", \"olia\"]; or drop the table"));
        }
        refuse_overlaps(&axes)?;
        let points = axes.iter().try_fold(1u64, |n, axis| n.checked_mul(axis.len() as u64).filter(|n| *n <= MOST_RUNS));
        match points {
            Some(_) => Ok(axes),
            None => Err(Problem::at(&sweep.node.place, format!("sweep: more than {MOST_RUNS} combinations"))
                .help("sweep over fewer values, or let paths move together: \"a.b, c.d\" = […]")),
        }
    }

    /// The number of values.
    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    /// The values at one step, each with its path.
    pub(super) fn values_at(&self, step: usize) -> impl Iterator<Item = (&DottedPath, &Node)> {
        self.paths.iter().zip(&self.steps[step])
    }
}

/// The axes in the table of `entry`, whose path is `prefix`. TOML turns unquoted dots in a key into nested tables,
/// which are traversed.
fn collect(prefix: &[String], entry: &Entry, axes: &mut Vec<Axis>) -> Result<(), Problem> {
    match &entry.node.value {
        Value::Table(entries) => entries.iter().try_for_each(|below| match &below.node.value {
            Value::Table(_) => {
                let deeper: Vec<String> = prefix.iter().chain([&below.key]).cloned().collect();
                collect(&deeper, below, axes)
            }
            _ => axis(prefix, below).map(|axis| axes.push(axis)),
        }),
        _ => Err(Problem::at(
            &entry.node.place,
            format!("sweep: found {}, expected a table of paths with a list of values each", entry.node.shown()),
        )),
    }
}

fn axis(prefix: &[String], entry: &Entry) -> Result<Axis, Problem> {
    let paths = entry.key.split(',').map(|text| {
        let mut path = DottedPath::parse(text.trim(), entry.key_place.clone())?;
        path.keys.splice(0..0, prefix.iter().cloned());
        check(&path)?;
        Ok(path)
    });
    let paths = paths.collect::<Result<Vec<_>, Problem>>()?;
    let values = values(entry)?;
    let steps = values.iter().map(|value| step(value, paths.len())).collect::<Result<_, _>>()?;
    Ok(Axis { paths, steps, place: entry.key_place.clone() })
}

/// The values to go through, with those of ranges.
fn values(entry: &Entry) -> Result<Vec<Node>, Problem> {
    let expected = "a list of values such as [\"lia\", \"olia\"]";
    let listed = match &entry.node.value {
        Value::Array(values) => values.as_slice(),
        _ => std::slice::from_ref(&entry.node),
    };
    let mut values = Vec::new();
    for value in listed {
        match range::values(value).transpose()? {
            Some(of_range) => values.extend(of_range),
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
