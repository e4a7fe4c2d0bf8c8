//! What programs print: to a file, of bounded size, and to the terminal.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use subflow_scenario::Program;

use crate::RunError;
use crate::program_output::{ProgramOutput, Stream};

/// The bytes of a stream that its file keeps. The others are read, so that the program goes on, and counted.
const KEPT: u64 = 64 << 20;
/// The bytes of a stream that the terminal shows.
const SHOWN: u64 = 64 << 10;
/// The longest line that the terminal shows in one piece, in bytes.
const LONGEST_LINE: usize = 4096;

/// Where the bytes of a stream go.
pub(super) struct Sink {
    file: Option<File>,
    file_limit: u64,
    terminal: Option<Terminal>,
    written: u64,
}

impl Sink {
    /// Creates the file of the stream.
    pub(super) fn create(
        program: &Program,
        stream: Stream,
        (output, run): (&ProgramOutput, usize),
    ) -> Result<Self, RunError> {
        let create = |folder: &Path| {
            let path = folder.join(stream.file_name(run, &program.name));
            File::create(&path).map_err(|error| RunError::write("the output of a program", &path, &error))
        };
        let file = output.folder.as_deref().map(create).transpose()?;
        let terminal = output.terminal.then(|| Terminal { name: program.name.clone(), line: Vec::new(), shown: 0 });
        Ok(Self { file, file_limit: KEPT, terminal, written: 0 })
    }

    /// Reads the stream to its end; returns how many bytes it had. An error of the file, such as a full disk, is kept
    /// for the end, because a program whose output nobody reads would wait.
    pub(super) fn read_all(mut self, mut from: impl Read) -> io::Result<u64> {
        let (mut buffer, mut outcome) = (vec![0; 1 << 16], Ok(()));
        loop {
            let bytes = match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(length) => &buffer[..length],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let left = self.file_limit.saturating_sub(self.written).min(bytes.len() as u64) as usize;
            if let (Some(file), Ok(())) = (&mut self.file, &outcome) {
                outcome = file.write_all(&bytes[..left]);
            }
            if let Some(terminal) = &mut self.terminal {
                terminal.show(bytes, &mut io::stderr());
            }
            self.written += bytes.len() as u64;
        }
        if let Some(terminal) = &mut self.terminal {
            terminal.end_line(&mut io::stderr());
        }
        outcome.map(|()| self.written)
    }
}

/// Shows whole lines after the name of their program.
struct Terminal {
    name: String,
    /// The line that has not ended.
    line: Vec<u8>,
    shown: u64,
}

impl Terminal {
    fn show(&mut self, bytes: &[u8], to: &mut impl Write) {
        for &byte in bytes {
            if self.shown > SHOWN {
                return;
            }
            if byte == b'\n' || self.line.len() == LONGEST_LINE {
                self.write_line(to);
            }
            if byte != b'\n' {
                self.line.push(byte);
            }
        }
    }

    fn end_line(&mut self, to: &mut impl Write) {
        if !self.line.is_empty() && self.shown <= SHOWN {
            self.write_line(to);
        }
    }

    /// Terminals obey control characters, which are therefore left out.
    fn write_line(&mut self, to: &mut impl Write) {
        let text = String::from_utf8_lossy(&self.line);
        let plain: String = text.chars().filter(|&c| c == '\t' || !c.is_control()).collect();
        // A closed terminal does not end a run.
        let _ = writeln!(to, "{}: {plain}", self.name);
        self.shown += self.line.len() as u64 + 1;
        self.line.clear();
        if self.shown > SHOWN {
            let _ = writeln!(to, "{}: (the terminal shows the first {SHOWN} bytes only)", self.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_shown_with_the_name_and_without_control_characters() {
        let mut terminal = Terminal { name: "server".into(), line: Vec::new(), shown: 0 };
        let mut shown = Vec::new();
        terminal.show(b"one\ntw", &mut shown);
        terminal.show(b"o \x1b[2J\r\nthree", &mut shown);
        terminal.end_line(&mut shown);
        assert_eq!(String::from_utf8(shown).expect("text"), "server: one\nserver: two [2J\nserver: three\n");
    }

    #[test]
    fn endless_output_is_read_but_neither_shown_nor_kept() {
        let mut terminal = Terminal { name: "yes".into(), line: Vec::new(), shown: 0 };
        let mut shown = Vec::new();
        (0..100).for_each(|_| terminal.show(&[b'y'; 10_000], &mut shown));
        assert!((65_536..80_000).contains(&shown.len()), "{}", shown.len());
        assert!(String::from_utf8(shown).expect("text").ends_with("bytes only)\n"));

        let path = std::env::temp_dir().join(format!("subflow-output-{}", std::process::id()));
        let file = Some(File::create(&path).expect("a file"));
        let sink = Sink { file, file_limit: 1000, terminal: None, written: 0 };
        assert_eq!(sink.read_all(io::repeat(b'y').take(1 << 20)).expect("it is read"), 1 << 20);
        assert_eq!(std::fs::read(&path).expect("the file").len(), 1000);
        std::fs::remove_file(&path).expect("removed");
    }
}
