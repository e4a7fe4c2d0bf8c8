//! Figures of the report as dictionaries, which `subflow/_plot.py` draws.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use subflow_lab::results::Experiment;
use subflow_report::{Axis, Bars, Boxes, Chart, Curves, Extent, Figure, HeatMap, Reference, Scale, Shape, figures_of};
use subflow_scenario::sweep::Plan;

/// The figures of the report. A figure is chosen by its title here, so a title that was there before gets a number.
pub(crate) fn named(plan: &Plan, experiment: &Experiment) -> Vec<Figure> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let named = figures_of(plan, experiment).into_iter().map(|mut figure| {
        let count = counts.entry(figure.title.clone()).or_default();
        *count += 1;
        if *count > 1 {
            figure.title = format!("{} ({count})", figure.title);
        }
        figure
    });
    named.collect()
}

/// The numbers of a figure, with its title, caption and axes.
pub(crate) fn to_dict<'py>(py: Python<'py>, figure: &Figure) -> PyResult<Bound<'py, PyDict>> {
    let content = PyDict::new(py);
    content.set_item("title", &figure.title)?;
    content.set_item("caption", &figure.caption)?;
    match &figure.chart {
        Chart::Curves(curves) => of_curves(&content, curves)?,
        Chart::Bars(bars) => of_bars(&content, bars)?,
        Chart::Boxes(boxes) => of_boxes(&content, boxes)?,
        Chart::HeatMap(map) => of_heat_map(&content, map)?,
    }
    Ok(content)
}

fn of_curves(content: &Bound<'_, PyDict>, curves: &Curves) -> PyResult<()> {
    let py = content.py();
    content.set_item("kind", "curves")?;
    content.set_item("x", axis(py, &curves.x)?)?;
    content.set_item("y", axis(py, &curves.y)?)?;
    let list = dictionaries(py, &curves.curves, |curve, entry| {
        let shape = match curve.shape {
            Shape::Line => "line",
            Shape::LineAndBand => "line and band",
            Shape::LineAndPoints => "line and points",
            Shape::Steps => "steps",
            Shape::Points | Shape::Marks(_) => "points",
        };
        entry.set_item("name", &curve.name)?;
        entry.set_item("shape", shape)?;
        entry.set_item("colour", curve.colour)?;
        entry.set_item("dashed", curve.published || curve.dashed)?;
        entry.set_item("x", curve.points.iter().map(|point| point.x).collect::<Vec<_>>())?;
        entry.set_item("y", curve.points.iter().map(|point| point.y).collect::<Vec<_>>())?;
        entry.set_item("interval", curve.points.iter().map(|point| point.interval).collect::<Vec<_>>())
    })?;
    content.set_item("curves", list)?;
    content.set_item("references", references(py, &curves.references)?)
}

fn of_bars(content: &Bound<'_, PyDict>, bars: &Bars) -> PyResult<()> {
    let py = content.py();
    content.set_item("kind", "bars")?;
    content.set_item("value", axis(py, &bars.value)?)?;
    let list = dictionaries(py, &bars.bars, |bar, entry| {
        entry.set_item("group", &bar.group)?;
        entry.set_item("series", &bar.series)?;
        entry.set_item("value", bar.value)?;
        entry.set_item("colour", bar.look.map(|(colour, _)| colour))?;
        entry.set_item("interval", bar.interval)
    })?;
    content.set_item("bars", list)?;
    content.set_item("references", references(py, &bars.references)?)
}

fn of_boxes(content: &Bound<'_, PyDict>, boxes: &Boxes) -> PyResult<()> {
    let py = content.py();
    content.set_item("kind", "boxes")?;
    content.set_item("value", axis(py, &boxes.value)?)?;
    let list = dictionaries(py, &boxes.boxes, |entry_of, entry| {
        let plot = &entry_of.plot;
        entry.set_item("group", &entry_of.group)?;
        entry.set_item("series", &entry_of.series)?;
        entry.set_item("samples", entry_of.samples)?;
        entry.set_item("whislo", plot.whisker_low)?;
        entry.set_item("q1", plot.q1)?;
        entry.set_item("med", plot.median)?;
        entry.set_item("q3", plot.q3)?;
        entry.set_item("whishi", plot.whisker_high)?;
        entry.set_item("fliers", &plot.outliers)
    })?;
    content.set_item("boxes", list)
}

fn of_heat_map(content: &Bound<'_, PyDict>, map: &HeatMap) -> PyResult<()> {
    let py = content.py();
    content.set_item("kind", "heat map")?;
    content.set_item("value", axis(py, &map.value)?)?;
    content.set_item("signed", map.signed)?;
    for (key, of) in [("rows", &map.rows), ("columns", &map.columns)] {
        let names = PyDict::new(py);
        names.set_item("title", &of.title)?;
        names.set_item("names", &of.names)?;
        content.set_item(key, names)?;
    }
    let list = dictionaries(py, &map.cells, |cell, entry| {
        entry.set_item("row", cell.row)?;
        entry.set_item("column", cell.column)?;
        entry.set_item("value", cell.value)?;
        entry.set_item("interval", cell.interval)
    })?;
    content.set_item("cells", list)
}

fn axis<'py>(py: Python<'py>, axis: &Axis) -> PyResult<Bound<'py, PyDict>> {
    let content = PyDict::new(py);
    content.set_item("label", axis.title())?;
    content.set_item("logarithmic", axis.scale == Scale::Logarithmic)?;
    content.set_item("lower_is_better", axis.lower_is_better)?;
    content.set_item("with_zero", axis.extent == Extent::WithZero)?;
    let between = match axis.extent {
        Extent::Between(low, high) => Some((low, high)),
        Extent::WithZero | Extent::Fitted => None,
    };
    content.set_item("between", between)?;
    Ok(content)
}

/// A reference has a value `at`, a position `moment` on the x axis, or neither: then it is the diagonal.
fn references<'py>(py: Python<'py>, references: &[Reference]) -> PyResult<Bound<'py, PyList>> {
    dictionaries(py, references, |reference, entry| {
        let (at, moment) = match reference {
            Reference::Value { at, .. } => (Some(*at), None),
            Reference::Diagonal { .. } => (None, None),
            Reference::Moment { at, .. } => (None, Some(*at)),
        };
        entry.set_item("label", reference.label())?;
        entry.set_item("at", at)?;
        entry.set_item("moment", moment)
    })
}

/// A list of dictionaries, one for each of `items`.
fn dictionaries<'py, T>(
    py: Python<'py>,
    items: &[T],
    fill: impl Fn(&T, &Bound<'py, PyDict>) -> PyResult<()>,
) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for item in items {
        let dictionary = PyDict::new(py);
        fill(item, &dictionary)?;
        list.append(dictionary)?;
    }
    Ok(list)
}
