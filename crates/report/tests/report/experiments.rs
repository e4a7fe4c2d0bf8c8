//! From a plan to results, with hand-made runs in place of the simulator's.

use std::path::Path;

use subflow_lab::RunError;
use subflow_lab::execute::execute_with;
use subflow_lab::output::{to_csv, to_text};
use subflow_lab::results::metrics::ComparedMetric;
use subflow_lab::results::{Baseline, Experiment, RunResult};
use subflow_lab::simulate::{RunOptions, simulate};
use subflow_report::output::{FigureFormat, Folder, to_json};
use subflow_report::{Chart, CurvePoint, Extent, Figure, HeatMap, Scale, Shape};
use subflow_scenario::Scenario;
use subflow_scenario::file::Document;
use subflow_scenario::sweep::{Job, Plan, SeriesKept};

use crate::made;

pub(crate) const SCENARIO: &str = r#"
title = "Two paths"
repeat = 3
[hosts]
phone = ["wifi", "lte"]
server = ["eth"]
[routers]
internet = {}
[links.wifi]
between = ["phone.wifi", "internet"]
rate = "50 Mbit/s"
[links.lte]
between = ["phone.lte", "internet"]
rate = "20 Mbit/s"
[links.core]
between = ["internet", "server"]
rate = "1 Gbit/s"
[flows.album]
from = "phone"
to = "server"
protocol = "mptcp"
send = "100 MB"   # a comment that stays
"#;

const SWEEP: &str = r#"
[sweep]
"flows.album.congestion" = ["lia", "olia"]
"links.wifi.loss, links.lte.loss" = ["none", ["1 %", "2 %"]]
"#;

pub(crate) fn plan(text: &str, sets: &[&str]) -> Plan {
    let mut document = Document::parse(Path::new("album.toml"), text.to_owned()).expect("TOML");
    for set in sets {
        document.set("--set", set).expect("a good --set");
    }
    Plan::read(document).expect("a good scenario")
}

fn run(plan: &Plan, threads: usize) -> Experiment {
    let options = RunOptions::default();
    execute_with(plan, threads, &options, &|_| {}, |scenario, seed, _| Ok(made::result(scenario, seed)))
        .expect("no run fails")
}

#[test]
fn a_sweep_goes_through_every_combination_with_every_seed() {
    let plan = plan(&format!("{SCENARIO}{SWEEP}"), &[]);
    let jobs = plan.jobs();
    assert_eq!((plan.points.len(), jobs.len()), (4, 12));
    assert_eq!(jobs[4], Job { run: 4, point: 1, seed: 2 });
    let losses: Vec<_> = plan.points.iter().map(|point| point.parameters["links.lte.loss"].clone()).collect();
    assert_eq!(losses, ["none", "2 %", "none", "2 %"], "the last line of the sweep varies fastest");
}

#[test]
fn a_value_set_on_the_command_line_is_not_swept() {
    for sweep in ["\"flows.album.congestion\" = [\"lia\", \"olia\"]", "flows.album.congestion = [\"lia\", \"olia\"]"] {
        let plan = plan(&format!("{SCENARIO}[sweep]\n{sweep}\n"), &["flows.album.congestion=balia"]);
        assert_eq!(plan.points.len(), 1);
        assert!(!plan.document.text().contains("sweep"), "{}", plan.document.text());
    }
}

#[test]
fn a_report_names_points_with_the_same_results_and_why_if_that_is_known() {
    let sweep = "[sweep]\nflows.album.scheduler = [\"rr\", \"ll\"]\n";
    let tcp = SCENARIO.replace("\"mptcp\"", "\"tcp\"");
    let plan = plan(&format!("{tcp}{sweep}"), &["repeat=2"]);
    let html = subflow_report::of_experiment(&plan, &run(&plan, 1));
    let said = "The same results in all 2 runs: rr; ll. flows.album.scheduler has no effect: the flow";
    assert!(html.contains(said), "{html}");
}

