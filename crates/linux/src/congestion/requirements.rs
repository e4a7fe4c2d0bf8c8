//! What a kernel has to have, said before anything is made: a verifier's complaint would not tell.

use std::fs;

use libbpf_rs::btf::{Btf, BtfType};

use crate::error::{Error, Result};
use crate::kernel::kernel_release;

/// Where a kernel describes its types.
const TYPES: &str = "/sys/kernel/btf/vmlinux";
const JIT: &str = "/proc/sys/net/core/bpf_jit_enable";

/// Types and functions that there are where the kernel has what the programs need; what is missing where there are not;
/// how to get it.
const FEATURES: [(&str, &str, &str); 5] = [
    ("tcp_congestion_ops", "TCP", "run a kernel built with CONFIG_INET"),
    (
        "bpf_struct_ops_tcp_congestion_ops",
        "congestion control by eBPF",
        "run Linux 6.4 or newer, built with CONFIG_BPF_SYSCALL and CONFIG_BPF_JIT",
    ),
    ("bpf_rdonly_cast", "functions that eBPF programs call (bpf_rdonly_cast)", "run Linux 6.4 or newer"),
    ("bpf_struct_ops_link", "links for congestion control by eBPF", "run Linux 6.4 or newer"),
    ("mptcp_subflow_context", "MPTCP, whose subflows are to be coupled", "run a kernel built with CONFIG_MPTCP"),
];

/// Checks that this kernel can run the programs. The error says what is missing and how to get it.
pub(super) fn require() -> Result<()> {
    let types = Btf::from_vmlinux().ok();
    Kernel {
        release: kernel_release(),
        is_root: rustix::process::geteuid().is_root(),
        describes_its_types: fs::exists(TYPES).unwrap_or(false) && types.is_some(),
        // Inside a network namespace nobody can tell: the setting is there in the first one only.
        jit_is_off: fs::read_to_string(JIT).is_ok_and(|text| text.trim() == "0"),
        has: &|name| types.as_ref().is_some_and(|types| types.type_by_name::<BtfType<'_>>(name).is_some()),
    }
    .require()
}

/// Says what it takes to look at or change what is loaded.
pub(super) fn require_root() -> Result<()> {
    if rustix::process::geteuid().is_root() { Ok(()) } else { Err(not_root()) }
}

fn not_root() -> Error {
    Error::missing(
        "loading, listing and unloading eBPF programs requires root rights",
        "run the command with sudo, or in a container with --cap-add=BPF,NET_ADMIN,SYS_ADMIN",
    )
}

struct Kernel<'a> {
    release: String,
    is_root: bool,
    describes_its_types: bool,
    jit_is_off: bool,
    /// Whether it has a type or function of this name.
    has: &'a dyn Fn(&str) -> bool,
}

impl Kernel<'_> {
    fn require(&self) -> Result<()> {
        if !self.is_root {
            return Err(not_root());
        }
        let release = &self.release;
        if !self.describes_its_types {
            return Err(Error::missing(
                format!("this kernel (Linux {release}) does not describe its types: there is no {TYPES}"),
                "run one built with CONFIG_DEBUG_INFO_BTF, as those of all major distributions since 2021",
            ));
        }
        for (name, missing, remedy) in FEATURES {
            if !(self.has)(name) {
                return Err(Error::missing(format!("this kernel (Linux {release}) has no {missing}"), remedy));
            }
        }
        if self.jit_is_off {
            return Err(Error::missing(
                "the kernel's JIT compiler for eBPF is disabled",
                "enable it: sysctl -w net.core.bpf_jit_enable=1",
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of a kernel that lacks one thing.
    fn said(change: impl FnOnce(&mut Kernel<'_>), without: &str) -> String {
        let has = |name: &str| name != without;
        let mut kernel = Kernel {
            release: "6.1.0".to_owned(),
            is_root: true,
            describes_its_types: true,
            jit_is_off: false,
            has: &has,
        };
        change(&mut kernel);
        kernel.require().map_or_else(|error| error.to_string(), |()| "nothing".to_owned())
    }

    #[test]
    fn each_thing_that_is_missing_is_named_with_the_way_to_get_it() {
        assert_eq!(said(|_| (), ""), "nothing");
        assert!(said(|kernel| kernel.is_root = false, "").contains("with sudo"));
        assert!(said(|kernel| kernel.describes_its_types = false, "").contains("CONFIG_DEBUG_INFO_BTF"));
        assert!(said(|kernel| kernel.jit_is_off = true, "").contains("net.core.bpf_jit_enable=1"));
        assert!(said(|_| (), "bpf_struct_ops_tcp_congestion_ops").contains("CONFIG_BPF_JIT"));
        assert!(said(|_| (), "bpf_struct_ops_link").contains("(Linux 6.1.0) has no links"));
        assert!(said(|_| (), "mptcp_subflow_context").contains("CONFIG_MPTCP"));
    }
}
