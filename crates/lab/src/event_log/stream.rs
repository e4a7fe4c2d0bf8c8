//! The file of an event log, written as the run goes on.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use crate::{RunError, way_out};

/// Bytes that are collected before they are written.
const BUFFER: usize = 256 << 10;

/// A file, and the first error of writing to it; nothing is written after that.
pub(super) struct Stream {
    path: PathBuf,
    file: BufWriter<File>,
    error: Option<io::Error>,
}

impl Stream {
    /// Creates the file, or empties it.
    pub(super) fn create(path: PathBuf) -> Result<Self, RunError> {
        match File::create(&path) {
            Ok(file) => Ok(Self { path, file: BufWriter::with_capacity(BUFFER, file), error: None }),
            Err(error) => Err(failed(&path, &error)),
        }
    }

    pub(super) fn write(&mut self, line: &[u8]) {
        if self.error.is_none() {
            self.error = self.file.write_all(line).err();
        }
    }

    /// Fails with the first error. The file has the whole lines until then, and perhaps a part of one.
    pub(super) fn check(&self) -> Result<(), RunError> {
        self.error.as_ref().map_or(Ok(()), |error| Err(failed(&self.path, error)))
    }

    /// Writes what was collected.
    pub(super) fn finish(mut self) -> Result<(), RunError> {
        self.check()?;
        self.file.flush().map_err(|error| failed(&self.path, &error))
    }
}

fn failed(path: &std::path::Path, error: &io::Error) -> RunError {
    RunError::failed(format!("cannot write the event log {}: {error}{}", path.display(), way_out(error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_an_error_with_a_way_out() {
        let mut stream = Stream::create(PathBuf::from("/dev/full")).expect("a device");
        stream.write(b"short\n");
        assert_eq!(stream.check(), Ok(()), "it is in the buffer");
        stream.write(&[b' '; 2 * BUFFER]);
        let error = stream.check().expect_err("full").to_string();
        assert!(error.contains("/dev/full") && error.contains("make room on this disk"), "{error}");
        assert_eq!(stream.finish().map_err(|error| error.to_string()), Err(error));
    }
}
