//! The connections of all hosts, put together from the sockets at their ends.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

use subflow_linux::netlink::TcpSocket;
use subflow_linux::{Result, SocketOwner};
use subflow_quantity::{Duration, Instant};
use subflow_scenario::Scenario;

use super::super::hosts::KernelHosts;
use super::connection::Connection;
use super::end::{End, is_local};
use super::host_sockets::{HostSockets, Seen, SocketEnds};

/// The most connections that are kept; further ones are counted.
const MOST_CONNECTIONS: usize = 10_000;
/// Sockets of further ones that are counted.
const MOST_OMITTED: usize = 100_000;
/// The most connections with metrics over time.
const MOST_SERIES: usize = 200;

/// The process groups that programs lead, with the programs' names.
pub(in crate::emulate) type Groups = Mutex<BTreeMap<u32, String>>;

/// Keeps what was seen of connections.
pub(super) struct Recorder<'a> {
    pub(super) scenario: &'a Scenario,
    hosts: Vec<(usize, HostSockets<'a>)>,
    groups: &'a Groups,
    with_series: bool,
    /// In the order in which they were seen.
    pub(super) connections: Vec<Connection>,
    /// The connection and the end of each open socket, by host and cookie.
    by_socket: BTreeMap<(usize, u64), (usize, usize)>,
    /// The same of MPTCP connections, by host and token.
    by_token: BTreeMap<(usize, u32), (usize, usize)>,
    /// The latest connection with a socket between these ends.
    by_ends: BTreeMap<SocketEnds, usize>,
    is_measuring: bool,
    /// Where the flows of the scenario lead: their connections are none of programs.
    flow_ends: BTreeSet<SocketAddr>,
    /// Sockets of connections beyond the most that are kept, by host and cookie; at most [`MOST_OMITTED`].
    pub(super) omitted: BTreeSet<(usize, u64)>,
    /// Whether a kernel lost reports of ended sockets.
    pub(super) lost: bool,
}

impl<'a> Recorder<'a> {
    pub(super) fn new(
        scenario: &'a Scenario,
        hosts: &'a KernelHosts,
        groups: &'a Groups,
        with_series: bool,
    ) -> Result<Self> {
        let kernels = (0..scenario.hosts.len()).filter_map(|index| Some((index, hosts.get(index)?)));
        let opened = |(index, kernel)| Ok((index, HostSockets::open(kernel)?));
        let hosts = kernels.map(opened).collect::<Result<_>>()?;
        let flow_ends = scenario.flows.iter().map(|flow| SocketAddr::new(flow.addresses[1], flow.port)).collect();
        let (connections, by_socket, by_token, by_ends) = Default::default();
        let (is_measuring, omitted, lost) = Default::default();
        Ok(Self {
            scenario,
            hosts,
            groups,
            with_series,
            flow_ends,
            connections,
            by_socket,
            by_token,
            by_ends,
            is_measuring,
            omitted,
            lost,
        })
    }

    /// Looks at the sockets of all hosts. `interval` is the time since the last look.
    pub(super) fn look(&mut self, now: Instant, interval: Duration) -> Result<()> {
        for position in 0..self.hosts.len() {
            let (host, seen) = (self.hosts[position].0, self.hosts[position].1.look()?);
            self.lost |= seen.lost;
            self.take(position, host, &seen, now, interval);
        }
        if !self.is_measuring && now >= Instant::ZERO + self.scenario.measure_from {
            self.is_measuring = true;
            self.connections.iter_mut().for_each(Connection::begin_measuring);
        }
        for connection in self.connections.iter_mut().filter(|connection| !connection.has_ended()) {
            connection.note_end(now);
            connection.sample(now, self.scenario.sample_interval);
        }
        Ok(())
    }

    fn take(&mut self, position: usize, host: usize, seen: &Seen, now: Instant, interval: Duration) {
        // The initial subflow of a connection first: its other end is found by it.
        let is_initial = |socket: &&TcpSocket| {
            let token = self.hosts[position].1.token(socket);
            let whole = token.and_then(|token| seen.mptcp.get(&token));
            whole.is_none_or(|whole| [whole.local, whole.remote] == [socket.info.local, socket.info.remote])
        };
        let (initial, further): (Vec<&TcpSocket>, Vec<&TcpSocket>) = seen.open.iter().partition(is_initial);
        let sockets = initial.into_iter().chain(further).map(|socket| (socket, false));
        for (socket, has_ended) in sockets.chain(seen.ended.iter().map(|socket| (socket, true))) {
            let began = began(socket, now, interval);
            if let Some((connection, end)) = self.place(position, host, socket, began) {
                self.connections[connection].ends[end].update(socket.clone(), has_ended, now, interval);
                self.name_owner(position, (connection, end), socket.inode);
            }
            if has_ended {
                self.by_socket.remove(&(host, socket.cookie));
                self.hosts[position].1.forget(socket);
            }
        }
        for (&token, whole) in &seen.mptcp {
            if let Some(&(connection, end)) = self.by_token.get(&(host, token)) {
                self.connections[connection].ends[end].update_whole(whole.clone());
                self.name_owner(position, (connection, end), whole.inode);
            }
        }
        let open: BTreeSet<u64> = seen.open.iter().map(|socket| socket.cookie).collect();
        for (connection, end) in take_missing(&mut self.by_socket, host, |cookie| open.contains(&cookie)) {
            self.connections[connection].ends[end].close_missing(|cookie| open.contains(&cookie));
        }
        take_missing(&mut self.by_token, host, |token| seen.mptcp.contains_key(&token));
    }

