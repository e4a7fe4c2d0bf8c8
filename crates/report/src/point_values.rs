//! A quantity at the points of a sweep, as bars and heat maps: its values, or their changes to a baseline.

use subflow_lab::results::metrics::ComparedMetric;
use subflow_lab::results::{Better, Experiment};
use subflow_lab::statistics::Summary;
use subflow_scenario::AxisWords;

use super::axis_words::{reword, worded};
use super::chosen_baseline::{Change, Changes, Choice, Estimate, changes, chosen};
use super::figure::{Axis, Bar, Bars, Figure, HeatCell, HeatMap, Names};
use super::grid::{Grid, Layout};
use super::parameter::label;
use super::rows::RowPlot;

/// Maximum number of panels. More could not be told apart.
const MOST_PANELS: usize = 24;
/// Maximum number of flows with panels of their own.
const MOST_FLOWS: usize = 6;
/// Maximum number of cells of a heat map, and of bars of a panel.
const MOST_CELLS: usize = 2500;
const MOST_BARS: usize = 200;

/// A mean: of which point it is, of which flow (of all, if it has no name), and the mean with its interval.
#[derive(Clone)]
pub(super) struct Entry<'a> {
    pub(super) point: usize,
    pub(super) flow: Option<&'a str>,
    pub(super) summary: &'a Summary,
}

/// The figures of a quantity, all with the same axes and colours.
pub(super) struct PointValues<'a> {
    pub(super) metric: ComparedMetric,
    /// The title of its bars.
    pub(super) title: String,
    pub(super) entries: Vec<Entry<'a>>,
    /// The titles and units of axes.
    words: &'a [AxisWords],
    experiment: &'a Experiment,
    pub(super) grid: &'a Grid,
    /// The panels; without them bars of all points are in one figure.
    layout: Option<Layout>,
}

/// What is shown of each entry.
struct Shown {
    axis: Axis,
    is_signed: bool,
    estimates: Vec<Option<Estimate>>,
    caption: String,
}

impl<'a> PointValues<'a> {
    /// The figures of `entries`: with two dimensions or more those of each flow, otherwise those of all flows.
    pub(super) fn of(
        experiment: &'a Experiment,
        grid: &'a Grid,
        metric: ComparedMetric,
        title: &str,
        entries: Vec<Entry<'a>>,
    ) -> Vec<Self> {
        let fits = |layout: &Layout| grid.is_filled() && grid.panels(layout) <= MOST_PANELS;
        let of = |title: String, entries, layout| Self { metric, title, entries, words: &[], experiment, grid, layout };
        let mut flows: Vec<Option<&str>> = Vec::new();
        for entry in &entries {
            if !flows.contains(&entry.flow) {
                flows.push(entry.flow);
            }
        }
        flows.truncate(MOST_FLOWS);
        if grid.layout().filter(fits).is_none() {
            return if entries.is_empty() { Vec::new() } else { vec![of(title.to_owned(), entries, None)] };
        }
        let named = |flow: Option<&str>| match flow {
            Some(flow) if flows.len() > 1 => format!("{title} of {flow}"),
            _ => title.to_owned(),
        };
        let of_flow = |flow: Option<&'a str>| entries.iter().filter(move |entry| entry.flow == flow).cloned().collect();
        flows.iter().map(|flow| of(named(*flow), of_flow(*flow), grid.layout())).collect()
    }

    /// The same with these titles and units of axes.
    pub(super) fn worded(self, words: &'a [AxisWords]) -> Self {
        Self { words, ..self }
    }

    /// The figures of its values.
    pub(super) fn values(&self) -> Vec<Figure> {
        let estimate = |summary: &Summary| {
            Some(Estimate { value: summary.mean?, interval: summary.ci95_low.zip(summary.ci95_high) })
        };
        self.figures(&Shown {
            axis: self.towards_better(Axis::new(self.metric.label, self.metric.unit)),
            is_signed: false,
            estimates: self.entries.iter().map(|entry| estimate(entry.summary)).collect(),
            caption: caption_of_means(&self.entries),
        })
    }

    /// The baseline of the command line, if there is one.
    pub(super) fn baseline(&self) -> Option<Choice> {
        chosen(self.experiment, self.grid)
    }

    /// The figures of the changes to a baseline, in percent.
    pub(super) fn changes(&self, choice: Choice) -> Vec<Figure> {
        let changes = self.changes_to(choice);
        self.figures(&Shown {
            axis: self.towards_better(Axis::new(format!("change of {}", self.metric.label), "%")),
            is_signed: true,
            estimates: changes.into_iter().map(|change| change.percent).collect(),
            caption: caption_of_changes(&self.name_of(choice), true),
        })
    }

    fn towards_better(&self, axis: Axis) -> Axis {
        axis.lower_is_better(self.metric.better == Better::Lower)
    }

    /// The name of a baseline, such as `congestion lia`.
    pub(super) fn name_of(&self, choice: Choice) -> String {
        let dimension = &self.grid.dimensions[choice.dimension];
        format!("{} {}", dimension.name, dimension.values[choice.value].1)
    }

