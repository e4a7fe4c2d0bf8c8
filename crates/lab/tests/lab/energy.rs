//! The energy of interfaces in whole scenarios, by hand.

use std::path::Path;

use subflow_lab::execute::execute;
use subflow_lab::output::{to_csv, to_text};
use subflow_lab::results::{InterfaceResult, RunResult};
use subflow_lab::simulate::{RunOptions, simulate};
use subflow_scenario::Scenario;
use subflow_scenario::file::Document;
use subflow_scenario::sweep::Plan;

/// A phone with both radios, and a server; `lte` is what stands behind the name of the LTE interface.
fn text(lte: &str, flow: &str) -> String {
    format!(
        "duration = \"20 s\"\n[hosts]\nphone = [{{ name = \"wifi\", energy = \"wifi-huang2012\" }}, {{ name = \"lte\"{lte} }}]\n\
         server = [\"eth\"]\n[routers]\ninternet = {{}}\n\
         [links.wifi]\nbetween = [\"phone.wifi\", \"internet\"]\nrate = \"20 Mbit/s\"\ndelay = \"10 ms\"\n\
         [links.lte]\nbetween = [\"phone.lte\", \"internet\"]\nrate = \"10 Mbit/s\"\ndelay = \"30 ms\"\n\
         [links.core]\nbetween = [\"internet\", \"server.eth\"]\nrate = \"1 Gbit/s\"\ndelay = \"5 ms\"\n[flows.f]\n{flow}\n"
    )
}

const LTE: &str = ", energy = \"lte-huang2012\"";
/// A file over both, and one over LTE alone.
const FILE: &str = "from = \"phone\"\nto = \"server\"\nprotocol = \"mptcp\"\nsend = \"5 MB\"";
const DATAGRAMS: &str = "from = \"phone.lte\"\nto = \"server\"\nprotocol = \"udp\"\nstart = \"1 s\"\nstop = \"3 s\"\n\
                         on_off = { rate = \"4 Mbit/s\", packet = \"972 B\" }";

fn document(text: String) -> Document {
    Document::parse(Path::new("energy.toml"), text).expect("TOML")
}

fn run(text: String, series: bool) -> RunResult {
    let scenario = Scenario::read(&document(text)).unwrap_or_else(|problems| panic!("{problems:?}"));
    simulate(&scenario, 1, &RunOptions { series, ..RunOptions::default() }).expect("it runs")
}

fn interface<'r>(run: &'r RunResult, name: &str) -> &'r InterfaceResult {
    run.interfaces.iter().find(|interface| interface.name == name).expect("its energy is counted")
}

#[test]
fn a_stream_of_datagrams_costs_what_the_model_says() {
    let result = run(text(LTE, DATAGRAMS), false);
    let (lte, wifi) = (interface(&result, "phone.lte"), interface(&result, "phone.wifi"));
    let packets = result.flows[0].datagrams.as_ref().expect("a stream of datagrams").sent;
    assert_eq!((lte.sent_bytes, lte.received_bytes, lte.promotions), (packets * 1000, 0, 1));
    // From the first datagram, at 1 s, one leaves every 1.944 ms for two seconds, and takes 0.8 ms to leave.
    let last_s = 1.0 + (packets - 1) as f64 * 972.0 * 8.0 / 4e6 + 0.8e-3;
    let active_s = last_s + 0.1 - (1.0 + 0.8e-3 + 0.26);
    assert!((lte.active_s - active_s).abs() < 1e-6, "{} s, not {active_s} s", lte.active_s);
    assert!((lte.promotion_s, lte.tail_s) == (0.26, 11.476), "{lte:?}");
    let listening = (1.68 - 1.06) * 0.002 * (1.0 + 286.0 + 1.0);
    // Idle: for the first second, 43 ms of listening; at the end five of them in less than five cycles.
    let idle_after_s = 20.0 - (last_s + 11.576);
    let cycles = (idle_after_s / 1.28).floor();
    let paging = 0.594 * 0.043 * (1.0 + cycles + 1.0);
    let expected =
        1.21 * 0.26 + 1.28804 * active_s + 438.39e-9 * 8.0 * lte.sent_bytes as f64 + 1.06 * 11.476 + listening + paging;
    assert!((lte.energy_j - expected).abs() < 1e-6, "{} J, not {expected} J", lte.energy_j);
    assert_eq!((wifi.energy_j, wifi.energy_j_per_mb(), wifi.idle_s), (0.0, None, 20.0));
    let read = result.flows[0].bytes_delivered as f64 * 1e-6;
    assert_eq!(result.energy_j_per_mb(), Some((lte.energy_j + wifi.energy_j) / read));
}

