//! SYN cookies (RFC 4987, section 3.6): the state of a half-open connection, encoded in numbers that the third ACK
//! returns.
//!
//! The initial sequence number of the SYN/ACK consists of, from the most significant bit: 28 bits of an HMAC over the
//! ends, the peer's initial sequence number, the period and the MSS; a bit that distinguishes the period from the
//! adjacent ones; the MSS as an index into [`MSS`]. The six low bits of the SYN/ACK's timestamp hold the peer's window
//! scale (15: none) and whether it supports SACK, in the same positions as in Linux (`cookie_init_timestamp`).
//!
//! The following is lost: ECN; the exact MSS; the RTT sample of the handshake; up to 127 ms of accuracy in the SYN/ACK's
//! timestamp; and for peers without timestamps window scaling and SACK. A SYN/ACK is not retransmitted; the peer has to
//! retransmit its SYN. If the third ACK is lost, the first data segment replaces it if it is the first to arrive; any
//! other is answered with a reset. MPTCP loses nothing: the third ACK repeats both keys and the flags for this purpose
//! (RFC 8684, section 3.1).

use subflow_quantity::{Duration, Instant};
use subflow_wire::tcp::{SynOptions, TcpFlags, TcpOptions, TcpSegment};

use crate::mac::{bytes_of_ends, hmac_sha256, is_equal};
use crate::mptcp::keys::Key;
use crate::sctp::Secret;
use crate::tcp::Ends;

/// Length of a period. A cookie is valid in its own period and the next one.
const PERIOD: Duration = Duration::from_secs(64);
/// Maximum validity of a cookie.
pub(super) const LIFETIME: Duration = Duration::from_secs(128);
/// The MSS is rounded down to one of these values, in bytes: the defaults of IPv6 and IPv4, tunnels, PPPoE and Ethernet
/// with either, jumbo frames.
const MSS: [u16; 8] = [64, 536, 1220, 1360, 1400, 1440, 1460, 8940];
/// Bits of the initial sequence number below the HMAC.
const LOW_BITS: u32 = 4;
const INDEX_MASK: u32 = 7;
const PERIOD_BIT: u32 = 8;
/// Low bits of the timestamp that encode options.
const TIMESTAMP_MASK: u32 = 0x3F;
const SCALE_MASK: u32 = 0xF;
const NO_SCALE: u32 = 15;
const SACK_BIT: u32 = 0x10;
/// Number of keys to choose from if tokens are in use.
const KEYS: u8 = 4;

/// The parts of a SYN that the third ACK does not contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SynCookie {
    ends: Ends,
    peer_initial: u32,
    period: u64,
    mss: usize,
}

impl SynCookie {
    /// The cookie for a SYN.
    pub(super) fn for_syn(ends: Ends, syn: &TcpSegment, now: Instant) -> Self {
        let offered = syn.options.syn.mss.unwrap_or(MSS[1]);
        let mss = MSS.iter().rposition(|&mss| mss <= offered).unwrap_or(0);
        Self { ends, peer_initial: syn.sequence, period: period(now), mss }
    }

    /// The cookie that `ack`, which belongs to no connection, returns; `None` if it is not of this host or has expired.
    pub(super) fn of_ack(secret: &Secret, ends: Ends, ack: &TcpSegment, now: Instant) -> Option<Self> {
        let initial = ack.acknowledgment.wrapping_sub(1);
        let is_odd = initial & PERIOD_BIT != 0;
        let current = period(now);
        let period = if (current % 2 == 1) == is_odd { current } else { current.checked_sub(1)? };
        let peer_initial = ack.sequence.wrapping_sub(1);
        let cookie = Self { ends, peer_initial, period, mss: (initial & INDEX_MASK) as usize };
        is_equal(&cookie.initial(secret).to_be_bytes(), &initial.to_be_bytes()).then_some(cookie)
    }

    /// The initial sequence number of the SYN/ACK.
    pub(super) fn initial(&self, secret: &Secret) -> u32 {
        let [a, b, c, d, ..] = self.hmac(secret, b"SYN cookie", self.mss as u8);
        let is_odd = if self.period % 2 == 1 { PERIOD_BIT } else { 0 };
        u32::from_be_bytes([a, b, c, d]) << LOW_BITS | is_odd | self.mss as u32
    }

