//! Random states of connections: what the kernel may show to congestion control, in sizes from a LAN to a satellite.

use rand_core::{RngCore, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::native::Socket;

/// The threshold of a path that has seen no loss.
pub(crate) const INFINITE: u32 = 0x7fff_ffff;
pub(crate) const ESTABLISHED: u32 = 1;
const CLOSE: u32 = 7;
/// Subflows that the programs look at (`bpf/siblings.h`).
pub(crate) const SUBFLOWS_MAX: u64 = 64;
/// `TCP_CA_*` in which windows grow, and all of them.
const GROWING: [u32; 3] = [0, 1, 4];

/// What the subflows of a connection have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing.
    Unlike,
    /// The RTT, in half of the cases the window, too; or there is one subflow only. Values of formulas are often
    /// integers.
    Alike,
    /// Nothing, and they are as many as the programs look at.
    Many,
}

/// A source of states; the same seed gives the same ones.
pub(crate) struct States(Pcg64Mcg);

impl States {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Pcg64Mcg::seed_from_u64(seed))
    }

    /// Uniform over `low..=high`.
    pub(crate) fn within(&mut self, low: u64, high: u64) -> u64 {
        low + self.0.next_u64() % (high - low + 1)
    }

    /// Uniform over the orders of magnitude from `low` to `high`.
    pub(crate) fn magnitude(&mut self, low: u64, high: u64) -> u64 {
        let bits = self.within(low.ilog2().into(), high.ilog2().into());
        self.within(1 << bits, (2 << bits) - 1).clamp(low, high)
    }

    /// True once in `n` times.
    pub(crate) fn once_in(&mut self, n: u64) -> bool {
        self.within(1, n) == 1
    }

    /// Between one and eight subflows, of [`Kind::Many`] up to 64, and which of them an event is about; that one is
    /// established, has an RTT and may grow.
    pub(crate) fn connection(&mut self, kind: Kind) -> (Vec<Socket>, usize) {
        let alike = kind == Kind::Alike;
        let (least, most) = match kind {
            Kind::Unlike => (2, 8),
            Kind::Alike => (1, 8),
            Kind::Many => (9, SUBFLOWS_MAX),
        };
        let count = self.within(least, most) as usize;
        let own = self.within(0, count as u64 - 1) as usize;
        let same_rtt = alike.then(|| self.srtt());
        let same_window = (alike && self.once_in(2)).then(|| self.window());
        let paths = (0..count).map(|path| {
            let socket = self.socket(same_window, same_rtt);
            if path == own {
                let recovery = GROWING[self.within(0, 2) as usize];
                Socket { recovery, state: ESTABLISHED, srtt: socket.srtt.max(800), ..socket }
            } else {
                socket
            }
        });
        (paths.collect(), own)
    }

    /// What an acknowledgment covers: mostly a packet or two, sometimes a whole offload's worth.
    pub(crate) fn acked(&mut self) -> u32 {
        if self.once_in(4) { self.magnitude(1, 2000) as u32 } else { self.within(1, 3) as u32 }
    }

    /// From 100 µs to 4 s, in eighths of a microsecond.
    pub(crate) fn srtt(&mut self) -> u32 {
        self.magnitude(800, 32_000_000) as u32
    }

    fn window(&mut self) -> u32 {
        self.magnitude(1, 100_000) as u32
    }

    fn socket(&mut self, window: Option<u32>, srtt: Option<u32>) -> Socket {
        let cwnd = window.unwrap_or_else(|| self.window());
        let srtt = srtt.unwrap_or_else(|| self.srtt());
        let ssthresh = match self.within(0, 3) {
            0 => INFINITE,
            1 => self.magnitude(1, 200_000) as u32,
            _ => self.within(1, cwnd.into()) as u32,
        };
        Socket {
            cwnd,
            ssthresh,
            srtt: if self.once_in(50) { 0 } else { srtt },
            credit: self.within(0, u64::from(cwnd) - 1) as u32,
            recovery: self.within(0, 4) as u32,
            state: if self.once_in(20) { CLOSE } else { ESTABLISHED },
        }
    }
}
