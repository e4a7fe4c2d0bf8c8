//! `--sweep PATH=V1,V2,…` and `--design NAME=POINTS` as changes of the scenario.

use subflow_scenario::file::Document;
use subflow_scenario::sweep::first_of_range;
use toml_edit::{Array, Key, Value};

use crate::arguments::Source;
use crate::failure::Failure;

/// Makes `document` sweep over the values in `text`.
pub(super) fn sweep(document: &mut Document, text: &str) -> Result<(), Failure> {
    let line = text.split_once('=').and_then(|(path, _)| document.line_of_sweep(path));
    assignments(text, line).iter().try_for_each(|assignment| Ok(document.set("--sweep", assignment)?))
}

/// The assignments, as of `--set`, that make a scenario sweep over the values in `text`, in place of its `line` for that
/// path if it has one. Text without `=` is returned as it is; the scenario refuses it.
fn assignments(text: &str, line: Option<String>) -> Vec<String> {
    let Some((path, list)) = text.split_once('=') else { return vec![text.to_owned()] };
    let values: Array = match list.trim().parse() {
        Ok(Value::Array(array)) => array,
        _ => split_at_commas(list).into_iter().map(value).collect(),
    };
    // The scenario is read with the first value, too. Paths that change together have no single value.
    let first = values.get(0).filter(|_| !path.contains(',')).map(|first| {
        let of_range = first.as_str().and_then(first_of_range);
        format!("{path}={}", of_range.map_or_else(|| first.clone(), |first| value(&first)))
    });
    // A range that is alone may have no step, for a design that draws its values.
    let alone = (values.len() == 1).then(|| values.get(0)).flatten().filter(|_| !list.trim().starts_with('['));
    let swept = match alone.filter(|only| only.as_str().and_then(first_of_range).is_some()) {
        Some(range) => range.clone(),
        None => Value::Array(values.clone()),
    };
    if let Some(line) = line {
        return vec![format!("{line}={swept}")];
    }
    let sweep = format!("sweep.{}={swept}", Key::new(path.trim()).display_repr());
    first.into_iter().chain([sweep]).collect()
}

/// Refuses a path that `--sweep` has twice, or `--set` beside it: one would replace what the other says.
pub(super) fn refuse_repetition(source: &Source) -> Result<(), Failure> {
    let paths = |texts: &[String]| {
        let paths = texts.iter().filter_map(|text| text.split_once('=')).flat_map(|(paths, _)| paths.split(','));
        paths.map(|path| path.replace([' ', '"'], "")).collect::<Vec<_>>()
    };
    let (set, swept) = (paths(&source.set), paths(&source.sweep));
    for (index, path) in swept.iter().enumerate() {
        if swept[..index].contains(path) {
            return Err(Failure::bad_input(
                format!("--sweep: {path} is given twice"),
                format!("give all values together: --sweep {path}=V1,V2"),
            ));
        }
        if set.contains(path) {
            return Err(Failure::bad_input(
                format!("--sweep: {path} is also set by --set"),
                "remove one of them: --set gives a path one value, --sweep several",
            ));
        }
    }
    Ok(())
}

/// The assignment that makes the scenario take this design: `full`, or the name of another one and how many points it
/// has. The scenario refuses others.
pub(super) fn design(text: &str) -> String {
    match text.split_once('=') {
        Some((name, points)) => {
            let name = Value::from(name.trim());
            format!("sweep.design={{ name = {name}, points = {} }}", value(points))
        }
        None => format!("sweep.design={}", Value::from(text.trim())),
    }
}

/// A value in TOML, or else text, as with `--set`.
fn value(text: &str) -> Value {
    text.trim().parse().unwrap_or_else(|_| Value::from(text.trim()))
}

/// The parts of `list` between commas that are not in quotes or brackets.
fn split_at_commas(list: &str) -> Vec<&str> {
    let (mut parts, mut begin, mut depth, mut quote) = (Vec::new(), 0, 0u32, None);
    for (at, character) in list.char_indices() {
        match (quote, character) {
            (Some(open), _) => quote = (character != open).then_some(open),
            (None, '"' | '\'') => quote = Some(character),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                parts.push(&list[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&list[begin..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a path that the file does not sweep.
    fn assignments(text: &str) -> Vec<String> {
        super::assignments(text, None)
    }

    #[test]
    fn a_path_that_the_file_sweeps_keeps_its_place() {
        let line = Some("sweep.\"links.a.loss\"".to_owned());
        assert_eq!(super::assignments("links.a.loss=1 %,2 %", line), ["sweep.\"links.a.loss\"=[\"1 %\", \"2 %\"]"]);
    }

    #[test]
    fn values_are_separated_by_commas() {
        let found = assignments("links.wifi.loss=none,1 %, 2 %");
        assert_eq!(found[0], "links.wifi.loss=\"none\"");
        assert_eq!(found[1], "sweep.\"links.wifi.loss\"=[\"none\", \"1 %\", \"2 %\"]");
        assert_eq!(assignments("seed=1,2").last().map(String::as_str), Some("sweep.seed=[1, 2]"));
    }

    #[test]
    fn commas_within_a_value_do_not_separate() {
        let found = assignments("links.a.rate={ up = \"1 Mbit/s\", down = \"2 Mbit/s\" },\"3 Mbit/s\"");
        assert!(found[1].ends_with("=[{ up = \"1 Mbit/s\", down = \"2 Mbit/s\" }, \"3 Mbit/s\"]"), "{found:?}");
        assert_eq!(split_at_commas("\"a,b\",c"), ["\"a,b\"", "c"]);
    }

    #[test]
    fn a_list_in_toml_is_taken_as_it_is() {
        assert!(assignments("links.a.loss=[\"none\", \"1 %\"]")[1].ends_with("=[\"none\", \"1 %\"]"));
    }

    #[test]
    fn a_range_is_one_value_of_the_list_or_stands_for_it() {
        let found = assignments("links.a.delay=10 .. 30 ms step 10, 50 ms");
        assert_eq!(found[1], "sweep.\"links.a.delay\"=[\"10 .. 30 ms step 10\", \"50 ms\"]");
        let found = assignments("links.a.delay=10 .. 30 ms");
        assert_eq!(found, ["links.a.delay=\"10 ms\"", "sweep.\"links.a.delay\"=\"10 .. 30 ms\""]);
    }

    #[test]
    fn a_design_has_a_name_and_a_number_of_points() {
        assert_eq!(design("latin-hypercube=50"), "sweep.design={ name = \"latin-hypercube\", points = 50 }");
        assert_eq!(design("random=many"), "sweep.design={ name = \"random\", points = \"many\" }");
        assert_eq!(design("full"), "sweep.design=\"full\"");
    }

    #[test]
    fn paths_that_change_together_are_only_swept() {
        let found = assignments("links.a.loss, links.b.loss=none,1 %");
        assert_eq!(found, ["sweep.\"links.a.loss, links.b.loss\"=[\"none\", \"1 %\"]"]);
    }
}
