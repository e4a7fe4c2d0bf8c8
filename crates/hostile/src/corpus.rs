//! A corpus: cases in files that together reach much of the stacks, for libFuzzer and the driver to begin with.
//!
//! The files are JSON, as counterexamples are, so that a change of the generator does not change what they do.

use std::path::Path;

use rand_core::{RngCore, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::case::Case;
use crate::stack::Stack;

impl Case {
    /// The case of an input of a fuzzer: a case as JSON, or any other bytes.
    pub fn from_input(stack: Stack, input: &[u8]) -> Self {
        let json = serde_json::from_slice(input).ok();
        json.filter(|case: &Self| case.stack == stack).unwrap_or_else(|| Self::from_bytes(stack, input))
    }
}

/// Cases by the names of their files.
#[derive(Clone, Debug, Default)]
pub struct Corpus(Vec<(String, Case)>);

impl Corpus {
    /// Reads the cases of a stack, those in the folder `STACK_hosts` of `folder`, in the order of their names.
    ///
    /// # Errors
    ///
    /// The folder or a file cannot be read, holds no case, or one of another stack; the error names it.
    pub fn load(folder: &Path, stack: Stack) -> Result<Self, String> {
        let folder = folder.join(format!("{stack}_hosts"));
        let unreadable = |error| format!("cannot read {}: {error}", folder.display());
        let entries = std::fs::read_dir(&folder).map_err(unreadable)?;
        let mut paths =
            entries.map(|entry| Ok(entry.map_err(unreadable)?.path())).collect::<Result<Vec<_>, String>>()?;
        paths.sort();
        let read = |path: std::path::PathBuf| {
            let case = Case::load(&path)?;
            match case.stack == stack {
                true => Ok((path.display().to_string(), case)),
                false => Err(format!("{} is a case of {}, not of {stack}", path.display(), case.stack)),
            }
        };
        Ok(Self(paths.into_iter().map(read).collect::<Result<_, _>>()?))
    }

    /// The cases with the names of their files.
    pub fn cases(&self) -> &[(String, Case)] {
        &self.0
    }

    /// One of the cases, changed as `seed` chooses, and the file that it was. `None` if there is none.
    pub fn mutated(&self, seed: u64) -> Option<(&str, Case)> {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let mut any = || self.0.get((rng.next_u64() % self.0.len().max(1) as u64) as usize);
        let ((name, case), (_, donor)) = (any()?, any()?);
        Some((name, case.mutated(donor, seed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_is_a_case_as_json_or_any_bytes() {
        let case = Case::from_seed(Stack::Sctp, 9);
        assert_eq!(Case::from_input(Stack::Sctp, case.to_json().as_bytes()), case);
        assert_eq!(Case::from_input(Stack::Tcp, case.to_json().as_bytes()).stack, Stack::Tcp);
        assert_eq!(Case::from_input(Stack::Tcp, b"{"), Case::from_bytes(Stack::Tcp, b"{"));
    }

    #[test]
    fn the_corpora_of_the_repository_can_be_read_and_changed() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
        for stack in Stack::ALL {
            let corpus = Corpus::load(&folder, stack).expect("it is there");
            let (name, case) = corpus.mutated(1).expect("it has cases");
            assert_eq!(case.stack, stack, "{name}");
        }
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let error = Corpus::load(Path::new("/nonexistent"), Stack::Tcp).expect_err("there is none");
        assert!(error.contains("/nonexistent/tcp_hosts"), "{error}");
    }
}
