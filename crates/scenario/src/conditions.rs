//! Conditions of a link over time, from a CSV file: rate, delay and loss at the times of a measurement.
//!
//! ```text
//! time_s,rate_mbit_s,delay_ms,loss_percent
//! 0,24.5,31,0
//! 0.5,18.2,33.5,0.1
//! 1.0,,40,
//! ```
//!
//! The first line names the columns, in any order: `time_s` and at least one of the others. An empty field changes
//! nothing, and a rate of 0 is an outage: packets wait for the next rate. Lines that begin with `#` are comments.

use csv::StringRecord;
use subflow_network::{Bernoulli, LinkChange, Probability, Service};
use subflow_quantity::{Duration, Rate};

use crate::csv_table::{LineError, reader};

/// A longer file is assumed to be a mistake.
const MOST_LINES: usize = 1_000_000;
/// The longest time or delay, in seconds.
const LONGEST: f64 = 1e6;
/// The largest rate, in Mbit/s.
const FASTEST: f64 = 1e6;

/// The rate of an outage, during which packets wait: a full-sized packet takes more than three hours.
pub(crate) const OUTAGE: Rate = Rate::from_bits_per_second(1);

/// What a file says: the times from its begin, which never go back, and what changes then.
#[derive(Clone, Debug)]
pub(crate) struct Conditions {
    pub(crate) changes: Vec<(Duration, Vec<LinkChange>)>,
}

/// What a column says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Time,
    Rate,
    Delay,
    Loss,
}

const COLUMNS: [(&str, Column); 4] = [
    ("time_s", Column::Time),
    ("rate_mbit_s", Column::Rate),
    ("delay_ms", Column::Delay),
    ("loss_percent", Column::Loss),
];

impl Conditions {
    /// Reads the text of a file.
    pub(crate) fn parse(text: &str) -> Result<Self, LineError> {
        let mut reader = reader(text);
        let columns = columns(reader.headers().map_err(|error| LineError::not_csv(&error))?)?;
        let mut changes: Vec<(Duration, Vec<LinkChange>)> = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|error| LineError::not_csv(&error))?;
            let line = record.position().map_or(0, |position| position.line() as usize);
            let (at, changed) = row(&columns, &record, line)?;
            if changes.last().is_some_and(|(before, _)| at < *before) {
                return Err(LineError::new(line, at.to_string(), "a time that is not before the last one"));
            }
            if changes.len() == MOST_LINES {
                return Err(LineError::new(line, "another line", format!("at most {MOST_LINES}")));
            }
            changes.push((at, changed));
        }
        match changes.is_empty() {
            true => Err(LineError::new(2, "the end of the file", "a line with values")),
            false => Ok(Self { changes }),
        }
    }
}

fn columns(header: &StringRecord) -> Result<Vec<Column>, LineError> {
    let mut columns = Vec::new();
    for name in header {
        let known = COLUMNS.iter().find(|(known, _)| *known == name).map(|(_, column)| *column);
        match known {
            Some(column) if !columns.contains(&column) => columns.push(column),
            _ => {
                let names = "time_s and rate_mbit_s, delay_ms or loss_percent, each once";
                return Err(LineError::other_columns(header, format!("the column '{name}'"), names));
            }
        }
    }
    match columns.contains(&Column::Time) && columns.len() > 1 {
        true => Ok(columns),
        false => {
            let names = "time_s, and rate_mbit_s, delay_ms or loss_percent";
            Err(LineError::other_columns(header, "too few columns".to_owned(), names))
        }
    }
}

