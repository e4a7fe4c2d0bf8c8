//! The physical layers of IEEE 802.11: how long what is sent takes on the air, and the units in which stations wait.

use subflow_quantity::{Duration, Rate};

/// A physical layer of IEEE 802.11, with the constants of IEEE 802.11-2020.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WifiStandard {
    /// Frequency hopping of 1997, which Bianchi's model of DCF was computed with (JSAC 2000, table II): slots of 50 µs.
    Fhss,
    /// 802.11b: up to 11 Mbit/s (clause 16), with the long preamble at 1 Mbit/s and the short one at higher rates.
    B,
    /// 802.11a: OFDM at 5 GHz (clause 17), up to 54 Mbit/s.
    A,
    /// 802.11g: OFDM at 2.4 GHz without stations of 802.11b (clause 18), up to 54 Mbit/s.
    G,
    /// 802.11n at 5 GHz: HT-mixed format (clause 19).
    N,
    /// 802.11ac (clause 21): VHT format.
    Ac,
}

/// A length of data that a receiver decodes: 4 µs at the usual guard interval.
const SYMBOL: u64 = 4000;
/// The same with the short guard interval of 400 ns.
const SHORT_SYMBOL: u64 = 3600;
/// SERVICE field and tail of OFDM.
const SERVICE_AND_TAIL_BITS: u64 = 16 + 6;

/// How a frame with data is modulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Modulation {
    pub(super) rate: Rate,
    /// Spatial streams; their training fields are part of the preamble.
    pub(super) streams: u32,
    pub(super) short_guard_interval: bool,
}

impl WifiStandard {
    /// The time of a slot, in which a station notices that another one has begun.
    pub const fn slot_time(self) -> Duration {
        Duration::from_micros(match self {
            Self::Fhss => 50,
            Self::B => 20,
            Self::A | Self::G | Self::N | Self::Ac => 9,
        })
    }

    /// The time between a frame and its acknowledgment.
    pub const fn sifs(self) -> Duration {
        Duration::from_micros(match self {
            Self::Fhss => 28,
            Self::B | Self::G => 10,
            Self::A | Self::N | Self::Ac => 16,
        })
    }

    /// The slots that a station waits after SIFS before its backoff: two for DIFS, three with EDCA's best effort.
    pub const fn usual_aifsn(self) -> u32 {
        if self.is_qos() { 3 } else { 2 }
    }

    /// The smallest contention window.
    pub const fn usual_cw_min(self) -> u32 {
        if matches!(self, Self::B) { 31 } else { 15 }
    }

    /// The most frames of an A-MPDU: the window of a block acknowledgment.
    pub const fn most_frames(self) -> u32 {
        if self.is_qos() { 64 } else { 1 }
    }

    /// The most bytes of an A-MPDU.
    pub const fn most_bytes(self) -> u32 {
        match self {
            Self::Ac => 1_048_575,
            _ => 65_535,
        }
    }

    /// The highest rate of acknowledgments.
    pub const fn usual_control_rate(self) -> Rate {
        match self {
            Self::Fhss => Rate::from_mbit(1),
            Self::B => Rate::from_mbit(2),
            Self::A | Self::G | Self::N | Self::Ac => Rate::from_mbit(24),
        }
    }

    /// Whether frames have QoS headers, and may be aggregated.
    pub(super) const fn is_qos(self) -> bool {
        matches!(self, Self::N | Self::Ac)
    }

    /// The rate of an acknowledgment of a frame at `rate`: at most that, and one that all stations know.
    pub(super) fn control_rate(self, highest: Rate, rate: Rate) -> Rate {
        let limit = highest.min(rate);
        match self {
            Self::Fhss | Self::B => limit,
            _ => [24, 12].map(Rate::from_mbit).into_iter().find(|one| *one <= limit).unwrap_or(Rate::from_mbit(6)),
        }
    }

    /// How long a frame with `bytes` of data takes, with its preamble.
    pub(super) fn data_time(self, bytes: u64, modulation: Modulation) -> Duration {
        let training_fields = match modulation.streams {
            streams @ 0..=2 => streams.max(1),
            3 | 4 => 4,
            5 | 6 => 6,
            _ => 8,
        };
        match self {
            Self::Fhss | Self::B | Self::A | Self::G => self.control_time(bytes, modulation.rate),
            // L-STF, L-LTF, L-SIG, HT-SIG and HT-STF, or VHT-SIG-A, VHT-STF and VHT-SIG-B.
            Self::N => Duration::from_micros(32 + 4 * u64::from(training_fields)) + ofdm(bytes, modulation),
            Self::Ac => Duration::from_micros(36 + 4 * u64::from(training_fields)) + ofdm(bytes, modulation),
        }
    }

