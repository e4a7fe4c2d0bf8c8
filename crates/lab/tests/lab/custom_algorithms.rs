//! Algorithms of another crate, by name in a scenario.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use subflow_lab::results::RunResult;
use subflow_lab::simulate::{RunOptions, simulate};
use subflow_policy::congestion::{self, Ack, CongestionControl, Lia};
use subflow_policy::custom::FlowEnd;
use subflow_policy::path_manager::{Command, Event, FullMesh, PathManager};
use subflow_policy::queue::{Arrival, QueueDiscipline, Verdict};
use subflow_policy::scheduler::{Assignment, LowestLatency, QueueView, Scheduler, SubflowView};
use subflow_quantity::{Duration, Instant};
use subflow_scenario::file::Document;
use subflow_scenario::{CustomAlgorithms, Scenario};

/// Does what `0` does, through the dynamic calls of a custom algorithm.
#[derive(Clone, Debug)]
struct Same<T>(T);

impl Scheduler for Same<LowestLatency> {
    fn next(&mut self, subflows: &[SubflowView], queue: &QueueView<'_>) -> Option<Assignment> {
        self.0.next(subflows, queue)
    }
}

impl CongestionControl for Same<Lia> {
    fn on_path_added(&mut self, paths: &[congestion::Path], path: usize) {
        self.0.on_path_added(paths, path);
    }
    fn on_ack(&mut self, paths: &mut [congestion::Path], path: usize, ack: &Ack) {
        self.0.on_ack(paths, path, ack);
    }
    fn ssthresh_after_loss(&mut self, paths: &[congestion::Path], path: usize, now: Instant) -> u32 {
        self.0.ssthresh_after_loss(paths, path, now)
    }
}

impl PathManager for Same<FullMesh> {
    fn on_event(&mut self, event: &Event, now: Instant, commands: &mut Vec<Command>) {
        self.0.on_event(event, now, commands);
    }
    fn wake_at(&self) -> Instant {
        self.0.wake_at()
    }
}

/// Ends the run with the seeds that it was given.
#[derive(Clone, Debug, Default)]
struct Telling(Option<FlowEnd>);

impl Scheduler for Telling {
    fn next(&mut self, _subflows: &[SubflowView], _queue: &QueueView<'_>) -> Option<Assignment> {
        panic!("{:?}", self.0);
    }
    fn begin(&mut self, end: FlowEnd) {
        self.0 = Some(end);
    }
}

/// Drops what would wait for longer than `limit`, and a random packet of `one_in`.
#[derive(Clone, Debug)]
struct Impatient {
    limit: Duration,
    one_in: u64,
    random: u64,
}

impl QueueDiscipline for Impatient {
    fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        // Marsaglia's xorshift: any generator will do.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        if arrival.wait > self.limit || self.random.is_multiple_of(self.one_in) { Verdict::Drop } else { Verdict::Pass }
    }
    fn begin(&mut self, seed: u64) {
        self.random = seed | 1;
    }
}

fn document(congestion: &str, scheduler: &str, path_manager: &str, custom: CustomAlgorithms) -> Document {
    let text = format!(
        "duration = '5 s'\n[hosts]\na = ['x', 'y']\nb = ['x', 'y']\n\
         [links.one]\nbetween = ['a.x', 'b.x']\nrate = '20 Mbit/s'\ndelay = '10 ms'\nloss = '1 %'\n\
         [links.two]\nbetween = ['a.y', 'b.y']\nrate = '5 Mbit/s'\ndelay = '40 ms'\nloss = '1 %'\n\
         [flows.file]\nfrom = 'a'\nto = 'b'\nprotocol = 'mptcp'\n\
         congestion = '{congestion}'\nscheduler = '{scheduler}'\npath_manager = '{path_manager}'\n"
    );
    let mut document = Document::parse(Path::new("custom.toml"), text).expect("TOML");
    document.custom = custom;
    document
}

fn run(document: &Document, seed: u64) -> RunResult {
    let scenario = Scenario::read(document).expect("a valid scenario");
    simulate(&scenario, seed, &RunOptions::default()).expect("it runs")
}

#[test]
fn a_custom_algorithm_does_what_the_same_built_in_one_does() {
    let mut custom = CustomAlgorithms::default();
    custom.scheduler("my-ll", Same(LowestLatency)).expect("a good name");
    custom.congestion("my-lia", Same(Lia::new(false))).expect("a good name");
    custom.path_manager("my-mesh", Same(FullMesh::default())).expect("a good name");
    let mut own = run(&document("my-lia", "my-ll", "my-mesh", custom), 7);
    let mut built_in = run(&document("lia", "ll", "full-mesh", CustomAlgorithms::default()), 7);
    let flow = &mut own.flows[0];
    let names =
        [&mut flow.congestion, &mut flow.scheduler, &mut flow.path_manager].map(|name| name.take().expect("one"));
    assert_eq!(names, ["my-lia", "my-ll", "my-mesh"]);
    let flow = &mut built_in.flows[0];
    (flow.congestion, flow.scheduler, flow.path_manager) = (None, None, None);
    assert_eq!(own.flows, built_in.flows);
    assert_eq!(own.engine.events, built_in.engine.events);
    assert!(own.flows[0].retransmissions > 0 && own.flows[0].subflows.len() >= 2);
}

