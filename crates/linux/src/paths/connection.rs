//! One connection: its path manager, its subflows, and how commands are carried out.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};

use rustix::io::Errno;
use subflow_policy::path_manager::{Address, Command, Event, FourTuple, NamedSubflows, PathManagement, PathManager};
use subflow_quantity::Instant;

use super::closing::{Closing, Decision};
use super::local::{LocalAddress, LocalAddresses};
use super::rules::{NamedSubflow, Plan};
use super::unrouted::{Attempt, End, Unrouted};
use super::wording;
use crate::error::Error;
use crate::netlink::{MptcpPathManager, NewSubflow, SubflowEnds};

/// A connection whose paths we manage.
#[derive(Debug)]
pub(super) struct Connection {
    token: u32,
    initial: FourTuple,
    path_manager: PathManagement,
    /// The subflows that it is to have besides.
    named: NamedSubflows,
    /// Its subflows, as far as we know.
    subflows: Vec<FourTuple>,
    /// Commands that the kernel does not take before the peer has shown that it has both keys.
    waiting: Vec<Command>,
    closing: Closing,
    unrouted: Unrouted,
    /// Whether this host sent the first SYN.
    client: bool,
    /// Withdrawals of addresses with which all subflows were lost. The peer's kernel would close what was kept.
    held_back: Vec<(IpAddr, Command)>,
    /// The address that is being lost, if it is that of all subflows.
    loses_all: Option<IpAddr>,
    /// Whether the kernel does not know it any more.
    is_over: bool,
}

/// What a connection needs to carry out commands.
pub(super) struct Means<'a> {
    pub(super) kernel: &'a mut MptcpPathManager,
    pub(super) local: &'a mut LocalAddresses,
    pub(super) now: Instant,
}

/// The two ends alone.
pub(super) fn four_tuple(ends: &SubflowEnds) -> FourTuple {
    FourTuple { local: ends.local, remote: ends.remote }
}

impl Connection {
    /// A connection that was established over `initial`, with nothing but that.
    pub(super) fn new(token: u32, initial: FourTuple, client: bool, plan: Plan) -> Self {
        let Plan { path_manager, .. } = plan;
        let (subflows, waiting, closing) = (vec![initial], Vec::new(), Closing::default());
        let (held_back, loses_all, is_over) = (Vec::new(), None, false);
        let (named, unrouted) = (NamedSubflows::default(), Unrouted::default());
        Self {
            token,
            initial,
            path_manager,
            named,
            subflows,
            waiting,
            closing,
            unrouted,
            client,
            held_back,
            loses_all,
            is_over,
        }
    }

    pub(super) fn initial(&self) -> FourTuple {
        self.initial
    }

    /// Its subflows, as far as we know.
    pub(super) fn subflows(&self) -> &[FourTuple] {
        &self.subflows
    }

    /// Begins, with the addresses that this host has and the subflows of the plan.
    pub(super) fn establish(&mut self, closed: bool, named: &[NamedSubflow], means: &mut Means<'_>) {
        let opened: Vec<Event> = named.iter().filter_map(|subflow| self.open_named(subflow, means)).collect();
        // The path manager knows the address of the initial subflow from that.
        let others = means.local.present().iter().filter(|known| known.address != self.initial.local.ip());
        let mut events: Vec<Event> = others.map(|other| Event::LocalAddressAdded(other.named())).collect();
        let (initial, client) = (self.initial, self.client);
        events.push(Event::Established { initial, client, initial_address_closed: closed });
        events.extend(opened);
        self.on_events(events, means);
        self.declare_backup(initial, means);
    }

    /// Tells the peer that a subflow that it did not open as a backup is one, if its address here is for backups.
    fn declare_backup(&mut self, subflow: FourTuple, means: &mut Means<'_>) {
        if means.local.entry(subflow.local.ip()).is_some_and(|entry| entry.backup) {
            self.carry_out(Command::SetBackup { subflow, backup: true }, means);
        }
    }

    /// When the path manager is to be woken; [`Instant::MAX`] for never.
    pub(super) fn wake_at(&self) -> Instant {
        self.path_manager.wake_at().min(self.named.wake_at())
    }

    /// Opens a subflow of the plan, now or when this host has its address. Returns what follows: that it did not open.
    fn open_named(&mut self, subflow: &NamedSubflow, means: &mut Means<'_>) -> Option<Event> {
        let NamedSubflow { local, remote, backup } = *subflow;
        let entry = means.local.entry(local.ip());
        let is_initial = local.ip() == self.initial.local.ip();
        let id = if is_initial { 0 } else { entry.map_or(0, |entry| entry.id) };
        let port = Some(local.port()).filter(|&port| port != 0);
        let from = Address { id, address: local.ip(), port };
        self.named.add(from, remote, backup, is_initial || entry.is_some());
        if entry.is_none() && !is_initial {
            log::warn!("{}: this host has no address {} yet", self.name(), local.ip());
            return None;
        }
        let to = Address { id: 0, address: remote.ip(), port: Some(remote.port()) };
        self.carry_out(Command::Open { local: from, remote: to, port: remote.port(), backup }, means)
    }

