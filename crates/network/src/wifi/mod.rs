//! WiFi: stations that contend for a channel, by DCF or EDCA of IEEE 802.11, and send aggregates (A-MPDU).
//!
//! | file | what is in it |
//! |---|---|
//! | `mod.rs` | [`WifiConfig`]: what a station sends, and how long it takes |
//! | `standard.rs` | [`WifiStandard`]: slots, interframe spaces, preambles, symbols |
//! | `contention.rs` | backoff: which stations send when |
//! | `channel.rs` | the stations of a channel and their links |
//! | `access.rs` | accesses to channels in the event loop |
//!
//! What a link does with its frames is in `link/wifi.rs`.

mod access;
mod channel;
mod contention;
mod standard;

use std::sync::Arc;

use subflow_quantity::{Duration, Rate};

pub(crate) use channel::{Access, Channels};
pub use standard::WifiStandard;

use standard::Modulation;

/// The MAC header, LLC and SNAP, and the frame check sequence, in bytes.
const HEADER_BYTES: u64 = 24 + 8 + 4;
/// What QoS adds to the MAC header.
const QOS_BYTES: u64 = 2;
/// The delimiter of a frame in an A-MPDU.
const DELIMITER_BYTES: u64 = 4;
const ACK_BYTES: u64 = 14;
/// A block acknowledgment with a compressed bitmap.
const BLOCK_ACK_BYTES: u64 = 32;

/// One direction of a link over a WiFi channel.
///
/// All directions of links on a channel contend for it: those that begin at the same interface or router are one station,
/// which sends for each of them in turn. A station whose queue has packets waits until the channel has been idle for SIFS
/// and `aifsn` slots, and then for a random number of slots, uniform from 0 to the contention window, in which the channel
/// is idle. Stations that begin in the same slot collide: nothing of what they send arrives. The window is `cw_min`,
/// about doubles with each collision up to `cw_max`, and is `cw_min` again after a success or the last attempt, with which
/// the packets are lost (IEEE 802.11-2020, sections 10.3 and 10.23).
///
/// A station takes what waits when its first attempt begins: one packet, or up to the limits of the aggregate. All
/// packets of an aggregate leave the queue when its transmission ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WifiConfig {
    /// The name of the channel. One direction of a link that is alone on its channel never waits for another.
    pub channel: Arc<str>,
    /// The physical layer. That of the first link holds for the waits of all stations of a channel.
    pub standard: WifiStandard,
    /// The rate of data on the physical layer, above zero.
    pub rate: Rate,
    /// The highest rate of acknowledgments.
    pub control_rate: Rate,
    /// Spatial streams, for their training fields; the rate is that of all of them.
    pub streams: u32,
    /// Whether symbols have a guard interval of 400 ns.
    pub short_guard_interval: bool,
    /// The most packets of an aggregate; one without aggregation.
    pub most_frames: u32,
    /// The most bytes of an aggregate, with MAC headers.
    pub most_bytes: u32,
    /// The longest time of an aggregate on the air. A single packet may take longer.
    pub longest: Duration,
    /// How the station contends. For a station with several links, that of the first one holds.
    pub contention: ContentionConfig,
}

/// How a station contends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentionConfig {
    /// The slots to wait after SIFS before the backoff.
    pub aifsn: u32,
    /// The contention window before the first attempt.
    pub cw_min: u32,
    /// The largest contention window.
    pub cw_max: u32,
    /// The most attempts at a frame, at least one.
    pub attempts: u32,
    /// Whether stations wait for EIFS after a collision: all do if one of the links that have collided has it.
    pub eifs: bool,
}

impl WifiConfig {
    /// A link of `standard` with its usual constants.
    pub fn new(channel: &str, standard: WifiStandard, rate: Rate) -> Self {
        Self {
            channel: channel.into(),
            standard,
            rate,
            control_rate: standard.usual_control_rate(),
            streams: 1,
            short_guard_interval: false,
            most_frames: standard.most_frames(),
            most_bytes: standard.most_bytes(),
            longest: Self::LONGEST,
            contention: ContentionConfig {
                aifsn: standard.usual_aifsn(),
                cw_min: standard.usual_cw_min(),
                cw_max: 1023,
                attempts: 7,
                eifs: true,
            },
        }
    }

    /// The longest time that a legacy station can be told of.
    pub const LONGEST: Duration = Duration::from_micros(5484);

    /// What a packet of `bytes` takes in an aggregate.
    pub(crate) fn subframe_bytes(&self, bytes: u32) -> u64 {
        (DELIMITER_BYTES + self.frame_bytes(bytes)).next_multiple_of(4)
    }

    /// A packet of `bytes` with its headers.
    fn frame_bytes(&self, bytes: u32) -> u64 {
        let qos = if self.standard.is_qos() { QOS_BYTES } else { 0 };
        u64::from(bytes) + HEADER_BYTES + qos
    }

    /// How long a packet of `bytes` takes on the air, if it is sent alone. Frames of 802.11ac have a delimiter always.
    pub(crate) fn single_time(&self, bytes: u32) -> Duration {
        let frame =
            if self.standard == WifiStandard::Ac { self.subframe_bytes(bytes) } else { self.frame_bytes(bytes) };
        self.standard.data_time(frame, self.modulation())
    }

    /// How long an aggregate takes on the air whose packets take `bytes` in it together.
    pub(crate) fn aggregate_time(&self, bytes: u64) -> Duration {
        self.standard.data_time(bytes, self.modulation())
    }

    /// The time from the end of so many frames to that of their acknowledgment.
    pub(crate) fn response_time(&self, frames: usize) -> Duration {
        // Of more streams each has the rate of the modulation.
        let of_stream = Rate::from_bits_per_second(self.rate.bits_per_second() / u64::from(self.streams.max(1)));
        let rate = self.standard.control_rate(self.control_rate, of_stream);
        let bytes = if frames > 1 { BLOCK_ACK_BYTES } else { ACK_BYTES };
        self.standard.sifs() + self.standard.control_time(bytes, rate)
    }

    /// How long the channel counts as busy after the end of a collision.
    fn after_collision(&self) -> Duration {
        if self.contention.eifs { self.standard.after_collision() } else { Duration::ZERO }
    }

    fn modulation(&self) -> Modulation {
        Modulation { rate: self.rate, streams: self.streams, short_guard_interval: self.short_guard_interval }
    }
}