#[test]
fn a_custom_algorithm_is_told_a_seed_of_its_run_and_the_end_that_sends() {
    let told = |seed| {
        let mut custom = CustomAlgorithms::default();
        custom.scheduler("telling", Telling::default()).expect("a good name");
        let document = document("lia", "telling", "full-mesh", custom);
        let panic = catch_unwind(AssertUnwindSafe(|| run(&document, seed))).expect_err("it panics");
        panic.downcast_ref::<String>().expect("a message").clone()
    };
    assert_eq!(told(1), told(1));
    assert_ne!(told(1), told(2));
    assert!(told(1).contains("sends: true"), "{}", told(1));
}

#[test]
fn names_of_the_catalogue_and_names_that_cannot_be_written_are_refused() {
    let mut custom = CustomAlgorithms::default();
    for (name, found) in [("ll", "a built-in one"), ("min-rtt", "a built-in one"), ("a b", "letters"), ("", "letters")]
    {
        let problem = custom.scheduler(name, Same(LowestLatency)).expect_err("not a name for it");
        assert!(problem.message.contains(found), "{}", problem.message);
    }
    assert!(custom.is_empty());
    let problems = Scenario::read(&document("lia", "mine", "default", custom)).expect_err("there is none");
    assert!(problems.to_string().contains("\"mine\""), "{problems}");
}

#[test]
fn a_custom_algorithm_takes_no_options_in_the_scenario() {
    let mut custom = CustomAlgorithms::default();
    custom.scheduler("mine", Same(LowestLatency)).expect("a good name");
    let mut document = document("lia", "mine", "default", custom);
    document.set("--set", "flows.file.scheduler={ name = \"mine\", beta = 1 }").expect("a path");
    let problems = Scenario::read(&document).expect_err("no options");
    assert!(problems.to_string().contains("mine has no such option"), "{problems}");
}

/// One TCP connection over a queue, with what stands for it in the file.
fn over_queue(queue: &str, custom: CustomAlgorithms) -> Document {
    let mut document = document("lia", "ll", "default", custom);
    for (path, value) in [("flows.file.protocol", "tcp"), ("links.one.loss", "none"), ("links.one.queue", queue)] {
        document.set("--set", &format!("{path}={value}")).expect("a path");
    }
    document
}

#[test]
fn a_custom_queue_decides_which_packets_a_link_drops() {
    let queue = |ms: u64, one_in: u64| {
        let mut custom = CustomAlgorithms::default();
        let queue = Impatient { limit: Duration::from_millis(ms), one_in, random: 0 };
        custom.queue("impatient", queue).expect("a good name");
        over_queue("{ discipline = 'impatient', limit = 'unlimited' }", custom)
    };
    // 20 Mbit/s for 10 ms are 25 kB, and a packet waits for those before it, not for itself.
    let by_time = run(&queue(10, u64::MAX), 1);
    let by_bytes = run(&over_queue("'26500 B'", CustomAlgorithms::default()), 1);
    assert!(by_time.links[0].drops > 10, "{:?}", by_time.links[0]);
    let ratio = by_time.flows[0].goodput_mbps / by_bytes.flows[0].goodput_mbps;
    assert!((0.98..1.02).contains(&ratio), "{ratio}");
    assert_eq!(by_time.links[1].packets, 0, "the other link has a queue of its own");

    let (one, again, other) = (run(&queue(1000, 100), 1), run(&queue(1000, 100), 1), run(&queue(1000, 100), 2));
    assert!(one.links[0].drops > 20);
    assert_eq!(one.flows, again.flows, "its seed is a function of the run's");
    assert_ne!(one.links[0].drops, other.links[0].drops);
}

#[test]
fn a_custom_queue_has_a_name_of_its_own_and_no_parameters() {
    let mut custom = CustomAlgorithms::default();
    let queue = || Impatient { limit: Duration::ZERO, one_in: 2, random: 0 };
    assert!(custom.queue("red", queue()).expect_err("it is taken").message.contains("a built-in one"));
    custom.queue("impatient", queue()).expect("a good name");
    let refused = |queue: &str, expected: &str| {
        let problems = Scenario::read(&over_queue(queue, custom.clone())).expect_err("not valid").to_string();
        assert!(problems.contains(expected), "{problems}");
    };
    refused("{ discipline = 'impatient', weight = 0.1 }", "impatient has no such option");
    refused("{ discipline = 'inpatient' }", "found \"inpatient\", expected a queue discipline");
}