#[test]
fn a_report_shows_three_groups_of_equal_points_and_folds_the_others() {
    let report = |durations: &str| {
        let sweep = format!("[sweep]\nduration = [{durations}]\nflows.album.scheduler = [\"rr\", \"ll\"]\n");
        let plan = plan(&format!("{SCENARIO}{sweep}"), &["repeat=2"]);
        let of_duration = |scenario: &Scenario, seed| {
            let mut result = made::result(scenario, seed);
            result.flows[0].goodput_mbps += scenario.duration.as_secs_f64();
            result
        };
        let run = |scenario: &Scenario, seed, _: &_| Ok(of_duration(scenario, seed));
        let experiment = execute_with(&plan, 1, &RunOptions::default(), &|_| {}, run).expect("no run fails");
        subflow_report::of_experiment(&plan, &experiment)
    };
    let three = report("\"1 s\", \"2 s\", \"3 s\"");
    assert!(three.contains("3 s, rr; 3 s, ll") && !three.contains("groups of such points"));
    let five = report("\"1 s\", \"2 s\", \"3 s\", \"4 s\", \"5 s\"");
    let (before, folded) = five.split_once("2 more groups of such points").expect("there are five");
    assert!(before.contains("3 s, rr; 3 s, ll") && folded.contains("5 s, rr; 5 s, ll"));
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let plan = plan(&format!("{SCENARIO}{SWEEP}"), &["repeat=25"]);
    let without_cpu_time = |mut experiment: Experiment| {
        experiment.runs.iter_mut().for_each(|run| run.result.engine.cpu_s = 0.0);
        to_json(&experiment)
    };
    let one = without_cpu_time(run(&plan, 1));
    assert_eq!(one, without_cpu_time(run(&plan, 2)));
    assert_eq!(one, without_cpu_time(run(&plan, 7)));
}

#[test]
fn the_first_failure_ends_the_experiment_and_is_reported() {
    let plan = plan(&format!("{SCENARIO}{SWEEP}"), &[]);
    for threads in [1, 4] {
        let outcome = execute_with(&plan, threads, &RunOptions::default(), &|_| {}, |scenario, seed, options| {
            match options.run {
                7 => panic!("window below zero"),
                9.. => Err(RunError::Result("later".to_owned())),
                _ => Ok(made::result(scenario, seed)),
            }
        });
        let error = outcome.expect_err("run 7 fails").to_string();
        assert!(error.starts_with("run 7 (seed 2, flows.album.congestion = \"olia\""), "{error}");
        assert!(error.ends_with("internal error: window below zero"), "{error}");
    }
}

#[test]
fn json_has_the_documented_structure() {
    let json = to_json(&run(&plan(SCENARIO, &["repeat=2"]), 1));
    let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let has = |value: &serde_json::Value, keys: &str| {
        for key in keys.split(' ') {
            assert!(value.get(key).is_some(), "{key} is missing in {value}");
        }
    };
    has(&value, "scenario runs statistics");
    let run = &value["runs"][1];
    has(run, "run seed parameters duration_s flows links engine");
    let flow = &run["flows"][0];
    has(flow, "name protocol congestion scheduler path_manager goodput_mbps bytes_delivered completion_s");
    has(flow, "retransmissions timeouts duplicate_acks subflows");
    has(&flow["subflows"][0], "name goodput_mbps packets_sent retransmissions srtt_ms cwnd_packets");
    has(&run["links"][0], "name packets drops utilisation");
    has(&run["engine"], "packet_hops events cpu_s");
    let statistics = &value["statistics"][0];
    has(&statistics["flows"][0]["goodput_mbps"], "mean median sd ci95_low ci95_high");
    assert_eq!((run["seed"].as_u64(), statistics["runs"].as_u64()), (Some(2), Some(2)));
    assert!(run.get("series").is_none(), "series have a file of their own");
}

#[test]
fn tables_are_aligned_and_fit_into_100_columns() {
    let one = to_text(&run(&plan(SCENARIO, &["repeat=1"]), 1));
    let many = to_text(&run(&plan(&format!("{SCENARIO}{SWEEP}"), &[]), 2));
    // Where runs did not complete, their number is beside the mean.
    for (text, more) in [(&one, 0), (&many, " (2 of 3)".len())] {
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(100 + more), "{widest:?} columns\n{text}");
    }
    insta::assert_snapshot!(format!("{one}\n\n{many}"));
}

#[test]
fn csv_has_a_row_for_each_connection_and_subflow() {
    insta::assert_snapshot!(to_csv(&run(&plan(&format!("{SCENARIO}{SWEEP}"), &["repeat=1"]), 1)));
}

