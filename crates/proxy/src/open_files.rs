//! How many clients the limit of open files leaves room for.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::error::{Error, Result};

/// Clients that are served at a time at most; further ones wait in the kernel's queue.
const MOST_CLIENTS: usize = 4096;
/// Descriptors of a TUN device, with one to spare.
const OF_A_PATH: usize = 2;
/// Descriptors that the resolution of a name takes: a file or two, and the sockets for its questions.
const OF_A_NAME: usize = 4;
/// Open files where they cannot be counted: more than there are at the start.
const ASSUMED_OPEN: usize = 64;

/// The limit of open files of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpenFiles {
    limit: usize,
}

impl OpenFiles {
    /// Raises the soft limit to the hard one: the usual soft limit of 1024 is for programs that use `select`.
    pub(crate) fn raise() -> Self {
        let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
        let raised = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
        let current = if raised.is_ok() { maximum } else { getrlimit(Resource::Nofile).current };
        Self { limit: current.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX)) }
    }

    /// Descriptors that clients do not get: for commands, and for names that are being resolved.
    fn reserve(self) -> usize {
        (self.limit / 4).clamp(32, 1024)
    }

    /// Names that may be resolved at a time.
    pub(crate) fn resolvers(self) -> usize {
        self.reserve() / 2 / OF_A_NAME
    }

    /// Most clients at a time of a proxy over as many paths, each of which takes one descriptor.
    pub(crate) fn places(self, paths: usize) -> Result<usize> {
        let open = std::fs::read_dir("/proc/self/fd").map_or(ASSUMED_OPEN, Iterator::count);
        self.places_beside(open + OF_A_PATH * paths)
    }

    fn places_beside(self, open: usize) -> Result<usize> {
        let places = self.limit.saturating_sub(open + self.reserve()).min(MOST_CLIENTS);
        if places == 0 {
            let problem = format!("{} open files at most are too few for a proxy", self.limit);
            return Err(Error::machine(problem, "raise the limit: ulimit -n 5200"));
        }
        Ok(places)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_get_what_commands_and_names_do_not_need() {
        let places = |limit| OpenFiles { limit }.places_beside(20).ok();
        assert_eq!(places(usize::MAX), Some(MOST_CLIENTS));
        assert_eq!(places(1024), Some(1024 - 256 - 20));
        assert_eq!(places(256), Some(256 - 64 - 20));
        assert_eq!(places(64), Some(64 - 32 - 20));
        assert_eq!(places(52), None);
        assert_eq!(OpenFiles { limit: 1 << 19 }.resolvers(), 128);
        for limit in [53, 256, 1024, 1 << 20] {
            let files = OpenFiles { limit };
            assert!(files.resolvers() > 0 && files.resolvers() * OF_A_NAME + 16 <= files.reserve(), "{limit}");
        }
    }

    #[test]
    fn the_soft_limit_becomes_the_hard_one() {
        let raised = OpenFiles::raise();
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        assert_eq!(current, maximum);
        assert_eq!(u64::try_from(raised.limit).ok(), current.or(Some(u64::MAX)));
    }
}
