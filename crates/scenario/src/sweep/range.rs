//! Ranges of values: `"10 ms .. 50 ms step 10 ms"`, and `"1 .. 1000 log 4"` with equal factors between the values. For
//! designs that draw values, `"10 ms .. 50 ms"` and `"1 .. 1000 log"` are all numbers from one end to the other.

use rand_core::RngCore;

use super::Bounds;
use crate::file::{Node, Problem, Value};
use crate::random::{below, one_in_each, uniform};

const HELP: &str =
    "for example \"10 ms .. 50 ms step 10 ms\", or \"1 .. 1000 log 4\" for four values with equal factors";

/// More digits than these have no exact value as a floating-point number.
const MOST_DIGITS: usize = 15;

/// What a range stands for.
pub(super) enum Meaning {
    /// These values, each at the place of the range.
    Values(Vec<Node>),
    /// All numbers from one end to the other.
    Span(Span),
}

/// All numbers of a range with as many decimals as its ends have.
#[derive(Clone, Debug)]
pub(super) struct Span {
    range: Range,
    /// The range as it is written.
    node: Node,
}

/// The meaning of a range, which may have as many values as `bounds` has points; `None` if the value is none.
pub(super) fn read(node: &Node, bounds: Bounds) -> Option<Result<Meaning, Problem>> {
    let Value::String(text) = &node.value else { return None };
    let problem = |why| Problem::at(&node.place, format!("sweep: found {}, {why}", node.shown()));
    let meaning = |range: Range| -> Result<Meaning, Problem> {
        let refused = |why| problem(why).help(HELP);
        if let Spacing::Any | Spacing::AnyLog = range.spacing {
            range.check_ends().map_err(refused)?;
            return Ok(Meaning::Span(Span { range, node: node.clone() }));
        }
        let count = range.count().map_err(refused)?;
        if count > bounds.points as u64 {
            return Err(problem(format!("which is {count} values, expected {}", bounds.most_points()))
                .help(bounds.ways_out(&["take a larger step", "a smaller number after \"log\""])));
        }
        let each = range.values(count).map_err(refused)?;
        Ok(Meaning::Values(each.into_iter().map(|value| Node { value, place: node.place.clone() }).collect()))
    };
    Some(Range::parse(text)?.map_err(|why| problem(why).help(HELP)).and_then(meaning))
}

impl Span {
    /// How many numbers there are.
    pub(super) fn len(&self) -> u64 {
        self.range.last - self.range.first + 1
    }

    /// A number of the range, by its place among all.
    pub(super) fn draw(&self, rng: &mut impl RngCore) -> u64 {
        match self.range.spacing {
            Spacing::AnyLog => self.place_at(uniform(rng)),
            _ => below(self.len(), rng),
        }
    }

    /// A number in each of so many equal parts, by their places among all. In a logarithmic range, parts have equal
    /// factors.
    pub(super) fn draw_each(&self, parts: u64, rng: &mut impl RngCore) -> Vec<u64> {
        match self.range.spacing {
            Spacing::AnyLog => {
                (0..parts).map(|part| self.place_at((part as f64 + uniform(rng)) / parts as f64)).collect()
            }
            _ => one_in_each(parts, self.len(), rng),
        }
    }

    /// The place of the number at this share of the way between the ends, in equal factors.
    fn place_at(&self, share: f64) -> u64 {
        self.range.between(share).clamp(self.range.first, self.range.last) - self.range.first
    }

    /// The number with this place among all.
    pub(super) fn at(&self, index: u64) -> Node {
        let value = self.range.value(self.range.first + index);
        Node { value, place: self.node.place.clone() }
    }

    /// The problem of this range in a sweep that goes through all values.
    pub(super) fn without_step(&self) -> Problem {
        let expected = "expected \"step\" and a number, or \"log\" and how many values";
        Problem::at(&self.node.place, format!("sweep: found {}, {expected}", self.node.shown()))
            .help(format!("{HELP}; a random or latin-hypercube design takes such a range"))
    }

    /// The problem of this range among other values.
    pub(super) fn in_a_list(&self) -> Problem {
        Problem::at(&self.node.place, format!("sweep: found {} in a list, expected it alone", self.node.shown()))
            .label("its values cannot be counted with the others")
            .help(HELP)
    }
}

