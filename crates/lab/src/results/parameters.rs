//! Swept values and paths as text.

use serde_json::Value;
use subflow_scenario::sweep::Parameters;

/// A swept value as text, without quotes.
pub fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Where a point of a sweep is, such as ` at links.wifi.loss = 1 %`; empty without a sweep.
pub fn at_point(parameters: &Parameters) -> String {
    let values: Vec<String> = parameters.iter().map(|(path, value)| format!("{path} = {}", word(value))).collect();
    if values.is_empty() { String::new() } else { format!(" at {}", values.join(", ")) }
}

/// The shortest suffix of each path that differs from those of the others: `loss`, or `wifi.loss`.
pub fn short_names(paths: &[String]) -> Vec<String> {
    let suffix = |path: &str, keys: usize| {
        let start = path.rmatch_indices('.').nth(keys - 1).map_or(0, |(at, _)| at + 1);
        path[start..].to_owned()
    };
    let short = |path: &String| {
        let unique =
            |keys: &usize| paths.iter().filter(|other| suffix(other, *keys) == suffix(path, *keys)).count() == 1;
        (1..=path.matches('.').count() + 1).find(unique).map_or_else(|| path.clone(), |keys| suffix(path, keys))
    };
    paths.iter().map(short).collect()
}
