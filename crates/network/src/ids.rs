//! Names of things in a network: small numbers handed out by the builder and by the network.

use core::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub(crate) u32);

        impl $name {
            /// The number behind the name: counted from zero in order of creation, for tables indexed by it.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
            /// The name with number `index`, as [`Self::index`] gave it. One that was never handed out panics where
            /// used.
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
    /// A host: a node where packets begin and end.
    HostId
}
id! {
    /// A router: a node that passes packets on.
    RouterId
}
id! {
    /// A host's interface. Interfaces are numbered over the whole network, so that one names its host, too.
    InterfaceId
}
id! {
    /// One direction of a link.
    LinkId
}
id! {
    /// A packet in the network. Once it is taken or released, another packet may get the same id.
    PacketId
}
id! {
    /// A timer of [`crate::Network`].
    TimerId
}
