//! The driver: the cases of a corpus, then cases from seeds and changed cases of the corpus in turn, for so many seconds
//! of CPU time.
//!
//! ```sh
//! cargo run --profile test -p subflow-hostile -- --stack all --cpu-seconds 60 --corpus fuzz/corpus
//! cargo run --profile test -p subflow-hostile -- --stack tcp --case 1234
//! cargo run --profile test -p subflow-hostile -- --stack tcp --corpus fuzz/corpus --mutation 1234
//! cargo run --profile test -p subflow-hostile -- --case crates/hostile/counterexamples/tcp/NAME.json
//! ```
//!
//! It prints how many cases it ran, and for each kind of failure the first case, the number of cases, and the smallest
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
use subflow_hostile::{Case, Corpus, Failure, Report, Stack, attempt, run_traced};

/// Lets hostile traffic loose on whole TCP, MPTCP, SCTP and QUIC hosts.
#[derive(Parser)]
struct Arguments {
    /// tcp, mptcp, sctp, quic, mpquic or all.
    #[arg(long, default_value = "all")]
    stack: Stacks,
    /// CPU time for all stacks together, in seconds.
    #[arg(long, default_value_t = 60)]
    cpu_seconds: u64,
    /// Seed of the first case; the others count on from it.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Begin with the cases in the folder `STACK_hosts` of this one for each stack, and change them.
    #[arg(long)]
    corpus: Option<PathBuf>,
    /// Run this case alone: a seed (of one stack), or a file.
    #[arg(long)]
    case: Option<String>,
    /// Run this changed case of the corpus alone: the seed that changed it. It needs one stack and the same corpus.
    #[arg(long, requires = "corpus", conflicts_with = "case")]
    mutation: Option<u64>,
    /// With --case and --mutation: print every action and every packet.
    #[arg(long)]
    trace: bool,
    /// Write the smallest case of each kind of failure into this folder.
    #[arg(long)]
    keep: Option<PathBuf>,
    /// Write the cases of so many seeds into the folder of --keep instead of running any, for libFuzzer to choose from.
    #[arg(long, requires = "keep")]
    export: Option<u64>,
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
static LAST: Mutex<Option<String>> = Mutex::new(None);

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if !cfg!(debug_assertions) {
        eprintln!(
            "This build has no debug assertions, so half of what should be checked is not: --profile test has them"
        );
        return ExitCode::from(2);
    }
    thread::spawn(watch);
    let result = match (one_case(&arguments), arguments.export) {
        (Some(case), _) => case.map(|(stem, case)| run_one(&case, &stem, &arguments)),
        (None, Some(number)) => export(number, &arguments),
        (None, None) => run_many(&arguments),
    };
    result.unwrap_or_else(|error| {
        eprintln!("{error}");
        ExitCode::from(2)
    })
}

/// The one case that was asked for, with its name in the name of a file.
fn one_case(arguments: &Arguments) -> Option<Result<(String, Case), String>> {
    let one_stack = || match &arguments.stack.0[..] {
        &[stack] => Ok(stack),
        _ => Err("a seed is a case of one stack: name it with --stack".to_owned()),
    };
    if let Some(name) = &arguments.case {
        let stem = Path::new(name).file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let case = match name.parse() {
            Ok(seed) => one_stack().map(|stack| Case::from_seed(stack, seed)),
            Err(_) => Case::load(name.as_ref()),
        };
        return Some(case.map(|case| (stem, case)));
    }
    let seed = arguments.mutation?;
    let folder = arguments.corpus.as_ref().expect("clap demands it");
    let mutated = |corpus: Corpus| match corpus.mutated(seed) {
        Some((_, case)) => Ok((format!("mutation-{seed}"), case)),
        None => Err(format!("{} holds no case to change", folder.display())),
    };
    Some(one_stack().and_then(|stack| Corpus::load(folder, stack)).and_then(mutated))
}

/// Runs one case and prints all of its events.
fn run_one(case: &Case, stem: &str, arguments: &Arguments) -> ExitCode {
    print!("{}", case.to_json());
    if arguments.trace {
        println!("{:?}", run_traced(case, true));
        return ExitCode::SUCCESS;
    }
    match attempt(case) {
        Ok(report) => {
            println!("{report:?}");
            ExitCode::SUCCESS
        }
        Err(first) => {
            println!("FAILED: {first}");
            if arguments.keep.is_some() {
                keep_smallest(case, &first, &format!("{}-{stem}", case.stack), arguments);
            }
            ExitCode::FAILURE
        }
    }
}