    /// The keys that this side may have in a connection created from the cookie.
    pub(super) fn keys(&self, secret: &Secret) -> impl Iterator<Item = Key> {
        (0..KEYS).map(|number| {
            let hmac = self.hmac(secret, b"MPTCP key", number);
            Key::new(u64::from_be_bytes(hmac[..8].try_into().expect("eight bytes")))
        })
    }

    fn hmac(&self, secret: &Secret, purpose: &[u8], number: u8) -> [u8; 32] {
        let (ends, peer, period) =
            (bytes_of_ends(self.ends), self.peer_initial.to_be_bytes(), self.period.to_be_bytes());
        hmac_sha256(secret, &[purpose, &ends, &peer, &period, &[number]])
    }

    /// The SYN, as far as it can be reconstructed: `ack` contains the window and, in its timestamp, the options.
    pub(super) fn syn(&self, ack: &TcpSegment) -> TcpSegment {
        let kept = ack.options.timestamps.map(|timestamps| timestamps.echo);
        let scale = kept.map(|bits| bits & SCALE_MASK).filter(|&scale| scale != NO_SCALE);
        let window = u32::from(ack.window) << scale.unwrap_or(0);
        TcpSegment {
            source_port: ack.source_port,
            destination_port: ack.destination_port,
            sequence: self.peer_initial,
            flags: TcpFlags::SYN,
            window: window.min(u32::from(u16::MAX)) as u16,
            options: TcpOptions {
                syn: SynOptions {
                    mss: Some(MSS[self.mss]),
                    window_scale: scale.map(|scale| scale as u8),
                    sack_permitted: kept.is_some_and(|bits| bits & SACK_BIT != 0),
                },
                timestamps: ack.options.timestamps,
                ..TcpOptions::default()
            },
            ..TcpSegment::default()
        }
    }
}

/// The period of `now`.
fn period(now: Instant) -> u64 {
    now.as_nanos() / PERIOD.as_nanos()
}

/// Encodes in the timestamp of a SYN/ACK the options of `syn` for which the sequence number has no room. This may make
/// the timestamp older, never newer: the next one must not be older.
pub(super) fn keep_options(syn: &TcpSegment, syn_ack: &mut TcpSegment) {
    let Some(timestamps) = &mut syn_ack.options.timestamps else { return };
    let scale = syn.options.syn.window_scale.map_or(NO_SCALE, |scale| u32::from(scale).min(14));
    let kept = scale | if syn.options.syn.sack_permitted { SACK_BIT } else { 0 };
    let value = timestamps.value & !TIMESTAMP_MASK | kept;
    timestamps.value = if value > timestamps.value { value.wrapping_sub(TIMESTAMP_MASK + 1) } else { value };
}

/// `syn` without the options that are lost if the connection has no timestamps.
pub(super) fn without_timestamps(syn: &TcpSegment) -> TcpSegment {
    let mut syn = syn.clone();
    syn.options.timestamps = None;
    syn.options.syn = SynOptions { window_scale: None, sack_permitted: false, ..syn.options.syn };
    syn
}

#[cfg(test)]
mod tests {
    use subflow_wire::tcp::Timestamps;

    use super::*;

    const SECRET: Secret = [7; 32];

    fn ends() -> Ends {
        Ends { local: ([10, 0, 0, 1], 80).into(), remote: ([10, 0, 0, 2], 5000).into() }
    }

    fn syn(mss: u16, window_scale: Option<u8>, sack_permitted: bool) -> TcpSegment {
        TcpSegment {
            sequence: u32::MAX,
            flags: TcpFlags::SYN,
            window: 65_535,
            options: TcpOptions {
                syn: SynOptions { mss: Some(mss), window_scale, sack_permitted },
                timestamps: Some(Timestamps { value: 99, echo: 0 }),
                ..TcpOptions::default()
            },
            ..TcpSegment::default()
        }
    }

    /// The third ACK of a peer that received a SYN/ACK with this cookie and timestamp.
    fn ack(syn: &TcpSegment, initial: u32, timestamp: u32) -> TcpSegment {
        TcpSegment {
            sequence: syn.sequence.wrapping_add(1),
            acknowledgment: initial.wrapping_add(1),
            flags: TcpFlags::ACK,
            window: 512,
            options: TcpOptions {
                timestamps: Some(Timestamps { value: 100, echo: timestamp }),
                ..TcpOptions::default()
            },
            ..TcpSegment::default()
        }
    }