    /// The changes of all entries to a baseline.
    pub(super) fn changes_to(&self, choice: Choice) -> Vec<Change> {
        let all: Changes = changes(self.experiment, self.grid, choice, self.metric);
        let change = |Entry { point, flow, .. }: &Entry<'_>| match self.grid.place(*point, choice.dimension) {
            value if value == choice.value => Change::none(),
            _ => all.get(&(*point, flow.map(str::to_owned))).copied().unwrap_or_default(),
        };
        self.entries.iter().map(change).collect()
    }

    fn figures(&self, shown: &Shown) -> Vec<Figure> {
        let figures = match &self.layout {
            None => vec![Figure::bars(self.title.as_str(), self.bars(shown, |_| true))],
            Some(layout) => self.panels(layout, shown),
        };
        let caption = match self.entries.len() {
            all if self.layout.is_none() && all > MOST_BARS => {
                format!("{} The first {MOST_BARS} of {all} bars.", shown.caption)
            }
            _ => shown.caption.clone(),
        };
        figures.into_iter().map(|figure| worded(figure.caption(caption.as_str()), self.words)).collect()
    }

    /// The axis of values, and what they are multiplied by to be in its unit.
    pub(super) fn axis(&self) -> (Axis, f64) {
        let mut axis = Axis::new(self.metric.label, self.metric.unit);
        let factor = reword(&mut axis, self.words);
        (axis, factor)
    }

    /// A heat map of each panel, then bars of each panel.
    fn panels(&self, layout: &Layout, shown: &Shown) -> Vec<Figure> {
        let values = shown.estimates.iter().flatten().map(|estimate| estimate.value);
        let colours = HeatMap::axis(&shown.axis, values, shown.is_signed);
        let all = self.bars(shown, |_| true);
        let span = RowPlot::of_bars(&all).span;
        let is_in = |panel: usize| move |entry: &Entry<'_>| self.grid.panel(layout, entry.point) == panel;
        let title = |title: &str, panel: usize| match self.grid.panel_name(layout, panel).as_str() {
            "" => title.to_owned(),
            name => format!("{title}, {name}"),
        };
        let heat_map = |panel: usize| {
            let mut map = self.heat_map(layout, shown, is_in(panel));
            map.value = colours.clone();
            Figure::heat_map(title(&format!("{} as a heat map", self.title), panel), map)
        };
        let bars = |panel: usize| {
            let mut bars = self.bars(shown, is_in(panel));
            bars.value = bars.value.between(span.low, span.high);
            Figure::bars(title(&self.title, panel), bars)
        };
        let [rows, columns] = [layout.rows, layout.columns].map(|of| self.grid.dimensions[of].values.len());
        let panels = || 0..self.grid.panels(layout);
        let maps = panels().filter(|_| rows.saturating_mul(columns) <= MOST_CELLS).map(heat_map);
        maps.chain(panels().filter(|_| rows.saturating_mul(columns) <= MOST_BARS).map(bars)).collect()
    }

    fn heat_map(&self, layout: &Layout, shown: &Shown, is_in: impl Fn(&Entry<'_>) -> bool) -> HeatMap {
        let names = |dimension: usize| {
            let of = &self.grid.dimensions[dimension];
            Names { title: of.name.clone(), names: of.values.iter().map(|(_, word)| word.clone()).collect() }
        };
        let cell = |(number, (entry, estimate)): (usize, (&Entry<'_>, &Option<Estimate>))| HeatCell {
            row: self.grid.place(entry.point, layout.rows),
            column: self.grid.place(entry.point, layout.columns),
            value: estimate.map_or(f64::NAN, |estimate| estimate.value),
            interval: estimate.and_then(|estimate| estimate.interval),
            number: Some(number),
        };
        let all = self.entries.iter().zip(&shown.estimates).enumerate();
        let cells = all.filter(|(_, (entry, _))| is_in(entry)).map(cell).collect();
        let (rows, columns) = (names(layout.rows), names(layout.columns));
        HeatMap { value: shown.axis.clone(), rows, columns, cells, signed: shown.is_signed }
    }

    /// Bars in groups: a group for each row of the heat map, or for each point.
    fn bars(&self, shown: &Shown, is_in: impl Fn(&Entry<'_>) -> bool) -> Bars {
        let word = |dimension: usize, point: usize| {
            self.grid.dimensions[dimension].values[self.grid.place(point, dimension)].1.clone()
        };
        let bar = |(number, (entry, estimate)): (usize, (&Entry<'_>, &Option<Estimate>))| {
            let (group, series) = match &self.layout {
                Some(layout) => (word(layout.rows, entry.point), word(layout.columns, entry.point)),
                None => {
                    let point = &self.experiment.statistics[entry.point];
                    (label(&point.parameters), entry.flow.unwrap_or("").to_owned())
                }
            };
            let (value, interval) = estimate.map_or((f64::NAN, None), |estimate| (estimate.value, estimate.interval));
            Bar { group, series, value, interval, look: None, number: Some(number) }
        };
        let all = self.entries.iter().zip(&shown.estimates).enumerate();
        let mut bars = Bars::new(shown.axis.clone());
        bars.signed = shown.is_signed;
        bars.bars = all.filter(|(_, (entry, _))| is_in(entry)).map(bar).collect();
        if self.layout.is_none() {
            bars.bars.truncate(MOST_BARS);
        }
        bars
    }
}

/// What means are.
pub(super) fn caption_of_means(entries: &[Entry<'_>]) -> String {
    match entries.iter().map(|entry| entry.summary.n).max() {
        Some(0 | 1) | None => "One run each: there is no interval.".to_owned(),
        Some(n) => format!("Means of up to {n} runs with 95 % intervals (Student's t)."),
    }
}

/// What changes to the baseline with this name are.
pub(super) fn caption_of_changes(baseline: &str, in_percent: bool) -> String {
    let method = match in_percent {
        true => {
            "The change of the mean, in percent of that of the baseline, with 95 % intervals (Fieller's, which contain \
             zero where the t-test does not tell the means apart)"
        }
        false => "The difference of the means, with 95 % intervals (t-test)",
    };
    format!(
        "Compared with {baseline} and the same other values. {method}; runs with the same seed are pairs. Heat maps show \
         what is better in blue and what is worse in orange."
    )
}
