//! Comparisons of results, with made-up runs whose differences are known.

use proptest::prelude::*;
use subflow_lab::comparison::{Asked, Bound, Comparison, NothingToCompare, Precision, Side, compare};
use subflow_lab::results::metrics::ComparedMetric;
use subflow_lab::results::{Baseline, Difference, Experiment, FlowResult, Pairing, Run, RunResult};
use subflow_scenario::file::Document;
use subflow_scenario::sweep::{Parameters, Plan};

const TEXT: &str = "title = \"t\"\n[hosts]\na = [\"x\"]\nb = [\"x\"]\n[links.l]\nbetween = [\"a\", \"b\"]\n\
    rate = \"1 Mbit/s\"\n[flows.f]\nfrom = \"a\"\nto = \"b\"\n";

fn plan(sweep: &str) -> Plan {
    let text = format!("repeat = 3\n{TEXT}[sweep]\n{sweep}");
    Plan::read(Document::parse("t.toml".as_ref(), text).expect("TOML")).expect("a scenario")
}

fn result(seed: u64, goodput_mbps: f64, completion_s: Option<f64>) -> RunResult {
    let flow = FlowResult { name: "f".into(), goodput_mbps, completion_s, ..FlowResult::default() };
    RunResult {
        seed,
        duration_s: 1.0,
        flows: vec![flow],
        links: Vec::new(),
        engine: subflow_lab::results::Engine::default(),
        real_time: None,
        series: Vec::new(),
        paths: Vec::new(),
        sequences: Vec::new(),
        exchanges: Vec::new(),
        connections: Vec::new(),
        interfaces: Vec::new(),
    }
}

/// Runs of one point, with these seeds and goodputs.
fn runs(of: &[(u64, f64)]) -> Vec<Run> {
    let run = |(run, &(seed, goodput)): (usize, &(u64, f64))| Run {
        run,
        point: 0,
        parameters: Parameters::new(),
        result: result(seed, goodput, Some(goodput)),
    };
    of.iter().enumerate().map(run).collect()
}

fn goodput() -> Vec<ComparedMetric> {
    vec!["goodput".parse().expect("a metric")]
}

fn one(first: &[(u64, f64)], second: &[(u64, f64)]) -> Difference {
    let mut compared = compare(&runs(first), &runs(second), &goodput()).expect("one point");
    assert_eq!(compared.differences.len(), 1);
    compared.differences.remove(0)
}

/// The experiment of a plan whose goodput is `of` the point's number and the seed.
fn experiment(plan: &Plan, of: impl Fn(usize, u64) -> f64) -> Experiment {
    let run = |job: subflow_scenario::sweep::Job| Run {
        run: job.run,
        point: job.point,
        parameters: plan.points[job.point].parameters.clone(),
        result: result(job.seed, of(job.point, job.seed), None),
    };
    Experiment::new(plan, plan.jobs().into_iter().map(run).collect())
}

fn baseline(text: &str, plan: &Plan, experiment: &Experiment) -> Baseline {
    let points: Vec<_> = plan.points.iter().map(|point| &point.parameters).collect();
    let (path, value) = Baseline::choose(text, &points, &plan.together).expect("a swept value");
    Baseline::of(experiment, path, value, &goodput())
}

#[test]
fn seeds_in_common_make_pairs() {
    // The seeds differ by hundreds, the results by one to three.
    let found = one(&[(1, 100.0), (2, 900.0), (3, 500.0)], &[(3, 502.0), (1, 101.0), (2, 903.0)]);
    assert_eq!((found.pairing, found.n, found.difference), (Pairing::Paired, 3, Some(2.0)));
    // 2 ± 4.302653 / √3
    assert!(found.difference_ci95_low.is_some_and(|low| (low + 0.484_138).abs() < 1e-6), "{found:?}");
    assert_eq!((found.median_difference, found.change_percent), (Some(2.0), Some(100.0 * (502.0 / 500.0 - 1.0))));
}

