//! Scenarios that are built are those of a file with the same content, and so are their errors.

use std::path::Path;

use subflow_quantity::{Duration, Packets, Probability, Rate, Size};
use subflow_scenario::builder::{FlowBuilder, LinkBuilder, Options, ScenarioBuilder};
use subflow_scenario::file::Document;
use subflow_scenario::sweep::Plan;

const FILE: &str = r#"
title = "Two \"paths\""
duration = "20 s"
repeat = 3
mptcp = { checksum = true }
[hosts]
phone = ["wifi", { name = "lte", backup = true }]
server = { interfaces = ["eth"], tcp = { nagle = false } }
[routers]
internet = {}
[links]
wifi = { between = ["phone.wifi", "internet"], rate = "20 Mbit/s", delay = "1500 us", queue = "50 packets" }
core = { between = ["internet", "server"], rate = { up = "1 Gbit/s", down = "unlimited" } }
[links.lte]
between = ["phone.lte", "internet"]
rate = "10 Mbit/s"
queue = { discipline = "red", limit = "200 packets" }
loss = "0.25 %"
[flows.file]
from = "phone"
to = "server"
protocol = "mptcp"
congestion = "lia"
scheduler = { name = "ecf", beta = 1.5 }
path_manager = "full-mesh"
send = "5 MB"
[flows.noise]
from = "server"
to = "phone"
protocol = "udp"
on_off = { rate = "1 Mbit/s" }
start = "1 s"
[[timeline]]
at = "5 s"
link = "wifi"
down = true
[sweep]
design = { name = "random", points = 3 }
"links.wifi.loss" = ["none", "1 %"]
"flows.file.congestion" = ["lia", "olia"]
"#;

fn built() -> ScenarioBuilder {
    let ecf = Options::of("ecf").set("beta", 1.5);
    let red = Options::new().set("discipline", "red").set("limit", Packets::new(200));
    let server = Options::new().set("interfaces", ["eth"]).set("tcp", Options::new().set("nagle", false));
    let phone = vec![Options::of("wifi"), Options::of("lte").set("backup", true)];
    let wifi = LinkBuilder::between("phone.wifi", "internet").rate(Rate::from_mbit(20));
    let lte = LinkBuilder::between("phone.lte", "internet").rate(Rate::from_mbit(10)).queue(red);
    ScenarioBuilder::new("built")
        .set("title", "Two \"paths\"")
        .duration(Duration::from_secs(20))
        .repeat(3)
        .set("mptcp", Options::new().set("checksum", true))
        .host("phone", phone)
        .host_with("server", server)
        .router("internet")
        .link("wifi", wifi.delay(Duration::from_micros(1500)).queue(Packets::new(50)))
        .link("core", LinkBuilder::between("internet", "server").each("rate", Rate::from_mbit(1000), "unlimited"))
        .link("lte", lte.loss("0.25 %".parse::<Probability>().expect("a probability")))
        .flow(
            "file",
            FlowBuilder::mptcp("phone", "server")
                .congestion("lia")
                .scheduler(ecf)
                .path_manager("full-mesh")
                .send(Size::from_bytes(5_000_000)),
        )
        .flow("noise", FlowBuilder::udp("server", "phone", Rate::from_mbit(1)).start(Duration::from_secs(1)))
        .at(Duration::from_secs(5), Options::new().set("link", "wifi").set("down", true))
        .design(Options::of("random").set("points", 3))
        .sweep("links.wifi.loss", ["none", "1 %"])
        .sweep("flows.file.congestion", ["lia", "olia"])
}

#[test]
fn a_built_scenario_is_that_of_a_file() {
    let document = Document::parse(Path::new("built.toml"), FILE.to_owned()).expect("TOML");
    let read = Plan::read(document).unwrap_or_else(|problems| panic!("{problems}"));
    let made = built().plan().unwrap_or_else(|problems| panic!("{problems}\n{}", built().text()));
    assert_eq!((made.points.len(), made.design, made.document.name.as_str()), (3, read.design, "built"));
    for (made, read) in made.points.iter().zip(&read.points) {
        assert_eq!(made.parameters, read.parameters);
        let shown = |point: &subflow_scenario::sweep::Point| format!("{:?}", point.scenario);
        assert_eq!(shown(made), shown(read));
    }
}

#[test]
fn a_range_is_swept_as_in_a_file() {
    let with = built().sweep_range("links.lte.delay", "10 ms .. 50 ms").sweep("seed", [1_u64 << 40]);
    let plan = with.plan().unwrap_or_else(|problems| panic!("{problems}"));
    let delays: Vec<&str> =
        plan.points.iter().filter_map(|point| point.parameters["links.lte.delay"].as_str()).collect();
    assert!(delays.len() == 3 && delays.iter().all(|delay| delay.ends_with(" ms")), "{delays:?}");
    assert_eq!(plan.points[0].scenario.seed, 1 << 40);
    let problems = built().seed(u64::MAX).scenario().expect_err("no whole number of TOML");
    assert!(problems.first[0].message.starts_with("seed: found \"18446744073709551615\""), "{problems}");
}

#[test]
fn what_is_given_twice_is_refused_as_in_a_file() {
    let wifi = || LinkBuilder::between("phone.wifi", "server");
    let cases = [
        ("links.wifi", built().link("wifi", wifi())),
        ("sweep.\"links.wifi.loss\"", built().sweep("links.wifi.loss", ["2 %"])),
        ("hosts", built().set("hosts", Options::new())),
        ("sweep", built().set("sweep", Options::new())),
    ];
    for (path, builder) in cases {
        let problem = builder.document().expect_err(path);
        assert_eq!(problem.message, format!("built: {path} is given twice, expected once"));
    }
}

#[test]
fn an_error_is_that_of_a_file_and_shows_the_text_that_was_written() {
    let with = built().flow("more", FlowBuilder::tcp("phone", "server").congestion("lya"));
    let problems = with.scenario().expect_err("no such algorithm");
    let [problem] = &problems.first[..] else { panic!("{problems}") };
    assert_eq!(
        problem.message,
        "flows.more.congestion: found \"lya\", expected the name of a congestion-control algorithm, or a table with a \
         name and options"
    );
    let place = problem.place.as_ref().expect("a place");
    assert!(place.source.text[place.span.clone()].contains("lya"));
    let problem = &built().set("speed", 3).scenario().expect_err("no such key").first[0];
    assert!(problem.message.contains("unknown key \"speed\""), "{}", problem.message);
}
