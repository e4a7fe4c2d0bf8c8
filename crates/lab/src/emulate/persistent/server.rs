//! How a network answers requests.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope};
use std::time::Duration;

use subflow_linux::{InterfaceDrops, Interrupt, WallClock, kernel_release, process_cpu_seconds};
use subflow_network::{DuplexLink, LinkChange, LinkConfig};
use subflow_quantity::Instant;
use subflow_scenario::file::{Document, list};
use subflow_scenario::sweep::Plan as Runs;
use subflow_scenario::{Host, Scenario};

use super::super::connections::{Connections, Recorded};
use super::super::hosts::KernelHosts;
use super::super::measure::cpu_left;
use super::super::programs::Containers;
use super::control::{Measured, Order};
use super::message::{Answer, Emulation, HostStatus, NetworkStatus, ProgramStatus, Request};
use super::registry::Claim;
use super::{DeviceKind, INTERVAL, namespace_of};
use crate::RunError;
use crate::results::{Engine, NetworkResults, RealTime, RunResult};

/// The longest request, in bytes.
const LONGEST_REQUEST: u64 = 1 << 20;
/// The keys of a link that can change while it carries packets.
const KEYS: [&str; 3] = ["rate", "delay", "loss"];

/// What a network knows of itself.
pub(super) struct Server<'a, 'b> {
    name: &'a str,
    scenario: &'a Scenario,
    links: &'a [DuplexLink],
    hosts: &'a KernelHosts,
    containers: &'a Containers,
    connections: &'a Connections<'b>,
    orders: Sender<Order>,
    clock: WallClock,
    device: DeviceKind,
    current: Mutex<Current>,
    /// Those who wait for the end of the network.
    waiting: Mutex<Vec<UnixStream>>,
}

/// What changes while the network stays.
struct Current {
    document: Document,
    /// By link, whether it works.
    up: Vec<bool>,
    changes: Vec<String>,
}

/// Why a request was not fulfilled.
type Refusal = RunError;

impl<'a, 'b> Server<'a, 'b> {
    #[expect(clippy::too_many_arguments, reason = "all parts of a network")]
    pub(super) fn new(
        claim: &'a Claim,
        runs: &Runs,
        scenario: &'a Scenario,
        links: &'a [DuplexLink],
        hosts: &'a KernelHosts,
        containers: &'a Containers,
        connections: &'a Connections<'b>,
        orders: Sender<Order>,
        clock: WallClock,
        device: DeviceKind,
    ) -> Self {
        let up = vec![true; links.len()];
        let current = Mutex::new(Current { document: runs.document.clone(), up, changes: Vec::new() });
        let (name, waiting) = (claim.name.as_str(), Mutex::default());
        Self { name, scenario, links, hosts, containers, connections, orders, clock, device, current, waiting }
    }

    /// Answers on each connection, in a thread of its own, until the network ends.
    pub(super) fn serve<'scope, 'env>(
        &'scope self,
        listener: &UnixListener,
        scope: &'scope Scope<'scope, 'env>,
        stop: &'scope Interrupt,
    ) {
        while !stop.is_raised() {
            match listener.accept() {
                Ok((stream, _)) => drop(scope.spawn(move || self.converse(stream, stop))),
                Err(_) => thread::sleep(INTERVAL),
            }
        }
    }

    /// Answers the requests of a connection. A connection that fails is given up.
    fn converse(&self, stream: UnixStream, stop: &Interrupt) {
        let limited = stream.set_nonblocking(false).and_then(|()| {
            stream.set_read_timeout(Some(5 * INTERVAL))?;
            stream.set_write_timeout(Some(Duration::from_secs(2)))
        });
        if limited.is_err() {
            return;
        }
        let mut lines = BufReader::new(stream);
        while let Ok(Some(line)) = next_line(&mut lines, stop) {
            let answer = match serde_json::from_slice(&line) {
                Ok(Request::Down) => {
                    let stream = lines.into_inner();
                    self.waiting.lock().unwrap_or_else(PoisonError::into_inner).push(stream);
                    return stop.raise();
                }
                Ok(request) => self.answer(&request).unwrap_or_else(|refusal| of_refusal(&refusal)),
                Err(error) => Answer::Refused { message: format!("the request is not valid: {error}") },
            };
            if write_answer(lines.get_mut(), &answer).is_err() {
                return;
            }
        }
    }

    /// Those who wait for the end of the network.
    pub(super) fn into_waiting(self) -> Vec<UnixStream> {
        self.waiting.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, request: &Request) -> Result<Answer, Refusal> {
        match request {
            Request::Status => Ok(Answer::Status(Box::new(self.status()?))),
            Request::Enter { host } => self.enter(host),
            Request::Link { link, up } => self.switch(link, *up),
            Request::Set { path, value } => self.set(path, value),
            Request::Results => Ok(Answer::Results(Box::new(self.results()?))),
            Request::Down => Ok(Answer::Done),
        }
    }

