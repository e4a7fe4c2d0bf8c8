//! What the running kernel says of itself, and the settings of its network namespaces.

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

/// A setting of the calling thread's network namespace, below `/proc/sys/net`. This folder shows the namespace of the
/// thread that opens it, so code in one of our namespaces never changes the machine's settings.
#[derive(Clone, Copy, Debug)]
pub struct Sysctl<'a>(pub &'a str);

impl Sysctl<'_> {
    fn path(self) -> String {
        format!("/proc/sys/net/{}", self.0)
    }

    /// Whether this kernel has the setting.
    pub fn exists(self) -> bool {
        fs::exists(self.path()).unwrap_or(false)
    }

    /// Reads its value, without the line break.
    pub fn read(self) -> Result<String> {
        let text = fs::read_to_string(self.path()).during(|| format!("cannot read net/{}", self.0))?;
        Ok(text.trim_end().to_owned())
    }

    /// Sets its value.
    pub fn write(self, value: &str) -> Result<()> {
        fs::write(self.path(), value).during(|| format!("cannot set net/{} to {value:?}", self.0))
    }
}
