//! SOCKS5 (RFC 1928) without authentication: the command CONNECT.

use std::fmt;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};

pub(crate) const VERSION: u8 = 5;
const NO_AUTHENTICATION: u8 = 0;
const NO_ACCEPTABLE_METHOD: u8 = 0xff;
const CONNECT: u8 = 1;
/// Bytes of a reply with an address of IPv4.
pub(crate) const REPLY: usize = 10;

/// Replies (RFC 1928, section 6).
const SUCCEEDED: u8 = 0;
const GENERAL_FAILURE: u8 = 1;
const NOT_ALLOWED: u8 = 2;
const NETWORK_UNREACHABLE: u8 = 3;
const HOST_UNREACHABLE: u8 = 4;
const CONNECTION_REFUSED: u8 = 5;
const COMMAND_NOT_SUPPORTED: u8 = 7;
const ADDRESS_TYPE_NOT_SUPPORTED: u8 = 8;

/// Where a client wants to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    Address(SocketAddr),
    Name(String, u16),
}

impl fmt::Display for Destination {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => write!(formatter, "{address}"),
            Self::Name(name, port) => write!(formatter, "{name}:{port}"),
        }
    }
}

/// A step of a protocol, from the bytes received so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Parsed<T> {
    /// More bytes are needed.
    Incomplete,
    /// The value, and how many bytes it took.
    Complete(T, usize),
    /// These bytes are to be answered before the connection is closed.
    Refused(Vec<u8>),
}

/// The client's methods (section 3): the answer to them.
pub(crate) fn greeting(bytes: &[u8]) -> Parsed<Vec<u8>> {
    let &[version, count, ref rest @ ..] = bytes else { return Parsed::Incomplete };
    if version != VERSION {
        return Parsed::Refused(vec![VERSION, NO_ACCEPTABLE_METHOD]);
    }
    match rest.get(..usize::from(count)) {
        None => Parsed::Incomplete,
        Some(methods) if methods.contains(&NO_AUTHENTICATION) => {
            Parsed::Complete(vec![VERSION, NO_AUTHENTICATION], 2 + methods.len())
        }
        Some(_) => Parsed::Refused(vec![VERSION, NO_ACCEPTABLE_METHOD]),
    }
}

/// The client's request (section 4).
pub(crate) fn request(bytes: &[u8]) -> Parsed<Destination> {
    let &[version, command, _, kind, ref rest @ ..] = bytes else { return Parsed::Incomplete };
    if version != VERSION {
        return Parsed::Refused(reply(GENERAL_FAILURE));
    }
    if command != CONNECT {
        return Parsed::Refused(reply(COMMAND_NOT_SUPPORTED));
    }
    let address_length = match kind {
        1 => 4,
        4 => 16,
        3 => match rest.first() {
            Some(&length) => 1 + usize::from(length),
            None => return Parsed::Incomplete,
        },
        _ => return Parsed::Refused(reply(ADDRESS_TYPE_NOT_SUPPORTED)),
    };
    let Some((address, port)) = rest.split_at_checked(address_length) else { return Parsed::Incomplete };
    let &[high, low, ..] = port else { return Parsed::Incomplete };
    let port = u16::from_be_bytes([high, low]);
    let to = |address: IpAddr| Destination::Address(SocketAddr::new(address, port));
    let destination = match kind {
        1 => <[u8; 4]>::try_from(address).ok().map(|octets| to(octets.into())),
        4 => <[u8; 16]>::try_from(address).ok().map(|octets| to(octets.into())),
        _ => name(&address[1..]).map(|name| match name.parse() {
            Ok(address) => to(address),
            Err(_) => Destination::Name(name, port),
        }),
    };
    match destination {
        Some(destination) => Parsed::Complete(destination, 4 + address_length + 2),
        None => Parsed::Refused(reply(GENERAL_FAILURE)),
    }
}

/// A domain name, which is printable and not empty.
pub(crate) fn name(bytes: &[u8]) -> Option<String> {
    let is_name = !bytes.is_empty() && bytes.len() <= 255 && bytes.iter().all(u8::is_ascii_graphic);
    is_name.then(|| String::from_utf8_lossy(bytes).into_owned())
}

/// A request (section 4), as [`request`] reads it. A name has at most 255 bytes.
pub(crate) fn connect(destination: &Destination) -> Vec<u8> {
    let mut bytes = vec![VERSION, CONNECT, 0];
    let port = match destination {
        Destination::Address(address) => {
            match address.ip() {
                IpAddr::V4(v4) => bytes.extend([1].into_iter().chain(v4.octets())),
                IpAddr::V6(v6) => bytes.extend([4].into_iter().chain(v6.octets())),
            }
            address.port()
        }
        Destination::Name(name, port) => {
            bytes.extend([3, name.len() as u8].iter().chain(name.as_bytes()));
            *port
        }
    };
    bytes.extend(port.to_be_bytes());
    bytes
}

/// What an [`answer`] says.
///
/// # Errors
///
/// The destination was not reached; or it is no such answer.
pub(crate) fn outcome(answer: &[u8; REPLY]) -> io::Result<()> {
    let refused = |kind: ErrorKind| Err(io::Error::new(kind, format!("the server of the tunnel says: {kind}")));
    match answer {
        &[VERSION, code, 0, 1, ..] => match code {
            SUCCEEDED => Ok(()),
            CONNECTION_REFUSED => refused(ErrorKind::ConnectionRefused),
            NETWORK_UNREACHABLE => refused(ErrorKind::NetworkUnreachable),
            HOST_UNREACHABLE => refused(ErrorKind::HostUnreachable),
            NOT_ALLOWED => refused(ErrorKind::PermissionDenied),
            _ => refused(ErrorKind::Other),
        },
        _ => Err(io::Error::new(ErrorKind::InvalidData, "the server of the tunnel answers with something else")),
    }
}

