//! When programs start and end.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::Child;
use std::thread::JoinHandle;

use subflow_linux::{Interrupt, WallClock, end_group};
use subflow_quantity::{Duration, Instant};
use subflow_scenario::{After, Program, Scenario};

use super::Containers;
use super::command::command;
use super::output::Sink;
use crate::RunError;
use crate::program_output::{ProgramOutput, Stream};
use crate::results::ProgramResult;
use crate::run_error::remedy;

/// How often it is checked what programs wait for, and whether they have ended.
const INTERVAL: Duration = Duration::from_millis(5);
/// The time between a request to end (SIGTERM) and the end by force (SIGKILL).
const GRACE: Duration = Duration::from_secs(1);

/// Starts and ends the programs of a run.
pub(super) struct Supervisor<'a> {
    scenario: &'a Scenario,
    containers: &'a Containers,
    output: &'a ProgramOutput,
    run: usize,
    clock: WallClock,
    stop: Interrupt,
    programs: Vec<Supervised>,
}

/// What has happened to a program.
#[derive(Default)]
struct Supervised {
    /// When what it waits for happened.
    released: Option<Instant>,
    started: Option<Instant>,
    child: Option<Child>,
    ended: Option<Instant>,
    asked_to_end: Option<Instant>,
    is_killed: bool,
    exit_code: Option<i32>,
    signal: Option<i32>,
    /// The threads that read its standard output and standard error.
    readers: Vec<JoinHandle<io::Result<u64>>>,
}

