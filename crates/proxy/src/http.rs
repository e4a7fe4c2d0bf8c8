//! HTTP CONNECT (RFC 9110, section 9.3.6).

use std::io::ErrorKind;

use crate::socks::{Destination, Parsed, name};

/// The longest head of a request, in bytes.
const LONGEST_HEAD: usize = 8 << 10;
const END: &[u8] = b"\r\n\r\n";

/// The client's request: a request line and headers, of which none matters.
pub(crate) fn request(bytes: &[u8]) -> Parsed<Destination> {
    let Some(end) = bytes.windows(END.len()).position(|window| window == END) else {
        return match bytes.len() > LONGEST_HEAD {
            true => Parsed::Refused(response("431 Request Header Fields Too Large")),
            false => Parsed::Incomplete,
        };
    };
    let head = &bytes[..end];
    let line = head.split(|&byte| byte == b'\r').next().unwrap_or(head);
    let mut words = line.split(|&byte| byte == b' ');
    let (method, target, version) = (words.next(), words.next(), words.next());
    let is_http = version.is_some_and(|version| version.starts_with(b"HTTP/1.")) && words.next().is_none();
    match (method, target.and_then(authority)) {
        _ if !is_http => Parsed::Refused(response("400 Bad Request")),
        (Some(b"CONNECT"), Some(destination)) => Parsed::Complete(destination, end + END.len()),
        (Some(b"CONNECT"), None) => Parsed::Refused(response("400 Bad Request")),
        // Browsers use CONNECT for https only; for http they send the request itself.
        _ => Parsed::Refused(response("405 Method Not Allowed\r\nAllow: CONNECT")),
    }
}

/// `NAME:PORT`, `ADDRESS:PORT` or `[ADDRESS]:PORT`.
fn authority(target: &[u8]) -> Option<Destination> {
    let target = name(target)?;
    if let Ok(address) = target.parse() {
        return Some(Destination::Address(address));
    }
    let (host, port) = target.rsplit_once(':')?;
    let is_host = !host.is_empty() && !host.contains([':', '/', '[', ']', '@']);
    let port = port.bytes().all(|byte| byte.is_ascii_digit()).then(|| port.parse().ok())??;
    is_host.then(|| Destination::Name(host.to_owned(), port))
}

/// The answer to a request.
pub(crate) fn answer(outcome: Result<(), ErrorKind>) -> Vec<u8> {
    match outcome {
        Ok(()) => b"HTTP/1.1 200 Connection established\r\n\r\n".to_vec(),
        Err(ErrorKind::PermissionDenied) => response("403 Forbidden"),
        Err(ErrorKind::TimedOut) => response("504 Gateway Timeout"),
        Err(_) => response("502 Bad Gateway"),
    }
}

fn response(status: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_connect_to_an_authority_is_accepted() {
        let parsed = |line: &str| request(format!("{line} HTTP/1.1\r\nUser-Agent: x\r\n\r\nrest").as_bytes());
        let address = Destination::Address("[2001:db8::1]:443".parse().expect("an address"));
        assert!(matches!(parsed("CONNECT [2001:db8::1]:443"), Parsed::Complete(found, _) if found == address));
        let named = Destination::Name("a.example".into(), 443);
        assert!(matches!(parsed("CONNECT a.example:443"), Parsed::Complete(found, _) if found == named));
        let status = |line: &str| match parsed(line) {
            Parsed::Refused(answer) => String::from_utf8_lossy(&answer[9..12]).into_owned(),
            other => panic!("{line}: {other:?}"),
        };
        assert_eq!(status("GET http://a.example/"), "405");
        for bad in ["CONNECT a.example", "CONNECT :443", "CONNECT a:99999", "CONNECT a:+80", "CONNECT a/b:80", "x", ""]
        {
            assert_eq!(status(bad), "400", "{bad}");
        }
        assert_eq!(request(b"CONNECT a.example:443 HTTP/1.1\r\n\r"), Parsed::Incomplete);
        assert!(matches!(request(&[b'x'; LONGEST_HEAD + 1]), Parsed::Refused(_)));
    }
}
