//! Designs of sweeps: which combinations of the swept values have runs.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;
use subflow_scenario::file::Document;
use subflow_scenario::sweep::{Design, Plan, Point, Sampling};

const SCENARIO: &str = r#"
[hosts]
a = ["x", "y"]
b = ["x"]
[routers]
r = {}
[links]
one = { between = ["a.x", "r"], rate = "10 Mbit/s" }
two = { between = ["a.y", "r"], rate = "10 Mbit/s" }
out = { between = ["r", "b.x"], rate = "100 Mbit/s" }
[flows.f]
from = "a"
to = "b"
protocol = "mptcp"
"#;

const CONGESTION: &str = "flows.f.congestion";
const DELAY: &str = "links.one.delay";
const LOSS: &str = "links.one.loss";

const LISTS: &str =
    "\"flows.f.congestion\" = [\"lia\", \"olia\", \"balia\"]\n\"flows.f.scheduler\" = [\"ll\", \"rr\"]\n";
const RANGES: &str = "\"links.one.delay\" = \"1.0 ms .. 100 ms\"\n\"links.one.loss, links.two.loss\" = \
    \"0.001 % .. 1 % log\"\n\"flows.f.congestion\" = [\"lia\", \"olia\", \"balia\"]\n";

fn document(sweep: &str) -> Document {
    Document::parse(Path::new("design.toml"), format!("{SCENARIO}[sweep]\n{sweep}")).expect("TOML")
}

fn plan(design: &str, paths: &str) -> Plan {
    Plan::read(document(&format!("design = {design}\n{paths}"))).unwrap_or_else(|problems| panic!("{problems}"))
}

fn drawn(name: &str, points: usize, paths: &str) -> Vec<Point> {
    plan(&format!("{{ name = \"{name}\", points = {points} }}"), paths).points
}

/// The number in a value such as `0.5 %`.
fn number(point: &Point, path: &str) -> f64 {
    let text = point.parameters[path].as_str().expect("a quantity");
    text.split(' ').next().and_then(|number| number.parse().ok()).expect("a number")
}

fn values(points: &[Point], path: &str) -> Vec<Value> {
    points.iter().map(|point| point.parameters[path].clone()).collect()
}

fn combinations(points: &[Point]) -> BTreeSet<String> {
    points.iter().map(|point| format!("{:?}", point.parameters)).collect()
}

#[test]
fn a_full_design_is_what_a_sweep_without_one_is() {
    let with = plan("\"full\"", LISTS);
    let without = Plan::read(document(LISTS)).expect("a sweep");
    assert_eq!((with.points.len(), with.design), (6, Design::Full));
    let digests = |plan: &Plan| plan.points.iter().map(|point| point.digest).collect::<Vec<_>>();
    assert_eq!(digests(&with), digests(&without), "runs of one are those of the other in a store");
}

#[test]
fn a_random_design_has_different_points_and_more_of_them_are_added() {
    let (few, many) = (drawn("random", 20, RANGES), drawn("random", 60, RANGES));
    assert_eq!(combinations(&many).len(), 60);
    let digests = |points: &[Point]| points.iter().map(|point| point.digest).collect::<Vec<_>>();
    assert_eq!(digests(&few), digests(&many[..20]));
    assert_eq!(combinations(&drawn("random", 6, LISTS)).len(), 6, "all that there are");
    for point in &many {
        assert!((1.0..=100.0).contains(&number(point, DELAY)));
        assert_eq!(point.parameters[LOSS], point.parameters["links.two.loss"], "they change together");
    }
}

#[test]
fn the_seed_of_the_design_alone_decides_and_another_path_changes_nothing() {
    let with_seed = |seed: u32| {
        plan(&format!("{{ name = \"random\", points = 10, seed = {seed} }}"), &format!("seed = [3]\n{RANGES}"))
    };
    assert_eq!(values(&with_seed(1).points, DELAY), values(&drawn("random", 10, RANGES), DELAY));
    let with_another = drawn("random", 10, &format!("{RANGES}links.two.delay = \"1 ms .. 100 ms\"\n"));
    assert_eq!(values(&with_another, DELAY), values(&drawn("random", 10, RANGES), DELAY));
    assert_ne!(values(&with_seed(2).points, DELAY), values(&with_seed(1).points, DELAY));
    let expected = Design::Drawn { sampling: Sampling::Random, points: 10, seed: 2 };
    assert_eq!(with_seed(2).design, expected);
}

#[test]
fn a_latin_hypercube_has_one_point_in_each_part_of_every_range() {
    let points = drawn("latin-hypercube", 30, RANGES);
    assert_eq!(combinations(&points).len(), 30);
    // The delay has 991 values, the first path ascends. The loss has equal factors: 10^-3 to 10^0.
    for (part, point) in points.iter().enumerate() {
        let place = ((number(point, DELAY) - 1.0) * 10.0).round() as usize;
        assert!(part * 991 < (place + 1) * 30 && place * 30 < (part + 1) * 991, "{place} is not in part {part}");
    }
    let part_of_loss = |point: &Point| (number(point, LOSS).log10() + 3.0) / 3.0 * 30.0;
    let mut losses: Vec<f64> = points.iter().map(part_of_loss).collect();
    assert!(losses.windows(2).any(|pair| pair[0] > pair[1]), "the others are in a random order");
    losses.sort_by(f64::total_cmp);
    // The smallest losses have one digit: 0.001 %, 0.002 %.
    let upper = losses.iter().enumerate().skip(10);
    upper.for_each(|(part, found)| assert!((found - part as f64 - 0.5).abs() < 0.8, "{part}: {found}"));
    for name in ["lia", "olia", "balia"] {
        assert_eq!(values(&points, CONGESTION).iter().filter(|value| *value == name).count(), 10);
    }
}

