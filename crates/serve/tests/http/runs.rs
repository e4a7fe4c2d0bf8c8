//! Runs: their lines, their results, and how they end before their time.

use std::io::{BufRead, BufReader};
use std::time::Duration;

use serde_json::{Value, json};
use subflow_serve::{Limits, Source};

use crate::WIFI_LTE;
use crate::client::Served;

/// A scenario that takes hours.
fn endless() -> Value {
    let set = ["duration=1000000 s", "sample_interval=100 s", "flows.file.send=unlimited"];
    json!({ "a": { "text": WIFI_LTE, "set": set } })
}

/// Runs that have been asked for: their number, and the lines that tell of them.
fn asked(served: &Served, request: &Value) -> (u64, impl Iterator<Item = String> + use<>) {
    let mut stream = BufReader::new(served.connect(&served.request("run", &request.to_string())));
    let mut job = String::new();
    while !job.starts_with("subflow-job: ") {
        job.clear();
        assert!(stream.read_line(&mut job).expect("a header") > 0);
    }
    let number = job.trim_start_matches("subflow-job: ").trim().parse().expect("a number");
    (number, stream.lines().map_while(Result::ok))
}

/// The same when they have begun.
fn started(served: &Served, request: &Value) -> (u64, impl Iterator<Item = String> + use<>) {
    let (job, mut lines) = asked(served, request);
    assert!(lines.any(|line| line.contains("started")));
    (job, lines)
}

/// The lines of runs that another page has begun.
fn followed(served: &Served, job: u64) -> impl Iterator<Item = String> + use<> {
    let get = format!(
        "GET {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
        served.path(&format!("runs/{job}")),
        served.host()
    );
    BufReader::new(served.connect(&get)).lines().map_while(Result::ok)
}

#[test]
fn a_run_ends_with_results_whose_report_and_files_can_be_had() {
    let served = Served::start(Source::Example, Limits::default());
    let lines = served.post("run", &json!({ "a": { "text": WIFI_LTE, "set": ["repeat=2"] } })).lines();
    assert_eq!((&lines[0]["checked"]["problems"], &lines[1]), (&json!([]), &json!({ "started": 2 })));
    let result = &lines.last().expect("lines")["result"];
    assert_eq!((&result["runs"], &result["flows"][0]["flow"]), (&json!(2), &json!("file")));
    let file = |name: &str| served.get(&format!("results/{}/{name}", result["number"]));
    let frame = file("frame");
    assert!(frame.body.contains("class=\"in-frame\"") && frame.body.contains("<figure"));
    let content = file("content");
    assert!(frame.body.contains(&content.body) && content.body.contains("<figure"), "what the frame shows next");
    assert_eq!(content.header("content-type"), "text/plain; charset=utf-8", "it is no page of our origin");
    assert!(!frame.body.contains("Run it again"), "the page has the scenario and its commands");
    let report = file("report.html");
    assert!(report.body.contains("Run it again") && report.header("content-disposition").starts_with("attachment"));
    let results = file("results.json").json();
    let goodput: f64 = (0..2).filter_map(|run| results["runs"][run]["flows"][0]["goodput_mbps"].as_f64()).sum();
    let told = result["flows"][0]["goodput_mbps"].as_f64().expect("a number");
    assert!((told - goodput / 2.0).abs() < 1e-6, "{told} {goodput}");
    assert!(file("results.csv").body.starts_with("run,seed,"));
    assert_eq!(file("scenario.toml").status, 200);
    assert_eq!(file("lesson-rtt.json").json(), json!([]), "the scenario is that of no lesson");
    assert_eq!(file("lesson-none.json").status, 404);
    assert!(file("packets.json").json()["sequences"].as_array().is_some_and(|of| !of.is_empty()));
    for name in ["flows", "series"] {
        let table = file(&format!("{name}.parquet"));
        assert!(table.status == 200 && table.body.starts_with("PAR1"), "{name}: {}", table.status);
    }
}

#[test]
fn two_variants_are_run_with_the_same_seeds_and_compared() {
    let served = Served::start(Source::Example, Limits::default());
    let draft = |delay: &str| json!({ "text": WIFI_LTE, "set": ["repeat=3", format!("links.lte.delay={delay}")] });
    let lines = served.post("run", &json!({ "a": draft("35 ms"), "b": draft("70 ms") })).lines();
    let result = &lines.last().expect("lines")["result"];
    assert_eq!(result["runs"], 6);
    let frame = served.get(&format!("results/{}/frame", result["number"])).body;
    assert!(frame.contains("Differences to variant = A"), "a table of differences");
    let swept = json!({ "text": WIFI_LTE, "set": ["sweep={\"links.lte.delay\"=[\"1 ms\"]}"] });
    let lines = served.post("run", &json!({ "a": draft("35 ms"), "b": swept })).lines();
    assert!(lines[0]["error"].as_str().is_some_and(|why| why.contains("different paths")));
    let wrong = json!({ "text": WIFI_LTE.replace("\"lia\"", "\"lya\"") });
    let lines = served.post("run", &json!({ "a": draft("35 ms"), "b": wrong })).lines();
    assert_eq!(lines[0]["refused"]["variant"], "b", "the one that is not in sight");
    let lines = served.post("run", &json!({ "a": draft("35 ms"), "b": wrong, "shown": "b" })).lines();
    assert_eq!((lines.len(), &lines[0]["checked"]["problems"][0]["label"]), (1, &json!("did you mean \"lia\"?")));
}

