//! Every scenario that `check` accepts can be run: a short run ends without a panic, and its results can be written.

mod slots;

use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use proptest::prelude::*;
use subflow_lab::capture::CaptureFolder;
use subflow_lab::execute::execute;
use subflow_lab::output::{to_csv, to_text};
use subflow_lab::simulate::RunOptions;
use subflow_quantity::Size;
use subflow_scenario::file::Document;
use subflow_scenario::sweep::Plan;

/// A scenario with every protocol, kind of traffic and event, over two paths.
const BASE: &str = r#"duration = "200 ms"
[hosts]
phone = { interfaces = ["wifi", "lte"] }
server = { interfaces = ["eth", "backup"] }
[routers]
near = {}
far = {}
[links.wifi]
between = ["phone.wifi", "near"]
rate = "20 Mbit/s"
[links.lte]
between = ["phone.lte", "near"]
rate = "10 Mbit/s"
[links.core]
between = ["near", "far"]
rate = "100 Mbit/s"
[links.eth]
between = ["far", "server.eth"]
rate = "100 Mbit/s"
[links.backup]
between = ["far", "server.backup"]
rate = "100 Mbit/s"
[flows.bulk]
from = "phone"
to = "server"
protocol = "mptcp"
[flows.file]
from = "server"
to = "phone"
protocol = "tcp"
send = "100 kB"
[flows.chunks]
from = "phone"
to = "server"
protocol = "sctp"
[flows.page]
from = "phone"
to = "server"
protocol = "quic"
send = "200 kB"
[flows.voice]
from = "phone"
to = "server"
protocol = "udp"
on_off = { rate = "1 Mbit/s" }
[flows.ask]
from = "phone"
to = "server"
protocol = "mptcp"
requests = { response = "10 kB" }
[[timeline]]
at = "50 ms"
link = "wifi"
down = true
[[timeline]]
at = "90 ms"
link = "wifi"
up = true
"#;

/// Longer than any such run takes on a busy machine.
const RUN_TIMEOUT: Duration = Duration::from_secs(300);

/// The plan of the base scenario with `sets`, if `check` accepts it.
fn checked(sets: &[String]) -> Option<Plan> {
    let mut document = Document::parse(Path::new("any.toml"), BASE.to_owned()).expect("it is TOML");
    sets.iter().try_for_each(|set| document.set("--set", set)).ok()?;
    Plan::read(document).ok()
}

/// Runs the plan in another thread, with a timeout. Returns the error, if there is one.
fn run(plan: Plan) -> Result<(), String> {
    let (done, outcome) = mpsc::channel();
    std::thread::spawn(move || {
        let captures = tempfile::tempdir().expect("a temporary folder");
        let pcap = Some(CaptureFolder::new(captures.path(), Size::from_bytes(u64::MAX)));
        let options = RunOptions { series: true, pcap, ..RunOptions::default() };
        let ended = execute(&plan, 1, &options, &|_| {}).map_err(|error| error.to_string()).map(|experiment| {
            serde_json::to_string(&experiment).expect("results are plain data");
            let _ = (to_csv(&experiment), to_text(&experiment));
        });
        let _ = done.send(ended);
    });
    outcome.recv_timeout(RUN_TIMEOUT).unwrap_or_else(|_| Err("it does not end".to_owned()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn every_accepted_scenario_runs_to_its_end(
        slots in prop::collection::vec(any::<(prop::sample::Index, prop::sample::Index)>(), 0..7)
    ) {
        let all = slots::all();
        let sets: Vec<String> = slots.iter().map(|(slot, value)| {
            let (path, values) = slot.get(&all);
            format!("{path}={}", value.get(values))
        }).collect();
        if let Some(plan) = checked(&sets) {
            prop_assert_eq!(run(plan), Ok(()), "{}", sets.join("\n"));
        }
    }
}

#[test]
fn the_base_scenario_and_a_third_of_its_variants_are_valid() {
    let all = slots::all();
    assert_eq!(checked(&[]).map(run), Some(Ok(())));
    let each = || all.iter().flat_map(|(path, values)| values.iter().map(move |value| format!("{path}={value}")));
    let good = each().filter(|set| checked(std::slice::from_ref(set)).is_some()).count();
    assert!(3 * good > each().count(), "{good} of {}", each().count());
}
