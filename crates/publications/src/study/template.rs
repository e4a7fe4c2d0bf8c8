//! Values of a paper's files that depend on variables: `"${rtt * 500} us"`.
//!
//! What stands between `${` and `}` is the name of a variable, or whole numbers and names of such joined by `+`, `-`,
//! `*`, `/`, `%` and parentheses. A text that is nothing but a name between `${` and `}` takes the variable's value with
//! its type. `path.rate` is the field `rate` of a variable that is a table, and `starts[n + 1]` an element of one that is
//! a list, counted from 0.

use serde_json::Value;
use toml_edit::{Array, InlineTable, Value as Toml};

use subflow_scenario::sweep::Parameters;

/// Variables that refer to each other are followed so often. More is a circle.
const DEEPEST: usize = 8;

/// More bytes are no expression but a mistake.
const LONGEST: usize = 200;

/// `text` with the variables' values.
///
/// # Errors
///
/// A variable is not there, or what stands between the braces is no expression of whole numbers.
pub(crate) fn fill(text: &str, variables: &Parameters) -> Result<Value, String> {
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
        if inner.len() > LONGEST {
            return Err(format!("{inner:?}: found {} bytes between braces, expected at most {LONGEST}", inner.len()));
        }
        let mut expression = Expression { text: inner, rest: inner, variables, depth };
        let value = expression.value()?;
        if before.is_empty() && behind.is_empty() && whole.is_empty() {
            return Ok(value);
        }
        whole += before;
        whole += &shown(&value);
        rest = behind;
    }
    Ok(Value::String(whole + rest))
}

/// A value within a text.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        // Neither an exponent nor decimals that say nothing, which quantities may not have.
        Value::Number(number) if number.is_f64() => number.as_f64().unwrap_or(f64::NAN).to_string(),
        other => other.to_string(),
    }
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '.'
}

/// Whether `text` is the name of a variable, or of a field of one.
fn is_path(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic()) && text.chars().all(is_of_word)
}

/// What stands between braces, and the part of it that is still to be read.
struct Expression<'t> {
    text: &'t str,
    rest: &'t str,
    variables: &'t Parameters,
    depth: usize,
}

impl<'t> Expression<'t> {
    fn value(&mut self) -> Result<Value, String> {
        let name = self.text.trim();
        if self.variables.contains_key(name) || is_path(name) {
            return self.variable(name);
        }
        if let Some(element) = self.element()? {
            return Ok(element);
        }
        self.rest = self.text;
        let sum = self.sum()?;
        if self.rest.trim().is_empty() { Ok(sum.into()) } else { Err(self.problem()) }
    }

    /// What the whole text names if that is an element of a list.
    fn element(&mut self) -> Result<Option<Value>, String> {
        let name = self.word();
        if !is_path(name) || self.sign(&['[']).is_none() {
            return Ok(None);
        }
        let element = self.at(name)?;
        Ok(self.rest.trim().is_empty().then_some(element))
    }

    /// The value of a variable, or of a field of one.
    fn variable(&self, name: &str) -> Result<Value, String> {
        let missing = || format!("{:?}: there is no variable {name:?}", self.text);
        if self.depth == DEEPEST {
            return Err(format!("{name:?} depends on itself"));
        }
        if let Some(value) = self.variables.get(name) {
            return resolved(value, self.variables, self.depth + 1);
        }
        let (table, field) = name.rsplit_once('.').ok_or_else(missing)?;
        let value = self.variable(table)?.get(field).cloned().ok_or_else(missing)?;
        resolved(&value, self.variables, self.depth + 1)
    }

    /// The element of a list whose index begins here, behind the bracket.
    fn at(&mut self, list: &str) -> Result<Value, String> {
        let index = self.sum()?;
        self.sign(&[']']).ok_or_else(|| self.problem())?;
        let element = usize::try_from(index).ok().and_then(|index| self.variable(list).ok()?.get(index).cloned());
        element.ok_or_else(|| format!("{:?}: there is no element {index} of {list:?}", self.text))
    }

    /// The number or name that is next.
    fn word(&mut self) -> &'t str {
        self.rest = self.rest.trim_start();
        let end = self.rest.find(|c: char| !is_of_word(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn sum(&mut self) -> Result<i64, String> {
        let mut sum = self.product()?;
        while let Some(sign) = self.sign(&['+', '-']) {
            let next = self.product()?;
            sum = if sign == '+' { sum.checked_add(next) } else { sum.checked_sub(next) }
                .ok_or_else(|| self.problem())?;
        }
        Ok(sum)
    }

    fn product(&mut self) -> Result<i64, String> {
        let mut product = self.factor()?;
        while let Some(sign) = self.sign(&['*', '/', '%']) {
            let next = self.factor()?;
            let result = match sign {
                '*' => product.checked_mul(next),
                '/' => product.checked_div(next),
                _ => product.checked_rem(next),
            };
            product = result.ok_or_else(|| self.problem())?;
        }
        Ok(product)
    }

    fn factor(&mut self) -> Result<i64, String> {
        self.rest = self.rest.trim_start();
        if self.sign(&['(']).is_some() {
            let sum = self.sum()?;
            return self.sign(&[')']).map(|_| sum).ok_or_else(|| self.problem());
        }
        let word = self.word();
        if let Ok(number) = word.parse() {
            return Ok(number);
        }
        let value = if self.sign(&['[']).is_some() { self.at(word)? } else { self.variable(word)? };
        value.as_i64().ok_or_else(|| self.problem())
    }

    /// The next character, if it is one of `signs`.
    fn sign(&mut self, signs: &[char]) -> Option<char> {
        let rest = self.rest.trim_start();
        let sign = rest.chars().next().filter(|c| signs.contains(c))?;
        self.rest = &rest[sign.len_utf8()..];
        Some(sign)
    }

    fn problem(&self) -> String {
        format!("found {:?} between braces, expected an expression of whole numbers", self.text)
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
            ("${starts[2]}", "no element 2"),
            ("${circle}", "depends on itself"),
        ] {
            let problem = with(text).expect_err(text);
            assert!(problem.contains(part), "{problem}");
        }
    }
}