/// The first value of a range, such as `10 ms` of `10 ms .. 50 ms step 10 ms`; `None` if `text` is no range, or not
/// a valid one.
pub fn first_of_range(text: &str) -> Option<String> {
    let range = Range::parse(text)?.ok()?;
    Some(range.text(range.first))
}

/// Numbers of one unit as whole multiples of its last decimal.
#[derive(Clone, Debug)]
struct Range {
    first: u64,
    last: u64,
    spacing: Spacing,
    /// The number of decimals.
    decimals: usize,
    /// Empty if there is none.
    unit: String,
}

#[derive(Clone, Copy, Debug)]
enum Spacing {
    Step(u64),
    /// Equal factors between so many values.
    Log(u64),
    /// All numbers, each as probable as the others.
    Any,
    /// All numbers, with equal probabilities of equal factors.
    AnyLog,
}

impl Range {
    /// The range; `None` if the text does not begin as one, as a name or the path of a trace.
    fn parse(text: &str) -> Option<Result<Self, String>> {
        let (first, rest) = text.split_once("..")?;
        let first = Number::parse(first)?;
        let (last, spacing, is_log) = match (rest.split_once(" step "), rest.split_once(" log ")) {
            (Some((last, step)), _) => (last, Some(step), false),
            (_, Some((last, count))) => (last, Some(count), true),
            _ => match rest.trim_end().strip_suffix(" log") {
                Some(last) => (last, None, true),
                None => (rest, None, false),
            },
        };
        let last = Number::parse(last);
        if last.is_none() && spacing.is_none() {
            return None;
        }
        let expected = || "expected numbers with at most 15 digits and a unit".to_owned();
        let by = spacing.map(|by| Number::parse(by).ok_or_else(expected)).transpose();
        Some(last.ok_or_else(expected).and_then(|last| Self::new(&first, &last, by?.as_ref(), is_log)))
    }

    fn new(first: &Number<'_>, last: &Number<'_>, by: Option<&Number<'_>>, is_log: bool) -> Result<Self, String> {
        let with_unit: Vec<&Number<'_>> = [first, last].into_iter().chain(by.filter(|_| !is_log)).collect();
        let unit = with_unit.iter().map(|number| number.unit).find(|unit| !unit.is_empty()).unwrap_or("");
        if with_unit.iter().any(|number| !["", unit].contains(&number.unit)) {
            return Err("expected one unit".to_owned());
        }
        let decimals = with_unit.iter().map(|number| number.fraction.len()).max().unwrap_or(0);
        let too_long = || format!("expected at most {MOST_DIGITS} digits");
        let multiple = |number: &Number<'_>| number.multiple(decimals).ok_or_else(too_long);
        let spacing = match (by, is_log) {
            (None, false) => Spacing::Any,
            (None, true) => Spacing::AnyLog,
            (Some(by), false) => Spacing::Step(multiple(by)?),
            (Some(by), true) => match by.multiple(0).filter(|_| by.unit.is_empty() && by.fraction.is_empty()) {
                Some(count) => Spacing::Log(count),
                None => return Err("expected a whole number of values after \"log\"".to_owned()),
            },
        };
        Ok(Self { first: multiple(first)?, last: multiple(last)?, spacing, decimals, unit: unit.to_owned() })
    }

