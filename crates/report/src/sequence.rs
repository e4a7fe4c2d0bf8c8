//! The time-sequence view: what happened to the data of a flow, packet by packet.

use subflow_lab::results::{Run, Sequence, SequenceKind};

use super::figure::{Axis, Curve, Curves, Figure, Mark, Reference, Shape};
use super::metric_lines::{joined, name};
use super::palette::Palette;
use super::shown_time::ShownTime;

/// A run with more flows has views of these only.
const MOST_FLOWS: usize = 4;
/// The colour of what its reader can read.
const READABLE: usize = 7;

/// A view of each flow of a run, which may be one of several.
pub(super) fn sequences(
    run: &Run,
    is_one_of_several: bool,
    time: ShownTime,
    events: &[Reference],
    palette: &Palette,
) -> Vec<Figure> {
    let flows = &run.result.flows;
    let views = flows.iter().filter_map(|flow| {
        let ours = |sequence: &&Sequence| {
            sequence.of == flow.name || sequence.of.rsplit_once('/').is_some_and(|(of, _)| of == flow.name)
        };
        let mut all: Vec<&Sequence> = run.result.sequences.iter().filter(ours).collect();
        all.sort_by_key(|sequence| (order(sequence.kind), palette.of_path(&name(run, &sequence.of))));
        let title =
            if flows.len() == 1 { "Time and sequence".into() } else { format!("Time and sequence: {}", flow.name) };
        let mut view = view(run, &all, time, palette)?;
        events.iter().for_each(|event| {
            view.mark(event.clone());
        });
        let readable = all.iter().find(|sequence| sequence.kind == SequenceKind::Readable);
        if let (Some(_), Some(last)) = (flow.completion_s, readable.and_then(|all| all.points().last())) {
            view.mark(Reference::Moment { label: "complete".to_owned(), at: last.time_s });
        }
        Some(Figure::curves(title, view).caption(caption(&all, is_one_of_several.then_some(run.result.seed), time)))
    });
    views.take(MOST_FLOWS).collect()
}

/// The number of points that are drawn of a run.
pub(super) fn points(run: &Run) -> usize {
    run.result.sequences.iter().map(|sequence| sequence.points().len()).sum()
}

fn view(run: &Run, all: &[&Sequence], time: ShownTime, palette: &Palette) -> Option<Curves> {
    if all.is_empty() {
        return None;
    }
    let mut curves = Curves::new(time.axis(), Axis::new("position in the stream", "MB"));
    curves.fine = true;
    for sequence in all {
        let points = sequence.points().iter().map(|point| (point.time_s, point.offset as f64 / 1e6));
        let (what, shape) = match sequence.kind {
            SequenceKind::Sent => ("sent \u{b7}", Shape::Marks(Mark::Small)),
            SequenceKind::Retransmitted => ("sent again \u{25cb}", Shape::Marks(Mark::Ring)),
            SequenceKind::Copied => ("copied here \u{25a0}", Shape::Marks(Mark::Square)),
            SequenceKind::Lost => ("lost \u{25aa}", Shape::Marks(Mark::Alarm)),
            SequenceKind::TimedOut => ("timeout \u{25a0}", Shape::Marks(Mark::LargeAlarm)),
            SequenceKind::Readable => ("can be read", Shape::Steps),
        };
        let of = name(run, &sequence.of);
        let colour = if sequence.kind == SequenceKind::Readable { READABLE } else { palette.of_path(&of) };
        curves.add(Curve::new(format!("{of} {what}")).with_points(points).shape(shape).colour(colour));
    }
    curves.curves.iter_mut().for_each(|curve| time.cut(curve));
    Some(curves)
}

/// What is drawn later is seen above what is drawn earlier.
fn order(kind: SequenceKind) -> usize {
    match kind {
        SequenceKind::Readable => 0,
        SequenceKind::Sent => 1,
        SequenceKind::Retransmitted => 2,
        SequenceKind::Copied => 3,
        SequenceKind::Lost => 4,
        SequenceKind::TimedOut => 5,
    }
}

fn caption(all: &[&Sequence], of_seed: Option<u64>, time: ShownTime) -> String {
    let mut caption =
        "Each packet with data: when it was sent, and the position of its data in the stream; what is below \
                       the line can be read. Drag over a short time to see single packets."
            .to_owned();
    if let Some(every) = all.iter().map(|sequence| sequence.every).max().filter(|every| *every > 1) {
        caption += &format!(" There are too many for one page: of some kinds only one in {every} is shown.");
    }
    if let Some(seed) = of_seed {
        caption += &format!(" Of the run with seed {seed} only.");
    }
    joined([caption.as_str(), &time.caption()])
}