    /// The connection and the end of a socket, made if it is new; `None` for what is no connection of a program.
    fn place(&mut self, position: usize, host: usize, socket: &TcpSocket, began: Instant) -> Option<(usize, usize)> {
        if let Some(&known) = self.by_socket.get(&(host, socket.cookie)) {
            return Some(known);
        }
        let ends @ [local, remote] = [socket.info.local, socket.info.remote];
        if let Some(known) = self.ended_before(host, socket) {
            return Some(known);
        }
        let is_of_flow = [local, remote].iter().any(|end| self.flow_ends.contains(end));
        if is_local(ends) || is_of_flow {
            return None;
        }
        let token = self.hosts[position].1.token(socket);
        let of_connection = token.and_then(|token| self.by_token.get(&(host, token)).copied());
        let found = match of_connection.or_else(|| self.facing(host, ends)) {
            Some(found) => found,
            None if self.connections.len() == MOST_CONNECTIONS => {
                if self.omitted.len() < MOST_OMITTED {
                    self.omitted.insert((host, socket.cookie));
                }
                return None;
            }
            None => {
                let listened = self.hosts[position].1.listener(local.port()).is_some();
                let with_series = self.with_series && self.connections.len() < MOST_SERIES;
                self.connections.push(Connection::new(End::new(host, listened), began, with_series));
                (self.connections.len() - 1, 0)
            }
        };
        if let Some(token) = token {
            self.by_token.insert((host, token), found);
        }
        self.by_socket.insert((host, socket.cookie), found);
        self.by_ends.insert(ends, found.0);
        Some(found)
    }

    /// The end that a socket is of which has left the list before the kernel reported that it ended.
    fn ended_before(&self, host: usize, socket: &TcpSocket) -> Option<(usize, usize)> {
        let index = *self.by_ends.get(&[socket.info.local, socket.info.remote])?;
        let has = |end: &End| end.host == host && end.subflows.iter().any(|own| own.socket.cookie == socket.cookie);
        Some((index, self.connections[index].ends.iter().position(has)?))
    }

    /// The other end of the connection that a socket with these ends is the peer of, if that was seen.
    fn facing(&mut self, host: usize, [local, remote]: SocketEnds) -> Option<(usize, usize)> {
        let index = *self.by_ends.get(&[remote, local])?;
        let connection = &mut self.connections[index];
        let [only] = connection.ends.as_slice() else { return None };
        let listened = !only.listened;
        connection.ends.push(End::new(host, listened));
        Some((index, 1))
    }

    /// Notes who has an end, once that is known: the process that has the socket, or else the one that listens on its port.
    fn name_owner(&mut self, position: usize, (connection, end): (usize, usize), inode: u32) {
        let known = &self.connections[connection].ends[end];
        if known.owner.is_some() {
            return;
        }
        let sockets = &self.hosts[position].1;
        let port = known.subflows.first().map_or(0, |subflow| subflow.socket.info.local.port());
        let Some(owner) = sockets.owner(inode).or_else(|| sockets.listener(port).flatten()) else { return };
        let (name, is_program) = self.name_of(owner);
        let known = &mut self.connections[connection].ends[end];
        (known.owner, known.is_program) = (Some(name), is_program);
    }

    /// The name of the program that a process is of, or else its own, and whether it is a program's.
    fn name_of(&self, owner: &SocketOwner) -> (String, bool) {
        let groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = |name: &&String| self.scenario.programs.iter().any(|program| program.name == **name);
        match groups.get(&owner.group).or(owner.variable.as_ref()).filter(is_known) {
            Some(program) => (program.clone(), true),
            None => (owner.name.clone(), false),
        }
    }
}

/// Takes what a host has no more, without a look at what the other hosts have.
fn take_missing<K: Copy + Ord + From<u8>, P>(
    known: &mut BTreeMap<(usize, K), P>,
    host: usize,
    is_there: impl Fn(K) -> bool,
) -> Vec<P> {
    let of_host = known.range((host, K::from(0))..(host + 1, K::from(0)));
    let missing: Vec<(usize, K)> = of_host.map(|(&key, _)| key).filter(|&(_, key)| !is_there(key)).collect();
    missing.into_iter().filter_map(|key| known.remove(&key)).collect()
}

/// When a socket began that is new at `now`, `interval` after the last look: it is at least as old as the time for which it
/// has been sending.
fn began(socket: &TcpSocket, now: Instant, interval: Duration) -> Instant {
    Instant::ZERO + (now.since(Instant::ZERO) - socket.busy.min(interval).min(now.since(Instant::ZERO)))
}
