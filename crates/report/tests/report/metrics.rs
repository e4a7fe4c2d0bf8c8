//! Every metric that can be compared stands in all outputs: what one of them has, no other lacks.

use std::path::Path;

use subflow_lab::execute::execute;
use subflow_lab::output::{to_csv, to_text};
use subflow_lab::results::Experiment;
use subflow_lab::results::metrics::{ComparedMetric, FLOW, GROUP, Metric, RUN, Shown};
use subflow_lab::simulate::RunOptions;
use subflow_report::output::to_json;
use subflow_scenario::file::Document;
use subflow_scenario::sweep::Plan;
use subflow_store::tables;

/// A path that loses packets and one that fails, with a connection over both, requests, and a group of flows.
const TEXT: &str = r#"duration = "4 s"
[hosts]
client = ["a", { name = "b", energy = "lte-huang2012" }]
server = ["a", "b"]
[links.a]
between = ["client.a", "server.a"]
rate = "2 Mbit/s"
delay = "7 ms"
loss = "3 %"
[links.b]
between = ["client.b", "server.b"]
rate = "3 Mbit/s"
[flows.file]
from = "client"
to = "server"
protocol = "mptcp"
[flows.plain]
from = "client"
to = "server"
protocol = "tcp"
requests = { response = "5 kB", deadline = "100 ms" }
[flows.film]
from = "client"
to = "server"
video = { ladder = ["100 kbit/s", "300 kbit/s"], chunk = "400 ms", buffer = "2 s", abr = "rate" }
[flows.web]
from = "client"
to = "server"
count = 2
send = "10 kB"
[[timeline]]
at = "1 s"
link = "b"
down = true
"#;

fn experiment(repeat: u32) -> (Plan, Experiment) {
    let document = Document::parse(Path::new("all.toml"), format!("repeat = {repeat}\n{TEXT}")).expect("TOML");
    let plan = Plan::read(document).expect("a scenario");
    let experiment = execute(&plan, 0, &RunOptions::default(), &|_| {}).expect("the runs end well");
    (plan, experiment)
}

/// A metric that can be compared: its column, its place in statistics, how it is shown, and whether it is in CSV.
type Declared = (&'static str, Option<&'static str>, Option<Shown>, bool);

fn declared<T>(metrics: &'static [Metric<T>]) -> impl Iterator<Item = Declared> {
    let compared = metrics.iter().filter(|metric| metric.compared.is_some());
    compared.map(|metric| (metric.column, metric.statistics, metric.shown, metric.csv.is_some()))
}

#[test]
fn every_metric_that_can_be_compared_is_declared_for_all_outputs() {
    let of_flows: Vec<Declared> = FLOW.iter().copied().flat_map(declared).collect();
    let all: Vec<Declared> = of_flows.iter().copied().chain(declared(GROUP)).chain(declared(RUN)).collect();
    assert_eq!(all.iter().map(|(column, ..)| *column).collect::<Vec<_>>(), columns());
    for (column, statistics, shown, _) in &all {
        assert!(statistics.is_some() && shown.is_some(), "{column}");
    }
    // CSV has a row for each flow.
    assert!(of_flows.iter().all(|(.., in_csv)| *in_csv), "{of_flows:?}");
}

fn columns() -> Vec<&'static str> {
    ComparedMetric::all().map(|metric| metric.column).collect()
}

#[test]
fn every_metric_that_can_be_compared_stands_in_all_outputs() {
    let ((plan, several), (one_plan, one)) = (experiment(6), experiment(1));
    let texts = [to_text(&one), to_text(&several)];
    let pages = [subflow_report::of_experiment(&one_plan, &one), subflow_report::of_experiment(&plan, &several)];
    let statistics = serde_json::to_string(&several.statistics).expect("plain data");
    let json = to_json(&several);
    let figures: Vec<String> =
        subflow_report::figures_of(&plan, &several).into_iter().map(|figure| figure.title).collect();
    let csv = to_csv(&several);
    let csv: Vec<&str> = csv.lines().next().unwrap_or_default().split(',').collect();
    let of_flows: Vec<Declared> = FLOW.iter().copied().flat_map(declared).collect();
    for (column, path, shown, in_csv) in of_flows.into_iter().chain(declared(GROUP)).chain(declared(RUN)) {
        let (path, shown) = (path.expect("declared"), shown.expect("declared"));
        let field = path.rsplit('.').next().unwrap_or(path);
        assert!(statistics.contains(&format!("\"{field}\":{{\"n\":")), "{column} is not in the statistics of the JSON");
        assert!(json.contains(&format!("\"{field}\": {{")), "{column} is not in the JSON");
        assert_eq!(csv.contains(&column), in_csv, "{column} in CSV");
        for text in &texts {
            assert!(text.contains(shown.text), "{column}: {:?} is not in\n{text}", shown.text);
        }
        for page in &pages {
            let heading = format!(">{}</th>", shown.page.replace('\'', "&#39;"));
            assert!(page.contains(&heading), "{column}: {heading} is not on a page");
        }
    }
    let docs = |page: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src").join(page);
        std::fs::read_to_string(path).expect("the page")
    };
    let (manual, rows) = (docs("comparing.md"), tables::statistics(&several));
    let quantities = rows.to_csv();
    for metric in ComparedMetric::all() {
        let ComparedMetric { name, column, title, .. } = metric;
        assert!(manual.contains(&format!("| `{name}` | `{column}` | ")), "{column} is not in the manual");
        assert!(figures.iter().any(|known| known == title), "{title} is not in {figures:?}");
        let quantity = if column == "total_goodput_mbps" { "total,,,goodput_mbps" } else { column };
        assert!(quantities.contains(&format!(",{quantity},")), "{column} is not in the table of statistics");
        assert!(several.runs.iter().any(|run| metric.values(&run.result).iter().any(|(_, of)| of.value.is_some())));
        assert_eq!(name.parse::<ComparedMetric>(), column.parse::<ComparedMetric>());
    }
    let names = |table: &subflow_report::Table| table.to_csv().lines().next().map(str::to_owned);
    let tables = [tables::flows(&several), tables::runs(&several), tables::statistics(&several)];
    let headers: Vec<String> = tables.iter().filter_map(names).collect();
    for column in columns().into_iter().filter(|column| *column != "completion_p99_s") {
        assert!(headers.iter().any(|header| header.split(',').any(|name| name == column)), "{column}: {headers:?}");
    }
}
