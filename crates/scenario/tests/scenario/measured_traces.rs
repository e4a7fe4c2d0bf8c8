//! Links that follow the table of a measurement, with its own columns and units.

use subflow_quantity::Duration;
use subflow_scenario::file::{Document, Problems};
use subflow_scenario::sweep::Plan;

/// A plan whose link follows `trace`, the text of a value in TOML, of a drive on a 5G network.
fn plan(trace: &str) -> Result<Plan, Problems> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let drive = "Timestamp;State;DL_bitrate;RTT\n2020.02.27_18.39.01;D;12000;60\n2020.02.27_18.39.02;D;-;80\n\
        2020.02.27_18.39.02;D;24000;100\n2020.02.27_18.39.30;I;0;\n";
    std::fs::write(folder.path().join("drive.csv"), drive).expect("written");
    let text = format!(
        "duration = \"20 s\"\n[hosts]\na = [\"eth\"]\nb = [\"eth\"]\n[links.radio]\nbetween = [\"a\", \"b\"]\n\
         rate = \"1 Mbit/s\"\n[flows.f]\nfrom = \"a\"\nto = \"b\"\n[[timeline]]\nat = \"2 s\"\nlink = \"radio\"\n\
         direction = \"up\"\ntrace = {trace}\n"
    );
    Plan::read(Document::parse(&folder.path().join("drive.toml"), text).expect("it is TOML"))
}

#[test]
fn columns_units_dates_and_duplicate_seconds_are_those_of_the_file() {
    let trace =
        "{ file = \"drive.csv\", time = \"Timestamp\", rate = \"DL_bitrate\", rate_unit = \"kbit/s\", rtt = \"RTT\" }";
    let plan = plan(trace).expect("a good scenario");
    let events = &plan.points[0].scenario.timeline;
    let times: Vec<_> = events.iter().map(|event| event.at).collect();
    // 29 s after the first line is after the end of the run.
    assert_eq!(times, [2, 3].map(Duration::from_secs));
    let shown = format!("{:?}", events[1].up);
    assert!(shown.contains("24 Mbit/s") && shown.contains("45 ms"), "half of the mean of 80 and 100 ms: {shown}");
    assert!(events.iter().all(|event| event.down.is_empty()));
}

#[test]
fn what_is_wrong_with_a_trace_is_named() {
    for (trace, expected) in [
        ("{ file = \"drive.csv\", time = \"Timestamp\" }", "no column but that of times"),
        ("{ file = \"drive.csv\", rate = \"DL_bitrate\" }", "no column 'time_s'"),
        ("{ file = \"drive.csv\", time = \"Timestamp\", delay = \"RTT\", rtt = \"RTT\" }", "found delay and rtt"),
        ("{ file = \"drive.csv\", time = \"Timestamp\", rate = \"DL\" }", "no column 'DL'"),
        ("{ file = \"drive.csv\", rate = \"DL\", rate_unit = \"kbps\" }", "kbps"),
        ("{ rate = \"DL_bitrate\" }", "file"),
    ] {
        let problems = plan(trace).expect_err(trace);
        assert!(problems.first[0].message.contains(expected), "{}", problems.first[0].message);
    }
}
