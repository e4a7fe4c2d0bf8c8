//! Everything that can be wrong with a scenario, and what is said about it.

use std::path::Path;

use miette::{GraphicalReportHandler, GraphicalTheme};
use subflow_scenario::file::{Document, Problems};
use subflow_scenario::sweep::Plan;

/// A good scenario, to be spoiled one line at a time.
const GOOD: &str = r#"title = "Two paths"
duration = "30 s"

[hosts]
phone = ["wifi", "lte"]
server = ["eth"]

[routers]
internet = {}

[links.wifi]
between = ["phone.wifi", "internet"]
rate = "50 Mbit/s"
delay = "10 ms"
queue = "100 packets"
loss = "0.5 %"

[links.lte]
between = ["phone.lte", "internet"]
rate = "20 Mbit/s"

[links.core]
between = ["internet", "server.eth"]
rate = "1 Gbit/s"

[flows.album]
from = "phone"
to = "server"
protocol = "mptcp"
congestion = "lia"
send = "100 MB"

[[timeline]]
at = "10 s"
link = "wifi"
down = true
"#;

/// What each case replaces in the good scenario, and by what.
const CASES: &[(&str, &str, &str)] = &[
    ("not TOML", "title = \"Two paths\"", "title = Two paths"),
    ("unknown key at the top", "duration = ", "durations = "),
    ("unknown key of a link", "queue = \"100 packets\"", "que = \"100 packets\""),
    ("unknown key of a flow", "congestion = ", "congestoin = "),
    ("a key that looks like nothing", "send = ", "colour = "),
    ("unknown algorithm", "\"lia\"", "\"lai\""),
    ("unknown scheduler", "send = ", "scheduler = \"fastest\"\nsend = "),
    ("a scheduler's option that nobody has", "send = ", "scheduler = { name = \"ecf\", gamma = 1 }\nsend = "),
    ("an option of another scheduler", "send = ", "scheduler = { name = \"ll\", beta = \"1/4\" }\nsend = "),
    ("an option that is no ratio", "send = ", "scheduler = { name = \"ecf\", beta = \"a quarter\" }\nsend = "),
    ("an option out of bounds", "send = ", "scheduler = { name = \"ecf\", beta = 11 }\nsend = "),
    ("bounds the wrong way round", "send = ", "scheduler = { name = \"blest\", lambda_min = 1.25 }\nsend = "),
    ("a scheduler without a name", "send = ", "scheduler = { beta = \"1/4\" }\nsend = "),
    ("unknown path manager", "send = ", "path_manager = \"fullmsh\"\nsend = "),
    ("ndiffports of none", "send = ", "path_manager = { name = \"ndiffports\", n = 0 }\nsend = "),
    ("ndiffports of more than there can be", "send = ", "path_manager = { name = \"ndiffports\", n = 65 }\nsend = "),
    ("ndiffports above the limit", "send = ", "path_manager = { name = \"ndiffports\", n = 40 }\nsend = "),
    ("an option of another path manager", "send = ", "path_manager = { name = \"full-mesh\", n = 4 }\nsend = "),
    ("binder without gateways", "send = ", "path_manager = \"binder\"\nsend = "),
    ("a gateway that is no router", "[\"wifi\", \"lte\"]", "[{ name = \"wifi\", gateways = [\"internt\"] }, \"lte\"]"),
    (
        "more gateways than addresses",
        "[\"wifi\", \"lte\"]",
        "[{ name = \"wifi\", gateways = [\"internet\", \"internet\"] }, \"lte\"]",
    ),
    (
        "gateways where packets take turns",
        "[\"wifi\", \"lte\"]\nserver = [\"eth\"]\n\n[routers]\ninternet = {}",
        "[{ name = \"wifi\", gateways = [\"internet\"] }, \"lte\"]\nserver = [\"eth\"]\n\n[routers]\ninternet = { routing = \"ecmp-packet\" }",
    ),
    (
        "a gateway that nobody reaches",
        "[\"wifi\", \"lte\"]\nserver = [\"eth\"]\n\n[routers]\ninternet = {}",
        "[{ name = \"wifi\", gateways = [\"far\"] }, \"lte\"]\nserver = [\"eth\"]\nisle = [\"eth\"]\n\n[routers]\ninternet = {}\nfar = {}\n[links.far]\nbetween = [\"isle\", \"far\"]\nrate = \"1 Mbit/s\"",
    ),
    ("an event of nobody", "link = \"wifi\"\ndown", "down"),
    ("an event of two", "link = \"wifi\"\ndown", "link = \"wifi\"\ninterface = \"phone.wifi\"\ndown"),
    ("an interface that nothing happens to", "link = \"wifi\"\ndown = true", "interface = \"phone.wifi\""),
    ("an interface with a rate", "link = \"wifi\"\ndown = true", "interface = \"phone.wifi\"\nrate = \"1 Mbit/s\""),
    ("nobody's address", "link = \"wifi\"\ndown", "address = \"192.0.2.1\"\ndown"),
    ("unknown detector", "send = ", "bottleneck = \"red-cpy\"\nsend = "),
    ("unknown coupling", "send = ", "coupling = \"bottleneck\"\nsend = "),
    ("a detector without a name", "send = ", "bottleneck = { window = 50 }\nsend = "),
    ("a threshold above one", "send = ", "bottleneck = { detector = \"mscm\", threshold = 1.2 }\nsend = "),
    ("a threshold below zero", "send = ", "bottleneck = { detector = \"red-cpi\", threshold = -0.1 }\nsend = "),
    ("a window of too few values", "send = ", "bottleneck = { detector = \"red-cpi\", window = 2 }\nsend = "),
    ("a base interval of zero", "send = ", "bottleneck = { detector = \"rfc8382\", interval = \"0 s\" }\nsend = "),
    ("unknown protocol", "\"mptcp\"", "\"mtcp\""),
    ("unknown profile", "[hosts]", "profile = \"linux-6.1\"\n[hosts]"),
    ("unknown topology", "[hosts]", "[topology]\nkind = \"fat-trie\"\nrate = \"1 Gbit/s\"\n\n[hosts]"),
    ("a fat tree of an odd k", "[hosts]", "[topology]\nkind = \"fat-tree\"\nk = 5\nrate = \"1 Gbit/s\"\n\n[hosts]"),
    ("a size of another shape", "[hosts]", "[topology]\nkind = \"ring\"\nk = 4\nrate = \"1 Gbit/s\"\n\n[hosts]"),
    ("a ring of two", "[hosts]", "[topology]\nkind = \"ring\"\nswitches = 2\nrate = \"1 Gbit/s\"\n\n[hosts]"),
    (
        "a topology of too many links",
        "[hosts]",
        "[topology]\nkind = \"ring\"\nswitches = 1000\nhosts = 1000\nrate = \"1 Gbit/s\"\n\n[hosts]",
    ),
    (
        "a host that the topology has, too",
        "[hosts]",
        "[topology]\nkind = \"dumbbell\"\nrate = \"1 Gbit/s\"\n\n[hosts]\nh0 = [\"eth\"]",
    ),
    (
        "a topology that no link joins to the rest",
        "[flows.album]\nfrom = \"phone\"\nto = \"server\"",
        "[topology]\nkind = \"dumbbell\"\nrate = \"1 Gbit/s\"\n\n[flows.album]\nfrom = \"phone\"\nto = \"h0\"",
    ),
    ("unknown routing of a router", "internet = {}", "internet = { routing = \"ecmp\" }"),
    ("unknown routing mode", "[hosts]", "[routing]\nmode = \"multi-flow\"\n\n[hosts]"),
    ("a controller's key for ECMP", "[hosts]", "[routing]\nmode = \"ecmp-flow\"\nties = \"random\"\n\n[hosts]"),
    ("sets of no path", "[hosts]", "[routing]\nmode = \"disjoint\"\ndisjoint_set = 0\n\n[hosts]"),
    ("re-routing before the failure", "[hosts]", "[routing]\nreroute_after = \"-1 ms\"\n\n[hosts]"),
    (
        "a router that escapes the controller",
        "[routers]",
        "[routing]\nmode = \"multiflow\"\n\n[routers]\nlonely = { routing = \"ecmp-flow\" }",
    ),
    ("no unit", "rate = \"50 Mbit/s\"", "rate = 50"),
    ("no unit in quotes", "delay = \"10 ms\"", "delay = \"10\""),
    ("no unit of a queue", "queue = \"100 packets\"", "queue = 100"),
    ("no unit of a loss", "loss = \"0.5 %\"", "loss = 0.005"),
    ("wrong unit", "delay = \"10 ms\"", "delay = \"10 MS\""),
    ("a unit of something else", "send = \"100 MB\"", "send = \"100 Mbit/s\""),
    ("negative rate", "rate = \"50 Mbit/s\"", "rate = \"-50 Mbit/s\""),
    ("negative number as rate", "rate = \"50 Mbit/s\"", "rate = -50"),
    ("zero rate", "rate = \"50 Mbit/s\"", "rate = \"0 Mbit/s\""),
    ("zero size", "send = \"100 MB\"", "send = \"0 MB\""),
    ("zero duration", "duration = \"30 s\"", "duration = \"0 s\""),
    ("zero queue", "queue = \"100 packets\"", "queue = \"0 packets\""),
    ("queue below one packet", "queue = \"100 packets\"", "queue = \"1 kB\""),
    ("a loss above 100 %", "loss = \"0.5 %\"", "loss = \"101 %\""),
    ("a bucket below a packet", "rate = \"50 Mbit/s\"", "rate = { rate = \"50 Mbit/s\", burst = \"1 kB\" }"),
    ("a bucket without size", "rate = \"50 Mbit/s\"", "rate = { rate = \"50 Mbit/s\" }"),
    (
        "a peak below the rate",
        "rate = \"50 Mbit/s\"",
        "rate = { rate = \"50 Mbit/s\", burst = \"10 kB\", peak_rate = \"9 Mbit/s\" }",
    ),
    (
        "a distribution that is none",
        "delay = \"10 ms\"",
        "delay = \"10 ms\"\njitter = { deviation = \"1 ms\", distribution = \"gauss\" }",
    ),
    ("nothing to skip", "delay = \"10 ms\"", "reorder = { probability = \"5 %\" }"),
    ("a gap of none", "delay = \"10 ms\"", "delay = \"10 ms\"\nreorder = { probability = \"5 %\", gap = 0 }"),
    (
        "two ways to reorder",
        "delay = \"10 ms\"",
        "delay = \"10 ms\"\nreorder = { probability = \"5 %\", extra_delay = \"9 ms\", gap = 2 }",
    ),
    ("wrong type", "duration = \"30 s\"", "duration = [30]"),
    ("a rate that is a path of nothing", "rate = \"50 Mbit/s\"", "rate = \"fast\""),
    ("only one direction of a rate", "rate = \"50 Mbit/s\"", "rate = { up = \"50 Mbit/s\" }"),
    ("a RED parameter of drop-tail", "queue = \"100 packets\"", "queue = { weight = 0.1 }"),
    ("RED without a limit", "queue = \"100 packets\"", "queue = { discipline = \"red\", limit = \"unlimited\" }"),
    (
        "RED thresholds in another unit",
        "queue = \"100 packets\"",
        "queue = { discipline = \"red\", min_threshold = \"5 kB\" }",
    ),
    (
        "RED thresholds the wrong way round",
        "queue = \"100 packets\"",
        "queue = { discipline = \"red\", min_threshold = \"60 packets\" }",
    ),
    ("unknown discipline", "queue = \"100 packets\"", "queue = { discipline = \"codle\" }"),
    ("unknown loss model", "loss = \"0.5 %\"", "loss = { model = \"gilbert\" }"),
    (
        "a loss model without its parameter",
        "loss = \"0.5 %\"",
        "loss = { model = \"gilbert-elliott\", good_to_bad = \"1 %\" }",
    ),
    ("warm-up of the whole run", "[hosts]", "warm_up = \"30 s\"\n[hosts]"),
    ("missing key", "between = [\"phone.lte\", \"internet\"]\n", ""),
    ("no flows", "[flows.album]\n", "[flowers.album]\n"),
    ("flow from an unknown host", "from = \"phone\"", "from = \"fone\""),
    ("flow from a router", "from = \"phone\"", "from = \"internet\""),
    ("flow from an unknown interface", "from = \"phone\"", "from = \"phone.wify\""),
    ("flow to itself", "to = \"server\"", "to = \"phone\""),
    ("link to an unknown node", "\"internet\", \"server.eth\"", "\"internett\", \"server.eth\""),
    ("link to a host with two interfaces", "\"phone.lte\", ", "\"phone\", "),
    ("an interface on two links", "\"phone.lte\", ", "\"phone.wifi\", "),
    ("one end", "\"phone.lte\", \"internet\"", "\"phone.lte\""),
    ("a loop", "\"phone.lte\", \"internet\"", "\"internet\", \"internet\""),
    ("duplicate link", "[links.core]", "[links.wifi]"),
    ("an interface never linked", "[\"wifi\", \"lte\"]", "[\"wifi\", \"lte\", \"bluetooth\"]"),
    ("a router never linked", "internet = {}", "internet = {}\nspare = {}"),
    ("an interface named twice", "[\"wifi\", \"lte\"]", "[\"wifi\", \"wifi\"]"),
    ("a host without interfaces", "server = [\"eth\"]", "server = []"),
    ("a host named like a router", "internet = {}", "internet = {}\nserver = {}"),
    ("a bad name", "phone = ", "\"my phone\" = "),
    ("a bad address", "[\"eth\"]", "[{ name = \"eth\", address = \"10.0.0\" }]"),
    ("an address for one link", "[\"eth\"]", "[{ name = \"eth\", address = [\"fd00::1\", \"fe80::1\"] }]"),
    ("an address with a scope", "[\"eth\"]", "[{ name = \"eth\", address = \"fe80::1%eth\" }]"),
    ("two kinds of traffic", "send = ", "requests = { response = \"1 MB\" }\nsend = "),
    ("a rate over TCP", "send = \"100 MB\"", "on_off = { rate = \"5 Mbit/s\" }"),
    ("UDP without a rate", "protocol = \"mptcp\"\ncongestion = \"lia\"\nsend = \"100 MB\"", "protocol = \"udp\""),
    ("UDP with congestion control", "protocol = \"mptcp\"", "protocol = \"udp\""),
    ("MPTCP keys of a flow that forgot to say so", "protocol = \"mptcp\"\n", "scheduler = \"ll\"\n"),
    ("start after the end", "send = ", "start = \"31 s\"\nsend = "),
    ("stop before the start", "send = ", "start = \"5 s\"\nstop = \"4 s\"\nsend = "),
    ("a port out of bounds", "send = ", "port = 70000\nsend = "),
    ("a fraction of a packet", "send = ", "tcp = { initial_window = 1.5 }\nsend = "),
    ("an unknown way to grow SCTP's windows", "send = ", "sctp = { window_growth = \"cuc2\" }\nsend = "),
    (
        "SCTP messages with a lifetime and a count",
        "send = ",
        "sctp = { lifetime = \"1 s\", max_retransmissions = 3 }\nsend = ",
    ),
    (
        "SCTP messages without end that all expire at once",
        "protocol = \"mptcp\"\ncongestion = \"lia\"\nsend = \"100 MB\"",
        "protocol = \"sctp\"\nsctp = { lifetime = \"1 s\" }",
    ),
    (
        "requests that SCTP may give up",
        "protocol = \"mptcp\"\ncongestion = \"lia\"\nsend = \"100 MB\"",
        "protocol = \"sctp\"\nrequests = { response = \"1 kB\" }\nsctp = { max_retransmissions = 0 }",
    ),
    (
        "exchanges whose messages have a lifetime in the whole scenario",
        "protocol = \"mptcp\"\ncongestion = \"lia\"\nsend = \"100 MB\"",
        "protocol = \"sctp\"\nrequests = { response = \"1 kB\" }\n[sctp]\nlifetime = \"1 s\"",
    ),
    ("SCTP timeouts the wrong way round", "send = ", "sctp = { min_rto = \"2 s\", max_rto = \"1 s\" }\nsend = "),
    ("a burst of no packets", "send = ", "sctp = { max_burst = 0 }\nsend = "),
    ("a primary path to another host", "\"mptcp\"", "\"sctp\"\nprimary = \"phone.wifi\""),
    (
        "a primary path of UDP",
        "protocol = \"mptcp\"\ncongestion = \"lia\"",
        "protocol = \"udp\"\nprimary = \"server.eth\"",
    ),
    ("acknowledgments without gap blocks", "send = ", "sctp = { max_gap_blocks = 0 }\nsend = "),
    ("data further ahead than can be told", "send = ", "sctp = { most_tsns_ahead = 65536 }\nsend = "),
    ("a packet that is half allowed", "send = ", "sctp = { single_fast_packet = \"often\" }\nsend = "),
    ("heartbeats every 0 s", "send = ", "sctp = { heartbeat_interval = \"0 s\" }\nsend = "),
    ("SCTP keys of a flow that forgot to say so", "protocol = \"mptcp\"\n", "sctp = { cmt = true }\n"),
    ("a switch in quotes", "send = ", "tcp = { sack = \"yes\" }\nsend = "),
    ("more periods than a byte counts", "send = ", "mptcp = { stale_loss_count = 255 }\nsend = "),
    ("too many subflows", "send = ", "mptcp = { max_subflows = 100 }\nsend = "),
    (
        "two subflows in one place",
        "send = ",
        "subflows = [{ from = \"phone.lte\", to = \"server\", source_port = 9 }, \
         { from = \"phone.lte\", to = \"server\", source_port = 9 }]\nsend = ",
    ),
    ("a sample every nanosecond", "[hosts]", "sample_interval = \"1 ns\"\n[hosts]"),
    ("a last seed beyond the largest", "[hosts]", "seed = 9007199254740991\nrepeat = 2\n[hosts]"),
    (
        "more packets than can be",
        "protocol = \"mptcp\"\ncongestion = \"lia\"\nsend = \"100 MB\"",
        "protocol = \"udp\"\non_off = { rate = \"1000 Gbit/s\", packet = \"1 B\" }",
    ),
    ("event after the end", "at = \"10 s\"", "at = \"40 s\""),
    ("event of an unknown link", "link = \"wifi\"", "link = \"wlan\""),
    ("event that does nothing", "down = true\n", ""),
    ("event that says no", "down = true", "down = false"),
    ("event both ways", "down = true", "down = true\nup = true"),
    (
        "two problems at once",
        "rate = \"20 Mbit/s\"\n\n[links.core]\nbetween",
        "rate = \"20 Mbits\"\n\n[links.core]\nbetwen",
    ),
];

