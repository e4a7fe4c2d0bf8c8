//! `pairs`: many flows between many hosts.

use std::collections::BTreeSet;
use std::path::Path;

use subflow_quantity::Duration;
use subflow_scenario::file::Document;
use subflow_scenario::{Scenario, Traffic};

/// Ten hosts around a router, and the flow `f`.
fn read_in(folder: &Path, flow: &str) -> Result<Scenario, String> {
    let hosts: String = (0..10).map(|n| format!("h{n} = ['eth']\n")).collect();
    let links: String = (0..10)
        .map(|n| format!("[links.l{n}]\nbetween = ['h{n}', 'r']\nrate = '1 Gbit/s'\ndelay = '1 us'\n"))
        .collect();
    let text = format!("duration = '1 s'\n[hosts]\n{hosts}[routers]\nr = {{}}\n{links}[flows.f]\n{flow}\n");
    let document = Document::parse(&folder.join("pairs.toml"), text).expect("it is TOML");
    Scenario::read(&document).map_err(|problems| problems.to_string())
}

fn read(flow: &str) -> Scenario {
    read_in(Path::new(""), flow).unwrap_or_else(|problems| panic!("{problems}"))
}

fn ends(scenario: &Scenario) -> Vec<(usize, usize)> {
    scenario.flows.iter().map(|flow| (flow.from.host, flow.to.host)).collect()
}

#[test]
fn a_permutation_sends_from_each_host_to_another_and_to_each_once() {
    let mut different = BTreeSet::new();
    for seed in 1..=20 {
        let scenario = read(&format!("from = 'h*'\nto = 'h*'\npairs = 'permutation'\npairs_seed = {seed}"));
        let ends = ends(&scenario);
        assert!(ends.iter().all(|(from, to)| from != to), "{ends:?}");
        let (from, to): (BTreeSet<_>, BTreeSet<_>) = ends.iter().copied().unzip();
        assert_eq!((from.len(), to.len(), ends.len()), (10, 10, 10));
        different.insert(ends);
    }
    assert!(different.len() >= 19, "{} different ones", different.len());
    let again = || ends(&read("from = 'h*'\nto = 'h*'\npairs = 'permutation'"));
    assert_eq!(again(), again());
}

#[test]
fn patterns_have_their_pairs() {
    let pairs = |keys: &str| ends(&read(keys));
    let incast = pairs("from = 'h*'\nto = 'h3'\npairs = 'all-to-one'");
    assert!(incast.len() == 9 && incast.iter().all(|(from, to)| *to == 3 && *from != 3));
    let all: BTreeSet<_> = pairs("from = 'h*'\nto = 'h*'\npairs = 'all-to-all'").into_iter().collect();
    assert_eq!(all.len(), 90);
    assert_eq!(pairs("from = 'h*'\nto = 'h*'\npairs = 'stride 4'")[7], (7, 1));
    let random = pairs("from = 'h*'\nto = 'h*'\npairs = 'random'");
    assert!(random.len() == 10 && random.iter().enumerate().all(|(host, (from, to))| *from == host && from != to));
    let some: BTreeSet<usize> = random.iter().map(|(_, to)| *to).collect();
    assert!(some.len() > 2 && some.len() < 10, "not a permutation, almost surely: {random:?}");
}

#[test]
fn flows_of_pairs_are_a_group_with_ports_and_arrivals() {
    let scenario = read(
        "from = 'h*'\nto = 'h0'\npairs = 'all-to-one'\ncount = 2\narrivals = '1 ms'\nsend = { exponential = '10 kB' }",
    );
    assert_eq!(scenario.flows.len(), 18);
    let last = &scenario.flows[17];
    assert_eq!((last.name.as_str(), last.key(), last.start), ("f.18", "f", Duration::from_millis(17)));
    let ports: BTreeSet<u16> = scenario.flows.iter().map(|flow| flow.port).collect();
    assert_eq!(ports.len(), 18, "all go to one host");
    let sizes = |seed| scenario.drawn(seed).flows.iter().map(|flow| flow.traffic.clone()).collect::<Vec<_>>();
    assert_ne!(sizes(1), sizes(2));
    assert_eq!(ends(&scenario.drawn(1)), ends(&scenario.drawn(2)), "the pairs are part of the scenario");
    let starts: Vec<Duration> = scenario.drawn(9).flows.iter().map(|flow| flow.start).collect();
    assert_eq!(starts, (0..18).map(Duration::from_millis).collect::<Vec<_>>());
}

