//! The protocol that a connection uses: MPTCP, or plain TCP after fallback.

/// The protocol that a connection uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// The MP_CAPABLE handshake is under way.
    Opening,
    /// MPTCP.
    Multipath,
    /// Plain TCP on the initial subflow, from the start: its stream is the data.
    Plain,
    /// Plain TCP on one subflow from some byte on: see [`Infinite`](super::fallback::Infinite).
    Infinite {
        /// The subflow that is left.
        subflow: usize,
    },
}
