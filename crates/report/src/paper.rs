//! A figure as a file for a paper: SVG with its own text and colours, the same in every program that reads it.

use super::area::Area;
use super::figure::{Chart, Curves, Figure, HeatMap, Scale};
use super::heat::{ends, shown};
use super::ink::{Look, Medium, Role, of_cell};
use super::lines::LinePlot;
use super::markup::escaped;
use super::rows::{PLOT_MARGIN, RowPlot};
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
/// The cells of a heat map are at most this wide.
const WIDEST_CELL: f64 = 60.0;
/// The scale of a heat map has this many steps after the first, each so wide.
const SCALE_STEPS: u32 = 24;
const SCALE_STEP: f64 = 5.0;
/// Longer names are shortened in the middle, because they differ at their ends.
const MAX_NAME_CHARS: usize = 38;

/// The figure as one SVG file.
pub(super) fn svg(figure: &Figure) -> String {
    let mut sheet = Sheet::default();
    match &figure.chart {
        Chart::Curves(curves) => sheet.curves(curves),
        Chart::Bars(bars) => sheet.rows(&RowPlot::of_bars(bars), bars.value.title()),
        Chart::Boxes(boxes) => sheet.rows(&RowPlot::of_boxes(boxes), boxes.value.title()),
        Chart::HeatMap(map) => sheet.heat_map(map),
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
            let aside = plot.dodge(index);
            let of_curve = plot.marks(curve, look);
            marks += &if aside == 0.0 {
                of_curve
            } else {
                format!(r#"<g transform="translate({aside:.2} 0)">{of_curve}</g>"#)
            };
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
        let right = if plot.has_numbers() { 50.0 } else { RIGHT };
        let area = Area { width: WIDTH - left - right, height: plot.height(), medium: Medium::Paper };
        self.body += &format!(r#"<g transform="translate({left} 4)">{}{}</g>"#, plot.grid(area), plot.marks(area));
        let mut top = 4.0;
        for (group, name) in plot.groups.iter().zip(&names) {
            self.text(left - 6.0, top + group.height / 2.0 + 4.0, Anchor::End, name);
            for (index, row) in group.rows.iter().enumerate().filter(|_| plot.has_numbers()) {
                let y = top + PLOT_MARGIN / 2.0 + (index as f64 + 0.5) * plot.row_height + 4.0;
                self.text(WIDTH - 4.0, y, Anchor::End, &plot.shown(row));
            }
            top += group.height;
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

    /// A rectangle with its number for each cell, names above and to the left, and the scale below.
    fn heat_map(&mut self, map: &HeatMap) {
        let columns = map.columns.names.len();
        let names: Vec<String> = map.rows.names.iter().map(|name| cut(name)).collect();
        let left = 12.0 + LETTER * longest(names.iter().map(String::as_str)) as f64;
        let wide = ((WIDTH - left - RIGHT) / columns as f64).min(WIDEST_CELL);
        let heads: Vec<String> = map.columns.names.iter().map(|name| cut(name)).collect();
        let longest_head = LETTER * longest(heads.iter().map(String::as_str)) as f64;
        let is_level = longest_head + 6.0 <= wide;
        let top = LINE + if is_level { LINE } else { longest_head + 8.0 };
        self.text(left, 12.0, Anchor::Start, &map.columns.title);
        self.text(left - 6.0, top - 5.0, Anchor::End, &cut(&map.rows.title));
        for (index, head) in heads.iter().enumerate() {
            let middle = left + (index as f64 + 0.5) * wide;
            match is_level {
                true => self.text(middle, top - 5.0, Anchor::Middle, head),
                false => self.text_upward(middle + 4.0, top - 5.0, head),
            }
        }
        for (index, name) in names.iter().enumerate() {
            self.text(left - 6.0, top + (index as f64 + 0.5) * LINE + 4.0, Anchor::End, name);
        }
        for cell in &map.cells {
            let (x, y) = (left + cell.column as f64 * wide, top + cell.row as f64 * LINE);
            let Some(shade) = map.shade(cell.value) else { continue };
            let (fill, ink) = of_cell(shade);
            self.body += &format!(r#"<rect fill="{fill}" x="{x:.1}" y="{y:.1}" width="{wide:.1}" height="{LINE}"/>"#);
            let shown = shown(map, cell.value);
            if LETTER * shown.chars().count() as f64 <= wide {
                let (x, y) = (x + wide / 2.0, y + LINE / 2.0 + 4.0);
                self.body +=
                    &format!(r#"<text x="{x:.1}" y="{y:.1}" text-anchor="middle" fill="{ink}">{shown}</text>"#);
            }
        }
        self.height = top + map.rows.names.len() as f64 * LINE + 10.0;
        self.heat_scale(map, left);
    }

    /// The colours of a heat map in steps, with the values at their ends.
    fn heat_scale(&mut self, map: &HeatMap, left: f64) {
        let (low, high) = map.span();
        let is_logarithmic = map.value.scale == Scale::Logarithmic;
        let [from, to] = ends(map);
        let begin = left + LETTER * from.chars().count() as f64 + 6.0;
        self.text(begin - 6.0, self.height + 10.0, Anchor::End, &from);
        for step in 0..=SCALE_STEPS {
            let share = f64::from(step) / f64::from(SCALE_STEPS);
            let value = if is_logarithmic { low * (high / low).powf(share) } else { low + (high - low) * share };
            let Some(shade) = map.shade(value) else { continue };
            let (x, y, fill) = (begin + f64::from(step) * SCALE_STEP, self.height, of_cell(shade).0);
            self.body += &format!(r#"<rect fill="{fill}" x="{x:.1}" y="{y:.1}" width="{SCALE_STEP}" height="12"/>"#);
        }
        let end = begin + f64::from(SCALE_STEPS + 1) * SCALE_STEP + 6.0;
        let logarithmic = if is_logarithmic { ", logarithmic" } else { "" };
        let text = format!("{to}   {}{logarithmic}", map.value.title());
        self.text(end, self.height + 10.0, Anchor::Start, &text);
        self.height += 20.0;
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

    fn text_upward(&mut self, x: f64, y: f64, text: &str) {
        self.body += &format!(r#"<text transform="translate({x:.1} {y:.1}) rotate(-90)">{}</text>"#, escaped(text));
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
