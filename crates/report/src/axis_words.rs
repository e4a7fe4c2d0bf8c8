//! The titles and units that a scenario gives to the axes of figures (`[axes]`).

use subflow_lab::statistics::BoxPlot;
use subflow_scenario::AxisWords;

use super::figure::{Axis, Chart, Extent, Figure, Names, Reference};

/// What axes of changes to a baseline are called, before the name of the quantity. Their unit is per cent.
const CHANGE: &str = "change of ";

/// The figure with the axes that `words` give it, and its values in their units.
pub(super) fn worded(mut figure: Figure, words: &[AxisWords]) -> Figure {
    if words.is_empty() {
        return figure;
    }
    match &mut figure.chart {
        Chart::Curves(curves) => {
            let (x, y) = (reword(&mut curves.x, words), reword(&mut curves.y, words));
            for point in curves.curves.iter_mut().flat_map(|curve| &mut curve.points) {
                point.x *= x;
                scale(&mut point.y, &mut point.interval, y);
            }
            curves.references.iter_mut().for_each(|reference| move_reference(reference, x, y));
        }
        Chart::Bars(bars) => {
            let factor = reword(&mut bars.value, words);
            bars.bars.iter_mut().for_each(|bar| scale(&mut bar.value, &mut bar.interval, factor));
            bars.references.iter_mut().for_each(|reference| move_reference(reference, 1.0, factor));
        }
        Chart::Boxes(boxes) => {
            let factor = reword(&mut boxes.value, words);
            boxes.boxes.iter_mut().for_each(|of| scale_box(&mut of.plot, factor));
        }
        Chart::HeatMap(map) => {
            let factor = reword(&mut map.value, words);
            map.cells.iter_mut().for_each(|cell| scale(&mut cell.value, &mut cell.interval, factor));
            [&mut map.rows, &mut map.columns].into_iter().for_each(|names| rename(names, words));
        }
    }
    figure
}

/// Gives `axis` the title and the unit of `words`. Returns what its values are multiplied by to be in that unit.
pub(super) fn reword(axis: &mut Axis, words: &[AxisWords]) -> f64 {
    let changed = axis.label.strip_prefix(CHANGE);
    let quantity = changed.unwrap_or(&axis.label);
    let Some(AxisWords { title, unit, .. }) = words.iter().find(|words| words.of == quantity) else { return 1.0 };
    let converted = unit.filter(|_| changed.is_none()).and_then(|unit| Some((unit, unit.factor_from(&axis.unit)?)));
    if let Some(title) = title {
        axis.label = if changed.is_some() { format!("{CHANGE}{title}") } else { title.clone() };
    }
    let Some((unit, factor)) = converted else { return 1.0 };
    unit.name.clone_into(&mut axis.unit);
    if let Extent::Between(low, high) = axis.extent {
        axis.extent = Extent::Between(factor * low, factor * high);
    }
    factor
}

/// The title of names that are values of a swept path.
fn rename(names: &mut Names, words: &[AxisWords]) {
    if let Some(title) = words.iter().find(|words| words.of == names.title).and_then(|words| words.title.clone()) {
        names.title = title;
    }
}

fn scale(value: &mut f64, interval: &mut Option<(f64, f64)>, factor: f64) {
    *value *= factor;
    if let Some((low, high)) = interval {
        *low *= factor;
        *high *= factor;
    }
}

fn scale_box(plot: &mut BoxPlot, factor: f64) {
    let BoxPlot { whisker_low, q1, median, q3, whisker_high, outliers } = plot;
    let numbers = [whisker_low, q1, median, q3, whisker_high].into_iter().chain(outliers);
    numbers.for_each(|number| *number *= factor);
}

fn move_reference(reference: &mut Reference, x: f64, y: f64) {
    match reference {
        Reference::Value { at, .. } => *at *= y,
        Reference::Moment { at, .. } => *at *= x,
        Reference::Diagonal { .. } => {}
    }
}
