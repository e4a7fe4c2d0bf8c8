//! The driver: cases from seeds, for so many seconds of CPU time.
//!
//! ```sh
//! cargo run --profile test -p subflow-hostile -- --stack all --cpu-seconds 60
//! cargo run --profile test -p subflow-hostile -- --stack tcp --case 1234
//! cargo run --profile test -p subflow-hostile -- --case crates/hostile/counterexamples/tcp/NAME.json
//! ```
//!
//! It prints how many cases it ran, and for each kind of failure the first seed, the number of cases, and the smallest
//! case that was found, which `--keep` writes to a folder. The exit code is 1 where any case failed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use clap::Parser;
use cpu_time::ProcessTime;
use subflow_hostile::shrink::shrink;
use subflow_hostile::{Case, Failure, Report, Stack, attempt, run_traced};

/// Lets hostile traffic loose on whole TCP, MPTCP and SCTP hosts.
#[derive(Parser)]
struct Arguments {
    /// tcp, mptcp, sctp or all.
    #[arg(long, default_value = "all")]
    stack: Stacks,
    /// CPU time for all stacks together, in seconds.
    #[arg(long, default_value_t = 60)]
    cpu_seconds: u64,
    /// Seed of the first case; the others count on from it.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Run this case alone: a seed (of one stack), or a file.
    #[arg(long)]
    case: Option<String>,
    /// With --case: print every action and every packet.
    #[arg(long)]
    trace: bool,
    /// Write the smallest case of each kind of failure into this folder.
    #[arg(long)]
    keep: Option<PathBuf>,
    /// How many cases may be tried to make a failing one smaller.
    #[arg(long, default_value_t = 2000)]
    shrink: u32,
}

#[derive(Clone)]
struct Stacks(Vec<Stack>);

impl FromStr for Stacks {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        if name == "all" { Ok(Self(Stack::ALL.to_vec())) } else { Stack::from_str(name).map(|stack| Self(vec![stack])) }
    }
}

/// CPU time after which a case is taken to go on for ever.
const ENDLESS: Duration = Duration::from_secs(60);

/// Cases begun, and the last of them: what the watch sees of the work.
static BEGUN: AtomicU64 = AtomicU64::new(0);
static LAST: Mutex<Option<(Stack, u64)>> = Mutex::new(None);

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if !cfg!(debug_assertions) {
        eprintln!(
            "This build has no debug assertions, so half of what should be checked is not: --profile test has them"
        );
        return ExitCode::from(2);
    }
    thread::spawn(watch);
    match &arguments.case {
        Some(case) => run_one(case, &arguments),
        None => run_many(&arguments),
    }
}