/// A time, and what changes then.
fn row(columns: &[Column], record: &StringRecord, line: usize) -> Result<(Duration, Vec<LinkChange>), LineError> {
    let (mut at, mut changes) = (None, Vec::new());
    for (column, text) in columns.iter().zip(record).filter(|(_, text)| !text.is_empty()) {
        let value = |most: f64, expected: &str| {
            let value = text.parse().ok().filter(|value| (0.0..=most).contains(value));
            value.ok_or_else(|| LineError::new(line, format!("'{text}'"), expected))
        };
        match column {
            Column::Time => at = Some(nanos(value(LONGEST, "a time in seconds, from 0 to 1000000")? * 1e9)),
            Column::Delay => {
                let delay = nanos(value(LONGEST * 1e3, "a delay in milliseconds, from 0")? * 1e6);
                changes.push(LinkChange::Delay(delay));
            }
            Column::Rate => {
                let bits = (value(FASTEST, "a rate in Mbit/s from 0 to 1000000")? * 1e6).round() as u64;
                changes.push(LinkChange::Service(Service::Rate(Rate::from_bits_per_second(bits).max(OUTAGE))));
            }
            Column::Loss => {
                let share = value(100.0, "a loss in percent, from 0 to 100")? / 100.0;
                let probability = Probability::new(share).expect("it is from 0 to 1");
                changes.push(LinkChange::Loss(Some(Bernoulli::new(probability).into())));
            }
        }
    }
    let at = at.ok_or_else(|| LineError::new(line, "no time", "one in the column time_s"))?;
    Ok((at, changes))
}

fn nanos(nanos: f64) -> Duration {
    Duration::from_nanos(nanos.round() as u64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::csv_table::Cause;

    #[test]
    fn columns_stand_in_any_order_and_empty_fields_change_nothing() {
        let text = "# a walk\ndelay_ms, time_s, rate_mbit_s\n31, 0, 24.5\n, 0.5, 18.2\n40, 1, \n";
        let rate = |kbit: u64| LinkChange::Service(Service::Rate(Rate::from_bits_per_second(kbit * 1000)));
        let delay = |ms| LinkChange::Delay(Duration::from_millis(ms));
        let at = Duration::from_millis;
        let expected =
            [(at(0), vec![delay(31), rate(24_500)]), (at(500), vec![rate(18_200)]), (at(1000), vec![delay(40)])];
        let found = Conditions::parse(text).expect("it is good");
        assert_eq!(format!("{:?}", found.changes), format!("{expected:?}"));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let cases = [
            ("time_s,speed\n0,1\n", 1, "'speed'"),
            ("time_s,time_s\n0,1\n", 1, "'time_s'"),
            ("time_s\n0\n", 1, "too few columns"),
            ("rate_mbit_s,delay_ms\n0,1\n", 1, "too few columns"),
            ("time_s,rate_mbit_s\n", 2, "the end"),
            ("time_s,rate_mbit_s\n0,1\n1,fast\n", 3, "'fast'"),
            ("time_s,rate_mbit_s\n0,-0.1\n", 2, "'-0.1'"),
            ("time_s,rate_mbit_s\n0,NaN\n", 2, "'NaN'"),
            ("time_s,loss_percent\n0,101\n", 2, "'101'"),
            ("time_s,delay_ms\n-1,5\n", 2, "'-1'"),
            ("time_s,delay_ms\n,5\n", 2, "no time"),
            ("time_s,delay_ms\n2,5\n1,5\n", 3, "1 s"),
            ("time_s,delay_ms\n2,5,9\n", 2, "3 fields"),
        ];
        for (text, line, found) in cases {
            let error = Conditions::parse(text).expect_err(text);
            assert!(error.line == line && error.found.contains(found), "{text:?}: {error:?}");
        }
    }

    #[test]
    fn each_cause_has_words_of_its_own() {
        let cases = [
            ("time_s;rate_mbit_s\n0;1\n", Cause::Separator),
            ("time_s\trate_mbit_s\n0\t1\n", Cause::Separator),
            ("time_s,speed\n0,1\n", Cause::Columns),
            ("time_s,delay_ms\n2,5,9\n", Cause::Ragged),
            ("time_s,rate_mbit_s\n0,fast\n", Cause::Value),
        ];
        for (text, cause) in cases {
            let error = Conditions::parse(text).expect_err(text);
            assert_eq!(error.cause, cause, "{error:?}");
            assert!(!format!("{error:?}").contains("CSV error"), "{error:?}");
        }
    }

    #[test]
    fn a_rate_of_zero_is_an_outage() {
        let found = Conditions::parse("time_s,rate_mbit_s\n0,8\n1,0\n3,0.0\n").expect("links have outages");
        for (_, changes) in &found.changes[1..] {
            assert!(matches!(changes[..], [LinkChange::Service(Service::Rate(OUTAGE))]), "{changes:?}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(time_s|rate_mbit_s|[-0-9.eEn,#\" \n]){0,40}") {
            let _ = Conditions::parse(&text);
        }
    }
}
