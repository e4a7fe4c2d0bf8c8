//! ICMP errors: golden bytes, written and parsed, and what is not an error.

use crate::common::{hex, to_hex};
use subflow_wire::icmp::{IcmpError, IcmpKind, Quoted, Unreachable};

/// A TCP segment from 10.0.0.1:80 to 10.0.1.1:5000 with the sequence number 0x01020304.
fn quoted(version_6: bool) -> Quoted {
    let (source, destination) = if version_6 { ("2001:db8::1", "2001:db8::2") } else { ("10.0.0.1", "10.0.1.1") };
    Quoted {
        source: source.parse().unwrap(),
        destination: destination.parse().unwrap(),
        protocol: 6,
        length: 1500,
        transport: hex("0050 1388 01020304"),
    }
}

const TOO_BIG: &str = "45 00 0038 0000 4000 40 01 2662 0a000063 0a000001
                       03 04 e06d 0000 04b0
                       45 00 05dc 0000 4000 40 06 201b 0a000001 0a000101 0050 1388 01020304";

#[test]
fn fragmentation_needed_has_the_mtu_of_the_next_link() {
    let error = IcmpError { kind: IcmpKind::TooBig { mtu: 1200 }, quoted: quoted(false) };
    let mut bytes = Vec::new();
    error.emit("10.0.0.99".parse().unwrap(), &mut bytes).unwrap();
    assert_eq!(to_hex(&bytes), to_hex(&hex(TOO_BIG)));
    assert_eq!(IcmpError::parse(&bytes), Ok(Some(error)));
}

#[test]
fn every_kind_is_read_as_it_was_written() {
    let unreachable = [
        Unreachable::Network,
        Unreachable::Host,
        Unreachable::Protocol,
        Unreachable::Port,
        Unreachable::SourceRoute,
        Unreachable::Other(13),
    ];
    let others = [IcmpKind::TimeExceeded, IcmpKind::ParameterProblem, IcmpKind::TooBig { mtu: 1280 }];
    for kind in unreachable.map(IcmpKind::Unreachable).into_iter().chain(others) {
        for (version_6, router) in [(false, "10.0.0.99"), (true, "2001:db8::99")] {
            let error = IcmpError { kind, quoted: quoted(version_6) };
            let mut bytes = Vec::new();
            error.emit(router.parse().unwrap(), &mut bytes).unwrap();
            assert_eq!(IcmpError::parse(&bytes), Ok(Some(error)), "{kind:?} from {router}");
        }
    }
}

#[test]
fn what_is_quoted_tells_ports_sequence_numbers_and_tags() {
    let tcp = quoted(false);
    assert_eq!((tcp.ports(), tcp.tcp_sequence()), (Some((80, 5000)), Some(0x0102_0304)));
    assert_eq!(tcp.verification_tag(), None);
    let init = hex("0050 1388 00000000 00000000 01 00 0014 0a0b0c0d");
    let sctp = Quoted { protocol: 132, transport: init, ..quoted(false) };
    assert_eq!((sctp.verification_tag(), sctp.initiate_tag()), (Some(0), Some(0x0a0b_0c0d)));
    let short = Quoted { transport: sctp.transport[..16].to_vec(), ..sctp };
    assert_eq!((short.verification_tag(), short.initiate_tag()), (Some(0), None));
}

#[test]
fn an_echo_request_and_a_cut_quotation_are_no_errors_and_a_wrong_checksum_is_refused() {
    let echo = "45 00 001c 0000 4000 40 01 267e 0a000063 0a000001 08 00 f7ff 0000 0000";
    assert_eq!(IcmpError::parse(&hex(echo)), Ok(None));
    let mut bytes = hex(TOO_BIG);
    bytes[27] ^= 1;
    assert!(IcmpError::parse(&bytes).is_err());
    for length in 0..hex(TOO_BIG).len() {
        assert!(IcmpError::parse(&hex(TOO_BIG)[..length]).is_err(), "{length} bytes");
    }
}
