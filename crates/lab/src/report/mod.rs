//! Results as pictures: what a figure holds ([`Figure`]), and how it is drawn.
//!
//! | to find | look in |
//! |---|---|
//! | what curves, bars and box plots are made of | `figure/` |

mod figure;

pub use figure::{
    Axis, Bar, Bars, BoxOf, Boxes, Chart, Curve, CurvePoint, Curves, Extent, Figure, Reference, Scale, Shape,
};
