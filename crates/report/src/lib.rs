//! Results as pictures: what a figure holds ([`Figure`]), and how it is drawn.
//!
//! | to find | look in |
//! |---|---|
//! | what curves, bars and box plots are made of | `figure/` |
//! | which figures an experiment has | `over_time.rs`, `comparison.rs`, with `parameter.rs` for swept values |
//! | the range of an axis and its ticks | `span.rs` |
//! | marks: paths and rectangles | `lines.rs`, `rows.rs`, in an `area.rs`, with the colours of `ink.rs` |
//! | a figure on a page, and as an SVG file | `chart.rs`, `paper.rs` |
//! | tables, headings, the page around them | `summary.rs`, `markup.rs`, `page.rs`; `style/`, `script/` |
//! | which sections a report has | `experiment.rs`, `reproduction/` |
//! | rows with named columns, as JSON, CSV and text | `table.rs` |
//! | what a folder of results holds | `output/` |
//!
//! Marks are drawn in one place for both, page and file. The page is complete without its script, which adds what moves:
//! zoom, hover, the choice of curves.

mod area;
mod chart;
mod comparison;
mod escape;
mod experiment;
mod figure;
mod ink;
mod lines;
mod markup;
pub mod output;
mod over_time;
mod page;
mod paper;
mod parameter;
mod reproduction;
mod rows;
mod span;
mod summary;
mod table;

pub use experiment::{figures_of, of_experiment};
pub use figure::{
    Axis, Bar, Bars, BoxOf, Boxes, Chart, Curve, CurvePoint, Curves, Extent, Figure, Reference, Scale, Shape,
};
pub use reproduction::{
    Alternative, Finding, Measured, Reproduced, Reproduction, Reproductions, Verdict, of_reproduction, of_reproductions,
};
pub use table::{Cell, Table};

/// Each figure as an SVG file for a paper: its name, made of number and title, and its text.
pub fn svg_files(figures: &[Figure]) -> Vec<(String, String)> {
    let file = |(index, figure): (usize, &Figure)| {
        (format!("{:02}-{}.svg", index + 1, escape::slug(&figure.title)), paper::svg(figure))
    };
    figures.iter().enumerate().map(file).collect()
}
