//! Conditions of a link over time from a table of somebody else's measurement, whose columns, units and times are as they
//! were published: 5G and LTE drives, Starlink, WiFi surveys.
//!
//! Times count from the first line. They are numbers in a stated unit, or dates with a time of day such as
//! `2019.12.14_10.16.30`, `2023-06-01 12:00:00.250` and `2023-06-01T12:00:00+02:00`. Lines of the same time become their
//! mean, and a gap keeps the last values. Fields without a number (`-`, `NaN`, empty) change nothing. Commas, semicolons
//! or tabs separate the columns, or where there are none of these, blanks. Columns of a file whose first line has numbers
//! alone are called by their numbers: `1`, `2`, ….

use std::borrow::Cow;

use csv::{ReaderBuilder, StringRecord, Trim};
use subflow_network::{Bernoulli, LinkChange, Probability, Service};
use subflow_quantity::{Duration, Rate};

use crate::conditions::{Conditions, OUTAGE};
use crate::csv_table::{Cause, LineError};

/// A longer file is assumed to be a mistake.
const MOST_LINES: usize = 1_000_000;
/// The longest trace, in seconds.
const LONGEST: f64 = 1e6;

/// Which columns of a table say what.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Columns {
    pub(crate) time: String,
    /// The seconds of a unit of time; dates need none.
    pub(crate) time_unit: f64,
    /// The column of the rate, and the bits per second of its unit.
    pub(crate) rate: Option<(String, f64)>,
    /// The column of the one-way delay, and the seconds of its unit.
    pub(crate) delay: Option<(String, f64)>,
    /// The column of the loss, and the part of 1 that its unit is.
    pub(crate) loss: Option<(String, f64)>,
}

/// The sums of the values of one time, with their numbers.
#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    sum: f64,
    count: u32,
}

impl Columns {
    /// Reads the text of a file.
    pub(crate) fn parse(&self, text: &str) -> Result<Conditions, LineError> {
        let (text, delimiter) = separated(text);
        let has_names = has_names(&text, delimiter, self.time_unit);
        let mut reader = ReaderBuilder::new()
            .trim(Trim::All)
            .comment(Some(b'#'))
            .delimiter(delimiter)
            .flexible(true)
            .has_headers(has_names)
            .from_reader(text.as_bytes());
        let first = reader.headers().map_err(|error| LineError::not_csv(&error))?.clone();
        let header = if has_names { first } else { (1..=first.len()).map(|number| number.to_string()).collect() };
        let time = place(&header, &self.time)?;
        let measured = [&self.rate, &self.delay, &self.loss];
        let mut places = [None; 3];
        for (place_of, column) in places.iter_mut().zip(measured) {
            if let Some((name, unit)) = column {
                *place_of = Some((place(&header, name)?, *unit));
            }
        }
        let mut rows: Vec<(f64, [Mean; 3])> = Vec::new();
        let mut begin = None;
        for record in reader.records() {
            let record = record.map_err(|error| LineError::not_csv(&error))?;
            let line = record.position().map_or(0, |position| position.line() as usize);
            let Some(text) = record.get(time).filter(|text| !text.is_empty()) else { continue };
            let seconds = self
                .seconds(text)
                .ok_or_else(|| LineError::new(line, format!("'{text}'"), "a number, or a date with a time of day"))?;
            let at = seconds - *begin.get_or_insert(seconds);
            if !(0.0..=LONGEST).contains(&at) || rows.last().is_some_and(|(before, _)| at < *before) {
                return Err(LineError::new(line, text, "a time that is not before the last one"));
            }
            if rows.len() == MOST_LINES {
                return Err(LineError::new(line, "another time", format!("at most {MOST_LINES}")));
            }
            if rows.last().is_none_or(|(before, _)| at > *before) {
                rows.push((at, [Mean::default(); 3]));
            }
            let means = &mut rows.last_mut().expect("there is one now").1;
            for (mean, column) in means.iter_mut().zip(&places) {
                let value = column.and_then(|(place, unit)| Some(record.get(place)?.parse::<f64>().ok()? * unit));
                if let Some(value) = value.filter(|value| value.is_finite() && *value >= 0.0) {
                    (mean.sum, mean.count) = (mean.sum + value, mean.count + 1);
                }
            }
        }
        let changes: Vec<_> = rows.into_iter().map(|(at, means)| (duration(at), changes(means))).collect();
        match changes.iter().any(|(_, changes)| !changes.is_empty()) {
            true => Ok(Conditions { changes }),
            false => Err(LineError::new(2, "no line with a number", "one in the named columns")),
        }
    }

