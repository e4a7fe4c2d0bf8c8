//! What video players have shown.

use serde::{Deserialize, Serialize};

use crate::number;
use crate::statistics::mean;

/// One session of a player, or the sessions of all flows of a group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct VideoResult {
    /// Seconds from the first request until playback began; null if it did not. Of a group the mean.
    #[serde(serialize_with = "number::optional")]
    pub startup_s: Option<f64>,
    /// How often playback stalled because the buffer was empty. Of a group the sum.
    pub stalls: u64,
    /// Seconds of stalls, with that which was under way at the end of the run. Of a group the sum.
    #[serde(serialize_with = "number::serialize")]
    pub stalled_s: f64,
    /// Mean bit rate in Mbit/s of the chunks that arrived; null without any. Of a group the mean over its flows.
    #[serde(serialize_with = "number::optional")]
    pub quality_mbps: Option<f64>,
    /// How often a chunk had another quality than the one before. Of a group the sum.
    pub switches: u64,
    /// Seconds of content that were played. Of a group the sum.
    #[serde(serialize_with = "number::serialize")]
    pub played_s: f64,
}

impl VideoResult {
    /// The sessions of several flows together; `None` of none.
    pub(super) fn together<'a>(sessions: impl Iterator<Item = &'a Self>) -> Option<Self> {
        let all: Vec<&Self> = sessions.collect();
        let mean_of = |of: fn(&Self) -> Option<f64>| mean(&all.iter().filter_map(|one| of(one)).collect::<Vec<_>>());
        (!all.is_empty()).then(|| Self {
            startup_s: mean_of(|one| one.startup_s),
            stalls: all.iter().map(|one| one.stalls).sum(),
            stalled_s: all.iter().map(|one| one.stalled_s).sum(),
            quality_mbps: mean_of(|one| one.quality_mbps),
            switches: all.iter().map(|one| one.switches).sum(),
            played_s: all.iter().map(|one| one.played_s).sum(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_sessions_add_up_and_startup_and_quality_are_means() {
        let session = |startup_s, stalls, quality_mbps| VideoResult {
            startup_s,
            stalls,
            stalled_s: 1.5,
            quality_mbps,
            switches: 2,
            played_s: 10.0,
        };
        let sessions = [session(Some(1.0), 1, Some(2.0)), session(Some(2.0), 3, Some(4.0)), session(None, 0, None)];
        let all = VideoResult::together(sessions.iter()).expect("there are sessions");
        assert_eq!((all.startup_s, all.quality_mbps), (Some(1.5), Some(3.0)));
        assert_eq!((all.stalls, all.stalled_s, all.switches, all.played_s), (4, 4.5, 6, 30.0));
        assert_eq!(VideoResult::together([].iter()), None);
    }
}
