//! The state cookie: the signed state of an association, so that an INIT uses no memory at its receiver (RFC 9260,
//! section 5.1.3).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use hmac::{Hmac, Mac};
use sha2::Sha256;
use subflow_quantity::{Duration, Instant};
use subflow_wire::sctp::{Chunk, ErrorCause};

/// Length of the HMAC in front of the contents.
const COOKIE_HMAC_LENGTH: usize = 32;
/// The maximum number of addresses of a peer.
pub(crate) const MAX_PEER_ADDRESSES: usize = 32;

/// The key that a host signs its cookies with.
pub(crate) type Secret = [u8; 32];

/// The contents of a cookie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cookie {
    pub(crate) created: Instant,
    pub(crate) life: Duration,
    pub(crate) local_port: u16,
    pub(crate) remote_port: u16,
    /// Verification tags: this side's, and the peer's.
    pub(crate) local_tag: u32,
    pub(crate) remote_tag: u32,
    /// The tags of an association that existed when the INIT came; 0 where there was none (section 5.2.2).
    pub(crate) tie_tags: (u32, u32),
    pub(crate) local_tsn: u32,
    pub(crate) remote_tsn: u32,
    pub(crate) outbound_streams: u16,
    pub(crate) inbound_streams: u16,
    /// The window that the peer offered.
    pub(crate) remote_window: u32,
    pub(crate) extensions: Extensions,
    /// The address of this side that the INIT came to.
    pub(crate) local: IpAddr,
    /// The peer's addresses, the one that the INIT came from first.
    pub(crate) remotes: Vec<IpAddr>,
}

/// The extensions of RFC 9260 that the peer supports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extensions {
    pub(crate) forward_tsn: bool,
    pub(crate) nr_sack: bool,
    /// Explicit congestion notification (appendix A).
    pub(crate) ecn: bool,
}

impl Cookie {
    /// The cookie in bytes, signed.
    pub(crate) fn sign(&self, secret: &Secret) -> Box<[u8]> {
        let mut bytes = vec![0; COOKIE_HMAC_LENGTH];
        self.write(&mut bytes);
        let signature = mac(secret, &bytes[COOKIE_HMAC_LENGTH..]).finalize().into_bytes();
        bytes[..COOKIE_HMAC_LENGTH].copy_from_slice(&signature);
        bytes.into_boxed_slice()
    }

    /// The cookie that comes back in a packet with these ports, local and remote, and this verification tag: signed by
    /// this host, and made for such a packet (section 5.1.5, steps 1 to 3). One that is not is discarded silently.
    pub(crate) fn verify(bytes: &[u8], secret: &Secret, ports: (u16, u16), tag: u32) -> Option<Self> {
        let (signature, contents) = bytes.split_at_checked(COOKIE_HMAC_LENGTH)?;
        mac(secret, contents).verify_slice(signature).ok()?;
        let cookie = Self::read(contents)?;
        let fits = (cookie.local_port, cookie.remote_port) == ports && cookie.local_tag == tag;
        fits.then_some(cookie)
    }

    /// The ERROR that reports a cookie whose lifetime has expired at `now` (step 4).
    pub(crate) fn stale_error(&self, now: Instant) -> Option<Chunk> {
        let age = now.since(self.created);
        let staleness_us = u32::try_from((age.max(self.life) - self.life).as_nanos() / 1000).unwrap_or(u32::MAX);
        (age > self.life).then(|| Chunk::Error(vec![ErrorCause::StaleCookie { staleness_us }]))
    }

    fn write(&self, out: &mut Vec<u8>) {
        let mut put = |bytes: &[u8]| out.extend_from_slice(bytes);
        put(&self.created.as_nanos().to_be_bytes());
        put(&self.life.as_nanos().to_be_bytes());
        for tag in [self.local_tag, self.remote_tag, self.tie_tags.0, self.tie_tags.1, self.local_tsn, self.remote_tsn]
        {
            put(&tag.to_be_bytes());
        }
        put(&self.remote_window.to_be_bytes());
        for number in [self.local_port, self.remote_port, self.outbound_streams, self.inbound_streams] {
            put(&number.to_be_bytes());
        }
        let Extensions { forward_tsn, nr_sack, ecn } = self.extensions;
        put(&[u8::from(forward_tsn) | u8::from(ecn) << 1, u8::from(nr_sack)]);
        for address in core::iter::once(&self.local).chain(&self.remotes) {
            match address {
                IpAddr::V4(v4) => {
                    put(&[4]);
                    put(&v4.octets());
                }
                IpAddr::V6(v6) => {
                    put(&[6]);
                    put(&v6.octets());
                }
            }
        }
    }

