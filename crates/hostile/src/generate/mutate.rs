//! Cases from other cases: what a fuzzer changes is a setup or an action, never a byte in the middle of one.

use arbitrary::{Result, Unstructured};
use rand_core::{RngCore, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::{MOST_ACTIONS, Mood, actions, magnitude, setup};
use crate::action::{Action, Call};
use crate::case::Case;

/// Bytes that the changes of one mutation are made of.
const BYTES: usize = 1500;

impl Case {
    /// A case like this one, with one to four changes that `seed` chooses: actions that are new, gone, repeated, moved
    /// or altered, another setup, or the end of `donor`, which is a case of the same stack.
    pub fn mutated(&self, donor: &Self, seed: u64) -> Self {
        let mut bytes = [0; BYTES];
        Pcg64Mcg::seed_from_u64(seed).fill_bytes(&mut bytes);
        let u = &mut Unstructured::new(&bytes);
        let mut case = self.clone();
        for _ in 0..u.int_in_range(1..=4).unwrap_or(1) {
            // There are bytes enough for four changes of the longest kind; if not, the rest is left out.
            if change(&mut case, donor, u).is_err() {
                break;
            }
        }
        case.actions.truncate(MOST_ACTIONS);
        case
    }
}

fn change(case: &mut Case, donor: &Case, u: &mut Unstructured<'_>) -> Result<()> {
    let length = case.actions.len();
    // The first action stays: it is the connection.
    let at = u.int_in_range(1..=length.max(1))?.min(length);
    let end = (at + magnitude(u, 8)? as usize).min(length);
    match u.int_in_range(0..=11)? {
        0..=2 => case.actions.insert(at, new_action(case, u)?),
        3 if at < length => case.actions[at] = new_action(case, u)?,
        4 if at < length => drop(case.actions.drain(at..end)),
        5 if at < end => {
            let repeated = case.actions[at..end].to_vec();
            case.actions.splice(end..end, repeated);
        }
        6 if at < end => case.actions[at..end].rotate_left(1),
        7 => {
            let from = u.int_in_range(0..=donor.actions.len())?;
            case.actions.truncate(at);
            case.actions.extend_from_slice(&donor.actions[from..]);
        }
        8 => {
            let whose = u.int_in_range(0..=1)?;
            case.setup.ends[whose] = setup(case.stack, u)?.ends[whose].clone();
        }
        9 => case.seed = u.arbitrary()?,
        _ if at < length => alter(&mut case.actions[at], u)?,
        _ => {}
    }
    Ok(())
}

fn new_action(case: &Case, u: &mut Unstructured<'_>) -> Result<Action> {
    let mood = Mood::arbitrary(u)?;
    actions::action(case.stack, mood, u)
}

/// Changes one number of an action, or its side.
fn alter(action: &mut Action, u: &mut Unstructured<'_>) -> Result<()> {
    match action {
        Action::Wait { ms } => *ms = scaled(*ms, u)?,
        Action::Apply { call: Call::Write(bytes), .. } if u.arbitrary()? => {
            *bytes = scaled((*bytes).into(), u)?.min(u32::MAX.into()) as u32
        }
        Action::Apply { side, .. } => *side ^= 1,
        Action::Connect { to, .. } => *to = u.arbitrary()?,
        Action::Path { up, .. } => *up ^= true,
        Action::Address { present, .. } => *present ^= true,
        Action::Interfere { packets, .. } if u.arbitrary()? => *packets = scaled((*packets).into(), u)?.min(40) as u8,
        Action::Interfere { from, .. } => *from ^= 1,
        Action::Replay { age } => *age = scaled((*age).into(), u)?.min(u16::MAX.into()) as u16,
        Action::Forge(forge) => match u.int_in_range(0..=3)? {
            0 => forge.to ^= 1,
            1 => forge.blind ^= true,
            2 => forge.flow = u.arbitrary()?,
            _ => forge.times = u.int_in_range(1..=40)?,
        },
        Action::Lure(greeting) | Action::Intrude(greeting) => greeting.acknowledges ^= true,
    }
    Ok(())
}

/// Half, twice, or nearly the same; pauses and writes do not become longer than [`actions`] makes them.
fn scaled(number: u64, u: &mut Unstructured<'_>) -> Result<u64> {
    let scaled = match u.int_in_range(0..=3)? {
        0 => number / 2,
        1 => number.saturating_mul(2),
        2 => number.saturating_add(1),
        _ => number.saturating_sub(1),
    };
    Ok(scaled.min(if number > 1_000_000 { actions::LONGEST_PAUSE_MS } else { 1_000_000 }))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::stack::Stack;

    #[test]
    fn the_same_seed_makes_the_same_change() {
        let [one, other] = [3, 4].map(|seed| Case::from_seed(Stack::Mptcp, seed));
        assert_eq!(one.mutated(&other, 7), one.mutated(&other, 7));
        assert!((0..100).any(|seed| one.mutated(&other, seed) != one));
    }

    #[test]
    fn changes_keep_most_of_a_case_and_its_connection() {
        let (case, donor) = (Case::from_seed(Stack::Tcp, 5), Case::from_seed(Stack::Tcp, 6));
        let before: BTreeSet<String> = case.actions.iter().map(|action| format!("{action:?}")).collect();
        let mutants = (0..200).map(|seed| case.mutated(&donor, seed));
        let alike = mutants.filter(|mutant| {
            assert_eq!(mutant.actions[0], case.actions[0]);
            assert!(mutant.actions.len() <= MOST_ACTIONS);
            let kept = mutant.actions.iter().filter(|action| before.contains(&format!("{action:?}"))).count();
            2 * kept >= case.actions.len()
        });
        assert!(alike.count() > 100);
    }
}
