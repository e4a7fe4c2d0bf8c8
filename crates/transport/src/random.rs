//! Random numbers: keys, nonces, verification tags, initial sequence numbers, ports.

use std::net::{IpAddr, SocketAddr};

use rand_core::{OsRng, RngCore, SeedableRng, TryRngCore};
use rand_pcg::Pcg64Mcg;
use subflow_quantity::Instant;

use crate::mac::{bytes_of_ends, hmac_sha256};
use crate::tcp::Ends;

/// Where a host, and every endpoint of it, has its random numbers from.
#[derive(Clone, Debug)]
pub enum RandomSource {
    /// A generator with a seed: the same seed gives the same packets. For simulations alone, since a few of its numbers
    /// tell all others.
    Seeded(Pcg64Mcg),
    /// The operating system's generator, for every host whose packets leave the process.
    System(SystemRandom),
}

/// The operating system's cryptographically secure generator. It is asked for every number, so that a copy of a host
/// never repeats what the original draws.
#[derive(Clone)]
pub struct SystemRandom {
    /// Key of what has to be the same whenever it is asked for: see [`RandomSource::initial_sequence`].
    secret: [u8; 16],
}

/// The operating system gives no random numbers.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the operating system gives no random numbers ({0}), and no host may speak to others without")]
pub struct RandomError(String);

impl RandomSource {
    /// The operating system's generator.
    ///
    /// # Errors
    ///
    /// Where the system has none, or does not let the process use it.
    pub fn system() -> Result<Self, RandomError> {
        let mut secret = [0; 16];
        OsRng.try_fill_bytes(&mut secret).map_err(|error| RandomError(error.to_string()))?;
        Ok(Self::System(SystemRandom { secret }))
    }

    /// A source for an endpoint of this host.
    pub(crate) fn fork(&mut self) -> Self {
        match self {
            Self::Seeded(generator) => {
                let mut seed = [0; 16];
                generator.fill_bytes(&mut seed);
                Self::Seeded(Pcg64Mcg::from_seed(seed))
            }
            Self::System(system) => Self::System(system.clone()),
        }
    }

    /// The initial sequence number of a connection between `ends`. The system's follow RFC 6528, section 3: a clock
    /// that ticks every 4 µs (RFC 9293, section 3.4.1) plus a keyed hash of the ends. So they rise from one connection
    /// of the same ends to the next, and say nothing of those of other ends.
    pub(crate) fn initial_sequence(&mut self, ends: Ends, now: Instant) -> u32 {
        match self {
            Self::Seeded(generator) => generator.next_u32(),
            Self::System(system) => {
                let clock = (now.as_nanos() / 4_000) as u32;
                clock.wrapping_add(system.hash(b"initial sequence number", &bytes_of_ends(ends)) as u32)
            }
        }
    }

    /// Where the search for a free port to `remote` begins (RFC 6056, section 3.3.3: a keyed hash of everything but the
    /// local port). A seeded source gives 0: ports in their order.
    pub(crate) fn port_offset(&self, local: IpAddr, remote: SocketAddr) -> u32 {
        match self {
            Self::Seeded(_) => 0,
            Self::System(system) => {
                system.hash(b"port", &bytes_of_ends(Ends { local: SocketAddr::new(local, 0), remote })) as u32
            }
        }
    }

    /// What makes the places of a host's hash tables unknown to its peers; `None` from a seeded source.
    pub(crate) fn hash_seed(&self) -> Option<u64> {
        match self {
            Self::Seeded(_) => None,
            Self::System(system) => Some(system.hash(b"hash table", &[])),
        }
    }
}

impl From<Pcg64Mcg> for RandomSource {
    fn from(generator: Pcg64Mcg) -> Self {
        Self::Seeded(generator)
    }
}

impl RngCore for RandomSource {
    fn next_u32(&mut self) -> u32 {
        match self {
            Self::Seeded(generator) => generator.next_u32(),
            Self::System(system) => u32::from_ne_bytes(system.draw()),
        }
    }

    fn next_u64(&mut self) -> u64 {
        match self {
            Self::Seeded(generator) => generator.next_u64(),
            Self::System(system) => u64::from_ne_bytes(system.draw()),
        }
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        match self {
            Self::Seeded(generator) => generator.fill_bytes(bytes),
            Self::System(system) => system.fill(bytes),
        }
    }
}

impl SystemRandom {
    fn draw<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.fill(&mut bytes);
        bytes
    }

    fn fill(&self, bytes: &mut [u8]) {
        OsRng.try_fill_bytes(bytes).expect("the system gave random numbers when the host was made");
    }

    fn hash(&self, purpose: &[u8], message: &[u8]) -> u64 {
        let hash = hmac_sha256(&self.secret, &[purpose, message]);
        u64::from_be_bytes(hash[..8].try_into().expect("eight bytes"))
    }
}

impl core::fmt::Debug for SystemRandom {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.write_str("SystemRandom")
    }
}

#[cfg(test)]
mod tests {
    use subflow_quantity::Duration;

    use super::*;

    fn ends(remote_port: u16) -> Ends {
        Ends { local: ([10, 0, 0, 1], 80).into(), remote: ([10, 0, 0, 2], remote_port).into() }
    }

    fn system() -> RandomSource {
        RandomSource::system().expect("this machine has random numbers")
    }

    #[test]
    fn a_seeded_source_repeats_itself_and_its_forks_are_those_of_the_generator() {
        let mut source = RandomSource::from(Pcg64Mcg::seed_from_u64(7));
        let mut generator = Pcg64Mcg::seed_from_u64(7);
        assert_eq!(source.next_u64(), generator.next_u64());
        assert_eq!(source.initial_sequence(ends(1), Instant::ZERO), generator.next_u32());
        assert_eq!(source.port_offset(ends(1).local.ip(), ends(1).remote), 0);
        let mut seed = [0; 16];
        generator.fill_bytes(&mut seed);
        assert_eq!(source.fork().next_u64(), Pcg64Mcg::from_seed(seed).next_u64());
        assert_eq!(source.next_u32(), generator.next_u32());
    }

    #[test]
    fn initial_sequence_numbers_of_the_same_ends_rise_by_one_every_4_microseconds() {
        let mut source = system();
        let first = source.initial_sequence(ends(1), Instant::ZERO);
        let later = Instant::ZERO + Duration::from_micros(400);
        assert_eq!(source.initial_sequence(ends(1), later), first.wrapping_add(100));
        assert_eq!(source.fork().initial_sequence(ends(1), later), first.wrapping_add(100));
    }

    #[test]
    fn initial_sequence_numbers_and_ports_differ_by_ends_and_by_host() {
        let (mut source, mut other) = (system(), system());
        let number = source.initial_sequence(ends(1), Instant::ZERO);
        assert_ne!(number, source.initial_sequence(ends(2), Instant::ZERO));
        assert_ne!(number, other.initial_sequence(ends(1), Instant::ZERO));
        let local = ends(1).local.ip();
        assert_ne!(source.port_offset(local, ends(1).remote), source.port_offset(local, ends(2).remote));
        assert_ne!(source.port_offset(local, ends(1).remote), other.port_offset(local, ends(1).remote));
    }

    #[test]
    fn a_copy_of_a_system_source_draws_other_numbers() {
        let mut source = system();
        assert_ne!(source.clone().next_u64(), source.next_u64());
    }

    #[test]
    fn what_is_printed_of_a_system_source_has_no_secret() {
        assert_eq!(format!("{:?}", system()), "System(SystemRandom)");
    }
}
