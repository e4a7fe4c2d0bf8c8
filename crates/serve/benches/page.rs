//! How fast the page is: its size and first paint, the time from a keystroke to new figures, and its memory over many
//! edits.
//!
//! `SUBFLOW_COMMAND=target/release/subflow cargo bench -p subflow-serve --bench page [-- EDITS]`. The command serves
//! the page, since it is what users have; its scenario is wifi-lte. The browser is a headless Chromium on the same
//! machine, and shares its cores with the server: what else the machine does is in all times. docs/src/serve.md has
//! results.

#[path = "../../cli/tests/browser/chromium.rs"]
#[allow(dead_code, reason = "the tests of the report open files, and this opens addresses")]
mod chromium;
#[path = "../../cli/tests/browser/devtools.rs"]
#[allow(dead_code, reason = "the tests also print, drag and take pictures")]
mod devtools;

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use chromium::Chromium;
use devtools::Page;

const EDITS: usize = 400;
/// New tabs whose first paint is measured.
const TABS: usize = 11;
/// After so many edits the memory is read.
const BETWEEN: usize = 100;

/// What the page is to tell: the time from each keystroke until the frame of its figures is in sight.
const WATCH: &str = "{ window.took = []; new MutationObserver(() => { if (window.typed) { \
                     took.push(performance.now() - typed); window.typed = 0; } }) \
                     .observe(document.getElementById('frames'), { attributeFilter: ['data-shown'] }) }";

fn main() -> Result<(), Box<dyn Error>> {
    let edits = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(EDITS);
    let command = std::env::var("SUBFLOW_COMMAND").unwrap_or_else(|_| "target/release/subflow".to_owned());
    let mut served = Served::start(&command)?;
    let mut browser = Chromium::start().ok_or("there is no Chromium")?;
    size(&mut browser.open_url(&served.address));
    first_paint(&mut browser, &served.address);
    editing(&mut browser, &mut served, edits);
    Ok(())
}

/// The bytes of all that the page loads before its first figures, packed with gzip and as they are.
fn size(page: &mut Page) {
    wait(page, "document.getElementById('frames').dataset.shown > 0");
    let bytes = page.evaluate(
        "(async () => { const names = ['', ...performance.getEntriesByType('resource').map(({ name }) => name) \
         .filter((name) => !/\\/(check|run)$/.test(name))]; let plain = 0, packed = 0; \
         for (const name of new Set(names)) { const bytes = await (await fetch(name)).arrayBuffer(); \
         plain += bytes.byteLength; const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream('gzip')); \
         packed += (await new Response(stream).arrayBuffer()).byteLength; } return [packed, plain]; })()",
    );
    let kilobytes = |index: usize| bytes[index].as_f64().unwrap_or_default() / 1e3;
    println!("page: {:.0} kB with gzip, {:.0} kB as it is", kilobytes(0), kilobytes(1));
}

fn first_paint(browser: &mut Chromium, address: &str) {
    let mut times: Vec<f64> = (0..TABS)
        .filter_map(|_| {
            let mut page = browser.open_url(address);
            wait(&mut page, "performance.getEntriesByName('first-contentful-paint').length > 0");
            page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime").as_f64()
        })
        .collect();
    println!("first contentful paint: {}", quantiles(&mut times));
}

/// Types a digit over another one, again and again, and waits for the figures each time.
fn editing(browser: &mut Chromium, served: &mut Served, edits: usize) {
    let mut page = browser.open_url(&served.address);
    wait(&mut page, "document.getElementById('frames').dataset.shown > 0");
    page.evaluate(WATCH);
    println!("{:>6}  {:>10}  {:>10}", "edits", "server MB", "script MB");
    for edit in 0..=edits {
        if edit % BETWEEN == 0 {
            let heap = page.evaluate("performance.memory.usedJSHeapSize / 1e6").as_f64().unwrap_or_default();
            println!("{edit:>6}  {:>10.1}  {heap:>10.1}", served.resident_mb());
        }
        let (from, to) =
            if edit % 2 == 0 { ("\"50 Mbit/s\"", "\"51 Mbit/s\"") } else { ("\"51 Mbit/s\"", "\"50 Mbit/s\"") };
        page.evaluate(&format!(
            "{{ const area = document.getElementById('text'), at = area.value.indexOf({from:?}); area.focus(); \
             area.setSelectionRange(at, at + {}); window.typed = performance.now(); \
             document.execCommand('insertText', false, {to:?}) }}",
            from.len()
        ));
        wait(&mut page, &format!("took.length > {edit}"));
    }
    let times = page.evaluate("took");
    let mut times: Vec<f64> = times.as_array().into_iter().flatten().filter_map(serde_json::Value::as_f64).collect();
    println!("from a keystroke to new figures: {}", quantiles(&mut times));
}

fn quantiles(times: &mut [f64]) -> String {
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    format!("median {:.0} ms, 90 % below {:.0} ms, {} times", at(0.5), at(0.9), times.len())
}

/// Waits until an expression is true.
fn wait(page: &mut Page, expression: &str) {
    for _ in 0..12_000 {
        if page.evaluate(expression) == true {
            return;
        }
        sleep(Duration::from_millis(5));
    }
    panic!("does not come true within a minute: {expression}");
}

/// The command; it ends with this value.
struct Served {
    child: Child,
    address: String,
}

impl Served {
    fn start(command: &str) -> Result<Self, Box<dyn Error>> {
        let spawned = Command::new(command).arg("serve").stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut child = spawned.map_err(|error| format!("cannot run {command} (SUBFLOW_COMMAND): {error}"))?;
        let mut address = String::new();
        BufReader::new(child.stdout.take().ok_or("no output")?).read_line(&mut address)?;
        Ok(Self { child, address: address.trim().to_owned() })
    }

    /// Its resident memory, where the system tells it.
    fn resident_mb(&mut self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
        line.trim().trim_end_matches("kB").trim().parse::<f64>().unwrap_or(f64::NAN) / 1e3
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
