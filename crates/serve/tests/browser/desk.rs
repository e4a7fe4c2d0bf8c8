//! A server, its page in a browser, and what a reader does there.

use std::thread::{JoinHandle, sleep};
use std::time::Duration;

use serde_json::Value;
use subflow_lab::Stop;
use subflow_serve::{Limits, Server, Source};

use crate::chromium::Chromium;
use crate::devtools::Page;

/// A server that ends with this value.
pub(crate) struct Served {
    pub(crate) address: String,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl Served {
    pub(crate) fn start() -> Self {
        Self::begin_with(Source::Example)
    }

    /// A server that begins with `source`.
    pub(crate) fn begin_with(source: Source) -> Self {
        let server = Server::bind(0, source, Limits::default()).expect("a free port");
        let (stop, address) = (Stop::default(), server.address());
        let asked = stop.clone();
        let thread = std::thread::spawn(move || server.run(&asked).expect("it runs"));
        Self { address, stop, thread: Some(thread) }
    }

    /// Ends it before its time.
    pub(crate) fn end(&mut self) {
        self.stop.request();
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the server has not panicked");
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.end();
    }
}

/// A page that has shown its first results.
pub(crate) fn open(browser: &mut Chromium, address: &str) -> Page {
    let mut page = browser.open_url(address);
    wait(&mut page, "document.getElementById('frames').dataset.shown === '1'");
    page
}

/// Waits until an expression is true: for three minutes at least, since ten thousand runs take one on a busy machine.
pub(crate) fn wait(page: &mut Page, expression: &str) {
    for _ in 0..3600 {
        if page.evaluate(expression) == true {
            return;
        }
        sleep(Duration::from_millis(50));
    }
    let text = page.evaluate("document.body.innerText");
    panic!("does not come true: {expression}\n{}", text.as_str().unwrap_or_default());
}

/// Waits for results after those with this number, and returns theirs.
pub(crate) fn next_results(page: &mut Page, before: u64) -> u64 {
    wait(page, &format!("Number(document.getElementById('frames').dataset.shown) > {before}"));
    wait(page, "document.getElementById('run').textContent === 'Run'");
    page.evaluate("Number(document.getElementById('frames').dataset.shown)").as_u64().expect("a number")
}

/// Selects a part of the text and types in its place, as a keyboard does.
pub(crate) fn type_over(page: &mut Page, part: &str, by: &str) {
    let typed = page.evaluate(&format!(
        "{{ const area = document.getElementById('text'), at = area.value.indexOf({part:?}); area.focus(); \
         area.setSelectionRange(at, at + {part:?}.length); \
         at >= 0 && document.execCommand('insertText', false, {by:?}) }}"
    ));
    assert_eq!(typed, true, "the text has no {part}");
}

/// Gives an element another value, as its user does.
pub(crate) fn choose(page: &mut Page, id: &str, value: &str, event: &str) {
    page.evaluate(&format!(
        "{{ const of = document.getElementById({id:?}); of.value = {value:?}; of.dispatchEvent(new Event({event:?})) }}"
    ));
}

/// What a property of an element is.
pub(crate) fn property(page: &mut Page, id: &str, name: &str) -> Value {
    page.evaluate(&format!("document.getElementById({id:?}).{name}"))
}

pub(crate) fn click(page: &mut Page, selector: &str) {
    page.evaluate(&format!("document.querySelector({selector:?}).click()"));
}
