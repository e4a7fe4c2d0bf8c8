//! The steps that are still to be carried out to undo a proxy's changes, in memory and on a file.
//!
//! The process may be killed between any two system calls. So the file only grows: a step is in it before its change is
//! made, and stays. That it has been carried out is another line.

use std::fs::File;
use std::io::{self, Write};

use rustix::io::FdFlags;
use serde_json::{Value, json};

use super::step::Step;
use crate::error::Error;

/// A line of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Record {
    /// A change is about to be made, which this step undoes.
    ToUndo(Step),
    /// The step has been carried out, or another proxy has taken it over.
    Undone(Step),
}

impl Record {
    fn to_line(&self) -> String {
        match self {
            Self::ToUndo(step) => step.to_json(),
            Self::Undone(step) => json!({ "undone": step.to_json() }),
        }
        .to_string()
    }

    fn from_line(line: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(line).ok()?;
        match value.get("undone") {
            Some(step) => Some(Self::Undone(Step::from_json(step)?)),
            None => Some(Self::ToUndo(Step::from_json(&value)?)),
        }
    }

    /// Does to the steps what the line says.
    fn replay(self, steps: &mut Vec<Step>) {
        match self {
            Self::ToUndo(step) => steps.push(step),
            Self::Undone(step) => {
                if let Some(position) = steps.iter().rposition(|pending| *pending == step) {
                    steps.remove(position);
                }
            }
        }
    }
}

/// The steps that are left of a journal with this content. A line of which only the beginning was written does not
/// count: the change that it announces was not made, or what it says is undone is undone once more.
pub(super) fn left_in(content: &[u8]) -> Vec<Step> {
    let mut steps = Vec::new();
    // It may end within a character.
    let text = String::from_utf8_lossy(content);
    text.lines().filter_map(Record::from_line).for_each(|record| record.replay(&mut steps));
    steps
}

/// The steps, in the order of their changes.
#[derive(Debug)]
pub(super) struct Pending {
    file: File,
    steps: Vec<Step>,
}

/// What came of the try to carry out all steps.
#[derive(Debug, Default)]
pub(super) struct Attempt {
    /// Why the steps that are left could not be carried out.
    pub(super) failures: Vec<Error>,
    /// Why the file does not say of all that were carried out that they were.
    pub(super) unwritten: Option<io::Error>,
}

impl Pending {
    /// The steps that are left of a file, which is opened for appending and has this content.
    pub(super) fn new(file: File, content: &[u8]) -> Self {
        Self { file, steps: left_in(content) }
    }

    /// Lets commands that are started from now on hold the lock of the file until they end.
    pub(super) fn share_with_commands(&self) -> io::Result<()> {
        Ok(rustix::io::fcntl_setfd(&self.file, FdFlags::empty())?)
    }

    pub(super) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Adds a step. Its change may be made when this has succeeded.
    pub(super) fn add(&mut self, step: Step) -> io::Result<()> {
        let record = Record::ToUndo(step);
        self.append(&record)?;
        record.replay(&mut self.steps);
        Ok(())
    }

    /// Removes a step that has been carried out, or need not be. Without the line on the file, `subflow cleanup` may
    /// carry it out once more.
    pub(super) fn remove(&mut self, step: &Step) -> io::Result<()> {
        let record = Record::Undone(step.clone());
        let written = self.append(&record);
        record.replay(&mut self.steps);
        written
    }

    /// Carries out all steps, that of the last change first. Those that fail stay.
    pub(super) fn undo_all(&mut self) -> Attempt {
        let mut attempt = Attempt::default();
        for step in self.steps.clone().into_iter().rev() {
            match step.undo() {
                Ok(()) => attempt.unwritten = attempt.unwritten.or(self.remove(&step).err()),
                Err(error) => attempt.failures.push(error),
            }
        }
        attempt
    }

