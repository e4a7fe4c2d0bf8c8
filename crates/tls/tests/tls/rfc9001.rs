//! The examples of RFC 9001, appendix A, and of draft-ietf-quic-multipath-21, section 2.4.

use ring::aead;
use rustls::crypto::cipher::{AeadKey, Iv, Nonce};
use rustls::crypto::ring::cipher_suite::TLS13_CHACHA20_POLY1305_SHA256;
use rustls::crypto::tls13::OkmBlock;
use rustls::quic::{DirectionalKeys, Keys};
use subflow_tls::keys_of;
use subflow_transport::quic::tls::{self, DirectionKeys};
use subflow_wire::quic::{ConnectionId, ProtectedPacket, QuicDatagram};

use crate::support::{CLIENT_INITIAL, SERVER_INITIAL, client, hex, server};

/// The payload of the client's Initial packet, without its padding, and that of the server.
const CLIENT_PAYLOAD: &str = "
    060040f1010000ed0303ebf8fa56f12939b9584a3896472ec40bb863cfd3e868
    04fe3a47f06a2b69484c00000413011302010000c000000010000e00000b6578
    616d706c652e636f6dff01000100000a00080006001d00170018001000070005
    04616c706e000500050100000000003300260024001d00209370b2c9caa47fba
    baf4559fedba753de171fa71f50f1ce15d43e994ec74d748002b000302030400
    0d0010000e0403050306030203080408050806002d00020101001c0002400100
    3900320408ffffffffffffffff05048000ffff07048000ffff08011001048000
    75300901100f088394c8f03e51570806048000ffff";
const SERVER_PAYLOAD: &str = "
    02000000000600405a020000560303eefce7f7b37ba1d1632e96677825ddf739
    88cfc79825df566dc5430b9a045a1200130100002e00330024001d00209d3c94
    0d89690b84d08a60993c144eca684d1081287c834d5311bcf32bb9da1a002b00
    020304";

fn destination() -> ConnectionId {
    ConnectionId::new(&hex("8394c8f03e515708")).expect("eight bytes")
}

/// Protects a packet with a header of `header` bytes, whose packet number begins at `number_at`.
fn protect(keys: &DirectionKeys, number: u64, (number_at, header): (usize, usize), packet: &mut [u8]) {
    let (head, rest) = packet.split_at_mut(header);
    let (payload, tag) = rest.split_last_chunk_mut().expect("there is room for the tag");
    *tag = keys.packet.seal(0, number, head, payload).expect("the key can seal");
    let sample = *packet[number_at + 4..].first_chunk().expect("it is long enough");
    let (first, rest) = packet.split_first_mut().expect("it is not empty");
    keys.header.mask(&sample, first, &mut rest[number_at - 1..header - 1]);
}

/// Removes the protection again, and returns the packet as one of the null suite.
fn open(keys: &DirectionKeys, id_length: usize, bytes: &mut [u8]) -> u64 {
    let packet = ProtectedPacket::parse(bytes, id_length).expect("a packet");
    assert_eq!(packet.length(), bytes.len());
    let sample = packet.sample(bytes);
    let (first, rest) = bytes.split_first_mut().expect("it is not empty");
    keys.header.unmask(&sample, first, &mut rest[packet.number_at() - 1..][..4]);
    let number = packet.number(bytes);
    let header = packet.number_at() + number.length() as usize;
    let (head, payload) = bytes.split_at_mut(header);
    assert!(keys.packet.open(0, number.truncated().into(), head, payload));
    payload.last_chunk_mut::<16>().expect("the tag").fill(0);
    number.truncated().into()
}

/// What a key and an IV of AES-128-GCM make of a packet with this number, by ring alone.
fn sealed_by_ring(key: &str, iv: &str, number: u64, head: &[u8], payload: &[u8]) -> Vec<u8> {
    let key = aead::LessSafeKey::new(aead::UnboundKey::new(&aead::AES_128_GCM, &hex(key)).expect("16 bytes"));
    let mut nonce: [u8; 12] = hex(iv).try_into().expect("12 bytes");
    nonce[4..].iter_mut().zip(number.to_be_bytes()).for_each(|(nonce, byte)| *nonce ^= byte);
    let mut sealed = payload.to_vec();
    let nonce = aead::Nonce::assume_unique_for_key(nonce);
    key.seal_in_place_append_tag(nonce, aead::Aad::from(head), &mut sealed).expect("it is short");
    sealed
}