#[test]
fn other_seeds_are_compared_without_pairs() {
    let found = one(&[(1, 1.0), (2, 2.0), (3, 3.0)], &[(11, 4.0), (12, 6.0)]);
    assert_eq!((found.pairing, found.baseline_n, found.n), (Pairing::Unpaired, 3, 2));
    assert_eq!((found.difference, found.median_difference), (Some(3.0), Some(3.0)));
    // One seed in common is no pairing, two are; the other runs are left out then.
    assert_eq!(one(&[(1, 1.0), (2, 2.0)], &[(2, 4.0), (3, 6.0)]).pairing, Pairing::Unpaired);
    let two = one(&[(1, 1.0), (2, 2.0), (3, 9.0)], &[(2, 4.0), (1, 2.0), (4, 9.0)]);
    assert_eq!((two.pairing, two.n, two.difference), (Pairing::Paired, 2, Some(1.5)));
}

#[test]
fn a_single_run_each_has_a_difference_without_an_interval() {
    let found = one(&[(1, 8.0)], &[(1, 10.0)]);
    assert_eq!((found.difference, found.change_percent), (Some(2.0), Some(25.0)));
    assert_eq!((found.difference_ci95_low, found.p_value, found.p_value_holm), (None, None, None));
}

#[test]
fn equal_differences_have_no_interval_and_stay_out_of_the_adjustment() {
    let found = one(&[(1, 10.0), (2, 10.0), (3, 10.0)], &[(1, 9.99), (2, 9.99), (3, 9.99)]);
    assert_eq!((found.n, found.p_value, found.p_value_holm, found.difference_ci95_low), (3, None, None, None));
    assert!(found.is_without_spread() && found.difference.is_some_and(|x| (x + 0.01).abs() < 1e-9), "{found:?}");
    let many = |of: &[f64]| (1..).zip(of.iter().copied()).collect::<Vec<(u64, f64)>>();
    let shifted = one(&many(&[1.0, 2.0, 3.0, 4.0, 5.0]), &many(&[1.5, 2.5, 3.5, 4.5, 5.5]));
    assert_eq!((shifted.change_percent_ci95_low, shifted.median_difference_ci95_high), (None, None));
    let unpaired = one(&[(1, 2.0), (2, 2.0)], &[(11, 3.0), (12, 3.0)]);
    assert_eq!((unpaired.pairing, unpaired.p_value, unpaired.is_without_spread()), (Pairing::Unpaired, None, true));
    let equal = one(&many(&[1.0, 2.0]), &many(&[1.0, 2.0]));
    assert_eq!((equal.p_value, equal.difference_ci95_low, equal.is_without_spread()), (Some(1.0), None, true));
    assert!(!one(&[(1, 8.0)], &[(1, 10.0)]).is_without_spread(), "one run is too few");
    let plan = plan("\"links.l.delay\" = [\"1 ms\", \"2 ms\", \"3 ms\"]\n");
    let of = experiment(&plan, |point, seed| [10.0, 11.0, 12.0 + seed as f64 * 0.01][point]);
    let found = baseline("delay=1 ms", &plan, &of).differences;
    assert_eq!((found[0].p_value_holm, found[1].p_value_holm), (None, found[1].p_value), "one test is not adjusted");
    let text = subflow_lab::comparison::differences_to_text(&found, &[]);
    assert!(text.contains("No interval in 1 of 2 rows: every seed gives the same difference"), "{text}");
}

