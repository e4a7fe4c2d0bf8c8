//! How fast the page is: its size and first paint, the time from a keystroke to new figures, and its memory over as many
//! edits, sweeps, comparisons and reloads as an hour has.
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

/// An hour of use: an edit every two seconds.
const EDITS: usize = 2000;
/// New tabs whose first paint is measured.
const TABS: usize = 11;
/// After so many edits something else is done.
const BETWEEN: usize = 50;
/// After so many edits the memory is read.
const READ: usize = 200;

/// What is done between edits, in turn: what it is, how it begins, what is true when it has been done, and how it ends.
const BESIDES: [(&str, &str, &str, &str); 5] = [
    (
        "a sweep of six points",
        "{ const of = document.getElementById('pin'); if (of.querySelector('[value=\"links.lte.delay\"]')) { \
         of.value = 'links.lte.delay'; of.dispatchEvent(new Event('change')) } \
         document.querySelector('.pin button').click() }",
        "document.getElementById('status').textContent.startsWith('6 runs')",
        "document.querySelector('.pin button').click()",
    ),
    (
        "two variants",
        "document.getElementById('compare').click()",
        "document.getElementById('status').textContent.startsWith('2 runs')",
        "document.getElementById('close-variant').click()",
    ),
    (
        "history",
        "document.getElementById('open-history').click()",
        "document.getElementById('history').open",
        "[...document.querySelectorAll('#history .runs button')].at(1).click()",
    ),
    (
        "an instant of the run",
        "document.getElementById('tab-picture').click()",
        "!document.getElementById('moment').hidden",
        "document.getElementById('tab-text').click()",
    ),
    (
        "a reload",
        "{ window.isOld = true; location.reload() }",
        "!window.isOld && document.getElementById('frames')?.dataset.shown > 0",
        "0",
    ),
];

/// What the page is to tell: the time from each keystroke until the new figures are in sight, and until they are drawn.
const WATCH: &str = "{ window.took = []; new MutationObserver(([{ attributeName: name }]) => { \
                     if (name === 'data-shown' && window.typed) window.shown = performance.now() - typed; \
                     if (name === 'data-drawn' && window.typed) { took.push([shown, performance.now() - typed]); \
                     window.typed = 0; } }) \
                     .observe(document.getElementById('frames'), { attributeFilter: ['data-shown', 'data-drawn'] }) }";

/// Types a digit over another one.
const TYPE: &str = "{ const area = document.getElementById('text'), rates = ['\"50 Mbit/s\"', '\"51 Mbit/s\"']; \
                    const [from, to] = area.value.includes(rates[0]) ? rates : rates.reverse(); \
                    const at = area.value.indexOf(from); area.focus(); area.setSelectionRange(at, at + from.length); \
                    took.length = 0; window.typed = performance.now(); document.execCommand('insertText', false, to) }";

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

/// Types a digit over another one, again and again, and waits for the figures each time; between edits it uses what else
/// the page has.
fn editing(browser: &mut Chromium, served: &mut Served, edits: usize) {
    let mut page = browser.open_url(&served.address);
    wait(&mut page, "document.getElementById('frames').dataset.shown > 0");
    let (mut shown, mut drawn, mut besides) = (Vec::new(), Vec::new(), BESIDES.iter().cycle());
    let before = served.cpu_ms();
    println!("{:>6}  {:>10}  {:>10}  {:>10}", "edits", "server MB", "script MB", "elements");
    for edit in 0..=edits {
        if edit % READ == 0 {
            let [heap, elements] = ["performance.memory.usedJSHeapSize / 1e6", "document.querySelectorAll('*').length"]
                .map(|of| page.evaluate(of).as_f64().unwrap_or_default());
            println!("{edit:>6}  {:>10.1}  {heap:>10.1}  {elements:>10.0}", served.resident_mb());
        }
        if edit > 0 && edit % BETWEEN == 0 {
            besides.next().into_iter().for_each(|beside| use_besides(&mut page, beside));
        }
        if page.evaluate("window.took === undefined") == true {
            page.evaluate(WATCH);
        }
        page.evaluate(TYPE);
        wait(&mut page, "took.length > 0");
        let times = page.evaluate("took[0]");
        shown.extend(times[0].as_f64());
        drawn.extend(times[1].as_f64());
        // A pause between edits, so that each is the first after a rest.
        sleep(Duration::from_millis(300));
    }
    println!("from a keystroke to new figures: {}", quantiles(&mut shown));
    println!("until they are drawn: {}", quantiles(&mut drawn));
    println!("CPU time of the server: {:.0} ms of an edit", (served.cpu_ms() - before) / (edits + 1) as f64);
}

/// Uses something else of the page, and waits until the figures of the text are there again.
fn use_besides(page: &mut Page, (what, begin, is_done, end): &(&str, &str, &str, &str)) {
    page.evaluate(begin);
    wait_for(page, is_done, what);
    page.evaluate(end);
    wait_for(page, "document.getElementById('frames').getAttribute('aria-busy') === 'false'", what);
}

fn quantiles(times: &mut [f64]) -> String {
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    format!("median {:.0} ms, 90 % below {:.0} ms, {} times", at(0.5), at(0.9), times.len())
}

/// Waits until an expression is true.
fn wait(page: &mut Page, expression: &str) {
    wait_for(page, expression, "an edit");
}

/// The same, of something that is done.
fn wait_for(page: &mut Page, expression: &str, what: &str) {
    for _ in 0..12_000 {
        if page.evaluate(expression) == true {
            return;
        }
        sleep(Duration::from_millis(5));
    }
    panic!("{what}: does not come true within a minute: {expression}");
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

impl Served {
    /// The CPU time that it has used, in milliseconds, where the system tells it: 100 ticks are a second on Linux.
    fn cpu_ms(&self) -> f64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap_or_default();
        let fields: Vec<f64> =
            stat.rsplit(") ").next().unwrap_or_default().split(' ').filter_map(|of| of.parse().ok()).collect();
        // Without the state, which is no number, `utime` and `stime` (proc_pid_stat(5)) are here.
        fields.get(10..12).map_or(f64::NAN, |ticks| ticks.iter().sum::<f64>() * 10.0)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