    /// The end of the line comes first: what is left of one that did not fit the file system must not spoil this one.
    fn append(&mut self, record: &Record) -> io::Result<()> {
        self.file.write_all(format!("\n{}", record.to_line()).as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::path::Path;

    use super::*;

    /// Opens a journal as a proxy or `subflow cleanup` does.
    fn open(path: &Path) -> Pending {
        let file = OpenOptions::new().append(true).create(true).open(path).expect("a file");
        Pending::new(file, &content(path))
    }

    fn content(path: &Path) -> Vec<u8> {
        fs::read(path).expect("it can be read")
    }

    /// A step that appends a line to a file, and fails while there is a file `broken` beside it.
    fn traced(trace: &Path, what: &str) -> Step {
        let script = "test \"$2\" != fails || ! test -e \"$1-broken\" || exit 1; echo \"$2\" >> \"$1\"";
        let words = ["sh", "-c", script, "sh", &trace.to_string_lossy(), what];
        Step::Run { words: words.map(str::to_owned).to_vec(), input: String::new() }
    }

    #[test]
    fn whenever_the_process_is_killed_nothing_that_is_in_place_is_forgotten() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal");
        let mut journal = open(&path);
        // What the file has before and after each call, and the changes that are in place meanwhile.
        let mut calls: Vec<([Vec<u8>; 2], Vec<Step>)> = Vec::new();
        let mut in_place: Vec<Step> = Vec::new();
        let step = |name: &str| Step::run(&format!("remove \"{name}\" {{\n}} ü"));
        // Some twice: an interface that is renamed and gets its name back is closed, opened, and closed.
        for call in ["+a", "+b", "+a", "-b", "-a", "+c", "+b", "-a", "-c", "-b"] {
            let step = step(&call[1..]);
            let before = content(&path);
            if call.starts_with('+') {
                journal.add(step.clone()).expect("written");
                calls.push(([before, content(&path)], in_place.clone()));
                // The change is made.
                in_place.push(step);
            } else {
                // The change is undone.
                let position = in_place.iter().rposition(|other| *other == step).expect("it is in place");
                in_place.remove(position);
                journal.remove(&step).expect("written");
                calls.push(([before, content(&path)], in_place.clone()));
            }
            assert_eq!(left_in(&content(&path)), in_place, "{call}");
            assert_eq!(journal.steps(), in_place);
        }
        for ([before, after], in_place) in calls {
            assert!(after.starts_with(&before), "nothing that was written is changed");
            for end in before.len()..=after.len() {
                let left = left_in(&after[..end]);
                assert!(covers(&left, &in_place), "byte {end}: {left:?} {in_place:?}");
            }
        }
    }

    /// Whether all changes of `in_place` are undone by `left`.
    fn covers(left: &[Step], in_place: &[Step]) -> bool {
        let count = |steps: &[Step], step: &Step| steps.iter().filter(|other| *other == step).count();
        in_place.iter().all(|step| count(left, step) >= count(in_place, step))
    }

    #[test]
    fn a_line_that_was_cut_spoils_none_of_the_next() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal");
        let [first, second] = ["ip rule del 1", "ip rule del 2"].map(Step::run);
        let whole = Record::ToUndo(first.clone()).to_line();
        for end in 0..=whole.len() {
            fs::write(&path, &whole[..end]).expect("written");
            let mut journal = open(&path);
            journal.add(second.clone()).expect("written");
            journal.add(second.clone()).expect("written");
            journal.remove(&second).expect("written");
            let expected = if end == whole.len() { vec![first.clone(), second.clone()] } else { vec![second.clone()] };
            assert_eq!(left_in(&content(&path)), expected, "{end}");
        }
    }

    #[test]
    fn what_fails_stays_and_what_is_undone_is_not_tried_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let [path, trace, broken] = ["journal", "trace", "trace-broken"].map(|name| folder.path().join(name));
        fs::write(&broken, "").expect("written");
        let mut journal = open(&path);
        for what in ["first", "fails", "last"] {
            journal.add(traced(&trace, what)).expect("written");
        }
        let attempt = journal.undo_all();
        assert!(attempt.failures.len() == 1 && attempt.unwritten.is_none(), "{attempt:?}");
        assert_eq!(content(&trace), b"last\nfirst\n");
        drop(journal);
        // Another process tries it again.
        assert_eq!(open(&path).undo_all().failures.len(), 1);
        fs::remove_file(&broken).expect("removed");
        assert_eq!(open(&path).undo_all().failures.len(), 0);
        assert_eq!(content(&trace), b"last\nfirst\nfails\n");
        assert_eq!(open(&path).steps(), []);
    }

    #[test]
    fn journals_of_the_first_format_are_read() {
        let text = "{\"run\":[\"ip\",\"rule\"],\"input\":\"\"}\n{\"set\":\"ipv4/ip_forward\",\"value\":\"0\"}\n";
        assert_eq!(left_in(text.as_bytes()), [Step::run("ip rule"), Step::set("ipv4/ip_forward", "0")]);
    }
}
