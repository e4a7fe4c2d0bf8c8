//! Values of two names as coloured cells.

use subflow_lab::statistics::quantile;

use super::{Axis, Extent, Scale};

/// From this ratio of the largest to the smallest value on, the scale is logarithmic: on a linear one a few large values
/// would leave all others in one colour.
const WIDE: f64 = 5.0;

/// A table whose cells are coloured by their values.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatMap {
    /// The axis of the colours, with its range. Several heat maps with the same axis have the same colours.
    pub value: Axis,
    /// The rows.
    pub rows: Names,
    /// The columns.
    pub columns: Names,
    /// The cells; those that are missing have no value.
    pub cells: Vec<HeatCell>,
    /// Whether values are differences: zero has no colour, and better and worse values have different ones.
    pub signed: bool,
}

/// The names of rows or columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Names {
    /// What they are names of.
    pub title: String,
    /// The names, in order.
    pub names: Vec<String>,
}

/// A cell of a heat map.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatCell {
    /// The index of its row.
    pub row: usize,
    /// The index of its column.
    pub column: usize,
    /// Its value.
    pub value: f64,
    /// The ends of its interval, such as the 95 % interval.
    pub interval: Option<(f64, f64)>,
    /// On a page: the number by which a script finds its value, if the reader may choose what is shown.
    pub number: Option<usize>,
}

/// How a value is coloured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shade {
    /// From the colour of the ground (0) to the full colour (1).
    pub(crate) share: f64,
    /// Whether it has the colour of differences to the worse.
    pub(crate) is_worse: bool,
}

impl HeatMap {
    /// The axis of the colours of `values`, which may be those of several heat maps. That of values is logarithmic if they
    /// span more than a factor of five. That of differences goes equally far to both sides: to the largest of them, or if
    /// that is more than twice as large as nine of ten others, to the largest of these nine.
    pub(crate) fn axis(axis: &Axis, values: impl Iterator<Item = f64>, signed: bool) -> Axis {
        let values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
        let (low, high) =
            values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(*x), high.max(*x)));
        if values.is_empty() {
            return axis.clone().between(0.0, 1.0);
        }
        if signed {
            let sizes: Vec<f64> = values.iter().map(|value| value.abs()).collect();
            let most = low.abs().max(high.abs());
            let usual = quantile(&sizes, 0.9).filter(|usual| *usual > 0.0 && most > 2.0 * usual).unwrap_or(most);
            return axis.clone().between(-usual, usual);
        }
        let scale = if low > 0.0 && high >= WIDE * low { Scale::Logarithmic } else { Scale::Linear };
        Axis { scale, ..axis.clone().between(low, high) }
    }

    /// The lowest and the highest value of the scale.
    pub(crate) fn span(&self) -> (f64, f64) {
        match self.value.extent {
            Extent::Between(low, high) => (low, high),
            Extent::WithZero | Extent::Fitted => (0.0, 1.0),
        }
    }

    /// The colour of `value`; `None` if it is no number.
    pub(crate) fn shade(&self, value: f64) -> Option<Shade> {
        let (low, high) = self.span();
        let share = match (self.signed, self.value.scale) {
            (true, _) => value.abs() / high,
            (false, Scale::Linear) => (value - low) / (high - low),
            (false, Scale::Logarithmic) => (value / low).ln() / (high / low).ln(),
        };
        // Equal values everywhere are in the middle of the scale; differences that are all zero have no colour.
        let share = if share.is_nan() && value.is_finite() { f64::from(u8::from(!self.signed)) / 2.0 } else { share };
        let is_worse = self.signed && if self.value.lower_is_better { value > 0.0 } else { value < 0.0 };
        share.is_finite().then(|| Shade { share: share.clamp(0.0, 1.0), is_worse })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shades(values: &[f64], signed: bool) -> Vec<(f64, bool)> {
        shades_of(&Axis::new("goodput", "Mbit/s"), values, signed)
    }

    fn shades_of(axis: &Axis, values: &[f64], signed: bool) -> Vec<(f64, bool)> {
        let cell = |(column, &value)| HeatCell { row: 0, column, value, interval: None, number: None };
        let names = |names: &[&str]| Names { title: String::new(), names: names.iter().map(|n| (*n).into()).collect() };
        let map = HeatMap {
            value: HeatMap::axis(axis, values.iter().copied(), signed),
            rows: names(&["a"]),
            columns: names(&["x", "y", "z"]),
            cells: values.iter().enumerate().map(cell).collect(),
            signed,
        };
        let shades = values.iter().filter_map(|value| map.shade(*value));
        shades.map(|shade| (shade.share, shade.is_worse)).collect()
    }

    #[test]
    fn colours_go_from_the_lowest_to_the_highest_value_or_from_zero_to_both_sides() {
        assert_eq!(shades(&[10.0, 30.0, 20.0, f64::NAN], false), [(0.0, false), (1.0, false), (0.5, false)]);
        assert_eq!(shades(&[-4.0, 0.0, 2.0], true), [(1.0, true), (0.0, false), (0.5, false)]);
    }

    #[test]
    fn a_longer_download_has_the_colour_of_what_is_worse() {
        let completion = Axis::new("completion", "s").lower_is_better(true);
        assert_eq!(shades_of(&completion, &[4.0, 0.0, -2.0], true), [(1.0, true), (0.0, false), (0.5, false)]);
    }

    #[test]
    fn few_large_values_do_not_leave_all_others_in_one_colour() {
        let shares: Vec<f64> = shades(&[1.0, 10.0, 100.0], false).into_iter().map(|(share, _)| share).collect();
        assert!((shares[1] - 0.5).abs() < 1e-12, "{shares:?}");
        let mut differences = vec![-4.0; 19];
        differences.push(900.0);
        assert_eq!(shades(&differences, true)[0], (1.0, true));
    }

    #[test]
    fn equal_values_have_a_colour() {
        assert_eq!(shades(&[7.0, 7.0], false), [(0.5, false); 2]);
        assert_eq!(shades(&[0.0, 0.0], true), [(0.0, false); 2]);
    }
}