#[test]
fn a_folder_contains_the_files_needed_to_repeat_the_run() {
    let root = tempfile::tempdir().expect("a temporary folder");
    let plan =
        plan(SCENARIO, &["flows.album.congestion=olia", "links.wifi.rate=\"7 Mbit/s\"", "flows.album.tcp.sack=false"]);
    let folder = Folder::for_plan(root.path().join("out"), &plan, false).expect("absent");
    folder.write_experiment(&plan, &run(&plan, 1), Some(FigureFormat::Svg)).expect("written");

    for name in ["results.json", "results.csv", "summary.txt", "report.html", "figures/01-goodput.svg", "scenario.toml"]
    {
        assert!(folder.path().join(name).exists(), "{name} is missing");
    }
    let written = std::fs::read_to_string(folder.path().join("scenario.toml")).expect("the scenario as run");
    assert!(written.contains("# a comment that stays"));
    let again = Plan::read(Document::parse(Path::new("album.toml"), written).expect("TOML")).expect("a good scenario");
    assert_eq!(format!("{:?}", again.points[0].scenario), format!("{:?}", plan.points[0].scenario));
}

/// The chart of the figure with this title.
pub(crate) fn chart<'a>(figures: &'a [Figure], title: &str) -> &'a Chart {
    let titles: Vec<&str> = figures.iter().map(|figure| figure.title.as_str()).collect();
    &figures.iter().find(|figure| figure.title == title).unwrap_or_else(|| panic!("{title} is not in {titles:?}")).chart
}

#[test]
fn swept_names_are_shown_as_bars_and_swept_numbers_as_curves() {
    let words = plan(&format!("{SCENARIO}{SWEEP}"), &[]);
    let figures = subflow_report::figures_of(&words, &run(&words, 1));
    let Chart::Bars(bars) = chart(&figures, "Goodput") else { panic!("bars") };
    assert_eq!(bars.bars.len(), 4);
    assert_eq!((bars.bars[1].group.as_str(), bars.bars[1].series.as_str()), ("lia", "1 %, 2 %"), "as in the file");
    assert!(bars.bars.iter().all(|bar| bar.interval.is_some_and(|(low, high)| low < bar.value && bar.value < high)));

    let sweep = "[sweep]\n\"flows.album.congestion\" = [\"lia\", \"olia\"]\n\
                 \"links.lte.loss, links.wifi.loss\" = [\"2 %\", \"none\", [\"0.5 %\", \"1 %\"]]\n";
    let numbers = plan(&format!("{SCENARIO}{sweep}"), &["repeat=6"]);
    let figures = subflow_report::figures_of(&numbers, &run(&numbers, 1));
    let Chart::Curves(curves) = chart(&figures, "Goodput") else { panic!("curves") };
    assert_eq!((curves.x.title().as_str(), curves.curves.len()), ("links.lte.loss in %", 2));
    let xs: Vec<f64> = curves.curves[0].points.iter().map(|point| point.x).collect();
    assert_eq!(xs, [0.0, 0.5, 2.0], "in the order of the axis");
    let names: Vec<&str> = curves.curves.iter().map(|curve| curve.name.as_str()).collect();
    assert_eq!(names, ["lia: album", "olia: album"], "what moves with the axis is no curve of its own");
    assert!(matches!(chart(&figures, "Goodput, spread over the runs"), Chart::Boxes(boxes) if boxes.boxes.len() == 6));
    assert!(matches!(chart(&figures, "Goodput, distribution over the runs"), Chart::Curves(c) if c.curves.len() == 6));
}

/// Three names: 2 × 3 × 2 values.
const NAMES: &str = r#"
[sweep]
"flows.album.congestion" = ["olia", "lia"]
"flows.album.scheduler" = ["rr", "ll", "ecf"]
"links.wifi.loss" = ["1 %", "0.1 %"]
"#;

fn heat_map<'a>(figures: &'a [Figure], title: &str) -> &'a HeatMap {
    let Chart::HeatMap(map) = chart(figures, title) else { panic!("a heat map") };
    map
}

#[test]
fn two_swept_names_are_a_heat_map_and_a_third_makes_small_multiples_with_the_same_axes() {
    let three = plan(&format!("{SCENARIO}{NAMES}"), &[]);
    let experiment = run(&three, 1);
    let figures = subflow_report::figures_of(&three, &experiment);
    let maps = ["1 %", "0.1 %"].map(|loss| heat_map(&figures, &format!("Goodput as a heat map, loss {loss}")));
    for map in maps {
        assert_eq!((map.rows.names.join(" "), map.columns.names.join(" ")), ("rr ll ecf".into(), "olia lia".into()));
        assert_eq!((map.rows.title.as_str(), map.columns.title.as_str()), ("scheduler", "congestion"));
        assert_eq!(map.cells.len(), 6);
        assert!(map.cells.iter().all(|cell| cell.interval.is_some_and(|(low, high)| low < high)));
    }
    assert!(maps[0].value == maps[1].value && matches!(maps[0].value.extent, Extent::Between(..)));
    let bars = ["1 %", "0.1 %"].map(|loss| match chart(&figures, &format!("Goodput, loss {loss}")) {
        Chart::Bars(bars) => bars,
        _ => panic!("bars"),
    });
    assert_eq!((bars[0].bars.len(), &bars[0].value), (6, &bars[1].value));
    for (name, svg) in subflow_report::svg_files(&figures) {
        assert!(
            !name.contains("heat-map") || (svg.matches("<rect fill=").count() >= 6 && svg.contains(">olia<")),
            "{svg}"
        );
    }
}