#[test]
fn equal_differences_of_some_pairs_do_not_show_that_seeds_do_not_matter() {
    let before = runs(&[(1, 5.0), (2, 5.0), (3, 5.0), (4, 5.0), (5, 5.0), (6, 5.0)]);
    let mut after = before.clone();
    after[2..].iter_mut().for_each(|run| run.result.flows[0].completion_s = None);
    let found = compare(&before, &after, &["completion".parse().expect("a metric")]).expect("a point").differences;
    assert_eq!((found[0].n, found[0].lacking, found[0].p_value, found[0].p_value_holm), (2, 4, None, None));
    let text = subflow_lab::comparison::differences_to_text(&found, &[]);
    assert!(text.contains("2 of 6 pairs, 4 lack it"), "{text}");
    assert!(text.contains("No interval in 1 of 1 rows: only 2 of 6 pairs have the metric"), "{text}");
    assert!(!text.contains("every seed"), "{text}");
    // Nor do those of some runs without pairs.
    after.iter_mut().for_each(|run| run.result.seed += 10);
    let found = compare(&before, &after, &["completion".parse().expect("a metric")]).expect("a point").differences;
    let text = subflow_lab::comparison::differences_to_text(&found, &[]);
    assert!(found[0].p_value.is_none() && text.contains("only 6 of 6 and 2 of 6 runs have the metric"), "{text}");
}

#[test]
fn a_metric_that_got_lost_is_beyond_any_bound() {
    let bound: Bound = "completion 50 %".parse().expect("a bound");
    let before = runs(&[(1, 5.0), (2, 5.0)]);
    let mut after = before.clone();
    assert!(
        Bound::exceeded(&[bound], &compare(&before, &after, &[bound.metric]).expect("a point").differences).is_empty()
    );
    after[1].result.flows[0].completion_s = None;
    let compared = compare(&before, &after, &[bound.metric]).expect("a point");
    let beyond = Bound::exceeded(&[bound], &compared.differences);
    assert_eq!((beyond.len(), beyond[0].lacking, beyond[0].worse_percent), (1, 1, Some(0.0)));
}

/// The comparison of these runs with a bound on goodput, or without.
fn bounded(before: &[Run], after: &[Run], bounds: &[Bound]) -> Comparison {
    let side =
        |runs: usize| Side { results: "r".to_owned(), scenario: "s".to_owned(), sha256: None, subflow: None, runs };
    let asked = Asked::new(&[], bounds);
    Comparison::new((side(before.len()), before), (side(after.len()), after), &asked).expect("a point")
}

#[test]
fn what_the_baseline_has_and_the_results_lack_is_beyond_any_bound() {
    let bounds: [Bound; 1] = ["goodput 1 %".parse().expect("a bound")];
    let before = runs(&[(1, 5.0), (2, 5.0), (3, 5.0)]);
    assert_eq!(bounded(&before, &before, &bounds).missing(), None);
    let fewer = bounded(&before, &before[..2], &bounds);
    assert_eq!(fewer.worse(), ["missing of the baseline: 1 run; no bound allows that"]);
    assert!(fewer.to_text().contains("note: 1 run of the baseline has no counterpart"), "{}", fewer.to_text());
    assert!(bounded(&before, &before[..2], &[]).worse().is_empty(), "without a bound it is a note");
    assert!(bounded(&before[..2], &before, &bounds).worse().is_empty(), "more runs are no loss");
    // Other seeds on purpose: their number counts.
    let others = runs(&[(11, 5.0), (12, 5.0)]);
    assert_eq!(bounded(&before[..2], &others, &bounds).missing(), None);
    assert_eq!(bounded(&before, &others, &bounds).runs_only_in_baseline, 1);
    let mut more = before.clone();
    for run in &mut more {
        run.result.flows.push(FlowResult { name: "g".into(), ..FlowResult::default() });
    }
    let mut elsewhere = before[0].clone();
    elsewhere.parameters.insert("x".into(), 1.into());
    more.push(elsewhere);
    let lacking = bounded(&more, &before, &bounds);
    assert_eq!(lacking.worse(), ["missing of the baseline: 1 point, 1 flow (g); no bound allows that"]);
    assert!(bounded(&before, &more, &bounds).worse().is_empty());
}

