//! The TCP and MPTCP sockets of one host: what the kernel lists, which have ended since, and whose they are.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use subflow_linux::netlink::{EndedSockets, MptcpEvent, MptcpEvents, MptcpSocket, Received, SocketDiag, TcpSocket};
use subflow_linux::{KernelHost, Namespace, Result, SocketOwner};

use super::super::programs::PROGRAM_VARIABLE;

/// How often the process is looked for that has a socket; a socket that is being accepted has none for a moment.
const ATTEMPTS: u32 = 3;
/// The most datagrams with events that are read at once.
const MOST_EVENTS: usize = 1 << 14;

/// The two ends of a socket, this host's first.
pub(super) type SocketEnds = [SocketAddr; 2];

/// Reads the sockets of a host.
pub(super) struct HostSockets<'a> {
    namespace: &'a Namespace,
    diag: SocketDiag,
    ended: EndedSockets,
    /// `None` if the kernel has no MPTCP.
    events: Option<MptcpEvents>,
    /// The connection of a subflow by the peer's token, which all subflows that this host opens have.
    by_remote_token: BTreeMap<u32, u32>,
    /// The connection of a subflow by its ends, from events: a subflow that has ended has no tokens.
    by_ends: BTreeMap<SocketEnds, u32>,
    /// By inode; `Err` counts the attempts to find it.
    owners: BTreeMap<u32, core::result::Result<SocketOwner, u32>>,
    /// By port, the inode of the socket that listens.
    listeners: BTreeMap<u16, u32>,
}

/// What a look at the sockets of a host has found.
#[derive(Default)]
pub(super) struct Seen {
    /// The open sockets, without those that listen.
    pub(super) open: Vec<TcpSocket>,
    /// Those that have ended since the last look.
    pub(super) ended: Vec<TcpSocket>,
    /// The MPTCP connections by token.
    pub(super) mptcp: BTreeMap<u32, MptcpSocket>,
    /// Whether the kernel lost reports of ended sockets.
    pub(super) lost: bool,
}

impl<'a> HostSockets<'a> {
    pub(super) fn open(kernel: &'a KernelHost) -> Result<Self> {
        let namespace = kernel.namespace();
        // Hosts have the kernel's own path manager, or one of ours that listens, too: listening changes nothing.
        let (diag, ended, events) =
            namespace.run(|| Ok((SocketDiag::open()?, EndedSockets::open()?, MptcpEvents::open_passively().ok())))?;
        let (by_remote_token, by_ends, owners, listeners) = Default::default();
        Ok(Self { namespace, diag, ended, events, by_remote_token, by_ends, owners, listeners })
    }

    /// Looks at the sockets.
    pub(super) fn look(&mut self) -> Result<Seen> {
        let mut seen = Seen::default();
        self.read_events()?;
        let listed = self.diag.tcp()?;
        if listed.iter().any(|socket| socket.tokens.is_some()) {
            seen.mptcp = self.diag.connections()?.into_iter().map(|socket| (socket.token, socket)).collect();
        }
        // After the list: a socket that is neither open nor has ended by now has ended without a report.
        for _ in 0..MOST_EVENTS {
            match self.ended.receive()? {
                Received::Nothing => break,
                Received::Events(sockets) => seen.ended.extend(sockets),
                Received::Lost => seen.lost = true,
            }
        }
        let (listening, open): (Vec<TcpSocket>, Vec<TcpSocket>) = listed.into_iter().partition(TcpSocket::listens);
        self.listeners = listening.iter().map(|socket| (socket.info.local.port(), socket.inode)).collect();
        seen.open = open;
        for tokens in seen.open.iter().filter_map(|socket| socket.tokens) {
            if tokens.local != 0 && tokens.remote != 0 {
                self.by_remote_token.insert(tokens.remote, tokens.local);
            }
        }
        // A subflow that is still being closed may need the token of its connection; later ones have another.
        self.by_remote_token.retain(|_, local| seen.mptcp.contains_key(local));
        self.find_owners(&seen);
        Ok(seen)
    }

    fn read_events(&mut self) -> Result<()> {
        let Some(events) = &self.events else { return Ok(()) };
        for _ in 0..MOST_EVENTS {
            let Received::Events(events) = events.receive()? else { break };
            for event in events {
                if let MptcpEvent::Created { token, initial: ends, .. }
                | MptcpEvent::Established { token, initial: ends, .. }
                | MptcpEvent::SubflowEstablished { token, subflow: ends } = event
                {
                    self.by_ends.insert([ends.local, ends.remote], token);
                }
            }
        }
        Ok(())
    }

    fn find_owners(&mut self, seen: &Seen) {
        // The socket of a program is that of the whole connection; subflows are the kernel's.
        let plain = seen.open.iter().filter(|socket| socket.tokens.is_none()).map(|socket| socket.inode);
        let whole = seen.mptcp.values().map(|socket| socket.inode);
        let used: BTreeSet<u32> =
            plain.chain(whole).chain(self.listeners.values().copied()).filter(|&inode| inode != 0).collect();
        self.owners.retain(|inode, _| used.contains(inode));
        let is_wanted = |inode: &u32| match self.owners.get(inode) {
            None => true,
            Some(found) => found.as_ref().is_err_and(|attempts| *attempts < ATTEMPTS),
        };
        let wanted: BTreeSet<u32> = used.into_iter().filter(is_wanted).collect();
        if wanted.is_empty() {
            return;
        }
        let mut found = self.namespace.socket_owners(&wanted, PROGRAM_VARIABLE);
        for inode in wanted {
            let attempts = self.owners.get(&inode).and_then(|known| known.as_ref().err().copied()).unwrap_or(0);
            self.owners.insert(inode, found.remove(&inode).ok_or(attempts + 1));
        }
    }

    /// The token of the connection that a socket is a subflow of.
    pub(super) fn token(&self, socket: &TcpSocket) -> Option<u32> {
        let by_ends = || self.by_ends.get(&[socket.info.local, socket.info.remote]).copied();
        match socket.tokens {
            Some(tokens) if tokens.local != 0 => Some(tokens.local),
            Some(tokens) => self.by_remote_token.get(&tokens.remote).copied().or_else(by_ends),
            None => by_ends(),
        }
    }

    /// The process that has the socket with this inode.
    pub(super) fn owner(&self, inode: u32) -> Option<&SocketOwner> {
        self.owners.get(&inode)?.as_ref().ok()
    }

    /// Whether a socket listens on this port, and the process that has it.
    pub(super) fn listener(&self, port: u16) -> Option<Option<&SocketOwner>> {
        self.listeners.get(&port).map(|&inode| self.owner(inode))
    }

    /// Forgets the ends of a subflow, which another connection may have later.
    pub(super) fn forget(&mut self, socket: &TcpSocket) {
        self.by_ends.remove(&[socket.info.local, socket.info.remote]);
    }
}
