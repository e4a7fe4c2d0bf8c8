//! The marks of bars and box plots: groups from top to bottom, a row for each bar, values to the right. Rows have room
//! for long names and for any number of groups, even on a phone.

use super::area::Area;
use super::figure::{Axis, Bars, BoxOf, Boxes, Reference};
use super::ink::{Look, Role};
use super::span::{Span, Tick, readable, whisker_floor};

/// Height of a row with a number beside it, in pixels.
const ROW_HEIGHT: f64 = 18.0;
/// Height of a row without one.
const LOW_ROW_HEIGHT: f64 = 8.0;
/// Bars in groups have numbers beside them up to this number of rows.
const MOST_NUMBERED: usize = 40;
/// Height of the gap between groups, in pixels.
pub(super) const PLOT_MARGIN: f64 = 10.0;

/// Groups of rows.
pub(super) struct RowPlot<'a> {
    pub(super) value: &'a Axis,
    pub(super) span: Span,
    pub(super) groups: Vec<Group<'a>>,
    /// Names of the series, in the order of their colours.
    pub(super) series: Vec<&'a str>,
    pub(super) references: &'a [Reference],
    /// Height of a row, in pixels.
    pub(super) row_height: f64,
    /// Whether numbers have signs.
    is_signed: bool,
}

/// One group.
pub(super) struct Group<'a> {
    pub(super) name: &'a str,
    pub(super) rows: Vec<Row<'a>>,
    /// Its height, in pixels.
    pub(super) height: f64,
}

/// One row.
pub(super) struct Row<'a> {
    pub(super) series: usize,
    /// The number by which a script finds its value.
    pub(super) number: Option<usize>,
    what: What<'a>,
    look: Look,
}

enum What<'a> {
    Bar { value: f64, interval: Option<(f64, f64)> },
    Box(&'a BoxOf),
}

impl<'a> RowPlot<'a> {
    pub(super) fn of_bars(bars: &'a Bars) -> Self {
        let mut plot = Self::empty(&bars.value, &bars.references);
        plot.is_signed = bars.signed;
        for bar in &bars.bars {
            let what = What::Bar { value: bar.value, interval: bar.interval };
            let look = bar.look.map(|(colour, dashed)| Look::of_path(colour, dashed));
            plot.add(&bar.group, &bar.series, what, look, bar.number);
        }
        // Numbers of many rows are rather read in a heat map or a table.
        if bars.bars.len() > MOST_NUMBERED && plot.groups.len() < bars.bars.len() {
            plot.row_height = LOW_ROW_HEIGHT;
        }
        plot.set_heights();
        let floor = match bars.signed {
            true => f64::NEG_INFINITY,
            false => whisker_floor(&bars.value, bars.bars.iter().map(|bar| bar.value)),
        };
        let ends = bars.bars.iter().filter_map(|bar| bar.interval).flat_map(|(low, high)| [low.max(floor), high]);
        plot.span = Span::rounded(&bars.value, bars.bars.iter().map(|bar| bar.value).chain(ends).chain(plot.levels()));
        plot
    }

    pub(super) fn of_boxes(boxes: &'a Boxes) -> Self {
        let mut plot = Self::empty(&boxes.value, &[]);
        for one in &boxes.boxes {
            plot.add(&one.group, &one.series, What::Box(one), None, None);
        }
        plot.set_heights();
        let values = boxes.boxes.iter().flat_map(|one| {
            let whiskers = [one.plot.whisker_low, one.plot.whisker_high];
            whiskers.into_iter().chain(one.plot.outliers.iter().copied())
        });
        plot.span = Span::rounded(&boxes.value, values);
        plot
    }

    fn empty(value: &'a Axis, references: &'a [Reference]) -> Self {
        let span = Span::rounded(value, std::iter::empty());
        Self {
            value,
            span,
            groups: Vec::new(),
            series: Vec::new(),
            references,
            row_height: ROW_HEIGHT,
            is_signed: false,
        }
    }

    fn add(&mut self, group: &'a str, series: &'a str, what: What<'a>, look: Option<Look>, number: Option<usize>) {
        let series = self.series.iter().position(|known| *known == series).unwrap_or_else(|| {
            self.series.push(series);
            self.series.len() - 1
        });
        let row = Row { series, number, what, look: look.unwrap_or_else(|| Look::of_series(series)) };
        match self.groups.iter_mut().find(|known| known.name == group) {
            Some(group) => group.rows.push(row),
            None => self.groups.push(Group { name: group, rows: vec![row], height: 0.0 }),
        }
    }