#[test]
fn a_baseline_of_the_command_line_is_shown_first_and_any_other_can_be_chosen() {
    let plan = plan(&format!("{SCENARIO}{NAMES}"), &[]);
    let mut experiment = run(&plan, 1);
    let page = subflow_report::of_experiment(&plan, &experiment);
    for choice in [r#"<optgroup label="congestion"><option value="0">olia"#, r#"<option value="6">0.1 %"#] {
        assert!(page.contains(choice), "{choice}");
    }
    assert!(!page.contains("Compared with congestion"), "nothing is chosen yet");
    let path = "flows.album.congestion".to_owned();
    experiment.baseline = Some(Baseline::of(&experiment, path, "lia".into(), &ComparedMetric::usual()));
    let page = subflow_report::of_experiment(&plan, &experiment);
    assert!(page.contains(r#"<option value="1" selected>lia</option>"#));
    assert!(page.contains("<p>Compared with congestion lia and the same other values."));
    let figures = subflow_report::figures_of(&plan, &experiment);
    let title = "Goodput as a heat map, loss 1 %";
    let maps: Vec<&Figure> = figures.iter().filter(|figure| figure.title.starts_with(title)).collect();
    let [values, changes] = [0, 1].map(|at| match &maps[at].chart {
        Chart::HeatMap(map) => map,
        _ => panic!("a heat map"),
    });
    assert!(!values.signed && changes.signed && changes.value.title() == "change of goodput in %");
    assert!(changes.cells.iter().all(|cell| cell.value == 0.0), "the made runs of a seed are equal");
}

#[test]
fn what_is_no_grid_has_no_heat_map() {
    let sweep = "[sweep]\n\"links.wifi.loss, links.lte.loss\" = [[\"1 %\", \"3 %\"], [\"2 %\", \"1 %\"], [\"3 %\", \"2 \
                 %\"]]\n";
    let plan = plan(&format!("{SCENARIO}{sweep}"), &[]);
    let figures = subflow_report::figures_of(&plan, &run(&plan, 1));
    assert!(!figures.iter().any(|figure| matches!(figure.chart, Chart::HeatMap(_))));
}

#[test]
fn points_of_a_drawn_design_are_dots_over_each_swept_number() {
    let sweep = "[sweep]\ndesign = { name = \"latin-hypercube\", points = 12 }\n\
                 \"links.wifi.delay\" = \"1 ms .. 100 ms log\"\n\"links.lte.rate\" = \"5 Mbit/s .. 20 Mbit/s\"\n\
                 \"flows.album.scheduler\" = [\"ll\", \"rr\", \"blest\"]\n";
    let plan = plan(&format!("{SCENARIO}{sweep}"), &[]);
    let experiment = run(&plan, 1);
    let figures = subflow_report::figures_of(&plan, &experiment);
    assert!(figures.iter().all(|figure| !matches!(figure.chart, Chart::HeatMap(_))), "it is no grid");
    for (title, scale) in [("Goodput over delay", Scale::Logarithmic), ("Goodput over rate", Scale::Linear)] {
        let Chart::Curves(of) = chart(&figures, title) else { panic!("{title}: no curves") };
        assert_eq!(of.x.scale, scale, "{title}");
        assert!(of.curves.iter().all(|curve| curve.shape == Shape::Points), "lines would join unlike points");
        let names: Vec<&str> = of.curves.iter().map(|curve| curve.name.as_str()).collect();
        assert_eq!(names.len(), 3, "{names:?}");
        let dots: Vec<&CurvePoint> = of.curves.iter().flat_map(|curve| &curve.points).collect();
        assert!(dots.len() == 12 && dots.iter().all(|dot| dot.interval.is_some()), "{dots:?}");
    }
}

#[test]
fn a_report_is_self_contained_and_escapes_text() {
    let hostile = "</script><script>alert(1)</script>\"'&";
    let mut document = Document::parse(Path::new("album.toml"), SCENARIO.to_owned()).expect("TOML");
    document.set("--set", &format!("title={hostile:?}")).expect("a title");
    document.set("--set", &format!("description={hostile:?}")).expect("a description");
    let plan = Plan::read(document).expect("a good scenario");
    let page = subflow_report::of_experiment(&plan, &run(&plan, 1));
    assert!(!page.contains("<script>alert") && page.contains("&lt;script&gt;alert(1)"));
    assert_eq!(page.matches("<script").count(), 1, "one script, and it is ours");
    for reference in ["src=", "@import", "url(", "http://", "https://"] {
        assert!(!page.contains(reference), "the page refers to something outside: {reference}");
    }
    assert!(page.contains("# a comment that stays"), "the scenario is in it");
    for (name, svg) in subflow_report::svg_files(&subflow_report::figures_of(&plan, &run(&plan, 1))) {
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{name}");
    }
}

#[test]
fn events_of_the_timeline_are_marked_in_figures_over_time() {
    let timeline = "[[timeline]]\nat = \"2 s\"\nlink = \"wifi\"\ndown = true\n\
                    [[timeline]]\nat = \"1 s\"\nlink = \"lte\"\nrate = { up = \"2 Mbit/s\" }\n";
    let plan = plan(&format!("{SCENARIO}{timeline}"), &["repeat=1"]);
    let options = RunOptions { series: true, ..RunOptions::default() };
    let experiment = execute_with(&plan, 1, &options, &|_| {}, simulate).expect("it runs");
    let figures = subflow_report::figures_of(&plan, &experiment);
    let Chart::Curves(curves) = chart(&figures, "Congestion window") else { panic!("curves") };
    let labels: Vec<&str> = curves.references.iter().map(|reference| reference.label()).collect();
    assert_eq!(labels, ["1 s: lte rate 2 Mbit/s (up)", "2 s: wifi fails"]);
    assert!(subflow_report::of_experiment(&plan, &experiment).contains("2 s: wifi fails"));
}

/// The results of the simulator, with metrics over time.
fn simulated(plan: &Plan) -> Experiment {
    let options = RunOptions { series: true, ..RunOptions::default() };
    execute_with(plan, 2, &options, &|_| {}, simulate).expect("it runs")
}

#[test]
fn several_runs_are_shown_over_time_by_their_mean_and_a_band() {
    let lossy = ["links.wifi.loss=\"1 %\"", "duration=\"2 s\"", "repeat=3"];
    let plan = Plan { series: SeriesKept::All, ..plan(SCENARIO, &lossy) };
    let experiment = simulated(&plan);
    let figures = subflow_report::figures_of(&plan, &experiment);
    let Chart::Curves(curves) = chart(&figures, "Congestion window") else { panic!("curves") };
    let wifi = &curves.curves[0];
    assert_eq!((wifi.name.as_str(), wifi.shape), ("album: phone.wifi-server.eth", Shape::LineAndBand));
    let is_within = |point: &CurvePoint| point.interval.is_some_and(|(low, high)| low <= point.y && point.y <= high);
    assert!(wifi.points.len() > 300 && wifi.points.iter().filter(|point| is_within(point)).count() > 300);
    let page = subflow_report::of_experiment(&plan, &experiment);
    assert!(
        page.contains("a value at the time; the band is from the smallest to the largest") && page.contains("\"band\"")
    );
    assert!(page.contains("<dd>1 to 3</dd>"), "{page}");
}

#[test]
fn a_path_has_the_same_colour_in_all_figures_over_time() {
    let plan = plan(SCENARIO, &["duration=\"2 s\"", "repeat=1"]);
    let figures = subflow_report::figures_of(&plan, &simulated(&plan));
    let look = |title: &str, name: &str| {
        let Chart::Curves(curves) = chart(&figures, title) else { panic!("curves") };
        let curve = curves.curves.iter().find(|curve| curve.name == name).expect("the curve");
        (curve.colour.expect("a colour"), curve.dashed)
    };
    for (index, path) in ["wifi", "lte"].into_iter().enumerate() {
        let subflow = format!("album: phone.{path}-server.eth");
        assert_eq!(look("Congestion window", &subflow), (index, false));
        assert_eq!(look("Slow-start threshold", &subflow), (index, false));
        assert_eq!(look("Time and sequence", &format!("{subflow} sent \u{b7}")), (index, false));
        assert_eq!(look("Queues", &format!("{path}.up")), (index, false), "data go up");
        let Chart::Bars(bars) = chart(&figures, "Goodput by flow and subflow") else { panic!("bars") };
        assert_eq!((bars.bars[index + 1].group.as_str(), bars.bars[index + 1].look), (&*subflow, Some((index, false))));
    }
    for title in ["Goodput", "Receive window", "Receive window in use", "Reassembly queue"] {
        assert_eq!(look(title, "album"), (2, false), "{title}: a flow is not one of its paths");
    }
}

#[test]
fn points_of_a_sweep_are_drawn_together_and_the_others_named_with_a_command() {
    let plan = plan(&format!("{SCENARIO}{SWEEP}"), &["duration=\"1 s\"", "repeat=1"]);
    let mut experiment = simulated(&plan);
    experiment.runs[3].result.series.clear();
    let page = subflow_report::of_experiment(&plan, &experiment);
    let together = page.split("<h3>Points together</h3>").nth(1).expect("it is there");
    let (together, _) = together.split_once("<h3>Each point</h3>").expect("and ends");
    let goodput = together.split("</figure>").next().expect("a figure");
    assert_eq!((goodput.matches("<g data-point").count(), goodput.matches("<g id=").count()), (3, 3));
    assert!(goodput.contains("data-name=\"lia, 1 %, 2 %\"") && together.contains("1 of 4 points"), "{together}");

    let sweep =
        r#"sweep = { "flows.album.congestion" = ["olia"], "links.wifi.loss" = ["1 %"], "links.lte.loss" = ["2 %"] }"#;
    let command = format!("subflow run scenario.toml --set &#39;{}&#39; --out point", sweep.replace('"', "&quot;"));
    assert!(together.contains(&command), "{together}");
    let alone = self::plan(&format!("{SCENARIO}{SWEEP}"), &["duration=\"1 s\"", "repeat=1", sweep]);
    let scenario = |plan: &Plan, point: usize| format!("{:?}", plan.points[point].scenario);
    assert_eq!((alone.points.len(), scenario(&alone, 0)), (1, scenario(&plan, 3)));
}

#[test]
fn a_report_of_many_points_is_bounded_and_has_the_goodput_of_all() {
    let plan =
        plan(&format!("{SCENARIO}[sweep]\n\"links.wifi.rate\" = \"1 Mbit/s .. 300 Mbit/s step 1 Mbit/s\"\n"), &[]);
    let plan = Plan { series: SeriesKept::All, ..plan };
    let with_series = |scenario: &Scenario, seed, _: &RunOptions| {
        let all = ["goodput", "cwnd", "srtt", "flight-size", "delay", "reassembly", "receive-window"];
        let one = |metric| made::series("album", metric, 500);
        Ok(RunResult { series: all.map(one).into(), ..made::result(scenario, seed) })
    };
    let experiment = execute_with(&plan, 2, &RunOptions::default(), &|_| {}, with_series).expect("no run fails");
    let page = subflow_report::of_experiment(&plan, &experiment);
    assert!(page.len() < 8_000_000, "{} bytes", page.len());
    assert!(page.contains("<input type=\"checkbox\" data-point=\"299\""));
    assert!(page.contains("<g data-point=\"299\">") && page.contains("make too large: "), "not all metrics fit");
}

#[test]
fn a_report_counts_the_differences_that_p_values_were_adjusted_for() {
    let plan = plan(&format!("{SCENARIO}[sweep]\nduration = [\"1 s\", \"2 s\", \"3 s\"]\n"), &["repeat=3"]);
    // Each seed gives the same difference at the second point, but not at the third.
    let experiment = execute_with(&plan, 1, &RunOptions::default(), &|_| {}, |scenario, seed, _| {
        let mut result = made::result(scenario, seed);
        let of_seed = if scenario.duration.as_secs_f64() > 2.5 { seed as f64 } else { 0.0 };
        result.flows[0].goodput_mbps = 10.0 + scenario.duration.as_secs_f64() + of_seed;
        Ok(result)
    });
    let mut experiment = experiment.expect("no run fails");
    let metrics = ["goodput".parse::<ComparedMetric>().expect("a metric")];
    experiment.baseline = Some(Baseline::of(&experiment, "duration".to_owned(), "1 s".into(), &metrics));
    let html = subflow_report::of_experiment(&plan, &experiment);
    assert!(html.contains("adjusted for the 1 difference that has one (Holm)"), "{html}");
}
