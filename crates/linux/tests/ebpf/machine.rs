//! What the tests in the kernel share: whether this machine serves, whose turn it is, and what is in the kernel.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use libbpf_rs::query::{MapInfoIter, ProgInfoIter};
use subflow_linux::congestion::{PROGRAMS, Program};
use subflow_linux::{congestion_controls, require};
use subflow_prerequisite::Prerequisite;

/// The kernel has one list of congestion controls for everybody: a test that changes it holds this.
pub(crate) fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether this machine can run the tests; says why not. Programs that somebody else has loaded are left alone.
pub(crate) fn serves() -> bool {
    let Some(obstacle) = obstacle() else { return true };
    Prerequisite::Ebpf.missing(obstacle);
    false
}

fn obstacle() -> Option<String> {
    if let Some(used) = PROGRAMS.iter().find(|program| is_offered(program)) {
        return Some(format!("{} is loaded, and in use for all one knows", used.name));
    }
    let needs = subflow_linux::Needs { mptcp: true, congestion: vec!["lia".into()], device: None };
    let obstacle = require(&needs).err().map(|error| error.to_string());
    assert_gone(program("lia"));
    obstacle
}

pub(crate) fn program(name: &str) -> &'static Program {
    Program::from_name(name).expect("it is one of ours")
}

/// Whether sockets can have it.
pub(crate) fn is_offered(program: &Program) -> bool {
    congestion_controls().expect("the list is there").iter().any(|name| name == program.kernel_name)
}

/// Programs and maps in the kernel that bear the name of `program`: of each the kernel keeps 15 letters.
pub(crate) fn in_the_kernel(program: &Program) -> usize {
    let ours = |name: &std::ffi::OsStr| {
        let name = name.to_string_lossy();
        name == program.kernel_name || name.starts_with(&format!("{}_", program.kernel_name))
    };
    ProgInfoIter::default().filter(|info| ours(&info.name)).count()
        + MapInfoIter::default().filter(|info| ours(&info.name)).count()
}

/// Waits until nothing of `program` is in the kernel, which frees after a grace period; panics where something stays.
pub(crate) fn assert_gone(program: &Program) {
    #[allow(clippy::disallowed_types)] // The kernel is on the wall clock.
    let begun = std::time::Instant::now();
    while is_offered(program) || in_the_kernel(program) > 0 {
        assert!(
            begun.elapsed() < Duration::from_secs(10),
            "{} pieces of {} stay",
            in_the_kernel(program),
            program.name
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}