#[test]
fn points_are_the_same_if_their_values_are() {
    let [first, second] = ["1 %", "1.0 %"].map(|loss| {
        let mut runs = runs(&[(1, 5.0), (2, 6.0)]);
        runs.iter_mut().for_each(|run| drop(run.parameters.insert("links.l.loss".into(), loss.into())));
        runs
    });
    let compared = compare(&first, &second, &goodput()).expect("a point in common");
    assert_eq!((compared.differences.len(), compared.only_first, compared.only_second), (1, 0, 0));
}

#[test]
fn worse_is_the_direction_of_the_metric() {
    let [goodput, completion]: [Bound; 2] =
        ["goodput 9 %", "completion_s 9%"].map(|text| text.parse().expect("a bound"));
    let metrics = [goodput.metric, completion.metric];
    let beyond = |before: f64, after: f64| {
        let compared = compare(&runs(&[(1, before)]), &runs(&[(1, after)]), &metrics).expect("a point");
        let found = Bound::exceeded(&[goodput, completion], &compared.differences);
        found.iter().map(|one| compared.differences[one.difference].metric).collect::<Vec<_>>()
    };
    assert_eq!(beyond(10.0, 9.0), ["goodput_mbps"]);
    assert_eq!(beyond(10.0, 11.0), ["completion_s"]);
    assert_eq!(beyond(10.0, 10.9), [""; 0], "exactly the bound is within it");
    assert_eq!(beyond(0.0, 0.001), ["completion_s"], "worse than zero is beyond any bound");
}

#[test]
fn p_values_are_adjusted_over_all_points() {
    let plan = plan("\"links.l.delay\" = [\"1 ms\", \"2 ms\", \"3 ms\"]\n");
    let shifted = experiment(&plan, |point, seed| 10.0 + point as f64 + (seed as f64 * 0.01) * point as f64);
    let found = baseline("delay=1 ms", &plan, &shifted);
    assert_eq!((found.path.as_str(), found.differences.len()), ("links.l.delay", 2));
    for row in &found.differences {
        let (p, holm) = row.p_value.zip(row.p_value_holm).expect("three pairs");
        assert!(p > 0.0 && (holm - 2.0 * p).abs() < 1e-12, "two equal p-values count twice: {row:?}");
    }
}

#[test]
fn each_point_is_compared_with_that_which_differs_in_the_baseline_only() {
    let plan = plan("\"links.l.delay\" = [\"1 ms\", \"2 ms\"]\n\"flows.f.congestion\" = [\"reno\", \"cubic\"]\n");
    // The points in order: 1 ms reno, 1 ms cubic, 2 ms reno, 2 ms cubic.
    let found = baseline("congestion=cubic", &plan, &experiment(&plan, |point, _| [5.0, 1.0, 9.0, 3.0][point]));
    let differences: Vec<_> = found.differences.iter().map(|row| row.difference).collect();
    assert_eq!(differences, [Some(4.0), Some(6.0)]);
}

#[test]
fn paths_that_change_together_are_one() {
    let plan = plan("\"links.l.delay, links.l.loss\" = [[\"1 ms\", \"none\"], [\"2 ms\", \"1 %\"]]\n");
    let found = baseline("delay=1 ms", &plan, &experiment(&plan, |point, _| point as f64 + 1.0));
    assert_eq!(found.differences.iter().map(|row| row.difference).collect::<Vec<_>>(), [Some(1.0)]);
}

#[test]
fn points_of_a_drawn_design_that_differ_in_more_than_the_baseline_are_not_compared() {
    let plan = plan(
        "design = { name = \"random\", points = 12 }\n\"links.l.delay\" = [\"1 ms\", \"2 ms\", \"3 ms\", \"4 ms\"]\n\
         \"flows.f.send\" = [\"1 MB\", \"2 MB\", \"3 MB\", \"4 MB\"]\n",
    );
    let values = |path: &str| plan.points.iter().map(|point| point.parameters[path].clone()).collect::<Vec<_>>();
    let (delays, sizes) = (values("links.l.delay"), values("flows.f.send"));
    let found = baseline("delay=1 ms", &plan, &experiment(&plan, |point, _| point as f64));
    let has_counterpart =
        |size: &serde_json::Value| delays.iter().zip(&sizes).any(|(delay, other)| delay == "1 ms" && size == other);
    let expected = delays.iter().zip(&sizes).filter(|(delay, size)| *delay != "1 ms" && has_counterpart(size)).count();
    assert!(expected < delays.iter().filter(|delay| *delay != "1 ms").count(), "some have none");
    assert_eq!(found.differences.len(), expected);
}

