//! Items of a script and fields of packets: evaluation of the ones, comparison with the others.

use subflow_scenario::file::{Place, Problem};

use crate::expression::{Expression, Kind, Variables};
use crate::script::Item;
use crate::value::{Field, Value};
use crate::vocabulary::{Entry, STRICT_FLAGS, ValueKind};

type Entries = &'static [&'static [Entry]];

/// Where a packet differs from the script.
#[derive(Debug)]
pub(crate) struct Difference {
    pub(crate) place: Place,
    pub(crate) text: String,
}

/// Why a packet is not the expected one.
#[derive(Debug)]
pub(crate) enum Mismatch {
    Differs(Difference),
    /// The script is wrong.
    Script(Problem),
}

impl From<Problem> for Mismatch {
    fn from(problem: Problem) -> Self {
        Self::Script(problem)
    }
}

fn entry_of(entries: Entries, name: &str) -> &'static Entry {
    entries
        .iter()
        .flat_map(|entries| entries.iter())
        .find(|entry| entry.name == name)
        .expect("checked when it was read")
}

/// The fields of a packet that arrives.
pub(crate) fn evaluate(items: &[Item], entries: Entries, variables: &Variables) -> Result<Vec<Field>, Problem> {
    let field = |item: &Item| {
        let entry = entry_of(entries, &item.name);
        let value = |(index, value): (usize, &Expression)| fitting(value, entry.kind(index), variables);
        Ok(Field {
            name: entry.name,
            values: item.values.iter().enumerate().map(value).collect::<Result<_, Problem>>()?,
            parts: evaluate(&item.parts, entry.parts, variables)?,
        })
    };
    items.iter().map(field).collect()
}

/// The value of an expression, checked and cut to the size of its field.
fn fitting(expression: &Expression, kind: ValueKind, variables: &Variables) -> Result<Value, Problem> {
    let value = expression.evaluate(variables)?;
    let mask = |bits: u32, number: u64| if bits < 64 { number & ((1 << bits) - 1) } else { number };
    let expected = match (kind, &value) {
        (ValueKind::Number(bits), Value::Number(number)) => return Ok(Value::Number(mask(bits, *number))),
        (ValueKind::Range(bits), Value::Range(first, last)) => {
            return Ok(Value::Range(mask(bits, *first), mask(bits, *last)));
        }
        (ValueKind::Address, Value::Address(_))
        | (ValueKind::Bytes, Value::Bytes(_))
        | (ValueKind::Detail, Value::Number(_) | Value::Bytes(_)) => return Ok(value),
        (ValueKind::Number(_), _) => "a number",
        (ValueKind::Range(_), _) => "a range such as 1..5",
        (ValueKind::Address, _) => "an address",
        (ValueKind::Bytes, _) => "bytes such as '0a0b'",
        (ValueKind::Detail, _) => "a number, or bytes such as '0a0b'",
    };
    let problem = Problem::at(&expression.place, format!("{value} does not fit here"));
    Err(problem.help(format!("{expected} is expected")))
}

/// Compares a TCP segment that left. Its length and control bits are as written, other fields if they are.
pub(crate) fn compare_segment(
    step: &Place,
    items: &[Item],
    seen: &[Field],
    entries: Entries,
    variables: &mut Variables,
) -> Result<(), Mismatch> {
    let is_named = |name: &str| items.iter().any(|item| item.name == name);
    for flag in STRICT_FLAGS {
        if seen.iter().any(|field| field.name == flag) && !is_named(flag) {
            return Err(differs(step, format!("{flag} is set")));
        }
    }
    if !is_named("len")
        && let Some(field) = seen.iter().find(|field| field.name == "len" && field.values != [Value::Number(0)])
    {
        return Err(differs(step, format!("no payload expected, {field} seen")));
    }
    compare_parts(items, seen, entries, variables)
}

/// Compares a packet that left which consists of parts. These are those written, in their order, and so are theirs down
/// to so many `levels`; fields are compared if written.
pub(crate) fn compare_ordered(
    step: &Place,
    items: &[Item],
    (seen, levels): (&[Field], usize),
    entries: Entries,
    variables: &mut Variables,
) -> Result<(), Mismatch> {
    compare_order(step, items, seen, levels)?;
    compare_parts(items, seen, entries, variables)
}

/// Whether a part counts in the order: chunks, packets and frames have names in capitals. Padding is compared if written.
fn counts_in_order(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_uppercase()) && name != "PADDING"
}

fn compare_order(step: &Place, items: &[Item], seen: &[Field], levels: usize) -> Result<(), Mismatch> {
    let mut written = items.iter().filter(|item| counts_in_order(&item.name) && !item.absent);
    for field in seen.iter().filter(|field| counts_in_order(field.name)) {
        match written.next() {
            Some(item) if item.name == field.name && levels > 1 => {
                compare_order(&item.place, &item.parts, &field.parts, levels - 1)?;
            }
            Some(item) if item.name == field.name => {}
            Some(item) => return Err(differs(&item.place, format!("{} expected, {} seen", item.name, field.name))),
            None => return Err(differs(step, format!("{} was not expected", field.name))),
        }
    }
    Ok(())
}

/// Compares each item with the first field of its name that no item before it was compared with.
fn compare_parts(items: &[Item], seen: &[Field], entries: Entries, variables: &mut Variables) -> Result<(), Mismatch> {
    let mut left: Vec<&Field> = seen.iter().collect();
    for item in items {
        let found = left.iter().position(|field| field.name == item.name || is_short_form(field.name, &item.name));
        match (item.absent, found) {
            (true, None) => {}
            (true, Some(_)) => return Err(differs(&item.place, format!("{} is there", item.name))),
            (false, None) => return Err(differs(&item.place, format!("{} is not there", item.name))),
            (false, Some(index)) => {
                let field = left.remove(index);
                let entry = entry_of(entries, field.name);
                compare_values(item, field, entry, variables)?;
                compare_parts(&item.parts, &field.parts, entry.parts, variables)?;
            }
        }
    }
    Ok(())
}

/// Whether `seen` is the 4-byte form of the DSS field `written`, which stands for either form.
fn is_short_form(seen: &str, written: &str) -> bool {
    seen.strip_suffix('4') == Some(written)
}

fn compare_values(item: &Item, field: &Field, entry: &Entry, variables: &mut Variables) -> Result<(), Mismatch> {
    // Causes have details that need not be written; a list of blocks or types is complete.
    let may_be_more = entry.kinds.len() > 1;
    if item.values.len() > field.values.len() || item.values.len() < field.values.len() && !may_be_more {
        return Err(differs(&item.place, format!("{field} seen")));
    }
    for (index, (expected, seen)) in item.values.iter().zip(&field.values).enumerate() {
        if matches!(expected.kind, Kind::Any) {
            continue;
        }
        if let Some(name) = expected.as_variable()
            && !variables.contains_key(name)
        {
            variables.insert(name.to_owned(), seen.clone());
            continue;
        }
        let value = match (&expected.kind, seen) {
            // A range stands for any number in it.
            (Kind::Range(..), Value::Number(number)) => match expected.evaluate(variables)? {
                Value::Range(first, last) if (first..=last).contains(number) => continue,
                range => range,
            },
            _ => fitting(expected, entry.kind(index), variables)?,
        };
        if value != *seen {
            return Err(differs(&expected.place, format!("{}: {value} expected, {seen} seen", item.name)));
        }
    }
    Ok(())
}

fn differs(place: &Place, text: String) -> Mismatch {
    Mismatch::Differs(Difference { place: place.clone(), text })
}
