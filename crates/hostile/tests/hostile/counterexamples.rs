//! Cases that once failed, replayed. `counterexamples/STACK/NAME.json` is one each; the driver writes them (`--keep`).

use std::path::{Path, PathBuf};

use subflow_hostile::{Case, Stack, attempt};

#[test]
fn counterexamples_of_tcp_are_withstood() {
    replay(Stack::Tcp);
}

#[test]
fn counterexamples_of_mptcp_are_withstood() {
    replay(Stack::Mptcp);
}

#[test]
fn counterexamples_of_sctp_are_withstood() {
    replay(Stack::Sctp);
}

#[test]
fn counterexamples_of_quic_are_withstood() {
    replay(Stack::Quic);
    replay(Stack::Mpquic);
}

fn replay(stack: Stack) {
    let files = files(stack);
    assert!(!files.is_empty(), "there are no counterexamples of {stack}");
    let failures: Vec<String> = files.iter().filter_map(|file| replay_one(stack, file).err()).collect();
    assert!(failures.is_empty(), "{} of {} cases fail:\n{}", failures.len(), files.len(), failures.join("\n"));
}

fn files(stack: Stack) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("counterexamples").join(stack.name());
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a folder that can be read").path()).collect();
    files.sort();
    files
}

fn replay_one(stack: Stack, file: &Path) -> Result<(), String> {
    let case = Case::load(file)?;
    assert_eq!(case.stack, stack, "{} is a case of another stack", file.display());
    attempt(&case).map(|_| ()).map_err(|failure| format!("{}: {failure}", file.display()))
}
