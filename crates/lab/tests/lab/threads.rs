//! A run on several threads has the results of one thread, to the byte.

use std::fmt::Write;
use std::path::Path;

use proptest::prelude::*;
use subflow_lab::results::{Engine, RunResult};
use subflow_lab::simulate::{Division, RunOptions, Undivided, simulate};
use subflow_quantity::Duration;
use subflow_scenario::Scenario;
use subflow_scenario::file::Document;
use subflow_scenario::sweep::Plan;

fn options(threads: usize, series: bool) -> RunOptions {
    RunOptions { threads, series, paths: series, ..RunOptions::default() }
}

/// The result as JSON, without its CPU time.
fn json(scenario: &Scenario, options: &RunOptions) -> String {
    let result = simulate(scenario, scenario.seed, options).expect("it runs");
    let engine = Engine { cpu_s: 0.0, ..result.engine };
    serde_json::to_string(&RunResult { engine, ..result }).expect("results are plain data")
}

fn parsed(text: String) -> Scenario {
    Scenario::read(&Document::parse(Path::new("threads.toml"), text).expect("TOML")).expect("a valid scenario")
}

#[test]
fn every_example_has_the_results_of_one_thread() {
    let mut divided = 0;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut files: Vec<_> = folder.read_dir().expect("the folder").map(|entry| entry.expect("a file").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    for file in &files {
        let plan = Plan::read(Document::load(file).expect("TOML")).expect("a valid scenario");
        let whole = &*plan.points[0].scenario;
        let duration = whole.duration.min(Duration::from_secs(1));
        let scenario = &Scenario { duration, measure_from: whole.measure_from.min(duration / 2), ..whole.clone() };
        let dividable = [2, 3].map(|threads| options(threads, true)).into_iter();
        let dividable: Vec<_> = dividable.filter(|options| Division::of(scenario, options).is_ok()).collect();
        if dividable.is_empty() {
            continue;
        }
        let expected = json(scenario, &options(1, true));
        for options in dividable {
            divided += 1;
            assert_eq!(json(scenario, &options), expected, "{} on {} threads", file.display(), options.threads);
        }
    }
    assert!(divided >= files.len(), "only {divided} of {} runs were divided", 2 * files.len());
}

/// A line of routers, with hosts of two interfaces, and flows between them.
fn line(mode: &str, delays: &[u64], flows: &[(usize, usize, usize)], change: bool) -> String {
    let routers = delays.len() + 1;
    let mut text = format!("duration = '300 ms'\n[routing]\nmode = '{mode}'\n[routers]\n");
    (0..routers).for_each(|n| _ = writeln!(text, "r{n} = {{}}"));
    text += "[hosts]\n";
    (0..2 * routers).for_each(|n| _ = writeln!(text, "h{n} = ['x', 'y']"));
    let mut link = |name: String, ends: [String; 2], us: u64| {
        let queue = match name.starts_with('m') {
            true => "{ discipline = 'fq-codel', limit = '20 packets', target = '1 ms', interval = '10 ms' }",
            false => "'20 packets'",
        };
        let _ = write!(
            text,
            "[links.{name}]\nbetween = ['{}', '{}']\nrate = '20 Mbit/s'\ndelay = '{us} us'\nqueue = {queue}\n\
             loss = '0.2 %'\n",
            ends[0], ends[1]
        );
    };
    for (n, &us) in delays.iter().enumerate() {
        link(format!("l{n}"), [format!("r{n}"), format!("r{}", n + 1)], us);
        link(format!("m{n}"), [format!("r{n}"), format!("r{}", n + 1)], us);
    }
    for host in 0..2 * routers {
        link(format!("x{host}"), [format!("h{host}.x"), format!("r{}", host / 2)], 500);
        link(format!("y{host}"), [format!("h{host}.y"), format!("r{}", (host / 2 + 1) % routers)], 700);
    }
    for (n, &(from, to, kind)) in flows.iter().enumerate() {
        let (from, to) = (from % (2 * routers), to % (2 * routers));
        let to = if from == to { (to + 1) % (2 * routers) } else { to };
        let traffic = [
            "protocol = 'tcp'\nsend = '200 kB'",
            "protocol = 'mptcp'",
            "protocol = 'mptcp'\nrequests = { response = '20 kB', think = '5 ms' }",
            "protocol = 'sctp'\nstop = '200 ms'",
            "protocol = 'udp'\non_off = { rate = '1 Mbit/s' }",
        ][kind % 5];
        let _ = write!(text, "[flows.f{n}]\nfrom = 'h{from}'\nto = 'h{to}'\n{traffic}\n");
    }
    if change {
        text += "[[timeline]]\nat = '100 ms'\nlink = 'l0'\ndown = true\n[[timeline]]\nat = '150 ms'\nlink = 'l0'\nup = true\n";
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn generated_networks_have_the_results_of_one_thread(
        mode in prop::sample::select(vec!["shortest-path", "ecmp-flow", "ecmp-packet", "multiflow"]),
        delays in prop::collection::vec(prop::sample::select(vec![0u64, 500, 500, 1000, 3000]), 1..5),
        flows in prop::collection::vec((0usize..100, 0usize..100, 0usize..5), 1..6),
        change: bool,
        threads in 2usize..4,
        series: bool,
    ) {
        let scenario = parsed(line(mode, &delays, &flows, change));
        prop_assert_eq!(json(&scenario, &options(threads, series)), json(&scenario, &options(1, series)));
    }
}

#[test]
fn what_cannot_be_divided_says_why() {
    let why = |mode, delays: &[u64], threads| {
        Division::of(&parsed(line(mode, delays, &[(0, 9, 1)], false)), &options(threads, false)).map(|d| d.parts())
    };
    assert_eq!(why("shortest-path", &[500; 4], 1), Err(Undivided::OneThread));
    assert_eq!(why("multiflow", &[500; 4], 2), Err(Undivided::Controller));
    assert_eq!(why("ecmp-packet", &[500; 4], 3), Ok(3));
    let text = "[hosts]\na = ['x']\nb = ['x']\n[links.l]\nbetween = ['a', 'b']\nrate = '1 Mbit/s'\n\
                [flows.f]\nfrom = 'a'\nto = 'b'\n";
    assert_eq!(Division::of(&parsed(text.to_owned()), &options(2, false)).map(|d| d.parts()), Err(Undivided::Together));
}
