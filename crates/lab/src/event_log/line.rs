//! Members of one line of JSON, written into a buffer that is used again: an event log has more lines than a run has
//! packets. The name of a member comes with all that stands before its value ([`member!`]), as one constant.

use subflow_quantity::Duration;

/// A member that is not the first of its object: the comma, its name, and the colon.
macro_rules! member {
    ($name:literal) => {
        concat!(",\"", $name, "\":")
    };
}
pub(super) use member;

/// The end of a line under construction.
pub(super) struct Line<'a>(pub(super) &'a mut Vec<u8>);

impl Line<'_> {
    /// Text that is JSON.
    #[inline]
    pub(super) fn json(&mut self, text: &str) -> &mut Self {
        self.0.extend_from_slice(text.as_bytes());
        self
    }

    /// Bytes that are JSON.
    #[inline]
    pub(super) fn bytes(&mut self, json: &[u8]) -> &mut Self {
        self.0.extend_from_slice(json);
        self
    }

    /// A member that is JSON already.
    #[inline]
    pub(super) fn quoted(&mut self, member: &'static str, value: &str) -> &mut Self {
        self.json(member).json(value)
    }

    /// A member that is an integer.
    #[inline]
    pub(super) fn number(&mut self, member: &'static str, value: u64) -> &mut Self {
        self.json(member).integer(value)
    }

    /// An integer.
    #[inline]
    pub(super) fn integer(&mut self, value: u64) -> &mut Self {
        self.json(itoa::Buffer::new().format(value))
    }

    /// A member that is a time in milliseconds, exact to the nanosecond.
    pub(super) fn exact_millis(&mut self, member: &'static str, nanos: u64) -> &mut Self {
        self.number(member, nanos / 1_000_000);
        if !nanos.is_multiple_of(1_000_000) {
            self.0.push(b'.');
            three(self.0, nanos / 1000 % 1000);
            three(self.0, nanos % 1000);
        }
        self
    }

    /// A member that is a duration in milliseconds, to the microsecond.
    pub(super) fn millis(&mut self, member: &'static str, nanos: u64) -> &mut Self {
        self.number(member, nanos / 1_000_000);
        let micros = nanos / 1000 % 1000;
        if micros > 0 {
            self.0.push(b'.');
            three(self.0, micros);
        }
        self
    }
}

/// Three decimals.
#[inline]
fn three(buffer: &mut Vec<u8>, value: u64) {
    let digit = |scale: u64| b'0' + (value / scale % 10) as u8;
    buffer.extend_from_slice(&[digit(100), digit(10), digit(1)]);
}

/// The RTTs of a subflow as they were written last. They often stay the same from one line to the next: a scheduler
/// sees all subflows at each decision, and an acknowledgment of one of them may let it decide several times.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times_are_json() {
        let mut buffer = Vec::new();
        let mut line = Line(&mut buffer);
        line.json("{\"a\":1").number(member!("least"), 0).number(member!("most"), u64::MAX);
        line.exact_millis(member!("at"), 1_234_050_007).exact_millis(member!("whole"), 3_000_000);
        line.millis(member!("rtt"), 20_040_999).millis(member!("short"), 999).json("}");
        let text = String::from_utf8(buffer).expect("UTF-8");
        let expected = "{\"a\":1,\"least\":0,\"most\":18446744073709551615,\"at\":1234.050007,\"whole\":3,\
                        \"rtt\":20.040,\"short\":0}";
        assert_eq!(text, expected);
        serde_json::from_str::<serde_json::Value>(&text).expect("JSON");
    }
}