    fn at(seconds: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(seconds)
    }

    #[test]
    fn a_syn_comes_back_but_for_its_exact_mss() {
        for (offered, kept) in [(40, 64), (536, 536), (1380, 1360), (1459, 1440), (1460, 1460), (65_495, 8940)] {
            for (scale, sack) in [(None, false), (None, true), (Some(0), true), (Some(14), false), (Some(9), true)] {
                let syn = syn(offered, scale, sack);
                let initial = SynCookie::for_syn(ends(), &syn, at(100)).initial(&SECRET);
                let mut syn_ack = TcpSegment::default();
                syn_ack.options.timestamps = Some(Timestamps { value: 1_000_000, echo: 99 });
                keep_options(&syn, &mut syn_ack);
                let timestamp = syn_ack.options.timestamps.expect("it was there").value;
                assert!((1_000_000 - 127..=1_000_000).contains(&timestamp), "{timestamp}");
                let ack = ack(&syn, initial, timestamp);
                let found = SynCookie::of_ack(&SECRET, ends(), &ack, at(101)).expect("a good cookie").syn(&ack);
                let expected = SynOptions { mss: Some(kept), window_scale: scale, sack_permitted: sack };
                assert_eq!((found.options.syn, found.sequence), (expected, syn.sequence));
            }
        }
    }

    #[test]
    fn a_cookie_is_good_in_its_own_period_and_the_next() {
        let syn = syn(1460, Some(7), true);
        let initial = SynCookie::for_syn(ends(), &syn, at(64)).initial(&SECRET);
        let is_good = |seconds| SynCookie::of_ack(&SECRET, ends(), &ack(&syn, initial, 0), at(seconds)).is_some();
        assert_eq!(
            [63, 64, 127, 128, 191, 192, 256, 64 * 33].map(is_good),
            [false, true, true, true, true, false, false, false]
        );
    }

    #[test]
    fn an_acknowledgment_that_differs_anywhere_brings_back_nothing() {
        let syn = syn(1460, Some(7), true);
        let initial = SynCookie::for_syn(ends(), &syn, at(10)).initial(&SECRET);
        let good = ack(&syn, initial, 0);
        let found = |secret: &Secret, ends: Ends, ack: &TcpSegment| SynCookie::of_ack(secret, ends, ack, at(10));
        assert!(found(&SECRET, ends(), &good).is_some());
        for bit in 0..32 {
            let other = TcpSegment { acknowledgment: (initial ^ 1 << bit).wrapping_add(1), ..good.clone() };
            assert_eq!(found(&SECRET, ends(), &other), None, "bit {bit} of the cookie");
            let other = TcpSegment { sequence: good.sequence ^ 1 << bit, ..good.clone() };
            assert_eq!(found(&SECRET, ends(), &other), None, "bit {bit} of the peer's number");
        }
        let elsewhere = Ends { remote: ([10, 0, 0, 2], 5001).into(), ..ends() };
        assert_eq!(found(&SECRET, elsewhere, &good), None);
        assert_eq!(found(&[8; 32], ends(), &good), None);
    }

    #[test]
    fn keys_are_different_ones_and_those_of_the_cookie_alone() {
        let cookie = SynCookie::for_syn(ends(), &syn(1460, None, true), at(10));
        let keys: Vec<_> = cookie.keys(&SECRET).map(|key| key.key).collect();
        assert!(keys.iter().enumerate().all(|(at, key)| !keys[..at].contains(key)), "{keys:?}");
        let later = SynCookie::for_syn(ends(), &syn(1460, None, true), at(100));
        assert!(later.keys(&SECRET).all(|key| !keys.contains(&key.key)));
    }

    #[test]
    fn what_a_connection_without_timestamps_loses_is_not_offered() {
        let kept = without_timestamps(&syn(1400, Some(7), true)).options;
        assert_eq!(kept.syn, SynOptions { mss: Some(1400), window_scale: None, sack_permitted: false });
        assert_eq!(kept.timestamps, None);
    }
}
