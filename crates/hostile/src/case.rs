//! A case: two hosts, and everything that happens to them. Made of a seed or of any bytes, kept as JSON.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::action::Action;
use crate::setup::Setup;
use crate::stack::Stack;

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

impl Case {
    /// Reads a case that [`save`](Self::save) wrote.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or holds no valid case; the error names the file and the reason.
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