fn mask_by_ring(key: &str, sample: &[u8]) -> [u8; 5] {
    let key = aead::quic::HeaderProtectionKey::new(&aead::quic::AES_128, &hex(key)).expect("16 bytes");
    key.new_mask(sample).expect("16 bytes")
}

#[test]
fn initial_keys_are_those_of_a_1() {
    let keys = client().initial_keys(&destination(), false);
    let directions = [
        (&keys.own, "1f369613dd76d5467730efcbe3b1a22d", "fa044b2f42a3fd3b46fb255c", "9f50449e04a0e810283a1e9933adedd2"),
        (
            &keys.peer,
            "cf3a5331653c364c88f0f379b6067e37",
            "0ac1493ca1905853b0bba03e",
            "c206b8d9b9f0f37644430b490eeaa314",
        ),
    ];
    for (direction, key, iv, header_key) in directions {
        let mut payload = *b"any payload";
        let tag = direction.packet.seal(0, 0xabcdef, b"header", &mut payload).expect("the key can seal");
        let sealed = [&payload[..], &tag[..]].concat();
        assert_eq!(sealed, sealed_by_ring(key, iv, 0xabcdef, b"header", b"any payload"));
        let (sample, mut first, mut number) = ([7; 16], 0, [0; 4]);
        direction.header.mask(&sample, &mut first, &mut number);
        let mask = mask_by_ring(header_key, &sample);
        // A short header of which a packet number of one byte is masked, and five bits of the first byte.
        assert_eq!((first, number[0]), (mask[0] & 0x1f, mask[1]));
    }
    let of_server = server().initial_keys(&destination(), true);
    let mut payload = *b"from the server";
    let tag = of_server.own.packet.seal(0, 1, b"", &mut payload).expect("the key can seal");
    assert!(keys.peer.packet.open(0, 1, b"", &mut [&payload[..], &tag[..]].concat()), "each opens the other's");
}

#[test]
fn the_clients_initial_packet_is_that_of_a_2() {
    let mut packet = hex("c300000001088394c8f03e5157080000449e00000002");
    let header = packet.len();
    packet.extend(hex(CLIENT_PAYLOAD));
    packet.resize(1200, 0);
    let plain = packet.clone();
    let keys = client().initial_keys(&destination(), false);
    protect(&keys.own, 2, (header - 4, header), &mut packet);
    assert_eq!(packet, hex(CLIENT_INITIAL));
    let keys = server().initial_keys(&destination(), true);
    assert_eq!(open(&keys.peer, 8, &mut packet), 2);
    assert_eq!(packet, plain);
    let (datagram, _) = QuicDatagram::parse(1, 2, &packet, 8).expect("it is a packet of the null suite");
    assert_eq!(datagram.packets[0].frames.len(), 2);
}

#[test]
fn the_servers_initial_packet_is_that_of_a_3() {
    let mut packet = hex("c1000000010008f067a5502a4262b50040750001");
    let header = packet.len();
    packet.extend(hex(SERVER_PAYLOAD));
    packet.extend([0; 16]);
    let plain = packet.clone();
    let keys = server().initial_keys(&destination(), true);
    protect(&keys.own, 1, (header - 2, header), &mut packet);
    assert_eq!(packet, hex(SERVER_INITIAL));
    let keys = client().initial_keys(&destination(), false);
    assert_eq!(open(&keys.peer, 8, &mut packet), 1);
    assert_eq!(packet, plain);
}

#[test]
fn the_tag_of_the_retry_packet_is_that_of_a_4() {
    let packet = hex("ff000000010008f067a5502a4262b5746f6b656e04a265ba2eff4d829058fb3f0f2496ba");
    let (head, tag) = packet.split_last_chunk::<16>().expect("there is a tag");
    assert_eq!(client().retry_tag(&destination(), head), *tag);
    let other = ConnectionId::new(&hex("8394c8f03e515709")).expect("eight bytes");
    assert_ne!(server().retry_tag(&other, head), *tag, "it answers another packet");
}