    fn read(mut bytes: &[u8]) -> Option<Self> {
        let from = &mut bytes;
        let extensions = |[first, nr_sack]: [u8; 2]| Extensions {
            forward_tsn: first & 1 != 0,
            nr_sack: nr_sack == 1,
            ecn: first & 2 != 0,
        };
        let cookie = Self {
            created: Instant::from_nanos(u64::from_be_bytes(take(from)?)),
            life: Duration::from_nanos(u64::from_be_bytes(take(from)?)),
            local_tag: u32::from_be_bytes(take(from)?),
            remote_tag: u32::from_be_bytes(take(from)?),
            tie_tags: (u32::from_be_bytes(take(from)?), u32::from_be_bytes(take(from)?)),
            local_tsn: u32::from_be_bytes(take(from)?),
            remote_tsn: u32::from_be_bytes(take(from)?),
            remote_window: u32::from_be_bytes(take(from)?),
            local_port: u16::from_be_bytes(take(from)?),
            remote_port: u16::from_be_bytes(take(from)?),
            outbound_streams: u16::from_be_bytes(take(from)?),
            inbound_streams: u16::from_be_bytes(take(from)?),
            extensions: extensions(take::<2>(from)?),
            local: take_address(from)?,
            remotes: Vec::new(),
        };
        let remotes = core::iter::from_fn(|| take_address(from)).take(MAX_PEER_ADDRESSES + 1).collect();
        Some(Self { remotes, ..cookie })
    }
}

fn mac(secret: &Secret, contents: &[u8]) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("HMAC takes keys of any length");
    mac.update(contents);
    mac
}

fn take<const N: usize>(from: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = from.split_first_chunk()?;
    *from = rest;
    Some(*taken)
}

fn take_address(from: &mut &[u8]) -> Option<IpAddr> {
    match take::<1>(from)? {
        [4] => Some(IpAddr::V4(Ipv4Addr::from(take::<4>(from)?))),
        [6] => Some(IpAddr::V6(Ipv6Addr::from(take::<16>(from)?))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: Secret = [7; 32];

    fn cookie() -> Cookie {
        Cookie {
            created: Instant::from_nanos(5_000_000_000),
            life: Duration::from_secs(60),
            local_port: 80,
            remote_port: 50_000,
            local_tag: 1,
            remote_tag: 2,
            tie_tags: (3, 4),
            local_tsn: 5,
            remote_tsn: 6,
            outbound_streams: 10,
            inbound_streams: 20,
            remote_window: 65_535,
            extensions: Extensions { forward_tsn: true, nr_sack: false, ecn: true },
            local: "10.0.0.1".parse().expect("an address"),
            remotes: vec!["10.0.0.2".parse().expect("an address"), "fd00::2".parse().expect("an address")],
        }
    }

    const PORTS: (u16, u16) = (80, 50_000);

    fn verify(bytes: &[u8], secret: &Secret) -> Option<Cookie> {
        Cookie::verify(bytes, secret, PORTS, 1)
    }

    #[test]
    fn a_cookie_comes_back_as_it_was() {
        assert_eq!(verify(&cookie().sign(&SECRET), &SECRET), Some(cookie()));
    }

    #[test]
    fn a_cookie_changed_anywhere_or_signed_elsewhere_is_refused() {
        let bytes = cookie().sign(&SECRET);
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert_eq!(verify(&changed, &SECRET), None, "byte {at}");
        }
        for length in 0..bytes.len() {
            assert_eq!(verify(&bytes[..length], &SECRET), None);
        }
        assert_eq!(verify(&bytes, &[8; 32]), None);
    }

    #[test]
    fn a_cookie_in_a_packet_with_other_ports_or_another_tag_is_refused() {
        let bytes = cookie().sign(&SECRET);
        for (ports, tag) in [((81, 50_000), 1), ((80, 50_001), 1), (PORTS, 2)] {
            assert_eq!(Cookie::verify(&bytes, &SECRET, ports, tag), None);
        }
    }

    #[test]
    fn an_old_cookie_is_stale_and_the_error_says_by_how_much() {
        let at = |seconds: u64| cookie().stale_error(Instant::from_nanos(seconds * 1_000_000_000));
        assert_eq!(at(65), None);
        assert_eq!(at(68), Some(Chunk::Error(vec![ErrorCause::StaleCookie { staleness_us: 3_000_000 }])));
    }
}
