//! What a column of a table shows of a cell, as a paper's file writes it: the book lists what there is
//! (`docs/src/study-folder.md`).

use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::Error;
use serde_json::Value;
use subflow_lab::statistics::{mean, median, median_interval, standard_deviation};
use subflow_report::Cell;

use super::experiment::Variable;
use super::metrics::Metric;
use super::ratio::Ratio;
use super::results::{Results, Row};

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Show {
    what: What,
    /// The value of the variable `across` that the cell has.
    pub(super) at: Option<String>,
}

#[derive(Clone, Debug, Default)]
enum What {
    #[default]
    Item,
    Runs,
    Variable(String),
    Text(String),
    /// The name of the line's metric, in a table with a line for each.
    Metric,
    /// Of a metric, or of that of the line where it is `*`.
    Figure(Statistic, String),
}

/// What stands for the metric of a line.
const EACH: &str = "*";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Statistic {
    Mean,
    Low,
    High,
    Median,
    MedianLow,
    MedianHigh,
    Sd,
    Published,
    Ratio,
    RatioHalf,
    MarkedRatio,
    /// How many runs have a figure.
    Count,
    Value,
    Means,
    /// The same in percent, of a figure that is a share.
    Percents,
    Medians,
}

impl TryFrom<String> for Show {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let (what, at) = text.split_once(" @ ").map_or((text.as_str(), None), |(what, at)| (what, Some(at.to_owned())));
        let what = match what.split_once(' ') {
            _ if what.contains("${") => What::Text(what.to_owned()),
            None if what == "item" => What::Item,
            None if what == "runs" => What::Runs,
            None if what == "metric" => What::Metric,
            None => What::Variable(what.to_owned()),
            Some((statistic, metric)) => {
                let statistic = Statistic::deserialize(statistic.into_deserializer());
                What::Figure(statistic.map_err(|error: Error| error.to_string())?, metric.to_owned())
            }
        };
        Ok(Self { what, at })
    }
}

impl Show {
    pub(super) fn of(statistic: Statistic, metric: &str) -> Self {
        Self { what: What::Figure(statistic, metric.to_owned()), at: None }
    }

    pub(super) fn runs() -> Self {
        Self { what: What::Runs, at: None }
    }

    pub(super) fn variable(name: &str) -> Self {
        Self { what: What::Variable(name.to_owned()), at: None }
    }

    /// The name of its metric, if it is of one.
    pub(super) fn metric(&self) -> Option<&str> {
        if let What::Figure(_, metric) = &self.what { Some(metric.as_str()).filter(|name| *name != EACH) } else { None }
    }

    /// Whether it takes a line for each metric.
    pub(super) fn is_by_metric(&self) -> bool {
        matches!(&self.what, What::Metric)
    }
}

/// What is shown, besides a row.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) results: &'a Results,
    pub(super) metrics: &'a [Metric],
    pub(super) reference: Option<&'a Variable>,
    /// What stands between a mean and half its interval.
    pub(super) sign: &'a str,
    /// The place of the metric of a line.
    pub(super) line: usize,
}

impl View<'_> {
    pub(super) fn cell(&self, row: &Row, show: &Show) -> Cell {
        match &show.what {
            What::Item => row.cell.item.as_str().into(),
            What::Runs => Cell::Integer(row.runs.len() as i64),
            What::Metric => self.metrics[self.line].name.as_str().into(),
            What::Text(text) => row.cell.fill(text).into(),
            What::Variable(name) => match row.cell.variables.get(name) {
                Some(Value::Number(number)) => number.as_i64().map_or(number.as_f64().into(), Cell::Integer),
                _ => row.cell.text(name).into(),
            },
            What::Figure(statistic, metric) => self.figure(row, *statistic, self.place(metric)),
        }
    }

    /// The place of a metric in samples.
    pub(super) fn place(&self, name: &str) -> usize {
        if name == EACH {
            return self.line;
        }
        self.metrics.iter().position(|metric| metric.name == name).expect("the file was checked for its name")
    }

    fn figure(&self, row: &Row, statistic: Statistic, place: usize) -> Cell {
        let (samples, interval) = (row.samples(place), row.interval(place));
        let of_median = median_interval(&samples, 0.95);
        match statistic {
            Statistic::Mean => mean(&samples).into(),
            Statistic::Low => interval.map(|of| of.low).into(),
            Statistic::High => interval.map(|of| of.high).into(),
            Statistic::Median => median(&samples).into(),
            Statistic::MedianLow => of_median.map(|of| of.low).into(),
            Statistic::MedianHigh => of_median.map(|of| of.high).into(),
            Statistic::Sd => standard_deviation(&samples).into(),
            Statistic::Published => self.published(row, place).into(),
            Statistic::Ratio => self.ratio(row, place).map(|ratio| ratio.value).into(),
            Statistic::RatioHalf => self.ratio(row, place).map(Ratio::half).into(),
            Statistic::MarkedRatio => self.ratio(row, place).map_or(Cell::Empty, |ratio| ratio.marked().into()),
            Statistic::Value => mean(&samples).map_or(Cell::Empty, |mean| self.decimal(mean, place).into()),
            Statistic::Count => Cell::Integer(samples.len() as i64),
            Statistic::Means => self.means(row, place).into(),
            Statistic::Percents => self.means(&row.scaled(100.0), place).into(),
            Statistic::Medians => self.medians(row, place).into(),
        }
    }

    fn decimal(&self, value: f64, place: usize) -> String {
        format!("{value:.*}", self.metrics[place].decimals)
    }

    pub(super) fn published(&self, row: &Row, place: usize) -> Option<f64> {
        self.results.published.of_metric(&row.cell, place, &self.metrics[place].name)
    }

    /// The ratio to the paper's reference, which has none itself.
    pub(super) fn ratio(&self, row: &Row, place: usize) -> Option<Ratio> {
        let Variable { name, value } = self.reference.filter(|of| !row.cell.is(&of.name, of.value.clone()))?;
        Ratio::by_errors(row, self.results.beside(row, name, value)?, place)
    }

    fn means(&self, row: &Row, place: usize) -> String {
        let ours = row.shown(place, self.metrics[place].decimals, self.sign).unwrap_or_default();
        self.published(row, place).map_or(ours.clone(), |published| format!("{ours} ({published})"))
    }

    fn medians(&self, row: &Row, place: usize) -> String {
        let flows = row.by_flow();
        let joined = |of: &dyn Fn(&Row) -> String| flows.iter().map(of).collect::<Vec<_>>().join(" : ");
        let ours = joined(&|row| self.decimal(median(&row.samples(place)).unwrap_or(0.0), place));
        let theirs = |row: &Row| self.published(row, place).map_or_else(String::new, |figure| figure.to_string());
        match flows.first().and_then(|row| self.published(row, place)) {
            Some(_) => format!("{ours} ({})", joined(&theirs)),
            None => ours,
        }
    }
}