    fn enter(&self, name: &str) -> Result<Answer, Refusal> {
        let hosts = || self.scenario.hosts.iter();
        let Some(index) = hosts().position(|host| host.name == name) else {
            return Err(RunError::Scenario(format!(
                "there is no host {name:?}, expected one of {}",
                list(hosts().map(|host| host.name.as_str()))
            )));
        };
        match self.containers.of_host(index) {
            Some(container) => Ok(Answer::Entrance { process: container.first_process() }),
            None => Err(RunError::Scenario(format!(
                "{name} has `stack = \"subflow\"`, expected a host with the kernel's stack, in which programs can run"
            ))),
        }
    }

    fn switch(&self, name: &str, up: bool) -> Result<Answer, Refusal> {
        let links = || self.scenario.links.iter();
        let Some(index) = links().position(|link| link.name == name) else {
            return Err(RunError::Scenario(format!(
                "there is no link {name:?}, expected one of {}",
                list(links().map(|link| link.name.as_str()))
            )));
        };
        let change = || vec![if up { LinkChange::Up } else { LinkChange::Down }];
        let mut current = self.current();
        self.change(index, [change(), change()])?;
        current.up[index] = up;
        Ok(Answer::Done)
    }

    /// Reads the scenario again with another value, and changes the link to what it says.
    fn set(&self, path: &str, value: &str) -> Result<Answer, Refusal> {
        let (index, key) = self.changeable(path)?;
        let refused = |problem: String| RunError::Scenario(problem);
        let mut current = self.current();
        let mut document = current.document.clone();
        document.set("set", &format!("{path}={value}")).map_err(|problem| refused(problem.in_one_line()))?;
        let runs = Runs::read(document.clone()).map_err(|problems| {
            let lines = problems.first.iter().map(subflow_scenario::file::Problem::in_one_line);
            refused(lines.collect::<Vec<_>>().join("; "))
        })?;
        let [point] = runs.points.as_slice() else {
            return Err(refused(format!("{path}: found values of a sweep, expected one value")));
        };
        let (before, link) = (&self.scenario.links[index], &point.scenario.links[index]);
        if [(&before.up, &link.up), (&before.down, &link.down)].iter().any(|(a, b)| a.loss_position != b.loss_position)
        {
            return Err(refused(format!("{path}: the position of loss cannot change while the network stays")));
        }
        self.change(index, [&link.up, &link.down].map(|config| vec![change_of(config, key)]))?;
        current.document = document;
        current.changes.push(format!("{path} = {value}"));
        Ok(Answer::Done)
    }

    /// The link and the key that a path such as `links.lte.rate` or `links.lte.rate.up` names.
    fn changeable(&self, path: &str) -> Result<(usize, &'static str), Refusal> {
        let of_link = |name: &str| path.strip_prefix("links.")?.strip_prefix(name)?.strip_prefix('.');
        let found = self.scenario.links.iter().enumerate().find_map(|(index, link)| {
            let key = of_link(&link.name)?.split('.').next()?;
            Some((index, KEYS.into_iter().find(|known| *known == key)?))
        });
        found.ok_or_else(|| {
            let links = self.scenario.links.iter().map(|link| link.name.as_str());
            RunError::Scenario(format!(
                "found the path {path:?}, expected links.LINK.rate, links.LINK.delay or links.LINK.loss, which can \
                 change while the network stays; the links are {}",
                list(links)
            ))
        })
    }

    /// Has the network's thread change a link, and waits until it has.
    fn change(&self, index: usize, changes: [Vec<LinkChange>; 2]) -> Result<(), Refusal> {
        let (done, is_done) = channel();
        let _ = self.orders.send(Order::Change { link: self.links[index], changes, done });
        is_done.recv().map_err(|_| ends())
    }

    fn current(&self) -> MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn measured(&self, with_links: bool) -> Result<Measured, Refusal> {
        let (answer, measured) = channel();
        let _ = self.orders.send(Order::Measure { with_links, answer });
        measured.recv().map_err(|_| ends())
    }

    /// What was measured since the network stands.
    fn results(&self) -> Result<NetworkResults, Refusal> {
        let mut measured = self.measured(true)?;
        let duration_s = self.running_s();
        let Recorded { flows, series, mut connections, mut notes } = self.connections.recorded()?;
        connections.append(&mut measured.sctp);
        notes.extend(measured.note.take());
        let (links, engine) = (std::mem::take(&mut measured.links), measured.engine);
        let emulation = self.emulation(measured)?;
        let cpu_s = emulation.cpu_s;
        let real_time = RealTime {
            kernel: kernel_release(),
            device: emulation.device,
            valid: emulation.objections.is_empty(),
            objections: emulation.objections,
            notes,
            real_time_priority: emulation.real_time_priority,
            late_p50_us: emulation.late_p50_us,
            late_p99_us: emulation.late_p99_us,
            late_p999_us: emulation.late_p999_us,
            late_max_us: emulation.late_max_us,
            device_drops: emulation.device_drops,
            ignored_packets: emulation.ignored_packets,
            cpu_left: cpu_left(cpu_s, duration_s),
            switches: None,
            // They have no outcome yet.
            programs: Vec::new(),
            mptcp_counters: self.hosts.mptcp_counters()?,
        };
        let result = RunResult {
            seed: self.scenario.seed,
            duration_s,
            flows,
            links,
            engine: Engine { cpu_s, ..engine },
            real_time: Some(real_time),
            ..RunResult::default()
        };
        let current = self.current();
        // Whoever reads it has another working directory.
        let path = std::path::absolute(&current.document.path).unwrap_or_else(|_| current.document.path.clone());
        let scenario = current.document.text();
        Ok(NetworkResults { path, scenario, result, series, connections })
    }

