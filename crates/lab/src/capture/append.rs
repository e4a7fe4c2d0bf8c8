//! A file that is open only while it is written: a run may have more hosts than a process may have open files.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Bytes that are collected before the file is opened.
const BUFFER: usize = 16 << 10;

/// Appends to a file. What is not flushed is lost when this is dropped.
#[derive(Debug)]
pub(super) struct AppendedFile {
    path: PathBuf,
    buffer: Vec<u8>,
}

impl AppendedFile {
    /// Creates the file, or empties it.
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        File::create(path)?;
        Ok(Self { path: path.to_owned(), buffer: Vec::new() })
    }
}

impl Write for AppendedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.buffer.len() + bytes.len() > BUFFER {
            self.flush()?;
        }
        self.buffer.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.buffer.is_empty() {
            OpenOptions::new().append(true).open(&self.path)?.write_all(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_files_than_a_process_may_open_are_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |number: usize| folder.path().join(number.to_string());
        let mut files: Vec<_> = (0..5000).map(|number| AppendedFile::create(&path(number)).expect("created")).collect();
        for file in &mut files {
            file.write_all(b"first ")
                .and_then(|()| file.write_all(b"last"))
                .and_then(|()| file.flush())
                .expect("written");
        }
        assert!((0..5000).all(|number| std::fs::read(path(number)).expect("read") == b"first last"));
    }

    #[test]
    fn what_is_larger_than_the_buffer_follows_what_was_written_before() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        let mut file = AppendedFile::create(&path).expect("created");
        let large = vec![7; 3 * BUFFER];
        file.write_all(b"first").and_then(|()| file.write_all(&large)).and_then(|()| file.flush()).expect("written");
        let written = std::fs::read(&path).expect("read");
        assert!(written.starts_with(b"first") && written[5..] == large);
    }
}