#[test]
fn a_run_whose_request_is_ended_stops_and_leaves_its_turn_to_others() {
    let impatient = Limits { absence: Duration::from_millis(200), ..Limits::default() };
    let served = Served::start(Source::Example, impatient);
    for _ in 0..4 {
        // More than there are turns: each must be given back.
        let stream = served.connect(&served.request("run", &endless().to_string()));
        let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
        assert!(lines.any(|line| line.contains("started")));
    }
    let lines = served.post("run", &json!({ "a": { "text": WIFI_LTE } })).lines();
    assert!(lines.last().expect("lines")["result"].is_object());
}

#[test]
fn the_time_of_runs_is_bounded() {
    let short = Limits { time: Duration::from_millis(300), ..Limits::default() };
    let lines = Served::start(Source::Example, short).post("run", &endless()).lines();
    let told = lines.last().expect("lines")["error"].as_str().expect("an error").to_owned();
    assert!(told.contains("limit of this page"), "{told}");
}

#[test]
fn a_run_is_cancelled_while_its_network_is_built() {
    let served = Served::start(Source::Example, Limits::default());
    // Which of 20,000 hosts reach each other takes long to find out.
    let ring = "duration = \"1 s\"\n[topology]\nkind = \"ring\"\nswitches = 1000\nhosts = 20\nrate = \"1 Gbit/s\"\n\
                delay = \"1 ms\"\n[flows.f]\nfrom = \"*\"\nto = \"*\"\npairs = \"permutation\"\nprotocol = \"tcp\"\n";
    let (job, mut lines) = started(&served, &json!({ "a": { "text": ring } }));
    #[allow(clippy::disallowed_types)] // How long the reader waits.
    let cancelled = std::time::Instant::now();
    assert_eq!(served.post(&format!("runs/{job}/cancel"), &json!({})).status, 204);
    assert!(lines.any(|line| line.contains("\"error\":\"cancelled\"")));
    assert!(cancelled.elapsed() < Duration::from_secs(3), "{:?}", cancelled.elapsed());
}

#[test]
fn runs_are_followed_again_after_a_page_was_loaded_and_cancelled_by_any_page() {
    let served = Served::start(Source::Example, Limits::default());
    let (job, lines) = started(&served, &endless());
    drop(lines);
    // The page that has begun it has gone, and another one follows it.
    let mut lines = followed(&served, job);
    assert!(lines.any(|line| line.contains("started")), "it hears the begin, too");
    let list = served.get("runs.json").json();
    assert_eq!((&list[0]["number"], &list[0]["total"]), (&json!(job), &json!(1)), "{list}");
    assert_eq!(served.post(&format!("runs/{job}/cancel"), &json!({})).status, 204);
    assert!(lines.any(|line| line.contains("\"error\":\"cancelled\"")), "who follows it hears why it ended");
    assert_eq!(served.get("runs.json").json(), json!([]));
    assert!(served.get(&format!("runs/{job}")).body.contains("cancelled"), "its end can be asked for");
    assert_eq!([served.get("runs/99").status, served.post("runs/99/cancel", &json!({})).status], [404; 2]);
}

#[test]
fn runs_that_wait_for_their_turn_are_there_when_their_page_was_loaded_again() {
    let served = Served::start(Source::Example, Limits::default());
    // Both turns are taken.
    let before = [started(&served, &endless()), started(&served, &endless())];
    let (job, mut lines) = asked(&served, &endless());
    assert!(lines.any(|line| line.contains("checked")));
    drop(lines);
    // The server has noticed that the page has gone when the turn comes.
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(served.post(&format!("runs/{}/cancel", before[0].0), &json!({})).status, 204);
    std::thread::sleep(Duration::from_millis(300));
    assert!(followed(&served, job).any(|line| line.contains("started")));
}

#[test]
fn one_file_has_both_variants_their_differences_and_all_results() {
    let served = Served::start(Source::Example, Limits::default());
    let draft = |delay: &str| json!({ "text": WIFI_LTE, "set": ["repeat=2", format!("links.lte.delay={delay}")] });
    let request = json!({ "a": draft("35 ms"), "b": draft("70 ms") });
    let lines = served.post("run", &request).lines();
    let report = served.get(&format!("results/{}/report.html", lines.last().expect("lines")["result"]["number"])).body;
    assert!(report.contains("Scenario A") && report.contains("Scenario B"));
    assert!(report.contains("Differences to variant = A"), "the paired differences");
    let enclosed = |id: &str| -> Value {
        let begin = format!("<script type=\"application/json\" id=\"{id}\">");
        let (_, rest) = report.split_once(&begin).expect("it is in the file");
        serde_json::from_str(rest.split_once("</script>").expect("its end").0).expect("JSON")
    };
    assert_eq!(enclosed("subflow-request")["b"]["text"], WIFI_LTE);
    assert_eq!(enclosed("subflow-results")["runs"].as_array().map(Vec::len), Some(4));
}
