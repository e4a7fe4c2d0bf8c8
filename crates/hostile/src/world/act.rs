//! What the applications and the network do.

use std::net::SocketAddr;

use subflow_quantity::Duration;
use subflow_transport::EndpointId;

use super::{World, puppet};
use crate::action::{Action, Call};
use crate::forgery::Greeting;
use crate::ledger::Ended;
use crate::limits;
use crate::setup::{ATTACKER, CLIENT, IDLE_TIMEOUT, PORT, SERVER};

/// The attacker's addresses for connections that it is lured into, or that it opens: one each.
const LURES: u16 = 100;
const INTRUSIONS: u16 = 500;
/// The port that the attacker opens connections from.
const INTRUDER_PORT: u16 = 40_000;

impl World<'_> {
    /// Lets an action happen.
    pub(crate) fn act(&mut self, action: &Action) {
        match action {
            &Action::Connect { to, times } => self.connect(to, times),
            Action::Lure(greeting) => self.lure(greeting),
            Action::Intrude(greeting) => self.intrude(greeting),
            Action::Apply { connection, side, call } => self.apply(*connection, usize::from(side % 2), call),
            &Action::Wait { ms } => self.run_for(Duration::from_millis(ms), limits::STEPS_PER_WAIT),
            &Action::Path { client, server, up } => self.set_path(client, server, up),
            &Action::Address { side, index, present } => self.set_address(usize::from(side % 2), index, present),
            Action::Interfere { from, packets, how } => {
                self.paths.interfere(usize::from(from % 2), *packets, how.clone());
            }
            &Action::Replay { age } => self.replay(age.into()),
            Action::Forge(forge) => self.forge(forge),
        }
        // Waiting takes time, and so do forgeries one after another.
        if self.case.stack.has_idle_timeout() && self.elapsed() > IDLE_TIMEOUT / 2 {
            self.excuse_all();
        }
    }

    fn connect(&mut self, to: u8, times: u16) {
        let setup = &self.case.setup;
        let local = setup.address(CLIENT, 0);
        let remote = SocketAddr::new(setup.address(SERVER, (to % setup.addresses[SERVER]).into()), PORT);
        let kind = self.case.stack.listener(&setup.ends[CLIENT]);
        for _ in 0..times {
            let Some(id) = self.hosts[CLIENT].connect(&kind, local, remote, self.now) else { return };
            self.steps += 1;
            let local = self.hosts[CLIENT].endpoint(id).ends().local;
            let connection = self.ledger.open(CLIENT, id, (local, remote), true);
            // Where a stranger's SYN came first the client has to reset what it began, and may run out of attempts.
            let is_taken = self.hosts[SERVER].has_ends(remote, local);
            self.ledger.connections[connection].may_end_early = self.unsettled || is_taken;
            self.drain(CLIENT, id);
        }
    }

    /// The client connects to the attacker.
    fn lure(&mut self, greeting: &Greeting) {
        let setup = &self.case.setup;
        let address = setup.address(ATTACKER, LURES + self.greetings.len() as u16);
        self.greetings.insert(address, greeting.clone());
        let (local, remote) = (setup.address(CLIENT, 0), SocketAddr::new(address, PORT));
        let kind = self.case.stack.listener(&setup.ends[CLIENT]);
        let Some(id) = self.hosts[CLIENT].connect(&kind, local, remote, self.now) else { return };
        let local = self.hosts[CLIENT].endpoint(id).ends().local;
        self.ledger.open(CLIENT, id, (local, remote), false);
        self.drain(CLIENT, id);
    }

    /// The attacker connects to the server.
    fn intrude(&mut self, greeting: &Greeting) {
        let setup = &self.case.setup;
        let address = setup.address(ATTACKER, INTRUSIONS + self.greetings.len() as u16);
        self.greetings.insert(address, greeting.clone());
        let (local, remote) =
            (SocketAddr::new(address, INTRUDER_PORT), SocketAddr::new(setup.address(SERVER, 0), PORT));
        self.send_as_attacker(puppet::hello(self.case.stack, greeting, local, remote));
    }

    fn apply(&mut self, connection: u8, side: usize, call: &Call) {
        let Some((index, id)) = self.ledger.pick(connection, side) else { return };
        let now = self.now;
        let host = &mut self.hosts[side];
        match *call {
            Call::Write(bytes) => {
                let own = self.ledger.side(side, id);
                // Nothing is written after the end of a stream.
                if !own.finishing && !own.finished {
                    own.unwritten = own.unwritten.saturating_add(bytes.into()).min(limits::MOST_UNWRITTEN);
                    self.push_unwritten(side, id);
                }
            }
            Call::Read(reading) => {
                self.ledger.side(side, id).paused = !reading;
                host.apply(id, |endpoint| endpoint.set_reading(reading, now));
            }
            Call::Finish => self.end_stream(side, id),
            Call::Stop => {
                let own = self.ledger.side(side, id);
                (own.unwritten, own.finishing, own.finished) = (0, false, true);
                host.apply(id, |endpoint| endpoint.stop());
            }
            Call::Abort => {
                self.ledger.connections[index].may_end_early = true;
                host.apply(id, |endpoint| endpoint.abort());
            }
            Call::Crash => {
                self.ledger.connections[index].give_up();
                let endpoint = host.endpoint(id);
                let (written, received) = (endpoint.bytes_written(), endpoint.bytes_received());
                self.ledger.end(side, id, Ended { how: None, written, received });
                host.remove(id);
                return;
            }
        }
        let own = self.ledger.side(side, id);
        if own.finished && own.paused && self.case.stack.guards_its_close() {
            // The peer cannot end either while its data finds no room, until its peer gives up.
            self.ledger.connections[index].may_end_early = true;
        }
        self.drain(side, id);
    }

    /// Ends the stream after what was written.
    pub(super) fn end_stream(&mut self, side: usize, id: EndpointId) {
        let own = self.ledger.side(side, id);
        if !own.finished {
            (own.finishing, own.finished) = (true, true);
            self.push_unwritten(side, id);
        }
    }

    fn set_path(&mut self, client: u8, server: u8, up: bool) {
        let [clients, servers] = self.case.setup.addresses.map(usize::from);
        self.paths.set(usize::from(client) % clients, usize::from(server) % servers, up, self.now);
    }

    fn set_address(&mut self, side: usize, index: u8, present: bool) {
        let address = self.case.setup.address(side, (index % 4).into());
        self.excuse_all();
        self.unsettled = true;
        self.hosts[side].set_address(address, present, self.now);
        self.drain_all(side);
    }

    /// The network did something that a connection need not survive.
    pub(super) fn excuse_all(&mut self) {
        self.ledger.connections.iter_mut().for_each(|connection| connection.may_end_early = true);
    }

    /// A packet that passed comes again.
    fn replay(&mut self, age: usize) {
        let found = match self.last.len().checked_sub(age + 1) {
            Some(at) => self.last.get(at),
            None => self.first.get(age % self.first.len().max(1)),
        };
        if let Some((at, sent, to, wire)) = found.cloned() {
            self.ledger.connections.iter_mut().for_each(|connection| connection.note_repeat(at));
            self.put_on_wire_late(to, wire, Duration::from_millis(1), sent);
        }
    }
}
