//! What a host does with packets of no connection, and what peers can make it keep.

mod ports;
mod rig;
