//! Flows between many hosts: one row where people read, each of them where programs do.

use subflow_lab::execute::execute_with;
use subflow_lab::output::to_text;
use subflow_lab::results::Experiment;
use subflow_lab::simulate::{RunOptions, simulate};
use subflow_report::output::to_json;
use subflow_scenario::sweep::Plan;

use crate::experiments::plan;

/// 255 senders, each with 2 kB for the same host.
fn incast() -> (Plan, Experiment) {
    let hosts: String = (0..256).map(|n| format!("h{n} = [\"eth\"]\n")).collect();
    let links: String = (0..256)
        .map(|n| format!("l{n} = {{ between = [\"h{n}\", \"r\"], rate = \"1 Gbit/s\", delay = \"5 us\", queue = \"1000 packets\" }}\n"))
        .collect();
    let text = format!(
        "title = \"Incast\"\nduration = \"100 ms\"\n[hosts]\n{hosts}[routers]\nr = {{}}\n[links]\n{links}\
         [flows.incast]\nfrom = \"h*\"\nto = \"h0\"\npairs = \"all-to-one\"\nsend = \"2 kB\"\n"
    );
    let plan = plan(&text, &[]);
    let options = RunOptions::default();
    let run = execute_with(&plan, 1, &options, &|_| {}, simulate);
    (plan, run.expect("it runs"))
}

#[test]
fn many_senders_are_one_row_of_flows_for_people_and_each_is_in_the_files() {
    let (plan, experiment) = incast();

    let text = to_text(&experiment);
    let tables: Vec<&str> = text.split("\n\n").collect();
    assert_eq!(tables[1].lines().count(), 2, "a heading and the group: {}", tables[1]);
    assert!(tables[1].lines().nth(1).is_some_and(|row| row.starts_with("incast ")), "{}", tables[1]);
    assert!(text.contains("… and 155 more, which results.json has"), "of 255 subflows: {text}");
    assert!(text.lines().count() < 250, "{} lines", text.lines().count());

    let json: serde_json::Value = serde_json::from_str(&to_json(&experiment)).expect("JSON");
    let flows = json["runs"][0]["flows"].as_array().expect("flows");
    assert!(flows.len() == 255 && flows.iter().all(|flow| flow["group"]["name"] == "incast"), "{}", flows[0]);
    assert!(flows.iter().all(|flow| flow["bytes_delivered"] == 2000 && !flow["completion_s"].is_null()));

    let page = subflow_report::of_experiment(&plan, &experiment);
    let rows = |id: &str| {
        let table = page.split_once(&format!("<table id=\"{id}\">")).map_or("", |(_, rest)| rest);
        table.split("</table>").next().unwrap_or_default().matches("<tr").count()
    };
    assert_eq!((rows("flows"), rows("groups"), rows("subflows")), (2, 2, 256), "with a heading each");
}
