//! The style of marks: classes on a page, whose style sheet has a light and a dark theme; attributes in a file, which
//! must look the same in every program.

use super::figure::{Curve, Mark, Shade};

/// Number of colours. Further curves repeat them, dashed.
pub(super) const COLOURS: usize = 8;

/// The colours for paper, after Okabe and Ito (2008), which can be distinguished with any colour vision. Light colours
/// are darkened so that thin lines are visible on white. `report.css` has the same colours as `--c0` to `--c7`, and
/// lighter ones for the dark theme.
const PAPER: [&str; COLOURS] = ["#0072b2", "#d55e00", "#00875f", "#b3589a", "#a67c00", "#2a95d5", "#5c3a8e", "#666666"];

/// The colours of heat maps on paper: of nothing, of more and of what is better, and of what is worse. `report.css` has the
/// same as `--heat`, `--more` and `--worse`, and others for the dark theme. Their lightness alone tells values apart, so that any
/// colour vision and a print in grey suffice; differences have signs besides.
const HEAT: [u32; 3] = [0xee_f2f6, 0x08_457e, 0x8f_3d00];

/// Up to this share of the full colour, black text has more contrast than white on a light ground: the shares for more
/// and for worse. At each of them both have a contrast of 4.5 (WCAG 2.2, criterion 1.4.3).
const LIGHT_UNTIL: [f64; 2] = [0.7, 0.77];

/// The colour of a cell of a heat map on paper, and that of its text.
pub(super) fn of_cell(shade: Shade) -> (String, &'static str) {
    let [nothing, more, worse] = HEAT;
    let full = if shade.is_worse { worse } else { more };
    let mixed = [16, 8, 0].map(|shift| {
        let [from, to] = [nothing, full].map(|colour| f64::from(colour >> shift & 0xff));
        (from + shade.share * (to - from)).round() as u8
    });
    let [red, green, blue] = mixed;
    (format!("#{red:02x}{green:02x}{blue:02x}"), if is_deep(shade) { "#ffffff" } else { "#000000" })
}

/// Whether white text is easier to read on a cell than black text, on a light ground.
pub(super) fn is_deep(shade: Shade) -> bool {
    shade.share > LIGHT_UNTIL[usize::from(shade.is_worse)]
}

/// The medium in which marks are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Medium {
    /// Part of a page.
    Page,
    /// A separate file.
    Paper,
}

/// The kind of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Grid,
    /// Where bars begin that go to both sides.
    Zero,
    Reference,
    Line(Look),
    Points(Look),
    Mark(Mark, Look),
    /// The inner part of a mark, in the colour of the ground.
    Hole,
    Whisker(Look),
    /// The area between the ends of intervals.
    Band(Look),
    Bar(Look),
    Box(Look),
    Median(Look),
    Outliers(Look),
    /// The whisker of a bar, drawn over the bar.
    Interval,
}

/// The colour of a mark, and whether it is dashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) colour: usize,
    pub(super) dashed: bool,
}

impl Look {
    /// The look of the curve at `index`.
    pub(super) fn of_curve(curve: &Curve, index: usize) -> Self {
        Self::of_path(curve.colour.unwrap_or(index), curve.published || curve.dashed)
    }

    /// The look of a colour that is counted through further palettes, which are dashed.
    pub(super) fn of_path(colour: usize, dashed: bool) -> Self {
        Self { colour: colour % COLOURS, dashed: dashed || colour / COLOURS % 2 == 1 }
    }

    /// The look of the series at `index`.
    pub(super) fn of_series(index: usize) -> Self {
        Self::of_path(index, false)
    }

    /// The classes on a page.
    pub(super) fn classes(self) -> String {
        format!("c{}{}", self.colour, if self.dashed { " dashed" } else { "" })
    }
}

impl Medium {
    /// The attributes of a mark, with a leading space.
    pub(super) fn attributes(self, role: Role) -> String {
        match self {
            Self::Page => on_page(role),
            Self::Paper => on_paper(role),
        }
    }
}

/// The colour of a series is a class of the group around its marks.
fn on_page(role: Role) -> String {
    let (class, look) = match role {
        Role::Grid => ("grid", None),
        Role::Zero => ("zero", None),
        Role::Reference => ("reference", None),
        Role::Interval => ("interval", None),
        Role::Line(_) => ("line", None),
        Role::Points(_) => ("points", None),
        Role::Mark(Mark::Small, _) => ("points small", None),
        Role::Mark(Mark::Ring, _) => ("points ring", None),
        Role::Mark(Mark::Square, _) => ("points square", None),
        Role::Mark(Mark::Alarm, _) => ("points alarm", None),
        Role::Mark(Mark::LargeAlarm, _) => ("points alarm large", None),
        Role::Hole => ("points hole", None),
        Role::Whisker(_) => ("whisker", None),
        Role::Band(_) => ("band", None),
        Role::Bar(look) => ("bar", Some(look)),
        Role::Box(look) => ("box", Some(look)),
        Role::Median(look) => ("median", Some(look)),
        Role::Outliers(look) => ("outliers", Some(look)),
    };
    let colour = look.map_or_else(String::new, |look| format!(" {}", look.classes()));
    format!(r#" class="{class}{colour}""#)
}

fn on_paper(role: Role) -> String {
    let stroke = |colour: &str, width: f64, rest: &str| {
        format!(r#" fill="none" stroke="{colour}" stroke-width="{width}" stroke-linejoin="round"{rest}"#)
    };
    let dash = |look: Look| if look.dashed { r#" stroke-dasharray="5 3""# } else { "" };
    match role {
        Role::Grid => stroke("#d9d9d9", 0.6, ""),
        Role::Zero => stroke("#555555", 1.0, ""),
        Role::Reference => stroke("#555555", 0.9, r#" stroke-dasharray="2 3""#),
        Role::Interval => stroke("#222222", 1.0, ""),
        Role::Line(look) => stroke(PAPER[look.colour], 1.4, dash(look)),
        Role::Points(look) => stroke(PAPER[look.colour], 5.0, r#" stroke-linecap="round""#),
        Role::Mark(mark, look) => {
            let (colour, width, cap) = match mark {
                Mark::Small => (PAPER[look.colour], 1.6, "round"),
                Mark::Ring => (PAPER[look.colour], 5.0, "round"),
                Mark::Square => (PAPER[look.colour], 5.0, "square"),
                Mark::Alarm => ("#222222", 2.4, "square"),
                Mark::LargeAlarm => ("#222222", 7.0, "square"),
            };
            stroke(colour, width, &format!(r#" stroke-linecap="{cap}""#))
        }
        Role::Hole => stroke("#ffffff", 2.6, r#" stroke-linecap="round""#),
        Role::Whisker(look) => stroke(PAPER[look.colour], 1.0, ""),
        Role::Band(look) => format!(r#" fill="{}" fill-opacity="0.2""#, PAPER[look.colour]),
        Role::Bar(look) if look.dashed => {
            let colour = PAPER[look.colour];
            format!(r#" fill="{colour}" fill-opacity="0.35" stroke="{colour}" stroke-dasharray="3 2""#)
        }
        Role::Bar(look) => format!(r#" fill="{}""#, PAPER[look.colour]),
        Role::Box(look) => {
            format!(r#" fill="{0}" fill-opacity="0.25" stroke="{0}" stroke-width="1""#, PAPER[look.colour])
        }
        Role::Median(look) => stroke(PAPER[look.colour], 2.2, ""),
        Role::Outliers(look) => stroke(PAPER[look.colour], 3.5, r#" stroke-linecap="round""#),
    }
}