    /// Passes events to the path manager, and carries out what it says.
    pub(super) fn on_events(&mut self, events: impl IntoIterator<Item = Event>, means: &mut Means<'_>) {
        let mut events = VecDeque::from_iter(events);
        let mut commands = Vec::new();
        while let Some(event) = events.pop_front() {
            if let Event::SubflowClosed(subflow) = event {
                match self.unrouted.on_closed(subflow) {
                    End::Replaced => continue,
                    // The route came too late for it.
                    End::Unrouted if means.local.has_route(subflow.local.ip(), subflow.remote.ip()) => {
                        events.push_back(Event::RoutesChanged);
                    }
                    End::Unrouted | End::Other => {}
                }
            }
            self.note(&event);
            self.path_manager.on_event(&event, means.now, &mut commands);
            self.named.on_event(&event, means.now, &mut commands);
            for command in commands.drain(..) {
                events.extend(self.carry_out(command, means));
            }
            if let Event::SubflowEstablished(subflow) = event {
                events.extend(self.on_opened(subflow, means));
            }
        }
    }

    /// There is another subflow: what waited for that is done. Returns what follows.
    fn on_opened(&mut self, subflow: FourTuple, means: &mut Means<'_>) -> Vec<Event> {
        // A client asks for backups with their SYN. The SYN/ACK of a kernel says it since Linux 6.10.
        if !self.client {
            self.declare_backup(subflow, means);
        }
        // The withdrawal of an address that has returned would close its new subflows, too: those to the initial address
        // of a peer have identifier 0 again.
        let held_back = core::mem::take(&mut self.held_back).into_iter();
        let held_back = held_back.filter(|(lost, _)| means.local.entry(*lost).is_none()).map(|(_, command)| command);
        let kept = self.closing.take_kept().into_iter().map(Command::Close);
        let commands: Vec<Command> = held_back.chain(kept).collect();
        commands.into_iter().filter_map(|command| self.carry_out(command, means)).collect()
    }

    fn note(&mut self, event: &Event) {
        match *event {
            Event::SubflowEstablished(subflow) if !self.subflows.contains(&subflow) => {
                log::debug!("{}: subflow {} to {}", self.name(), subflow.local, subflow.remote);
                self.unrouted.on_established(subflow);
                self.closing.forget(subflow);
                self.subflows.push(subflow);
            }
            Event::SubflowClosed(subflow) => {
                log::debug!("{}: no subflow {} to {} any more", self.name(), subflow.local, subflow.remote);
                self.subflows.retain(|known| *known != subflow);
                self.closing.forget(subflow);
            }
            _ => {}
        }
    }

    /// The socket of a subflow had an error. Peers may refuse subflows; all other errors of new ones are unexpected.
    pub(super) fn note_error(&self, subflow: FourTuple, errno: u8, local: &LocalAddresses) {
        if !self.subflows.contains(&subflow) && !self.unrouted.is_replaced(subflow) {
            let refused = [Errno::CONNREFUSED, Errno::CONNRESET].map(Errno::raw_os_error).contains(&errno.into());
            let level = if refused { log::Level::Info } else { log::Level::Warn };
            log::log!(level, "{}: {}", self.name(), wording::not_opened(subflow, local, errno));
        }
    }

    /// This host has lost an address.
    pub(super) fn lose(&mut self, lost: &LocalAddress, means: &mut Means<'_>) {
        let is_of_all = self.closing.open(&self.subflows).all(|subflow| subflow.local.ip() == lost.address);
        self.loses_all = is_of_all.then_some(lost.address);
        self.on_events([Event::LocalAddressRemoved(lost.named())], means);
        self.loses_all = None;
        // A path manager that cares about no addresses leaves them open; they would only hold back the data.
        let left: Vec<_> = self.subflows.iter().copied().filter(|s| s.local.ip() == lost.address).collect();
        for subflow in left {
            self.carry_out(Command::Close(subflow), means);
        }
    }

    /// The subflows of an address become backups, or regular ones.
    pub(super) fn prefer(&mut self, address: IpAddr, backup: bool, means: &mut Means<'_>) {
        for subflow in self.subflows.clone().into_iter().filter(|subflow| subflow.local.ip() == address) {
            self.carry_out(Command::SetBackup { subflow, backup }, means);
        }
    }

    /// Whether subflows are being opened without a route.
    pub(super) fn has_unrouted(&self) -> bool {
        !self.unrouted.is_empty()
    }

