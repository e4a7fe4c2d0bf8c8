//! A proxy that is killed at any of its changes, while the command that makes it goes on, and `cleanup` at once.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Child;

use crate::setup::{Process, Setup, comes_true, machine_serves, works};
use crate::undo::tools;

/// Commands that make changes, and what they are started from.
struct Commands {
    _real: tempfile::TempDir,
    scripts: tempfile::TempDir,
}

impl Commands {
    /// In the place of the commands are scripts that count the changes. The one whose number is set kills the proxy, and
    /// makes the change afterwards.
    fn new() -> Self {
        let names = if works("nft --version") { vec!["ip", "nft"] } else { vec!["ip", "iptables", "ip6tables"] };
        let (real, scripts) = (tools(&names), tempfile::tempdir().expect("a folder"));
        for name in names {
            let (real, folder) = (real.path().join(name), scripts.path().display().to_string());
            let script = format!(
                "#!/bin/sh\ncase \"$*\" in netns*|-j*|*--version|list*) exec {real} \"$@\";; esac\n\
                 read count < {folder}/count; count=$((count + 1)); echo $count > {folder}/count\n\
                 read last < {folder}/last\nif [ $count = $last ]; then kill -9 $PPID; /bin/sleep 0.2; fi\n\
                 exec {real} \"$@\"\n",
                real = real.display()
            );
            let path = scripts.path().join(name);
            fs::write(&path, script).expect("written");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
        }
        Self { _real: real, scripts }
    }

    fn path(&self) -> &Path {
        self.scripts.path()
    }

    /// From now on the `last` change kills the proxy; 0 is none.
    fn kill_at(&self, last: u32) {
        fs::write(self.path().join("last"), format!("{last}\n")).expect("written");
        fs::write(self.path().join("count"), "0\n").expect("written");
    }

    fn start(&self, setup: &Setup) -> Child {
        setup.proxy_command(&["c0", "c1"]).env("PATH", self.path()).spawn().expect("starts")
    }
}

/// Whether the proxy listens; otherwise it has ended.
fn listens(child: &mut Child) -> bool {
    let lines = BufReader::new(child.stderr.as_mut().expect("piped")).lines();
    lines.map_while(Result::ok).any(|line| line.contains("listening on"))
}

/// Cleans up at once: the process may not have ended yet.
fn nothing_is_left(setup: &Setup, what: &str) {
    setup.cleanup();
    // The devices end with the process.
    comes_true(what, || setup.left_behind().is_empty());
}

#[test]
fn cleanup_right_after_a_kill_at_any_change_leaves_nothing() {
    let Some(setup) = machine_serves("kills") else { return };
    let commands = Commands::new();
    let mut number = 0;
    // At each change of the start.
    loop {
        number += 1;
        commands.kill_at(number);
        let mut child = commands.start(&setup);
        let whole = listens(&mut child);
        if whole {
            commands.kill_at(0);
            child.kill().expect("killed");
        }
        nothing_is_left(&setup, &format!("change {number} of the start"));
        let _ = Process(child).wait();
        if whole {
            break;
        }
    }
    assert!(number > 8, "each path has a device, a route, a rule and a table: {number}");
    // At each change of the end.
    for number in 1.. {
        commands.kill_at(0);
        let mut child = commands.start(&setup);
        assert!(listens(&mut child));
        commands.kill_at(number);
        if Process(child).end("-TERM") == Some(0) {
            assert!(number > 4, "each path has a rule and a table: {number}");
            break;
        }
        nothing_is_left(&setup, &format!("change {number} of the end"));
    }
    assert_eq!(setup.left_behind(), "");
}
