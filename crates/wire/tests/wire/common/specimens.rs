//! Packets of every kind, and the first packets of a connection.

use subflow_wire::tcp::mptcp::{
    AddAddress, Capable, CapableFlags, DataAck, Dss, Join, Mapping, MptcpOption, ResetReason,
};
use subflow_wire::tcp::{SackBlock, SynOptions, TcpFlags, TcpOptions, TcpSegment, Timestamps};
use subflow_wire::{Body, IpHeader, Packet, Payload, UdpDatagram};

use crate::common::{ipv4_header, ipv6_header, segment};

const CLIENT_KEY: u64 = 0x0102_0304_0506_0708;
const SERVER_KEY: u64 = 0x1112_1314_1516_1718;
/// The first four bytes of the SHA-256 of the server's key.
const SERVER_TOKEN: u32 = 0xccad_45ac;
/// The last eight bytes of the SHA-256 of the client's key.
const CLIENT_INITIAL_DATA_SEQUENCE: u64 = 0xf5a1_01d3_d29d_6f72;

const DATA_SEQUENCE: u64 = 0x8182_8384_8586_8788;
const TIMESTAMPS: Option<Timestamps> = Some(Timestamps { value: 0x0102_0304, echo: 0x0506_0708 });

const CAPABLE: Capable = Capable {
    version: 1,
    flags: CapableFlags { checksum_required: false, deny_join_to_initial_address: false },
    sender_key: None,
    receiver_key: None,
    data_length: None,
    checksum: None,
};

