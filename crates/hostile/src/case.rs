//! A case: two hosts, and everything that happens to them. Made of a seed or of any bytes, kept as JSON.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use arbitrary::Unstructured;
use rand_core::{RngCore, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};

use crate::action::Action;
use crate::generate;
use crate::setup::Setup;

/// What the hosts speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stack {
    /// Plain TCP.
    Tcp,
    /// MPTCP, at one end possibly plain TCP.
    Mptcp,
    /// SCTP.
    Sctp,
}

impl Stack {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Tcp, Self::Mptcp, Self::Sctp];

    /// Its name in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Mptcp => "mptcp",
            Self::Sctp => "sctp",
        }
    }
}

impl fmt::Display for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Stack {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|stack| stack.name() == name).ok_or_else(|| format!("no stack is called {name:?}"))
    }
}

/// Two hosts and what happens to them. The same case gives the same packets on every machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// What the hosts speak.
    pub stack: Stack,
    /// Seeds the randomness of the hosts.
    pub seed: u64,
    /// How they are set up.
    pub setup: Setup,
    /// What happens, in order.
    pub actions: Vec<Action>,
}

/// Bytes that a seed becomes: enough for some dozens of actions.
const MOST_BYTES: usize = 3000;

impl Case {
    /// The case of this seed.
    pub fn from_seed(stack: Stack, seed: u64) -> Self {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let length = rng.next_u64() as usize % MOST_BYTES;
        let mut bytes = vec![0; length];
        rng.fill_bytes(&mut bytes);
        Self::from_bytes(stack, &bytes)
    }

    /// The case that these bytes stand for, as a fuzzer makes them. Any bytes make one.
    pub fn from_bytes(stack: Stack, bytes: &[u8]) -> Self {
        generate::case(stack, &mut Unstructured::new(bytes))
    }

    /// Reads a case that [`save`](Self::save) wrote.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or holds no case: says which file, and what is wrong with it.
    pub fn load(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        serde_json::from_str(&text).map_err(|error| format!("{} holds no case: {error}", path.display()))
    }

    /// Writes the case as JSON, one action a line.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), String> {
        std::fs::write(path, self.to_json()).map_err(|error| format!("cannot write {}: {error}", path.display()))
    }

    /// The case as JSON, one action a line, so that a reader sees the story and a difference shows what changed.
    pub fn to_json(&self) -> String {
        let actions: Vec<String> = self.actions.iter().map(|action| format!("    {}", json(action))).collect();
        format!(
            "{{\n  \"stack\": {},\n  \"seed\": {},\n  \"setup\": {},\n  \"actions\": [\n{}\n  ]\n}}\n",
            json(&self.stack),
            self.seed,
            json(&self.setup),
            actions.join(",\n"),
        )
    }
}

/// On one line.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("plain data becomes JSON")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_is_the_same_after_it_was_written_and_read() {
        for stack in Stack::ALL {
            for seed in 0..200 {
                let case = Case::from_seed(stack, seed);
                let again: Case = serde_json::from_str(&case.to_json()).expect("what was written can be read");
                assert_eq!(case, again);
            }
        }
    }

    #[test]
    fn any_bytes_make_a_case() {
        for stack in Stack::ALL {
            Case::from_bytes(stack, &[]);
            Case::from_bytes(stack, &[0xff; 100]);
        }
    }

    #[test]
    fn a_file_that_holds_no_case_is_named() {
        let error = Case::load(Path::new("/nonexistent/case.json")).expect_err("there is no such file");
        assert!(error.contains("/nonexistent/case.json"), "{error}");
    }
}
