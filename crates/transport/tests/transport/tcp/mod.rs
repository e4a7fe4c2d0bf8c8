//! Stories of one TCP connection.

mod acknowledgments;
mod black_holes;
mod bounds;
mod close;
mod custom_congestion;
mod dishonest_acks;
mod ecn;
mod handshake;
mod negotiation;
mod no_sack;
mod pacing;
mod receive_window;
mod recovery;
mod reordering;
mod small_segments;
mod timeouts;
mod validation;
mod window_use;
