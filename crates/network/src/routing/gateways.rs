//! Gateways: addresses whose packets pass a given router, as with loose source routing (RFC 791, section 3.1) over
//! relays.

use std::collections::BTreeMap;
use std::net::IpAddr;

use crate::InterfaceId;

/// The gateways of addresses.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gateways {
    of_address: BTreeMap<IpAddr, Gateway>,
}

/// A router that packets must pass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gateway {
    pub(crate) router: u32,
    /// Its destination number in the routers' tables: larger than the numbers of all interfaces.
    pub(crate) destination: InterfaceId,
}

impl Gateways {
    /// Creates it from addresses and their routers, in a network with `interfaces` interfaces.
    pub(crate) fn new(addresses: &[(IpAddr, u32)], interfaces: usize) -> Self {
        let routers: BTreeMap<IpAddr, u32> = addresses.iter().copied().collect();
        let numbered = routers.into_iter().enumerate().map(|(number, (address, router))| {
            (address, Gateway { router, destination: InterfaceId::from_index(interfaces + number) })
        });
        Self { of_address: numbered.collect() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.of_address.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Gateway> {
        self.of_address.values().copied()
    }

    /// The gateway that packets between two addresses pass: the source's, else the destination's.
    pub(crate) fn between(&self, source: IpAddr, destination: IpAddr) -> Option<Gateway> {
        self.of_address.get(&source).or_else(|| self.of_address.get(&destination)).copied()
    }
}
