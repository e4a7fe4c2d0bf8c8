//! The loop between the kernel's events and the path managers.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use subflow_policy::path_manager::{Address, Event, FourTuple};
use subflow_quantity::Instant;

use super::carried::Carried;
use super::connection::{Connection, Means, four_tuple};
use super::local::{Difference, LocalAddress, LocalAddresses};
use super::rules::Rules;
use crate::WallClock;
use crate::error::{Result, While};
use crate::netlink::{MptcpEvent, MptcpEvents, MptcpPathManager, Received, SocketDiag, SubflowSocket};

/// Manages the paths of all MPTCP connections of a network namespace whose sockets were made while
/// `net.mptcp.pm_type` was 1.
#[derive(Debug)]
pub struct Driver {
    pub(super) kernel: MptcpPathManager,
    events: MptcpEvents,
    pub(super) local: LocalAddresses,
    pub(super) clock: WallClock,
    pub(super) rules: Rules,
    /// What subflows carried, if somebody asks for it.
    pub(super) carried: Option<Carried>,
    /// Whether the addresses are still to be asked for: they went on changing.
    addresses_due: bool,
    /// Addresses that were lost before all events were handled: a connection that begins with one of them is older.
    just_lost: Vec<LocalAddress>,
    /// By token.
    pub(super) connections: BTreeMap<u32, Connection>,
}

/// How soon the kernel is asked again to carry out what it did not take yet.
const RETRY: Duration = Duration::from_millis(100);
/// The reason of a reset that says nothing (RFC 8684, table 3).
const UNSPECIFIED: u32 = 0;
/// Datagrams of events that are handled before signals and addresses have their turn.
const BATCH: usize = 64;

impl Driver {
    /// Opens it for the calling thread's network namespace. Another thread may run it.
    pub fn open(rules: Rules) -> Result<Self> {
        let (kernel, events) = (MptcpPathManager::open()?, MptcpEvents::open()?);
        let mut local = LocalAddresses::open()?;
        let found = local.refresh(&rules.interfaces)?;
        let (clock, just_lost, connections) = (WallClock::start(), Vec::new(), BTreeMap::new());
        let (carried, addresses_due) = (None, false);
        let mut driver = Self { kernel, events, local, clock, rules, carried, addresses_due, just_lost, connections };
        driver.log(&found);
        driver.compare_with_kernel()?;
        Ok(driver)
    }

    /// The number of connections whose paths it manages.
    pub fn connections(&self) -> usize {
        self.connections.len()
    }

    /// Goes by other rules from now on: path managers for new connections, interfaces for all.
    pub fn set_rules(&mut self, rules: Rules) -> Result<()> {
        self.rules = rules;
        self.refresh_addresses()
    }

