//! A figure as a file for a paper: SVG with its own text and colours, the same in every program that reads it.

use super::area::Area;
use super::escape::escaped;
use super::figure::{Chart, Curves, Figure};
use super::ink::{Look, Medium, Role};
use super::lines::LinePlot;
use super::rows::{PLOT_MARGIN, ROW_HEIGHT, RowPlot};
use super::span::{Span, Tick};

/// Width of a file, in pixels: 16 cm in print, the width of a page or of two columns.
const WIDTH: f64 = 605.0;
/// Height of the area of curves.
const HEIGHT: f64 = 260.0;
/// Space above the area for the title of the y axis, and to the right for half of the last tick's label.
const TOP: f64 = 22.0;
const RIGHT: f64 = 18.0;
/// Approximate width of a letter, from which the width of a column of labels is estimated.
const LETTER: f64 = 6.1;
const LINE: f64 = 16.0;
/// Longer names are shortened in the middle, because they differ at their ends.
const MAX_NAME_CHARS: usize = 38;

/// The figure as one SVG file.
pub(super) fn svg(figure: &Figure) -> String {
    let mut sheet = Sheet::default();
    match &figure.chart {
        Chart::Curves(curves) => sheet.curves(curves),
        Chart::Bars(bars) => sheet.rows(&RowPlot::of_bars(bars), bars.value.title()),
        Chart::Boxes(boxes) => sheet.rows(&RowPlot::of_boxes(boxes), boxes.value.title()),
    }
    let Sheet { body, height } = sheet;
    let title = escaped(&figure.title);
    let description = escaped(&figure.caption);
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" font-family="Helvetica, Arial, sans-serif" font-size="11" fill="#222222"><title>{title}</title><desc>{description}</desc><rect width="{WIDTH}" height="{height}" fill="#ffffff"/>{body}</svg>
"##
    )
}

/// The elements drawn so far, and their height.
#[derive(Default)]
struct Sheet {
    body: String,
    height: f64,
}

#[derive(Clone, Copy)]
enum Anchor {
    Start,
    Middle,
    End,
}