/// Writes the cases of seeds as files.
fn export(number: u64, arguments: &Arguments) -> Result<ExitCode, String> {
    let folder = arguments.keep.as_ref().expect("clap demands it");
    for &stack in &arguments.stack.0 {
        let folder = folder.join(format!("{stack}_hosts"));
        std::fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        for seed in (arguments.seed..).take(number as usize) {
            Case::from_seed(stack, seed).save(&folder.join(format!("{seed}.json")))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Failures of one kind.
struct Kind {
    /// The first case that failed so, and where it came from.
    case: Case,
    origin: Origin,
    first: Failure,
    cases: u64,
}

/// Where a case came from.
enum Origin {
    Seed(u64),
    File(String),
    Mutation { of: String, seed: u64 },
}

impl Origin {
    /// How to tell a reader, who may want to run it again.
    fn shown(&self, stack: Stack) -> String {
        match self {
            Self::Seed(seed) => format!("--stack {stack} --case {seed}"),
            Self::File(name) => format!("--case {name}"),
            Self::Mutation { of, seed } => {
                let corpus = Path::new(of).ancestors().nth(2).unwrap_or(Path::new(".")).display();
                format!("--stack {stack} --corpus {corpus} --mutation {seed}, which changes {of}")
            }
        }
    }

    /// As the name of a file.
    fn stem(&self, stack: Stack) -> String {
        match self {
            Self::Seed(seed) => format!("{stack}-{seed}"),
            Self::File(name) => format!("{stack}-corpus-{}", Path::new(name).file_stem().unwrap_or_default().display()),
            Self::Mutation { seed, .. } => format!("{stack}-mutation-{seed}"),
        }
    }
}

/// The cases of a stack, without end: the corpus, then new ones and changed ones in turn.
fn cases(stack: Stack, corpus: &Corpus, first: u64) -> impl Iterator<Item = (Origin, Case)> {
    let kept = corpus.cases().iter().map(|(name, case)| (Origin::File(name.clone()), case.clone()));
    kept.chain((first..).map(move |seed| match corpus.mutated(seed).filter(|_| seed % 2 == 0) {
        Some((of, case)) => (Origin::Mutation { of: of.to_owned(), seed }, case),
        None => (Origin::Seed(seed), Case::from_seed(stack, seed)),
    }))
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

fn run_many(arguments: &Arguments) -> Result<ExitCode, String> {
    let mut kinds: BTreeMap<String, Kind> = BTreeMap::new();
    let stacks = &arguments.stack.0;
    for &stack in stacks {
        let corpus = arguments.corpus.as_ref().map(|folder| Corpus::load(folder, stack)).transpose()?;
        let corpus = corpus.unwrap_or_default();
        let budget = Duration::from_secs(arguments.cpu_seconds) / stacks.len() as u32;
        let (start, mut totals) = (ProcessTime::now(), Totals::default());
        for (origin, case) in cases(stack, &corpus, arguments.seed) {
            // The corpus is run to its end.
            if start.elapsed() >= budget && totals.cases >= corpus.cases().len() as u64 {
                break;
            }
            begin(origin.shown(stack));
            totals.cases += 1;
            match attempt(&case) {
                Ok(report) => totals.add(&report),
                Err(first) => {
                    let kind = format!("{stack} {}", first.kind());
                    kinds.entry(kind).or_insert(Kind { case, origin, first, cases: 0 }).cases += 1;
                }
            }
        }
        say(stack, &totals, start.elapsed());
    }
    for kind in kinds.values() {
        tell(kind, arguments);
    }
    println!("{} kinds of failure", kinds.len());
    Ok(if kinds.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
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
    let Kind { case, origin, first, cases } = kind;
    println!("\nFAILED in {cases} case(s), first {}: {first}", origin.shown(case.stack));
    begin(origin.shown(case.stack));
    keep_smallest(case, first, &origin.stem(case.stack), arguments);
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
fn begin(name: String) {
    *LAST.lock().expect("nobody panics with it") = Some(name);
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
            match &*LAST.lock().expect("nobody panics with it") {
                Some(name) => println!("FAILED: {name} has not ended, or a smaller one like it"),
                None => println!("FAILED: the case has not ended"),
            }
            println!("{ENDLESS:?} of CPU time have passed");
            std::process::exit(1);
        }
    }
}
