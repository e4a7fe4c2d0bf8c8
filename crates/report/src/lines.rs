//! The marks of curves.

use super::area::Area;
use super::figure::{Curve, CurvePoint, Curves, Mark, Reference, Shape};
use super::ink::{Look, Role};
use super::span::{Span, Tick, whisker_floor};

/// Of the distance of two places, the curves at the same places take this much.
const DODGED: f64 = 0.5;
/// Half of the width of a whisker's cap, as a share of the axis.
const CAP: f64 = 0.005;

/// A plot of curves: the spans of its axes, and the area of its marks.
pub(super) struct LinePlot<'a> {
    pub(super) curves: &'a Curves,
    pub(super) x: Span,
    pub(super) y: Span,
    area: Area,
}

impl<'a> LinePlot<'a> {
    pub(super) fn new(curves: &'a Curves, area: Area) -> Self {
        let points = || curves.curves.iter().flat_map(|curve| &curve.points);
        let levels = curves.references.iter().filter_map(|reference| match reference {
            Reference::Value { at, .. } => Some(*at),
            Reference::Diagonal { .. } | Reference::Moment { .. } => None,
        });
        let floor = whisker_floor(&curves.y, points().map(|point| point.y));
        let ends = points().filter_map(|point| point.interval).flat_map(|(low, high)| [low.max(floor), high]);
        let y = Span::rounded(&curves.y, points().map(|point| point.y).chain(ends).chain(levels));
        Self { curves, x: Span::exact(&curves.x, points().map(|point| point.x)), y, area }
    }

    /// How far to the right a curve with intervals is drawn, so that its whiskers are beside those of others at the same
    /// places: together at most [`DODGED`] of the smallest distance of two places.
    pub(super) fn dodge(&self, index: usize) -> f64 {
        let has_whiskers = |curve: &Curve| {
            curve.shape != Shape::LineAndBand && curve.points.iter().any(|point| point.interval.is_some())
        };
        let of = &self.curves.curves;
        let count = of.iter().filter(|curve| has_whiskers(curve)).count();
        if count < 2 || !has_whiskers(&of[index]) {
            return 0.0;
        }
        let place = of[..index].iter().filter(|curve| has_whiskers(curve)).count();
        let points = of.iter().filter(|curve| has_whiskers(curve)).flat_map(|curve| &curve.points);
        let mut places: Vec<f64> = points.map(|point| self.x.position(point.x)).filter(|x| x.is_finite()).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        let closest = places.windows(2).map(|pair| pair[1] - pair[0]).fold(1.0, f64::min);
        let step = (closest * DODGED / count as f64).min(2.0 * CAP);
        (place as f64 - (count - 1) as f64 / 2.0) * step * self.area.width
    }

    /// Grid lines at the ticks.
    pub(super) fn grid(&self) -> String {
        let (right, bottom) = (self.area.width, self.area.height);
        let vertical =
            |Tick { position, .. }: Tick| self.area.line((position * right, 0.0), (position * right, bottom));
        let horizontal = |Tick { position, .. }: Tick| {
            let y = (1.0 - position) * bottom;
            self.area.line((0.0, y), (right, y))
        };
        let path: String =
            self.x.ticks().into_iter().map(vertical).chain(self.y.ticks().into_iter().map(horizontal)).collect();
        self.area.path(Role::Grid, &path)
    }

    /// The reference lines.
    pub(super) fn references(&self) -> String {
        let line = |reference: &Reference| match reference {
            Reference::Value { at, .. } => {
                let y = (1.0 - self.y.position(*at)) * self.area.height;
                self.area.line((0.0, y), (self.area.width, y))
            }
            Reference::Moment { at, .. } => {
                let x = self.x.position(*at) * self.area.width;
                self.area.line((x, 0.0), (x, self.area.height))
            }
            Reference::Diagonal { .. } => {
                let (low, high) = (self.x.low.max(self.y.low), self.x.high.min(self.y.high));
                self.area.line(self.place(low, low), self.place(high, high))
            }
        };
        let path: String = self.curves.references.iter().map(line).collect();
        self.area.path(Role::Reference, &path)
    }

