//! The file of an event log, written as the run goes on.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

use crate::RunError;

/// Bytes that are collected before they are written. They fit in the cache of a core, and are whole lines.
const BUFFER: usize = 256 << 10;
/// The room that is kept free for the next line. A longer one makes the buffer grow.
const LONG_LINE: usize = 4 << 10;

/// A file, and the first error of writing to it; nothing is written after that.
pub(super) struct Stream {
    path: PathBuf,
    /// What the file is called once it is complete, if that is another name.
    name: Option<PathBuf>,
    file: File,
    /// What was not written yet.
    collected: Vec<u8>,
    error: Option<io::Error>,
}

impl Stream {
    /// Creates the file, or empties it; `name` is what it is called in the end, if that is another name.
    pub(super) fn create((path, name): (PathBuf, Option<PathBuf>)) -> Result<Self, RunError> {
        match File::create(&path) {
            Ok(file) => Ok(Self { path, name, file, collected: Vec::with_capacity(BUFFER), error: None }),
            Err(error) => Err(RunError::write("the event log", &path, &error)),
        }
    }

    /// What is collected, to make a line at its end; [`end_line`](Self::end_line) must follow.
    #[inline]
    pub(super) fn collected(&mut self) -> &mut Vec<u8> {
        &mut self.collected
    }

    /// A line is complete.
    #[inline]
    pub(super) fn end_line(&mut self) {
        if self.collected.len() > BUFFER - LONG_LINE {
            self.write_out();
        }
    }

    #[cold]
    fn write_out(&mut self) {
        if self.error.is_none() {
            self.error = self.file.write_all(&self.collected).err();
        }
        self.collected.clear();
    }

    /// Fails with the first error. The file has the whole lines until then, and perhaps a part of one.
    pub(super) fn check(&self) -> Result<(), RunError> {
        self.error.as_ref().map_or(Ok(()), |error| Err(RunError::write("the event log", &self.path, error)))
    }

    /// Writes what was collected. A file that is to have another name has it then, and is on the disk.
    pub(super) fn finish(mut self) -> Result<(), RunError> {
        self.write_out();
        self.check()?;
        let Some(name) = &self.name else { return Ok(()) };
        let named = self.file.sync_all().and_then(|()| std::fs::rename(&self.path, name));
        named.map_err(|error| RunError::write("the event log", name, &error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_an_error_with_a_remedy() {
        let mut stream = Stream::create((PathBuf::from("/dev/full"), None)).expect("a device");
        stream.collected().extend_from_slice(b"short\n");
        stream.end_line();
        assert_eq!(stream.check(), Ok(()), "it is in the buffer");
        stream.collected().extend_from_slice(&[b' '; 2 * BUFFER]);
        stream.end_line();
        let error = stream.check().expect_err("full").to_string();
        assert!(error.contains("/dev/full") && error.contains("free space on this disk"), "{error}");
        assert_eq!(stream.finish().map_err(|error| error.to_string()), Err(error));
    }
}
