//! The set against examples, and against a set of single numbers.

use super::*;
use proptest::prelude::*;

#[test]
fn intervals_that_touch_are_one_and_the_set_advances_over_them() {
    let mut set = IntervalSet::new(10);
    set.insert(10..20);
    set.insert(30..40);
    assert_eq!((set.advance(5), set.covered(), set.len()), (5, 20, 2));
    set.insert(20..30);
    assert_eq!((set.last(), set.interval_of(25), set.interval_of(40)), (Some(10..40), Some(10..40), None));
    assert_eq!((set.advance(10), set.covered()), (40, 0));
    assert!(set.is_empty());
}

#[test]
fn a_full_set_drops_what_lies_furthest_ahead() {
    let mut set = IntervalSet::new(2);
    set.insert(10..20);
    set.insert(50..60);
    assert_eq!(set.insert(70..80).dropped_from, Some(70), "the new one lies furthest ahead");
    assert_eq!(set.insert(30..40).dropped_from, Some(50), "the old one lies furthest ahead");
    assert_eq!(set.insert(20..30), Insertion::default(), "one interval fewer");
    assert_eq!(set.iter().collect::<Vec<_>>(), [(10..40, ())]);
}

#[test]
fn what_was_there_before_is_named_and_keeps_its_label() {
    let mut set = IntervalSet::new(10);
    set.insert_labelled(10..20, 'a');
    assert_eq!(set.insert_labelled(5..30, 'b').duplicate, Some(10..20));
    assert_eq!(set.iter().collect::<Vec<_>>(), [(5..10, 'b'), (10..20, 'a'), (20..30, 'b')]);
}

#[derive(Clone, Debug)]
enum Step {
    Insert(Range<u64>, bool),
    Pop(u64),
    DiscardBelow(u64),
    DiscardFrom(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => (0u64..120, 0u64..30, any::<bool>()).prop_map(|(at, n, label)| Step::Insert(at..at + n, label)),
        1 => (0u64..120).prop_map(Step::Pop),
        1 => (0u64..150).prop_map(Step::DiscardBelow),
        1 => (0u64..150).prop_map(Step::DiscardFrom),
    ]
}

/// A set as a list of numbers with their labels.
type Numbers = BTreeMap<u64, bool>;

fn intervals(numbers: &Numbers) -> Vec<(Range<u64>, bool)> {
    let mut intervals: Vec<(Range<u64>, bool)> = Vec::new();
    for (&number, &label) in numbers {
        match intervals.last_mut() {
            Some((range, known)) if range.end == number && *known == label => range.end += 1,
            _ => intervals.push((number..number + 1, label)),
        }
    }
    intervals
}

fn apply(set: &mut IntervalSet<bool>, numbers: &mut Numbers, step: Step) {
    match step {
        Step::Insert(range, label) => {
            let insertion = set.insert_labelled(range.clone(), label);
            let first = range.clone().find(|number| numbers.contains_key(number));
            assert_eq!(insertion.duplicate.map(|duplicate| duplicate.start), first);
            range.for_each(|number| _ = numbers.entry(number).or_insert(label));
            let excess = intervals(numbers).get(set.bound).map(|(range, _)| range.start);
            assert_eq!(insertion.dropped_from, excess);
            numbers.retain(|&number, _| excess.is_none_or(|from| number < from));
        }
        Step::Pop(next) => {
            let first = intervals(numbers).into_iter().next().filter(|(range, _)| range.start <= next);
            numbers.retain(|number, _| first.as_ref().is_none_or(|(range, _)| !range.contains(number)));
            assert_eq!(set.pop_through(next), first);
        }
        Step::DiscardBelow(start) => {
            set.discard_below(start);
            numbers.retain(|&number, _| number >= start);
        }
        Step::DiscardFrom(end) => {
            set.discard_from(end);
            numbers.retain(|&number, _| number < end);
        }
    }
}

proptest! {
    #[test]
    fn it_holds_what_a_list_of_numbers_holds(
        bound in 1usize..8,
        steps in proptest::collection::vec(step(), 0..60),
    ) {
        let (mut set, mut numbers) = (IntervalSet::new(bound), Numbers::new());
        for step in steps {
            apply(&mut set, &mut numbers, step);
            prop_assert_eq!(set.iter().collect::<Vec<_>>(), intervals(&numbers));
            prop_assert_eq!((set.covered(), set.is_empty()), (numbers.len() as u64, numbers.is_empty()));
            prop_assert!(set.len() <= bound);
            for number in 0..160 {
                let around = intervals(&numbers).into_iter().find(|(range, _)| range.contains(&number));
                prop_assert_eq!(set.interval_of(number), around.map(|(range, _)| range));
            }
        }
    }
}
