//! A figure as part of a page. Marks are stretched to the available width. Text is HTML around them, so that it has the
//! same size on a phone as on a large screen. `script/` adds zoom, hover and the choice of curves.

use super::area::Area;
use super::figure::{Chart, Curves, Figure, Reference};
use super::heat::{self, numbered, tip};
use super::ink::{Look, Medium};
use super::lines::LinePlot;
use super::markup::escaped;
use super::rows::{Row, RowPlot};
use super::span::{Span, Tick};

/// Units of the area of curves in both directions; finer than the pixels of a screen.
pub(super) const UNITS: f64 = 10_000.0;
/// The same where single packets can be zoomed to.
const FINE_UNITS: f64 = 1_000_000.0;
/// With more curves than this, each is shown in its own panel at first.
const TOGETHER: usize = 8;
/// Numbers of events that are closer than this share of the axis would overlap.
const CLOSE: f64 = 0.05;

/// A figure under the anchor `id`. Those with the same `linked` name zoom together.
pub(super) fn figure(figure: &Figure, id: &str, linked: &str) -> String {
    figure_among(figure, id, linked, &[])
}

/// A figure among others that mark the same `events`: a list before all of them says what the numbers at the lines are.
pub(super) fn figure_among(figure: &Figure, id: &str, linked: &str, events: &[&Reference]) -> String {
    let caption = match figure.caption.as_str() {
        "" => String::new(),
        text => format!("<p>{}</p>", escaped(text)),
    };
    let heading =
        format!(r##"<figcaption><h4><a href="#{id}">{}</a></h4>{caption}</figcaption>"##, escaped(&figure.title));
    let (kind, chart) = match &figure.chart {
        Chart::Curves(curves) if begins_apart(curves) => ("curves alone", curves_chart(curves, id, events)),
        Chart::Curves(curves) if curves.fine => ("curves fine", curves_chart(curves, id, events)),
        Chart::Curves(curves) => ("curves", curves_chart(curves, id, events)),
        Chart::Bars(bars) => ("rows", rows_chart(&RowPlot::of_bars(bars), &figure.title)),
        Chart::Boxes(boxes) => ("rows", rows_chart(&RowPlot::of_boxes(boxes), &figure.title)),
        Chart::HeatMap(map) => ("map", heat::chart(map, &figure.title)),
    };
    format!(r#"<figure id="{id}" class="{kind}" data-linked="{}">{heading}{chart}</figure>"#, escaped(linked))
}

fn begins_apart(curves: &Curves) -> bool {
    curves.curves.len() > TOGETHER && !curves.fine
}

fn units(curves: &Curves) -> f64 {
    if curves.fine { FINE_UNITS } else { UNITS }
}

fn curves_chart(curves: &Curves, id: &str, events: &[&Reference]) -> String {
    let units = units(curves);
    let area = Area { width: units, height: units, medium: Medium::Page };
    let plot = LinePlot::new(curves, area);
    let looks: Vec<Look> =
        curves.curves.iter().enumerate().map(|(index, curve)| Look::of_curve(curve, index)).collect();
    let series = curves.curves.iter().zip(&looks).enumerate().map(|(index, (curve, look))| {
        let series = format!(
            r#"<g id="{id}-{index}" class="series {}" data-name="{}">{}</g>"#,
            look.classes(),
            escaped(&curve.name),
            plot.marks(curve, *look)
        );
        // The script reads positions from the paths, which therefore stay exact.
        match plot.dodge(index).round() {
            0.0 => series,
            aside => format!(r#"<g transform="translate({aside} 0)">{series}</g>"#),
        }
    });
    let series: String = series.collect();
    let apart = begins_apart(curves);
    let description = format!(
        "{} over {}: {}",
        curves.y.title(),
        curves.x.title(),
        curves.curves.iter().map(|curve| curve.name.as_str()).collect::<Vec<_>>().join(", ")
    );
    let svg = format!(
        r#"<svg viewBox="0 0 {units} {units}" preserveAspectRatio="none" aria-hidden="true">{}{}{series}</svg>"#,
        plot.grid(),
        plot.references()
    );
    let together = format!(
        r#"<div class="together"{}><div class="y-title">{}</div><div class="frame"><div class="y-ticks">{}</div><div class="plot" tabindex="0" role="img" aria-label="{}"{}{}{}>{svg}{}</div><div class="x-ticks">{}</div></div><div class="x-title">{}</div></div>"#,
        if apart { " hidden" } else { "" },
        escaped(&curves.y.title()),
        ticks(&plot.y, "bottom"),
        escaped(&description),
        span_data("x", &plot.x, &curves.x.unit),
        span_data("y", &plot.y, &curves.y.unit),
        if curves.fine { format!(r#" data-units="{units}""#) } else { String::new() },
        moments(&plot, events),
        ticks(&plot.x, "left"),
        escaped(&curves.x.title()),
    );
    let panels = if curves.curves.len() > 2 && !curves.fine { panels(&plot, &looks, id, apart) } else { String::new() };
    format!(r#"{}<div class="chart">{together}{panels}</div>"#, legend(curves, &looks, apart, events))
}

/// The numbers of events at the tops of their lines. Where lines are close, numbers have two heights in turn.
fn moments(plot: &LinePlot<'_>, events: &[&Reference]) -> String {
    let (mut before, mut is_lower) = (f64::NEG_INFINITY, false);
    let moment = |reference: &Reference| {
        let Reference::Moment { at, .. } = reference else { return String::new() };
        let Some(number) = events.iter().position(|event| *event == reference) else { return String::new() };
        let position = plot.x.position(*at);
        is_lower = position - before < CLOSE && !is_lower;
        before = position;
        let class = if is_lower { "moment lower" } else { "moment" };
        format!(
            r#"<b class="{class}" data-at="{:.1}" style="left:{:.3}%">{}</b>"#,
            UNITS * position,
            100.0 * position,
            number + 1
        )
    };
    plot.curves.references.iter().map(moment).collect()
}

/// What the numbers of events mean.
pub(super) fn list_of_events(events: &[&Reference]) -> String {
    let items: String = events.iter().map(|event| format!("<li>{}</li>", escaped(event.label()))).collect();
    if items.is_empty() { items } else { format!(r#"<ol class="events" aria-label="Events">{items}</ol>"#) }
}

/// The legend: a button for each curve, and the switch between one chart for all and a panel for each.
fn legend(curves: &Curves, looks: &[Look], apart: bool, events: &[&Reference]) -> String {
    let button = |(index, (curve, look)): (usize, (&super::figure::Curve, &Look))| {
        format!(
            r#"<button type="button" class="key {}" data-series="{index}" aria-pressed="true"><i></i>{}</button>"#,
            look.classes(),
            escaped(&curve.name)
        )
    };
    let keys: String = curves.curves.iter().zip(looks).enumerate().map(button).collect();
    let references = curves
        .references
        .iter()
        .filter(|reference| !events.contains(reference))
        .map(|reference| format!(r#"<span class="key reference"><i></i>{}</span>"#, escaped(reference.label())));
    let references: String = references.collect();
    let switch = match curves.curves.len() {
        0..=2 => String::new(),
        _ if curves.fine => String::new(),
        _ => format!(r#"<button type="button" class="switch" data-switch aria-pressed="{apart}">each alone</button>"#),
    };
    format!(r#"<div class="legend">{keys}{references}{switch}</div>"#)
}

/// Each curve in its own panel, all with the same axes.
fn panels(plot: &LinePlot<'_>, looks: &[Look], id: &str, apart: bool) -> String {
    let ends = |span: &Span| {
        let ticks = span.ticks();
        [ticks.first(), ticks.last()].map(|tick| tick.cloned())
    };
    let [y_low, y_high] = ends(&plot.y).map(|tick| tick.map_or_else(String::new, |tick| tick.label));
    // The first and the last tick need not be at the ends.
    let at_place = |Tick { position, label }: Tick| format!(r#"<b style="--at:{:.1}%">{label}</b>"#, 100.0 * position);
    let x_ends: String = ends(&plot.x).into_iter().flatten().map(at_place).collect();
    let panel = |(index, (curve, look)): (usize, (&super::figure::Curve, &Look))| {
        format!(
            r##"<div class="panel {}" data-series="{index}"><h5>{}</h5><div class="cell"><svg viewBox="0 0 {UNITS} {UNITS}" preserveAspectRatio="none" role="img" aria-label="{}"><use href="#{id}-{index}"/></svg><b>{y_high}</b><b>{y_low}</b></div><small>{x_ends}</small></div>"##,
            look.classes(),
            escaped(&curve.name),
            escaped(&curve.name),
        )
    };
    let panels: String = plot.curves.curves.iter().zip(looks).enumerate().map(panel).collect();
    format!(
        r#"<div class="apart"{}><p class="axes">{} over {}; the same axes in every panel</p><div class="panels">{panels}</div></div>"#,
        if apart { "" } else { " hidden" },
        escaped(&plot.curves.y.title()),
        escaped(&plot.curves.x.title()),
    )
}

fn rows_chart(plot: &RowPlot<'_>, title: &str) -> String {
    let height = plot.height();
    let area = Area { width: UNITS, height, medium: Medium::Page };
    let mut labels = String::new();
    let mut values = String::new();
    let mut targets = String::new();
    for group in &plot.groups {
        let (height, name) = (group.height, escaped(group.name));
        labels += &format!(r#"<span style="height:{height}px" title="{name}">{name}</span>"#);
        let rows = group.rows.iter().map(|row| format!("<span{}>{}</span>", numbered(row.number), plot.shown(row)));
        values += &format!(r#"<div style="height:{height}px">{}</div>"#, rows.collect::<String>());
        let target = |row: &Row<'_>| {
            let names = [group.name, plot.series[row.series]];
            let name = names.into_iter().filter(|name| !name.is_empty()).collect::<Vec<_>>().join(", ");
            format!("<span{}{}></span>", numbered(row.number), tip(&name, &plot.words(row), &plot.value.unit))
        };
        let rows: String = group.rows.iter().map(target).collect();
        targets += &format!(r#"<div style="height:{height}px">{rows}</div>"#);
    }
    if !plot.has_numbers() {
        values.clear();
    }
    format!(
        r#"<div class="legend">{}</div><div class="chart" style="--row:{}px"><div class="frame"><div class="labels">{labels}</div><div class="plot" tabindex="0" role="img" aria-label="{}"{}><svg viewBox="0 0 {UNITS} {height}" style="height:{height}px" preserveAspectRatio="none" aria-hidden="true">{}{}</svg><div class="targets">{targets}</div></div><div class="values">{values}</div><div class="x-ticks">{}</div></div><div class="x-title">{}</div></div>"#,
        row_keys(plot),
        plot.row_height,
        escaped(title),
        span_data("x", &plot.span, &plot.value.unit),
        plot.grid(area),
        plot.marks(area),
        ticks(&plot.span, "left"),
        escaped(&plot.value.title()),
    )
}

/// The legend of bars and box plots; empty for one series.
fn row_keys(plot: &RowPlot<'_>) -> String {
    let keys = plot.series.iter().enumerate().map(|(index, name)| {
        let look = Look::of_series(index).classes();
        format!(r#"<span class="key block {look}"><i></i>{}</span>"#, escaped(name))
    });
    let references = plot
        .references
        .iter()
        .map(|reference| format!(r#"<span class="key reference"><i></i>{}</span>"#, escaped(reference.label())));
    let keys: Vec<String> = keys.chain(references).collect();
    if keys.len() > 1 { keys.concat() } else { String::new() }
}

/// The labels of an axis. Every other tick of the horizontal one has no place on a phone; that at zero always has.
fn ticks(span: &Span, side: &str) -> String {
    let ticks = span.ticks();
    let even = ticks.iter().position(|tick| tick.label == "0").unwrap_or(0) % 2;
    let tick = |(index, Tick { position, label }): (usize, Tick)| {
        let class = if side == "left" && index % 2 != even { r#" class="less""# } else { "" };
        format!(r#"<span{class} style="{side}:{:.3}%">{label}</span>"#, position * 100.0)
    };
    ticks.into_iter().enumerate().map(tick).collect()
}

/// The data of an axis for the script.
fn span_data(axis: &str, span: &Span, unit: &str) -> String {
    let scale = if span.is_logarithmic() { "log" } else { "linear" };
    format!(r#" data-{axis}="{} {} {scale}" data-{axis}-unit="{}""#, span.low, span.high, escaped(unit))
}

#[cfg(test)]
mod tests {
    use super::super::figure::{Axis, Curve};
    use super::*;

    fn with_curves(count: usize) -> String {
        let mut curves = Curves::new(Axis::new("time", "s"), Axis::new("cwnd", "packets"));
        for index in 0..count {
            curves.add(Curve::new(format!("<{index}>")).with_points([(0.0, 1.0), (1.0, 2.0)]));
        }
        figure(&Figure::curves("Window & more", curves), "window", "run")
    }

    #[test]
    fn names_are_escaped_everywhere() {
        let html = with_curves(3);
        assert!(!html.contains("<0>") && html.matches("&lt;0&gt;").count() >= 4, "{html}");
        assert!(html.contains("Window &amp; more"));
    }

    #[test]
    fn many_curves_are_shown_in_panels_at_first() {
        assert!(!with_curves(2).contains("class=\"panels\""));
        assert!(with_curves(3).contains(r#"<div class="apart" hidden>"#));
        let many = with_curves(25);
        assert!(many.contains(r#"<div class="together" hidden>"#) && many.contains(r#"<div class="apart">"#));
        assert_eq!(many.matches("<use ").count(), 25, "panels refer to the curves of the chart");
    }
}
