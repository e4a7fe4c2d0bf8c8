//! What the fuzz targets share.

use subflow_hostile::{Case, Stack};
use subflow_wire::checksum::ones_complement_sum;

/// Changes the case that the first `size` bytes of `input` stand for and writes it there as JSON, of at most `most`
/// bytes; returns its length. The donor of actions is a case from the same seed.
pub fn mutate_case(stack: Stack, input: &mut [u8], size: usize, most: usize, seed: u32) -> usize {
    let case = Case::from_input(stack, &input[..size]);
    let donor = Case::from_seed(stack, seed.into());
    let mut changed = case.mutated(&donor, seed.into());
    let mut json = changed.to_json();
    while json.len() > most && changed.actions.pop().is_some() {
        json = changed.to_json();
    }
    if json.len() > most {
        return size;
    }
    input[..json.len()].copy_from_slice(json.as_bytes());
    json.len()
}

/// The IP version of a packet.
#[derive(Clone, Copy, Debug)]
pub enum Family {
    /// Version 4.
    Ipv4,
    /// Version 6.
    Ipv6,
}

/// The transport of a packet.
#[derive(Clone, Copy, Debug)]
pub enum Protocol {
    /// TCP.
    Tcp = 6,
    /// UDP.
    Udp = 17,
}

/// An IP packet around a transport header and payload, whose length and checksums are put right. `None` if `transport`
/// is too short for a header, or too long for a packet.
pub fn packet_around(transport: &[u8], family: Family, protocol: Protocol) -> Option<Vec<u8>> {
    let (checksum_at, minimum) = match protocol {
        Protocol::Tcp => (16, 20),
        Protocol::Udp => (6, 8),
    };
    if transport.len() < minimum || transport.len() > 65_000 {
        return None;
    }
    let mut transport = transport.to_vec();
    let length = (transport.len() as u16).to_be_bytes();
    if let Protocol::Udp = protocol {
        transport[4..6].copy_from_slice(&length);
    }
    let (mut packet, addresses) = match family {
        Family::Ipv4 => (ipv4_header(transport.len() as u16, protocol), 12..20),
        Family::Ipv6 => (ipv6_header(transport.len() as u16, protocol), 8..40),
    };

    transport[checksum_at..checksum_at + 2].fill(0);
    let mut covered = packet[addresses].to_vec();
    covered.extend_from_slice(&[0, protocol as u8]);
    covered.extend_from_slice(&length);
    covered.extend_from_slice(&transport);
    let checksum = match !ones_complement_sum(&covered) {
        0 => 0xffff,
        checksum => checksum,
    };
    transport[checksum_at..checksum_at + 2].copy_from_slice(&checksum.to_be_bytes());
    packet.extend_from_slice(&transport);
    Some(packet)
}

fn ipv4_header(transport_length: u16, protocol: Protocol) -> Vec<u8> {
    let mut header = vec![0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, protocol as u8, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    header[2..4].copy_from_slice(&(20 + transport_length).to_be_bytes());
    let checksum = !ones_complement_sum(&header);
    header[10..12].copy_from_slice(&checksum.to_be_bytes());
    header
}

fn ipv6_header(transport_length: u16, protocol: Protocol) -> Vec<u8> {
    let mut header = vec![0; 40];
    header[0] = 0x60;
    header[4..6].copy_from_slice(&transport_length.to_be_bytes());
    header[6] = protocol as u8;
    header[7] = 64;
    header[23] = 1;
    header[39] = 2;
    header
}
