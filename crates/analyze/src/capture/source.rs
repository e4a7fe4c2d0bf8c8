//! The bytes of a file, decompressed, with the distinction between its end and a cut.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;

use super::Stop;

/// Bytes read at once.
const CHUNK: usize = 256 << 10;
/// Bytes at the start of a file by which it is recognised.
const START: usize = 4096;

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// How a file is compressed.
#[derive(Clone, Copy)]
enum Compression {
    Gzip,
    Zstd,
}

/// A file that is read from its start to its end.
pub(super) struct Source {
    reader: BufReader<Box<dyn Read + Send>>,
    compression: Option<Compression>,
    offset: u64,
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("offset", &self.offset).finish_non_exhaustive()
    }
}

impl Source {
    /// Opens a file; `-` is standard input.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let input: Box<dyn Read + Send> =
            if path == Path::new("-") { Box::new(io::stdin()) } else { Box::new(File::open(path)?) };
        Self::new(input)
    }

    pub(super) fn new(input: Box<dyn Read + Send>) -> io::Result<Self> {
        let mut file = BufReader::with_capacity(CHUNK, input);
        let start = file.fill_buf()?;
        let compression = match () {
            () if start.starts_with(&GZIP) => Some(Compression::Gzip),
            () if start.starts_with(&ZSTD) => Some(Compression::Zstd),
            () => None,
        };
        let reader: Box<dyn Read + Send> = match compression {
            Some(Compression::Gzip) => Box::new(MultiGzDecoder::new(file)),
            Some(Compression::Zstd) => Box::new(Frames { decoder: Some(frame(file)?) }),
            None => Box::new(file),
        };
        Ok(Self { reader: BufReader::with_capacity(CHUNK, reader), compression, offset: 0 })
    }

    /// The first bytes of the file, which are still to be read.
    pub(super) fn start(&mut self) -> io::Result<Vec<u8>> {
        let compression = self.compression;
        let bytes = self.reader.fill_buf().map_err(|error| told(compression, error))?;
        Ok(bytes[..bytes.len().min(START)].to_vec())
    }

    pub(super) const fn offset(&self) -> u64 {
        self.offset
    }

    /// Fills `bytes`; the end of the file before the first of them is no damage.
    pub(super) fn fill(&mut self, bytes: &mut [u8], what: &str) -> Result<(), Stop> {
        let mut filled = 0;
        while filled < bytes.len() {
            match self.reader.read(&mut bytes[filled..]) {
                Ok(0) if filled == 0 => return Err(Stop::End),
                Ok(0) => return Err(Stop::Damaged(format!("the file ends within {what}"))),
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.damage(what, error)),
            }
        }
        self.offset += filled as u64;
        Ok(())
    }

    /// As [`Self::fill`], where the file may not end.
    pub(super) fn require(&mut self, bytes: &mut [u8], what: &str) -> Result<(), Stop> {
        let is_empty = bytes.is_empty();
        match self.fill(bytes, what) {
            Err(Stop::End) if !is_empty => Err(Stop::Damaged(format!("the file ends before {what}"))),
            other => other,
        }
    }

    /// Skips `length` bytes without holding them.
    pub(super) fn skip(&mut self, length: u64, what: &str) -> Result<(), Stop> {
        let skipped = io::copy(&mut (&mut self.reader).take(length), &mut io::sink());
        match skipped {
            Ok(skipped) if skipped == length => {
                self.offset += length;
                Ok(())
            }
            Ok(_) => Err(Stop::Damaged(format!("the file ends within {what}"))),
            Err(error) => Err(self.damage(what, error)),
        }
    }

    /// Why `what` cannot be read.
    fn damage(&self, what: &str, error: io::Error) -> Stop {
        Stop::Damaged(format!("reading {what} failed: {}", told(self.compression, error)))
    }
}

/// What is said of an error: a decoder's is about its own parts.
fn told(compression: Option<Compression>, error: io::Error) -> io::Error {
    match compression {
        // No device has failed.
        Some(compression) if error.raw_os_error().is_none() => compression.damage(),
        _ => error,
    }
}

impl Compression {
    /// Its decoder cannot read it.
    fn damage(self) -> io::Error {
        let tool = match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        };
        let text = format!("the {tool} data is damaged or cut; copy the file again, and test it with `{tool} --test`");
        io::Error::new(io::ErrorKind::InvalidData, text)
    }
}

type Input = BufReader<Box<dyn Read + Send>>;
type Frame = StreamingDecoder<Input, ruzstd::decoding::FrameDecoder>;

/// The frames of a zstd file, one after the other: parallel compression writes several.
struct Frames {
    decoder: Option<Frame>,
}

fn frame(file: Input) -> io::Result<Frame> {
    StreamingDecoder::new(file).map_err(|_| Compression::Zstd.damage())
}

impl Read for Frames {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        while let Some(decoder) = &mut self.decoder {
            let read = decoder.read(bytes)?;
            if read > 0 || bytes.is_empty() {
                return Ok(read);
            }
            let Some(ended) = self.decoder.take() else { break };
            let mut file = ended.into_inner();
            if !file.fill_buf()?.is_empty() {
                self.decoder = Some(frame(file)?);
            }
        }
        Ok(0)
    }
}
