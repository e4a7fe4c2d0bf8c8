//! What a summary shows of a metric, and to whom.

use crate::number;
use crate::results::FlowResult;
use crate::results::metrics::{Metric, Part, Read, Shown};
use crate::table::{Cell, Table};

/// Who reads a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// Of text, in a terminal: short headings, and less beside the means.
    Text,
    /// Of a page.
    Page,
}

/// A table of a summary.
#[derive(Clone, Debug, PartialEq)]
pub struct Summarised {
    /// Its title.
    pub title: &'static str,
    /// The table; its name is that of its place on a page.
    pub table: Table,
}

/// The parts of a summary that have flows of some kinds only, with their titles and their names on a page.
pub(super) const FLOW_PARTS: [(Part, &str, &str); 5] = [
    (Part::Exchanges, "Requests and their responses", "exchanges"),
    (Part::Video, "Video", "video"),
    (Part::Abandoned, "Abandoned messages", "abandoned"),
    (Part::Datagrams, "Datagrams", "datagrams"),
    (Part::Reinjections, "Data sent again on another subflow", "reinjections"),
];

impl Shown {
    /// The heading for a reader; `None` if it is not for that one.
    pub(super) fn heading(&self, reader: Reader) -> Option<&'static str> {
        Some(if reader == Reader::Text { self.text } else { self.page }).filter(|heading| !heading.is_empty())
    }

    /// A value as it is shown. Text has the sign beside a share in percent.
    pub(super) fn cell(&self, value: Option<f64>, decimals: usize, reader: Reader) -> Cell {
        // Scaled from the rounded value in the JSON.
        let value = value.map(|value| if self.scale == 1.0 { value } else { number::rounded(value) * self.scale });
        match value {
            Some(value) if self.is_percentage() && reader == Reader::Text => {
                format!("{} %", number::fixed(value, decimals)).into()
            }
            value => value.into(),
        }
    }

    fn is_percentage(&self) -> bool {
        self.scale == 100.0
    }
}

impl<T: 'static> Metric<T> {
    /// What is shown of an object.
    pub(super) fn shown_cell(&self, shown: &Shown, of: &T, reader: Reader) -> Cell {
        match self.read {
            Read::Count(read) if shown.scale == 1.0 => {
                read(of).map_or(Cell::Empty, |count| Cell::Integer(i64::try_from(count).unwrap_or(i64::MAX)))
            }
            _ => shown.cell(self.value(of), shown.decimals, reader),
        }
    }
}

/// Whether a part of the summary has a row for a flow.
pub(super) fn has_part(flow: &FlowResult, part: Part) -> bool {
    match part {
        Part::Main => true,
        Part::Reinjections => flow.reinjected_bytes > 0,
        Part::Exchanges => flow.exchanges.is_some(),
        Part::Video => flow.video.is_some(),
        Part::Abandoned => flow.abandoned.is_some(),
        Part::Datagrams => flow.datagrams.is_some(),
    }
}

/// The metrics of `part` for a reader, with how they are shown and their headings.
pub(super) fn shown_in<T: 'static>(
    metrics: impl IntoIterator<Item = &'static Metric<T>>,
    part: Part,
    reader: Reader,
) -> impl Iterator<Item = (&'static Metric<T>, Shown, &'static str)> {
    let shown = move |metric: &'static Metric<T>| {
        let shown = metric.shown.filter(|shown| shown.part == part)?;
        Some((metric, shown, shown.heading(reader)?))
    };
    metrics.into_iter().filter_map(shown)
}
