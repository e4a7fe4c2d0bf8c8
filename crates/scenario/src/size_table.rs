//! Distributions of sizes that others measured, as tables of their cumulative distribution function (CDF).
//!
//! ```text
//! bytes,probability
//! 1000,0.15
//! 20000,0.53
//! 1000000,1
//! ```
//!
//! A line says how probable it is that a transfer has at most so many bytes; between two lines sizes are uniform. No line
//! is smaller than the one before it. Commas, blanks or tabs separate the two columns, `#` begins a comment, and
//! probabilities are fractions or per cent: the last one is 1 or 100. The first line may name the columns, which may then
//! stand in either order.
//!
//! Data centre workloads are published in this form (WebSearch, FB_Hadoop, AliStorage, GoogleRPC), most with a first line
//! `0 0`: sizes below the second line are then uniform from 0, drawn as 1 byte at least. Without such a line all transfers
//! of the first line's probability have the first line's size.

use crate::csv_table::{Cause, LineError};

/// The maximum number of bytes of a transfer.
pub(crate) const MOST_BYTES: u64 = 1 << 60;

/// A cumulative distribution function of sizes.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeTable {
    /// Sizes in bytes, each with the probability of at most this size; the last one is 1.
    lines: Vec<(f64, f64)>,
}

impl SizeTable {
    /// Reads the text of a file.
    pub(crate) fn parse(text: &str) -> Result<Self, LineError> {
        let lines =
            text.lines().enumerate().map(|(number, line)| (number + 1, line.split('#').next().unwrap_or("").trim()));
        let mut lines = lines.filter(|(_, line)| !line.is_empty()).peekable();
        let mut order = Order::SizeFirst;
        if let Some((number, header)) =
            lines.next_if(|(_, line)| line.starts_with(|c: char| c.is_alphabetic() || c == '"'))
        {
            order = Order::of(header).map_err(|found| {
                let expected = "a column of bytes and one of probabilities";
                LineError::new(number, found, expected).because(Cause::Columns)
            })?;
        }
        let mut table: Vec<(f64, f64)> = Vec::new();
        let mut last_line = 1;
        for (number, line) in lines {
            let (size, sum) = order.pair(number, line)?;
            if table.last().is_some_and(|(before, sum_before)| size < *before || sum < *sum_before) {
                let expected = "a size and a probability that are not below those of the line before";
                return Err(LineError::new(number, line, expected));
            }
            if size == 0.0 && sum > 0.0 {
                return Err(LineError::new(number, "a size of 0 bytes", "a probability of 0 for it"));
            }
            table.push((size, sum));
            last_line = number;
        }
        let whole = match table.last() {
            Some((_, sum)) if *sum == 1.0 || *sum == 100.0 => *sum,
            Some((_, sum)) => {
                let found = format!("{sum} as the last probability");
                return Err(LineError::new(last_line, found, "1 or, in per cent, 100"));
            }
            None => return Err(LineError::new(last_line + 1, "the end of the file", "a line with values")),
        };
        // A hundred times too much is a table in per cent; anything else was refused above.
        table.iter_mut().for_each(|(_, sum)| *sum /= whole);
        Ok(Self { lines: table })
    }

    /// The size at the cumulative probability `p`, which is from 0 to 1.
    pub(crate) fn at(&self, p: f64) -> f64 {
        let index = self.lines.partition_point(|(_, sum)| *sum < p);
        let (size, sum) = self.lines[index.min(self.lines.len() - 1)];
        match index.checked_sub(1).map(|before| self.lines[before]) {
            Some((below, lower)) if sum > lower => below + (size - below) * (p - lower) / (sum - lower),
            _ => size,
        }
    }

    pub(crate) fn mean(&self) -> f64 {
        let (first, sum) = self.lines[0];
        let pairs = self.lines.windows(2);
        first * sum + pairs.map(|pair| (pair[1].1 - pair[0].1) * (pair[0].0 + pair[1].0) / 2.0).sum::<f64>()
    }
}

/// Which column comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    SizeFirst,
    ProbabilityFirst,
}

impl Order {
    /// By the names of the columns; the error is what was found.
    fn of(header: &str) -> Result<Self, String> {
        let header = header.to_lowercase();
        let mut words = header.split(|c: char| !c.is_ascii_alphanumeric());
        if let Some(unit) = words.find(|word| ["kb", "mb", "kib", "mib", "packets", "pkts", "kilobytes"].contains(word))
        {
            return Err(format!("sizes in {unit}"));
        }
        let first_of = |names: &[&str]| names.iter().filter_map(|name| header.find(name)).min();
        let size = first_of(&["byte", "size", "length"]);
        let probability = first_of(&["prob", "cdf", "cumul", "percent", "fraction", "share"]);
        match (size, probability) {
            (Some(size), Some(probability)) if size <= probability => Ok(Self::SizeFirst),
            (Some(_), Some(_)) => Ok(Self::ProbabilityFirst),
            _ => Err(format!("'{header}'")),
        }
    }

