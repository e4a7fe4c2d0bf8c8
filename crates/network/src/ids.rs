//! Identifiers of the parts of a network: small numbers assigned by the builder and the network.

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
