//! Captures that can be given away: packets with other addresses and without payloads.
//!
//! What is written is a pcap file of IP packets, without their links (MAC addresses) and tunnels. Ports, lengths,
//! times, sequence numbers, timestamps and the keys of MPTCP stay as they are, so that an analysis of it has the same
//! figures. ICMP, fragments, other protocols and what is not IP are left out.

mod packet;
mod prefix;

use std::io::{self, Write};

use rand_core::{OsRng, TryRngCore};
use sha2::{Digest, Sha256};

use crate::capture::Capture;
use crate::packet::innermost;
use packet::Rewritten;
use prefix::{KEY_LENGTH, PrefixPreserving};

/// pcap with nanoseconds (draft-ietf-opsawg-pcap).
const MAGIC: u32 = 0xa1b2_3c4d;
const VERSION: [u16; 2] = [2, 4];
const SNAP_LENGTH: u32 = 262_144;
/// `LINKTYPE_RAW`: IP packets.
const LINK_TYPE: u32 = 101;

/// The key of a map of addresses: the same key maps the same addresses to the same images.
#[derive(Clone)]
pub struct AnonymisationKey([u8; KEY_LENGTH]);

impl std::fmt::Debug for AnonymisationKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AnonymisationKey")
    }
}

impl AnonymisationKey {
    /// A key that is used once.
    ///
    /// # Errors
    ///
    /// The system has no random numbers.
    pub fn random() -> io::Result<Self> {
        let mut key = [0; KEY_LENGTH];
        OsRng.try_fill_bytes(&mut key).map_err(|error| io::Error::other(error.to_string()))?;
        Ok(Self(key))
    }

    /// The key of a secret of any length, such as the content of a file.
    pub fn from_secret(secret: &[u8]) -> Self {
        Self(Sha256::digest(secret).into())
    }
}

/// What became of the packets of a capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Anonymised {
    /// Packets that were written.
    pub written: u64,
    /// Packets that were left out.
    pub left_out: u64,
}

/// Writes the packets of a capture anonymised.
///
/// # Errors
///
/// Writing failed.
pub fn anonymise(capture: &mut Capture, key: &AnonymisationKey, mut out: impl Write) -> io::Result<Anonymised> {
    let mut map = PrefixPreserving::new(&key.0);
    let mut header = MAGIC.to_le_bytes().to_vec();
    header.extend(VERSION.iter().flat_map(|number| number.to_le_bytes()));
    header.extend([0, 0, SNAP_LENGTH, LINK_TYPE].iter().flat_map(|number| number.to_le_bytes()));
    out.write_all(&header)?;
    let mut counts = Anonymised::default();
    while capture.advance() {
        let record = capture.record();
        let written = innermost(&record).ok().and_then(|packet| {
            let on_link = packet.header_length + packet.length;
            Some((Rewritten::packet(&mut map, &packet)?, on_link))
        });
        let Some((packet, on_link)) = written else {
            counts.left_out += 1;
            continue;
        };
        let seconds = (record.time / 1_000_000_000) as u32;
        let nanos = (record.time % 1_000_000_000) as u32;
        for number in [seconds, nanos, packet.len() as u32, on_link.max(packet.len()) as u32] {
            out.write_all(&number.to_le_bytes())?;
        }
        out.write_all(&packet)?;
        counts.written += 1;
    }
    out.flush()?;
    Ok(counts)
}