/// Lines appended to the good scenario.
const SWEEPS: &[(&str, &str)] = &[
    ("a sweep over the sweep", "[sweep]\n\"sweep.x\" = [1, 2]\n"),
    ("a sweep over itself", "[sweep]\n\"sweep\" = [1, 2]\n"),
    ("an empty sweep list", "[sweep]\n\"flows.album.congestion\" = []\n"),
    ("an empty sweep", "[sweep]\n"),
    ("one value", "[sweep]\n\"flows.album.congestion\" = \"lia\"\n"),
    ("a bad value in the list", "[sweep]\n\"flows.album.congestion\" = [\"lia\", \"oila\"]\n"),
    ("an unknown key", "[sweep]\n\"flows.album.congestoin\" = [\"lia\"]\n"),
    ("an unknown flow", "[sweep]\n\"flows.albun.congestion\" = [\"lia\"]\n"),
    ("an unknown section", "[sweep]\n\"flow.album.congestion\" = [\"lia\"]\n"),
    ("a value swept twice", "[sweep]\nlinks.wifi.loss = [\"1 %\"]\n\"links.lte.loss, links.wifi.loss\" = [\"1 %\"]\n"),
    ("part of another sweep", "[sweep]\n\"flows.album\" = [{}]\n\"flows.album.send\" = [\"1 MB\"]\n"),
    ("too few values for paths that move together", "[sweep]\n\"links.wifi.loss, links.lte.loss\" = [[\"1 %\"]]\n"),
    ("no path", "[sweep]\n\"flows..album\" = [1]\n"),
    ("through a value", "[sweep]\n\"links.wifi.rate.up\" = [\"1 Mbit/s\"]\n"),
];