    fn seconds(&self, text: &str) -> Option<f64> {
        seconds(text, self.time_unit)
    }
}

/// A number in a unit of so many seconds, or a date.
fn seconds(text: &str, unit: f64) -> Option<f64> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite()).map(|number| number * unit);
    number.or_else(|| seconds_of_date(text))
}

/// The first line that is neither blank nor a comment.
fn first_line(text: &str) -> &str {
    text.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#')).unwrap_or_default()
}

/// The text, and the character that separates its columns: runs of blanks become tabs where nothing else does.
fn separated(text: &str) -> (Cow<'_, str>, u8) {
    let first = first_line(text);
    if first.contains([',', ';', '\t']) || !first.trim().contains(' ') {
        return (Cow::Borrowed(text), delimiter(text));
    }
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join("\t") + "\n");
    (Cow::Owned(lines.collect()), b'\t')
}

/// Whether the first line has names, and not values: a number or a date in each field.
fn has_names(text: &str, delimiter: u8, time_unit: f64) -> bool {
    first_line(text).split(char::from(delimiter)).any(|field| seconds(field.trim(), time_unit).is_none())
}

/// The character that separates the columns: of those in the first line the most frequent.
fn delimiter(text: &str) -> u8 {
    let first = first_line(text);
    let count = |delimiter: u8| first.bytes().filter(|byte| *byte == delimiter).count();
    [b',', b';', b'\t'].into_iter().rev().max_by_key(|delimiter| count(*delimiter)).unwrap_or(b',')
}

/// The place of the column `name`.
fn place(header: &StringRecord, name: &str) -> Result<usize, LineError> {
    header.iter().position(|column| column == name).ok_or_else(|| {
        let names = header.iter().take(12).collect::<Vec<_>>().join(", ");
        LineError::new(1, format!("no column '{name}'"), format!("one of its columns: {names}")).because(Cause::Columns)
    })
}

/// What a line of means changes.
fn changes([rate, delay, loss]: [Mean; 3]) -> Vec<LinkChange> {
    let mean = |mean: Mean| (mean.count > 0).then(|| mean.sum / f64::from(mean.count));
    let rate = mean(rate).map(|bits| Rate::from_bits_per_second(bits.min(1e15).round() as u64).max(OUTAGE));
    let loss = mean(loss).and_then(|share| Probability::new(share.min(1.0)));
    let rate = rate.map(|rate| LinkChange::Service(Service::Rate(rate)));
    let delay = mean(delay).map(|seconds| LinkChange::Delay(duration(seconds.min(LONGEST))));
    let loss = loss.map(|probability| LinkChange::Loss(Some(Bernoulli::new(probability).into())));
    rate.into_iter().chain(delay).chain(loss).collect()
}

fn duration(seconds: f64) -> Duration {
    Duration::from_nanos((seconds * 1e9).round() as u64)
}

/// The seconds of a date with a time of day since 1970 in UTC; without a zone the date is taken as UTC, which matters only
/// if zones change within a file.
pub fn seconds_of_date(text: &str) -> Option<f64> {
    let text = text.trim_end_matches('Z');
    // A zone comes after the time of day, which a date's own hyphens do not.
    let zone_at = text.rfind(['+', '-']).filter(|at| text[..*at].contains(':'));
    let (text, zone) = zone_at.map_or((text, ""), |at| text.split_at(at));
    let mut numbers = [0_u32; 6];
    let mut rest = text;
    for number in &mut numbers {
        rest = rest.trim_start_matches(|c: char| !c.is_ascii_digit());
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        *number = rest[..end].parse().ok()?;
        rest = &rest[end..];
    }
    let fraction = if rest.len() > 1 { format!("0.{}", &rest[1..]).parse().ok()? } else { 0.0 };
    let [year, month, day, hour, minute, second] = numbers;
    let in_range = (1970..=9999).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    if !in_range || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let seconds = days_since_1970(year, month, day) * 86_400 + i64::from(hour * 3600 + minute * 60 + second);
    Some((seconds - zone_offset(zone)?) as f64 + fraction)
}

/// The days from 1970-01-01 to a date of the Gregorian calendar, with years that begin in March, so that the leap day is
/// the last one.
fn days_since_1970(year: u32, month: u32, day: u32) -> i64 {
    let year = i64::from(year) - i64::from(month <= 2);
    let day_of_year = i64::from((153 * ((month + 9) % 12) + 2) / 5 + day - 1);
    let leap_days = year / 4 - year / 100 + year / 400;
    // 1970-01-01 is day 719468 by this count.
    year * 365 + leap_days + day_of_year - 719_468
}

