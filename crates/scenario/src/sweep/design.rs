//! `design = …` in `[sweep]`: which combinations of the swept values have runs.
//!
//! A full design has all of them. The others draw a number of different combinations with a seed of their own, so that
//! a file always describes the same points:
//!
//! - random: each value is drawn on its own. More points with the same seed add to those that there are.
//! - Latin hypercube (McKay, Beckman, Conover 1979): each list or range is divided into as many equal parts as there
//!   are points, and each part has exactly one of them. With fewer points than a full design, every swept value is
//!   spread evenly over all of its range. In a logarithmic range, points are anywhere in their parts. Elsewhere a part
//!   may end within a value; points are at one random place in all parts of an axis, so that every value is equally
//!   probable, and none comes more often than another by more than one.
//!
//! Each axis has a stream of random numbers, named after its paths: another axis changes its values only where a
//! combination came twice, which is drawn again on all axes.

use std::collections::BTreeSet;

use rand_core::RngCore;
use subflow_network::stream;

use super::axis::Axis;
use super::{Bounds, MOST_POINTS};
use crate::file::{Field, Problem, Value};
use crate::random::{below, shuffle};
use crate::schema::{self, DESIGNS, Sampling};

/// Which combinations of the swept values have runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Design {
    /// All of them.
    Full,
    /// Some, drawn at random.
    Drawn {
        /// How they are drawn.
        sampling: Sampling,
        /// How many there are.
        points: usize,
        /// The seed of the design. It does not depend on the seeds of runs.
        seed: u64,
    },
}

impl Design {
    /// The design in `field`, `sweep.design`.
    pub(super) fn read(field: &Field<'_>) -> Result<Self, Problem> {
        const WHAT: &str = "\"full\", or a table with the name of a design and the number of its points";
        let Value::Table(_) = field.value() else {
            return match field.string(WHAT)? {
                "full" => Ok(Self::Full),
                _ => Err(field.expected(WHAT).help(EXAMPLE)),
            };
        };
        let section = field.section(&schema::DESIGN)?;
        let sampling = section.required("name")?.choice("a design", &DESIGNS)?;
        match (sampling, section.given("points")) {
            (None, None) => Ok(Self::Full),
            (None, Some(points)) => Err(points
                .problem("a full design has all combinations, expected no number of them")
                .help("drop it, or choose a random or latin-hypercube design")),
            (Some(_), None) => {
                Err(field.problem("points is missing, expected how many combinations have runs").help(EXAMPLE))
            }
            (Some(sampling), Some(points)) => Ok(Self::Drawn {
                sampling,
                points: points.integer(1..=MOST_POINTS as u64)? as usize,
                seed: section.value("seed").integer(0..=i64::MAX as u64)?,
            }),
        }
    }

    /// The combinations in order, no more than `bounds` has, each with the place of a value on every axis. `whole` is how
    /// to report a problem with the whole of them.
    pub(super) fn choices(
        &self,
        axes: &[Axis],
        bounds: Bounds,
        whole: impl Fn(String) -> Problem,
    ) -> Result<Vec<Vec<u64>>, Problem> {
        let count = axes.iter().map(|axis| u128::from(axis.len())).fold(1, u128::saturating_mul);
        match *self {
            Self::Full if count > bounds.points as u128 => {
                let together = "let paths change together (\"a.b, c.d\" = […])";
                Err(whole(format!("found {count} combinations, expected {}", bounds.most_points()))
                    .help(bounds.ways_out(&["sweep over fewer values", together, "draw some of them (design)"])))
            }
            Self::Drawn { points, .. } if points > bounds.points => {
                Err(whole(format!("found a design of {points} points, expected {}", bounds.most_points()))
                    .help(bounds.ways_out(&["lower its points"])))
            }
            Self::Full => Ok((0..count as u64).map(|number| combination(axes, number)).collect()),
            Self::Drawn { points, .. } if points as u128 > count => {
                Err(whole(format!("found a design of {points} points, expected at most {count}, all combinations"))
                    .help(format!("lower its points (--design NAME=POINTS), or {}", all_combinations(axes))))
            }
            Self::Drawn { sampling, points, seed } => {
                let mut streams: Vec<_> =
                    axes.iter().map(|axis| stream(seed, &format!("design of {}", axis.name()))).collect();
                let drawn = match sampling {
                    Sampling::Random => random(axes, points, &mut streams),
                    Sampling::LatinHypercube => latin_hypercube(axes, points, &mut streams),
                };
                drawn.ok_or_else(|| {
                    whole(format!("found no {points} different combinations for this design, expected fewer points"))
                        .help(format!(
                            "sweep over more values, write the ends of ranges with more decimals (1.00), or {}",
                            all_combinations(axes)
                        ))
                })
            }
        }
    }
}