/// What is given with --set.
const SETS: &[(&str, &str)] = &[
    ("an unknown algorithm", "flows.album.congestion=lai"),
    ("an unknown link", "links.wfi.rate=1 Mbit/s"),
    ("an unknown key", "links.wifi.rte=1 Mbit/s"),
    ("no unit", "links.wifi.rate=20"),
    ("no =", "links.wifi.rate"),
    ("no path", "=20"),
    ("a position that is not there", "timeline.7.at=1 s"),
    ("an event after the end", "duration=5 s"),
    ("a value that is swept together with another", "links.wifi.loss=2 %"),
];

fn read(text: &str, sets: &[&str]) -> Result<Plan, Problems> {
    let mut document = Document::parse(Path::new("bad.toml"), text.to_owned())?;
    for set in sets {
        document.set("--set", set)?;
    }
    Plan::read(document)
}

fn rendered(name: &str, outcome: Result<Plan, Problems>) -> String {
    wrapped(100, name, outcome)
}

fn wrapped(width: usize, name: &str, outcome: Result<Plan, Problems>) -> String {
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor());
    let handler = handler.with_width(width).with_links(false).with_context_lines(1);
    let mut text = format!("=== {name}\n");
    for problem in outcome.err().unwrap_or_else(|| panic!("{name}: no problem was found")).0 {
        handler.render_report(&mut text, &problem).expect("spans lie within the text");
    }
    text
}

