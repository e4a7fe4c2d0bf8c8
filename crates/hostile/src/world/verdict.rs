//! The end of a case: the network heals, everybody ends what they have, and what was promised has to have come true.

use subflow_quantity::Duration;
use subflow_transport::tcp::Closed;

use super::{Report, World};
use crate::ledger::{Connection, Ended};
use crate::limits::{STEPS_AT_REST, STEPS_PER_ENDPOINT, STEPS_TO_CLOSE, of_host};
use crate::setup::{CLIENT, SERVER};

/// A path that fails for longer may end a connection.
const LONG_FAILURE: Duration = Duration::from_secs(30);
/// An end of QUIC is in its closing state for three PTO (RFC 9000, section 10.2). Where the first packet is repeated by
/// an attacker as late as the idle timeout allows, its answer is an RTT sample of 600 s, and a PTO 1800 s (RFC 9002,
/// section 5.3: half of the sample is its variation, four times).
const LONGEST_CLOSING: Duration = Duration::from_secs(3 * 1800);
/// The time in which every connection closes.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2 * 86_400);
/// So long timestamps tell old from new (RFC 7323, section 5.5). A connection that is idle for longer takes any; a packet
/// that is repeated ends its idleness with an old timestamp, and what is new then passes for old.
const TIMESTAMPS_LAST: Duration = Duration::from_secs(24 * 86_400);
const REST: Duration = Duration::from_secs(600);

