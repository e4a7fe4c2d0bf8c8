//! Starts Chromium without a window, in a profile of its own, and finds its DevTools.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use tempfile::TempDir;

use crate::devtools::{Page, Socket};

const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// Neither a window nor anything that would reach for the network.
const OPTIONS: [&str; 10] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-port=0",
];

/// A browser of ours; it ends with this value.
pub(crate) struct Chromium {
    child: Child,
    profile: TempDir,
}

impl Chromium {
    /// Starts it; `None` where there is none.
    pub(crate) fn start() -> Option<Self> {
        let profile = TempDir::new().expect("a temporary folder");
        let start = |name: &&str| {
            let mut command = Command::new(name);
            command.args(OPTIONS).arg(format!("--user-data-dir={}", profile.path().display())).arg("about:blank");
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()
        };
        let child = NAMES.iter().find_map(start)?;
        Some(Self { child, profile })
    }

    /// Opens a file, and waits until it has loaded.
    pub(crate) fn open(&mut self, file: &Path) -> Page {
        self.open_url(&format!("file://{}", file.display()))
    }

    /// Opens an address, and waits until it has loaded.
    pub(crate) fn open_url(&mut self, url: &str) -> Page {
        let socket = Socket::connect(&self.address());
        Page::open(socket, url)
    }

    /// It writes port and path of its DevTools into its profile once it listens.
    fn address(&mut self) -> String {
        let file = self.profile.path().join("DevToolsActivePort");
        for _ in 0..600 {
            let text = std::fs::read_to_string(&file).unwrap_or_default();
            if let Some((port, path)) = text.trim_end().split_once('\n') {
                return format!("ws://127.0.0.1:{port}{path}");
            }
            assert!(matches!(self.child.try_wait(), Ok(None)), "Chromium ended before it listened");
            sleep(Duration::from_millis(100));
        }
        panic!("Chromium does not listen after a minute");
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // Its own processes end with it; where it has ended already, there is nothing to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
