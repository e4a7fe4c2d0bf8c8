//! Identifiers of the parts of a network: small numbers assigned by the builder and the network. The route of a packet
//! is one, too.

use core::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub(crate) u32);

        impl $name {
            /// The number, counted from zero in order of creation, as an index into tables.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
            /// The identifier with this [index](Self::index). Using one that was never assigned panics.
            pub const fn from_index(index: usize) -> Self {
                Self(index as u32)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }
    };
}

id! {
    /// A host: a node that sends and receives packets.
    HostId
}
id! {
    /// A router: a node that forwards packets.
    RouterId
}
id! {
    /// An interface of a host. Interfaces are numbered over the whole network, so an interface also identifies its
    /// host.
    InterfaceId
}
id! {
    /// One direction of a link.
    LinkId
}
id! {
    /// A packet in the network. After it is taken or released, another packet may get the same id.
    PacketId
}
id! {
    /// A timer of [`crate::Network`].
    TimerId
}

/// Either a destination, which each router looks up, or an index into the list of the links of all flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PacketRoute(u32);

/// Set if it is an index.
const LISTED: u32 = 1 << 31;

impl PacketRoute {
    /// A destination that each router looks up.
    #[inline]
    pub(crate) const fn to(destination: InterfaceId) -> Self {
        Self(destination.0)
    }

    /// The links of the list from `index` on.
    pub(crate) fn listed(index: usize) -> Self {
        Self(u32::try_from(index).ok().filter(|index| index & LISTED == 0).expect("fewer than 2³¹ links") | LISTED)
    }

    /// The index into the list of links, if it is one.
    #[inline]
    pub(crate) const fn index(self) -> Option<usize> {
        if self.0 & LISTED != 0 { Some((self.0 & !LISTED) as usize) } else { None }
    }

    /// The route after one more link of the list.
    #[inline]
    pub(crate) const fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// The destination to look up, if it is one.
    #[inline]
    pub(crate) const fn destination(self) -> Option<InterfaceId> {
        if self.0 & LISTED != 0 { None } else { Some(InterfaceId(self.0)) }
    }
}

/// The route of all packets of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FlowRoute {
    pub(crate) route: PacketRoute,
    /// The hash of the flow's 5-tuple, for routers that choose at each hop.
    pub(crate) hash: u16,
}