/// A named packet.
type Specimen = (&'static str, Packet);

/// Every packet and option that this crate writes, with a name.
pub(crate) fn packets_of_every_kind() -> Vec<Specimen> {
    let mut packets = tcp_segments();
    packets.extend(mptcp_options());
    packets.extend(data_sequence_signals());
    for (index, (_, packet)) in packets.iter_mut().enumerate() {
        // One connection per segment, so that tshark does not interpret a segment by those before it.
        let Body::Tcp(segment) = &mut packet.body else { unreachable!("all of them are TCP segments") };
        segment.source_port += index as u16;
    }
    let payload = Payload { length: 99, ..Payload::default() };
    let datagram = UdpDatagram { source_port: 50_001, destination_port: 50_002, payload };
    packets.push(("UDP", Packet { ip: ipv4_header(), body: Body::Udp(datagram) }));
    packets.push(("UDP over IPv6", Packet { ip: ipv6_header(), body: Body::Udp(datagram) }));
    packets
}

fn specimen(name: &'static str, ip: IpHeader, flags: TcpFlags, options: TcpOptions, length: u32) -> Specimen {
    let mut segment = tcp(flags, options);
    segment.payload.length = length;
    (name, Packet { ip, body: Body::Tcp(segment) })
}

/// Segments without MPTCP options.
fn tcp_segments() -> Vec<Specimen> {
    let (syn, ack) = (TcpFlags::SYN, TcpFlags::ACK);
    let (ipv4, ipv6) = (ipv4_header(), ipv6_header());
    let syn_options = SynOptions { mss: Some(1460), window_scale: Some(7), sack_permitted: true };
    let sack = [SackBlock { left: 0x0506_0708 + 0x1000, right: 0x0506_0708 + 0x2000 }].into_iter().collect();
    let timestamps = TIMESTAMPS;
    vec![
        specimen("SYN", ipv4, syn, TcpOptions { syn: syn_options, timestamps, ..Default::default() }, 0),
        specimen("SYN over IPv6", ipv6, syn, TcpOptions { syn: syn_options, ..Default::default() }, 0),
        specimen("data of odd length", ipv4, ack, TcpOptions::default(), 101),
        specimen("data over IPv6", ipv6, ack, TcpOptions { timestamps, ..Default::default() }, 1000),
        specimen("SACK", ipv4, ack, TcpOptions { timestamps, sack, ..Default::default() }, 0),
    ]
}

/// A segment for each form of each MPTCP option but the DSS.
fn mptcp_options() -> Vec<Specimen> {
    let (syn, ack, rst) = (TcpFlags::SYN, TcpFlags::ACK, TcpFlags::RST);
    let capable = |name, flags, capable, length| (name, flags, MptcpOption::Capable(capable), length);
    let both_keys = Capable { sender_key: Some(CLIENT_KEY), receiver_key: Some(SERVER_KEY), ..CAPABLE };
    let with_data = Capable { data_length: Some(100), ..both_keys };
    let flags = CapableFlags { checksum_required: true, ..CAPABLE.flags };
    let join_syn = Join::Syn { backup: true, address_id: 7, token: 0xdead_beef, nonce: 0x0102_0304 };
    let truncated_hmac = 0xa1a2_a3a4_a5a6_a7a8;
    let join_syn_ack = Join::SynAck { backup: false, address_id: 9, truncated_hmac, nonce: 0x0506_0708 };
    let hmac = core::array::from_fn(|index| index as u8 + 1);
    let announcement = AddAddress {
        address_id: 5,
        address: "192.0.2.33".parse().unwrap(),
        port: None,
        truncated_hmac: Some(truncated_hmac),
    };
    let with_port = AddAddress { port: Some(8080), ..announcement };
    let over_ipv6 = AddAddress { address: "2001:db8::33".parse().unwrap(), ..with_port };
    let removed = [3, 4, 5].into_iter().collect();
    let options = [
        capable("MP_CAPABLE SYN", syn, CAPABLE, 0),
        capable("MP_CAPABLE SYN/ACK", syn | ack, Capable { sender_key: Some(SERVER_KEY), ..CAPABLE }, 0),
        capable("MP_CAPABLE ACK", ack, both_keys, 0),
        capable("MP_CAPABLE data", ack, with_data, 100),
        capable("MP_CAPABLE data with checksum", ack, Capable { flags, checksum: Some(0xabcd), ..with_data }, 100),
        ("MP_JOIN SYN", syn, MptcpOption::Join(join_syn), 0),
        ("MP_JOIN SYN/ACK", syn | ack, MptcpOption::Join(join_syn_ack), 0),
        ("MP_JOIN ACK", ack, MptcpOption::Join(Join::Ack { hmac }), 0),
        ("ADD_ADDR", ack, MptcpOption::AddAddress(announcement), 0),
        ("ADD_ADDR IPv6 port", ack, MptcpOption::AddAddress(over_ipv6), 0),
        ("ADD_ADDR echo", ack, MptcpOption::AddAddress(with_port.echo()), 0),
        ("REMOVE_ADDR", ack, MptcpOption::RemoveAddress(removed), 0),
        ("MP_PRIO", ack, MptcpOption::Priority { backup: true }, 0),
        ("MP_FAIL", ack, MptcpOption::Fail { data_sequence: DATA_SEQUENCE }, 0),
        ("MP_FASTCLOSE", ack, MptcpOption::FastClose { receiver_key: SERVER_KEY }, 0),
        ("MP_TCPRST", rst, MptcpOption::Reset(ResetReason::LACK_OF_RESOURCES), 0),
    ];
    let ip = ipv4_header();
    let segment = |(name, flags, option, length)| {
        specimen(name, ip, flags, TcpOptions { mptcp: vec![option], ..Default::default() }, length)
    };
    options.into_iter().map(segment).collect()
}

/// A segment for each form of the DSS.
fn data_sequence_signals() -> Vec<Specimen> {
    let wide_ack = Some(DataAck { value: 0xb1b2_b3b4_c1c2_c3c4, wide: true });
    let narrow_ack = Some(DataAck { value: 0xc1c2_c3c4, wide: false });
    let wide =
        Mapping { data_sequence: DATA_SEQUENCE, wide: true, subflow_sequence: 1401, length: 100, checksum: None };
    let narrow = Mapping { data_sequence: 0x8586_8788, wide: false, checksum: Some(0xabcd), ..wide };
    let bare = Mapping { subflow_sequence: 0, length: 1, ..wide };
    let signals = [
        ("DATA_ACK 4", narrow_ack, None, false, 0),
        ("DATA_ACK 8", wide_ack, None, false, 0),
        ("DSS 4/8", narrow_ack, Some(wide), false, 100),
        ("DSS 8/4 checksum", wide_ack, Some(narrow), false, 100),
        ("infinite mapping", narrow_ack, Some(Mapping { length: 0, ..wide }), false, 100),
        ("DATA_FIN", narrow_ack, Some(bare), true, 0),
    ];
    let ip = ipv6_header();
    let segment = |(name, data_ack, mapping, data_fin, length)| {
        let options =
            TcpOptions { dss: Some(Dss { data_ack, mapping, data_fin }), timestamps: TIMESTAMPS, ..Default::default() };
        specimen(name, ip, TcpFlags::ACK, options, length)
    };
    signals.into_iter().map(segment).collect()
}

/// The first packets of a connection with two subflows, each with its interface.
pub(crate) fn connection_of_two_subflows() -> Vec<(u32, Packet)> {
    let packet = |interface: u32, to_server: bool, flags, sequence, acknowledgment, options, length| {
        let client = if interface == 0 { "10.0.0.1" } else { "10.0.1.1" };
        let mut ip = IpHeader { source: client.parse().unwrap(), ..ipv4_header() };
        let mut segment = TcpSegment { sequence, acknowledgment, ..tcp(flags, options) };
        segment.payload.length = length;
        if !to_server {
            (ip.source, ip.destination) = (ip.destination, ip.source);
            (segment.source_port, segment.destination_port) = (segment.destination_port, segment.source_port);
        }
        (interface, Packet { ip, body: Body::Tcp(segment) })
    };
    let with = |option| TcpOptions { mptcp: vec![option], ..Default::default() };
    let (syn, ack) = (TcpFlags::SYN, TcpFlags::ACK);

    let both_keys = Capable { sender_key: Some(CLIENT_KEY), receiver_key: Some(SERVER_KEY), ..CAPABLE };
    let data_acknowledged = CLIENT_INITIAL_DATA_SEQUENCE + 1 + 100;
    let data_ack = Some(DataAck { value: data_acknowledged, wide: true });
    let mapping =
        Mapping { data_sequence: data_acknowledged, wide: true, subflow_sequence: 1, length: 50, checksum: None };
    let hmac = core::array::from_fn(|index| index as u8 + 1);
    let dss =
        |data_ack, mapping| TcpOptions { dss: Some(Dss { data_ack, mapping, data_fin: false }), ..Default::default() };
    let join_syn = Join::Syn { backup: false, address_id: 1, token: SERVER_TOKEN, nonce: 1 };
    let join_syn_ack = Join::SynAck { backup: false, address_id: 0, truncated_hmac: 0xa1a2, nonce: 2 };
    vec![
        packet(0, true, syn, 1000, 0, with(MptcpOption::Capable(CAPABLE)), 0),
        packet(
            0,
            false,
            syn | ack,
            2000,
            1001,
            with(MptcpOption::Capable(Capable { sender_key: Some(SERVER_KEY), ..CAPABLE })),
            0,
        ),
        packet(0, true, ack, 1001, 2001, with(MptcpOption::Capable(both_keys)), 0),
        packet(
            0,
            true,
            ack,
            1001,
            2001,
            with(MptcpOption::Capable(Capable { data_length: Some(100), ..both_keys })),
            100,
        ),
        packet(0, false, ack, 2001, 1101, dss(data_ack, None), 0),
        packet(1, true, syn, 5000, 0, with(MptcpOption::Join(join_syn)), 0),
        packet(1, false, syn | ack, 6000, 5001, with(MptcpOption::Join(join_syn_ack)), 0),
        packet(1, true, ack, 5001, 6001, with(MptcpOption::Join(Join::Ack { hmac })), 0),
        packet(1, false, ack, 6001, 5001, dss(data_ack, None), 0),
        packet(1, true, ack, 5001, 6001, dss(None, Some(mapping)), 50),
    ]
}

fn tcp(flags: TcpFlags, options: TcpOptions) -> TcpSegment {
    // Ports that tshark does not assign to an application.
    TcpSegment { flags, source_port: 50_001, destination_port: 50_002, ..segment(options) }
}