#[test]
fn the_short_header_with_chacha20_is_that_of_a_5() {
    let secret: [u8; 32] = hex("9ac312a7f877468ebe69422748ad00a15443f18203a07d6060f688f30f21632b").try_into().unwrap();
    let direction = |secret: [u8; 32]| {
        let suite = TLS13_CHACHA20_POLY1305_SHA256.tls13().expect("it is of TLS 1.3");
        let expander = suite.hkdf_provider.expander_for_okm(&OkmBlock::new(&secret));
        // HKDF-Expand-Label (RFC 8446, section 7.1), with the labels of QUIC and no context.
        let expand = |label: &str, out: &mut [u8]| {
            let length = (out.len() as u16).to_be_bytes();
            let label = format!("tls13 {label}");
            let info: [&[u8]; 4] = [&length, &[label.len() as u8], label.as_bytes(), &[0]];
            expander.expand_slice(&info, out).expect("it is short");
        };
        let (mut key, mut iv, mut header_key) = ([0; 32], [0; 12], [0; 32]);
        expand("quic key", &mut key);
        expand("quic iv", &mut iv);
        expand("quic hp", &mut header_key);
        assert_eq!(key[..], hex("c6d98ff3441c3fe1b2182094f69caa2ed4b716b65488960a7a984979fb23e1c8"));
        assert_eq!(iv[..], hex("e0459b3474bdd0e44a41c144"));
        assert_eq!(header_key[..], hex("25a282b9e82f06f21f488917a4fc8f1b73573685608597d0efcb076b0ab7a7a4"));
        let algorithm = suite.quic.expect("it is of QUIC");
        DirectionalKeys {
            header: algorithm.header_protection_key(AeadKey::from(header_key)),
            packet: algorithm.packet_key(AeadKey::from(key), Iv::from(iv)),
        }
    };
    let tls::Keys { own, peer } = keys_of(Keys { local: direction(secret), remote: direction(secret) });
    let mut packet = hex("4200bff401");
    packet.extend([0; 16]);
    protect(&own, 654_360_564, (1, 4), &mut packet);
    assert_eq!(packet, hex("4cfe4189655e5cd55c41f69080575d7999c25a5bfb"));
    let sample = *packet[5..].first_chunk().expect("sixteen bytes");
    let (first, number) = packet.split_first_mut().expect("it is not empty");
    peer.header.unmask(&sample, first, &mut number[..4]);
    assert_eq!(packet[..4], hex("4200bff4"));
    let (head, payload) = packet.split_at_mut(4);
    assert!(peer.packet.open(0, 654_360_564, head, payload) && payload[0] == 1);
}

#[test]
fn the_nonce_has_the_path_identifier() {
    let iv: [u8; 12] = hex("6b26114b9cba2b63a9e8dd4f").try_into().expect("12 bytes");
    let nonce = hex("6b2611489cba2b63a9e873e2");
    assert_eq!(Nonce::for_path(3, &Iv::from(iv), 0xaead).0[..], nonce, "the example of the draft");
    let direction = || {
        let suite = TLS13_CHACHA20_POLY1305_SHA256.tls13().and_then(|suite| suite.quic).expect("it is of QUIC");
        let key = || AeadKey::from([9; 32]);
        DirectionalKeys { header: suite.header_protection_key(key()), packet: suite.packet_key(key(), Iv::from(iv)) }
    };
    let tls::Keys { own, peer } = keys_of(Keys { local: direction(), remote: direction() });
    let mut payload = *b"on path three";
    let tag = own.packet.seal(3, 0xaead, b"header", &mut payload).expect("the key can seal");
    let key = aead::LessSafeKey::new(aead::UnboundKey::new(&aead::CHACHA20_POLY1305, &[9; 32]).expect("32 bytes"));
    let mut expected = b"on path three".to_vec();
    let nonce = aead::Nonce::try_assume_unique_for_key(&nonce).expect("12 bytes");
    key.seal_in_place_append_tag(nonce, aead::Aad::from(b"header"), &mut expected).expect("it is short");
    let sealed = [&payload[..], &tag[..]].concat();
    assert_eq!(sealed, expected);
    assert!(peer.packet.open(3, 0xaead, b"header", &mut sealed.clone()));
    assert!(!peer.packet.open(2, 0xaead, b"header", &mut sealed.clone()), "a packet belongs to one path");
}
