//! Runs that take long: cancelled, followed after a reload and from another tab; and a server that ends.

use crate::browser;
use crate::chromium::Chromium;
use crate::desk::{Served, choose, click, next_results, open, property, type_over, wait};
use crate::devtools::Page;

const ENDLESS: &str = "duration = \"1000000 s\"\nsample_interval = \"100 s\"";
const RUNS: &str = "document.getElementById('run').textContent === 'Cancel' \
                    && !document.querySelector('#problems .problem')";

/// A page whose run takes hours.
fn endless(browser: &mut Chromium, served: &Served) -> Page {
    let mut page = open(browser, &served.address);
    type_over(&mut page, "duration    = \"10 s\"", ENDLESS);
    type_over(&mut page, "\"20 MB\"", "\"unlimited\"");
    wait(&mut page, RUNS);
    wait(&mut page, "fetch('runs.json').then((answer) => answer.json()).then((jobs) => jobs.length === 1)");
    page
}

fn going_on(page: &mut Page) -> serde_json::Value {
    page.evaluate("fetch('runs.json').then((answer) => answer.json())")
}

#[test]
fn a_long_run_is_cancelled_by_its_button_and_by_the_next_edit() {
    let Some(mut browser) = browser() else { return };
    let served = Served::start();
    let mut page = endless(&mut browser, &served);
    click(&mut page, "#run");
    wait(&mut page, "document.getElementById('status').textContent === 'cancelled'");
    wait(&mut page, "fetch('runs.json').then((answer) => answer.json()).then((jobs) => jobs.length === 0)");
    click(&mut page, "#run");
    wait(&mut page, "document.getElementById('run').textContent === 'Cancel'");
    type_over(&mut page, ENDLESS, "duration = \"1 s\"");
    next_results(&mut page, 1);
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn a_run_goes_on_while_its_page_is_loaded_again_and_can_be_cancelled_then() {
    let Some(mut browser) = browser() else { return };
    let served = Served::start();
    let mut page = endless(&mut browser, &served);
    let before = going_on(&mut page)[0]["number"].clone();
    page.evaluate("{ window.isOld = true; location.reload() }");
    wait(&mut page, "!window.isOld && document.readyState === 'complete'");
    wait(&mut page, RUNS);
    wait(&mut page, "document.getElementById('text').value.includes('1000000 s')");
    let after = going_on(&mut page);
    assert_eq!((after.as_array().map(Vec::len), &after[0]["number"]), (Some(1), &before), "the same run goes on");
    click(&mut page, "#run");
    wait(&mut page, "document.getElementById('status').textContent === 'cancelled'");
    wait(&mut page, "fetch('runs.json').then((answer) => answer.json()).then((jobs) => jobs.length === 0)");
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn two_tabs_have_texts_of_their_own_and_see_the_runs_of_each_other() {
    let Some(mut browser) = browser() else { return };
    let served = Served::start();
    let mut first = endless(&mut browser, &served);
    let mut second = browser.open_url(&served.address);
    wait(&mut second, "document.getElementById('frames').dataset.shown > 0");
    let text = property(&mut second, "text", "value");
    assert!(text.as_str().is_some_and(|text| text.contains("\"10 s\"")), "the second one has the example");
    choose(&mut second, "repeat", "5", "change");
    wait(&mut second, "document.getElementById('status').textContent.startsWith('5 runs')");
    assert_eq!(first.evaluate(RUNS), true, "the first one has not noticed");
    click(&mut second, "#open-history");
    wait(&mut second, "document.querySelectorAll('#going-on [data-job]').length === 1");
    click(&mut second, "#going-on button");
    wait(&mut first, "document.getElementById('message').textContent === 'cancelled'");
    assert_eq!(property(&mut first, "run", "textContent"), "Run");
    wait(&mut second, "document.querySelectorAll('#going-on [data-job]').length === 0");
    assert_eq!((first.complaints().len(), second.complaints().len()), (0, 0));
}

#[test]
fn a_server_that_ends_is_missed_and_the_text_goes_on_with_the_next_one() {
    let Some(mut browser) = browser() else { return };
    let mut served = Served::start();
    let mut page = open(&mut browser, &served.address);
    served.end();
    type_over(&mut page, "\"50 Mbit/s\"", "\"52 Mbit/s\"");
    wait(&mut page, "document.getElementById('message').textContent.includes('does not answer')");
    let text = property(&mut page, "text", "value");
    assert!(text.as_str().is_some_and(|text| text.contains("52 Mbit/s")));
    click(&mut page, "#open-share");
    wait(&mut page, "document.querySelector('#share[open] pre')?.textContent.includes('#s=')");
    let command = page.evaluate("document.querySelector('#share pre').textContent");
    let command = command.as_str().expect("a command");
    let fragment = command.trim_start_matches("subflow serve '").trim_end_matches('\'');
    let again = Served::start();
    assert_ne!(again.address, served.address, "another server has another token");
    let mut other = browser.open_url(&format!("{}{fragment}", again.address));
    wait(&mut other, "document.getElementById('frames').dataset.shown > 0");
    assert_eq!(property(&mut other, "text", "value"), text);
    assert_eq!(other.complaints(), [""; 0]);
}