const EXAMPLE: &str = "for example design = { name = \"latin-hypercube\", points = 50 }";

/// How often to try anew before there is taken to be no design with so many points.
const fn trials(points: usize) -> usize {
    10_000 + 100 * points
}

/// How to have all combinations of these axes.
fn all_combinations(axes: &[Axis]) -> &'static str {
    match axes.iter().all(|axis| axis.check_steps().is_ok()) {
        true => "choose a full design (--design full)",
        false => "give ranges a step (\"1 ms .. 9 ms step 1 ms\") and choose a full design (--design full)",
    }
}

/// The combination with this number; the last axis changes fastest.
fn combination(axes: &[Axis], mut number: u64) -> Vec<u64> {
    let mut choice = vec![0; axes.len()];
    for (place, axis) in choice.iter_mut().zip(axes).rev() {
        *place = number % axis.len();
        number /= axis.len();
    }
    choice
}

fn random(axes: &[Axis], points: usize, streams: &mut [impl RngCore]) -> Option<Vec<Vec<u64>>> {
    let mut choices = Vec::with_capacity(points);
    let mut seen = BTreeSet::new();
    for _ in 0..trials(points) {
        let choice: Vec<u64> = axes.iter().zip(&mut *streams).map(|(axis, rng)| axis.draw(rng)).collect();
        if seen.insert(choice.clone()) {
            choices.push(choice);
        }
        if choices.len() == points {
            return Some(choices);
        }
    }
    None
}

/// The first axis ascends; the others have their parts in a random order.
fn latin_hypercube(axes: &[Axis], points: usize, streams: &mut [impl RngCore]) -> Option<Vec<Vec<u64>>> {
    let mut choices = vec![Vec::with_capacity(axes.len()); points];
    for (number, (axis, rng)) in axes.iter().zip(&mut *streams).enumerate() {
        let mut places = axis.draw_each(points as u64, rng);
        if number > 0 {
            shuffle(&mut places, rng);
        }
        choices.iter_mut().zip(places).for_each(|(choice, place)| choice.push(place));
    }
    separate(choices, streams)
}

/// Exchanges values between points until all are different: lists with fewer values than points repeat theirs. Each
/// axis keeps the values that it has.
fn separate(mut choices: Vec<Vec<u64>>, streams: &mut [impl RngCore]) -> Option<Vec<Vec<u64>>> {
    let mut seen = BTreeSet::new();
    let mut repeated: Vec<bool> = choices.iter().map(|choice| !seen.insert(choice.clone())).collect();
    let mut left: Vec<usize> = (0..choices.len()).filter(|point| repeated[*point]).collect();
    let mut trials = trials(choices.len());
    while let Some(&point) = left.last() {
        trials = trials.checked_sub(1)?;
        // The first axis keeps its order.
        let rng = streams.get_mut(1)?;
        let axis = 1 + below(choices[point].len() as u64 - 1, rng) as usize;
        let other = below(choices.len() as u64, rng) as usize;
        if repeated[other] {
            continue;
        }
        exchange(&mut choices, axis, point, other);
        let is_new = |point: usize| !seen.contains(&choices[point]);
        if choices[point] == choices[other] || !is_new(point) || !is_new(other) {
            exchange(&mut choices, axis, point, other);
            continue;
        }
        let mut before = choices[other].clone();
        before[axis] = choices[point][axis];
        seen.remove(&before);
        seen.extend([choices[point].clone(), choices[other].clone()]);
        repeated[point] = false;
        left.pop();
    }
    Some(choices)
}

/// Exchanges the places of two points on one axis.
fn exchange(choices: &mut [Vec<u64>], axis: usize, one: usize, two: usize) {
    let place = choices[one][axis];
    choices[one][axis] = std::mem::replace(&mut choices[two][axis], place);
}
