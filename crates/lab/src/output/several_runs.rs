//! The tables of several runs: means with their intervals, with rows for each point of the sweep.

use std::borrow::Cow;

use super::shown::{FLOW_PARTS, Reader, Summarised, shown_in};
use crate::number;
use crate::results::metrics::{FLOW, GROUP, INTERFACE, LINK, Means, Metric, Part, RUN, SUBFLOW, Shown, Summaries};
use crate::results::parameters::{short_names, word};
use crate::results::{
    Experiment, FlowResult, FlowStatistics, GroupStatistics, InterfaceStatistics, LinkStatistics, PointStatistics,
    SubflowStatistics,
};
use crate::statistics::Summary;
use crate::table::Align::{Left, Right};
use crate::table::{Cell, Columns, Table};

/// The half width of an interval has so many decimals in text.
const HALF_WIDTH: usize = 3;

/// A row: its point, the flow and the object that it is of, and the statistics of that.
struct Row<'r, T: 'static> {
    point: &'r PointStatistics,
    flow: Option<&'r str>,
    name: Cow<'r, str>,
    summaries: &'r Summaries<T>,
}

pub(super) fn several_runs(experiment: &Experiment, reader: Reader) -> Vec<Summarised> {
    let of = Several { experiment, reader };
    let flows = FLOW.iter().copied().flatten();
    let main = of.rows(|point| of_flows(point, Part::Main));
    let mut tables = vec![
        Summarised {
            title: "Means over the runs of each point, with 95 % intervals",
            table: of.table("statistics", ["", "flow"], &main, flows, Part::Main),
        },
        of.groups(),
    ];
    if reader == Reader::Text {
        tables.push(of.subflows());
    }
    for (part, title, id) in FLOW_PARTS {
        let rows = of.rows(|point| of_flows(point, part));
        tables
            .push(Summarised { title, table: of.table(id, ["", "flow"], &rows, FLOW.iter().copied().flatten(), part) });
    }
    if experiment.statistics.iter().any(|point| point.flows.len() > 1) {
        tables.push(of.together());
    }
    if reader == Reader::Text {
        tables.push(of.links());
    }
    tables.push(of.interfaces());
    tables
}

/// The flows of a point that have a part of the summary.
fn of_flows(point: &PointStatistics, part: Part) -> Vec<Row<'_, FlowResult>> {
    let flows = point.flows.iter().filter(|flow| has_part(flow, part));
    flows.map(|flow| Row { point, flow: None, name: flow.name.as_str().into(), summaries: &flow.summaries }).collect()
}

/// Whether any run has the metrics of a part: data that was sent again, if the part is of that.
fn has_part(flow: &FlowStatistics, part: Part) -> bool {
    let mut of_part = flow.summaries.iter().filter(|(metric, _)| metric.shown.is_some_and(|shown| shown.part == part));
    match part {
        Part::Main => true,
        Part::Reinjections => of_part.any(|(_, summary)| summary.max > Some(0.0)),
        Part::Exchanges | Part::Video | Part::Abandoned | Part::Datagrams => of_part.any(|(_, summary)| summary.n > 0),
    }
}

/// What all tables are made of.
struct Several<'r> {
    experiment: &'r Experiment,
    reader: Reader,
}