    fn status(&self) -> Result<NetworkStatus, Refusal> {
        let measured = self.measured(false)?;
        let current = self.current();
        let hosts = self.scenario.hosts.iter().enumerate();
        Ok(NetworkStatus {
            name: self.name.to_owned(),
            title: self.scenario.title.clone(),
            process: std::process::id(),
            running_s: self.running_s(),
            emulation: self.emulation(measured)?,
            hosts: hosts.filter_map(|(index, host)| self.host(index, host)).collect(),
            links: self.scenario.links.iter().zip(&current.up).map(|(link, &up)| (link.name.clone(), up)).collect(),
            changes: current.changes.clone(),
        })
    }

    fn running_s(&self) -> f64 {
        self.clock.now().since(Instant::ZERO).as_secs_f64()
    }

    /// The emulation with what the kernels' devices have dropped, and the CPU time.
    fn emulation(&self, Measured { mut emulation, drops, .. }: Measured) -> Result<Emulation, Refusal> {
        let of_devices = self.hosts.drops()?;
        let dropped = InterfaceDrops {
            outgoing: drops.outgoing + of_devices.outgoing,
            incoming: drops.incoming.max(of_devices.incoming),
        };
        if dropped != InterfaceDrops::default() {
            let InterfaceDrops { outgoing, incoming } = dropped;
            let text = format!("the devices dropped {outgoing} outgoing and {incoming} incoming packets");
            emulation.objections.push(text);
            emulation.device_drops = outgoing + incoming;
        }
        Ok(Emulation { cpu_s: process_cpu_seconds(), device: self.device.name().to_owned(), ..emulation })
    }

    fn host(&self, index: usize, host: &Host) -> Option<HostStatus> {
        let (kernel, container) = (self.hosts.get(index)?, self.containers.of_host(index)?);
        let addresses: BTreeMap<_, _> =
            host.interfaces.iter().map(|interface| (interface.name.clone(), interface.addresses.clone())).collect();
        let programs = container.processes().into_iter().map(|found| ProgramStatus {
            process: found.process,
            command: found.command,
            running_s: found.running_s,
        });
        Some(HostStatus {
            name: host.name.clone(),
            namespace: namespace_of(kernel),
            addresses,
            programs: programs.collect(),
        })
    }
}

/// The change that gives a link the value of `key` in its configuration.
fn change_of(config: &LinkConfig, key: &str) -> LinkChange {
    match key {
        "rate" => LinkChange::Service(config.service.clone()),
        "delay" => LinkChange::Delay(config.delay),
        _ => LinkChange::Loss(config.loss.clone()),
    }
}

fn ends() -> Refusal {
    RunError::System("the network is about to end".to_owned())
}

fn of_refusal(refusal: &Refusal) -> Answer {
    match refusal.is_refusal() {
        true => Answer::Refused { message: refusal.to_string() },
        false => Answer::Failed { message: refusal.to_string() },
    }
}

/// Tells those who have asked for the end of the network that it has ended, or how it failed.
pub(super) fn tell_the_end(waiting: Vec<UnixStream>, outcome: &Result<(), RunError>) {
    let answer = outcome.as_ref().map_or_else(|error| Answer::Failed { message: error.to_string() }, |()| Answer::Done);
    for mut stream in waiting {
        // Whoever asked may have gone.
        let _ = write_answer(&mut stream, &answer);
    }
}

fn write_answer(stream: &mut UnixStream, answer: &Answer) -> io::Result<()> {
    let mut text = serde_json::to_string(answer).map_err(io::Error::from)?;
    text.push('\n');
    stream.write_all(text.as_bytes())
}

/// The next line of a connection; none at its end, and when the network ends.
fn next_line(lines: &mut BufReader<UnixStream>, stop: &Interrupt) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    while !stop.is_raised() {
        let left = LONGEST_REQUEST.saturating_sub(line.len() as u64);
        match lines.by_ref().take(left).read_until(b'\n', &mut line) {
            Ok(_) if line.ends_with(b"\n") => return Ok(Some(line)),
            Ok(_) => return Ok(None),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}
