//! The interfaces of a tunnel's client: a socket for each, while it has an address.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use subflow_tokio::quic::Endpoint;
use tokio::net::UdpSocket;

use super::path_log::Report;
use crate::error::{Error, Result};
use crate::machine::{Changes, Family, Interface};

/// Changes of interfaces come in groups: the interfaces are looked at this long after the first.
const SETTLE: Duration = Duration::from_millis(200);
/// Time until the next try where the interfaces cannot be looked at, or an address cannot be used yet.
const RETRY: Duration = Duration::from_secs(1);

/// The interfaces, each with the address from which the endpoint sends over it.
#[derive(Debug)]
pub(super) struct Links {
    links: Vec<Link>,
    family: Family,
}

#[derive(Debug)]
struct Link {
    name: String,
    /// The index of the interface with the address: another one of the same name takes another socket.
    bound: Option<(u32, IpAddr)>,
}

impl Links {
    /// The interfaces to a server.
    pub(super) fn new(names: &[String], server: SocketAddr) -> Self {
        let link = |name: &String| Link { name: name.clone(), bound: None };
        let family = if server.is_ipv4() { Family::V4 } else { Family::V6 };
        Self { links: names.iter().map(link).collect(), family }
    }

    /// Adapts the sockets of the endpoint to the interfaces. Returns whether there is any interface left.
    pub(super) fn update(&mut self, endpoint: &Endpoint, report: &Report) -> Result<bool> {
        let mut any = false;
        let mut usable = Vec::new();
        // First what is lost, since an address may have moved to another interface.
        for Link { name, bound } in &mut self.links {
            let state = Interface::read(name)?;
            any |= state.is_some();
            let carries = state.filter(|state| state.carries(self.family));
            let now = carries.and_then(|state| Some((state.index, state.addresses[self.family as usize]?)));
            let has_socket = |ip: IpAddr| endpoint.local_addrs().iter().any(|local| local.ip() == ip);
            if let Some((index, address)) = *bound
                && (now != Some((index, address)) || !has_socket(address))
            {
                endpoint.remove_address(address);
                report(&format!("{name} does not carry {address} any more"));
                *bound = None;
            }
            usable.push(now);
        }
        let mut first_failure = None;
        for (Link { name, bound }, now) in self.links.iter_mut().zip(usable) {
            let Some((index, address)) = now.filter(|_| bound.is_none()) else { continue };
            match socket(address, name).and_then(|socket| endpoint.add_socket(socket)) {
                Ok(local) => {
                    *bound = Some((index, address));
                    report(&format!("{name} carries {local}"));
                }
                Err(error) => {
                    let failure = Error::system(format!("send from {address} over {name}"), error);
                    first_failure.get_or_insert(failure);
                }
            }
        }
        first_failure.map_or(Ok(any), Err)
    }

    /// Follows the interfaces until none is left.
    pub(super) async fn follow(&mut self, changes: &Changes, endpoint: &Endpoint, report: &Report) -> Result<()> {
        loop {
            changes.next().await.map_err(|error| Error::system("follow the interfaces", error))?;
            tokio::time::sleep(SETTLE).await;
            let mut has_failed = false;
            let any = loop {
                match self.update(endpoint, report) {
                    Ok(any) => break any,
                    Err(error) if !has_failed => report(&format!("{error}; retrying every second")),
                    Err(_) => {}
                }
                has_failed = true;
                tokio::time::sleep(RETRY).await;
            };
            if !any {
                let help = "start the proxy again when there is one";
                return Err(Error::machine("no interface of --via exists any more", help));
            }
        }
    }
}

/// A socket whose packets leave by an interface, whatever the machine's routes are, as far as that has a route itself.
fn socket(address: IpAddr, interface: &str) -> io::Result<UdpSocket> {
    let socket = std::net::UdpSocket::bind((address, 0))?;
    socket.set_nonblocking(true)?;
    let socket = UdpSocket::from_std(socket)?;
    socket.bind_device(Some(interface.as_bytes()))?;
    Ok(socket)
}
