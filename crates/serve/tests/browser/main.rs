//! The page as a reader meets it: in a real browser, with a server of ours. Screenshots stay in `target/tmp/serve/`.

mod accessible;
#[path = "../../../cli/tests/browser/chromium.rs"]
#[allow(dead_code, reason = "the tests of the report open files, and these open addresses")]
mod chromium;
mod desk;
#[path = "../../../cli/tests/browser/devtools.rs"]
#[allow(dead_code, reason = "the tests of the report also print and drag")]
mod devtools;
mod editing;
mod exports;
mod folder;
mod keyboard;
mod lessons;
mod looks;
mod moment;
mod picture;
mod running;
mod sharing;
mod tools;

use subflow_prerequisite::Prerequisite;

use chromium::Chromium;

/// The browser; `None` where there is none.
fn browser() -> Option<Chromium> {
    let browser = Chromium::start();
    if browser.is_none() {
        Prerequisite::Chromium.missing("Debian's package chromium has it");
    }
    browser
}
