//! Cases, which follow from seeds.

use std::net::SocketAddr;

use rand_core::{RngCore, SeedableRng};
use rand_pcg::Pcg64Mcg;
use subflow_policy::congestion::Algorithm;
use subflow_policy::path_manager::PathManagement;
use subflow_policy::scheduler::Scheduling;
use subflow_quantity::{Duration, Instant};
use subflow_transport::quic::{Config, MultipathConfig};

use crate::application::{Application, Work};
use crate::certificate::{SERVER_NAME, configurations};
use crate::node::{Node, Role};
use crate::ours::Ours;
use crate::path::{Conditions, addresses};
use crate::stacks::noq::Noq;
use crate::stacks::quinn::Quinn;
use crate::world::{Failure, Report, World};

/// A stack that has the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stack {
    /// Ours, with TLS.
    Ours,
    /// quinn-proto: one path.
    Quinn,
    /// noq-proto: several paths.
    Noq,
}

/// A connection between our stack and another.
#[derive(Clone, Debug)]
pub struct Case {
    /// The other stack.
    pub other: Stack,
    /// Whether ours is the server.
    pub serves: bool,
    /// How many paths there are, one or two. Both ends use all of them if both can.
    pub paths: usize,
    /// Whether the client trusts the server's certificate, without which no connection comes about.
    pub trusts: bool,
    /// Whether the server forgets the connection in the middle of a transfer, as after a crash. If nothing is on its way to it
    /// then, nothing tells the client before its idle timeout.
    pub forgets: bool,
    /// What decides everything else.
    pub seed: u64,
}

impl Case {
    /// Lets the case happen.
    ///
    /// # Errors
    ///
    /// Something is not as it has to be.
    pub fn run(&self) -> Result<Report, Failure> {
        let mut random = Pcg64Mcg::seed_from_u64(self.seed);
        let mut up_to = |most: u32| random.next_u32() % (most + 1);
        let mut conditions: Vec<Conditions> = (0..self.paths).map(|_| conditions(&mut up_to)).collect();
        let streams = 1 + up_to(4);
        let work = Work { bytes: (0..streams).map(|_| [0, 1].map(|_| length(&mut up_to))).collect() };
        let chacha = up_to(3) == 0;
        let updates = [0, 1].map(|_| (up_to(2) == 0).then(|| u64::from(up_to(20_000))));
        let other_closes = up_to(1) == 0;
        let ecn = up_to(1) == 0;
        let retries = up_to(2) == 0;
        let now = Instant::from_nanos(1_000_000_000);
        if self.serves && self.other != Stack::Ours {
            conditions.iter_mut().for_each(|conditions| conditions.spares_retry = true);
        }
        // Where there is one path only, losses after a failure may keep both ends from each other for the idle timeout.
        if self.paths > 1 && self.other != Stack::Quinn && up_to(2) == 0 {
            let from = now + Duration::from_millis(100 + u64::from(up_to(1000)));
            let lasts = Duration::from_millis(200 + u64::from(up_to(5000)));
            conditions[up_to(1) as usize].down = Some((from, from + lasts));
        }
        let ours_at = usize::from(self.serves);
        let ends: Vec<[SocketAddr; 2]> = (0..self.paths).map(|path| addresses(path as u8)).collect();
        let role = |side: usize| Role {
            is_server: side == 1,
            addresses: ends.iter().map(|ends| ends[side]).collect(),
            peer: ends.iter().map(|ends| ends[1 - side]).collect(),
            seed: self.seed << 1 | side as u64,
            updates_keys_after: updates[side],
            forgets: self.forgets && side == 1,
            retries,
            closes: other_closes,
        };
        let application = |side: usize| Application::new(work.clone(), side == 1);
        let (mut client, server) = configurations(chacha);
        if !self.trusts {
            client = configurations(chacha).0;
        }
        let of_ours = |side: usize| {
            let tls = match side {
                0 => subflow_tls::client(client.clone(), SERVER_NAME),
                _ => subflow_tls::server(server.clone()),
            };
            let config = self.config(tls.expect("they fit QUIC"), ecn);
            Ours::new(config, role(side), application(side), now)
        };
        let other = 1 - ours_at;
        let mut other: Box<dyn Node> = match (self.other, other) {
            (Stack::Ours, side) => Box::new(of_ours(side)),
            (Stack::Quinn, 0) => Box::new(Quinn::client(client.clone(), role(0), application(0), now)),
            (Stack::Quinn, _) => Box::new(Quinn::server(server.clone(), role(1), application(1))),
            (Stack::Noq, 0) => Box::new(Noq::client(client.clone(), role(0), application(0), now)),
            (Stack::Noq, _) => Box::new(Noq::server(server.clone(), role(1), application(1))),
        };
        let mut ours = of_ours(ours_at);
        let nodes: [&mut dyn Node; 2] =
            if self.serves { [other.as_mut(), &mut ours] } else { [&mut ours, other.as_mut()] };
        World::new(nodes, &conditions, self.seed).run()
    }

    fn config(&self, tls: std::sync::Arc<dyn subflow_transport::quic::tls::Tls>, ecn: bool) -> Config {
        let congestion = Algorithm::from_name("cubic").expect("there is CUBIC");
        let multipath = (self.paths > 1).then(|| {
            let scheduler = Scheduling::from_name("ll").expect("there is such a scheduler");
            MultipathConfig::new(scheduler, PathManagement::from_name("fullmesh").expect("there is such a manager"))
        });
        Config { congestion, multipath, ecn, tls: Some(tls), ..Config::default() }
    }
}

/// What a path does. The rates keep the handshake from failing: each datagram of it arrives within some attempts.
fn conditions(up_to: &mut impl FnMut(u32) -> u32) -> Conditions {
    let lost = if up_to(2) == 0 { 0 } else { up_to(80) };
    Conditions {
        delay: Duration::from_micros(500 + u64::from(up_to(60_000))),
        rate: 200 + u64::from(up_to(10_000)),
        queue: Duration::from_millis(20 + u64::from(up_to(200))),
        lost,
        twice: up_to(30),
        late: up_to(60),
        marked: up_to(20),
        damaged: up_to(10),
        down: None,
        spares_retry: false,
    }
}

/// Bytes of a stream: mostly few, sometimes many.
fn length(up_to: &mut impl FnMut(u32) -> u32) -> u64 {
    let most = [10, 1000, 20_000, 200_000][up_to(3) as usize];
    1 + u64::from(up_to(most))
}