    fn levels(&self) -> impl Iterator<Item = f64> + use<'a> {
        self.references.iter().filter_map(|reference| match reference {
            Reference::Value { at, .. } => Some(*at),
            Reference::Diagonal { .. } | Reference::Moment { .. } => None,
        })
    }

    fn set_heights(&mut self) {
        for group in &mut self.groups {
            group.height = group.rows.len() as f64 * self.row_height + PLOT_MARGIN;
        }
    }

    /// Whether rows have numbers beside them.
    pub(super) fn has_numbers(&self) -> bool {
        self.row_height == ROW_HEIGHT
    }

    /// Height of all rows, in pixels.
    pub(super) fn height(&self) -> f64 {
        self.groups.iter().map(|group| group.height).sum()
    }

    /// The number beside a row.
    pub(super) fn shown(&self, row: &Row<'_>) -> String {
        match row.what {
            What::Bar { value, .. } => number(value, self.is_signed),
            What::Box(one) => three_digits(one.plot.median),
        }
    }

    /// All numbers of a row as text.
    pub(super) fn words(&self, row: &Row<'_>) -> String {
        match row.what {
            What::Bar { value, interval } => with_interval(value, interval, self.is_signed),
            What::Box(BoxOf { plot, samples, .. }) => format!(
                "median {}, quartiles {} and {}, whiskers {} to {}, {samples} samples",
                three_digits(plot.median),
                three_digits(plot.q1),
                three_digits(plot.q3),
                three_digits(plot.whisker_low),
                three_digits(plot.whisker_high),
            ),
        }
    }

    /// Grid lines at the ticks, a line at zero if bars go below, and reference lines.
    pub(super) fn grid(&self, area: Area) -> String {
        let line = |position: f64| area.line((position * area.width, 0.0), (position * area.width, area.height));
        let grid: String = self.span.ticks().into_iter().map(|Tick { position, .. }| line(position)).collect();
        let references: String = self.levels().map(|at| line(self.span.position(at))).collect();
        let zero = if self.is_signed && self.span.low < 0.0 { line(self.span.position(0.0)) } else { String::new() };
        area.path(Role::Grid, &grid) + &area.path(Role::Zero, &zero) + &area.path(Role::Reference, &references)
    }

    /// The marks of all rows.
    pub(super) fn marks(&self, area: Area) -> String {
        let mut marks = String::new();
        let mut top = 0.0;
        for group in &self.groups {
            for (index, row) in group.rows.iter().enumerate() {
                marks += &self.row(row, top + PLOT_MARGIN / 2.0 + index as f64 * self.row_height, area);
            }
            top += group.height;
        }
        marks
    }

    fn row(&self, row: &Row<'_>, top: f64, area: Area) -> String {
        let look = row.look;
        let at = |value: f64| self.span.position(value) * area.width;
        let margin = self.row_height * 2.5 / ROW_HEIGHT;
        let (low, middle, high) = (top + margin, top + self.row_height / 2.0, top + self.row_height - margin);
        let across = |value: f64, half: f64| area.line((at(value), middle - half), (at(value), middle + half));
        let along = |from: f64, to: f64| area.line((at(from), middle), (at(to), middle));
        match row.what {
            What::Bar { value, interval } => {
                let zero = self.span.low.max(0.0).min(self.span.high);
                let whisker = interval.map(|(from, to)| (from.max(self.span.low), to));
                let half = (self.row_height / 6.0).floor();
                let whisker = whisker.map(|(from, to)| along(from, to) + &across(from, half) + &across(to, half));
                let marks = area.rectangle(Role::Bar(look), (at(zero), low), (at(value), high))
                    + &area.path(Role::Interval, &whisker.unwrap_or_default());
                match row.number {
                    Some(number) => area.group(number, look, [low, middle, high, half], &marks),
                    None => marks,
                }
            }
            What::Box(BoxOf { plot, .. }) => {
                let whiskers = along(plot.whisker_low, plot.q1)
                    + &along(plot.q3, plot.whisker_high)
                    + &across(plot.whisker_low, 3.0)
                    + &across(plot.whisker_high, 3.0);
                let mut outliers = String::new();
                plot.outliers.iter().for_each(|&x| area.add_dot(&mut outliers, (at(x), middle)));
                area.path(Role::Interval, &whiskers)
                    + &area.rectangle(Role::Box(look), (at(plot.q1), low), (at(plot.q3), high))
                    + &area.path(Role::Median(look), &across(plot.median, self.row_height / 2.0 - margin))
                    + &area.path(Role::Outliers(look), &outliers)
            }
        }
    }
}

