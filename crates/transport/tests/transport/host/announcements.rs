//! A server that announces addresses without end (RFC 8684, section 3.4.1): it has the keys, so that its HMACs are
//! right.

use allocation_counter::measure;
use subflow_policy::path_manager::MAX_SUBFLOWS;
use subflow_transport::EndpointId;
use subflow_transport::mptcp::keys::add_address_hmac;
use subflow_wire::tcp::TcpFlags;
use subflow_wire::tcp::mptcp::{AddAddress, MptcpOption};
use subflow_wire::{Body, Packet};

use super::rig::{MPTCP, Rig, segment, stranger, transmitted};

/// A client with a connection to a server that is made up from then on.
struct Victim {
    rig: Rig,
    id: EndpointId,
    /// The server's key and the client's.
    keys: [u64; 2],
    /// An acknowledgment of the server's.
    acknowledgment: Packet,
}

impl Victim {
    fn new() -> Self {
        let mut rig = Rig::new();
        let id = rig.connect(MPTCP);
        let syn = transmitted(&mut rig.client, id, rig.now);
        let syn_ack = rig.deliver(&syn[0]);
        rig.answer(&syn_ack);
        rig.client.endpoint_mut(id).write(1000);
        let sent = transmitted(&mut rig.client, id, rig.now);
        let keys = segment(&sent[0]).options.mptcp.iter().find_map(|option| match option {
            MptcpOption::Capable(capable) => Some([capable.receiver_key?, capable.sender_key?]),
            _ => None,
        });
        let answers: Vec<Packet> = sent.iter().flat_map(|packet| rig.deliver(packet)).collect();
        rig.answer(&answers);
        let acknowledgment = answers.last().expect("an acknowledgment").clone();
        Self { rig, id, keys: keys.expect("both keys are in the third segment"), acknowledgment }
    }

    /// Takes an option of the server's, and returns the number of SYNs that it sends for it.
    fn takes(&mut self, option: MptcpOption) -> usize {
        let mut packet = self.acknowledgment.clone();
        let Body::Tcp(segment) = &mut packet.body else { unreachable!("it is TCP") };
        segment.options.dss = None;
        segment.options.mptcp = [option].into_iter().collect();
        self.rig.client.handle_packet(self.rig.now, &packet);
        let sent = transmitted(&mut self.rig.client, self.id, self.rig.now);
        sent.iter().filter(|packet| self::segment(packet).flags.contains(TcpFlags::SYN)).count()
    }

    fn hears_of(&mut self, number: u32) -> usize {
        let (address_id, address, port) = (1 + (number % 255) as u8, stranger(number), Some(81));
        let hmac = add_address_hmac(self.keys[0], self.keys[1], address_id, address, 81);
        self.takes(MptcpOption::AddAddress(AddAddress { address_id, address, port, truncated_hmac: Some(hmac) }))
    }
}

#[test]
fn of_addresses_without_end_it_keeps_and_tries_as_many_as_there_may_be_subflows() {
    let mut victim = Victim::new();
    let mut syns = 0;
    let mut hear =
        |from: u32, to: u32| measure(|| syns += (from..to).map(|number| victim.hears_of(number)).sum::<usize>());
    hear(0, 1000);
    let more = hear(1000, 50_000);
    assert!(more.bytes_current <= 0, "{} bytes more", more.bytes_current);
    assert!((1..MAX_SUBFLOWS).contains(&syns), "{syns} SYNs");
}

#[test]
fn an_address_that_is_announced_and_withdrawn_costs_no_more_than_a_syn_and_leaves_nothing() {
    let mut victim = Victim::new();
    let mut flood = |from: u32, to: u32| {
        measure(|| {
            for number in from..to {
                assert!(victim.hears_of(number) <= 1);
                let identifier = 1 + (number % 255) as u8;
                assert_eq!(victim.takes(MptcpOption::RemoveAddress([identifier].into_iter().collect())), 0);
            }
        })
    };
    flood(0, 2000);
    let more = flood(2000, 20_000);
    assert!(more.bytes_current <= 0, "{} bytes more", more.bytes_current);
}