    /// Waits for something to happen, at most for `longest`, and handles it.
    pub fn run(&mut self, longest: Duration) -> Result<()> {
        let waiting = self.connections.values().any(Connection::is_waiting);
        let list_at = self.carried.as_ref().map_or(Instant::MAX, Carried::list_at);
        let wake_at = self.connections.values().map(Connection::wake_at).fold(list_at, Instant::min);
        let longest = longest.min(self.clock.until(wake_at));
        let timeout = if waiting || self.addresses_due { RETRY.min(longest) } else { longest };
        let timeout = Timespec { tv_sec: timeout.as_secs() as i64, tv_nsec: timeout.subsec_nanos().into() };
        let sources = [self.events.as_fd(), self.local.as_fd()];
        match poll(&mut sources.map(|source| PollFd::from_borrowed_fd(source, PollFlags::IN)), Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error).during(|| "cannot wait for the kernel's events".into()),
        }
        if self.local.may_have_changed()? || self.addresses_due {
            self.refresh_addresses()?;
            self.begin_routed()?;
            self.with_all(|connection, means| connection.on_events([Event::RoutesChanged], means));
        }
        // Before the events, so that these tell whose subflows they were.
        self.carried.as_mut().map_or(Ok(()), Carried::receive)?;
        let (events, rest) = batch(|| self.events.receive())?;
        events.into_iter().for_each(|event| self.on_event(event));
        if rest != Rest::More {
            self.just_lost.clear();
        }
        if rest == Rest::Lost {
            log::warn!("the kernel dropped events; comparing with its connections");
            self.compare_with_kernel()?;
        }
        if let Some(carried) = self.carried.as_mut().filter(|_| rest != Rest::More) {
            carried.count();
            if carried.list_at() <= self.clock.now() {
                self.list_carried()?;
            }
        }
        if waiting {
            self.with_all(|connection, means| connection.retry(means));
        }
        self.with_all(|connection, means| {
            if connection.wake_at() <= means.now {
                connection.on_events([Event::Woken], means);
            }
        });
        self.connections.retain(|_, connection| !connection.is_over());
        Ok(())
    }

    fn on_event(&mut self, event: MptcpEvent) {
        match event {
            MptcpEvent::Established { token, initial, server, initial_address_closed } => {
                self.begin(token, four_tuple(&initial), !server, initial_address_closed);
            }
            MptcpEvent::Closed { token } => {
                if let Some(connection) = self.connections.remove(&token) {
                    log::debug!("connection {token:08x} with {} is over", connection.initial().remote);
                }
            }
            MptcpEvent::Announced { token, id, address, port } => {
                if !may_be_joined(address) {
                    return log::info!("a peer announced {address}, which no subflow is opened to");
                }
                self.with(token, |connection, means| {
                    let port = Some(port).filter(|&port| port != connection.initial().remote.port());
                    let address = Address { id, address, port };
                    connection.on_events([Event::RemoteAddressAdded(address)], means);
                });
            }
            MptcpEvent::Withdrawn { token, id } => {
                self.with(token, |connection, means| connection.on_events([Event::RemoteAddressRemoved { id }], means));
            }
            MptcpEvent::SubflowEstablished { token, subflow } => {
                let subflow = four_tuple(&subflow);
                if self.connections.contains_key(&token) {
                    self.expect([subflow]);
                }
                let event = Event::SubflowEstablished(subflow);
                self.with(token, |connection, means| connection.on_events([event], means));
            }
            MptcpEvent::SubflowClosed { token, subflow, reset, error } => {
                let subflow = four_tuple(&subflow);
                if let Some(errno) = error {
                    self.with(token, |connection, means| connection.note_error(subflow, errno, means.local));
                }
                // The peer does not want the path, for a reason that will not pass. A kernel says "unspecified" with
                // each reset for which it has none.
                let refused = reset.is_some_and(|reset| !reset.transient && reset.reason != UNSPECIFIED);
                let refusal = refused.then_some(Event::PathRefused(subflow));
                let events = refusal.into_iter().chain([Event::SubflowClosed(subflow)]);
                self.with(token, |connection, means| connection.on_events(events, means));
            }
            // Nothing can be done yet; and priorities are the peer's affair, or were set here.
            MptcpEvent::Created { .. } | MptcpEvent::SubflowPriority { .. } => {}
        }
    }

    /// Begins to manage a connection.
    fn begin(&mut self, token: u32, initial: FourTuple, client: bool, closed: bool) {
        // The event may come again for a connection that was taken over; or the token has a new connection.
        if self.connections.get(&token).is_some_and(|known| known.initial() == initial) || !is_remote(&initial) {
            return;
        }
        let plan = (self.rules.plan)(&initial, client);
        let named = plan.subflows.clone();
        log::debug!("connection {token:08x} with {} gets {}", initial.remote, plan.path_manager.name());
        let mut connection = Connection::new(token, initial, client, plan);
        let lost = self.just_lost.iter().copied().find(|lost| lost.address == initial.local.ip());
        let mut means = self.means();
        connection.establish(closed, &named, &mut means);
        if let Some(lost) = lost.filter(|lost| means.local.entry(lost.address).is_none()) {
            connection.lose(&lost, &mut means);
        }
        self.connections.insert(token, connection);
        self.expect([initial]);
    }

    /// The ends of these subflows count.
    pub(super) fn expect(&mut self, subflows: impl IntoIterator<Item = FourTuple>) {
        if let Some(carried) = &mut self.carried {
            carried.expect(subflows);
        }
    }

    /// Notes what open subflows have carried so far, if somebody asks for it.
    pub(super) fn list_carried(&mut self) -> Result<()> {
        let Self { carried, connections, .. } = self;
        let is_open = |subflow| connections.values().any(|connection| connection.subflows().contains(&subflow));
        carried.as_mut().map_or(Ok(()), |carried| carried.list(is_open))
    }

    /// Asks for this host's addresses, and tells all connections what is different.
    fn refresh_addresses(&mut self) -> Result<()> {
        // Connections close the subflows of addresses that are gone, and the kernel forgets what the first one carried.
        self.list_carried()?;
        let difference = match self.local.refresh(&self.rules.interfaces) {
            // An address that is missing in such a list is not lost.
            Err(error) if error.is_torn_list() => {
                log::warn!("{error}; asking again");
                self.addresses_due = true;
                return Ok(());
            }
            found => found?,
        };
        self.addresses_due = false;
        self.log(&difference);
        if let Some(carried) = &mut self.carried {
            carried.follow(&self.local);
        }
        let Difference { lost, gained, changed } = difference;
        self.with_all(|connection, means| {
            lost.iter().for_each(|lost| connection.lose(lost, means));
            connection.on_events(gained.iter().map(|gained| Event::LocalAddressAdded(gained.named())), means);
            changed.iter().for_each(|changed| connection.prefer(changed.address, changed.backup, means));
        });
        self.just_lost.extend(lost);
        Ok(())
    }

    /// Begins the subflows again that are being opened without a route and have one by now.
    fn begin_routed(&mut self) -> Result<()> {
        if !self.connections.values().any(Connection::has_unrouted) {
            return Ok(());
        }
        let all = SocketDiag::open()?.subflows()?;
        let opening: Vec<FourTuple> = all.iter().filter(|subflow| subflow.is_opening()).map(ends_of).collect();
        self.with_all(|connection, means| connection.begin_routed(&opening, means));
        Ok(())
    }

    fn log(&self, Difference { lost, gained, changed }: &Difference) {
        lost.iter().for_each(|lost| log::info!("address {} is gone", lost.address));
        gained.iter().for_each(|new| log::info!("address {}{}", new.address, backup_text(new.backup)));
        changed.iter().for_each(|new| log::info!("address {} is now{}", new.address, role_text(new.backup)));
    }

    /// What a connection that is not among the others yet needs.
    pub(super) fn means(&mut self) -> Means<'_> {
        Means { kernel: &mut self.kernel, local: &mut self.local, now: self.clock.now() }
    }

    pub(super) fn with(&mut self, token: u32, work: impl FnOnce(&mut Connection, &mut Means<'_>)) {
        let now = self.clock.now();
        if let Some(connection) = self.connections.get_mut(&token) {
            work(connection, &mut Means { kernel: &mut self.kernel, local: &mut self.local, now });
        }
    }

    fn with_all(&mut self, work: impl Fn(&mut Connection, &mut Means<'_>)) {
        let mut means = Means { kernel: &mut self.kernel, local: &mut self.local, now: self.clock.now() };
        self.connections.values_mut().for_each(|connection| work(connection, &mut means));
    }
}

/// The events that are waiting, but not more than a batch, and whether some were lost after these.
fn batch<T>(mut receive: impl FnMut() -> Result<Received<T>>) -> Result<(Vec<T>, Rest)> {
    let mut batch = Vec::new();
    for _ in 0..BATCH {
        match receive()? {
            Received::Nothing => return Ok((batch, Rest::Nothing)),
            Received::Events(events) => batch.extend(events),
            Received::Lost => return Ok((batch, Rest::Lost)),
        }
    }
    Ok((batch, Rest::More))
}

/// What follows a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    Nothing,
    /// Maybe further events.
    More,
    /// Events that were lost.
    Lost,
}