    /// How long a frame of `bytes` takes in the format that all stations know, with its preamble.
    pub(super) fn control_time(self, bytes: u64, rate: Rate) -> Duration {
        let legacy = || ofdm(bytes, Modulation { rate, streams: 1, short_guard_interval: false });
        match self {
            Self::Fhss => Duration::from_micros(128) + rate.transmission_time(bytes),
            Self::B => {
                let preamble = if rate <= Rate::from_mbit(1) { 192 } else { 96 };
                Duration::from_micros(preamble) + rate.transmission_time(bytes)
            }
            // With the signal extension of 6 µs.
            Self::G => Duration::from_micros(20 + 6) + legacy(),
            Self::A | Self::N | Self::Ac => Duration::from_micros(20) + legacy(),
        }
    }

    /// How much longer than AIFS a station waits after a frame that it could not decode: EIFS has an acknowledgment at the
    /// lowest rate. Those that have sent wait about as long for the acknowledgment that does not come.
    pub(super) fn after_collision(self) -> Duration {
        let lowest = if matches!(self, Self::Fhss | Self::B) { Rate::from_mbit(1) } else { Rate::from_mbit(6) };
        self.sifs() + self.control_time(super::ACK_BYTES, lowest)
    }
}

/// The symbols that carry `bytes`.
fn ofdm(bytes: u64, modulation: Modulation) -> Duration {
    let symbol = if modulation.short_guard_interval { SHORT_SYMBOL } else { SYMBOL };
    // 72.2 Mbit/s stands for 260 bits in 3.6 µs.
    let bits_of_symbol =
        (u128::from(modulation.rate.bits_per_second()) * u128::from(symbol) + 500_000_000) / 1_000_000_000;
    let bits = u128::from(SERVICE_AND_TAIL_BITS + 8 * bytes);
    let symbols = bits.div_ceil(bits_of_symbol.max(1)) as u64;
    // Legacy stations count in symbols of 4 µs.
    Duration::from_nanos((symbols * symbol).next_multiple_of(SYMBOL))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(microseconds: u64) -> Duration {
        Duration::from_micros(microseconds)
    }

    fn at(mbit: u64) -> Modulation {
        Modulation { rate: Rate::from_mbit(mbit), streams: 1, short_guard_interval: false }
    }

    #[test]
    fn frames_take_their_preamble_and_whole_symbols() {
        // Acknowledgments of 14 bytes at 24 Mbit/s: 134 bits in symbols of 96; at 6 Mbit/s in symbols of 24.
        assert_eq!(WifiStandard::A.control_time(14, Rate::from_mbit(24)), us(20 + 2 * 4));
        assert_eq!(WifiStandard::G.control_time(14, Rate::from_mbit(24)), us(20 + 2 * 4 + 6));
        assert_eq!(WifiStandard::A.control_time(14, Rate::from_mbit(6)), us(20 + 6 * 4));
        // 1536 bytes at 54 Mbit/s: 12310 bits in symbols of 216.
        assert_eq!(WifiStandard::A.data_time(1536, at(54)), us(20 + 57 * 4));
        // At 65 Mbit/s: symbols of 260 bits, one training field; 802.11ac has VHT-SIG-B besides.
        assert_eq!(WifiStandard::N.data_time(1538, at(65)), us(36 + 48 * 4));
        assert_eq!(WifiStandard::Ac.data_time(1538, at(65)), us(40 + 48 * 4));
        assert_eq!(WifiStandard::N.data_time(1538, Modulation { streams: 3, ..at(65) }), us(48 + 48 * 4));
        // The same symbols of 3.6 µs take 172.8 µs, in steps of 4 µs.
        let short = Modulation { rate: Rate::from_bits_per_second(72_200_000), streams: 1, short_guard_interval: true };
        assert_eq!(WifiStandard::N.data_time(1538, short), us(36 + 176));
        // 802.11b at 11 Mbit/s: 1500 bytes of payload with 36 of headers; the short preamble above 1 Mbit/s.
        assert_eq!(WifiStandard::B.data_time(1100, at(11)), us(96 + 800));
        assert_eq!(WifiStandard::B.data_time(100, at(1)), us(192 + 800));
        assert_eq!(WifiStandard::Fhss.data_time(100, at(1)), us(128 + 800));
    }

    #[test]
    fn acknowledgments_have_a_rate_that_all_stations_know() {
        let rate =
            |standard: WifiStandard, mbit| standard.control_rate(standard.usual_control_rate(), Rate::from_mbit(mbit));
        assert_eq!(rate(WifiStandard::N, 300), Rate::from_mbit(24));
        assert_eq!(rate(WifiStandard::A, 18), Rate::from_mbit(12));
        assert_eq!(rate(WifiStandard::A, 9), Rate::from_mbit(6));
        assert_eq!(rate(WifiStandard::B, 11), Rate::from_mbit(2));
        assert_eq!(rate(WifiStandard::B, 1), Rate::from_mbit(1));
    }

    #[test]
    fn after_a_collision_stations_wait_for_the_longest_acknowledgment() {
        // SIFS, and 14 bytes at the lowest rate.
        assert_eq!(WifiStandard::A.after_collision(), us(16 + 44));
        assert_eq!(WifiStandard::B.after_collision(), us(10 + 192 + 112));
    }
}
