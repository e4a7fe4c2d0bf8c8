//! What the running kernel says of itself.

use std::fs;

use crate::error::{Result, While};

/// The congestion controls available to sockets.
pub fn congestion_controls() -> Result<Vec<String>> {
    const LIST: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let names = fs::read_to_string(LIST).during(|| format!("cannot read {LIST}"))?;
    Ok(names.split_whitespace().map(str::to_owned).collect())
}

/// The kernel's release, such as `6.18.1`.
pub fn kernel_release() -> String {
    rustix::system::uname().release().to_string_lossy().into_owned()
}
