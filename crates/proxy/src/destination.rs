//! Which addresses a client may reach: those of other machines.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use rustix::io::Errno;
use tokio::net::UdpSocket;

use crate::machine::routes_to_itself;

/// The addresses that packets of a path can reach, families in turns (RFC 8305, section 4).
pub(crate) fn interleaved(addresses: &[SocketAddr]) -> Vec<SocketAddr> {
    let reachable = addresses.iter().copied().filter(|address| is_remote(address.ip().to_canonical()));
    let reachable = reachable.map(|address| SocketAddr::new(address.ip().to_canonical(), address.port()));
    let (mut first, mut second): (Vec<_>, Vec<_>) =
        reachable.partition(|address| addresses.first().is_some_and(|first| first.is_ipv4() == address.is_ipv4()));
    let mut order = Vec::new();
    first.reverse();
    second.reverse();
    while !first.is_empty() || !second.is_empty() {
        order.extend(first.pop());
        order.extend(second.pop());
    }
    order
}

/// Whether an address may be that of another host, by its kind (RFC 6890).
fn is_remote(address: IpAddr) -> bool {
    let is_special = match address {
        // "This network", link-local and reserved addresses; the last of these is the broadcast address.
        IpAddr::V4(v4) => v4.octets()[0] == 0 || v4.is_link_local() || v4 >= Ipv4Addr::new(240, 0, 0, 0),
        IpAddr::V6(v6) => v6.is_unicast_link_local() || v6.is_unspecified(),
    };
    !(address.is_loopback() || address.is_multicast() || is_special)
}

/// Leaves out the addresses of this machine. What comes through the proxy has an address of a path as its source, which
/// rules of a firewall for packets from the network or from loopback do not expect.
pub(crate) async fn without_own(addresses: Vec<SocketAddr>) -> io::Result<Vec<SocketAddr>> {
    let mut others = Vec::new();
    for address in addresses {
        if !is_own(address.ip()).await? {
            others.push(address);
        }
    }
    Ok(others)
}

/// Whether an address is one of this machine, or the broadcast address of one of its networks: a socket can be bound to
/// no other (`inet_bind`, `inet6_bind` in the kernel), unless a setting permits all. Then the routes tell.
async fn is_own(address: IpAddr) -> io::Result<bool> {
    match UdpSocket::bind((address, 0)).await {
        Ok(_) if binds_all(address) => {
            let asked = tokio::task::spawn_blocking(move || routes_to_itself(address)).await?;
            asked.map_err(io::Error::other)
        }
        Ok(_) => Ok(true),
        Err(error) if is_of_no_own_address(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether binding a socket fails because the machine has no such address, or nothing of its family. If it fails for want
/// of descriptors it is not known.
fn is_of_no_own_address(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::ADDRNOTAVAIL | Errno::AFNOSUPPORT))
}

fn binds_all(address: IpAddr) -> bool {
    let family = if address.is_ipv4() { "ipv4" } else { "ipv6" };
    let setting = std::fs::read_to_string(format!("/proc/sys/net/{family}/ip_nonlocal_bind"));
    setting.is_ok_and(|value| value.trim() != "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(list: &[&str]) -> Vec<SocketAddr> {
        list.iter().map(|text| text.parse().expect("an address")).collect()
    }

    #[test]
    fn families_take_turns_and_what_is_no_other_machine_is_left_out() {
        let found = ["[2001:db8::1]:1", "[2001:db8::2]:1", "[::1]:1", "10.0.0.1:1", "127.0.0.2:1", "[fe80::1]:1"];
        let order = addresses(&["[2001:db8::1]:1", "10.0.0.1:1", "[2001:db8::2]:1"]);
        assert_eq!(interleaved(&addresses(&found)), order);
        let special = ["[::ffff:127.0.0.1]:1", "0.0.0.0:1", "0.1.2.3:1", "169.254.1.1:1", "240.0.0.1:1", "[::]:1"];
        assert_eq!(interleaved(&addresses(&special)), []);
        let ordinary = addresses(&["1.0.0.1:1", "169.253.1.1:1", "223.255.255.1:1"]);
        assert_eq!(interleaved(&ordinary), ordinary);
    }

    #[tokio::test]
    async fn addresses_that_a_socket_can_have_are_this_machines_own() {
        // 127.0.0.2 has a local route, as other addresses of the machine have. TEST-NET-1 (RFC 5737) has not.
        let others = without_own(addresses(&["127.0.0.2:1", "192.0.2.1:1", "127.0.0.1:2"])).await.expect("it is told");
        assert_eq!(others, addresses(&["192.0.2.1:1"]));
    }

    #[test]
    fn without_ipv6_none_of_its_addresses_is_this_machines_own() {
        for of_no_own in [Errno::AFNOSUPPORT, Errno::ADDRNOTAVAIL] {
            assert!(is_of_no_own_address(&of_no_own.into()), "{of_no_own}");
        }
        assert!(!is_of_no_own_address(&Errno::MFILE.into()));
    }
}
