//! What a host does with packets of no connection, and what peers can make it keep.

mod announcements;
mod floods;
mod half_open_joins;
mod listening;
mod long_lived;
mod memory;
mod ports;
mod rig;
mod sources;
mod syn_cookies;
mod system_random;
mod time_wait;
