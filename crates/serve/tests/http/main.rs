//! The server as its clients meet it: the page, and those who mean harm.

mod client;
mod folder;
mod hostile;
mod runs;

use client::Served;
use serde_json::json;
use subflow_serve::{Limits, Opened, Source};

const WIFI_LTE: &str = include_str!("../../../../scenarios/wifi-lte.toml");

#[test]
fn the_page_and_all_that_it_needs_come_from_the_program() {
    let served = Served::start(Source::Example, Limits::default());
    let page = served.get("");
    assert_eq!((page.status, page.header("content-type")), (200, "text/html; charset=utf-8"));
    for name in ["main.js", "editor.js", "main.css", "palette.css"] {
        let asset = served.get(name);
        assert!(asset.status == 200 && asset.body.len() > 500, "{name}");
    }
    let start = served.get("start.json").json();
    assert_eq!(start["text"], WIFI_LTE, "without a scenario the page begins with an example");
    assert!(start["cards"].as_array().is_some_and(|cards| cards.len() > 10));
    let schema = served.get("schema.json").json();
    assert!(schema["definitions"]["links"]["properties"]["rate"]["description"].is_string());
}

#[test]
fn a_scenario_is_opened_with_what_is_wrong_with_it() {
    let text = WIFI_LTE.replace("\"lia\"", "\"lya\"");
    let served = Served::start(Source::Scenario(Opened::without_file("mine", &text)), Limits::default());
    let start = served.get("start.json").json();
    assert_eq!((&start["text"], &start["path"]), (&json!(text), &json!("mine.toml")));
    let checked = served.post("check", &json!({ "text": text })).json();
    assert_eq!(checked["problems"][0]["label"], "did you mean \"lia\"?");
    let run = served.post("run", &json!({ "a": { "text": text } })).lines();
    assert_eq!(run.len(), 1);
    assert_eq!(run[0]["checked"]["problems"], checked["problems"], "a run is refused for the same reason");
}

#[test]
fn what_is_no_request_is_answered_with_the_reason() {
    let served = Served::start(Source::Example, Limits::default());
    for (path, body) in
        [("check", "{"), ("check", "[]"), ("run", "{\"a\": 3}"), ("run", "{\"a\": {\"text\": \"\", \"x\": 1}}")]
    {
        let answer = served.raw(&served.request(path, body));
        assert!(answer.status == 400 && !answer.body.is_empty(), "{body}: {}", answer.status);
    }
    assert_eq!(served.get("no-such-file").status, 404);
    assert_eq!(served.get("results/7/report.html").status, 404);
    assert_eq!(served.get("results/many/report.html").status, 404);
}