#[test]
fn two_bursts_cost_one_promotion_or_two_by_their_distance() {
    let bursts = |every: &str| {
        let flow = format!(
            "from = \"phone.lte\"\nto = \"server\"\nprotocol = \"udp\"\n\
             on_off = {{ rate = \"1 Mbit/s\", packet = \"972 B\", on = \"200 ms\", off = \"{every}\" }}"
        );
        run(text(LTE, &flow), false)
    };
    let [closer, farther] = [bursts("11 s"), bursts("12 s")];
    let [closer, farther] = [&closer, &farther].map(|result| interface(result, "phone.lte").clone());
    assert_eq!((closer.promotions, farther.promotions), (1, 2), "{closer:?} {farther:?}");
    assert_eq!((closer.promotion_s, farther.promotion_s), (0.26, 0.52));
    // Between the bursts a tail each; after the second one another, of which the run has what is left.
    assert!(closer.tail_s > 10.5 && farther.tail_s > 11.476, "{closer:?} {farther:?}");
}

#[test]
fn energy_changes_nothing_else() {
    let mut with = run(text(LTE, FILE), true);
    let without = run(text("", FILE).replace(", energy = \"wifi-huang2012\"", ""), true);
    assert_eq!(with.interfaces.len(), 2);
    with.interfaces.clear();
    with.series.retain(|series| series.metric != "power");
    assert_eq!(with.engine.packet_hops, without.engine.packet_hops);
    with.engine = without.engine;
    assert_eq!(with, without);
}

#[test]
fn power_over_time_adds_up_to_the_energy() {
    let result = run(text(LTE, FILE), true);
    for name in ["phone.wifi", "phone.lte"] {
        let series =
            result.series.iter().find(|series| (series.of.as_str(), series.metric.as_str()) == (name, "power"));
        let points = series.expect("it is sampled").points();
        let mut since = 0.0;
        let mut joules = 0.0;
        for point in points {
            joules += point.value * 1e-3 * (point.time_s - since);
            since = point.time_s;
        }
        let energy = interface(&result, name).energy_j;
        // The last sample is before the end of the run, where both are idle or in a tail.
        let rest = 1.7 * (20.0 - since);
        assert!((energy - rest..=energy + 1e-6).contains(&joules), "{name}: {joules} J of {energy} J");
    }
}

#[test]
fn all_outputs_have_the_energy_and_none_has_it_where_it_is_not_counted() {
    let outputs = |text: String| {
        let plan = Plan::read(document(format!("repeat = 2\n{text}"))).expect("a scenario");
        let experiment = execute(&plan, 1, &RunOptions::default(), &|_| {}).expect("the runs end well");
        let json = serde_json::to_string(&experiment).expect("plain data");
        [json, to_csv(&experiment), to_text(&experiment)]
    };
    let [json, csv, shown] = outputs(text(LTE, FILE));
    assert!(json.contains("\"interfaces\":[{\"name\":\"phone.wifi\",\"energy_j\":"));
    assert!(json.contains("\"energy\":{\"energy_j\":{\"n\":2,"), "{json}");
    assert!(csv.lines().next().is_some_and(|header| header.ends_with(",energy_j,energy_j_per_mb")), "{csv}");
    assert!(shown.contains("\ninterface") && shown.contains("phone.lte"), "{shown}");
    for output in outputs(text("", FILE).replace(", energy = \"wifi-huang2012\"", "")) {
        assert!(!output.contains("energy_j") && !output.contains("phone.lte "), "{output}");
    }
}

/// The point of the shipped scenario with these values.
fn shipped(from: &str, path_manager: &str) -> RunResult {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/energy.toml");
    let mut document = Document::load(&path).expect("it can be read");
    document
        .set(
            "--set",
            &format!("sweep={{\"flows.file.from, flows.file.path_manager\"=[[\"{from}\",\"{path_manager}\"]]}}"),
        )
        .expect("a sweep");
    let plan = Plan::read(document).expect("a good scenario");
    let mut experiment = execute(&plan, 1, &RunOptions::default(), &|_| {}).expect("the run ends well");
    experiment.runs.remove(0).result
}

#[test]
fn wifi_costs_least_and_a_second_radio_buys_time_for_no_less_energy() {
    let [wifi, lte, both] = [("phone.wifi", "passive"), ("phone.lte", "passive"), ("phone.wifi", "full-mesh")]
        .map(|(from, path_manager)| shipped(from, path_manager));
    let joules = |run: &RunResult| run.energy_j().expect("energy is counted");
    let done =
        |run: &RunResult| run.flows[0].exchanges.as_ref().and_then(|all| all.mean_ms).expect("it is done") * 1e-3;
    let all = [&wifi, &lte, &both].map(|run| (joules(run), done(run), run.energy_j_per_mb()));
    assert!(joules(&wifi) < 0.75 * joules(&lte) && (joules(&both) / joules(&lte) - 1.0).abs() < 0.05, "{all:?}");
    assert!(done(&both) < 0.7 * done(&lte) && done(&lte) < 0.7 * done(&wifi), "{all:?}");
    // The radio of LTE is connected for the transfer and the tail, at about 1.3 and 1.1 W.
    let expected = 0.3 + 1.288 * done(&lte) + 0.05197 * 8.0 * 20.0 + 1.09 * 11.5;
    assert!((joules(&lte) / expected - 1.0).abs() < 0.1, "{expected} J expected, {all:?}");
}
