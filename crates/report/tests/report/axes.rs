//! Titles and units of axes that a scenario sets.

use std::collections::BTreeSet;

use subflow_lab::execute::execute_with;
use subflow_lab::results::{Baseline, Experiment};
use subflow_lab::simulate::{RunOptions, simulate};
use subflow_report::{Axis, Chart, Curves, Figure, figures_of, of_experiment, svg_files};
use subflow_scenario::AXES;
use subflow_scenario::sweep::Plan;

use crate::experiments::{SCENARIO, chart, plan};
use crate::made;

const SWEEP: &str = "[sweep]\n\"links.wifi.delay\" = [\"5 ms\", \"10 ms\", \"20 ms\"]\n";
const NAMES: &str = "[sweep]\n\"flows.album.congestion\" = [\"lia\", \"olia\"]\n\
                     \"flows.album.scheduler\" = [\"ll\", \"rr\"]\n";
const WORDS: &str = "[axes]\ngoodput = { title = \"Throughput\", unit = \"kbit/s\" }\ntime = { unit = \"ms\" }\n\
                     \"links.wifi.delay\" = { title = \"Delay of Wi-Fi\", unit = \"us\" }\n\
                     \"flows.album.scheduler\" = { title = \"scheduler\" }\n";

fn simulated(plan: &Plan) -> Experiment {
    let options = RunOptions { series: true, ..RunOptions::default() };
    execute_with(plan, 1, &options, &|_| {}, simulate).expect("it runs")
}

fn invented(plan: &Plan) -> Experiment {
    let options = RunOptions::default();
    execute_with(plan, 1, &options, &|_| {}, |scenario, seed, _| Ok(made::result(scenario, seed)))
        .expect("no run fails")
}

fn goodput(figures: &[Figure]) -> &Curves {
    let Chart::Curves(curves) = chart(figures, "Goodput") else { panic!("curves") };
    curves
}

#[test]
fn an_axis_has_the_title_and_the_unit_of_the_scenario_and_its_values_are_converted() {
    let [as_it_is, worded] = ["", WORDS].map(|words| {
        let plan = plan(&format!("{SCENARIO}{SWEEP}{words}"), &["repeat=6"]);
        let experiment = invented(&plan);
        (figures_of(&plan, &experiment), of_experiment(&plan, &experiment))
    });
    let (before, after) = (goodput(&as_it_is.0), goodput(&worded.0));
    assert_eq!([&before.x, &before.y].map(Axis::title), ["links.wifi.delay in ms", "goodput in Mbit/s"]);
    assert_eq!([&after.x, &after.y].map(Axis::title), ["Delay of Wi-Fi in us", "Throughput in kbit/s"]);
    for (one, other) in before.curves[0].points.iter().zip(&after.curves[0].points) {
        let ends = one.interval.map(|(low, high)| (1e3 * low, 1e3 * high));
        assert_eq!((1e3 * one.x, 1e3 * one.y, ends), (other.x, other.y, other.interval));
    }
    let Chart::Boxes(boxes) = chart(&worded.0, "Goodput, spread over the runs") else { panic!("boxes") };
    assert!(boxes.value.title() == "Throughput in kbit/s" && boxes.boxes[0].plot.median > 1e4, "{boxes:?}");
    for text in [worded.1, svg_files(&worded.0).into_iter().map(|(_, svg)| svg).collect()] {
        assert!(text.contains("Throughput in kbit/s") && text.contains("Delay of Wi-Fi in us"));
        assert!(!text.contains("goodput in Mbit/s"));
    }
}

