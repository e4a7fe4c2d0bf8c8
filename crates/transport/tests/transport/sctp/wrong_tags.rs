//! Whatever a packet carries and whenever it comes: with a verification tag that is neither side's it changes nothing.

use proptest::prelude::*;
use subflow_quantity::Instant;
use subflow_transport::{EndpointId, Host};
use subflow_wire::sctp::{Chunk, chunk_type};
use subflow_wire::{Body, Packet};

use super::any_chunks::chunk;
use crate::harness::{CLIENT, SERVER, Setup, ms};

/// Takes out what an endpoint wants to send and report.
fn drain(host: &mut Host, id: EndpointId, now: Instant) -> usize {
    let sent = core::iter::from_fn(|| host.poll_transmit(now, id)).count();
    while host.poll_event(id).is_some() {}
    sent + core::iter::from_fn(|| host.poll_reply()).count()
}

/// Everything that the host and the endpoint remember. The host's own form leaves out what its endpoints are.
fn state_of(host: &Host, id: EndpointId) -> String {
    format!("{host:?} {:?}", host.endpoint(id))
}

#[test]
fn the_comparison_sees_what_an_association_remembers() {
    let mut pair = Setup::sctp(1).connected();
    let (id, before) = (pair.connection(CLIENT), pair.host(CLIENT).clone());
    pair.run_for(ms(10_000));
    pair.transfer(CLIENT, 1);
    assert_ne!(state_of(pair.host(CLIENT), id), state_of(&before, id));
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 500, max_shrink_iters: 300, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn a_packet_with_a_wrong_tag_changes_nothing(
        mut chunks in proptest::collection::vec(chunk(), 1..4),
        tag in 1u32..,
        to in 0..2usize,
        after in prop_oneof![0u64..60, 60u64..1500],
        finishes in any::<bool>(),
    ) {
        let mut pair = Setup::sctp(2).both(|stack| stack.association().nr_sack = true).build();
        pair.connect();
        pair.write(CLIENT, 50_000);
        if finishes {
            pair.finish(CLIENT);
        }
        pair.run_for(ms(after));
        let to = if pair.has_connection(SERVER) { to } else { CLIENT };
        let of_cookie = |chunk: &Chunk| matches!(chunk, Chunk::CookieEcho(_));
        let sent = || pair.sctp.log.iter().flat_map(|sent| &sent.packet.chunks);
        let tags = sent().filter_map(|chunk| match chunk {
            Chunk::Init(init) | Chunk::InitAck(init) => Some(init.initiate_tag),
            _ => None,
        });
        prop_assume!(!tags.clone().any(|known| known == tag) && !pair.endpoint(to).is_closed());
        if let (Some(cookie), Some(own)) = (chunks.iter_mut().find(|&&mut ref chunk| of_cookie(chunk)), sent().find(|&chunk| of_cookie(chunk))) {
            *cookie = own.clone();
        }
        let packet = |chunks: &[Chunk]| -> Packet {
            let mut packet = pair.sctp_packet_to(to, chunks.to_vec());
            let Body::Sctp(body) = &mut packet.body else { unreachable!("it is SCTP") };
            body.verification_tag = tag;
            packet
        };
        let (empty, thrown, now, id) = (packet(&[]), packet(&chunks), pair.now(), pair.connection(to));
        let mut host = pair.host(to).clone();
        drain(&mut host, id, now);
        host.handle_packet(now, &empty);
        drain(&mut host, id, now);
        let before = state_of(&host, id);
        host.handle_packet(now, &thrown);
        let answers = drain(&mut host, id, now);
        prop_assert_eq!(state_of(&host, id), before);
        // A SHUTDOWN ACK of an earlier association is answered while another one opens (RFC 9260, section 8.5.1, rule
        // E). Its type decides, not its contents, which may be malformed.
        prop_assert!(answers == 0 || chunks.iter().any(|chunk| chunk.kind() == chunk_type::SHUTDOWN_ACK));
    }
}