#[test]
fn lists_of_flows_are_read_as_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
    write("htsim.cm", "Nodes 10\nConnections 2\n0->3 id 1 start 0 size 100000\n9->2 id 2 start 1000000000 size 5000\n");
    write("hpcc.txt", "2\n0 3 3 100 100000 2.0\n9 2 3 100 5000 2.001\n");
    write("own.csv", "from,to,bytes,start_s\nh0,h3,100000,0\nh9,h2,5000,0.001\n");
    for name in ["htsim.cm", "hpcc.txt", "own.csv"] {
        let keys = format!("from = 'h*'\nto = 'h*'\npairs = './{name}'\nstart = '10 ms'");
        let scenario = read_in(folder.path(), &keys).expect("it is good");
        assert_eq!(ends(&scenario), [(0, 3), (9, 2)], "{name}");
        let drawn = scenario.drawn(5);
        let flows: Vec<_> = drawn.flows.iter().map(|flow| (flow.traffic.clone(), flow.start.as_micros())).collect();
        let bulk = |bytes| Traffic::Bulk { bytes: Some(bytes) };
        assert_eq!(flows, [(bulk(100_000), 10_000), (bulk(5000), 11_000)], "{name}");
    }
    let wrong = |keys: &str| read_in(folder.path(), keys).expect_err("it is wrong");
    let sizes = wrong("from = 'h*'\nto = 'h*'\npairs = 'own.csv'\nsend = '1 MB'");
    assert!(sizes.contains("a list of flows that has their sizes"), "{sizes}");
    write("far.csv", "from,to\n0,10\n");
    let far = wrong("from = 'h*'\nto = 'h*'\npairs = 'far.csv'");
    let expected = "far.csv:2: found host \"10\", expected the name of a host that matches, or a number from 0 to 9";
    assert!(far.contains(expected), "{far}");
    write("self.csv", "from,to\nh1,h2\nh3,3\n");
    let itself = wrong("from = 'h*'\nto = 'h*'\npairs = 'self.csv'");
    assert!(itself.contains("self.csv:3: found a flow from host \"h3\" to itself"), "{itself}");
}

#[test]
fn what_is_wrong_in_a_matrix_or_a_flow_file_is_told_with_its_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let cases = [
        ("count.cm", "Nodes 10\nConnections 3\n0->3 id 1 start 0 size 1000\n", 2, "1, the number of flows"),
        ("arrow.cm", "Nodes 10\n0-3 id 1 start 0 size 1000\n", 2, "FROM->TO id N start PICOSECONDS size BYTES"),
        ("word.cm", "Nodes 10\n0->3 id 1 start soon size 1000\n", 2, "a number after start"),
        ("after.cm", "Nodes 10\n0->3 id 1 trigger 2 size 1000\n", 2, "a start time; triggers are not supported"),
        ("far.cm", "Nodes 20\n0->19 id 1 start 0 size 1000\n", 2, "or a number from 0 to 9"),
        ("none.cm", "Nodes 10\nConnections 0\n", 1, "a line for each flow"),
        ("count.txt", "2\n0 3 3 100 1000 2.0\n", 1, "1, the number of flows"),
        ("short.txt", "1\n0 3 3 100 1000\n", 2, "source, destination, priority group, port, bytes, start in seconds"),
        (
            "late.txt",
            "1\n0 3 3 100 1000 soon\n",
            2,
            "source, destination, priority group, port, bytes, start in seconds",
        ),
        ("far.txt", "1\n0 10 3 100 1000 2.0\n", 2, "or a number from 0 to 9"),
    ];
    for (name, text, line, expected) in cases {
        std::fs::write(folder.path().join(name), text).expect("written");
        let said = read_in(folder.path(), &format!("from = 'h*'\nto = 'h*'\npairs = './{name}'")).expect_err(name);
        assert!(said.contains(&format!("{name}:{line}: found")) && said.contains(expected), "{name}: {said}");
    }
}

#[test]
fn pairs_are_counted_before_they_are_made() {
    let text = "duration = '1 s'\n[topology]\nkind = 'fat-tree'\nk = 12\nrate = '1 Gbit/s'\ndelay = '1 us'\n[flows.f]\n\
                from = '*'\nto = '*'\npairs = 'all-to-all'\nsend = '1 kB'\n";
    let document = Document::parse(Path::new("pairs.toml"), text.to_owned()).expect("it is TOML");
    let problems = Scenario::read(&document).expect_err("432 hosts are too many").to_string();
    assert!(problems.contains("found 186192 pairs, expected at most 50000"), "{problems}");
}
