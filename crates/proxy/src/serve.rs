//! The proxy from start to end.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::task::Poll;

use subflow_tokio::{Options, Path, Stack, TunDevice};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinSet;

use crate::error::{Error, Result, both};
use crate::machine::{
    Change, Changes, Firewall, Interface, Journal, Occupied, PathPlan, Step, claims_here, firewall_changes, free_number,
};
use crate::open_files::OpenFiles;
use crate::paths::Paths;
use crate::status::Answers;
use crate::{clients, session};

/// The least MTU that IPv6 permits (RFC 8200, section 5).
const LEAST_MTU: u32 = 1280;

/// What a proxy is started with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where clients connect.
    pub listen: SocketAddr,
    /// The interfaces, the preferred one first.
    pub via: Vec<String>,
    /// The stack. `mtu` is an upper bound: the least of the interfaces' counts.
    pub options: Options,
}

/// The commands that [`run`] would carry out, and those that undo them.
///
/// # Errors
///
/// Where the settings do not fit the machine.
pub fn dry_run(settings: &Settings) -> Result<String> {
    let states = interfaces(&settings.via)?;
    let firewall = Firewall::find()?;
    let number = free_number(&Occupied::read(firewall)?)?;
    let plans = plans(settings, &states, number, &claims_here());
    let mtu = mtu(settings, &states);
    let mut text = String::from("# at the start\n");
    let mut undo = Vec::new();
    let mut add = |(step, back): Change| {
        text += &format!("{step}\n");
        undo.extend(back);
    };
    for (plan, state) in plans.iter().zip(&states) {
        add((plan.device_step(), None));
        plan.changes(mtu).into_iter().for_each(&mut add);
        plan.routes(state).into_iter().for_each(|step| add((step, None)));
    }
    firewall_changes(firewall, number, &plans).into_iter().for_each(&mut add);
    plans.iter().flat_map(PathPlan::opening).for_each(&mut add);
    text += "# at the end\n";
    undo.iter().rev().for_each(|step| text += &format!("{step}\n"));
    plans.iter().for_each(|plan| text += &format!("ip link del dev {}\n", plan.device));
    Ok(text)
}

/// Runs a proxy until the process gets one of `signals`, such as SIGINT and SIGTERM. `report` gets a line when it is ready, and when a path changes.
/// The process's soft limit of open files becomes the hard one.
///
/// # Errors
///
/// Where the settings do not fit the machine, if the machine refuses a change, or when the last interface is removed.
/// Nothing is left behind, except for what cannot be undone: the error says so, and [`cleanup`](crate::cleanup) tries it
/// again.
pub fn run(settings: &Settings, signals: impl IntoIterator<Item = i32>, report: impl Fn(&str)) -> Result<()> {
    let states = interfaces(&settings.via)?;
    if !rustix::process::geteuid().is_root() {
        let problem = "creating devices, routes and firewall rules needs root rights";
        return Err(Error::machine(problem, "run the command with sudo; --dry-run prints what it would change"));
    }
    let (runtime, limit) = runtime()?;
    let signals = signals.into_iter().map(SignalKind::from_raw).collect();
    runtime.block_on(serve(settings, states, (signals, limit), &report))
}

/// What carries out a proxy's tasks, and the limit of open files, which is raised.
pub(crate) fn runtime() -> Result<(Runtime, OpenFiles)> {
    let limit = OpenFiles::raise();
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.max_blocking_threads(limit.resolvers()).enable_all().build().map_err(failed("start"))?;
    Ok((runtime, limit))
}

/// Begins to accept clients.
pub(crate) async fn listen(on: SocketAddr) -> Result<TcpListener> {
    TcpListener::bind(on).await.map_err(|error| {
        let problem = format!("cannot listen on {on}: {error}");
        Error::settings(problem, "choose another address or port with --listen")
    })
}

/// The state of each interface. All must exist, and be different.
pub(crate) fn interfaces(via: &[String]) -> Result<Vec<Interface>> {
    let mut states = Vec::new();
    for (position, name) in via.iter().enumerate() {
        if via[..position].contains(name) {
            return Err(Error::settings(format!("--via names {name} twice"), "name each interface once"));
        }
        let Some(state) = Interface::read(name)? else {
            let names: Vec<String> = Interface::names()?.into_iter().filter(|name| name != "lo").collect();
            let help = format!("there are: {}", names.join(", "));
            return Err(Error::settings(format!("there is no interface {name:?}"), help));
        };
        if name == "lo" {
            return Err(Error::settings("lo does not lead to another machine", "name another interface"));
        }
        states.push(state);
    }
    Ok(states)
}

fn plans(settings: &Settings, states: &[Interface], number: u8, claims: &[Step]) -> Vec<PathPlan> {
    let interfaces = settings.via.iter().zip(states).enumerate();
    interfaces.map(|(index, (name, state))| PathPlan::new(number, index, name, state, claims)).collect()
}

