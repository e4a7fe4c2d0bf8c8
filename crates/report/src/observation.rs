//! The report of what was watched: connections that nobody here has made, over time.

use subflow_lab::results::Series;

use crate::events::{marks, unmarked_of};
use crate::markup::{Slugs, code, paragraphs, table};
use crate::page::Page;
use crate::reproduction::grouped;
use crate::{Axis, Curve, Curves, Figure, Mark, Reference, Shape, Table};

/// The most events in the report's table: a report is a page for people.
const MOST_ROWS: usize = 200;

/// What was watched.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observation {
    /// The title of the report.
    pub title: String,
    /// How long it was watched, in seconds.
    pub duration_s: f64,
    /// Short facts: names and values.
    pub facts: Vec<(&'static str, String)>,
    /// The connections, in the order in which they were seen.
    pub connections: Vec<Observed>,
    /// A row for each subflow.
    pub table: Table,
    /// A row for each event.
    pub events: Table,
    /// How many events there were of each kind, in a line.
    pub event_counts: String,
    /// What the reader has to know of the figures.
    pub notes: Vec<String>,
    /// The command that watched.
    pub command: String,
}

/// A connection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observed {
    /// The connection in a line, the heading of its figures.
    pub title: String,
    /// The names of its subflows, in the order of their colours.
    pub subflows: Vec<String>,
    /// The metrics of its subflows over time; `of` is the position of the subflow.
    pub series: Vec<ObservedSeries>,
    /// Packets with data, one by one: the time-sequence view.
    pub sequences: Vec<ObservedSequence>,
    /// What happened to it, in the order of time.
    pub events: Vec<ObservedEvent>,
}

/// What happened to a connection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObservedEvent {
    /// When, in seconds.
    pub time_s: f64,
    /// What.
    pub what: String,
}

/// A metric of a subflow over time.
#[derive(Clone, Debug, PartialEq)]
pub struct ObservedSeries {
    /// The position of the subflow in [`Observed::subflows`].
    pub subflow: usize,
    /// The title of the figure.
    pub title: &'static str,
    /// The values.
    pub series: Series,
}

/// Packets with data of a subflow that are drawn in one way.
#[derive(Clone, Debug, PartialEq)]
pub struct ObservedSequence {
    /// The position of the subflow in [`Observed::subflows`].
    pub subflow: usize,
    /// What the packets are.
    pub what: &'static str,
    /// How they are drawn.
    pub mark: Mark,
    /// When, in seconds, and the position of their data in the stream, in MB.
    pub points: Vec<(f64, f64)>,
}

impl Observation {
    /// All figures: for each connection one of each metric, with a curve for each subflow.
    pub fn figures(&self) -> Vec<Figure> {
        self.connections.iter().flat_map(|connection| self.figures_of(connection)).collect()
    }

    /// The rows of all subflows, and the counts of events, as text.
    pub fn summary(&self) -> String {
        format!("{}\nevents: {}\n", self.table.to_text(), self.event_counts)
    }

    fn figures_of(&self, connection: &Observed) -> Vec<Figure> {
        let mut titles: Vec<&'static str> = Vec::new();
        for observed in &connection.series {
            if !titles.contains(&observed.title) {
                titles.push(observed.title);
            }
        }
        let mark = |ObservedEvent { time_s, what }: &ObservedEvent| Reference::Moment {
            label: format!("{time_s:.3} s: {what}"),
            at: *time_s,
        };
        let marks = marks(connection.events.iter().map(mark));
        let figure = |title: &'static str| {
            let shown: Vec<&ObservedSeries> =
                connection.series.iter().filter(|observed| observed.title == title).collect();
            let Series { metric, unit, .. } = &shown.first()?.series;
            let time = Axis::new("time", "s").between(0.0, self.duration_s.max(1e-3));
            let mut curves = Curves::new(time, Axis::new(metric.as_str(), unit.as_str()));
            for ObservedSeries { subflow, series, .. } in shown {
                let points = series.points().iter().map(|point| (point.time_s, point.value));
                // A line takes two points.
                let shape = if series.points().len() < 2 { Shape::Points } else { Shape::Line };
                let curve = Curve::new(connection.subflows[*subflow].as_str()).with_points(points);
                curves.add(curve.shape(shape).colour(*subflow));
            }
            curves.references.clone_from(&marks);
            Some(Figure::curves(title, curves).section(connection.title.as_str()))
        };
        let sequence = self.sequence_of(connection, &marks);
        titles.into_iter().filter_map(figure).chain(sequence).collect()
    }

    fn sequence_of(&self, connection: &Observed, marks: &[Reference]) -> Option<Figure> {
        if connection.sequences.is_empty() {
            return None;
        }
        let time = Axis::new("time", "s").between(0.0, self.duration_s.max(1e-3));
        let mut curves = Curves::new(time, Axis::new("position in the stream", "MB"));
        curves.fine = true;
        for ObservedSequence { subflow, what, mark, points } in &connection.sequences {
            let curve = Curve::new(format!("{} {what}", connection.subflows[*subflow]));
            curves.add(curve.with_points(points.iter().copied()).shape(Shape::Marks(*mark)).colour(*subflow));
        }
        curves.references = marks.to_vec();
        let caption = "Each packet with data: when it was captured, and the position of its data in the stream. Drag over a \
                       short time to see single packets. Of very many packets, every n-th is shown.";
        Some(Figure::curves("Time and sequence", curves).section(connection.title.as_str()).caption(caption))
    }
}

/// The report as one HTML file.
pub fn of_observation(observation: &Observation) -> String {
    let mut page = Page { title: observation.title.clone(), facts: observation.facts.clone(), ..Page::default() };
    let mut slugs = Slugs::default();
    page.section("subflows", "Subflows", table(&slugs.unique("subflows seen"), "", &with_units(&observation.table)));
    page.section("over-time", "Over time", grouped(&observation.figures(), &mut slugs));
    if !observation.events.is_empty() {
        page.section(
            "events",
            "Events",
            table(&slugs.unique("events seen"), "", &with_units(&observation.events.first(MOST_ROWS))),
        );
    }
    let beyond = observation.events.len().saturating_sub(MOST_ROWS);
    let in_file =
        (beyond > 0).then(|| format!("The table of events has the first {MOST_ROWS}; events.csv has {beyond} more."));
    let unmarked = observation.connections.iter().filter_map(|known| unmarked_of(&known.title, known.events.len()));
    let notes: Vec<String> = observation.notes.iter().cloned().chain(in_file).chain(unmarked).collect();
    page.section("notes", "Notes", paragraphs(notes.iter().map(String::as_str)));
    page.section("rerun", "Watch again", code(&observation.command));
    page.html()
}

/// The table for people: `mean_sent_mbps`, the name of a column in a file, becomes `mean sent (Mbit/s)`.
fn with_units(table: &Table) -> Table {
    const UNITS: [(&str, &str); 3] = [("_mbps", "Mbit/s"), ("_ms", "ms"), ("_s", "s")];
    let mut shown = table.clone();
    for column in &mut shown.columns {
        let unit = UNITS.iter().find_map(|(suffix, unit)| Some((column.name.strip_suffix(suffix)?, unit)));
        column.name = match unit {
            Some((name, unit)) => format!("{name} ({unit})"),
            None => column.name.clone(),
        }
        .replace('_', " ");
    }
    shown
}
