//! Making a failing case small: fewer actions, then plainer ones.

use crate::action::Action;
use crate::case::Case;
use crate::setup::End;

/// A smaller case for which `fails` still holds. Tries it at most `most` times.
pub fn shrink(case: &Case, most: u32, mut fails: impl FnMut(&Case) -> bool) -> Case {
    let mut tries = Tries { left: most, fails: &mut fails };
    let mut smallest = case.clone();
    loop {
        let before = smallest.clone();
        fewer_actions(&mut smallest, &mut tries);
        plainer_setup(&mut smallest, &mut tries);
        plainer_actions(&mut smallest, &mut tries);
        if smallest == before || tries.left == 0 {
            return smallest;
        }
    }
}

struct Tries<'a> {
    left: u32,
    fails: &'a mut dyn FnMut(&Case) -> bool,
}

impl Tries<'_> {
    /// Takes `candidate` in the place of `case` if it fails, too.
    fn replace(&mut self, case: &mut Case, candidate: Case) -> bool {
        if self.left == 0 || candidate == *case {
            return false;
        }
        self.left -= 1;
        let better = (self.fails)(&candidate);
        if better {
            *case = candidate;
        }
        better
    }
}

/// Leaves out halves, quarters, …, single actions.
fn fewer_actions(case: &mut Case, tries: &mut Tries<'_>) {
    let mut size = case.actions.len().next_power_of_two();
    while size > 0 {
        let mut start = 0;
        while start < case.actions.len() {
            let mut candidate = case.clone();
            candidate.actions.drain(start..(start + size).min(case.actions.len()));
            if !tries.replace(case, candidate) {
                start += size;
            }
        }
        size /= 2;
    }
}

/// Makes hosts as they are by default.
fn plainer_setup(case: &mut Case, tries: &mut Tries<'_>) {
    let changes: [fn(&mut Case); 7] = [
        |case| case.setup.ends = [End::default(), End::default()],
        |case| case.setup.ends[0] = End::default(),
        |case| case.setup.ends[1] = End::default(),
        |case| case.setup.delays_ms.clear(),
        |case| case.setup.ipv6 = false,
        |case| case.setup.addresses = [1, 1],
        |case| case.seed = 1,
    ];
    for change in changes {
        let mut candidate = case.clone();
        change(&mut candidate);
        tries.replace(case, candidate);
    }
    for end in 0..2 {
        let json = |end: &End| serde_json::to_value(end).expect("plain data becomes JSON");
        let plain = json(&End::default());
        for (key, value) in plain.as_object().expect("an object") {
            let mut changed = json(&case.setup.ends[end]);
            changed[key] = value.clone();
            let mut candidate = case.clone();
            candidate.setup.ends[end] = serde_json::from_value(changed).expect("a field of the same type");
            tries.replace(case, candidate);
        }
    }
}

/// Makes numbers small, as long as it still fails.
fn plainer_actions(case: &mut Case, tries: &mut Tries<'_>) {
    for index in 0..case.actions.len() {
        let mut plainer = |change: &mut dyn FnMut(&mut Action)| {
            let mut candidate = case.clone();
            change(&mut candidate.actions[index]);
            tries.replace(case, candidate)
        };
        plainer(&mut |action| match action {
            Action::Forge(forge) => (forge.stride, forge.every_us) = (Default::default(), 0),
            Action::Wait { ms } => *ms = ms.next_power_of_two() / 2,
            _ => {}
        });
        while plainer(&mut |action| match action {
            Action::Forge(forge) => forge.times = (forge.times / 2).max(1),
            Action::Connect { times, .. } => *times = (*times / 2).max(1),
            Action::Interfere { packets, .. } => *packets = (*packets / 2).max(1),
            Action::Apply { call: crate::action::Call::Write(bytes), .. } => *bytes /= 2,
            Action::Wait { ms } => *ms /= 2,
            _ => {}
        }) {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::Stack;

    #[test]
    fn what_does_not_matter_is_left_out() {
        let has_replay = |case: &Case| case.actions.iter().any(|action| matches!(action, Action::Replay { .. }));
        let case = (0..).map(|seed| Case::from_seed(Stack::Tcp, seed)).find(has_replay).expect("some case has one");
        let small = shrink(&case, 10_000, has_replay);
        assert_eq!(small.actions.len(), 1);
        assert!(has_replay(&small) && small.setup.ends == [End::default(), End::default()]);
    }
}
