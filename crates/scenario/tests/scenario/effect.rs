//! Keys that are valid and have no effect are found, and only those.

use std::path::Path;

use subflow_scenario::file::Document;
use subflow_scenario::sweep::Plan;

/// The paths of the keys without effect in a scenario with this flow.
fn idle(flow: &str, more: &str) -> Vec<String> {
    idle_with(flow, more, &[])
}

/// Those with changes of the command line.
fn idle_with(flow: &str, more: &str, sets: &[&str]) -> Vec<String> {
    let path = |message: String| message.split_once(" has no effect").expect("a warning").0.to_owned();
    messages(flow, more, sets).into_iter().map(path).collect()
}

/// All warnings of it.
fn messages(flow: &str, more: &str, sets: &[&str]) -> Vec<String> {
    let text = format!(
        "duration = \"1 s\"\n{more}[links.l]\nbetween = [\"a\", \"b\"]\nrate = \"1 Gbit/s\"\n\
         [flows.f]\nfrom = \"a\"\nto = \"b\"\n{flow}"
    );
    let mut document = Document::parse(Path::new("idle.toml"), text).expect("TOML");
    sets.iter().for_each(|set| document.set("--set", set).expect("it is good"));
    let plan = Plan::read(document).unwrap_or_else(|problems| panic!("{problems}"));
    plan.without_effect.into_iter().map(|problem| problem.message).collect()
}

const HOSTS: &str = "[hosts]\na = [\"x\"]\nb = [\"x\"]\n";

#[test]
fn keys_of_other_protocols_have_no_effect() {
    let idle = |flow| idle(flow, HOSTS);
    assert_eq!(idle("protocol = \"mptcp\"\nscheduler = \"rr\"\npath_manager = \"default\"\n"), [""; 0]);
    assert_eq!(
        idle("protocol = \"tcp\"\nscheduler = \"rr\"\ncoupling = \"connection\"\n"),
        ["flows.f.coupling", "flows.f.scheduler"]
    );
    assert_eq!(idle("protocol = \"mptcp\"\nprimary = \"b.x\"\nsctp = {}\n"), ["flows.f.primary", "flows.f.sctp"]);
    assert_eq!(idle("protocol = \"sctp\"\nscheduler = \"rr\"\nmptcp = {}\n"), ["flows.f.mptcp", "flows.f.scheduler"]);
    assert_eq!(idle("protocol = \"sctp\"\nscheduler = \"rr\"\nsctp = { cmt = true }\n"), [""; 0]);
}

#[test]
fn an_end_of_arrivals_after_the_run_has_no_effect() {
    let flow =
        |until: &str| format!("arrivals = {{ exponential = \"100 ms\" }}\nsend = \"1 kB\"\nuntil = \"{until}\"\n");
    assert_eq!(idle(&flow("900 ms"), HOSTS), [""; 0]);
    assert_eq!(idle(&flow("1 s"), HOSTS), ["flows.f.until"]);
    assert_eq!(idle_with(&flow("900 ms"), HOSTS, &["duration=500 ms"]), [""; 0], "the run is shorter for once");
}

#[test]
fn an_end_of_sending_after_the_run_has_no_effect() {
    let flow = |key: &str, value: &str| format!("start = \"100 ms\"\n{key} = \"{value}\"\n");
    for (key, last, late) in [("stop", "1 s", "1001 ms"), ("duration", "900 ms", "901 ms")] {
        assert_eq!(idle(&flow(key, last), HOSTS), [""; 0], "{key}");
        assert_eq!(idle(&flow(key, late), HOSTS), [format!("flows.f.{key}")]);
        assert_eq!(idle_with(&flow(key, last), HOSTS, &["duration=500 ms"]), [""; 0], "the run is shorter for once");
    }
}

#[test]
fn flows_that_never_start_are_told() {
    let flow = |count: u32| format!("send = \"1 kB\"\ncount = {count}\narrivals = \"100 ms\"\n");
    assert_eq!(messages(&flow(10), HOSTS, &[]), [""; 0]);
    let said = messages(&flow(12), HOSTS, &[]);
    assert!(said[0].starts_with("flows.f.count: 2 of 12 flows do not start"), "{said:?}");
}

#[test]
fn switches_of_protocols_that_no_flow_has_have_no_effect() {
    let hosts = "[mptcp]\nchecksum = true\n[sctp]\ncmt = true\n[hosts.a]\ninterfaces = [\"x\"]\n\
                 mptcp = { checksum = false }\n[hosts.b]\ninterfaces = [\"x\"]\n";
    assert_eq!(idle("protocol = \"mptcp\"\n", hosts), ["sctp"]);
    assert_eq!(idle("protocol = \"tcp\"\n", hosts), ["hosts.a.mptcp", "mptcp", "sctp"]);
}