impl World<'_> {
    /// Ends the case and returns its result.
    pub(crate) fn finish(mut self) -> Report {
        self.heal();
        self.close();
        self.run_until_closed();
        self.leave_attackers();
        let (before, most) = (self.steps, STEPS_AT_REST + STEPS_PER_ENDPOINT * self.endpoints());
        self.run_for(REST, most + 1);
        assert!(self.steps - before <= most, "packets and timers without end, though there is nothing to send");
        self.check();
        let completed = self.check_connections();
        self.check_leftovers();
        Report {
            steps: self.steps,
            sent: self.sent,
            delivered: self.ends().map(|ended| ended.received).sum(),
            most_held: (0, 1),
            completed,
        }
    }

    /// All paths and addresses work again, and no attacker is on the paths.
    fn heal(&mut self) {
        self.paths.heal(self.now);
        if self.paths.down_for > LONG_FAILURE {
            self.excuse_all();
        }
        let closed = self.now + CLOSE_TIMEOUT;
        for connection in &mut self.ledger.connections {
            connection.may_end_early |= connection.oldest_repeat.is_some_and(|at| closed.since(at) > TIMESTAMPS_LAST);
        }
        for host in [CLIENT, SERVER] {
            for address in self.case.setup.addresses_of(host) {
                if !self.hosts[host].has_address(address) {
                    self.hosts[host].set_address(address, true, self.now);
                }
            }
            self.drain_all(host);
        }
    }

    /// Every application reads, writes what it has left, and ends its stream.
    fn close(&mut self) {
        self.closing = true;
        let now = self.now;
        for host in [CLIENT, SERVER] {
            for id in self.hosts[host].endpoint_ids() {
                self.hosts[host].apply(id, |endpoint| endpoint.set_reading(true, now));
                self.end_stream(host, id);
                self.drain(host, id);
            }
        }
    }

    fn run_until_closed(&mut self) {
        let (limit, before) = (self.now + CLOSE_TIMEOUT, self.steps);
        let most = STEPS_TO_CLOSE + STEPS_PER_ENDPOINT * self.endpoints() + self.unacknowledged() / 50;
        while let Some(open) = self.ledger.connections.iter().position(Connection::is_awaited) {
            assert!(self.next().is_some(), "connection {open} is asleep for ever: {}", self.progress(open));
            assert!(self.now < limit, "connection {open} never ends: {}", self.progress(open));
            assert!(self.steps - before < most, "connection {open}: too many packets: {}", self.progress(open));
            // Looking for those that are open takes longer than a step.
            (0..64).for_each(|_| self.step());
        }
    }

    /// Gives up the connections with the attacker: who offers a window of a few bytes keeps a sender busy.
    fn leave_attackers(&mut self) {
        let alone = self.ledger.connections.iter().filter(|connection| !connection.honest);
        let ends = alone.flat_map(|connection| {
            let id = |host: usize| Some((host, connection.sides[host].as_ref()?.id?));
            [CLIENT, SERVER].into_iter().filter_map(id)
        });
        for (host, id) in ends.collect::<Vec<_>>() {
            self.hosts[host].apply(id, |endpoint| endpoint.abort());
            self.drain(host, id);
        }
    }

    fn endpoints(&self) -> u64 {
        self.hosts.iter().map(|host| host.endpoints() as u64).sum()
    }

    /// Bytes that are on the way, or wait.
    fn unacknowledged(&self) -> u64 {
        let waiting = self.ledger.connections.iter().flat_map(|connection| &connection.sides).flatten();
        let written = [CLIENT, SERVER].into_iter().flat_map(|host| {
            let host = &self.hosts[host];
            host.endpoint_ids().into_iter().map(|id| host.endpoint(id).bytes_written())
        });
        waiting.map(|side| side.unwritten).sum::<u64>() + written.sum::<u64>()
    }

    fn progress(&self, index: usize) -> String {
        let connection = &self.ledger.connections[index];
        let say = |host: usize| match &connection.sides[host] {
            None => "not there".to_owned(),
            Some(side) => match (side.id, side.ended) {
                (Some(id), _) => {
                    let endpoint = self.hosts[host].endpoint(id);
                    let [written, acknowledged, received] =
                        [endpoint.bytes_written(), endpoint.bytes_acknowledged(), endpoint.bytes_received()];
                    let (unwritten, due) = (side.unwritten, endpoint.poll_timeout());
                    format!(
                        "{written} bytes written and {unwritten} waiting, {acknowledged} acknowledged, {received} \
                         received, to be called at {due:?}"
                    )
                }
                (None, ended) => format!("{ended:?}"),
            },
        };
        format!("at {:?}; client: {}; server: {}", self.now, say(CLIENT), say(SERVER))
    }

    fn ends(&self) -> impl Iterator<Item = Ended> {
        self.ledger.connections.iter().flat_map(|connection| &connection.sides).flatten().filter_map(|side| side.ended)
    }

    /// Connections that had no excuse have completed; those that ended in order on both sides have delivered
    /// everything.
    fn check_connections(&self) -> u64 {
        let mut completed = 0;
        for (index, connection) in self.ledger.connections.iter().enumerate().filter(|(_, one)| one.honest) {
            let ends = [CLIENT, SERVER].map(|side| connection.sides[side].as_ref().and_then(|side| side.ended));
            if connection.may_end_early {
                if let [Some(client), Some(server)] = ends
                    && [client, server].iter().all(|end| end.how == Some(Closed::Gracefully))
                    && !connection.forged
                {
                    self.check_delivered(index, client, server);
                    self.check_delivered(index, server, client);
                }
                continue;
            }
            let [Some(client), Some(server)] = ends else { panic!("connection {index} is not over") };
            // Without its peer's last packets an end of QUIC waits until it is idle for too long.
            let waits = |end: &Ended| end.how == Some(Closed::TimedOut);
            if self.case.stack.has_idle_timeout() && connection.has_lost() && [client, server].iter().any(waits) {
                continue;
            }
            for (end, who) in [(client, "client"), (server, "server")] {
                let how = end.how;
                assert_eq!(how, Some(Closed::Gracefully), "connection {index} had no reason to end so at the {who}");
            }
            self.check_delivered(index, client, server);
            self.check_delivered(index, server, client);
            completed += 1;
        }
        completed
    }

    /// Everything that one end wrote has arrived at the other; with partial reliability, no more than that.
    fn check_delivered(&self, index: usize, sender: Ended, receiver: Ended) {
        let (written, received) = (sender.written, receiver.received);
        let partial = self.case.setup.ends.iter().any(|end| end.give_up_after.is_some());
        let right = received == written || partial && received < written;
        assert!(right, "connection {index}: {written} bytes were written and {received} have arrived");
    }

    /// Once every endpoint is given up and gone, the hosts hold nothing for them.
    fn check_leftovers(&mut self) {
        for _ in 0..3 {
            for host in [CLIENT, SERVER] {
                for id in self.hosts[host].endpoint_ids() {
                    self.hosts[host].apply(id, |endpoint| endpoint.abort());
                    self.drain(host, id);
                }
            }
            self.run_for(Duration::from_secs(300), STEPS_AT_REST);
        }
        if self.case.stack.has_idle_timeout() && self.endpoints() > 0 {
            self.run_for(LONGEST_CLOSING, STEPS_AT_REST);
        }
        for host in [CLIENT, SERVER] {
            let (endpoints, held) = (self.hosts[host].endpoints(), self.hosts[host].held());
            assert_eq!(endpoints, 0, "host {host} has endpoints that cannot be ended");
            let allowed = of_host(self.most_endpoints[host], self.hosts[host].most_ends());
            assert!(held <= allowed, "memory: host {host} holds {held} bytes for no endpoint, not {allowed}");
        }
    }
}
