//! The keys of algorithms' options, as the catalogues declare them.

use subflow_policy::catalogue::{Catalogue, Choice, Description, Domain, Setting, Value};
use subflow_quantity::Ratio;

use crate::file::{Field, Problem, Value as Toml, list};
use crate::table::{Default, FieldSchema, Kind, TableSchema};

/// An option, or a switch, that algorithms have in common.
pub(crate) struct Shared {
    pub(crate) key: &'static str,
    /// The names of the algorithms that have it, with what each of them has.
    pub(crate) of: Vec<(&'static str, Setting)>,
    /// Whether there are algorithms without it.
    is_special: bool,
}

/// The settings of all algorithms of a catalogue, in its order.
pub(crate) fn shared<A: Catalogue>(settings: fn(&A) -> Vec<Setting>) -> Vec<Shared> {
    let mut shared: Vec<Shared> = Vec::new();
    for (description, prototype) in A::ALL.iter().zip(A::prototypes()) {
        for setting in settings(&prototype) {
            let named = (description.name, setting);
            match shared.iter_mut().find(|known| known.key == named.1.key) {
                Some(known) => known.of.push(named),
                None => shared.push(Shared { key: named.1.key, of: vec![named], is_special: true }),
            }
        }
    }
    shared.iter_mut().for_each(|setting| setting.is_special = setting.of.len() < A::ALL.len());
    shared
}

impl Shared {
    /// The schema of its key. Its description ends with the algorithms that it is for.
    pub(crate) fn schema(&self) -> FieldSchema {
        let docs = self.grouped(|setting| setting.doc.to_owned());
        let named = |(doc, names): &(String, Vec<&str>)| match self.is_special || docs.len() > 1 {
            true => format!("{doc} ({})", names.join(", ")),
            false => doc.clone(),
        };
        let doc = docs.iter().map(named).collect::<Vec<_>>().join("; ");
        let algorithms = self.of.iter().map(|(name, _)| *name).collect();
        FieldSchema { key: self.key, kind: kind(self.domain()), default: self.default(), doc, algorithms }
    }

    fn default(&self) -> Default {
        let (_, first) = &self.of[0];
        let values = self.grouped(|setting| literal(&setting.value));
        match (&values[..], &first.value) {
            _ if first.is_required => {
                Default::None(format!("needed by {}", list(self.of.iter().map(|(name, _)| *name))))
            }
            ([_], Value::Derived(words)) => Default::described(words),
            ([(value, _)], _) => Default::of(value),
            (values, _) => {
                let each = values.iter().map(|(value, names)| format!("{} for {}", unquoted(value), names.join(", ")));
                Default::None(each.collect::<Vec<_>>().join("; "))
            }
        }
    }

    /// The values that it takes. A test makes sure that they are the same for all algorithms that have it.
    pub(crate) fn domain(&self) -> &Domain {
        &self.of[0].1.domain
    }

