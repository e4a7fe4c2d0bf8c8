//! The source addresses of an association's packets (RFC 9260, section 6.4.1).
//!
//! Each address of the peer has one source address, that of the path with the same number. If this host loses it, the
//! packets to that destination leave from another one that it has and that reaches the destination, and return to the
//! first when it is back. Data in flight from the lost address is sent again when T3-rtx expires, as the data of any path
//! that fails. The peer is not told, since ASCONF (RFC 5061) is not implemented: for it, the address fails.
//!
//! With [`Config::alternate_sources`](super::Config::alternate_sources) a path that fails beyond this host's interface is
//! left, too: if a packet is not answered and no other destination is active, the following ones leave from the next
//! address. The new source remains until another packet is not answered: RFC 9260 does not specify a return to the first.
//! The congestion window and the RTT estimate are those of the destination, whatever the source (section 7.2).

use std::net::IpAddr;

use subflow_quantity::Instant;

use super::Association;
use super::phase::Phase;

impl Association {
    /// This host has lost `address`, or has it again. An address that the handshake did not list changes nothing.
    pub(super) fn set_local_address(&mut self, address: IpAddr, present: bool, now: Instant) {
        if !self.local.set_present(address, present) {
            return;
        }
        if !present {
            self.inbound.forget_sack_source(address);
            self.control.forget_source(address);
        }
        for index in 0..self.destinations.len() {
            let source =
                self.local.address_for(self.destinations[index].remote, self.destinations[index].preferred_source);
            if self.destinations[index].local != source {
                self.destinations[index].leave_from(source);
                self.on_source_changed(index, now);
            }
        }
    }

    /// A packet to a destination was not answered: the following ones leave from this host's next address that reaches
    /// it, unless data can be sent to another destination.
    pub(super) fn alternate_source(&mut self, index: usize) {
        let has_other =
            (0..self.destinations.len()).any(|other| other != index && self.destinations[other].is_active());
        if has_other || !self.config.alternate_sources {
            return;
        }
        let (local, remote) = (self.destinations[index].local, self.destinations[index].remote);
        let Some(next) = self.local.number_after(local, remote) else { return };
        let preferred = if matches!(self.phase, Phase::CookieWait { .. }) {
            // The peer takes the source of an INIT for the first address, and pairs it with its own first one.
            self.local.begin_with(next);
            0
        } else {
            next
        };
        let destination = &mut self.destinations[index];
        destination.preferred_source = preferred;
        destination.leave_from(self.local.address_for(remote, preferred));
    }

