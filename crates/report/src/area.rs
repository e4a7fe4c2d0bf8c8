//! The area in which marks are drawn, and the notation of its coordinates.

use std::fmt::Write;

use super::ink::{Look, Medium, Role};

/// An area with y downwards. On a page it is stretched to the available width, so its units are not pixels and strokes
/// do not scale; in a file its units are pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Area {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) medium: Medium,
}

impl Area {
    /// An element with the path `d`; empty if the path is empty.
    pub(super) fn path(&self, role: Role, d: &str) -> String {
        if d.is_empty() { String::new() } else { format!(r#"<path{} d="{d}"/>"#, self.medium.attributes(role)) }
    }

    /// A rectangle between two corners.
    pub(super) fn rectangle(&self, role: Role, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) -> String {
        let Some((left, top)) = self.grains((x1.min(x2), y1.min(y2))) else { return String::new() };
        let Some((right, bottom)) = self.grains((x1.max(x2), y1.max(y2))) else { return String::new() };
        format!(
            r#"<rect{} x="{}" y="{}" width="{}" height="{}"/>"#,
            self.medium.attributes(role),
            self.shown(left),
            self.shown(top),
            self.shown(right - left),
            self.shown(bottom - top),
        )
    }

    /// On a page a group around the marks of a bar, which tells a script the number of the bar, its look, its upper edge,
    /// middle and lower edge, and half the height of the ends of its whisker; in a file the marks alone.
    pub(super) fn group(&self, number: usize, look: Look, heights: [f64; 4], marks: &str) -> String {
        match self.medium {
            Medium::Page => {
                let [top, middle, bottom, half] = heights.map(f64::round);
                let classes = look.classes();
                format!(
                    r#"<g data-number="{number}" data-look="{classes}" data-heights="{top} {middle} {bottom} {half}">{marks}</g>"#
                )
            }
            Medium::Paper => marks.to_owned(),
        }
    }

    /// The path of a straight line; empty if an end cannot be shown.
    pub(super) fn line(&self, from: (f64, f64), to: (f64, f64)) -> String {
        let (Some((x1, y1)), Some((x2, y2))) = (self.grains(from), self.grains(to)) else { return String::new() };
        let begin = format!("M{} {}", self.shown(x1), self.shown(y1));
        if x1 == x2 {
            format!("{begin}V{}", self.shown(y2))
        } else if y1 == y2 {
            format!("{begin}H{}", self.shown(x2))
        } else {
            format!("{begin}L{} {}", self.shown(x2), self.shown(y2))
        }
    }

    /// Adds a dot to a path, if it can be shown: a line of length zero, whose round ends stay round when the area is
    /// stretched.
    pub(super) fn add_dot(&self, path: &mut String, at: (f64, f64)) {
        let Some((x, y)) = self.grains(at) else { return };
        let written = match self.medium {
            // A view of packets has ten thousands of them: none is a text of its own.
            Medium::Page => write!(path, "M{x} {y}h0"),
            Medium::Paper => write!(path, "M{} {}h0", self.shown(x), self.shown(y)),
        };
        written.expect("a text takes all that is written");
    }

    /// A position in the smallest steps that are written (grains); `None` if it cannot be shown.
    pub(super) fn grains(&self, (x, y): (f64, f64)) -> Option<(i64, i64)> {
        let grains = |x: f64| (x * self.grains_per_unit()).round() as i64;
        (x.is_finite() && y.is_finite()).then(|| (grains(x), grains(y)))
    }

    /// A number of grains as text.
    pub(super) fn shown(&self, grains: i64) -> String {
        match self.medium {
            Medium::Page => grains.to_string(),
            Medium::Paper => (grains as f64 / self.grains_per_unit()).to_string(),
        }
    }

    fn grains_per_unit(&self) -> f64 {
        match self.medium {
            Medium::Page => 1.0,
            Medium::Paper => 100.0,
        }
    }
}
