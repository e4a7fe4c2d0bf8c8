//! What is measured: every metric once, with its name, its unit, what it is of, and how it is read from results.
//!
//! All outputs read these declarations: CSV, text, the tables for Arrow and Parquet, statistics, comparisons and the
//! report. A new metric takes a line here and the code that measures it.
//!
//! | to find | look in |
//! |---|---|
//! | the metrics of flows, of groups of flows, of subflows and destinations | `flow.rs` |
//! | of a whole run, of its links and their directions, of interfaces | `run.rs` |
//! | the metrics that can be compared, by the names of the command line | `compared.rs` |
//! | statistics of metrics over runs | `summaries.rs` |

mod compared;
mod flow;
mod run;
mod summaries;

pub use compared::{ComparedMetric, Measured};
pub use flow::{FLOW, GROUP, IDENTITY, SUBFLOW};
pub use run::{DIRECTION, INTERFACE, LINK, RUN};
pub use summaries::Summaries;

use super::Better;

/// How a metric is read from what it is of; `None` where that does not have it.
#[derive(Debug)]
pub enum Read<T: 'static> {
    /// A word.
    Word(fn(&T) -> Option<&str>),
    /// A count, or a number of bytes.
    Count(fn(&T) -> Option<u64>),
    /// A measured number.
    Number(fn(&T) -> Option<f64>),
    /// A truth value.
    Flag(fn(&T) -> Option<bool>),
}

/// A metric of objects `T`: flows, subflows, directions of links, groups or runs.
#[derive(Debug)]
pub struct Metric<T: 'static> {
    /// Its name in tables and, unless `statistics` says otherwise, in JSON.
    pub column: &'static str,
    /// Its unit; empty for words and plain counts, 1 for a share.
    pub unit: &'static str,
    /// What it is, as tables describe it.
    pub description: &'static str,
    /// How it is read.
    pub read: Read<T>,
    /// Its position among the columns of `--format csv` ([`crate::output::to_csv`]), if it is one.
    pub csv: Option<u8>,
    /// Whether tables lack its column where nothing has the metric.
    pub if_any: bool,
    /// Its name in the JSON's `statistics[]`, if it has statistics: after a dot in an object of its own, which is absent
    /// where no run has the metric.
    pub statistics: Option<&'static str>,
    /// Its name in the table `statistics`, if that is another.
    pub quantity: &'static str,
    /// How summaries for people show it, if they do.
    pub shown: Option<Shown>,
    /// How it is compared, if it can be.
    pub compared: Option<Comparable>,
}

/// Metrics are the same if they have the same column.
impl<T> PartialEq for Metric<T> {
    fn eq(&self, other: &Self) -> bool {
        self.column == other.column
    }
}

/// The table of a summary that a metric of flows is in. Those after the first are left out if they are empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All flows, or all subflows, links or groups.
    Main,
    /// Flows that have sent data again on another subflow.
    Reinjections,
    /// Requests and their responses.
    Exchanges,
    /// Video players.
    Video,
    /// Messages that SCTP has abandoned.
    Abandoned,
    /// Datagrams of UDP.
    Datagrams,
}

/// How a summary of several runs shows a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means {
    /// Not at all.
    None,
    /// By its mean, which summaries of one run do not show.
    MeanOnly,
    /// By its mean.
    Mean,
    /// By its mean; on pages also by its interval.
    PageInterval,
    /// By its mean and its interval.
    Interval,
    /// By mean, interval, median and, as text, standard deviation.
    Spread,
}

/// How summaries for people show a metric.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    /// The table.
    pub part: Part,
    /// The heading as text, in few letters; empty if text does not show it.
    pub text: &'static str,
    /// The heading on a page.
    pub page: &'static str,
    /// The number of decimals.
    pub decimals: usize,
    /// What the value is multiplied by.
    pub scale: f64,
    /// How it is shown of several runs.
    pub means: Means,
}

impl Shown {
    /// The unit of the value as it is shown, of a metric in `unit`.
    pub fn unit(&self, unit: &'static str) -> &'static str {
        match unit {
            "bytes" if self.scale == 1e-6 => "MB",
            "1" if self.scale == 100.0 => "%",
            "1" => "",
            unit => unit,
        }
    }
}

/// How a metric is compared and drawn.
#[derive(Clone, Copy, Debug)]
pub struct Comparable {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is, as the manual says it.
    pub meaning: &'static str,
    /// Which direction is better.
    pub better: Better,
    /// Whether it is compared unless others are chosen.
    pub is_usual: bool,
    /// The title of its figures.
    pub title: &'static str,
    /// What axes call it.
    pub label: &'static str,
}

impl<T> Metric<T> {
    const fn new(column: &'static str, unit: &'static str, description: &'static str, read: Read<T>) -> Self {
        let (csv, statistics, shown, compared) = (None, None, None, None);
        Self { column, unit, description, read, csv, if_any: false, statistics, quantity: column, shown, compared }
    }