    /// Packets to a destination leave from another address: a destination that has failed is probed at once, since it may
    /// work over the new path.
    fn on_source_changed(&mut self, index: usize, now: Instant) {
        if !self.destinations[index].is_active() && self.phase.state().may_send_data() {
            self.send_heartbeat(index, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use subflow_quantity::Instant;
    use subflow_wire::Packet;
    use subflow_wire::sctp::{Chunk, DataChunk, SctpPacket};
    use subflow_wire::{Body, Dscp, Ecn, IpHeader, Payload};

    use super::super::packet_walk::established_with;
    use super::super::path_failure::Unanswered;
    use super::super::{Association, Config};
    use crate::blank_packet;

    fn address(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    /// An association between 10.0.0.1 and .2 here and .3 and .4 at the peer.
    fn association() -> Association {
        established_with(Config::rfc9260(), Default::default())
    }

    /// A packet to the destination was not answered.
    fn leave_unanswered(association: &mut Association, index: usize) {
        association.on_destination_error(index, Unanswered::Data, Instant::ZERO);
    }

    /// The same association after the failure of the second destination.
    fn with_one_active_destination(config: Config) -> Association {
        let mut association = established_with(config, Default::default());
        while association.destinations[1].is_active() {
            leave_unanswered(&mut association, 1);
        }
        while next(&mut association).is_some() {}
        association
    }

    /// The next packet: its addresses and its chunks.
    fn next(association: &mut Association) -> Option<([IpAddr; 2], Vec<Chunk>)> {
        let mut packet: Packet = blank_packet();
        let sent = association.poll_transmit(Instant::ZERO, &mut packet);
        let Body::Sctp(body) = packet.body else { return None };
        sent.then_some(([packet.ip.source, packet.ip.destination], body.chunks))
    }

    /// A packet from the peer's address `from` arrives at the address `to` of this side.
    fn receive(association: &mut Association, [from, to]: [u8; 2], chunk: Chunk) {
        let ip = IpHeader {
            source: address(from),
            destination: address(to),
            hop_limit: 64,
            dscp: Dscp::DEFAULT,
            ecn: Ecn::NotEct,
        };
        let packet = SctpPacket {
            source_port: 81,
            destination_port: 80,
            verification_tag: 1,
            chunks: vec![chunk],
            ..SctpPacket::default()
        };
        association.handle_packet(Instant::ZERO, &ip, &packet);
    }

    fn set_present(association: &mut Association, last: u8, present: bool) {
        association.set_local_address(address(last), present, Instant::ZERO);
    }

    #[test]
    fn data_leaves_from_another_address_when_its_own_is_lost_and_returns_to_it() {
        let mut association = association();
        assert_eq!(association.destinations[0].source(), address(1));
        set_present(&mut association, 1, false);
        assert_eq!([0, 1].map(|index| association.destinations[index].source()), [address(2); 2]);
        assert_eq!(association.write(100), 100);
        assert_eq!(next(&mut association).map(|(ends, _)| ends), Some([address(2), address(3)]));
        set_present(&mut association, 1, true);
        assert_eq!([0, 1].map(|index| association.destinations[index].source()), [address(1), address(2)]);
    }

    #[test]
    fn a_heartbeat_is_answered_from_the_address_that_it_was_sent_to() {
        let mut association = association();
        let info: Box<[u8]> = Box::new([7; 16]);
        receive(&mut association, [3, 2], Chunk::Heartbeat(info.clone()));
        assert_eq!(next(&mut association), Some(([address(2), address(3)], vec![Chunk::HeartbeatAck(info)])));
    }

    #[test]
    fn data_is_acknowledged_from_the_address_that_it_was_sent_to_unless_that_is_lost() {
        let data = |tsn| {
            let payload = Payload { length: 1, ..Payload::default() };
            Chunk::Data(DataChunk { tsn, begin: true, end: true, payload, ..DataChunk::default() })
        };
        let mut association = association();
        receive(&mut association, [3, 2], data(2000));
        assert_eq!(next(&mut association).map(|(ends, _)| ends), Some([address(2), address(3)]));
        receive(&mut association, [3, 2], data(2002));
        set_present(&mut association, 2, false);
        assert_eq!(next(&mut association).map(|(ends, _)| ends), Some([address(1), address(3)]));
    }

    #[test]
    fn a_destination_that_has_failed_is_probed_over_its_new_path() {
        let mut association = with_one_active_destination(Config::rfc9260());
        set_present(&mut association, 2, false);
        let probe = next(&mut association);
        let is_probe = |(ends, chunks): &([IpAddr; 2], Vec<Chunk>)| {
            *ends == [address(1), address(4)] && matches!(chunks[..], [Chunk::Heartbeat(_)])
        };
        assert!(probe.as_ref().is_some_and(is_probe), "{probe:?}");
    }

    #[test]
    fn the_source_changes_with_each_unanswered_packet_to_the_last_active_destination() {
        let config = Config { association_max_retransmissions: 20, ..Config::rfc9260() };
        let mut association = with_one_active_destination(config);
        assert_eq!([0, 1].map(|index| association.destinations[index].source()), [address(1), address(2)]);
        leave_unanswered(&mut association, 1);
        assert_eq!(association.destinations[1].source(), address(2), "data goes to the other");
        for last in [2, 1, 2] {
            leave_unanswered(&mut association, 0);
            assert_eq!(association.destinations[0].source(), address(last));
        }
        assert_eq!(association.write(100), 100);
        assert_eq!(next(&mut association).map(|(ends, _)| ends), Some([address(2), address(3)]));
        set_present(&mut association, 1, false);
        leave_unanswered(&mut association, 0);
        assert_eq!(association.destinations[0].source(), address(2), "there is no other");
        set_present(&mut association, 1, true);
        assert_eq!(association.destinations[0].source(), address(2), "it was not this one that was lost");
    }

    #[test]
    fn in_linux_the_source_stays() {
        let mut association = with_one_active_destination(Config::linux());
        leave_unanswered(&mut association, 0);
        assert_eq!(association.destinations[0].source(), address(1));
    }
}