    /// What algorithms have in common, with their names.
    fn grouped(&self, of: fn(&Setting) -> String) -> Vec<(String, Vec<&'static str>)> {
        let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
        for (name, setting) in &self.of {
            let value = of(setting);
            match groups.iter_mut().find(|group| group.0 == value) {
                Some(group) => group.1.push(name),
                None => groups.push((value, vec![name])),
            }
        }
        groups
    }
}

fn unquoted(literal: &str) -> &str {
    literal.trim_matches('\'')
}

/// The table with the name of an algorithm and its options, between other keys: the name is one of those before.
pub(crate) fn table<A: Catalogue>(
    path: &'static str,
    doc: &'static str,
    before: Vec<FieldSchema>,
    after: Vec<FieldSchema>,
) -> TableSchema {
    let options = shared(A::options).into_iter().map(|option| option.schema());
    TableSchema { path, doc, fields: before.into_iter().chain(options).chain(after).collect() }
}

/// The kind of value that the schema describes.
fn kind(domain: &Domain) -> Kind {
    Kind::Value(match domain {
        Domain::Ratio(range) => format!("a ratio from {} to {}", decimal(*range.start()), decimal(*range.end())),
        Domain::Name(names) => return Kind::Word(names.clone()),
        others => others.to_string(),
    })
}

/// A value in TOML.
pub(crate) fn literal(value: &Value) -> String {
    match value {
        Value::Boolean(_) | Value::Integer(_) | Value::Integers(_) | Value::Fraction(_) => value.to_string(),
        Value::Ratio(ratio) => {
            let decimal = decimal(*ratio);
            if decimal.contains('/') { format!("'{decimal}'") } else { decimal }
        }
        others => format!("'{others}'"),
    }
}

/// A ratio as a decimal number if it has at most three places, or else as a fraction.
fn decimal(ratio: Ratio) -> String {
    match 1000 % ratio.denominator() {
        0 => ratio.as_f64().to_string(),
        _ => ratio.to_string(),
    }
}

/// Reads a value that depends on where the algorithm is: a length of a link's queue, a file, or the number of paths of a
/// flow.
pub(crate) type OfPlace<'r> = &'r dyn Fn(&Field<'_>) -> Result<Value, Problem>;

/// Where there is no such place.
pub(crate) fn of_no_place(field: &Field<'_>) -> Result<Value, Problem> {
    Err(field.problem("it is known for a link or a flow only"))
}

/// The value of an option.
pub(crate) fn parse(field: &Field<'_>, domain: &Domain, of_place: OfPlace<'_>) -> Result<Value, Problem> {
    Ok(match domain {
        Domain::Boolean => Value::Boolean(field.boolean()?),
        Domain::Integer(range) => Value::Integer(field.integer(range.clone())?),
        Domain::Subflows(range) => match field.value() {
            Toml::String(_) => of_place(field)?,
            _ => Value::Integer(field.integer(range.clone())?),
        },
        Domain::Ratio(range) => Value::Ratio(field.ratio(range.clone(), || takes(domain))?),
        Domain::Fraction => Value::Fraction(field.fraction()?),
        Domain::Weight => Value::Fraction(field.weight()?),
        Domain::Duration => Value::Duration(field.duration()?),
        Domain::PositiveDuration => Value::Duration(field.positive_duration()?),
        Domain::Probability => Value::Probability(field.quantity("a probability such as \"10 %\"")?),
        Domain::QueueLength | Domain::Pattern => of_place(field)?,
        Domain::Integers(count, range) => {
            let numbers = field.list(&takes(domain))?;
            if numbers.len() != *count {
                return Err(field.expected(&takes(domain)).label(format!("it has {}", numbers.len())));
            }
            Value::Integers(numbers.iter().map(|number| number.integer(range.clone())).collect::<Result<_, _>>()?)
        }
        Domain::Name(names) => {
            let choice = |description: &Description| Choice { description: *description, value: description.name };
            Value::Name(field.choice("one of the choices", &names.iter().map(choice).collect::<Vec<_>>())?)
        }
    })
}

/// What an option takes, as a continuation of "expected".
fn takes(domain: &Domain) -> String {
    kind(domain).takes()
}

#[cfg(test)]
mod tests {
    use subflow_network::{LossModel, Middlebox};
    use subflow_policy::bottleneck::BottleneckDetection;
    use subflow_policy::congestion::Algorithm;
    use subflow_policy::path_manager::PathManagement;
    use subflow_policy::queue::Discipline;
    use subflow_policy::scheduler::Scheduling;

    use super::*;

    #[test]
    fn an_option_of_several_algorithms_takes_the_same_values_in_all() {
        let all = [
            shared(Algorithm::options),
            shared(Algorithm::switches),
            shared(Scheduling::options),
            shared(PathManagement::options),
            shared(BottleneckDetection::options),
            shared(Discipline::options),
            shared(LossModel::options),
            shared(Middlebox::options),
        ];
        for option in all.iter().flatten() {
            let first = &option.of[0].1;
            let is_alike = |other: &Setting| (&other.domain, other.is_required) == (&first.domain, first.is_required);
            assert!(option.of.iter().all(|(_, setting)| is_alike(setting)), "{}", option.key);
        }
    }

    #[test]
    fn ratios_are_decimal_numbers_if_they_are_short() {
        let ratio = |numerator, denominator| Value::Ratio(Ratio::new(numerator, denominator).expect("a ratio"));
        assert_eq!(
            [ratio(6, 5), ratio(1, 100), ratio(10, 1), ratio(717, 1024)].map(|value| literal(&value)),
            ["1.2", "0.01", "10", "'717/1024'"]
        );
    }
}
