//! `trace`: a recorded list of losses.

use std::sync::Arc;

use rand_pcg::Pcg64Mcg;
use subflow_policy::catalogue::{Attribute, Catalogued, Description};

use super::PacketLoss;
use crate::TraceError;

/// A recorded loss pattern, repeated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Whether each packet is lost.
    pattern: Arc<[bool]>,
    next: usize,
}

impl Trace {
    /// Repeats `pattern`, which has one element per packet: whether it is lost. An empty one loses nothing.
    pub const fn new(pattern: Arc<[bool]>) -> Self {
        Self { pattern, next: 0 }
    }

    /// Parses a pattern: one character per packet, `1` if it is lost, else `0`. White space is ignored.
    pub fn parse(text: &str) -> Result<Arc<[bool]>, TraceError> {
        let mut lost = Vec::new();
        for (number, line) in text.lines().enumerate() {
            for character in line.chars().filter(|c| !c.is_whitespace()) {
                lost.push(match character {
                    '0' => false,
                    '1' => true,
                    other => return Err(TraceError::new(number + 1, "0 (arrives) or 1 (lost)", format!("'{other}'"))),
                });
            }
        }
        match lost.is_empty() {
            true => Err(TraceError::new(1, "0 (arrives) or 1 (lost)", "an empty file".into())),
            false => Ok(lost.into()),
        }
    }
}

impl Catalogued for Trace {
    const DESCRIPTION: Description = Description {
        name: "trace",
        aliases: &[],
        summary: "the packets that a recorded list of zeros and ones names",
        source: "",
    };

    const OPTIONS: &'static [Attribute<Self>] = &[Attribute::pattern(
        "file",
        "the recorded list: 0 (arrives) or 1 (lost) for each packet, line breaks allowed anywhere; it repeats",
        |model: &Self| model.pattern.clone(),
        |model, pattern| *model = Self::new(pattern),
    )
    .required()];
}

impl PacketLoss for Trace {
    fn loses(&mut self, _random: &mut Pcg64Mcg) -> bool {
        let Some(&lost) = self.pattern.get(self.next) else { return false };
        self.next = if self.next + 1 == self.pattern.len() { 0 } else { self.next + 1 };
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::fates;
    use super::*;

    #[test]
    fn a_trace_repeats() {
        let trace = Trace::new(Trace::parse("01\n0 0\n").unwrap());
        assert_eq!(fates(trace, 8), [false, true, false, false, false, true, false, false]);
    }

    #[test]
    fn a_bad_trace_is_refused_with_its_line() {
        assert_eq!(
            Trace::parse("01\n0x").unwrap_err().to_string(),
            "line 2: expected 0 (arrives) or 1 (lost), found 'x'"
        );
        assert!(Trace::parse(" \n").is_err());
    }
}
