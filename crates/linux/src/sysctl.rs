//! Settings of a network namespace.

use std::fs;

use crate::error::{Result, While};

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