    const fn word(column: &'static str, description: &'static str, read: fn(&T) -> Option<&str>) -> Self {
        Self::new(column, "", description, Read::Word(read))
    }

    const fn count(
        column: &'static str,
        unit: &'static str,
        description: &'static str,
        read: fn(&T) -> Option<u64>,
    ) -> Self {
        Self::new(column, unit, description, Read::Count(read))
    }

    const fn number(
        column: &'static str,
        unit: &'static str,
        description: &'static str,
        read: fn(&T) -> Option<f64>,
    ) -> Self {
        Self::new(column, unit, description, Read::Number(read))
    }

    const fn flag(column: &'static str, description: &'static str, read: fn(&T) -> Option<bool>) -> Self {
        Self::new(column, "", description, Read::Flag(read))
    }

    /// Puts it into CSV, at this position.
    const fn csv(self, position: u8) -> Self {
        Self { csv: Some(position), ..self }
    }

    /// Leaves its column out where nothing has the metric.
    const fn if_any(self) -> Self {
        Self { if_any: true, ..self }
    }

    /// Gives it statistics, under this name in JSON.
    const fn summarised(self, statistics: &'static str) -> Self {
        Self { statistics: Some(statistics), ..self }
    }

    /// Shows it in the main table, with these headings as text and on a page.
    const fn shown(self, text: &'static str, page: &'static str, decimals: usize, means: Means) -> Self {
        Self { shown: Some(Shown { part: Part::Main, text, page, decimals, scale: 1.0, means }), ..self }
    }

    /// Makes it comparable.
    const fn compared(
        self,
        name: &'static str,
        meaning: &'static str,
        better: Better,
        [title, label]: [&'static str; 2],
    ) -> Self {
        Self { compared: Some(Comparable { name, meaning, better, is_usual: false, title, label }), ..self }
    }

    /// Makes it one of those that are compared unless others are chosen.
    const fn usual(mut self) -> Self {
        if let Some(compared) = &mut self.compared {
            compared.is_usual = true;
        }
        self
    }

    /// Shows it in another table of the summary.
    const fn part(mut self, part: Part) -> Self {
        if let Some(shown) = &mut self.shown {
            shown.part = part;
        }
        self
    }

    /// Shows its value multiplied by `scale`.
    const fn scaled(mut self, scale: f64) -> Self {
        if let Some(shown) = &mut self.shown {
            shown.scale = scale;
        }
        self
    }

    /// Calls it by another name in the table `statistics`.
    const fn named_in_statistics(self, quantity: &'static str) -> Self {
        Self { quantity, ..self }
    }

    /// Its value as a number; `None` also for words and truth values.
    pub fn value(&self, of: &T) -> Option<f64> {
        match self.read {
            Read::Count(read) => read(of).map(|count| count as f64),
            Read::Number(read) => read(of),
            Read::Word(_) | Read::Flag(_) => None,
        }
    }

    /// Whether it has a column in a table of `all`.
    pub fn has_column<'t>(&self, all: impl IntoIterator<Item = &'t T>) -> bool {
        !self.if_any || all.into_iter().any(|of| self.value(of).is_some())
    }

    /// Its value if it is a word.
    pub fn word_of<'t>(&self, of: &'t T) -> Option<&'t str> {
        match self.read {
            Read::Word(read) => read(of),
            Read::Count(_) | Read::Number(_) | Read::Flag(_) => None,
        }
    }

    /// Whether it is a count, which repeated runs have distributions of few different values of.
    pub fn is_count(&self) -> bool {
        matches!(self.read, Read::Count(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The headings that do not name the unit of their values.
    fn without_unit<T: 'static>(metrics: impl IntoIterator<Item = &'static Metric<T>>) -> Vec<&'static str> {
        let shown = metrics.into_iter().filter_map(|metric| Some((metric.unit, metric.shown?)));
        let headings = shown.flat_map(|(unit, shown)| {
            // In text the sign is beside each share.
            let text = if shown.unit(unit) == "%" { "" } else { shown.text };
            [text, shown.page].map(|heading| (heading, shown.unit(unit)))
        });
        let lacks = |&(heading, unit): &(&str, &str)| {
            !heading.is_empty() && !unit.is_empty() && heading.split(' ').all(|word| word != unit)
        };
        headings.filter(lacks).map(|(heading, _)| heading).collect()
    }

    #[test]
    fn every_heading_of_a_value_with_a_unit_names_it() {
        let mut found = without_unit(FLOW.iter().copied().flatten());
        found.extend(without_unit(SUBFLOW.iter().copied().flatten()));
        found.extend(without_unit(GROUP));
        found.extend(without_unit(LINK));
        found.extend(without_unit(DIRECTION));
        found.extend(without_unit(INTERFACE));
        found.extend(without_unit(RUN));
        assert_eq!(found, [""; 0]);
    }
}