/// A value with its interval as text.
pub(super) fn with_interval(value: f64, interval: Option<(f64, f64)>, is_signed: bool) -> String {
    let ends = |(low, high): (f64, f64)| format!(" ({} to {})", number(low, is_signed), number(high, is_signed));
    number(value, is_signed) + &interval.map_or_else(String::new, ends)
}

/// A number with three digits; a difference has a sign also above zero.
pub(super) fn number(x: f64, is_signed: bool) -> String {
    if is_signed && x > 0.0 { format!("+{}", three_digits(x)) } else { three_digits(x) }
}

/// A number as [`number`] writes it, but without decimals that do not count beside a number as large as `largest`: a
/// thousandth of it is the last place.
pub(super) fn number_beside(x: f64, largest: f64, is_signed: bool) -> String {
    if x == 0.0 || !x.is_finite() || largest <= 0.0 || !largest.is_finite() {
        return number(x, is_signed);
    }
    let power = |x: f64| 10f64.powf(x.abs().log10().floor());
    let text = readable(x, (power(x) * 1e-2).max(power(largest) * 1e-3));
    match text.chars().any(|digit| ('1'..='9').contains(&digit)) {
        false => "0".to_owned(),
        true if is_signed && x > 0.0 => format!("+{text}"),
        true => text,
    }
}

/// A number with three significant digits, or all digits before the point.
fn three_digits(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return if x == 0.0 { "0".to_owned() } else { "–".to_owned() };
    }
    readable(x, 10f64.powf(x.abs().log10().floor() - 2.0))
}

#[cfg(test)]
mod tests {
    use super::super::ink::Medium;
    use super::*;

    #[test]
    fn numbers_beside_rows_have_three_digits() {
        let shown: Vec<String> = [23.7281, 0.01234, 12345.0, -3.0, 0.0].map(three_digits).into();
        assert_eq!(shown, ["23.7", "0.0123", "12\u{2009}345", "\u{2212}3.00", "0"]);
    }

    #[test]
    fn small_numbers_beside_large_ones_are_short() {
        let beside = |largest: f64| [-0.000_123, 0.0456, 31.4, 0.0].map(|x| number_beside(x, largest, true));
        assert_eq!(beside(50.0), ["0", "+0.05", "+31.4", "0"]);
        assert_eq!(beside(0.05), ["\u{2212}0.00012", "+0.0456", "+31.4", "0"]);
        assert_eq!(number_beside(f64::NAN, 1.0, true), "–");
    }

    #[test]
    fn a_bar_begins_at_zero_and_has_a_whisker() {
        let mut bars = Bars::new(Axis::new("deviation", "%"));
        bars.add("A", "ours", -5.0, Some((-6.0, -4.0))).add("A", "kernel", 10.0, None).add("B", "ours", 2.0, None);
        let plot = RowPlot::of_bars(&bars);
        assert_eq!((plot.groups.len(), plot.series.len()), (2, 2));
        assert_eq!((plot.span.low, plot.span.high), (-10.0, 10.0));
        let area = Area { width: 200.0, height: plot.height(), medium: Medium::Page };
        let marks = plot.marks(area);
        assert!(marks.contains(r#"<rect class="bar c0" x="50" y="8" width="50" height="13"/>"#), "{marks}");
        assert!(marks.contains(r#"<rect class="bar c1" x="100""#), "{marks}");
        assert_eq!(marks.matches("interval").count(), 1);
    }

    #[test]
    fn a_box_plot_has_a_box_a_median_whiskers_and_outliers() {
        let mut boxes = Boxes::new(Axis::new("goodput", "Mbit/s"));
        boxes.add("x", "ll", &[1.0, 2.0, 3.0, 4.0, 5.0, 100.0]).add("x", "none", &[]);
        let plot = RowPlot::of_boxes(&boxes);
        let marks = plot.marks(Area { width: 1000.0, height: plot.height(), medium: Medium::Page });
        for class in ["box c0", "median c0", "outliers c0", "interval"] {
            assert_eq!(marks.matches(class).count(), 1, "{class}: {marks}");
        }
        assert!(plot.words(&plot.groups[0].rows[0]).starts_with("median 3.50, quartiles 2.25 and 4.75"));
    }
}