#[test]
fn a_protocol_that_is_chosen_for_once_makes_no_key_of_the_file_a_mistake() {
    let (flow, hosts) = ("protocol = \"mptcp\"\nscheduler = \"rr\"\n", format!("[mptcp]\nchecksum = true\n{HOSTS}"));
    assert_eq!(idle_with(flow, &hosts, &["flows.f.protocol=tcp"]), [""; 0]);
    let other = idle_with(flow, &hosts, &["flows.f.protocol=tcp", "flows.f.scheduler=ll"]);
    assert_eq!(other, ["flows.f.scheduler"], "it was chosen as well");
}

#[test]
fn what_has_an_effect_at_one_point_of_a_sweep_is_no_mistake() {
    let sweep = |text: &str| format!("{HOSTS}[sweep]\n{text}\n");
    let flow = "protocol = \"tcp\"\nscheduler = \"rr\"\n";
    assert_eq!(idle(flow, &sweep("flows.f.protocol = [\"tcp\", \"mptcp\"]")), [""; 0]);
    let other = idle("protocol = \"tcp\"\n", &sweep("flows.f.scheduler = [\"rr\", \"ll\"]"));
    assert_eq!(other, ["flows.f.scheduler"], "it is the value that is swept");
}

#[test]
fn switches_that_no_congestion_control_reads_have_no_effect() {
    let flow = |congestion: &str| {
        format!(
            "protocol = \"mptcp\"\ncongestion = \"{congestion}\"\ntcp = {{ fixed_point = true, hystart = false }}\n"
        )
    };
    assert_eq!(idle(&flow("cubic"), HOSTS), ["flows.f.tcp.fixed_point"]);
    assert_eq!(idle(&flow("lia"), HOSTS), ["flows.f.tcp.hystart"]);
    assert_eq!(idle(&flow("reno"), HOSTS), ["flows.f.tcp.fixed_point", "flows.f.tcp.hystart"]);
    assert_eq!(idle_with(&flow("lia"), HOSTS, &["flows.f.congestion=cubic"]), [""; 0], "another one for once");
    let sweep = format!("{HOSTS}[sweep]\nflows.f.congestion = [\"lia\", \"cubic\"]\n");
    assert_eq!(idle(&flow("reno"), &sweep), [""; 0], "each has an effect at one point");
    let hosts = "[tcp]\ncmt_rpv2 = \"kernel-module\"\n[hosts.a]\ninterfaces = [\"x\"]\n\
                 tcp = { two_segment_floor = true }\n[hosts.b]\ninterfaces = [\"x\"]\n";
    let mptcp = |congestion: &str| format!("protocol = \"mptcp\"\ncongestion = \"{congestion}\"\n");
    assert_eq!(idle(&mptcp("balia"), hosts), ["hosts.a.tcp.two_segment_floor", "tcp.cmt_rpv2"]);
    assert_eq!(idle(&mptcp("cmt-rpv2"), hosts), [""; 0]);
    let udp = "protocol = \"udp\"\non_off = { rate = \"1 Mbit/s\" }\n";
    assert_eq!(idle(udp, hosts).len(), 2);
}

#[test]
fn traces_that_begin_after_the_end_of_the_run_are_told() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
    write("early.up", "999\n1000\n");
    write("late.up", "1000\n2000\n");
    write("changes.csv", "time_s,rate_mbit_s\n0.5,1\n2,2\n");
    let said = |rate: &str, at: &str, set: &[&str]| {
        let text = format!(
            "duration = \"1 s\"\n{HOSTS}[links.l]\nbetween = [\"a\", \"b\"]\nrate = {rate}\n\
             [flows.f]\nfrom = \"a\"\nto = \"b\"\n[[timeline]]\nat = \"{at}\"\nlink = \"l\"\n\
             trace = \"changes.csv\"\n"
        );
        let mut document = Document::parse(&folder.path().join("late.toml"), text).expect("TOML");
        set.iter().for_each(|set| document.set("--set", set).expect("it is good"));
        let plan = Plan::read(document).unwrap_or_else(|problems| panic!("{problems}"));
        plan.without_effect.into_iter().map(|problem| problem.message).collect::<Vec<_>>()
    };
    assert_eq!(said("\"early.up\"", "499 ms", &[]), [""; 0]);
    let nothing = "the trace lets the first packet through after 1 s, and the run ends after 1 s: nothing passes";
    assert_eq!(said("\"late.up\"", "0 s", &[]), [format!("links.l.rate: {nothing}")]);
    let one_way = said("{ up = \"1 Mbit/s\", down = \"late.up\" }", "0 s", &[]);
    assert_eq!(one_way, [format!("links.l.rate: {nothing}")]);
    let late = "timeline.trace has no effect: its first change comes after 1 s, and the run ends after 1 s";
    assert_eq!(said("\"1 Mbit/s\"", "500 ms", &[]), [late]);
    assert_eq!(said("\"early.up\"", "499 ms", &["duration=\"500 ms\""]), [""; 0], "the run is shorter for once");
}
