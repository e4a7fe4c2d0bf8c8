//! What tests need of the machine that they run on.
//!
//! A test that needs more than Rust calls [`Prerequisite::missing`] where the machine does not have it, and returns:
//! the reason is printed, and the test passes. `SUBFLOW_REQUIRE` names the prerequisites that must be there, separated
//! by commas, or `all`: a test that misses one of them fails. The programs of `.ci/` set it to `all`.

use std::env;
use std::fmt::Display;
use std::process::Command;
use std::thread;

/// The environment variable that names what must be there.
pub const VARIABLE: &str = "SUBFLOW_REQUIRE";

/// Something that not every machine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prerequisite {
    /// `kernel`: root, or the capabilities for network namespaces, a kernel with MPTCP, and TUN devices.
    Kernel,
    /// `ebpf`: the same, and a kernel that takes congestion controls as eBPF programs.
    Ebpf,
    /// `user-namespaces`: namespaces that a user without rights may make.
    UserNamespaces,
    /// `tshark`: Debian's package tshark.
    Tshark,
    /// `chromium`: Debian's package chromium.
    Chromium,
    /// `usrsctp`: Debian's package libusrsctp-dev, and a C compiler.
    Usrsctp,
    /// `cc`: the C compiler that `CC` names, or `cc`.
    CCompiler,
    /// `programs`: programs of other packages that a test runs, as curl, nft or python3.
    Programs,
    /// `aioquic`: a Python with the package of that name.
    Aioquic,
    /// `bash`.
    Bash,
    /// `zsh`: Debian's package zsh.
    Zsh,
    /// `fish`: Debian's package fish.
    Fish,
}

impl Prerequisite {
    const ALL: [Self; 12] = [
        Self::Kernel,
        Self::Ebpf,
        Self::UserNamespaces,
        Self::Tshark,
        Self::Chromium,
        Self::Usrsctp,
        Self::CCompiler,
        Self::Programs,
        Self::Aioquic,
        Self::Bash,
        Self::Zsh,
        Self::Fish,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Ebpf => "ebpf",
            Self::UserNamespaces => "user-namespaces",
            Self::Tshark => "tshark",
            Self::Chromium => "chromium",
            Self::Usrsctp => "usrsctp",
            Self::CCompiler => "cc",
            Self::Programs => "programs",
            Self::Aioquic => "aioquic",
            Self::Bash => "bash",
            Self::Zsh => "zsh",
            Self::Fish => "fish",
        }
    }

    /// The test that calls this cannot run here, because of `why`: says so.
    ///
    /// # Panics
    ///
    /// Where [`VARIABLE`] demands the prerequisite, or names one that there is not.
    #[track_caller]
    pub fn missing(self, why: impl Display) {
        let required = env::var(VARIABLE).unwrap_or_default();
        let (here, name) = (thread::current(), self.name());
        let test = here.name().unwrap_or("a test");
        assert!(!is_required(self, &required), "{test} cannot run without {name}, which {VARIABLE} demands: {why}");
        eprintln!("SKIPPED {test}: it needs {name}: {why}");
    }
}

/// Whether the test that calls this may make network namespaces: root may, unless a container does not let it. Says so
/// if not, as [`Prerequisite::missing`].
#[track_caller]
pub fn network_namespaces() -> bool {
    let made = Command::new("unshare").args(["--net", "--mount", "true"]).output();
    let are_made = made.is_ok_and(|output| output.status.success());
    if !are_made {
        Prerequisite::Kernel.missing("it takes the rights of root to make network namespaces, and `unshare`");
    }
    are_made
}

/// Whether programs with these names are in `PATH`. Says which is not, as [`Prerequisite::missing`].
#[track_caller]
pub fn programs(names: &[&str]) -> bool {
    let missing = names.iter().find(|name| !is_in_path(name));
    if let Some(name) = missing {
        Prerequisite::Programs.missing(format_args!("there is no {name}"));
    }
    missing.is_none()
}

fn is_in_path(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Whether `list` names `prerequisite`.
#[track_caller]
fn is_required(prerequisite: Prerequisite, list: &str) -> bool {
    let names = list.split(',').map(str::trim).filter(|name| !name.is_empty());
    let known = |name: &str| name == "all" || Prerequisite::ALL.iter().any(|one| one.name() == name);
    let all = Prerequisite::ALL.map(Prerequisite::name).join(", ");
    names
        .inspect(|name| assert!(known(name), "{VARIABLE}: {name:?} is none of all, {all}"))
        .fold(false, |found, name| found || name == "all" || name == prerequisite.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_required_unless_it_is_named() {
        assert!(!is_required(Prerequisite::Tshark, ""));
        assert!(!is_required(Prerequisite::Tshark, "kernel, usrsctp"));
        assert!(is_required(Prerequisite::Tshark, "kernel, tshark"));
        assert!(Prerequisite::ALL.into_iter().all(|one| is_required(one, "all")));
    }

    #[cfg(unix)]
    #[test]
    fn programs_are_looked_for_in_the_path() {
        assert!(is_in_path("sh") && !is_in_path("no-such-program"));
    }

    #[test]
    #[should_panic(
        expected = "\"tshrak\" is none of all, kernel, ebpf, user-namespaces, tshark, chromium, usrsctp, cc, programs, \
                    aioquic, bash, zsh, fish"
    )]
    fn an_unknown_name_is_refused() {
        is_required(Prerequisite::Kernel, "tshrak");
    }
}