/// The seconds that a zone such as `+02:00` or `-0530` is ahead of UTC; an empty one is UTC.
fn zone_offset(zone: &str) -> Option<i64> {
    let digits: String = zone.chars().filter(char::is_ascii_digit).collect();
    let number = |digits: &str| digits.parse::<i64>().ok();
    let (hours, minutes) = match digits.len() {
        0 => (0, 0),
        2 => (number(&digits)?, 0),
        4 => (number(&digits[..2])?, number(&digits[2..])?),
        _ => return None,
    };
    let seconds = hours * 3600 + minutes * 60;
    Some(if zone.starts_with('-') { -seconds } else { seconds })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn columns() -> Columns {
        Columns {
            time: "Timestamp".to_owned(),
            time_unit: 1.0,
            rate: Some(("DL_bitrate".to_owned(), 1e3)),
            delay: Some(("RTT".to_owned(), 0.5e-3)),
            loss: None,
        }
    }

    fn shown(text: &str) -> String {
        format!("{:?}", columns().parse(text).expect(text).changes)
    }

    #[test]
    fn a_drive_is_read_with_its_own_columns_units_gaps_and_duplicate_seconds() {
        let text = "Timestamp,Speed,DL_bitrate,RTT\n2019.12.14_23.59.59,3,1000,40\n2019.12.15_00.00.01,3,2000,-\n\
            2019.12.15_00.00.01,4,4000,NaN\n2019.12.15_00.00.09,4,0,50\n";
        let rate = |kbit: u64| LinkChange::Service(Service::Rate(Rate::from_bits_per_second(kbit * 1000).max(OUTAGE)));
        let delay = |ms| LinkChange::Delay(Duration::from_millis(ms));
        let at = Duration::from_secs;
        let expected =
            vec![(at(0), vec![rate(1000), delay(20)]), (at(2), vec![rate(3000)]), (at(10), vec![rate(0), delay(25)])];
        assert_eq!(shown(text), format!("{expected:?}"));
    }

    #[test]
    fn dates_and_numbers_of_all_notations_are_the_same_times() {
        let with = |first: &str, second: &str| shown(&format!("Timestamp;DL_bitrate;RTT\n{first};8;1\n{second};9;1\n"));
        let expected = with("100", "101.5");
        for (first, second) in [
            ("2024-02-28 23:59:59", "2024-02-29 00:00:00.5"),
            ("2023-06-01T12:00:00+02:00", "2023-06-01T10:00:01.500Z"),
            ("1685613600", "1685613601.5"),
            ("2023-12-31 18:59:59-0500", "2024-01-01 00:00:00.5"),
        ] {
            assert_eq!(with(first, second), expected, "{first} {second}");
        }
        // By `date -u -d 2024-02-29T12:34:56 +%s`.
        assert_eq!(seconds_of_date("2024-02-29 12:34:56"), Some(1_709_210_096.0));
    }

    #[test]
    fn columns_without_names_have_numbers_and_blanks_separate_them() {
        let named = shown("Timestamp\tDL_bitrate\tRTT\n0\t8\t1\n1\t9\t2\n");
        let numbered = Columns {
            time: "1".to_owned(),
            rate: Some(("2".to_owned(), 1e3)),
            delay: Some(("4".to_owned(), 0.5e-3)),
            ..columns()
        };
        let text = "# seconds kbit/s speed ms\n1289406399  8 0.5 1\n1289406400 9   0.25 2\n";
        assert_eq!(format!("{:?}", numbered.parse(text).expect("it has numbers").changes), named);
        let error = numbered.parse("5 6\n").expect_err("there is no fourth column");
        assert!(error.found.contains("no column '4'") && error.expected.contains("1, 2"), "{error:?}");
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        for (text, line, found) in [
            ("Time,DL_bitrate,RTT\n1,2,3\n", 1, "no column 'Timestamp'"),
            ("Timestamp,DL_bitrate,RTT\nsoon,2,3\n", 2, "'soon'"),
            ("Timestamp,DL_bitrate,RTT\n5,2,3\n4,2,3\n", 3, "4"),
            ("Timestamp,DL_bitrate,RTT\n5,-,\n", 2, "no line with a number"),
            ("Timestamp,DL_bitrate,RTT\n2024-13-01 00:00:00,2,3\n", 2, "'2024-13"),
        ] {
            let error = columns().parse(text).expect_err(text);
            assert!(error.line == line && error.found.contains(found), "{error:?}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(Timestamp|DL_bitrate|RTT|[-0-9.:T_Z+;,\t\n]|é){0,40}") {
            let _ = columns().parse(&text);
            let _ = seconds_of_date(&text);
        }
    }
}
