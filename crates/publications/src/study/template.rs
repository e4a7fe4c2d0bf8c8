//! Values of a paper's files that depend on variables: `"${rtt * 500} us"`.
//!
//! What stands between `${` and `}` is an expression as templates of minijinja have it, but that `/` divides whole numbers:
//! names of variables, numbers, `+`, `-`, `*`, `/`, `%` and parentheses. `path.rate` is the field `rate` of a variable that is
//! a table, and `starts[n + 1]` an element of one that is a list, counted from 0. A text that is nothing but one expression
//! takes its value with its type.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::Environment;
use minijinja::value::Serde;
use serde_json::Value;
use toml_edit::{Array, InlineTable, Value as Toml};

use subflow_scenario::sweep::Parameters;

/// Variables that refer to each other are followed so often. More is a circle.
const DEEPEST: usize = 8;

/// `text` with the variables' values.
///
/// # Errors
///
/// A variable is not there, or what stands between the braces is no expression of whole numbers.
pub(super) fn fill(text: &str, variables: &Parameters) -> Result<Value, String> {
    filled(text, variables, 0)
}

/// [`fill`], of each text in `value`.
pub(crate) fn fill_all(value: &Value, variables: &Parameters) -> Result<Value, String> {
    resolved(value, variables, 0)
}

/// A value as TOML has it, for changes of a scenario.
pub(crate) fn to_toml(value: &Value) -> Toml {
    match value {
        Value::String(text) => text.as_str().into(),
        Value::Bool(is_so) => (*is_so).into(),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => whole.into(),
            None => number.as_f64().unwrap_or(f64::NAN).into(),
        },
        Value::Array(values) => values.iter().map(to_toml).collect::<Array>().into(),
        Value::Object(entries) => {
            entries.iter().map(|(key, value)| (key.as_str(), to_toml(value))).collect::<InlineTable>().into()
        }
        Value::Null => "".into(),
    }
}

/// The value of a variable, with those of others that it refers to.
fn resolved(value: &Value, variables: &Parameters, depth: usize) -> Result<Value, String> {
    Ok(match value {
        Value::String(text) if text.contains("${") => filled(text, variables, depth)?,
        Value::Array(values) => {
            Value::Array(values.iter().map(|value| resolved(value, variables, depth)).collect::<Result<_, _>>()?)
        }
        Value::Object(entries) => {
            let filled = entries.iter().map(|(key, value)| Ok((key.clone(), resolved(value, variables, depth)?)));
            Value::Object(filled.collect::<Result<_, String>>()?)
        }
        other => other.clone(),
    })
}

fn filled(text: &str, variables: &Parameters, depth: usize) -> Result<Value, String> {
    let mut whole = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let (inner, behind) = after.split_once('}').ok_or_else(|| format!("{text:?}: there is no }} after ${{"))?;
        let value = evaluated(inner.trim(), variables, depth)?;
        if before.is_empty() && behind.is_empty() && whole.is_empty() {
            return Ok(value);
        }
        whole += before;
        whole += &shown(&value);
        rest = behind;
    }
    Ok(Value::String(whole + rest))
}

fn evaluated(expression: &str, variables: &Parameters, depth: usize) -> Result<Value, String> {
    if depth == DEEPEST {
        return Err(format!("{expression:?} depends on itself"));
    }
    if let Some(value) = variables.get(expression) {
        return resolved(value, variables, depth + 1);
    }
    let wrong =
        |error: minijinja::Error| format!("found {expression:?} between braces, expected an expression: {error}");
    let of_whole_numbers = expression.replace('/', "//");
    let environment = Environment::empty();
    let compiled = environment.compile_expression(&of_whole_numbers).map_err(wrong)?;
    let mut context = BTreeMap::new();
    for name in compiled.undeclared_variables(false).into_iter().collect::<BTreeSet<_>>() {
        let value = variables.get(&name).ok_or_else(|| format!("{expression:?}: there is no variable {name:?}"))?;
        context.insert(name, resolved(value, variables, depth + 1)?);
    }
    let value = compiled.eval(Serde(&context)).map_err(wrong)?;
    if value.is_undefined() {
        return Err(format!("{expression:?}: there is no such field or element"));
    }
    serde_json::to_value(&value).map_err(|error| format!("{expression:?}: {error}"))
}

pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        // Neither an exponent nor decimals that say nothing, which quantities may not have.
        Value::Number(number) if number.is_f64() => number.as_f64().unwrap_or(f64::NAN).to_string(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn with(text: &str) -> Result<Value, String> {
        let variables = [
            ("rtt", json!(24)),
            ("mode", json!("cuc-v2")),
            ("nr_sack", json!(true)),
            ("delay", json!("${rtt * 500}")),
            ("path", json!({ "rate": 2.5, "delay": "${rtt / 2} ms" })),
            ("starts", json!([30, 40])),
            ("circle", json!("${circle}")),
        ];
        fill(text, &variables.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    #[test]
    fn expressions_are_filled_in() {
        assert_eq!(with("${rtt * 500 + 60} us and ${(rtt + 1) % 2}"), Ok(json!("12060 us and 1")));
        assert_eq!(with("${delay} us"), Ok(json!("12000 us")));
        assert_eq!(with("nothing"), Ok(json!("nothing")));
    }

    #[test]
    fn a_name_alone_keeps_its_type() {
        assert_eq!(with("${nr_sack}"), Ok(json!(true)));
        assert_eq!(with("${mode}"), Ok(json!("cuc-v2")));
        assert_eq!(with("${ rtt }"), Ok(json!(24)));
    }

    #[test]
    fn fields_and_elements_are_values_too() {
        assert_eq!(with("${path.rate} Mbit/s after ${path.delay}"), Ok(json!("2.5 Mbit/s after 12 ms")));
        assert_eq!(with("${starts[rtt - 23]}"), Ok(json!(40)));
        assert_eq!(with("${starts[0] * 2 + starts[1]} us"), Ok(json!("100 us")));
    }

    #[test]
    fn what_is_no_expression_is_named() {
        for (text, part) in [
            ("${rttt}", "rttt"),
            ("${mode + 1}", "mode + 1"),
            ("${rtt / 0}", "rtt / 0"),
            ("${rtt", "no }"),
            ("${rtt 2}", "rtt 2"),
            ("${path.loss}", "path.loss"),
            ("${starts[2]}", "starts[2]"),
            ("${starts * 99999999999}", "too large"),
            ("${circle}", "depends on itself"),
        ] {
            let problem = with(text).expect_err(text);
            assert!(problem.contains(part), "{problem}");
        }
    }
}