#[test]
fn changes_to_a_baseline_have_the_title_and_stay_in_per_cent() {
    let plan = plan(&format!("{SCENARIO}{NAMES}{WORDS}"), &[]);
    let mut experiment = invented(&plan);
    let path = "flows.album.congestion".to_owned();
    experiment.baseline = Some(Baseline::of(&experiment, path, "lia".into(), &["goodput".parse().expect("a metric")]));
    let figures = figures_of(&plan, &experiment);
    let maps = figures.iter().filter_map(|figure| match &figure.chart {
        Chart::HeatMap(map) if figure.title.starts_with("Goodput") => Some(map),
        _ => None,
    });
    let titles: BTreeSet<String> = maps.clone().map(|map| map.value.title()).collect();
    assert_eq!(titles, ["Throughput in kbit/s", "change of Throughput in %"].map(String::from).into());
    assert!(maps.flat_map(|map| [&map.rows.title, &map.columns.title]).any(|title| title == "scheduler"));
    let page = of_experiment(&plan, &experiment);
    assert!(page.contains(r#"data-label="Throughput" data-unit="kbit/s""#) && page.contains("difference in kbit/s"));
    assert!(page.contains(r#"{"values":[[20666.7,"#), "20 Mbit/s and the mean of three seeds by three");
}

#[test]
fn figures_over_time_have_their_axes_and_events_in_the_unit() {
    let event = "[[timeline]]\nat = \"500 ms\"\nlink = \"lte\"\ndown = true\n";
    let plan = plan(&format!("{SCENARIO}{event}{WORDS}"), &["duration=\"1 s\"", "repeat=1"]);
    let experiment = simulated(&plan);
    let figures = figures_of(&plan, &experiment);
    let over_time = goodput(&figures);
    assert_eq!([&over_time.x, &over_time.y].map(Axis::title), ["time in ms", "Throughput in kbit/s"]);
    let last = over_time.curves[0].points.last().expect("points");
    assert!((900.0..=1000.0).contains(&last.x) && last.y > 1e3, "{last:?}");
    let subflow_report::Reference::Moment { at, .. } = &over_time.references[0] else { panic!("an event") };
    assert!((at - 500.0).abs() < 1e-9, "{at}");
}

#[test]
fn the_points_of_a_sweep_together_end_where_their_axis_does() {
    let plan = plan(&format!("{SCENARIO}{NAMES}{WORDS}"), &["duration=\"1 s\"", "repeat=1"]);
    let page = of_experiment(&plan, &simulated(&plan));
    let together = page.split("<h3>Points together</h3>").nth(1).expect("it is there");
    assert!(together.contains(r#"data-end="1000""#) && together.contains(r#"data-x="0 1000 linear" data-x-unit="ms""#));
}

#[test]
fn the_axes_that_a_scenario_may_name_are_those_of_the_figures() {
    let mut axes: BTreeSet<(String, String)> = BTreeSet::new();
    let group = "[flows.web]\nfrom = \"phone\"\nto = \"server\"\ncount = 6\nsend = \"10 kB\"\n\
                 [flows.rpc]\nfrom = \"phone\"\nto = \"server\"\nrequests = { request = \"1 kB\", response = \"9 kB\", \
                 count = 5 }\n";
    let film = "[flows.film]\nfrom = \"phone\"\nto = \"server\"\nprotocol = \"tcp\"\n\
                video = { ladder = [\"1 Mbit/s\", \"4 Mbit/s\"], chunk = \"200 ms\", buffer = \"2 s\" }\n";
    let bbr = "[flows.bbr]\nfrom = \"phone\"\nto = \"server\"\nprotocol = \"tcp\"\ncongestion = \"bbr\"\n";
    let radio = "phone = [\"wifi\", { name = \"lte\", energy = \"lte-huang2012\" }]";
    let scenario = SCENARIO.replace("phone = [\"wifi\", \"lte\"]", radio);
    for (text, sets) in [
        (format!("{scenario}{group}{bbr}{film}"), vec!["repeat=1", "links.wifi.loss=\"1 %\""]),
        (format!("{scenario}{group}{bbr}{film}{NAMES}"), vec!["repeat=6", "links.wifi.loss=\"1 %\""]),
    ] {
        let plan = plan(&text, &[&sets[..], &["duration=\"1 s\""]].concat());
        for figure in figures_of(&plan, &simulated(&plan)) {
            let of_figure = match figure.chart {
                Chart::Curves(curves) => vec![curves.x, curves.y],
                Chart::Bars(bars) => vec![bars.value],
                Chart::Boxes(boxes) => vec![boxes.value],
                Chart::HeatMap(map) => vec![map.value],
            };
            axes.extend(of_figure.into_iter().map(|axis| (axis.label, axis.unit)));
        }
    }
    let known: BTreeSet<(String, String)> =
        AXES.iter().flat_map(|(name, units)| units.iter().map(|unit| ((*name).into(), (*unit).into()))).collect();
    let unknown: Vec<_> = axes.difference(&known).collect();
    assert!(unknown.is_empty(), "a scenario cannot name {unknown:?}");
    // The first three take failures, and the last one is of kernels, which have no view of each packet.
    let elsewhere = ["timeouts", "copies", "reinjected data", "sent up to"];
    let unused: Vec<_> = known.difference(&axes).filter(|(name, _)| !elsewhere.contains(&name.as_str())).collect();
    assert!(unused.is_empty(), "no figure has {unused:?}");
}
