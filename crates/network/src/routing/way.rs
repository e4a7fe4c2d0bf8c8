//! Where a packet goes, in one word.

use crate::InterfaceId;

/// A destination, to be looked up at each router, or a place in the list of links that a flow takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Way(u32);

/// Tells the two apart.
const LISTED: u32 = 1 << 31;

impl Way {
    /// Routers look `destination` up.
    #[inline]
    pub(crate) const fn to(destination: InterfaceId) -> Self {
        Self(destination.0)
    }

    /// The links from `place` on.
    pub(crate) fn listed(place: usize) -> Self {
        Self(u32::try_from(place).ok().filter(|place| place & LISTED == 0).expect("fewer than 2³¹ links") | LISTED)
    }

    /// The place in the list of links, if it is one.
    #[inline]
    pub(crate) const fn place(self) -> Option<usize> {
        if self.0 & LISTED != 0 { Some((self.0 & !LISTED) as usize) } else { None }
    }

    /// The place behind a place in the list.
    #[inline]
    pub(crate) const fn advanced(self) -> Self {
        Self(self.0 + 1)
    }

    /// The destination to be looked up, if it is one.
    #[inline]
    pub(crate) const fn destination(self) -> Option<InterfaceId> {
        if self.0 & LISTED != 0 { None } else { Some(InterfaceId(self.0)) }
    }
}

/// What packets of one flow carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FlowWay {
    pub(crate) way: Way,
    /// The hash of their 5-tuple, for routers that are asked at each hop.
    pub(crate) hash: u16,
}
