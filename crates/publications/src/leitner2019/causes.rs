//! Why our figures are what they are, each cause from the figures that show it.

use super::comparison::{Point, TIME, average, has_loss, has_much_loss, loss, points, rtt, side_by_side};
use super::{
    CUC_BY_DESTINATION, EQUAL_LOSS, FAST_RECOVERIES, LOSS_ON_PATH_2, NO_CUC_BY_ASSOCIATION, REFERENCE, RETRANSMISSIONS,
    TIMEOUTS, TRANSFER,
};
use crate::study::{Ratio, Results, Row};

/// How many chunks the transfer is cut into: 8 388 608 bytes in messages of 1452.
const CHUNKS: f64 = 5778.0;

/// What our figures say of a cause, by the name that claims have for it.
pub(super) fn of(name: &str, all: &Results, item: &str) -> Option<String> {
    match name {
        "cuts" => cuts(all, item),
        "greatest loss" => greatest_loss(all),
        "spared path, time" => spared_path_in_time(all),
        "spared path, chunks" => spared_path_in_chunks(all),
        "lost chunks" => lost_chunks(all),
        "chunks lost twice" => chunks_lost_twice(all),
        _ => panic!("{name}: there is no such cause; tests read each claim"),
    }
}

/// How much more often the proposal's windows are cut in the experiment `item`.
fn cuts(all: &Results, item: &str) -> Option<String> {
    let average = average(&points(all, item, FAST_RECOVERIES, has_loss))?;
    Some(format!("Fast recovery cuts its windows {:.1} times as often: see the note on window cuts", average.value))
}

/// The common cause, as a note: what either half of the proposal does alone.
pub(super) fn note_on_window_cuts(all: &Results) -> String {
    let mut note = "Window cuts: a loss on one path while the other one recovers cuts no window where fast recovery \
                    is the association's (RFC 9260, section 7.2.4); where it is the destination's, each path's own \
                    loss does. Netem's losses are random, so that a cut avoids none."
        .to_owned();
    let alone = |mode| side_by_side(all, REFERENCE, mode).into_iter().max_by_key(|(reference, _)| loss(reference));
    let longer = |reference: &Row, mode: &Row| Ratio::by_errors(mode, reference, TRANSFER);
    if let (Some((reference, recovery)), Some((_, no_cuc))) = (alone(CUC_BY_DESTINATION), alone(NO_CUC_BY_ASSOCIATION))
        && let (Some(longer), Some(other)) = (longer(reference, recovery), longer(reference, no_cuc))
    {
        note += &format!(
            " At {} ms and {} % recovery by destination alone makes {:.0} cuts instead of {:.0}, and transfers {}; \
             leaving out CUC alone makes them {}.",
            rtt(reference),
            loss(reference),
            recovery.mean(FAST_RECOVERIES),
            reference.mean(FAST_RECOVERIES),
            TIME.difference(longer),
            TIME.difference(other),
        );
    } else {
        note += " The item beyond takes the proposal apart.";
    }
    note
}

/// Where path 2 loses nothing by chance, the point that stands out most.
fn spared_path<'a>(all: &'a Results, index: usize) -> Option<Point<'a>> {
    let points = points(all, LOSS_ON_PATH_2, index, |row| !has_loss(row));
    points.into_iter().max_by(|a, b| a.ratio.value.total_cmp(&b.ratio.value)).filter(|point| point.ratio.is_above_one())
}

fn spared_path_in_time(all: &Results) -> Option<String> {
    let point = spared_path(all, TRANSFER)?;
    Some(format!(
        "Without loss on path 2 they are up to {}, at {} ms, for the reason that the next finding has",
        TIME.difference(point.ratio),
        rtt(point.reference)
    ))
}

fn spared_path_in_chunks(all: &Results) -> Option<String> {
    let point = spared_path(all, RETRANSMISSIONS)?;
    let of = |row: &Row| row.mean(RETRANSMISSIONS);
    Some(format!(
        "What chance takes has to be sent again in either mode. Without loss on path 2 the proposal sends {:.0} \
         chunks again instead of {:.0}, at {} ms: losses on path 1 do not hold path 2's window, which grows until its \
         queue of 1000 packets overflows",
        of(point.proposal),
        of(point.reference),
        rtt(point.reference),
    ))
}

/// The greatest equal loss alone, and how many timeouts there are in how long a transfer.
fn greatest_loss(all: &Results) -> Option<String> {
    let of = |index| points(all, EQUAL_LOSS, index, has_much_loss);
    let (mut times, mut timeouts) = (of(TRANSFER), of(TIMEOUTS));
    let greatest = times.iter().map(|point| loss(point.reference)).max()?;
    for points in [&mut times, &mut timeouts] {
        points.retain(|point| loss(point.reference) == greatest);
    }
    let shown = |point: &Point<'_>| {
        let [reference, proposal] = [point.reference, point.proposal].map(|of| of.mean(TIMEOUTS));
        let (seconds, rtt) = (point.reference.mean(TRANSFER), rtt(point.reference));
        format!("{reference:.0} and {proposal:.0} in {seconds:.0} s at {rtt} ms")
    };
    let shown: Vec<String> = timeouts.iter().map(shown).collect();
    Some(format!(
        "At {greatest} % alone they are {}; much of that is waiting for timers, 1 s or more each time: the reference \
         and the proposal have so many timeouts: {}",
        TIME.difference(average(&times)?),
        shown.join(", ")
    ))
}

/// How many chunks chance takes with much equal loss, and how many are sent again.
fn lost_chunks(all: &Results) -> Option<String> {
    let shown = at_extremes(all, RETRANSMISSIONS, |p| CHUNKS * p / (1.0 - p))?;
    Some(format!(
        "Most chunks sent again are chance's: of {CHUNKS:.0} chunks, each sent until it is not lost, it takes {shown}; \
         what is counted beyond is all that a mode can change"
    ))
}

/// How many chunks chance takes a second time.
fn chunks_lost_twice(all: &Results) -> Option<String> {
    let shown = at_extremes(all, TIMEOUTS, |p| CHUNKS * p * p / (1.0 - p))?;
    Some(format!(
        "Most timeouts are chance's, too: in either mode a chunk whose fast retransmission is lost as well waits for \
         the timer, and of {CHUNKS:.0} chunks it takes so many twice: {shown}"
    ))
}

/// What `expected` says of a loss, and the least and the most that was counted there, at the least and the greatest of
/// much equal loss.
fn at_extremes(all: &Results, index: usize, expected: fn(f64) -> f64) -> Option<String> {
    let points = points(all, EQUAL_LOSS, index, has_much_loss);
    let losses = points.iter().map(|point| loss(point.reference));
    let (low, high) = (losses.clone().min()?, losses.max()?);
    let mut shown = Vec::new();
    for percent in if low == high { vec![low] } else { vec![low, high] } {
        let at = points.iter().filter(|point| loss(point.reference) == percent);
        let counts: Vec<f64> = at.flat_map(|point| [point.reference, point.proposal]).map(|m| m.mean(index)).collect();
        let least = counts.iter().copied().fold(f64::INFINITY, f64::min);
        let most = counts.iter().copied().fold(0.0, f64::max);
        shown.push(format!("{:.0} at {percent} % ({least:.0} to {most:.0} counted)", expected(percent as f64 / 100.0)));
    }
    Some(shown.join(" and "))
}
