//! The range of an axis, and its ticks.

use super::figure::{Axis, Extent, Scale};

/// The values between the ends of an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Span {
    pub(super) low: f64,
    pub(super) high: f64,
    scale: Scale,
}

/// A mark on an axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    /// The position: 0 at the low end, 1 at the high end.
    pub(super) position: f64,
    /// The number as text.
    pub(super) label: String,
}

/// The lower limit of whiskers. If no value is below zero, it is zero: the quantity cannot be negative, although its
/// interval may be.
pub(super) fn whisker_floor(axis: &Axis, mut values: impl Iterator<Item = f64>) -> f64 {
    match axis.extent == Extent::WithZero && !values.any(|value| value < 0.0) {
        true => 0.0,
        false => f64::NEG_INFINITY,
    }
}

impl Span {
    /// The span of `values` on `axis`, with its ends at the extreme values.
    pub(super) fn exact(axis: &Axis, values: impl Iterator<Item = f64>) -> Self {
        let scale = axis.scale;
        if let Extent::Between(low, high) = axis.extent {
            return Self { low, high, scale };
        }
        let shown = values.filter(|x| x.is_finite() && (scale == Scale::Linear || *x > 0.0));
        let (mut low, mut high) = shown.fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(x), high.max(x)));
        if low > high {
            (low, high) = (1.0, 1.0);
        }
        if axis.extent == Extent::WithZero {
            (low, high) = (low.min(0.0), high.max(0.0));
        }
        if low == high {
            (low, high) = match scale {
                Scale::Logarithmic => (low / 2.0, high * 2.0),
                Scale::Linear if low == 0.0 => (0.0, 1.0),
                Scale::Linear => (low - low.abs() / 2.0, high + high.abs() / 2.0),
            };
        }
        Self { low, high, scale }
    }

    /// The span of `values` on `axis`, with its ends at ticks.
    pub(super) fn rounded(axis: &Axis, values: impl Iterator<Item = f64>) -> Self {
        let exact = Self::exact(axis, values);
        if matches!(axis.extent, Extent::Between(..)) {
            return exact;
        }
        match exact.scale {
            Scale::Linear => {
                let outwards = |span: Self| {
                    let step = step(span.high - span.low);
                    // An end that is a multiple except for its last bit is kept.
                    let (low, high) = ((span.low / step + 1e-9).floor(), (span.high / step - 1e-9).ceil());
                    Self { low: low * step, high: high * step, ..span }
                };
                // A longer axis may have a larger step; then the ends have to be multiples of that.
                outwards(outwards(exact))
            }
            Scale::Logarithmic => {
                let decade = |x: f64, towards: fn(f64) -> f64| 10f64.powf(towards(x.log10()));
                Self { low: decade(exact.low, f64::floor), high: decade(exact.high, f64::ceil), ..exact }
            }
        }
    }

    /// The position of `x`: 0 at the low end, 1 at the high end. Not finite if it cannot be shown.
    pub(super) fn position(&self, x: f64) -> f64 {
        match self.scale {
            Scale::Linear => (x - self.low) / (self.high - self.low),
            Scale::Logarithmic if x > 0.0 => (x / self.low).ln() / (self.high / self.low).ln(),
            Scale::Logarithmic => f64::NAN,
        }
    }

    /// Whether the scale is logarithmic.
    pub(super) fn is_logarithmic(&self) -> bool {
        self.scale == Scale::Logarithmic
    }

    /// About five round numbers.
    pub(super) fn ticks(&self) -> Vec<Tick> {
        let values = match self.scale {
            Scale::Linear => self.multiples(),
            Scale::Logarithmic => self.decades(),
        };
        let tick = |x: f64| Tick { position: self.position(x), label: readable(x, step(self.high - self.low)) };
        let logarithmic = |x: f64| Tick { position: self.position(x), label: readable(x, x) };
        values.into_iter().map(|x| if self.is_logarithmic() { logarithmic(x) } else { tick(x) }).collect()
    }

    fn multiples(&self) -> Vec<f64> {
        let step = step(self.high - self.low);
        let (first, last) = ((self.low / step - 1e-9).ceil() as i64, (self.high / step + 1e-9).floor() as i64);
        (first..=last).map(|n| n as f64 * step).collect()
    }

    /// Powers of ten; also twice and five times these if there are few.
    fn decades(&self) -> Vec<f64> {
        let (first, last) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        let factors: &[f64] = if (self.high / self.low).log10() < 2.5 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let every = ((last - first) / 8 + 1) as usize;
        let powers = (first..=last).step_by(every).map(|power| 10f64.powi(power));
        let values = powers.flat_map(|power| factors.iter().map(move |factor| factor * power));
        values.filter(|x| (self.low * 0.999..=self.high * 1.001).contains(x)).collect()
    }
}

