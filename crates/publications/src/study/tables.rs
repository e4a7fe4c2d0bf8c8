//! Tables of a paper: those that its file declares, or of each metric by the variables that are swept.

use indexmap::IndexMap;
use serde::Deserialize;
use subflow_report::{Cell, Table};
use subflow_scenario::sweep::Parameters;

use super::results::{Row, distinct, groups};
use super::show::{Show, Statistic, View};

/// Columns by their headings.
pub(crate) type Columns = IndexMap<String, Show>;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Readable {
    /// A template of its title.
    title: String,
    /// The items that have it; all unless given.
    items: Vec<String>,
    /// There is a table for each combination of the values of these variables.
    each: Vec<String>,
    #[serde(rename = "where")]
    only: Parameters,
    /// It has a line for each combination of the values of these variables; for each cell unless given.
    lines: Vec<String>,
    columns: Columns,
    /// The variable whose values stand side by side.
    across: Option<String>,
    show: Option<Show>,
    /// Lines that follow each line whose first cell has the metric, by what they begin with.
    further: Columns,
    /// What stands between a mean and half its interval.
    sign: Option<String>,
}

impl Readable {
    pub(super) fn shows(&self) -> impl Iterator<Item = &Show> {
        self.columns.values().chain(&self.show).chain(self.further.values())
    }

    fn of(&self, rows: &[&Row], view: View<'_>) -> (String, Table) {
        let view = View { sign: self.sign.as_deref().unwrap_or(view.sign), ..view };
        let across = self.across.as_deref();
        let beside = match across.filter(|_| self.show.is_some()) {
            Some(name) => distinct(rows.iter().map(|row| row.cell.text(name))),
            None => Vec::new(),
        };
        let mut table = Table::new(self.columns.keys().chain(&beside).map(String::as_str));
        let lines =
            if self.lines.is_empty() { rows.iter().map(|row| vec![*row]).collect() } else { groups(rows, &self.lines) };
        for line in lines {
            let at = |value: &str| line.iter().find(|row| across.is_none_or(|name| row.cell.says(name, value)));
            let cell = |show: &Show, value: Option<&str>| {
                let row = value.map_or(line.first(), at);
                row.map_or(Cell::Empty, |row| view.cell(row, show))
            };
            let side_by_side = |show| beside.iter().map(move |value| cell(show, Some(value.as_str())));
            let first = self.columns.values().map(|show| cell(show, show.at.as_deref()));
            table.row(first.chain(self.show.iter().flat_map(side_by_side)));
            for (name, show) in &self.further {
                if show.metric().is_some_and(|metric| line[0].has(view.place(metric))) {
                    let first = self.columns.keys().enumerate();
                    let first = first.map(|(index, _)| if index == 0 { name.as_str().into() } else { Cell::Empty });
                    table.row(first.chain(side_by_side(show)));
                }
            }
        }
        (rows[0].cell.fill(&self.title), table)
    }
}

/// A row for each row of results: for each flow where a metric is one of each flow, and for each metric where a column has
/// its name.
pub(super) fn rows(columns: &Columns, view: View<'_>) -> Table {
    let columns = if columns.is_empty() { &usual_columns(view) } else { columns };
    let mut table = Table::new(columns.keys().map(String::as_str));
    let by_flow = view.metrics.iter().any(|metric| metric.is_of_each());
    let by_metric = columns.values().any(Show::is_by_metric);
    for row in view.results.rows.iter().filter(|row| row.cell.is_among(&Parameters::new())) {
        let of_flows = if by_flow { row.by_flow() } else { Vec::new() };
        for row in if by_flow { &of_flows[..] } else { std::slice::from_ref(row) } {
            let has = |metric: &usize| !by_metric || row.has(*metric);
            for line in (0..if by_metric { view.metrics.len() } else { 1 }).filter(has) {
                let view = View { line, ..view };
                table.row(columns.values().map(|show| view.cell(row, show)));
            }
        }
    }
    table
}

/// Item, variables, runs, and each metric with its interval and the published figure.
fn usual_columns(view: View<'_>) -> Columns {
    let rows = &view.results.rows;
    let mut columns = Columns::from([("item".to_owned(), Show::default())]);
    let variables = distinct(rows.iter().flat_map(|row| row.cell.swept()));
    columns.extend(variables.into_iter().map(|name| (name.clone(), Show::variable(name))));
    columns.insert("runs".to_owned(), Show::runs());
    for (place, metric) in view.metrics.iter().enumerate() {
        let figure = |suffix: &str, of| (format!("{}{suffix}", metric.name), Show::of(of, &metric.name));
        columns.extend([figure("", Statistic::Mean), figure("_ci95_low", Statistic::Low)]);
        columns.extend([figure("_ci95_high", Statistic::High)]);
        let is_published = rows.iter().any(|row| view.published(row, place).is_some());
        columns.extend(is_published.then(|| figure("_published", Statistic::Published)));
    }
    columns
}

pub(super) fn readable(declared: &[Readable], view: View<'_>) -> Vec<(String, Table)> {
    let mut tables = Vec::new();
    for item in view.results.items() {
        let usual = [usual_table(view, item)];
        for table in if declared.is_empty() { &usual } else { declared } {
            if table.items.is_empty() || table.items.iter().any(|one| one == item) {
                let rows: Vec<&Row> = view.results.of(item).filter(|row| row.cell.is_among(&table.only)).collect();
                let groups = groups(&rows, &table.each);
                tables.extend(groups.iter().map(|rows| table.of(rows, view)));
            }
        }
    }
    tables
}

/// A line for each cell: means with half their intervals, and published figures in brackets.
fn usual_table(view: View<'_>, item: &str) -> Readable {
    let variables = distinct(view.results.of(item).flat_map(|row| row.cell.swept()));
    let variables = variables.into_iter().map(|name| (name.clone(), Show::variable(name)));
    let figures = view.metrics.iter().map(|metric| {
        let unit = if metric.unit().is_empty() { String::new() } else { format!(", {}", metric.unit()) };
        (format!("{}{unit}", metric.name), Show::of(Statistic::Means, &metric.name))
    });
    let title = "${item}: means ± half their 95 % intervals".to_owned();
    Readable { title, columns: variables.chain(figures).collect(), ..Readable::default() }
}