pub(super) fn ends_of(subflow: &SubflowSocket) -> FourTuple {
    FourTuple { local: subflow.info.local, remote: subflow.info.remote }
}

fn backup_text(backup: bool) -> &'static str {
    if backup { ", for backup subflows" } else { "" }
}

fn role_text(backup: bool) -> &'static str {
    if backup { " for backup subflows" } else { " for regular subflows" }
}

/// Whether a connection leaves this host. One over the loopback interface has only one path.
pub(super) fn is_remote(initial: &FourTuple) -> bool {
    !initial.remote.ip().is_loopback()
}

/// Whether a subflow may be opened to an address that a peer announced: one that names another host.
fn may_be_joined(address: IpAddr) -> bool {
    let link_local = match address {
        IpAddr::V4(address) => address.is_link_local() || address.is_broadcast(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    };
    !(address.is_loopback() || address.is_multicast() || address.is_unspecified() || link_local)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_that_never_end_are_handled_in_batches() {
        let mut number = 0;
        let mut endless = || {
            number += 1;
            Ok(Received::Events(vec![number]))
        };
        let (events, rest) = batch(&mut endless).expect("received");
        assert_eq!((events.len(), events.last(), rest), (BATCH, Some(&BATCH), Rest::More));
        assert_eq!(batch(endless).expect("received").0.first(), Some(&(BATCH + 1)));
    }

    #[test]
    fn a_batch_ends_where_events_were_lost_or_none_is_left() {
        let mut first = [Received::Events(vec![1]), Received::Lost, Received::Events(vec![2])].into_iter();
        assert_eq!(batch(|| Ok(first.next().expect("not read on"))).expect("received"), (vec![1], Rest::Lost));
        let mut then = [Received::Events(vec![2]), Received::Nothing].into_iter();
        assert_eq!(batch(|| Ok(then.next().expect("not read on"))).expect("received"), (vec![2], Rest::Nothing));
    }
}
