//! Keys of rustls as those of the stack (RFC 9001, section 5).

use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use rustls::quic::{self, Secrets};
use subflow_transport::quic::tls::{DirectionKeys, HeaderKey, KeyUpdates, Keys, PacketKey, Tag};
use subflow_wire::quic::{ConnectionId, SAMPLE_LENGTH};

/// The key and the nonce of the tags of Retry packets, which are public (RFC 9001, section 5.8).
const RETRY_KEY: [u8; 16] = 0xbe0c_690b_9f66_575a_1d76_6b54_e368_c84e_u128.to_be_bytes();
const RETRY_NONCE: [u8; 12] = [0x46, 0x15, 0x99, 0xd3, 0x5d, 0x63, 0x2b, 0xf2, 0x23, 0x98, 0x25, 0xbb];

struct Header(Box<dyn quic::HeaderProtectionKey>);
struct Packet(Box<dyn quic::PacketKey>);
struct Updates(Secrets);

/// The keys of one level of protection, in both directions.
pub fn keys_of(keys: quic::Keys) -> Keys {
    let direction = |keys: quic::DirectionalKeys| DirectionKeys {
        header: Box::new(Header(keys.header)),
        packet: Box::new(Packet(keys.packet)),
    };
    Keys { own: direction(keys.local), peer: direction(keys.remote) }
}

/// The tag of a Retry packet: it proves that its sender has seen the packet that it answers.
pub(crate) fn retry_tag(original: &ConnectionId, packet: &[u8]) -> Tag {
    let key = UnboundKey::new(&AES_128_GCM, &RETRY_KEY).expect("the key is as long as AES takes it");
    let covered = [&[original.length() as u8], original.as_bytes(), packet].concat();
    let nonce = Nonce::assume_unique_for_key(RETRY_NONCE);
    let tag = LessSafeKey::new(key).seal_in_place_separate_tag(nonce, Aad::from(covered), &mut []);
    let tag = tag.expect("nothing is encrypted");
    tag.as_ref().try_into().expect("tags have 16 bytes")
}

pub(crate) fn updates_of(secrets: Secrets) -> Box<dyn KeyUpdates> {
    Box::new(Updates(secrets))
}

impl HeaderKey for Header {
    fn mask(&self, sample: &[u8; SAMPLE_LENGTH], first: &mut u8, number: &mut [u8]) {
        let result = self.0.encrypt_in_place(sample, first, number);
        result.expect("samples have 16 bytes with all suites, and packet numbers at most four");
    }

    fn unmask(&self, sample: &[u8; SAMPLE_LENGTH], first: &mut u8, number: &mut [u8]) {
        let result = self.0.decrypt_in_place(sample, first, number);
        result.expect("samples have 16 bytes with all suites, and packet numbers at most four");
    }
}

impl PacketKey for Packet {
    fn seal(&self, path: u32, number: u64, header: &[u8], payload: &mut [u8]) -> Option<Tag> {
        let sealed = match path {
            0 => self.0.encrypt_in_place(number, header, payload),
            path => self.0.encrypt_in_place_for_path(path, number, header, payload),
        };
        sealed.ok()?.as_ref().try_into().ok()
    }

    fn open(&self, path: u32, number: u64, header: &[u8], payload: &mut [u8]) -> bool {
        let opened = match path {
            0 => self.0.decrypt_in_place(number, header, payload),
            path => self.0.decrypt_in_place_for_path(path, number, header, payload),
        };
        opened.is_ok()
    }

    fn confidentiality_limit(&self) -> u64 {
        self.0.confidentiality_limit()
    }

    fn integrity_limit(&self) -> u64 {
        self.0.integrity_limit()
    }
}

impl KeyUpdates for Updates {
    fn next(&mut self) -> [Box<dyn PacketKey>; 2] {
        let keys = self.0.next_packet_keys();
        [Box::new(Packet(keys.local)), Box::new(Packet(keys.remote))]
    }
}
