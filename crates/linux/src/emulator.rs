//! The event loop that runs a network in real time.

use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use subflow_network::{HostId, InterfaceId, Network};
use subflow_quantity::{Duration, Instant};

use crate::edge::{Edge, Port};
use crate::error::{Result, While};
use crate::{ByteTap, Device, Interrupt, Punctuality, SctpTraffic, Userspace, WallClock};

/// A network in real time, between kernels behind devices and our stacks.
///
/// Links compute the departure of a packet when it comes ([`Network`]), in exact nanoseconds. A late wake-up therefore
/// delays a packet but does not change a rate: the next packet leaves as if the last one had been on time.
///
/// How to use it: create it, then call [`run_until`](Self::run_until) from one thread, which should have
/// [`Priority::Network`](crate::Priority). Between calls, read the state of the [`network`](Self::network) and the
/// [`userspace`](Self::userspace).
pub struct Emulator<U> {
    network: Network,
    edge: Edge<U>,
    clock: WallClock,
    interrupt: Interrupt,
}

/// Why [`Emulator::run_until`] returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// The end time was reached.
    Time,
    /// The condition is fulfilled.
    Done,
    /// The run was interrupted.
    Interrupted,
}

/// The number of packets read from a device before the clock is read again.
const BATCH: usize = 16;
/// The longest sleep, which is the interval of checks for an interrupt.
const LONGEST_SLEEP: Duration = Duration::from_millis(50);

impl<U: Userspace> Emulator<U> {
    /// Creates an emulator whose `devices` are the kernels' interfaces; all other hosts are `userspace`. `clock` is the
    /// network's clock.
    pub fn new(
        mut network: Network,
        userspace: U,
        devices: Vec<(HostId, InterfaceId, Device)>,
        clock: WallClock,
        interrupt: Interrupt,
    ) -> Self {
        let ports = devices.into_iter().map(|(host, interface, device)| Port { host, interface, device }).collect();
        network.keep_derived();
        let edge = Edge::new(&network, userspace, ports, clock);
        Self { network, edge, clock, interrupt }
    }

    /// The network.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Our stacks.
    pub fn userspace(&self) -> &U {
        &self.edge.userspace
    }

    /// The network and our stacks, to call the stacks.
    pub fn parts(&mut self) -> (&mut Network, &mut U) {
        (&mut self.network, &mut self.edge.userspace)
    }

    /// From now on passes packets as bytes to `tap`.
    pub fn set_tap(&mut self, tap: Box<dyn ByteTap + Send>) {
        self.edge.tap = Some(tap);
    }

    /// For a network in which every link leads to another device or host ([`TopologyBuilder::point_to_point`]): states,
    /// per interface, whether a device is at the other end of its link.
    ///
    /// [`TopologyBuilder::point_to_point`]: subflow_network::TopologyBuilder::point_to_point
    pub fn set_far_devices(&mut self, per_interface: Vec<bool>) {
        self.edge.have_frames = Some(per_interface);
    }

    /// Ends the emulation. Returns the devices, with their interfaces in the network.
    pub fn into_devices(self) -> Vec<(HostId, InterfaceId, Device)> {
        self.edge.ports.into_iter().map(|port| (port.host, port.interface, port.device)).collect()
    }

    /// The lateness of packets written to kernels.
    pub fn punctuality(&self) -> &Punctuality {
        &self.edge.punctuality
    }

    /// The number of packets from kernels that the network does not support (neither TCP nor UDP, or fragments), and of
    /// packets that kernels did not accept.
    pub fn not_carried(&self) -> [u64; 2] {
        [self.edge.ignored, self.edge.refused]
    }

    /// The SCTP packets that kernels' hosts have sent.
    pub fn sctp_traffic(&self) -> &SctpTraffic {
        &self.edge.sctp
    }

    /// Packets from kernels, since the last call, that we did not read in time and that their counters do not include.
    pub fn missed(&self) -> u64 {
        self.edge.ports.iter().map(|port| port.device.missed()).sum()
    }

    /// Runs until the clock reaches `end`.
    pub fn run_until(&mut self, end: Instant) -> Result<Wake> {
        self.run_while(end, |_, _| true)
    }

    /// Runs until the clock reaches `end` or `go_on` returns false. `go_on` is called after each event.
    pub fn run_while(&mut self, end: Instant, mut go_on: impl FnMut(&mut Network, &mut U) -> bool) -> Result<Wake> {
        loop {
            let now = self.clock.now().min(end);
            self.network.run_until(&mut self.edge, now);
            let mut busy = false;
            for position in 0..self.edge.ports.len() {
                busy |= self.receive_from(position)?;
            }
            let received = self.edge.userspace.receive(&mut self.network);
            busy |= received.during(|| "cannot read the packets for our SCTP".into())?;
            if !go_on(&mut self.network, &mut self.edge.userspace) {
                return Ok(Wake::Done);
            }
            if self.interrupt.is_raised() {
                return Ok(Wake::Interrupted);
            }
            if now == end {
                return Ok(Wake::Time);
            }
            if !busy {
                self.sleep(end)?;
            }
        }
    }

    /// Reads some packets from a kernel. Returns whether there may be more.
    fn receive_from(&mut self, position: usize) -> Result<bool> {
        for _ in 0..BATCH {
            let received = self.edge.receive(&mut self.network, position);
            if !received.during(|| format!("cannot read from {}", self.edge.ports[position].device.name()))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Sleeps until the network's next event, a packet, or `end`.
    fn sleep(&self, end: Instant) -> Result<()> {
        let next = self.network.next_event().unwrap_or(Instant::MAX).min(end);
        let left = self.clock.until(next).min(std::time::Duration::from_nanos(LONGEST_SLEEP.as_nanos()));
        if left.is_zero() {
            return Ok(());
        }
        let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
        let mut ports: Vec<PollFd<'_>> =
            self.edge.ports.iter().map(|port| PollFd::from_borrowed_fd(port.device.as_fd(), PollFlags::IN)).collect();
        ports.extend(self.edge.userspace.sockets().into_iter().map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
        match poll(&mut ports, Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error).during(|| "cannot wait for packets".into()),
        }
    }
}
