//! What a connection needs of cryptography (RFC 9001): messages and keys of TLS 1.3. This crate has none: whoever gives a
//! [`Config`](super::Config) a [`Tls`] makes connections that speak to other implementations. Without one they use the null
//! suite, which protects nothing.
//!
//! Who holds the bytes protects each datagram as soon as it is written, with [`Connection::protect`], and passes what
//! arrives to [`Host::handle_protected`](crate::Host::handle_protected).
//!
//! [`Connection::protect`]: super::Connection::protect

use core::fmt::Debug;

use subflow_wire::quic::{ConnectionId, SAMPLE_LENGTH, TAG_LENGTH};

/// The tag of a packet.
pub type Tag = [u8; TAG_LENGTH as usize];

/// TLS for the connections of one role with the same certificates and settings.
pub trait Tls: Debug + Send + Sync {
    /// The keys of Initial packets, of a client that sends its first one to `destination` (RFC 9001, section 5.2).
    fn initial_keys(&self, destination: &ConnectionId, is_server: bool) -> Keys;

    /// The tag of a Retry packet, of which `packet` is what comes before the tag, for a client that has sent its first packet
    /// to `original` (RFC 9001, section 5.8).
    fn retry_tag(&self, original: &ConnectionId, packet: &[u8]) -> Tag;

    /// A handshake that begins, with this end's transport parameters as they stand in it.
    ///
    /// # Errors
    ///
    /// It is not possible: the TLS alert that says why (RFC 8446, section 6).
    fn begin(&self, is_server: bool, parameters: Vec<u8>) -> Result<Box<dyn Session>, u8>;
}

/// The handshake of one connection.
pub trait Session: Debug + Send + Sync {
    /// Reads what has arrived of the peer's messages, in order.
    ///
    /// # Errors
    ///
    /// They are wrong, or the peer is not who it should be: the TLS alert that says so.
    fn read(&mut self, messages: &[u8]) -> Result<(), u8>;

    /// Appends messages to send, and returns the keys for what follows them, if these are new. Called until it neither
    /// appends anything nor returns keys.
    fn write(&mut self, messages: &mut Vec<u8>) -> Option<NewKeys>;

    /// The peer's transport parameters, once they have arrived.
    fn peer_parameters(&self) -> Option<&[u8]>;

    /// Whether the handshake is complete (RFC 9001, section 4.1.1).
    fn is_complete(&self) -> bool;
}

/// Keys that a handshake has made.
pub enum NewKeys {
    /// Those of Handshake packets.
    Handshake(Keys),
    /// Those of 1-RTT packets, and of their updates.
    OneRtt(Keys, Box<dyn KeyUpdates>),
}

/// The keys of one level of protection, in both directions.
pub struct Keys {
    /// Those of what this end sends.
    pub own: DirectionKeys,
    /// Those of what the peer sends.
    pub peer: DirectionKeys,
}

/// The keys of one direction.
pub struct DirectionKeys {
    /// That of header protection.
    pub header: Box<dyn HeaderKey>,
    /// That of packet protection.
    pub packet: Box<dyn PacketKey>,
}

/// Header protection (RFC 9001, section 5.4).
pub trait HeaderKey: Send + Sync {
    /// Masks the first byte and the packet number of a packet with this sample.
    fn mask(&self, sample: &[u8; SAMPLE_LENGTH], first: &mut u8, number: &mut [u8]);

    /// Takes the mask away. Of `number`, which has four bytes, only those are changed that the first byte counts.
    fn unmask(&self, sample: &[u8; SAMPLE_LENGTH], first: &mut u8, number: &mut [u8]);
}

/// Packet protection (RFC 9001, section 5.3), with the path identifier in the nonce (draft-ietf-quic-multipath-21, section
/// 2.4), which is 0 for the initial path and for all packets but those of 1-RTT.
pub trait PacketKey: Send + Sync {
    /// Encrypts `payload`, and returns its tag. `None` if the key cannot.
    fn seal(&self, path: u32, number: u64, header: &[u8], payload: &mut [u8]) -> Option<Tag>;

    /// Decrypts a payload, which its tag follows, and returns whether the tag is right. The bytes are worthless otherwise.
    fn open(&self, path: u32, number: u64, header: &[u8], payload: &mut [u8]) -> bool;

    /// How many packets may be encrypted (RFC 9001, section 6.6).
    fn confidentiality_limit(&self) -> u64;

    /// How many packets with a wrong tag may arrive.
    fn integrity_limit(&self) -> u64;
}

/// The keys of 1-RTT packets after the next update, and after each one behind it (RFC 9001, section 6).
pub trait KeyUpdates: Send + Sync {
    /// The next keys: this end's, and the peer's.
    fn next(&mut self) -> [Box<dyn PacketKey>; 2];
}