#[test]
fn a_latin_hypercube_of_lists_repeats_values_and_no_point() {
    let lists = format!("{LISTS}repeat = [1, 2, 3, 4]\n");
    let points = drawn("latin-hypercube", 12, &lists);
    assert_eq!(combinations(&points).len(), 12);
    for (path, each) in [(CONGESTION, 4), ("flows.f.scheduler", 6), ("repeat", 3)] {
        let found = values(&points, path);
        assert!(found.iter().all(|value| found.iter().filter(|other| *other == value).count() == each), "{path}");
    }
}

/// How many of 600 points, two of each of 300 seeds, have each of three values.
fn frequencies(three_values: &str) -> Vec<usize> {
    let design = |seed: u32| format!("{{ name = \"latin-hypercube\", points = 2, seed = {seed} }}");
    let paths = format!("\"links.one.delay\" = {three_values}\n");
    let points: Vec<Point> = (1..=300).flat_map(|seed| plan(&design(seed), &paths).points).collect();
    let found = values(&points, DELAY);
    ["1 ms", "2 ms", "3 ms"].map(|value| found.iter().filter(|other| *other == value).count()).to_vec()
}

#[test]
fn all_values_of_a_latin_hypercube_are_equally_probable() {
    for three_values in ["[\"1 ms\", \"2 ms\", \"3 ms\"]", "\"1 ms .. 3 ms\""] {
        let found = frequencies(three_values);
        // Each seed leaves out one value: 200 points are expected, with a standard deviation of 8.2.
        assert!(found.iter().all(|points| (170..=230).contains(points)), "{three_values}: {found:?}");
    }
}

#[test]
fn a_latin_hypercube_with_nearly_all_combinations_is_refused_soon() {
    let paths = "\"links.one.delay\" = \"1 ms .. 60 ms\"\n\"links.two.delay\" = \"1 ms .. 60 ms\"\n";
    let design = "design = { name = \"latin-hypercube\", points = 3590 }\n";
    let problem = Plan::read(document(&format!("{design}{paths}"))).expect_err("too dense").to_string();
    assert!(problem.contains("found no 3590 different combinations"), "{problem}");
    assert!(problem.contains("give ranges a step"), "a full design has no such ranges: {problem}");
}

#[test]
fn a_design_without_a_path_is_one_point() {
    let mut document =
        document("design = { name = \"random\", points = 2 }\n\"flows.f.scheduler\" = [\"ll\", \"rr\"]\n");
    document.set("--set", "flows.f.scheduler=ll").expect("it ends the sweep");
    let plan = Plan::read(document).expect("a scenario");
    assert_eq!((plan.points.len(), plan.without_effect.len()), (1, 0));
    let mut unswept = Document::parse(Path::new("design.toml"), SCENARIO.to_owned()).expect("TOML");
    unswept.set("--design", "sweep.design={ name = \"random\", points = 5 }").expect("it is good");
    let plan = Plan::read(unswept).expect("a scenario");
    assert_eq!(plan.without_effect[0].message, "sweep.design has no effect: no path is swept");
}

#[test]
fn equal_values_are_refused_however_they_are_written() {
    let refused =
        |sweep: &str| Plan::read(document(sweep)).expect_err("a point is there twice").first[0].message.clone();
    for (values, same) in [
        ("[\"1 %\", \"1 %\"]", "found \"1 %\" and \"1 %\", which are the same"),
        ("[\"none\", \"1 %\", \"1.0 %\"]", "found \"1 %\" and \"1.0 %\", which are the same"),
        ("[\"2 %\", \"1 % .. 3 % step 1 %\"]", "found \"2 %\" and \"2 %\", which are the same"),
    ] {
        let message = refused(&format!("\"links.one.loss\" = {values}\n"));
        assert_eq!(message, format!("sweep of links.one.loss: {same}"));
    }
    let message = refused("\"links.one.delay, links.two.delay\" = [[\"1 ms\", \"2 ms\"], [\"1000 us\", \"2 ms\"]]\n");
    assert!(
        message.ends_with("found [\"1 ms\", \"2 ms\"] and [\"1000 us\", \"2 ms\"], which are the same"),
        "{message}"
    );
    let others = "\"links.one.delay, links.two.delay\" = [[\"1 ms\", \"2 ms\"], [\"2 ms\", \"1 ms\"]]\n";
    assert_eq!(Plan::read(document(others)).map(|plan| plan.points.len()).ok(), Some(2));
}