impl Sheet {
    fn curves(&mut self, curves: &Curves) {
        let plot = |width| LinePlot::new(curves, Area { width, height: HEIGHT, medium: Medium::Paper });
        let left = 12.0 + LETTER * longest(plot(1.0).y.ticks().iter().map(|tick| tick.label.as_str())) as f64;
        let plot = plot(WIDTH - left - RIGHT);
        self.text(4.0, 12.0, Anchor::Start, &curves.y.title());
        let mut marks = plot.grid() + &plot.references();
        let mut keys = Vec::new();
        for (index, curve) in curves.curves.iter().enumerate() {
            let look = Look::of_curve(curve, index);
            marks += &plot.marks(curve, look);
            keys.push((curve.name.as_str(), Role::Line(look)));
        }
        for reference in &curves.references {
            keys.push((reference.label(), Role::Reference));
        }
        self.body += &format!(r#"<g transform="translate({left} {TOP})">{marks}</g>"#);
        for Tick { position, label } in plot.y.ticks() {
            self.text(left - 5.0, TOP + (1.0 - position) * HEIGHT + 4.0, Anchor::End, &label);
        }
        self.height = TOP + HEIGHT;
        self.x_axis(&plot.x, left, WIDTH - left - RIGHT, &curves.x.title());
        self.legend(&keys);
    }

    fn rows(&mut self, plot: &RowPlot<'_>, title: String) {
        let names: Vec<String> = plot.groups.iter().map(|group| cut(group.name)).collect();
        let left = 12.0 + LETTER * longest(names.iter().map(String::as_str)) as f64;
        let right = 50.0;
        let area = Area { width: WIDTH - left - right, height: plot.height(), medium: Medium::Paper };
        self.body += &format!(r#"<g transform="translate({left} 4)">{}{}</g>"#, plot.grid(area), plot.marks(area));
        let mut top = 4.0;
        for (group, name) in plot.groups.iter().zip(&names) {
            self.text(left - 6.0, top + group.height() / 2.0 + 4.0, Anchor::End, name);
            for (index, row) in group.rows.iter().enumerate() {
                let y = top + PLOT_MARGIN / 2.0 + (index as f64 + 0.5) * ROW_HEIGHT + 4.0;
                self.text(WIDTH - 4.0, y, Anchor::End, &row.shown());
            }
            top += group.height();
        }
        self.height = top;
        self.x_axis(&plot.span, left, area.width, &title);
        let mut keys: Vec<(&str, Role)> = Vec::new();
        if plot.series.len() > 1 {
            keys.extend(plot.series.iter().enumerate().map(|(index, name)| (*name, Role::Bar(Look::of_series(index)))));
        }
        for reference in plot.references {
            keys.push((reference.label(), Role::Reference));
        }
        self.legend(&keys);
    }

    fn x_axis(&mut self, span: &Span, left: f64, width: f64, title: &str) {
        for Tick { position, label } in span.ticks() {
            self.text(left + position * width, self.height + 15.0, Anchor::Middle, &label);
        }
        self.text(left + width / 2.0, self.height + 31.0, Anchor::Middle, title);
        self.height += 40.0;
    }

    /// The keys from left to right, in as many lines as they need.
    fn legend(&mut self, keys: &[(&str, Role)]) {
        let mut left = 8.0;
        for (name, role) in keys {
            let name = cut(name);
            let width = 34.0 + LETTER * name.chars().count() as f64;
            if left > 8.0 && left + width > WIDTH {
                left = 8.0;
                self.height += LINE;
            }
            let (middle, attributes) = (self.height + LINE / 2.0, Medium::Paper.attributes(*role));
            self.body += &match role {
                Role::Bar(_) => {
                    format!(r#"<rect{attributes} x="{left}" y="{}" width="14" height="9"/>"#, middle - 4.5)
                }
                _ => format!(r#"<path{attributes} d="M{left} {middle}h18"/>"#),
            };
            self.text(left + 23.0, middle + 4.0, Anchor::Start, &name);
            left += width;
        }
        self.height += if keys.is_empty() { 0.0 } else { LINE + 6.0 };
    }

    fn text(&mut self, x: f64, y: f64, anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        self.body += &format!(r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}">{}</text>"#, escaped(text));
    }
}

fn longest<'a>(texts: impl Iterator<Item = &'a str>) -> usize {
    texts.map(|text| text.chars().count()).max().unwrap_or(0)
}

fn cut(name: &str) -> String {
    let count = name.chars().count();
    if count <= MAX_NAME_CHARS {
        return name.to_owned();
    }
    let begin = MAX_NAME_CHARS / 2;
    name.chars().take(begin).chain(['…']).chain(name.chars().skip(count + begin + 1 - MAX_NAME_CHARS)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::figure::{Axis, Bars, Curve, Reference};
    use super::*;

    #[test]
    fn a_file_contains_all_text_and_refers_to_nothing_else() {
        let mut curves = Curves::new(Axis::new("time", "s"), Axis::new("goodput", "Mbit/s"));
        curves.add(Curve::new("a < b").with_points([(0.0, 1.0), (10.0, 20.0)]));
        curves.mark(Reference::Value { label: "capacity".to_owned(), at: 25.0 });
        let svg = svg(&Figure::curves("T & t", curves));
        for part in ["T &amp; t", "a &lt; b", "goodput in Mbit/s", "time in s", "capacity", ">25<", ">10<"] {
            assert!(svg.contains(part), "{part}: {svg}");
        }
        assert!(!svg.contains("class=") && !svg.contains("href"), "{svg}");
    }

    #[test]
    fn rows_show_their_names_and_numbers() {
        let mut bars = Bars::new(Axis::new("goodput", "Mbit/s"));
        bars.add("an experiment with a name that is far too long", "ll", 3.0, Some((2.0, 4.0)))
            .add("x", "rr", 2.0, None);
        let svg = svg(&Figure::bars("Bars", bars));
        for part in ["an experiment with …at is far too long", ">3.00<", ">ll<", ">rr<"] {
            assert!(svg.contains(part), "{part}: {svg}");
        }
    }
}