#[test]
fn a_baseline_without_counterparts_is_refused() {
    // Each delay occurs once, so the size changes with it at each point, and still is another key of `[sweep]`.
    let ranges = plan(
        "design = { name = \"latin-hypercube\", points = 3 }\n\
         \"links.l.delay\" = [\"1 ms\", \"2 ms\", \"3 ms\"]\n\"flows.f.send\" = \"1.00 MB .. 2.00 MB\"\n",
    );
    for (plan, text) in [(&ranges, "delay=1 ms"), (&plan("\"links.l.delay\" = [\"1 ms\"]\n"), "delay=1 ms")] {
        let points: Vec<_> = plan.points.iter().map(|point| &point.parameters).collect();
        let refused = Baseline::choose(text, &points, &plan.together).expect_err("nothing to compare");
        assert!(refused.message.contains("no point differs from one with links.l.delay = 1 ms"), "{}", refused.message);
    }
}

#[test]
fn a_baseline_is_found_however_its_value_is_written() {
    let plan = plan("\"links.l.delay\" = [\"1 ms\", \"10 ms\"]\nrepeat = [1, 2]\n");
    let points: Vec<_> = plan.points.iter().map(|point| &point.parameters).collect();
    for (text, path, value) in [
        ("delay=0.01 s", "links.l.delay", serde_json::json!("10 ms")),
        ("delay=10ms", "links.l.delay", serde_json::json!("10 ms")),
        ("repeat=2.0", "repeat", serde_json::json!(2)),
    ] {
        let chosen = Baseline::choose(text, &points, &plan.together);
        assert_eq!(chosen.map_err(|refused| refused.message), Ok((path.to_owned(), value)), "{text}");
    }
    let refused = Baseline::choose("delay=0.1 s", &points, &plan.together).expect_err("refused");
    assert!(refused.message.contains("\"0.1 s\", which is no value of links.l.delay"), "{}", refused.message);
    assert_eq!(refused.help, "there are 1 ms, 10 ms");
}

#[test]
fn a_baseline_that_is_not_swept_is_refused_with_what_there_is() {
    let plan = plan("\"links.l.delay\" = [\"1 ms\", \"2 ms\"]\n");
    let points: Vec<_> = plan.points.iter().map(|point| &point.parameters).collect();
    let refused = |text| Baseline::choose(text, &points, &plan.together).expect_err("refused");
    assert!(refused("loss=1 %").help.contains("links.l.delay"));
    assert!(refused("delay=3 ms").help.contains("1 ms, 2 ms"));
    assert!(refused("delay").message.contains("NAME=VALUE"));
    assert!(Baseline::choose("delay=1 ms", &[], &[]).is_err());
}

#[test]
fn results_without_a_common_point_or_flow_have_nothing_to_compare() {
    let (first, mut second) = (runs(&[(1, 1.0)]), runs(&[(1, 1.0)]));
    second[0].result.flows[0].name = "g".into();
    assert_eq!(compare(&first, &second, &goodput()), Err(NothingToCompare::Metrics));
    second[0].parameters.insert("x".into(), 1.into());
    assert_eq!(compare(&first, &second, &goodput()), Err(NothingToCompare::Points));
}

