//! Attempts to open a subflow that began before there was a route.
//!
//! A socket of IPv4 that is bound to an interface needs no route. Without one the kernel takes the peer for a neighbour
//! (Linux `ip_route_output_key_hash_rcu`), which it may be, and asks for it for 3 s. A route that comes meanwhile does not
//! help: the SYN waits for the neighbour and is not sent again (`skb_still_in_host_queue`). So the attempt is begun again
//! when there is a route. Path managers do not see that.

use std::net::{IpAddr, SocketAddr};

use subflow_policy::path_manager::{Command, FourTuple};

/// Those of a connection.
#[derive(Debug, Default)]
pub(super) struct Unrouted {
    attempts: Vec<Attempt>,
    /// Subflows that were closed and begun again, whose end the kernel has not reported yet.
    replaced: Vec<FourTuple>,
}

/// An attempt that goes on.
#[derive(Clone, Debug)]
pub(super) struct Attempt {
    pub(super) from: IpAddr,
    pub(super) to: SocketAddr,
    /// What began it.
    pub(super) command: Command,
}

/// What the end of a subflow was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// There is another in its place.
    Replaced,
    /// That of an attempt without a route.
    Unrouted,
    /// Another one.
    Other,
}

impl Attempt {
    /// Whether it is the one of this subflow.
    pub(super) fn opens(&self, subflow: &FourTuple) -> bool {
        self.from == subflow.local.ip() && is_remote(self.to, subflow.remote)
    }
}

/// Whether the kernel may call `known` so: when it has closed a subflow that was not established, the port is 0.
fn is_remote(known: SocketAddr, reported: SocketAddr) -> bool {
    known == reported || reported.port() == 0 && known.ip() == reported.ip()
}

impl Unrouted {
    pub(super) fn add(&mut self, attempt: Attempt) {
        self.attempts.push(attempt);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.attempts.is_empty()
    }

    /// Takes all of them. Those that go on have to be added again.
    pub(super) fn take(&mut self) -> Vec<Attempt> {
        core::mem::take(&mut self.attempts)
    }

    /// A subflow was closed, and its attempt begun again.
    pub(super) fn on_replaced(&mut self, subflow: FourTuple) {
        self.replaced.push(subflow);
    }

    /// A subflow is established: its peer was a neighbour.
    pub(super) fn on_established(&mut self, subflow: FourTuple) {
        self.attempts.retain(|attempt| !attempt.opens(&subflow));
    }

    /// Whether a subflow was closed because there is another in its place.
    pub(super) fn is_replaced(&self, subflow: FourTuple) -> bool {
        self.place_of_replaced(subflow).is_some()
    }

    fn place_of_replaced(&self, subflow: FourTuple) -> Option<usize> {
        let is_it = |known: &FourTuple| known.local == subflow.local && is_remote(known.remote, subflow.remote);
        self.replaced.iter().position(is_it)
    }

    /// A subflow has ended, or did not open.
    pub(super) fn on_closed(&mut self, subflow: FourTuple) -> End {
        if let Some(place) = self.place_of_replaced(subflow) {
            self.replaced.swap_remove(place);
            return End::Replaced;
        }
        let Some(place) = self.attempts.iter().position(|attempt| attempt.opens(&subflow)) else { return End::Other };
        self.attempts.swap_remove(place);
        End::Unrouted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subflow(from: u8, port: u16) -> FourTuple {
        FourTuple { local: ([10, 0, 0, from], port).into(), remote: ([10, 9, 0, 1], 80).into() }
    }

    fn attempt(from: u8) -> Attempt {
        let FourTuple { local, remote } = subflow(from, 0);
        Attempt { from: local.ip(), to: remote, command: Command::Withdraw { id: from } }
    }

    #[test]
    fn an_attempt_ends_with_its_subflow_and_one_that_was_replaced_is_not_missed() {
        let mut unrouted = Unrouted::default();
        (1..4).for_each(|from| unrouted.add(attempt(from)));
        unrouted.on_established(subflow(1, 4001));
        assert_eq!(unrouted.on_closed(subflow(1, 4001)), End::Other, "it was open");
        assert_eq!(unrouted.on_closed(subflow(2, 4002)), End::Unrouted);
        assert_eq!(unrouted.take().iter().map(|one| one.from).collect::<Vec<_>>(), [IpAddr::from([10, 0, 0, 3])]);
        unrouted.on_replaced(subflow(3, 4003));
        assert_eq!([4003, 4003].map(|port| unrouted.on_closed(subflow(3, port))), [End::Replaced, End::Other]);
        assert!(unrouted.is_empty());
    }

    #[test]
    fn a_subflow_that_was_replaced_is_known_without_its_remote_port() {
        let mut unrouted = Unrouted::default();
        unrouted.on_replaced(subflow(3, 4003));
        let reported = |local| FourTuple { remote: ([10, 9, 0, 1], 0).into(), ..subflow(3, local) };
        assert!(unrouted.is_replaced(reported(4003)) && !unrouted.is_replaced(reported(4004)));
        assert_eq!([4003, 4003].map(|port| unrouted.on_closed(reported(port))), [End::Replaced, End::Other]);
    }
}
