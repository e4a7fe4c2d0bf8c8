//! Figures of a paper: those that its file declares, or bars of each metric.

use serde::Deserialize;
use subflow_lab::statistics::{median, median_interval};
use subflow_report::{Axis, Bars, Boxes, Curve, CurvePoint, Curves, Figure, Reference};
use subflow_scenario::sweep::Parameters;

use super::metrics::Metric;
use super::ratio::Ratio;
use super::results::{Row, distinct, groups};
use super::show::View;

/// One or more figures of the same kind.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Panel {
    kind: Kind,
    /// The items that have it; all unless given.
    items: Vec<String>,
    /// There are figures for each combination of the values of these variables.
    each: Vec<String>,
    /// Which cells they have.
    #[serde(rename = "where")]
    only: Parameters,
    /// A figure for each of these.
    of: Vec<Subject>,
    /// The x axis of curves: a variable.
    x: Option<Along>,
    /// A template of the names of curves, or of what has the same colour in each group.
    series: String,
    /// A template of the names of groups.
    group: String,
    /// A line at a value.
    mark: Option<Mark>,
    statistic: Of,
    /// What stands behind the name of a curve in that of the published figures, which have the same colour; none without.
    published: Option<String>,
    /// Whether there is one published curve, of this name, and none for each of ours.
    published_once: bool,
    /// A template of the section that they are in; the item unless given.
    section: Option<String>,
    caption: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Of {
    #[default]
    Mean,
    Median,
    /// The ratio to the paper's reference.
    Ratio,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    #[default]
    Bars,
    Boxes,
    Curves,
    Distributions,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Subject {
    /// A template.
    title: String,
    metric: String,
    /// The words at its axis, and the unit; the metric's unless given.
    label: Option<String>,
    unit: Option<String>,
    /// Further metrics beside it, by the group that their bars are in; that of the first is `group`. Their curves are dashed,
    /// with the group behind their names.
    #[serde(default)]
    beside: Vec<(String, String)>,
    #[serde(default)]
    extent: Extent,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Along {
    variable: String,
    label: String,
    unit: String,
    #[serde(default)]
    extent: Extent,
}

/// What an axis shows: its values with zero, its values on a logarithmic scale, or a share from 0 to 1.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Extent {
    #[default]
    Zero,
    Logarithmic,
    Share,
}

impl Extent {
    fn of(self, axis: Axis) -> Axis {
        match self {
            Self::Zero => axis,
            Self::Logarithmic => axis.logarithmic(),
            Self::Share => axis.between(0.0, 1.0),
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Mark {
    label: String,
    /// The diagonal where it is at none.
    at: Option<f64>,
}

pub(super) fn figures(declared: &[Panel], view: View<'_>) -> Vec<Figure> {
    let usual = [usual(view.metrics)];
    let panels = if declared.is_empty() { &usual } else { declared };
    let mut figures = Vec::new();
    for item in view.results.items() {
        for panel in panels.iter().filter(|panel| panel.items.is_empty() || panel.items.iter().any(|one| one == item)) {
            let rows: Vec<&Row> = view.results.of(item).filter(|row| row.cell.is_among(&panel.only)).collect();
            for rows in groups(&rows, &panel.each) {
                figures.extend(panel.of.iter().filter_map(|subject| panel.figure(subject, &rows, view)));
            }
        }
    }
    figures
}

/// Bars for each metric; the values of the variable that varies fastest stand side by side.
fn usual(metrics: &[Metric]) -> Panel {
    let subject = |metric: &Metric| Subject {
        title: format!("${{item}}: {}", metric.name),
        metric: metric.name.clone(),
        label: None,
        unit: None,
        beside: Vec::new(),
        extent: Extent::Zero,
    };
    let caption = "Means with 95 % intervals.".to_owned();
    Panel { of: metrics.iter().map(subject).collect(), caption, ..Panel::default() }
}

impl Panel {
    pub(super) fn metrics(&self) -> impl Iterator<Item = &str> {
        let beside = self.of.iter().flat_map(|subject| &subject.beside).map(|(_, metric)| metric);
        self.of.iter().map(|subject| &subject.metric).chain(beside).map(String::as_str)
    }

    /// The title of curves over nothing.
    pub(super) fn lacks_x(&self) -> Option<&str> {
        (self.kind == Kind::Curves && self.x.is_none()).then(|| self.of.first().map_or("", |subject| &subject.title))
    }

    /// None where no cell has the metric.
    fn figure(&self, subject: &Subject, rows: &[&Row], view: View<'_>) -> Option<Figure> {
        let place = view.place(&subject.metric);
        let rows: Vec<&Row> = rows.iter().copied().filter(|row| row.has(place)).collect();
        let first = &rows.first()?.cell;
        let metric = &view.metrics[place];
        let axis = subject.extent.of(Axis::new(
            subject.label.as_deref().unwrap_or(&metric.name),
            subject.unit.as_deref().unwrap_or(metric.unit()),
        ));
        let title = first.fill(&subject.title);
        let figure = match self.kind {
            Kind::Bars => Figure::bars(title, self.bars(axis, subject, &rows, view)),
            Kind::Boxes => Figure::boxes(title, self.boxes(axis, &rows, place)),
            Kind::Distributions => {
                let samples = rows.iter().map(|row| (row.cell.fill(&self.series), row.samples(place)));
                Figure::distributions(title, axis, samples)
            }
            Kind::Curves if metric.is_of_each() => {
                let flows: Vec<Row> = rows.iter().flat_map(|row| row.by_flow()).collect();
                Figure::curves(title, self.curves(axis, subject, &flows.iter().collect::<Vec<_>>(), view)?)
            }
            Kind::Curves => Figure::curves(title, self.curves(axis, subject, &rows, view)?),
        };
        let section = self.section.as_ref().map_or_else(|| first.item.clone(), |section| first.fill(section));
        Some(figure.section(section).caption(self.caption.as_str()))
    }

    fn bars(&self, axis: Axis, subject: &Subject, rows: &[&Row], view: View<'_>) -> Bars {
        let mut bars = Bars::new(axis);
        bars.references.extend(self.mark.iter().map(Mark::line));
        for ((group, series), rows) in self.named(rows) {
            let beside = subject.beside.iter().map(|(group, metric)| (group, metric));
            for (group, metric) in [(&group, &subject.metric)].into_iter().chain(beside) {
                let (mean, ends) = mean_of(&rows, view.place(metric));
                bars.add(group, &series, mean, ends);
            }
        }
        bars
    }

    /// A sample for each cell, the mean of its runs.
    fn boxes(&self, axis: Axis, rows: &[&Row], place: usize) -> Boxes {
        let mut boxes = Boxes::new(axis);
        for ((group, series), rows) in self.named(rows) {
            boxes.add(&group, &series, &rows.iter().map(|row| row.mean(place)).collect::<Vec<_>>());
        }
        boxes
    }

    /// The rows by the names of their group and of their series.
    fn named<'r>(&self, rows: &[&'r Row]) -> Vec<((String, String), Vec<&'r Row>)> {
        let name = |row: &Row| {
            if !self.series.is_empty() {
                return (row.cell.fill(&self.group), row.cell.fill(&self.series));
            }
            let mut values: Vec<String> = row.cell.swept().map(|name| row.cell.text(name)).collect();
            let series = values.pop().unwrap_or_default();
            (values.join(", "), series)
        };
        let of = |wanted: (String, String)| {
            let rows: Vec<&Row> = rows.iter().copied().filter(|row| name(row) == wanted).collect();
            (wanted, rows)
        };
        distinct(rows.iter().map(|row| name(row))).into_iter().map(of).collect()
    }

    fn curves(&self, y: Axis, subject: &Subject, rows: &[&Row], view: View<'_>) -> Option<Curves> {
        let Along { variable, label, unit, extent } = self.x.as_ref()?;
        let place = view.place(&subject.metric);
        let mut curves = Curves::new(extent.of(Axis::new(label, unit)), y);
        for (colour, name) in distinct(rows.iter().map(|row| row.cell.fill(&self.series))).into_iter().enumerate() {
            let of_it = || rows.iter().filter(|row| row.cell.fill(&self.series) == name);
            let curve = |name: String, place: usize| {
                let point = |row: &&Row| {
                    let (y, ends) = self.value(row, place, view)?;
                    Some(CurvePoint { x: row.cell.number(variable), y, interval: Some(ends) })
                };
                let points = of_it().filter(|row| row.has(place)).filter_map(point).collect();
                Curve { points, ..Curve::new(name) }
            };
            if !subject.beside.is_empty() {
                curves.add(curve(format!("{name}: {}", self.group), place).colour(colour));
                for (group, metric) in &subject.beside {
                    let beside = curve(format!("{name}: {group}"), view.place(metric));
                    curves.add(beside.colour(colour).published());
                }
                continue;
            }
            let ours = curve(name.clone(), place);
            let Some(published) = &self.published else {
                curves.add(ours);
                continue;
            };
            curves.add(ours.colour(colour));
            let theirs = of_it().filter_map(|row| Some((row.cell.number(variable), view.published(row, place)?)));
            let named = if self.published_once { published.clone() } else { format!("{name}, {published}") };
            let is_new = curves.curves.iter().all(|curve| curve.name != named);
            let theirs = Curve::new(named).with_points(theirs).colour(colour).published();
            if is_new && !theirs.points.is_empty() {
                curves.add(theirs);
            }
        }
        curves.references.extend(self.mark.iter().map(Mark::line));
        Some(curves)
    }

    /// What is shown of a cell, with the ends of its interval.
    fn value(&self, row: &Row, place: usize, view: View<'_>) -> Option<(f64, (f64, f64))> {
        match self.statistic {
            Of::Mean => Some((row.mean(place), row.ends(place))),
            Of::Ratio => view.ratio(row, place).map(|Ratio { value, low, high, .. }| (value, (low, high))),
            Of::Median => {
                let samples = row.samples(place);
                let median = median(&samples)?;
                Some((median, median_interval(&samples, 0.95).map_or((median, median), |of| (of.low, of.high))))
            }
        }
    }
}

/// The mean of one cell with the ends of its interval; of several that over cells with equal weights, whose interval comes
/// from the scatter of the runs within cells.
fn mean_of(rows: &[&Row], place: usize) -> (f64, Option<(f64, f64)>) {
    if let [row] = rows {
        return (row.mean(place), Some(row.ends(place)));
    }
    // It is that of the ratio to a number without error.
    let mut runs = vec![vec![f64::NAN; place + 1]; 2];
    runs.iter_mut().for_each(|run| run[place] = 1.0);
    let one = Row { runs, ..rows[0].clone() };
    let Ratio { value, low, high } = Ratio::of_cells(rows, &[&one], place);
    (value, high.is_finite().then_some((low, high)))
}

impl Mark {
    fn line(&self) -> Reference {
        let label = self.label.clone();
        self.at.map_or_else(
            || Reference::Diagonal { label: label.clone() },
            |at| Reference::Value { label: label.clone(), at },
        )
    }
}