#[test]
fn the_widest_interval_decides_whether_runs_are_enough() {
    let plan = plan("\"links.l.delay\" = [\"1 ms\", \"2 ms\"]\n");
    let precision: Precision = "goodput +- 2 %".parse().expect("a precision");
    assert_eq!("goodput±2%".parse(), Ok(precision));
    // The second point has 10 ± 1: half a width of 4.302653 / √3.
    let wide = experiment(&plan, |point, seed| 10.0 + point as f64 * (seed as f64 - 2.0));
    let widest = precision.widest(&wide, 2).expect("goodputs");
    assert!(widest.point == 1 && (widest.percent - 24.841_37).abs() < 1e-4, "{widest:?}");
    for same in [0.0, 0.1] {
        // The mean of three times 0.1 is another number than 0.1.
        assert_eq!(precision.widest(&experiment(&plan, |_, _| same), 2).map(|same| same.percent), Some(0.0));
    }
    let completion: Precision = "completion ± 2 %".parse().expect("a precision");
    assert_eq!(completion.widest(&wide, 2), None, "no run has completed");
    for bad in ["goodput 2 %", "goodput ± 2", "goodput ± 0 %", "goodput ± -1 %", "speed ± 2 %", "± 2 %", ""] {
        assert!(bad.parse::<Precision>().is_err(), "{bad}");
    }
}

#[test]
fn values_count_towards_the_fewest_and_runs_without_one_are_counted() {
    let plan = plan("\"links.l.delay\" = [\"1 ms\", \"2 ms\"]\n");
    let completion: Precision = "completion ± 200 %".parse().expect("a precision");
    let mut some = experiment(&plan, |_, _| 1.0);
    let mut complete = |run: usize, time: f64| some.runs[run].result.flows[0].completion_s = Some(time);
    for (run, time) in [(0, 1.0), (1, 1.1), (2, 1.2), (3, 1.0), (5, 1.1)] {
        complete(run, time);
    }
    let widest = completion.widest(&some, 3).expect("completions");
    assert_eq!((widest.percent, widest.point, widest.values), (f64::INFINITY, 1, 2), "two values of three runs");
    assert!(completion.widest(&some, 2).is_some_and(|widest| widest.percent.is_finite()));
    assert_eq!(completion.lacking(&some), 1);
    // A flow that never has the metric lacks it by its nature.
    for run in &mut some.runs {
        run.result.flows.push(FlowResult { name: "endless".into(), ..FlowResult::default() });
    }
    assert_eq!(completion.lacking(&some), 1);
    let some = Experiment::new(&plan, some.runs);
    let text = subflow_lab::output::to_text(&some);
    assert!(text.contains("(2 of 3)") && !text.contains("(3 of 3)") && !text.contains("(0 of"), "{text}");
}

#[test]
fn runs_grow_by_a_quarter_and_at_least_by_one() {
    let mut looks = vec![Precision::FEWEST_RUNS];
    while looks.len() < 6 {
        looks.push(Precision::more(looks[looks.len() - 1]));
    }
    assert_eq!(looks, [10, 13, 17, 22, 28, 35]);
    assert_eq!(Precision::more(u32::MAX), u32::MAX);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn exchanging_the_results_changes_the_sign(
        values in prop::collection::vec((0.1f64..100.0, 0.1f64..100.0), 2..12),
        shift in 0u64..20,
    ) {
        let first: Vec<(u64, f64)> = (1..).zip(values.iter().map(|pair| pair.0)).collect();
        let second: Vec<(u64, f64)> = (1 + shift..).zip(values.iter().map(|pair| pair.1)).collect();
        let (there, back) = (one(&first, &second), one(&second, &first));
        prop_assert_eq!(there.pairing, back.pairing);
        let sum = there.difference.zip(back.difference).map(|(a, b)| a + b);
        prop_assert!(sum.is_some_and(|sum| sum.abs() < 1e-9), "{:?}", sum);
        prop_assert!(there.p_value.zip(back.p_value).is_some_and(|(a, b)| (a - b).abs() < 1e-9));
        prop_assert_eq!(&one(&first, &second), &there, "the bootstrap has a fixed seed");
        let itself = one(&first, &first);
        prop_assert_eq!((itself.difference, itself.p_value, itself.worse_percent()), (Some(0.0), Some(1.0), Some(0.0)));
    }
}