/// The packets of a connection must fit every interface: they may be repeated on another.
fn mtu(settings: &Settings, states: &[Interface]) -> u16 {
    let least = states.iter().map(|state| state.mtu).min().unwrap_or(1500).max(LEAST_MTU);
    settings.options.mtu.min(u16::try_from(least).unwrap_or(u16::MAX))
}

/// What a proxy has before it changes anything.
struct Ready {
    listener: TcpListener,
    signals: Vec<Signal>,
    changes: Changes,
    firewall: Firewall,
    /// Most clients at a time.
    places: usize,
}

impl Ready {
    async fn new(settings: &Settings, signals: Vec<SignalKind>, limit: OpenFiles) -> Result<Self> {
        let listener = listen(settings.listen).await?;
        let signals = signals.into_iter().map(signal);
        Ok(Self {
            listener,
            signals: signals.collect::<std::io::Result<_>>().map_err(failed("wait for signals"))?,
            changes: Changes::open().map_err(failed("follow the interfaces"))?,
            firewall: Firewall::find()?,
            places: limit.places(settings.via.len())?,
        })
    }
}

pub(crate) fn failed(what: &'static str) -> impl FnOnce(std::io::Error) -> Error {
    move |error| Error::system(what, error)
}

async fn serve(
    settings: &Settings,
    states: Vec<Interface>,
    (signals, limit): (Vec<SignalKind>, OpenFiles),
    report: &impl Fn(&str),
) -> Result<()> {
    let ready = Ready::new(settings, signals, limit).await?;
    let mut journal = Journal::take(&Occupied::read(ready.firewall)?)?;
    // The devices stay until all is undone: packets that reset connections are on their way through them.
    let (outcome, _stack) = match start(settings, &states, ready.firewall, &mut journal) {
        Ok((stack, paths)) => {
            (until_the_end(settings, ready, &stack, (paths, &mut journal), report).await, Some(stack))
        }
        Err(error) => (Err(error), None),
    };
    both(outcome, journal.end())
}

/// Makes the changes, and the stack over the devices.
fn start(
    settings: &Settings,
    states: &[Interface],
    firewall: Firewall,
    journal: &mut Journal,
) -> Result<(Stack, Paths)> {
    let plans = journal.beside_others(|own, claims| plans(settings, states, own.number(), claims));
    let mtu = mtu(settings, states);
    let mut devices = Vec::new();
    for plan in &plans {
        let device = TunDevice::create(&plan.device).map_err(without_tun)?;
        devices.push(Path::new(device, plan.addresses.iter().copied()));
        journal.apply_all(plan.changes(mtu))?;
    }
    let changes_of_firewall = firewall_changes(firewall, journal.number(), &plans);
    journal.apply_all(changes_of_firewall)?;
    open(journal, &plans)?;
    let options = Options { mtu, ..settings.options.clone() };
    let stack = Stack::new(devices, options).map_err(failed("start"))?;
    Ok((stack, Paths::new(plans, states, firewall)))
}

/// Serves clients until a signal comes, or the last interface is gone. No client is left then.
async fn until_the_end(
    settings: &Settings,
    ready: Ready,
    stack: &Stack,
    (mut paths, journal): (Paths, &mut Journal),
    report: &impl Fn(&str),
) -> Result<()> {
    let Ready { listener, mut signals, changes, places, .. } = ready;
    paths.update(stack, journal, report)?;
    report(&format!("listening on {}", listener.local_addr().unwrap_or(settings.listen)));
    let mut clients = JoinSet::new();
    let serve = |client, asked| {
        let stack = stack.clone();
        session::serve(client, asked, |destination| session::connect(stack, destination))
    };
    let answers = Answers::new(listener.local_addr().unwrap_or(settings.listen), paths.plans())?;
    let outcome = tokio::select! {
        () = received(&mut signals) => Ok(()),
        () = answers.serve(stack) => Ok(()),
        () = clients::accept(listener, places, &mut clients, serve) => Ok(()),
        outcome = paths.follow(&changes, stack, journal, report) => outcome,
    };
    stack.abort_all();
    // The commands that undo the changes need descriptors, which clients may have taken all.
    clients.shutdown().await;
    outcome
}

/// Waits for one of the signals.
pub(crate) async fn received(signals: &mut [Signal]) {
    poll_fn(|context| match signals.iter_mut().any(|signal| signal.poll_recv(context).is_ready()) {
        true => Poll::Ready(()),
        false => Poll::Pending,
    })
    .await;
}

/// Lets packets of the network in, unless another proxy is about to end that.
fn open(journal: &mut Journal, plans: &[PathPlan]) -> Result<()> {
    journal.beside_others(|own, _| plans.iter().try_for_each(|plan| own.apply_all(plan.opening())))
}

fn without_tun(error: subflow_linux::Error) -> Error {
    match error {
        subflow_linux::Error::Missing { missing, .. } => {
            let help = "load the module (modprobe tun), or start the container with --device=/dev/net/tun";
            Error::machine(missing, help)
        }
        error => Error::machine(error.to_string(), "CAP_NET_ADMIN is required: run the command with sudo"),
    }
}
