//! RTTs as members of a line. Those of a subflow often stay the same from one line to the next: a scheduler sees all
//! subflows at each decision, and an acknowledgment of one of them may let it decide several times.

use subflow_quantity::Duration;

use super::line::{Line, member};

/// The RTTs of a subflow as they were written last.
#[derive(Default)]
pub(super) struct Rtts {
    /// The smoothed RTT, the latest sample, and the variation.
    of: (Option<Duration>, Option<Duration>, Duration),
    json: Vec<u8>,
}

impl Rtts {
    /// The members for these RTTs; the variation has one once there is a smoothed RTT.
    #[inline]
    pub(super) fn json(&mut self, smoothed: Option<Duration>, latest: Option<Duration>, variation: Duration) -> &[u8] {
        let new = (smoothed, latest, variation);
        if self.of != new {
            self.of = new;
            self.write();
        }
        &self.json
    }

    fn write(&mut self) {
        let (smoothed, latest, variation) = self.of;
        self.json.clear();
        let mut line = Line(&mut self.json);
        smoothed_and_latest(&mut line, smoothed, latest);
        if smoothed.is_some() {
            line.millis(member!("rttvar"), variation.as_nanos());
        }
    }
}

/// The smoothed RTT and the latest sample, once there are any.
pub(super) fn smoothed_and_latest(line: &mut Line<'_>, smoothed: Option<Duration>, latest: Option<Duration>) {
    if let Some(smoothed) = smoothed {
        line.millis(member!("srtt"), smoothed.as_nanos());
    }
    if let Some(latest) = latest {
        line.millis(member!("latest_rtt"), latest.as_nanos());
    }
}