impl<'r> Several<'r> {
    fn rows<T: 'static>(&self, of: impl Fn(&'r PointStatistics) -> Vec<Row<'r, T>>) -> Vec<Row<'r, T>> {
        self.experiment.statistics.iter().flat_map(of).collect()
    }

    fn groups(&self) -> Summarised {
        let rows = self.rows(|point| {
            let row = |group: &'r GroupStatistics| Row {
                point,
                flow: None,
                name: group.name.as_str().into(),
                summaries: &group.summaries,
            };
            point.groups.iter().map(row).collect()
        });
        Summarised { title: "Groups of flows", table: self.table("groups", ["", "group"], &rows, GROUP, Part::Main) }
    }

    fn subflows(&self) -> Summarised {
        let of_flow = |point: &'r PointStatistics, flow: &'r FlowStatistics| {
            let row = move |subflow: &'r SubflowStatistics| Row {
                point,
                flow: Some(flow.name.as_str()),
                name: subflow.label().into(),
                summaries: &subflow.summaries,
            };
            flow.subflows.iter().map(row)
        };
        let rows = self.rows(|point| point.flows.iter().flat_map(|flow| of_flow(point, flow)).collect());
        let metrics = SUBFLOW.iter().copied().flatten();
        Summarised { title: "Subflows", table: self.table("subflows", ["flow", "subflow"], &rows, metrics, Part::Main) }
    }

    fn links(&self) -> Summarised {
        let rows = self.rows(|point| {
            let row = |link: &'r LinkStatistics| Row {
                point,
                flow: None,
                name: link.name.as_str().into(),
                summaries: &link.summaries,
            };
            point.links.iter().map(row).collect()
        });
        Summarised { title: "Links", table: self.table("links", ["", "link"], &rows, LINK, Part::Main) }
    }

    fn interfaces(&self) -> Summarised {
        let rows = self.rows(|point| {
            let row = |interface: &'r InterfaceStatistics| Row {
                point,
                flow: None,
                name: interface.name.as_str().into(),
                summaries: &interface.summaries,
            };
            point.interfaces.iter().map(row).collect()
        });
        let table = self.table("interfaces", ["", "interface"], &rows, INTERFACE, Part::Main);
        Summarised { title: "Energy of interfaces", table }
    }

    /// All flows together.
    fn together(&self) -> Summarised {
        let rows = self.rows(|point| vec![Row { point, flow: None, name: "all".into(), summaries: &point.summaries }]);
        let names = if self.reader == Reader::Text { ["", "flows"] } else { ["", ""] };
        let runs = || self.experiment.runs.iter().map(|run| &run.result);
        let metrics = RUN.iter().filter(|metric| metric.has_column(runs()));
        Summarised { title: "All flows together", table: self.table("together", names, &rows, metrics, Part::Main) }
    }

    /// A table of rows with the swept values in front, the name of the flow and that of the object, under these headings
    /// if they have one, and the metrics of a part.
    fn table<T: 'static>(
        &self,
        id: &'static str,
        [flow, name]: [&str; 2],
        rows: &[Row<'r, T>],
        metrics: impl IntoIterator<Item = &'static Metric<T>>,
        part: Part,
    ) -> Table {
        let mut columns = Columns::of(rows);
        let paths = &self.experiment.scenario.sweep;
        let headings = if self.reader == Reader::Text { short_names(paths) } else { paths.clone() };
        for (path, heading) in paths.iter().zip(headings) {
            columns
                .shown(&heading, 0, Left, |row| row.point.parameters.get(path).map_or(Cell::Empty, |v| word(v).into()));
        }
        if !flow.is_empty() {
            columns.shown(flow, 0, Left, |row| row.flow.into());
        }
        if !name.is_empty() {
            columns.shown(name, 0, Left, |row| (&*row.name).into());
        }
        if self.reader == Reader::Page || id == "statistics" {
            columns.shown("runs", 0, Right, |row| Cell::Integer(row.point.runs as i64));
        }
        for (metric, shown, heading) in shown_in(metrics, part, self.reader) {
            self.means(&mut columns, metric, shown, heading);
        }
        match self.reader {
            Reader::Text => columns.table(id),
            // Such as the completion of flows of unlimited length.
            Reader::Page => columns.table(id).without_empty_columns(),
        }
    }

    /// Adds the mean of a metric, and what is shown beside it.
    fn means<T: 'static>(
        &self,
        columns: &mut Columns<'_, Row<'r, T>>,
        metric: &'static Metric<T>,
        shown: Shown,
        heading: &str,
    ) {
        if shown.means == Means::None {
            return;
        }
        let decimals = if metric.is_count() && shown.scale == 1.0 { 1 } else { shown.decimals };
        let (column, reader) = (metric.column, self.reader);
        let summary = |row: &Row<'r, T>| row.summaries.get(column);
        // Text has 100 columns, and what is beside a mean has its unit.
        let with_unit = |what: &str| match reader {
            Reader::Text => what.to_owned(),
            Reader::Page => format!("{what} {}", shown.unit(metric.unit)).trim_end().to_owned(),
        };
        let cell = |value: Option<f64>| shown.cell(value, decimals, reader);
        columns.shown(heading, decimals, Right, |row| match summary(row) {
            // Where some runs lack it, their number is beside the mean.
            Some(Summary { n, mean: Some(mean), .. }) if is_partial(&shown, reader) && *n < row.point.runs => {
                format!("{} ({n} of {})", number::fixed(*mean, decimals), row.point.runs).into()
            }
            summary => cell(summary.and_then(|of| of.mean)),
        });
        let has_interval = match shown.means {
            Means::Interval | Means::Spread => true,
            Means::PageInterval => reader == Reader::Page,
            Means::None | Means::MeanOnly | Means::Mean => false,
        };
        if has_interval && reader == Reader::Text {
            let half_width = |row: &Row<'r, T>| summary(row).and_then(half_width);
            columns.shown("± 95 %", HALF_WIDTH, Right, |row| shown.cell(half_width(row), HALF_WIDTH, reader));
        } else if has_interval {
            let (from, to) = (with_unit("95 % from"), with_unit("to"));
            columns.shown(&from, decimals, Right, |row| cell(summary(row).and_then(|of| of.ci95_low)));
            columns.shown(&to, decimals, Right, |row| cell(summary(row).and_then(|of| of.ci95_high)));
        }
        if shown.means == Means::Spread {
            let median = with_unit("median");
            columns.shown(&median, decimals, Right, |row| cell(summary(row).and_then(|of| of.median)));
        }
        if shown.means == Means::Spread && reader == Reader::Text {
            columns.shown("sd", decimals, Right, |row| cell(summary(row).and_then(|of| of.sd)));
        }
    }
}

/// Whether text says of how many runs a mean is: of a metric that runs may lack.
fn is_partial(shown: &Shown, reader: Reader) -> bool {
    reader == Reader::Text && shown.means == Means::PageInterval
}

fn half_width(summary: &Summary) -> Option<f64> {
    summary.ci95_high.zip(summary.ci95_low).map(|(high, low)| (high - low) / 2.0)
}
