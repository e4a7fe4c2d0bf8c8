//! Reports: the data of figures ([`Figure`]), their drawing, and the folders of results.
//!
//! This crate is internal to Subflow: its items may change in any release.
//!
//! A figure as an SVG file:
//!
//! ```
//! use subflow_report::{Axis, Bars, Figure, svg_files};
//!
//! let mut bars = Bars::new(Axis::new("goodput", "Mbit/s"));
//! bars.add("two paths", "ll", 23.5, Some((22.9, 24.1)));
//! bars.add("two paths", "rr", 21.0, None);
//! let files = svg_files(&[Figure::bars("Schedulers", bars)]);
//! assert_eq!(files[0].0, "01-schedulers.svg");
//! assert!(files[0].1.starts_with("<svg"));
//! ```
//!
//! | to find | look in |
//! |---|---|
//! | the data of curves, bars and box plots | `figure/` |
//! | the figures of an experiment | `over_time.rs` with `metric_lines.rs`, `sequence.rs` and `events.rs`, `comparing_figures.rs`, with `parameter.rs` for swept values |
//! | means of several runs over time, and bands | `bands.rs` |
//! | points of a sweep over time in one figure, and their choice | `overlay.rs`, `picker.rs`, `script/picker.js` |
//! | heat maps, bars in groups and small multiples of swept names | `grid.rs`, `point_values.rs`, `heat.rs` |
//! | the points of a drawn design, as dots | `scatter.rs` |
//! | the choice of a baseline | `chosen_baseline.rs`, `chooser.rs`, `script/baseline.js` |
//! | the colours of paths | `palette.rs` |
//! | the range of an axis and its ticks | `span.rs` |
//! | marks: paths and rectangles | `lines.rs`, `rows.rs`, in an `area.rs`, with the colours of `ink.rs` |
//! | a figure on a page, and as an SVG file | `chart.rs`, `paper.rs` |
//! | tables, headings, the page around them | `markup.rs`, `page.rs`; `style/`, `script/`; which tables there are: `subflow_lab::output` |
//! | a report in a frame of another page | `script/frame.js`, `style/frame.css` |
//! | the extremes of a sweep in words | `key_figures.rs` |
//! | the sections of a report | `experiment.rs`, `reproduction/`, `observation.rs` |
//! | the folder of results | `output/` |
//!
//! The same code draws marks for pages and files. The page is complete without its script, which adds zoom, hover, the
//! choice of curves and the export of figures.

mod area;
mod axis_words;
mod bands;
mod chart;
mod chooser;
mod chosen_baseline;
mod comparing_figures;
mod completions;
mod delays;
mod events;
mod experiment;
mod figure;
mod grid;
mod heat;
mod ink;
mod key_figures;
mod lines;
mod markup;
mod metric_lines;
mod observation;
pub mod output;
mod over_time;
mod overlay;
mod page;
mod palette;
mod paper;
mod parameter;
mod picker;
mod point_values;
mod reproduction;
mod rows;
mod scatter;
mod sequence;
mod shown_time;
mod span;

pub use experiment::{
    content_of_experiment, figures_of, of_experiment, of_experiment_enclosing, of_experiment_in_frame, palette_of,
    tables_of_experiment,
};
pub use figure::{
    Axis, Bar, Bars, BoxOf, Boxes, Chart, Curve, CurvePoint, Curves, Extent, Figure, HeatCell, HeatMap, Mark, Names,
    Reference, Scale, Shape,
};
pub use observation::{Observation, Observed, ObservedEvent, ObservedSequence, ObservedSeries, of_observation};
pub use page::PALETTE;
pub use palette::Palette;
pub use reproduction::{
    Alternative, Finding, Measured, Reproduced, Reproduction, Reproductions, Verdict, of_reproduction, of_reproductions,
};
pub use subflow_lab::table::{Cell, Table};

/// Each figure as an SVG file for a paper: a name made of its number and title, and the content.
pub fn svg_files(figures: &[Figure]) -> Vec<(String, String)> {
    let file = |(index, figure): (usize, &Figure)| {
        (format!("{:02}-{}.svg", index + 1, markup::slug(&figure.title)), paper::svg(figure))
    };
    figures.iter().enumerate().map(file).collect()
}