impl<'a> Supervisor<'a> {
    pub(super) fn new(
        scenario: &'a Scenario,
        containers: &'a Containers,
        (output, run): (&'a ProgramOutput, usize),
        clock: WallClock,
        stop: Interrupt,
    ) -> Self {
        let programs = scenario.programs.iter().map(|_| Supervised::default()).collect();
        Self { scenario, containers, output, run, clock, stop, programs }
    }

    /// Runs the programs until the run ends.
    pub(super) fn run(mut self) -> Result<Vec<ProgramResult>, RunError> {
        let outcome = self.run_until_stopped();
        if outcome.is_err() {
            // The others cannot be of use without it.
            self.stop.raise();
        }
        let end = self.clock.now();
        for index in 0..self.programs.len() {
            self.ask_to_end(index, end);
        }
        while self.programs.iter().any(|program| program.child.is_some()) && self.clock.now().since(end) < GRACE + GRACE
        {
            self.step_ends()?;
            self.sleep();
        }
        outcome?;
        // Daemons may still have the streams, which end with the last process.
        self.containers.kill();
        self.results()
    }

    fn run_until_stopped(&mut self) -> Result<(), RunError> {
        while !self.stop.is_raised() {
            for index in 0..self.programs.len() {
                self.release(index);
                self.start_if_due(index)?;
                let stop = self.scenario.programs[index].stop.map(|stop| Instant::ZERO + stop);
                let now = self.clock.now();
                if stop.is_some_and(|stop| stop <= now) {
                    self.ask_to_end(index, now);
                }
            }
            self.step_ends()?;
            self.sleep();
        }
        Ok(())
    }

    fn sleep(&self) {
        std::thread::sleep(std::time::Duration::from_nanos(INTERVAL.as_nanos()));
    }

    /// Notes when what a program waits for has happened.
    fn release(&mut self, index: usize) {
        if self.programs[index].released.is_some() {
            return;
        }
        let at = match self.scenario.programs[index].after {
            None => Some(Instant::ZERO),
            Some(After::Start(other)) => self.programs[other].started,
            Some(After::Exit(other)) => self.programs[other].ended,
            Some(After::Listens { host, port }) => self.containers.get(host).listens(port).then(|| self.clock.now()),
        };
        self.programs[index].released = at;
    }

    fn start_if_due(&mut self, index: usize) -> Result<(), RunError> {
        let scenario = self.scenario;
        let program = &scenario.programs[index];
        let Supervised { released: Some(released), started: None, asked_to_end: None, .. } = self.programs[index]
        else {
            return Ok(());
        };
        if self.clock.now() < released + program.start {
            return Ok(());
        }
        let mut child =
            self.containers.get(program.host).start(&mut command(program)).map_err(|error| {
                RunError::Machine(format!("programs.{}.run: {error}{}", program.name, place(program)))
            })?;
        let now = self.clock.now();
        let supervised = &mut self.programs[index];
        supervised.started = Some(now);
        self.containers.note_group(child.id(), &program.name);
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        supervised.child = Some(child);
        if let Some(stdout) = stdout {
            let sink = Sink::create(program, Stream::Output, (self.output, self.run))?;
            supervised.readers.push(std::thread::spawn(move || sink.read_all(stdout)));
        }
        if let Some(stderr) = stderr {
            let sink = Sink::create(program, Stream::Error, (self.output, self.run))?;
            supervised.readers.push(std::thread::spawn(move || sink.read_all(stderr)));
        }
        Ok(())
    }

    /// Asks a program to end, if it runs and was not asked before. One that has not started does not start any more.
    fn ask_to_end(&mut self, index: usize, now: Instant) {
        let supervised = &mut self.programs[index];
        if supervised.asked_to_end.is_some() || supervised.ended.is_some() {
            return;
        }
        supervised.asked_to_end = Some(now);
        if let Some(child) = &supervised.child {
            end_group(child, false);
        }
    }

    /// Notes which programs have ended, and ends those by force that do not do what they were asked.
    fn step_ends(&mut self) -> Result<(), RunError> {
        let now = self.clock.now();
        for (supervised, program) in self.programs.iter_mut().zip(&self.scenario.programs) {
            let Some(child) = &mut supervised.child else { continue };
            let status = child.try_wait().map_err(|error| failed(program, &error))?;
            if let Some(status) = status {
                // What it started in its process group ends with a program that was asked to end.
                if supervised.asked_to_end.is_some() {
                    end_group(child, true);
                }
                (supervised.exit_code, supervised.signal) = (status.code(), status.signal());
                supervised.ended = Some(now);
                supervised.child = None;
            } else if !supervised.is_killed && supervised.asked_to_end.is_some_and(|asked| now.since(asked) >= GRACE) {
                end_group(child, true);
                supervised.is_killed = true;
            }
        }
        Ok(())
    }

    fn results(self) -> Result<Vec<ProgramResult>, RunError> {
        let scenario = self.scenario;
        let programs = scenario.programs.iter().zip(self.programs);
        programs.map(|(program, supervised)| supervised.result(program, scenario)).collect()
    }
}

impl Supervised {
    /// The result of the program, once its streams have ended.
    fn result(self, program: &Program, scenario: &Scenario) -> Result<ProgramResult, RunError> {
        let seconds = |at: Option<Instant>| at.map(|at| at.since(Instant::ZERO).as_secs_f64());
        let mut bytes = [0; 2];
        for (bytes, reader) in bytes.iter_mut().zip(self.readers) {
            let read = reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            *bytes = read.map_err(|error| {
                RunError::Write(format!(
                    "programs.{}: cannot write its output: {error}{}",
                    program.name,
                    remedy(&error)
                ))
            })?;
        }
        Ok(ProgramResult {
            name: program.name.clone(),
            host: scenario.hosts[program.host].name.clone(),
            started_s: seconds(self.started),
            ended_s: seconds(self.ended),
            exit_code: self.exit_code,
            signal: self.signal,
            was_asked_to_end: self.started.is_some() && self.asked_to_end.is_some(),
            stdout_bytes: bytes[0],
            stderr_bytes: bytes[1],
            ..ProgramResult::default()
        })
    }
}

/// As whom and where a program was to start, as far as the scenario says so: either may be why it did not.
fn place(program: &Program) -> String {
    let user = program.user.as_ref().map(|user| format!("as {user}"));
    let directory = program.directory.as_ref().map(|directory| format!("in {}", directory.display()));
    let said: Vec<String> = [user, directory].into_iter().flatten().collect();
    if said.is_empty() { String::new() } else { format!(" ({})", said.join(" ")) }
}

fn failed(program: &Program, error: &io::Error) -> RunError {
    RunError::System(format!("programs.{}: {error}", program.name))
}
