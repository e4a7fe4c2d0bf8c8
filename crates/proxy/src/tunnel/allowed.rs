//! Which destinations a tunnel's server connects to: an open relay would be anybody's who has a certificate.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use crate::destination::{interleaved, without_own};

/// Destinations that clients may reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// A network and the length of its prefix. `None`: all addresses but this machine's own, and those that no other machine
    /// has.
    network: Option<(IpAddr, u8)>,
    /// `None`: all ports.
    port: Option<u16>,
}

/// The text names no destinations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoDestinations;

impl fmt::Display for NoDestinations {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(
            "expected all, an address or a network, maybe with a port: all:443, 10.0.0.0/8, [2001:db8::/32]:80",
        )
    }
}

impl std::error::Error for NoDestinations {}

impl FromStr for Allowed {
    type Err = NoDestinations;

    fn from_str(text: &str) -> Result<Self, NoDestinations> {
        let (network, port) = match text.strip_prefix('[').map(|rest| rest.split_once(']')) {
            Some(Some((network, ""))) => (network, None),
            Some(Some((network, rest))) => (network, Some(rest.strip_prefix(':').ok_or(NoDestinations)?)),
            Some(None) => return Err(NoDestinations),
            // An address of IPv6 has several colons.
            None => match text.split_once(':') {
                Some((network, port)) if !port.contains(':') => (network, Some(port)),
                _ => (text, None),
            },
        };
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let port = match port {
            Some(port) if digits(port) => Some(port.parse().map_err(|_| NoDestinations)?),
            Some(_) => return Err(NoDestinations),
            None => None,
        };
        if network == "all" {
            return Ok(Self { network: None, port });
        }
        let (address, length) =
            network.split_once('/').map_or((network, None), |(address, length)| (address, Some(length)));
        let address: IpAddr = address.parse().map_err(|_| NoDestinations)?;
        let bits = if address.is_ipv4() { 32 } else { 128 };
        let length = match length {
            Some(length) if digits(length) => {
                length.parse().ok().filter(|&length| length <= bits).ok_or(NoDestinations)?
            }
            Some(_) => return Err(NoDestinations),
            None => bits,
        };
        Ok(Self { network: Some((address, length)), port })
    }
}

impl Allowed {
    fn has_port(self, port: u16) -> bool {
        self.port.is_none_or(|allowed| allowed == port)
    }

    /// Whether it names a network of which the address is.
    fn names(self, address: IpAddr) -> bool {
        match (self.network, address) {
            (Some((IpAddr::V4(network), length)), IpAddr::V4(address)) => {
                (network.to_bits() ^ address.to_bits()).checked_shr(32 - u32::from(length)).unwrap_or(0) == 0
            }
            (Some((IpAddr::V6(network), length)), IpAddr::V6(address)) => {
                (network.to_bits() ^ address.to_bits()).checked_shr(128 - u32::from(length)).unwrap_or(0) == 0
            }
            _ => false,
        }
    }
}

/// Those of `addresses` that clients may reach: what networks name, this machine's own addresses included; then what `all`
/// permits.
pub(super) async fn permitted(rules: &[Allowed], addresses: &[SocketAddr]) -> io::Result<Vec<SocketAddr>> {
    let canonical = addresses.iter().map(|address| SocketAddr::new(address.ip().to_canonical(), address.port()));
    let is_named =
        |address: &SocketAddr| rules.iter().any(|rule| rule.names(address.ip()) && rule.has_port(address.port()));
    let is_general = |port: u16| rules.iter().any(|rule| rule.network.is_none() && rule.has_port(port));
    let (mut named, others): (Vec<_>, Vec<_>) = canonical.partition(is_named);
    let others: Vec<_> = others.into_iter().filter(|address| is_general(address.port())).collect();
    named.extend(without_own(interleaved(&others)).await?);
    Ok(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_what_is_allowed_is_reached_and_own_addresses_only_if_they_are_named() {
        let allowed = async |rules: &[&str], address: &str| {
            let rules: Vec<Allowed> = rules.iter().map(|rule| rule.parse().expect("destinations")).collect();
            let addresses = [address.parse().expect("an address")];
            !permitted(&rules, &addresses).await.expect("it is told").is_empty()
        };
        assert!(!allowed(&[], "192.0.2.1:80").await);
        assert!(allowed(&["all"], "192.0.2.1:80").await && !allowed(&["all:443"], "192.0.2.1:80").await);
        assert!(!allowed(&["all"], "127.0.0.1:80").await && allowed(&["127.0.0.0/8:80"], "127.0.0.1:80").await);
        assert!(!allowed(&["all"], "169.254.169.254:80").await, "link-local");
        assert!(allowed(&["10.0.0.0/8"], "10.255.0.1:9").await && !allowed(&["10.0.0.0/8"], "11.0.0.1:9").await);
        assert!(allowed(&["0.0.0.0/0"], "11.0.0.1:9").await && !allowed(&["0.0.0.0/0"], "[2001:db8::1]:9").await);
        assert!(allowed(&["[2001:db8::/32]:80"], "[2001:db8::1]:80").await);
        assert!(
            allowed(&["2001:db8::1"], "[2001:db8::1]:7").await && !allowed(&["2001:db8::1"], "[2001:db8::2]:7").await
        );
        assert!(!allowed(&["all"], "[::ffff:127.0.0.1]:80").await, "it is loopback in another notation");
    }

    #[test]
    fn anything_else_names_no_destinations() {
        for bad in [
            "",
            "al",
            "all:",
            "all:x",
            "10.0.0.0/33",
            "10.0.0/8",
            "10.0.0.0/+8",
            "all:70000",
            "[::1",
            "[::1]80",
            "::/129",
        ] {
            assert_eq!(bad.parse::<Allowed>(), Err(NoDestinations), "{bad}");
        }
    }
}