    /// The marks of a curve.
    pub(super) fn marks(&self, curve: &Curve, look: Look) -> String {
        let intervals = match curve.shape {
            Shape::LineAndBand => self.area.path(Role::Band(look), &self.band(curve)),
            _ => self.area.path(Role::Whisker(look), &self.whiskers(curve)),
        };
        let line = || self.area.path(Role::Line(look), &self.line(curve));
        let points = || self.area.path(Role::Points(look), &self.points(curve));
        let marks = match curve.shape {
            Shape::Line | Shape::LineAndBand | Shape::Steps => line(),
            Shape::Points => points(),
            Shape::Marks(mark) => {
                let dots = self.points(curve);
                let hole = if mark == Mark::Ring { self.area.path(Role::Hole, &dots) } else { String::new() };
                self.area.path(Role::Mark(mark, look), &dots) + &hole
            }
            Shape::LineAndPoints => line() + &points(),
        };
        intervals + &marks
    }

    /// The path of a curve: absolute coordinates at its beginning and after gaps, otherwise relative ones, which are
    /// shorter. Positions are exact to one grain of the area.
    fn line(&self, curve: &Curve) -> String {
        self.connected(curve.points.iter().map(|point| self.place(point.x, point.y)), curve.shape == Shape::Steps)
    }

    fn connected(&self, places: impl Iterator<Item = (f64, f64)>, in_steps: bool) -> String {
        let mut path = String::new();
        let mut before = None;
        for place in places {
            let Some((x, y)) = self.area.grains(place) else {
                before = None;
                continue;
            };
            let shown = |n| self.area.shown(n);
            path += &match before {
                // A distribution of very many samples has many of its steps in one place.
                Some(same) if in_steps && same == (x, y) => continue,
                None => format!("M{} {}", shown(x), shown(y)),
                Some((last_x, last_y)) if in_steps => format!("h{}v{}", shown(x - last_x), shown(y - last_y)),
                Some((last_x, last_y)) => {
                    let gap = if y < last_y { "" } else { " " };
                    format!("l{}{gap}{}", shown(x - last_x), shown(y - last_y))
                }
            };
            before = Some((x, y));
        }
        path
    }

    /// For each stretch of points with intervals an area: its upper edge from left to right, then its lower one back.
    fn band(&self, curve: &Curve) -> String {
        let stretches = curve.points.chunk_by(|a, b| a.interval.is_some() && b.interval.is_some());
        let area = |stretch: &[CurvePoint]| {
            let ends: Vec<(f64, f64, f64)> =
                stretch.iter().filter_map(|point| point.interval.map(|(low, high)| (point.x, low, high))).collect();
            let upper = ends.iter().map(|(x, _, high)| self.place(*x, *high));
            let lower = ends.iter().rev().map(|(x, low, _)| self.place(*x, low.max(self.y.low)));
            if ends.len() > 1 { self.connected(upper.chain(lower), false) + "z" } else { String::new() }
        };
        stretches.map(area).collect()
    }

    fn points(&self, curve: &Curve) -> String {
        let mut path = String::new();
        curve.points.iter().for_each(|point| self.area.add_dot(&mut path, self.place(point.x, point.y)));
        path
    }

    fn whiskers(&self, curve: &Curve) -> String {
        let whisker = |point: &CurvePoint| {
            let (low, high) = point.interval?;
            let ends = [self.place(point.x, low.max(self.y.low)), self.place(point.x, high)];
            let cap =
                |(x, y): (f64, f64)| self.area.line((x - CAP * self.area.width, y), (x + CAP * self.area.width, y));
            Some(self.area.line(ends[0], ends[1]) + &cap(ends[0]) + &cap(ends[1]))
        };
        curve.points.iter().filter_map(whisker).collect()
    }

    fn place(&self, x: f64, y: f64) -> (f64, f64) {
        (self.x.position(x) * self.area.width, (1.0 - self.y.position(y)) * self.area.height)
    }
}

#[cfg(test)]
mod tests {
    use super::super::figure::Axis;
    use super::super::ink::Medium;
    use super::*;

    const AREA: Area = Area { width: 100.0, height: 10.0, medium: Medium::Page };

    fn drawn(curve: Curve) -> String {
        let mut curves = Curves::new(Axis::new("time", "s"), Axis::new("cwnd", "packets").between(0.0, 10.0));
        curves.add(curve);
        LinePlot::new(&curves, AREA).marks(&curves.curves[0], Look { colour: 0, dashed: false })
    }