    fn check_ends(&self) -> Result<(), String> {
        match self.spacing {
            _ if self.first > self.last => Err("expected the smaller end first".to_owned()),
            Spacing::Log(_) | Spacing::AnyLog if self.first == 0 => {
                Err("expected ends above zero, which factors need".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// The number at this share of the way between the ends, in equal factors.
    fn between(&self, share: f64) -> u64 {
        (self.first as f64 * libm::pow(self.last as f64 / self.first as f64, share)).round() as u64
    }

    /// The number of its values.
    fn count(&self) -> Result<u64, String> {
        self.check_ends()?;
        match self.spacing {
            Spacing::Step(0) => Err("expected a step above zero".to_owned()),
            Spacing::Step(step) => Ok((self.last - self.first) / step + 1),
            Spacing::Log(0 | 1) => Err("expected at least two values".to_owned()),
            Spacing::Log(count) => Ok(count),
            Spacing::Any | Spacing::AnyLog => Ok(self.last - self.first + 1),
        }
    }

    /// Its values, of which there are `count`.
    fn values(&self, count: u64) -> Result<Vec<Value>, String> {
        let (first, last) = (self.first, self.last);
        let at = |index: u64| match self.spacing {
            Spacing::Step(step) => first + index * step,
            Spacing::Log(_) if index == 0 => first,
            Spacing::Log(_) if index == count - 1 => last,
            Spacing::Log(_) => self.between(index as f64 / (count - 1) as f64),
            Spacing::Any | Spacing::AnyLog => first + index,
        };
        let multiples: Vec<u64> = (0..count).map(at).collect();
        if multiples.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(
                "of which two values are equal with as many decimals as its ends have, expected fewer values, or \
                        ends with more decimals (1.00)"
                    .to_owned(),
            );
        }
        Ok(multiples.into_iter().map(|multiple| self.value(multiple)).collect())
    }

    /// A number without a unit is one in TOML, others are text.
    fn value(&self, multiple: u64) -> Value {
        let text = self.text(multiple);
        match (self.unit.as_str(), self.decimals) {
            ("", 0) => Value::Integer(multiple as i64),
            ("", _) => Value::Float(text.parse().expect("digits with a point are a number")),
            _ => Value::String(text),
        }
    }

    fn text(&self, multiple: u64) -> String {
        let digits = format!("{multiple:0width$}", width = self.decimals + 1);
        let (whole, fraction) = digits.split_at(digits.len() - self.decimals);
        let fraction = fraction.trim_end_matches('0');
        let point = if fraction.is_empty() { "" } else { "." };
        format!("{whole}{point}{fraction} {}", self.unit).trim_end().to_owned()
    }
}

/// A decimal number as it is written.
struct Number<'t> {
    whole: &'t str,
    fraction: &'t str,
    unit: &'t str,
}

impl<'t> Number<'t> {
    fn parse(text: &'t str) -> Option<Self> {
        let text = text.trim();
        let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        let is_number = !whole.is_empty() && digits(fraction) && !number.ends_with('.');
        is_number.then_some(Self { whole, fraction, unit: unit.trim() })
    }

    /// How often it contains the last of so many decimals, which are at least its own.
    fn multiple(&self, decimals: usize) -> Option<u64> {
        let text = format!("{}{:0<decimals$}", self.whole, self.fraction);
        if text.len() > MOST_DIGITS { None } else { text.parse().ok() }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(text: &str) -> Result<Vec<String>, String> {
        let range = Range::parse(text).expect("a range")?;
        let values = range.values(range.count()?)?;
        let shown = values.into_iter().map(|value| match value {
            Value::String(text) => text,
            Value::Integer(n) => n.to_string(),
            Value::Float(x) => format!("{x:?}"),
            other => panic!("{other:?}"),
        });
        Ok(shown.collect())
    }

    fn of(text: &str) -> Vec<String> {
        shown(text).expect("values")
    }

    #[test]
    fn steps_are_exact_and_include_the_end_if_they_meet_it() {
        assert_eq!(of("1 .. 4 step 1"), ["1", "2", "3", "4"]);
        assert_eq!(of("10 ms .. 40 ms step 15 ms"), ["10 ms", "25 ms", "40 ms"]);
        assert_eq!(of("0 .. 0.3 % step 0.1"), ["0 %", "0.1 %", "0.2 %", "0.3 %"]);
        assert_eq!(of("1 .. 10 step 4"), ["1", "5", "9"]);
        assert_eq!(of("0.5..1.0 step 0.25"), ["0.5", "0.75", "1.0"]);
        assert_eq!(of("7Mbit/s .. 7Mbit/s step 1"), ["7 Mbit/s"]);
    }

    #[test]
    fn logarithmic_values_have_equal_factors_up_to_the_decimals_of_the_ends() {
        assert_eq!(of("1 .. 1000 log 4"), ["1", "10", "100", "1000"]);
        assert_eq!(of("0.01 % .. 1 % log 3"), ["0.01 %", "0.1 %", "1 %"]);
        assert_eq!(of("1 ms .. 100 ms log 4"), ["1 ms", "5 ms", "22 ms", "100 ms"]);
        assert_eq!(of("1.00 ms .. 100 ms log 4"), ["1 ms", "4.64 ms", "21.54 ms", "100 ms"]);
    }

    #[test]
    fn a_range_without_spacing_has_all_numbers_of_its_decimals() {
        let parsed = |text: &str| Range::parse(text).expect("a range").expect("good");
        let span = |text: &str| match read(&Node::of_default("", &format!("'{text}'")), Bounds::WIDEST) {
            Some(Ok(Meaning::Span(span))) => span,
            _ => panic!("{text} is no span"),
        };
        assert_eq!(span("10 .. 50 ms").len(), 41);
        assert_eq!(span("1.00 .. 5").len(), 401);
        assert!(matches!(span("1.00 .. 5").at(1).value, Value::Float(x) if x == 1.01));
        assert!(matches!(&span("10 .. 50 ms").at(40).value, Value::String(text) if text == "50 ms"));
        // Half of a logarithmic range is below the geometric mean of its ends.
        let mut rng = subflow_network::stream(1, "range");
        let drawn = (0..1000).map(|_| span("1 .. 10000 log").draw(&mut rng) + 1);
        assert!((450..550).contains(&drawn.filter(|number| *number < 100).count()));
        assert!(parsed("0 .. 5 log").check_ends().is_err() && parsed("5 .. 1").check_ends().is_err());
    }

    #[test]
    fn what_is_no_range_says_why() {
        let cases = [
            ("1 .. ten step 1", "expected numbers"),
            ("1 .. 10 step 0", "a step above zero"),
            ("10 .. 1 step 1", "the smaller end first"),
            ("0 .. 1 log 3", "ends above zero"),
            ("1 .. 10 log 1", "at least two values"),
            ("1 .. 10 log 2.5", "a whole number of values"),
            ("1 ms .. 1 s step 1 ms", "one unit"),
            ("1 .. 3 log 9", "two values are equal"),
            ("1 .. 9999999999999999 step 1", "15 digits"),
        ];
        for (text, expected) in cases {
            let why = shown(text).expect_err("refused");
            assert!(why.contains(expected), "{text}: {why}");
        }
        for other in ["lia", "../lte.up", "traces/1..2.up/../x", "1..2.up", "", "-1 .. 3 step 1", "a .. b step c"] {
            assert!(Range::parse(other).is_none(), "{other}");
        }
        assert_eq!(first_of_range("10 .. 50 ms step 10"), Some("10 ms".to_owned()));
        assert_eq!(first_of_range("10 .. 50 ms"), Some("10 ms".to_owned()));
        assert_eq!(first_of_range("lia"), None);
    }

    #[test]
    fn a_range_with_too_many_values_names_the_limit_that_is_in_force_and_the_way_out() {
        let refused = |bounds| match read(&Node::of_default("", "'1 .. 999999999 step 1'"), bounds) {
            Some(Err(problem)) => (problem.message, problem.help),
            _ => panic!("it is not refused"),
        };
        let (message, help) = refused(Bounds::WIDEST);
        assert!(message.ends_with("which is 999999999 values, expected at most 100000"), "{message}");
        assert_eq!(help, "take a larger step, or a smaller number after \"log\"");
        let (message, help) = refused(Bounds { points: 200, ..Bounds::WIDEST });
        assert!(message.ends_with("expected at most 200 here") && help.ends_with(", or use `subflow run`"), "{help}");
    }

    proptest! {
        #[test]
        fn any_text_is_a_range_or_not(text in "[0-9. a%]{0,12}(\\.\\.)?[0-9. a%]{0,12}( step | log )?[0-9. a%]{0,8}") {
            let node = Node { value: Value::String(text), ..Node::of_default("", "0") };
            if let Some(Ok(Meaning::Values(values))) = read(&node, Bounds::WIDEST) {
                prop_assert!(!values.is_empty() && values.len() <= Bounds::WIDEST.points);
            }
        }
    }
}
