//! Connections of programs in hosts.

use serde::{Deserialize, Serialize};

use crate::number;

/// A connection of a program, or of two: one at each end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConnectionResult {
    /// Its name: that of the program that opened it, or else of its peer, and a number from 1 in the order of beginnings.
    pub name: String,
    /// The program, or the process, that opened it; null if it is not known.
    pub program: Option<String>,
    /// The program, or the process, that accepted it; null if it is not known.
    pub peer: Option<String>,
    /// `tcp`, `mptcp` or `sctp`. Of `sctp`, all figures are from the packets that both hosts send: it is not known which
    /// programs have it.
    pub protocol: String,
    /// The address and port that it was opened from, as its own host has them.
    pub local: String,
    /// The address and port that it was opened to, likewise.
    pub remote: String,
    /// Seconds from the start of the run until it was seen first.
    #[serde(serialize_with = "number::serialize")]
    pub start_s: f64,
    /// Seconds from the start of the run until its sockets had ended; null if one was open when the run ended.
    #[serde(serialize_with = "number::optional")]
    pub end_s: Option<f64>,
    /// Bytes that arrived at the program that accepted it; of SCTP, user data that the opening end has sent, each once.
    pub bytes_sent: u64,
    /// Bytes that arrived at the program that opened it; of SCTP, user data that the other end has sent, each once.
    pub bytes_received: u64,
    /// Segments that either end sent again; of SCTP, DATA chunks.
    pub retransmissions: u64,
    /// Whether it was in a list of open sockets. Otherwise it lasted for less than the interval of looks, and is known from
    /// the kernel's report of its end.
    pub was_listed: bool,
    /// What detectors say of its subflows, if it has several. Subflows are numbered as in its flow.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shared_bottlenecks: Vec<Detection>,
}

/// What a detector of shared bottlenecks says of the subflows of a connection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Detection {
    /// Its name.
    pub detector: String,
    /// From which degree on two subflows share a bottleneck.
    pub threshold: f64,
    /// All pairs of subflows.
    pub pairs: Vec<Pair>,
}

/// Two subflows, by number.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// Their numbers.
    pub subflows: [usize; 2],
    /// The degree of their correlation; `null` if it is not known yet.
    pub degree: Option<f64>,
    /// Whether they share a bottleneck; `null` if it is not known yet.
    pub shared: Option<bool>,
}

impl ConnectionResult {
    /// Whether one of its ends is of the program with this name.
    pub fn is_of(&self, program: &str) -> bool {
        [&self.program, &self.peer].into_iter().any(|end| end.as_deref() == Some(program))
    }

    /// Bytes that this program sent and received over it.
    pub fn bytes_of(&self, program: &str) -> [u64; 2] {
        match self.program.as_deref() == Some(program) {
            true => [self.bytes_sent, self.bytes_received],
            false => [self.bytes_received, self.bytes_sent],
        }
    }

    /// The pairs of subflows that share a bottleneck, as text; empty if none does.
    pub fn shared(&self) -> String {
        let of = |detection: &Detection| {
            let shared = detection.pairs.iter().filter(|pair| pair.shared == Some(true));
            let pairs: Vec<String> = shared.map(|Pair { subflows: [a, b], .. }| format!("{a}+{b}")).collect();
            (!pairs.is_empty()).then(|| format!("{} ({})", pairs.join(" "), detection.detector))
        };
        self.shared_bottlenecks.iter().filter_map(of).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_those_of_the_end_that_is_asked_about() {
        let connection = ConnectionResult {
            program: Some("client".to_owned()),
            peer: Some("server".to_owned()),
            bytes_sent: 1,
            bytes_received: 2,
            ..ConnectionResult::default()
        };
        assert_eq!([connection.bytes_of("client"), connection.bytes_of("server")], [[1, 2], [2, 1]]);
        assert!(connection.is_of("server") && !connection.is_of("other"));
    }

    #[test]
    fn shared_bottlenecks_name_the_pairs_and_who_says_it() {
        let pair = |subflows, shared| Pair { subflows, degree: None, shared };
        let pairs = vec![pair([0, 1], Some(true)), pair([0, 2], Some(false)), pair([1, 2], None)];
        let detection = Detection { detector: "red-cpi".to_owned(), threshold: 0.8, pairs };
        let connection = ConnectionResult { shared_bottlenecks: vec![detection], ..ConnectionResult::default() };
        assert_eq!(connection.shared(), "0+1 (red-cpi)");
        assert_eq!(ConnectionResult::default().shared(), "");
    }
}
