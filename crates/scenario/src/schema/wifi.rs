//! The keys of a rate with `standard`: a link over a WiFi channel.

use subflow_network::WifiStandard;
use subflow_policy::catalogue::Choice;

use crate::table::{Default, FieldSchema, optional, value, word};

pub(crate) const WIFI_STANDARDS: [Choice<WifiStandard>; 6] = [
    Choice::new("802.11n", WifiStandard::N, "at 5 GHz, with A-MPDU").source("IEEE 802.11-2020, clause 19"),
    Choice::new("802.11ac", WifiStandard::Ac, "with A-MPDU").source("IEEE 802.11-2020, clause 21"),
    Choice::new("802.11a", WifiStandard::A, "OFDM at 5 GHz").source("IEEE 802.11-2020, clause 17"),
    Choice::new("802.11g", WifiStandard::G, "OFDM at 2.4 GHz, without 802.11b").source("IEEE 802.11-2020, clause 18"),
    Choice::new("802.11b", WifiStandard::B, "short preamble above 1 Mbit/s").source("IEEE 802.11-2020, clause 16"),
    Choice::new("802.11-fhss", WifiStandard::Fhss, "frequency hopping of 1997, at 1 Mbit/s")
        .source("Bianchi 2000, table II"),
];

/// The keys that only such a link has.
pub(super) fn fields() -> Vec<FieldSchema> {
    vec![
        word(
            "standard",
            &WIFI_STANDARDS,
            Default::None("no WiFi".into()),
            "the physical layer of a WiFi link, whose `rate` is that of frames with data, such as 65 Mbit/s",
        ),
        optional(
            "channel",
            "the name of a channel",
            "none; a WiFi link needs it",
            "the channel for which all directions of links with the same name contend. Directions that begin at the same \
             interface or router are one station",
        ),
        optional(
            "control_rate",
            "a rate above zero",
            "24 Mbit/s; of 802.11b 2 Mbit/s, of 802.11-fhss 1 Mbit/s",
            "the highest rate of acknowledgments; they are no faster than the data",
        ),
        value("streams", "a whole number from 1 to 8", "1", "the spatial streams, for their part of the preamble"),
        value(
            "guard_interval",
            "a duration above zero",
            "'800 ns'",
            "the guard interval of symbols of 802.11n and ac, 800 ns or 400 ns: 65 Mbit/s become 72.2 Mbit/s with the short one",
        ),
        value(
            "ampdu_frames",
            "a whole number from 1 to 64",
            "64",
            "the most packets of an aggregate; 1 is no aggregation",
        ),
        optional(
            "ampdu_bytes",
            "a size",
            "65535 bytes; of 802.11ac 1048575",
            "the most bytes of an aggregate, from 2304 to 1048575",
        ),
        value("ampdu_time", "a duration above zero", "'5.484 ms'", "the longest time of an aggregate on the air"),
        optional(
            "aifsn",
            "a whole number from 1 to 15",
            "3; without A-MPDU 2, as DIFS has it",
            "the slots that the channel is idle after SIFS before the backoff",
        ),
        optional(
            "cw_min",
            "a whole number from 0 to 32767",
            "15; of 802.11b 31",
            "the contention window: the backoff has from 0 to so many slots; a power of two less one",
        ),
        value(
            "cw_max",
            "a whole number from 0 to 32767",
            "1023",
            "the contention window after many collisions; a power of two less one",
        ),
        value("attempts", "a whole number from 1 to 255", "7", "the attempts at a packet after which it is lost"),
        value("eifs", "true or false", "true", "whether stations wait for EIFS after a collision"),
    ]
}