/// The answer to a request (section 6).
pub(crate) fn answer(outcome: Result<(), ErrorKind>) -> Vec<u8> {
    reply(match outcome {
        Ok(()) => SUCCEEDED,
        Err(ErrorKind::ConnectionRefused) => CONNECTION_REFUSED,
        Err(ErrorKind::NetworkUnreachable) => NETWORK_UNREACHABLE,
        Err(ErrorKind::HostUnreachable | ErrorKind::TimedOut | ErrorKind::NotFound) => HOST_UNREACHABLE,
        Err(ErrorKind::PermissionDenied) => NOT_ALLOWED,
        Err(_) => GENERAL_FAILURE,
    })
}

/// A reply. The address bound is that of a path's device, of no use to the client: it is given as 0.0.0.0:0.
fn reply(code: u8) -> Vec<u8> {
    vec![VERSION, code, 0, 1, 0, 0, 0, 0, 0, 0]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_a_greeting_with_the_method_without_authentication_is_accepted() {
        assert_eq!(greeting(&[5, 2, 2, 0, 9]), Parsed::Complete(vec![5, 0], 4));
        assert_eq!(greeting(&[5, 2, 2]), Parsed::Incomplete);
        assert_eq!(greeting(&[5, 1, 2]), Parsed::Refused(vec![5, 0xff]));
        assert_eq!(greeting(&[5, 0]), Parsed::Refused(vec![5, 0xff]));
    }

    #[test]
    fn requests_have_an_address_of_three_kinds() {
        let address = |text: &str| Destination::Address(text.parse().expect("an address"));
        assert_eq!(request(&[5, 1, 0, 1, 10, 0, 0, 1, 0, 80, 7]), Parsed::Complete(address("10.0.0.1:80"), 10));
        let mut v6 = vec![5, 1, 0, 4];
        v6.extend([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 1, 187]);
        assert_eq!(request(&v6), Parsed::Complete(address("[2001:db8::9]:443"), 22));
        assert_eq!(connect(&address("[2001:db8::9]:443")), v6);
        assert_eq!(connect(&address("10.0.0.1:80")), [5, 1, 0, 1, 10, 0, 0, 1, 0, 80]);
        let named = Destination::Name("a.example".into(), 443);
        assert_eq!(request(b"\x05\x01\0\x03\x09a.example\x01\xbb"), Parsed::Complete(named, 16));
        assert_eq!(request(b"\x05\x01\0\x03\x0810.0.0.1\0\x50"), Parsed::Complete(address("10.0.0.1:80"), 15));
        for (bytes, code) in [(&b"\x05\x02\0\x01"[..], 7), (b"\x05\x01\0\x02", 8), (b"\x05\x01\0\x03\x01 \0\x50", 1)] {
            assert_eq!(request(bytes), Parsed::Refused(reply(code)), "{bytes:?}");
        }
    }

    #[test]
    fn an_answer_says_what_its_reader_learns() {
        let read = |outcome_before| outcome(&answer(outcome_before).try_into().expect("ten bytes"));
        assert!(read(Ok(())).is_ok());
        use ErrorKind::{ConnectionRefused, HostUnreachable, NetworkUnreachable, PermissionDenied};
        for kind in [ConnectionRefused, HostUnreachable, NetworkUnreachable, PermissionDenied] {
            assert_eq!(read(Err(kind)).expect_err("it is one").kind(), kind);
        }
        assert_eq!(read(Err(ErrorKind::NotFound)).expect_err("it is one").kind(), HostUnreachable);
        assert_eq!(outcome(&[0; REPLY]).expect_err("no version").kind(), ErrorKind::InvalidData);
    }

    proptest! {
        #[test]
        fn any_bytes_are_parsed_without_a_panic_and_a_value_does_not_depend_on_what_follows(
            bytes in proptest::collection::vec(any::<u8>(), 0..300),
            version in prop_oneof![Just(5u8), any::<u8>()],
            more in proptest::collection::vec(any::<u8>(), 0..20),
        ) {
            let mut bytes = bytes;
            if let Some(first) = bytes.first_mut() {
                *first = version;
            }
            let longer = [&bytes[..], &more].concat();
            for parse in [request, crate::http::request] {
                if let Parsed::Complete(value, length) = parse(&bytes) {
                    prop_assert!(length <= bytes.len());
                    prop_assert_eq!(parse(&longer), Parsed::Complete(value, length));
                    prop_assert_eq!(parse(&bytes[..length - 1]), Parsed::Incomplete);
                }
            }
            if let Parsed::Complete(value, length) = greeting(&bytes) {
                prop_assert_eq!(greeting(&longer), Parsed::Complete(value, length));
                prop_assert_eq!(greeting(&bytes[..length - 1]), Parsed::Incomplete);
            }
        }

        #[test]
        fn a_well_formed_request_comes_back(name in "[a-z]{1,60}(\\.[a-z]{1,60}){0,3}", port: u16) {
            let mut bytes = vec![5, 1, 0, 3, name.len() as u8];
            bytes.extend(name.as_bytes());
            bytes.extend(port.to_be_bytes());
            let length = bytes.len();
            prop_assert_eq!(request(&bytes), Parsed::Complete(Destination::Name(name.clone(), port), length));
            prop_assert_eq!(connect(&Destination::Name(name.clone(), port)), bytes);
            let text = format!("CONNECT {name}:{port} HTTP/1.1\r\nHost: x\r\n\r\n");
            let named = Parsed::Complete(Destination::Name(name, port), text.len());
            prop_assert_eq!(crate::http::request(text.as_bytes()), named);
        }
    }
}