    /// The size and the probability of a line.
    fn pair(self, number: usize, line: &str) -> Result<(f64, f64), LineError> {
        if line.contains(';') {
            let found = "';' between columns";
            return Err(LineError::new(number, found, "a comma or blanks between them").because(Cause::Separator));
        }
        let separators = |c: char| c == ',' || c.is_whitespace();
        let fields: Vec<&str> = line.split(separators).filter(|field| !field.is_empty()).collect();
        let [first, second] = fields[..] else {
            let found = format!("{} fields", fields.len());
            return Err(LineError::new(number, found, "a size and a probability").because(Cause::Ragged));
        };
        let (size, sum) = match self {
            Self::SizeFirst => (first, second),
            Self::ProbabilityFirst => (second, first),
        };
        let read = |text: &str, most: f64, expected: &str| {
            let value = text.parse().ok().filter(|value| (0.0..=most).contains(value));
            value.ok_or_else(|| LineError::new(number, format!("'{text}'"), expected))
        };
        Ok((read(size, MOST_BYTES as f64, "a size in bytes")?, read(sum, 100.0, "a probability from 0 to 1 or 100")?))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TABLE: &str = "bytes,probability\n1000,0.25\n3000,0.75\n11000,1\n";

    #[test]
    fn tables_of_all_notations_are_the_same() {
        let table = SizeTable::parse(TABLE).expect("a table");
        for other in [
            "1000 25\n3000 75\n11000 100",
            "# WebSearch\n1000\t0.25\n3000\t0.75\n11000\t1.0\n",
            "1000, 25 # a quarter\n\n3000, 75\n11000, 100\n",
            "Flow size (Bytes) CDF\n1000 0.25\n3000 0.75\n11000 1\n",
            "cdf,size\n0.25,1000\n0.75,3000\n1,11000\n",
            "1e3 0.25\n3e3 0.75\n1.1e4 1\n",
        ] {
            assert_eq!(SizeTable::parse(other), Ok(table.clone()), "{other:?}");
        }
    }

    #[test]
    fn a_first_line_of_zeros_spreads_the_sizes_below_the_second() {
        // The mean by hand: a half from 0 to 2000, a half from 2000 to 4000.
        let from_zero = SizeTable::parse("0 0\n2000 50\n4000 100\n").expect("a table");
        assert_eq!((from_zero.at(0.0), from_zero.at(0.25), from_zero.mean()), (0.0, 1000.0, 2000.0));
        let at_once = SizeTable::parse("2000 50\n4000 100\n").expect("a table");
        assert_eq!((at_once.at(0.0), at_once.at(0.25), at_once.mean()), (2000.0, 2000.0, 2500.0));
    }

    #[test]
    fn a_broken_table_is_refused_with_its_line() {
        for (text, line) in [
            ("bytes,count\n1,1\n", 1),
            ("kb cdf\n1 1\n", 1),
            ("bytes,probability\n", 2),
            ("bytes,probability\n1000,0.5\n", 2),
            ("bytes,probability\n1000,0.5\n900,1\n", 3),
            ("bytes,probability\n1000,0.5\n2000,0.4\n", 3),
            ("bytes,probability\n0,1\n", 2),
            ("bytes,probability\n1000,NaN\n", 2),
            ("bytes,probability\n1000\n", 2),
            ("1 0 0\n6 1 0.15\n13 1 1\n", 1),
            ("1000 15\n2000 90\n", 2),
        ] {
            assert_eq!(SizeTable::parse(text).map_err(|error| error.line), Err(line), "{text:?}");
        }
        let cause = |text| SizeTable::parse(text).expect_err("it is broken").cause;
        assert_eq!(cause("bytes;probability\n1000;1\n"), Cause::Separator);
        assert_eq!(cause("1000;1\n"), Cause::Separator);
        assert_eq!(cause("bytes,count\n1000,1\n"), Cause::Columns);
        assert_eq!(cause("1000 0.5 3\n"), Cause::Ragged);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic_and_every_table_has_sizes(text in "([0-9.]{1,4}[ ,\t]|\n|bytes|cdf|#|-|e){0,30}", p in 0.0..=1.0_f64) {
            if let Ok(table) = SizeTable::parse(&text) {
                prop_assert!(table.at(p) >= 0.0 && table.mean() >= 0.0);
            }
        }
    }
}