fn spoiled(from: &str, to: &str) -> String {
    assert_eq!(GOOD.matches(from).count(), 1, "{from:?} stands once in the good scenario");
    GOOD.replacen(from, to, 1)
}

#[test]
fn the_good_scenario_is_good() {
    assert_eq!(read(GOOD, &[]).map(|plan| plan.jobs().len()).map_err(|p| p.to_string()), Ok(1));
}

#[test]
fn bad_values() {
    let messages: Vec<String> =
        CASES.iter().map(|(name, from, to)| rendered(name, read(&spoiled(from, to), &[]))).collect();
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn bad_sweeps() {
    let messages: Vec<String> =
        SWEEPS.iter().map(|(name, lines)| rendered(name, read(&format!("{GOOD}\n{lines}"), &[]))).collect();
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn bad_sets() {
    let swept = format!("{GOOD}[sweep]\n\"links.wifi.loss, links.lte.loss\" = [\"1 %\"]\n");
    let messages: Vec<String> = SETS.iter().map(|(name, set)| rendered(name, read(&swept, &[set]))).collect();
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn bad_traces() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let traces: [(&str, &[u8]); 5] = [
        ("truncated", b"10\n1240\n124"),
        ("falling", b"10\n1240\n1239\n"),
        ("words", b"10\nfast\n"),
        ("empty", b""),
        ("not text", b"10\n\xff\n"),
    ];
    let text = spoiled("rate = \"50 Mbit/s\"", "rate = { up = \"wifi.up\", down = \"50 Mbit/s\" }");
    let mut messages = String::new();
    for (name, bytes) in traces {
        std::fs::write(folder.path().join("wifi.up"), bytes).expect("written");
        let document = Document::parse(&folder.path().join("bad.toml"), text.clone()).expect("TOML");
        // The folder's name has some length or other: nothing is wrapped.
        messages += &wrapped(1000, name, Plan::read(document)).replace(&folder.path().display().to_string(), "DIR");
    }
    insta::assert_snapshot!(messages);
}
