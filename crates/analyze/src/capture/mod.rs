//! Files of captures, packet by packet.
//!
//! | to find | look in |
//! |---|---|
//! | the pcap format | `pcap.rs` |
//! | the pcapng format | `pcapng.rs` |
//! | compression, and where a file ends | `source.rs` |
//! | what a file is that is no capture | `foreign.rs` |
//!
//! A damaged file is read up to the damage, which [`Capture::damage`] describes.

mod foreign;
mod pcap;
mod pcapng;
mod source;

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use source::Source;

/// Packets and blocks are at most this long, in bytes: Wireshark's limit is 256 KiB for all but USB and D-Bus. More is
/// damage.
const LONGEST: u32 = 16 << 20;

/// A file that cannot be read at all.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The operating system or the decompression failed before the first packet.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is something else.
    #[error("{}: this is {what}, expected a capture in the format pcap or pcapng", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it is.
        what: &'static str,
        /// What to do with it.
        help: &'static str,
    },
}

/// A packet of a capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record<'a> {
    /// Nanoseconds since the Unix epoch.
    pub time: u64,
    /// The link type (`LINKTYPE_`, of tcpdump.org).
    pub link_type: u16,
    /// Its length on the link, in bytes.
    pub original_length: u32,
    /// The bytes that were captured.
    pub bytes: &'a [u8],
}

/// Why reading ended before the end of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Offset in the file, after decompression, in bytes.
    pub offset: u64,
    /// What is wrong there.
    pub reason: String,
}

/// A capture that is being read. Its memory does not depend on its length.
#[derive(Debug)]
pub struct Capture {
    path: PathBuf,
    source: Source,
    format: Format,
    head: Head,
    buffer: Vec<u8>,
    damage: Option<Damage>,
}

#[derive(Debug)]
enum Format {
    Pcap(pcap::Pcap),
    Pcapng(pcapng::Pcapng),
}

/// What a record says beside its bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Head {
    time: u64,
    link_type: u16,
    original_length: u32,
}

/// Why a format cannot go on.
#[derive(Debug)]
enum Stop {
    End,
    Damaged(String),
}

impl Capture {
    /// Opens a file, or `-` for standard input, which may be compressed with gzip or zstd, and recognises its format.
    pub fn open(path: &Path) -> Result<Self, CaptureError> {
        Self::recognise(path, Source::open(path))
    }

    /// Reads a capture from elsewhere; `name` stands for its path in messages.
    pub fn read(name: &Path, input: impl Read + Send + 'static) -> Result<Self, CaptureError> {
        Self::recognise(name, Source::new(Box::new(input)))
    }

    fn recognise(path: &Path, source: io::Result<Source>) -> Result<Self, CaptureError> {
        let failed = |source| CaptureError::Io { path: path.to_owned(), source };
        let mut source = source.map_err(failed)?;
        let start = source.start().map_err(failed)?;
        let format = if let Some(pcap) = pcap::Pcap::recognise(&start) {
            Format::Pcap(pcap)
        } else if pcapng::is_pcapng(&start) {
            Format::Pcapng(pcapng::Pcapng::default())
        } else {
            let (what, help) = foreign::describe(&start);
            return Err(CaptureError::Foreign { path: path.to_owned(), what, help });
        };
        Ok(Self { path: path.to_owned(), source, format, head: Head::default(), buffer: Vec::new(), damage: None })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Why reading ended before the end of the file, if it did.
    pub const fn damage(&self) -> Option<&Damage> {
        self.damage.as_ref()
    }

    /// The bytes read so far, after decompression.
    pub const fn offset(&self) -> u64 {
        self.source.offset()
    }

    /// Reads the next packet. `false` at the end of the file, and where it is damaged.
    pub fn advance(&mut self) -> bool {
        if self.damage.is_some() {
            return false;
        }
        let begun = match &mut self.format {
            Format::Pcap(pcap) => pcap.begin(&mut self.source),
            Format::Pcapng(_) => Ok(()),
        };
        let offset = self.source.offset();
        let read = begun.and_then(|()| match &mut self.format {
            Format::Pcap(pcap) => pcap.next(&mut self.source, &mut self.buffer),
            Format::Pcapng(pcapng) => pcapng.next(&mut self.source, &mut self.buffer),
        });
        match read {
            Ok(head) => {
                self.head = head;
                true
            }
            Err(Stop::End) => false,
            Err(Stop::Damaged(reason)) => {
                self.damage = Some(Damage { offset, reason });
                false
            }
        }
    }

    /// The packet that the last successful [`Self::advance`] read.
    pub fn record(&self) -> Record<'_> {
        let Head { time, link_type, original_length } = self.head;
        Record { time, link_type, original_length, bytes: &self.buffer }
    }
}