    #[test]
    fn a_line_connects_the_points_and_is_interrupted_at_gaps() {
        let points = [(0.0, 1.0), (1.0, 3.0), (2.0, 3.0), (2.5, f64::NAN), (3.0, 0.0), (4.0, 10.0)];
        let marks = drawn(Curve::new("a").with_points(points).shape(Shape::Line));
        assert_eq!(marks, r#"<path class="line" d="M0 9l25-2l25 0M75 10l25-10"/>"#);
    }

    #[test]
    fn steps_hold_their_value_and_points_are_not_connected() {
        let points = [(0.0, 1.0), (4.0, 3.0)];
        assert_eq!(
            drawn(Curve::new("a").with_points(points).shape(Shape::Steps)),
            r#"<path class="line" d="M0 9h100v-2"/>"#
        );
        assert_eq!(
            drawn(Curve::new("a").with_points(points).shape(Shape::Points)),
            r#"<path class="points" d="M0 9h0M100 7h0"/>"#
        );
    }

    #[test]
    fn intervals_are_whiskers_and_widen_the_axis() {
        let mut curves = Curves::new(Axis::new("loss", "%"), Axis::new("goodput", "Mbit/s"));
        curves.add(Curve::new("a").with_intervals([(0.0, 4.0, 3.0, 8.0), (1.0, 2.0, 2.0, 2.0)]));
        let plot = LinePlot::new(&curves, AREA);
        assert_eq!(plot.y.high, 8.0);
        let marks = plot.marks(&curves.curves[0], Look { colour: 0, dashed: false });
        assert!(marks.starts_with(r#"<path class="whisker" d="M0 6V0"#), "{marks}");
    }

    #[test]
    fn curves_at_the_same_places_have_their_whiskers_beside_each_other() {
        let mut curves = Curves::new(Axis::new("loss", "%"), Axis::new("goodput", "Mbit/s"));
        for name in ["a", "b"] {
            curves.add(Curve::new(name).with_intervals([(0.0, 4.0, 3.0, 8.0), (4.0, 2.0, 1.0, 3.0)]));
        }
        curves.add(Curve::new("published").with_points([(0.0, 4.0)]));
        let plot = LinePlot::new(&curves, Area { width: 1000.0, ..AREA });
        assert_eq!([0, 1, 2].map(|index| plot.dodge(index)), [-5.0, 5.0, 0.0]);
        let marks = plot.marks(&curves.curves[0], Look { colour: 0, dashed: false });
        assert!(marks.starts_with(r#"<path class="whisker" d="M0 6V0M-5 6H5M-5 0H5"#), "{marks}");
        curves.curves.remove(1);
        assert_eq!(LinePlot::new(&curves, AREA).dodge(0), 0.0);
    }

    #[test]
    fn a_band_is_an_area_that_is_interrupted_where_there_is_no_interval() {
        let mut curve = Curve::new("a").with_intervals([(0.0, 4.0, 3.0, 8.0), (1.0, 2.0, 1.0, 4.0)]);
        curve = curve.with_points([(2.0, 2.0)]).with_intervals([(3.0, 5.0, -1.0, 6.0), (4.0, 5.0, 4.0, 6.0)]);
        let marks = drawn(curve.shape(Shape::LineAndBand));
        assert_eq!(
            marks,
            r#"<path class="band" d="M0 2l25 4l0 3l-25-2zM75 4l25 0l0 2l-25 4z"/><path class="line" d="M0 6l25 2l25 0l25-3l25 0"/>"#
        );
    }

    #[test]
    fn both_edges_of_a_band_have_all_points_also_where_they_meet() {
        let curve = Curve::new("a").with_intervals([(0.0, 4.0, 4.0, 4.0), (4.0, 4.0, 4.0, 4.0)]);
        let marks = drawn(curve.shape(Shape::LineAndBand));
        assert!(marks.starts_with(r#"<path class="band" d="M0 6l100 0l0 0l-100 0z"/>"#), "{marks}");
    }

    #[test]
    fn the_interval_of_a_quantity_that_is_never_negative_ends_at_zero() {
        let mut curves = Curves::new(Axis::new("loss", "%"), Axis::new("goodput", "Mbit/s"));
        curves.add(Curve::new("a").with_intervals([(0.0, 4.0, -1.0, 8.0)]));
        assert_eq!(LinePlot::new(&curves, AREA).y.low, 0.0);
        curves.add(Curve::new("b").with_intervals([(0.0, -2.0, -3.0, 1.0)]));
        assert!(LinePlot::new(&curves, AREA).y.low <= -3.0);
    }

    #[test]
    fn steps_in_the_same_place_are_drawn_once() {
        let many = (0..10_000).map(|n| (f64::from(n) / 1e4, f64::from(n) / 1e3));
        let marks = drawn(Curve::new("a").with_points(many).shape(Shape::Steps));
        assert!(marks.matches('v').count() <= 110, "{marks}");
    }

    #[test]
    fn a_curve_without_points_draws_nothing() {
        assert_eq!(drawn(Curve::new("a")), "");
    }
}
