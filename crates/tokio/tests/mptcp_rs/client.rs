//! The client of `mptcp-rs` on devices in memory and tokio's clock.

use std::future::{Future, poll_fn};
use std::net::IpAddr;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use mptcp_rs::{ConnectConfig, Connection, ConnectionHandle, Endpoint, Event, Instant as Time, ReadError};
use rand::SeedableRng;
use rand::rngs::StdRng;
use subflow_tokio::MptcpStream;
use tokio::time::{Instant, sleep_until};

use crate::support::Setup;

const MTU: u16 = 1500;

/// A connection to port 80 of the server, from the address of the first path.
pub(super) struct Client<'a> {
    setup: &'a Setup,
    endpoint: Endpoint<StdRng>,
    handle: ConnectionHandle,
    began: Instant,
    events: Vec<Event>,
    /// Those that it sent, by path.
    pub(super) packets: Vec<u64>,
}

/// A client and the server's end of its connection.
pub(super) async fn connected(setup: &Setup) -> (Client<'_>, MptcpStream) {
    let listener = setup.server.listen(80).expect("the port is free");
    let mut client = Client::new(setup);
    let accepted = tokio::select! {
        accepted = listener.accept() => accepted,
        never = client.run_until(|client| client.events.len() > 1000) => unreachable!("{never:?}"),
    };
    (client, accepted.expect("accepts").0)
}

impl<'a> Client<'a> {
    fn new(setup: &'a Setup) -> Self {
        let mut endpoint = Endpoint::new(StdRng::seed_from_u64(7));
        let (local, server) = (setup.client_addresses[0], setup.address(80));
        let opened = endpoint.connect_mptcp(Time::from_nanos(0), local, server, ConnectConfig::default());
        let handle = opened.expect("the address is good");
        let packets = vec![0; setup.client_addresses.len()];
        Self { setup, endpoint, handle, began: Instant::now(), events: Vec::new(), packets }
    }

    /// Opens a subflow from the address of a path.
    pub(super) fn join(&mut self, path: usize) {
        self.open(path, false);
    }

    /// The same, as a backup.
    pub(super) fn join_as_backup(&mut self, path: usize) {
        self.open(path, true);
    }

    fn open(&mut self, path: usize, backup: bool) {
        let (now, local, server) = (self.now(), self.setup.client_addresses[path], self.setup.address(80));
        self.endpoint.add_subflow(now, self.handle, local, server, MTU, backup).expect("MPTCP is in use");
    }

    /// Ends the connection with MP_FASTCLOSE.
    pub(super) fn abort(&mut self) {
        self.endpoint.connection(self.handle).expect("it is not freed").abort();
    }

    pub(super) fn saw(&self, event: impl Fn(&Event) -> bool) -> bool {
        self.events.iter().any(event)
    }

    /// Sends `data` and its end and receives to the end of the server's, until `server` is through, too. Without data
    /// it ends its direction after the server.
    pub(super) async fn exchange<T>(
        &mut self,
        data: Vec<u8>,
        server: impl Future<Output = T>,
    ) -> (Result<Vec<u8>, ReadError>, T) {
        let mut server = pin!(server);
        let (mut sent, mut received, mut ended, mut output) = (0, Vec::new(), None, None);
        loop {
            // After a reset it is freed.
            match self.endpoint.connection(self.handle) {
                Some(connection) => {
                    sent += connection.write(&data[sent..]).unwrap_or(0);
                    if sent == data.len() && (sent > 0 || ended.is_some()) {
                        connection.close();
                    }
                    ended = ended.or_else(|| read_all(connection, &mut received).transpose());
                }
                None => ended = ended.or(Some(Err(ReadError::Reset))),
            }
            self.transmit();
            if let (Some(result), true) = (ended, output.is_some()) {
                return (result.map(|()| received), output.expect("it is there"));
            }
            tokio::select! {
                value = &mut server, if output.is_none() => output = Some(value),
                () = self.step() => {}
            }
        }
    }

    /// Lets it work for a while.
    pub(super) async fn run_for(&mut self, time: Duration) {
        let end = Instant::now() + time;
        tokio::select! {
            () = sleep_until(end) => {}
            () = self.run_until(|_| false) => {}
        }
    }

    async fn run_until(&mut self, done: impl Fn(&Self) -> bool) {
        while !done(self) {
            self.transmit();
            self.step().await;
        }
    }

    /// Waits for a packet or a timer, and handles it.
    async fn step(&mut self) {
        let due = self.endpoint.poll_timeout().map(|at| self.began + Duration::from_nanos(at.as_nanos()));
        let timer = sleep_until(due.unwrap_or_else(|| Instant::now() + Duration::from_secs(3600)));
        tokio::select! {
            packet = receive(self.setup) => self.endpoint.handle_packet(self.now(), &packet),
            () = timer => {}
        }
        let now = self.now();
        if self.endpoint.poll_timeout().is_some_and(|at| at <= now) {
            self.endpoint.handle_timeout(now);
        }
        while let Some((_, event)) = self.endpoint.poll_event() {
            self.events.push(event);
        }
    }

    /// Sends what is due, each packet on the path of its source.
    fn transmit(&mut self) {
        let mut buffer = [0; MTU as usize];
        while let Some(length) = self.endpoint.poll_transmit(self.now(), &mut buffer) {
            let source = IpAddr::from([buffer[12], buffer[13], buffer[14], buffer[15]]);
            let path = self.setup.client_addresses.iter().position(|&address| address == source).expect("its own");
            self.packets[path] += 1;
            self.setup.device(path).send(&buffer[..length]).expect("the device works");
        }
    }

    fn now(&self) -> Time {
        Time::from_nanos(self.began.elapsed().as_nanos() as u64)
    }
}

/// Reads what there is. Returns whether that was all, or why no more can come.
fn read_all(connection: &mut Connection, to: &mut Vec<u8>) -> Result<Option<()>, ReadError> {
    let mut buffer = [0; 1 << 14];
    loop {
        match connection.read(&mut buffer) {
            Ok(0) => return Ok(Some(())),
            Ok(length) => to.extend_from_slice(&buffer[..length]),
            Err(ReadError::WouldBlock) => return Ok(None),
            Err(error) => return Err(error),
        }
    }
}

/// The next packet of any path.
async fn receive(setup: &Setup) -> Vec<u8> {
    let mut buffer = vec![0; 1 << 16];
    poll_fn(|context| {
        for path in 0..setup.client_addresses.len() {
            if let Poll::Ready(received) = setup.device(path).poll_receive(context, &mut buffer) {
                return Poll::Ready(buffer[received.expect("the device works").bytes].to_vec());
            }
        }
        Poll::Pending
    })
    .await
}