/// Runs one case and prints all of its events.
fn run_one(name: &str, arguments: &Arguments) -> ExitCode {
    let case = match (name.parse(), &arguments.stack.0[..]) {
        (Ok(seed), &[stack]) => Ok(Case::from_seed(stack, seed)),
        (Ok(_), _) => Err("a seed is a case of one stack: name it with --stack".to_owned()),
        (Err(_), _) => Case::load(name.as_ref()),
    };
    let case = match case {
        Ok(case) => case,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    print!("{}", case.to_json());
    if arguments.trace {
        println!("{:?}", run_traced(&case, true));
        return ExitCode::SUCCESS;
    }
    match attempt(&case) {
        Ok(report) => {
            println!("{report:?}");
            ExitCode::SUCCESS
        }
        Err(first) => {
            println!("FAILED: {first}");
            if arguments.keep.is_some() {
                let stem =
                    Path::new(name).file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
                keep_smallest(&case, &first, &format!("{}-{stem}", case.stack), arguments);
            }
            ExitCode::FAILURE
        }
    }
}

/// Failures of one kind.
struct Kind {
    stack: Stack,
    seed: u64,
    first: Failure,
    cases: u64,
}

#[derive(Default)]
struct Totals {
    cases: u64,
    steps: u64,
    sent: u64,
    delivered: u64,
    completed: u64,
    /// The largest share of what a host may hold, in per cent.
    memory: i64,
}

impl Totals {
    fn add(&mut self, report: &Report) {
        self.steps += report.steps;
        self.sent += report.sent;
        self.delivered += report.delivered;
        self.completed += report.completed;
        self.memory = self.memory.max(100 * report.most_held.0 / report.most_held.1.max(1));
    }
}

fn run_many(arguments: &Arguments) -> ExitCode {
    let mut kinds: BTreeMap<String, Kind> = BTreeMap::new();
    let stacks = &arguments.stack.0;
    for &stack in stacks {
        let budget = Duration::from_secs(arguments.cpu_seconds) / stacks.len() as u32;
        let (start, mut totals) = (ProcessTime::now(), Totals::default());
        let mut seed = arguments.seed;
        while start.elapsed() < budget {
            begin(stack, seed);
            match attempt(&Case::from_seed(stack, seed)) {
                Ok(report) => totals.add(&report),
                Err(failure) => {
                    let kind = format!("{stack} {}", failure.kind());
                    kinds.entry(kind).or_insert(Kind { stack, seed, first: failure, cases: 0 }).cases += 1;
                }
            }
            totals.cases += 1;
            seed += 1;
        }
        say(stack, &totals, start.elapsed());
    }
    for kind in kinds.values() {
        tell(kind, arguments);
    }
    println!("{} kinds of failure", kinds.len());
    if kinds.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn say(stack: Stack, totals: &Totals, spent: Duration) {
    let Totals { cases, steps, sent, delivered, completed, memory } = totals;
    let seconds = spent.as_secs_f64();
    println!(
        "{stack}: {cases} cases in {seconds:.0} s of CPU time, {:.0} a second; {steps} packets and timers, {sent} \
         packets sent, {delivered} bytes delivered, {completed} connections had to complete and did, memory up to \
         {memory} % of its bound",
        *cases as f64 / seconds,
    );
}

/// Prints the failure, and searches for a smaller case of the same kind.
fn tell(kind: &Kind, arguments: &Arguments) {
    let Kind { stack, seed, first, cases } = kind;
    println!("\nFAILED in {cases} case(s), first --stack {stack} --case {seed}: {first}");
    begin(*stack, *seed);
    keep_smallest(&Case::from_seed(*stack, *seed), first, &format!("{stack}-{seed}"), arguments);
}

/// Prints a smaller case that fails like `case`, and writes it into the folder that was asked for.
fn keep_smallest(case: &Case, first: &Failure, name: &str, arguments: &Arguments) {
    let wanted = first.kind();
    let smallest = shrink(case, arguments.shrink, |candidate| {
        BEGUN.fetch_add(1, Ordering::Relaxed);
        attempt(candidate).is_err_and(|failure| failure.kind() == wanted)
    });
    print!("{}", smallest.to_json());
    if let Some(folder) = &arguments.keep {
        let file = folder.join(format!("{name}.json"));
        match std::fs::create_dir_all(folder).map_err(|error| error.to_string()).and_then(|()| smallest.save(&file)) {
            Ok(()) => println!("kept in {}", file.display()),
            Err(error) => eprintln!("{error}"),
        }
    }
}

/// A case begins.
fn begin(stack: Stack, seed: u64) {
    *LAST.lock().expect("nobody panics with it") = Some((stack, seed));
    BEGUN.fetch_add(1, Ordering::Relaxed);
}

/// Ends the process if a case never ends.
fn watch() {
    let (mut seen, mut since) = (0, ProcessTime::now());
    loop {
        thread::sleep(Duration::from_secs(1));
        let begun = BEGUN.load(Ordering::Relaxed);
        if begun != seen {
            (seen, since) = (begun, ProcessTime::now());
        } else if since.elapsed() > ENDLESS {
            match *LAST.lock().expect("nobody panics with it") {
                Some((stack, seed)) => {
                    println!("FAILED: --stack {stack} --case {seed} has not ended, or a smaller one like it")
                }
                None => println!("FAILED: the case has not ended"),
            }
            println!("{ENDLESS:?} of CPU time have passed");
            std::process::exit(1);
        }
    }
}
