//! The lines of `[sweep]` that the command line replaces or removes.

use super::dotted_path::DottedPath;
use super::node::{Entry, Node, Value};
use super::{Place, Problem};

/// Removes `set` from `[sweep]`, in the tree and in the text, so that the value of the command line is used. If the
/// sweep sets it together with other paths, the meaning is ambiguous and the result is an error. Returns whether the
/// value was swept.
pub(crate) fn drop_axis(set: &DottedPath, root: &mut Node, text: &mut toml_edit::Table) -> Result<bool, Problem> {
    let Some(sweep) = root.entry("sweep") else { return Ok(false) };
    let mut is_swept = false;
    let mut axes = Vec::new();
    collect(&mut vec!["sweep".to_owned()], sweep, &mut axes);
    for Axis { location, paths, place } in axes {
        let meets = |path: &Vec<String>| path.starts_with(&set.keys) || set.keys.starts_with(path);
        if paths == [set.keys.clone()] {
            remove(root, &location);
            remove_text(text, &location);
            is_swept = true;
        } else if paths.iter().any(meets) {
            return Err(Problem::at(&set.place, format!("{}: the sweep would replace this value", set.shown()))
                .label("has no effect")
                .help("give the sweep other values: --set 'sweep.\"PATH\"=[…]'")
                .also(&place, "swept here"));
        }
    }
    Ok(is_swept)
}

/// Where `[sweep]` has a line for the path `keys` alone.
pub(crate) fn line_of(keys: &[String], root: &Node) -> Option<Vec<String>> {
    let mut axes = Vec::new();
    collect(&mut vec!["sweep".to_owned()], root.entry("sweep")?, &mut axes);
    axes.into_iter().find(|axis| axis.paths == [keys]).map(|axis| axis.location)
}

/// A line of `[sweep]`: its place, and the paths that it sets.
struct Axis {
    location: Vec<String>,
    paths: Vec<Vec<String>>,
    place: Place,
}

fn collect(location: &mut Vec<String>, entry: &Entry, axes: &mut Vec<Axis>) {
    let Value::Table(entries) = &entry.node.value else { return };
    for below in entries {
        if location.len() == 1 && below.key == "design" {
            continue;
        }
        location.push(below.key.clone());
        if let Value::Table(_) = below.node.value {
            collect(location, below, axes);
        } else {
            let prefix = &location[1..location.len() - 1];
            let path = |text: &str| {
                let own = DottedPath::parse(text.trim(), below.key_place.clone()).ok()?.keys;
                Some(prefix.iter().cloned().chain(own).collect())
            };
            let paths = below.key.split(',').filter_map(path).collect();
            axes.push(Axis { location: location.clone(), paths, place: below.key_place.clone() });
        }
        location.pop();
    }
}

/// Removes the entry at `location`, and every table that becomes empty.
fn remove(node: &mut Node, location: &[String]) {
    let (Value::Table(entries), Some((key, rest))) = (&mut node.value, location.split_first()) else { return };
    let Some(at) = entries.iter().position(|entry| entry.key == *key) else { return };
    remove(&mut entries[at].node, rest);
    let empty = matches!(&entries[at].node.value, Value::Table(below) if below.is_empty());
    if rest.is_empty() || empty {
        entries.remove(at);
    }
}

fn remove_text(table: &mut dyn toml_edit::TableLike, location: &[String]) {
    let Some((key, rest)) = location.split_first() else { return };
    let below = table.get_mut(key).and_then(toml_edit::Item::as_table_like_mut);
    let empty = below.is_some_and(|below| {
        remove_text(below, rest);
        below.is_empty()
    });
    if rest.is_empty() || empty {
        table.remove(key);
    }
}