/// A round number (1, 2 or 5 times a power of ten) that is contained four to ten times in `length`.
fn step(length: f64) -> f64 {
    let rough = length / 6.0;
    let power = 10f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= rough * 0.999).unwrap_or(10.0);
    factor * power
}

/// A number as text with the decimals that `step` needs, thin spaces between groups of three digits, and a minus sign.
pub(super) fn readable(x: f64, step: f64) -> String {
    if x == 0.0 {
        return "0".to_owned();
    }
    let magnitude = x.abs().max(step.abs());
    if !(1e-4..1e9).contains(&magnitude) {
        return format!("{x:.1e}").replace('-', "\u{2212}");
    }
    let decimals = (-(step.abs().max(1e-9) * 1.001).log10().floor()).clamp(0.0, 6.0) as usize;
    let digits = format!("{:.decimals$}", x.abs());
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    let mut text = String::new();
    if x < 0.0 && digits.bytes().any(|digit| (b'1'..=b'9').contains(&digit)) {
        text.push('\u{2212}');
    }
    for (index, digit) in whole.char_indices() {
        if index > 0 && whole.len() > 4 && (whole.len() - index) % 3 == 0 {
            text.push('\u{2009}');
        }
        text.push(digit);
    }
    if !fraction.is_empty() {
        text.push('.');
        text += fraction;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis, values: &[f64]) -> Vec<String> {
        Span::rounded(axis, values.iter().copied()).ticks().into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn ticks_are_round_numbers_that_enclose_the_values() {
        let axis = Axis::new("goodput", "Mbit/s");
        assert_eq!(labels(&axis, &[3.0, 23.7]), ["0", "5", "10", "15", "20", "25"]);
        assert_eq!(labels(&axis, &[0.0, 0.42]), ["0", "0.1", "0.2", "0.3", "0.4", "0.5"]);
        assert_eq!(labels(&axis, &[-3.0, 4.0]), ["\u{2212}4", "\u{2212}2", "0", "2", "4"]);
        assert_eq!(labels(&axis.clone().fitted(), &[1000.0, 61_000.0])[1], "20\u{2009}000");
        assert_eq!(labels(&axis.clone().logarithmic(), &[0.02, 300.0]), ["0.01", "0.1", "1", "10", "100", "1000"]);
        let exact = Span::exact(&axis.logarithmic(), [0.04, 2.2].into_iter());
        let labels: Vec<String> = exact.ticks().into_iter().map(|tick| tick.label).collect();
        assert_eq!(labels, ["0.05", "0.1", "0.2", "0.5", "1", "2"]);
    }

    #[test]
    fn rounded_ends_are_ticks() {
        for high in 1..5000 {
            for low in [0.0, -1.0, f64::from(-high) * 0.37] {
                let span = Span::rounded(&Axis::new("x", ""), [low, f64::from(high) * 0.013].into_iter());
                let ticks = span.ticks();
                let ends = (ticks[0].position, ticks[ticks.len() - 1].position);
                assert!(ends.0.abs() < 1e-9 && (ends.1 - 1.0).abs() < 1e-9, "{span:?} {ticks:?}");
            }
        }
    }

    #[test]
    fn an_axis_with_no_value_or_one_has_a_range_and_ticks() {
        let axis = Axis::new("drops", "packets");
        for values in [vec![], vec![0.0], vec![7.0], vec![f64::NAN], vec![-1.0]] {
            for axis in [axis.clone(), axis.clone().fitted(), axis.clone().logarithmic()] {
                let span = Span::rounded(&axis, values.iter().copied());
                assert!(span.low < span.high, "{axis:?} {values:?} {span:?}");
                assert!((2..=12).contains(&span.ticks().len()), "{axis:?} {values:?} {:?}", span.ticks());
            }
        }
    }

    #[test]
    fn positions_run_from_zero_to_one() {
        let span = Span::exact(&Axis::new("time", "s"), [0.0, 60.0].into_iter());
        assert_eq!((span.position(0.0), span.position(15.0), span.position(60.0)), (0.0, 0.25, 1.0));
        let decades = Span::exact(&Axis::new("rate", "").logarithmic(), [1.0, 100.0].into_iter());
        assert!((decades.position(10.0) - 0.5).abs() < 1e-12);
        assert!(decades.position(0.0).is_nan());
    }
}