    /// Begins those again that have a route by now. `opening` are all subflows that are being opened.
    pub(super) fn begin_routed(&mut self, opening: &[FourTuple], means: &mut Means<'_>) {
        let mut follows = Vec::new();
        for attempt in self.unrouted.take() {
            let is_routed = means.local.has_route(attempt.from, attempt.to.ip());
            // Another connection may open one between the same addresses, which the kernel does not find.
            let mut own = opening.iter().filter(|subflow| is_routed && attempt.opens(subflow));
            let closed = own.find(|own| means.kernel.close_subflow(self.token, own.local, own.remote).is_ok());
            match closed {
                Some(&subflow) => {
                    self.unrouted.on_replaced(subflow);
                    follows.extend(self.carry_out(attempt.command, means));
                }
                None => self.unrouted.add(attempt),
            }
        }
        self.on_events(follows, means);
    }

    /// Tries again what the kernel did not take yet.
    pub(super) fn retry(&mut self, means: &mut Means<'_>) {
        let waiting = core::mem::take(&mut self.waiting);
        let events: Vec<Event> = waiting.into_iter().filter_map(|command| self.carry_out(command, means)).collect();
        self.on_events(events, means);
    }

    pub(super) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether the kernel does not know it any more, as a command has shown.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Carries out a command. Returns what follows at once: that a subflow did not open.
    fn carry_out(&mut self, command: Command, means: &mut Means<'_>) -> Option<Event> {
        let token = self.token;
        let (outcome, follows) = match command {
            Command::Open { local, remote, port, backup } => {
                let backup = backup || means.local.entry(local.address).is_some_and(|entry| entry.backup);
                let from = SocketAddr::new(local.address, local.port.unwrap_or(0));
                let to = SocketAddr::new(remote.address, port);
                let failed = Event::SubflowClosed(FourTuple { local: from, remote: to });
                let interface = means.local.entry(local.address).and_then(|entry| entry.bound_to());
                let subflow = NewSubflow { id: local.id, from, to, interface, backup };
                let outcome = means.kernel.open_subflow(token, &subflow);
                if outcome.is_ok() && !means.local.has_route(from.ip(), to.ip()) {
                    self.unrouted.add(Attempt { from: from.ip(), to, command: command.clone() });
                }
                (outcome, Some(failed))
            }
            Command::Announce(address) => {
                let backup = means.local.entry(address.address).is_some_and(|entry| entry.backup);
                (means.kernel.announce(token, address.id, address.address, backup), None)
            }
            Command::Withdraw { id } => match self.loses_all {
                Some(address) => {
                    self.held_back.push((address, command));
                    return None;
                }
                None => (means.kernel.withdraw(token, id), None),
            },
            Command::Close(subflow) => match self.closing.decide(subflow, &self.subflows) {
                Decision::Close => {
                    let closed = means.kernel.close_subflow(token, subflow.local, subflow.remote);
                    // Where there is no such subflow any more, an event of the kernel says so.
                    if closed.as_ref().err().is_none_or(|error| has_number(error, Errno::SRCH))
                        && self.subflows.contains(&subflow)
                    {
                        self.closing.on_close(subflow);
                    }
                    (closed, None)
                }
                Decision::Keep => {
                    log::debug!("{}: keeping {} until there is another subflow", self.name(), subflow.local);
                    return None;
                }
                Decision::Nothing => return None,
            },
            Command::SetBackup { subflow: FourTuple { local, remote }, backup } => {
                (means.kernel.set_subflow_backup(token, local, remote, backup), None)
            }
        };
        match outcome {
            Ok(()) => {
                log::debug!("{}: {}", self.name(), wording::done(&command, means.local));
                None
            }
            Err(Error::System { source, .. }) if source.kind() == ErrorKind::NotConnected => {
                self.waiting.push(command);
                None
            }
            // The kernel says so of a token that it does not know.
            Err(error) if has_number(&error, Errno::INVAL) && means.kernel.local_addresses(token).is_err() => {
                log::debug!("{} is over", self.name());
                self.is_over = true;
                None
            }
            Err(error) => {
                // A subflow that is missing is missed by people; other commands may come too late.
                let level = if follows.is_some() { log::Level::Warn } else { log::Level::Debug };
                log::log!(level, "{}: {}", self.name(), wording::refused(&command, means.local, &error));
                follows
            }
        }
    }

    /// What the log calls it.
    fn name(&self) -> String {
        format!("connection {:08x} with {}", self.token, self.initial.remote)
    }
}

/// Whether it is the kernel's error with this number.
fn has_number(error: &Error, number: Errno) -> bool {
    matches!(error, Error::System { source, .. } if source.raw_os_error() == Some(number.raw_os_error()))
}
