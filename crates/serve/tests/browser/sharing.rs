//! Pinned keys and their sweeps: of which names, in links, files and the history.

use std::path::Path;

use subflow_scenario::file::Document;
use subflow_scenario::sweep::Plan;

use crate::browser;
use crate::desk::{Served, choose, click, next_results, open, property, wait};
use crate::devtools::Page;

/// Pins a key and sweeps over its values.
fn sweep(page: &mut Page, path: &str) {
    choose(page, "pin", path, "change");
    page.evaluate(&format!(
        "[...document.querySelectorAll('[data-path=\"{path}\"] button')].find((b) => b.textContent === 'sweep').click()"
    ));
}

fn runs(page: &mut Page, count: usize) {
    wait(page, &format!("document.getElementById('status').textContent.startsWith('{count} run')"));
}

#[test]
fn a_swept_pin_is_in_the_link_in_the_files_and_in_the_page_after_a_reload() {
    let Some(mut browser) = browser() else { return };
    let served = Served::start();
    let mut page = open(&mut browser, &served.address);
    sweep(&mut page, "links.wifi.rate");
    runs(&mut page, 6);
    let headline = property(&mut page, "headline", "textContent");
    assert!(headline.as_str().is_some_and(|of| of.starts_with("links.wifi.rate = 5 Mbit/s: file ")), "{headline}");
    page.evaluate("{ window.isOld = true; location.reload() }");
    wait(&mut page, "!window.isOld && document.readyState === 'complete'");
    runs(&mut page, 6);
    click(&mut page, "#open-share");
    wait(&mut page, "document.querySelector('#share[open] pre')?.textContent.includes('#s=')");
    // The TOML has the sweep by itself.
    page.evaluate(
        "{ URL.createObjectURL = (blob) => { blob.text().then((text) => { window.saved = text }); return 'data:,' } }",
    );
    click(&mut page, "#save-toml");
    wait(&mut page, "window.saved !== undefined");
    let toml = page.evaluate("window.saved");
    let document = Document::parse(Path::new("saved.toml"), toml.as_str().expect("a text").to_owned()).expect("TOML");
    assert_eq!(Plan::read(document).expect("a scenario").points.len(), 6, "{toml}");
    let command = page.evaluate("document.querySelector('#share pre').textContent");
    let fragment =
        command.as_str().expect("a command").trim_start_matches("subflow serve '").trim_end_matches('\'').to_owned();
    let html = page.evaluate("fetch(document.getElementById('save-report-html').href).then((answer) => answer.text())");
    let mut other = browser.open_url(&format!("{}{fragment}", served.address));
    runs(&mut other, 6);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("sweep.html");
    std::fs::write(&file, html.as_str().expect("a text")).expect("written");
    let again = Served::start();
    let mut third = open(&mut browser, &again.address);
    click(&mut third, "#open-share");
    wait(&mut third, "document.querySelector('#share[open] pre') !== null");
    third.pick("#picked", &file);
    runs(&mut third, 6);
    assert_eq!((page.complaints().len(), other.complaints().len(), third.complaints().len()), (0, 0, 0));
}

#[test]
fn each_algorithm_is_one_choice_and_a_key_that_the_text_lacks_can_be_pinned() {
    let Some(mut browser) = browser() else { return };
    let served = Served::start();
    let mut page = open(&mut browser, &served.address);
    choose(&mut page, "pin", "flows.file.scheduler", "change");
    let names = page
        .evaluate("[...document.getElementById('pin-flows.file.scheduler').options].map((of) => of.text).join(' ')");
    let names = names.as_str().expect("names");
    assert!(names.contains("ll rr") && !names.contains("min-rtt") && !names.contains("round-robin"), "{names}");
    choose(&mut page, "pin-table", "links.wifi", "change");
    let place = page.evaluate(
        "[...document.getElementById('pin-key').options].find((of) => of.text.startsWith('duplicate')).value",
    );
    choose(&mut page, "pin-key", place.as_str().expect("a place"), "change");
    wait(&mut page, "document.querySelector('[data-path=\"links.wifi.duplicate\"]') !== null");
    let text = property(&mut page, "text", "value");
    assert!(text.as_str().is_some_and(|text| text.contains("duplicate = \"0 %\"")), "{text}");
    next_results(&mut page, 1);
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn the_history_tells_variants_and_sweeps_apart() {
    let Some(mut browser) = browser() else { return };
    let served = Served::start();
    let mut page = open(&mut browser, &served.address);
    click(&mut page, "#compare");
    let last = next_results(&mut page, 1);
    page.evaluate("{ const of = document.getElementById('text'); of.value = of.value.replace('\"lia\"', '\"cubic\"'); of.dispatchEvent(new Event('input')) }");
    let last = next_results(&mut page, last);
    let headline = property(&mut page, "headline", "textContent");
    assert!(headline.as_str().is_some_and(|of| of.starts_with("A: file ") && of.contains("; B: file ")), "{headline}");
    choose(&mut page, "repeat", "5", "change");
    next_results(&mut page, last);
    click(&mut page, "#open-history");
    let said = "[...document.querySelectorAll('#history .runs > li')].map((of) => \
        (of.querySelector('summary') ?? of.querySelector('small')).textContent).join('|')";
    let said = page.evaluate(said);
    let changed = "what has changed since: ";
    let of = [
        "the same as now".to_owned(),
        format!("{changed}seeds and sweeps of the page"),
        format!("{changed}B, seeds and sweeps of the page"),
        format!("{changed}B was added, seeds and sweeps of the page"),
    ];
    assert_eq!(said, of.join("|"));
    click(&mut page, "#history li:last-child .row button");
    runs(&mut page, 1);
    assert_eq!(property(&mut page, "repeat", "value"), "");
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn what_a_hostile_link_contains_is_text_and_each_key_is_pinned_once() {
    let Some(mut browser) = browser() else { return };
    let served = Served::start();
    let mut page = open(&mut browser, &served.address);
    let fragment = page.evaluate(
        "(async () => { const { toFragment } = await import('./share.js'); const text = document.getElementById('text').value; \
         const script = '<img src=x onerror=document.title=1>', pin = { path: 'links.lte.delay', around: '35 ms' }; \
         return toFragment({ a: text.replace(/title +=.*/, `title = \"${script}\"`), name: script, repeat: 1e15, \
         pins: [...Array(1000).fill(pin), { path: script, around: script }, { path: 1 }, null] }); })()",
    );
    let mut other = browser.open_url(&format!("{}{}", served.address, fragment.as_str().expect("a fragment")));
    wait(&mut other, "document.querySelectorAll('#problems .problem').length === 1");
    assert_eq!(other.evaluate("document.querySelectorAll('.pin').length"), 1);
    choose(&mut other, "repeat", "", "change");
    wait(&mut other, "document.getElementById('title').textContent.startsWith('<img')");
    runs(&mut other, 1);
    assert_eq!(other.evaluate("document.querySelectorAll('img').length"), 0);
    assert_eq!((other.complaints().len(), page.complaints().len()), (0, 0));
}

#[test]
fn a_damaged_link_is_said_to_be_one_until_the_text_is_changed() {
    let Some(mut browser) = browser() else { return };
    let served = Served::start();
    let mut page = open(&mut browser, &format!("{}#s=q1Yq", served.address));
    let said = "(document.getElementById('message').hidden ? '' : document.getElementById('message').textContent)";
    wait(&mut page, "document.getElementById('status').textContent.startsWith('1 run')");
    let told = page.evaluate(said);
    assert!(told.as_str().is_some_and(|told| told.contains("no scenario that can be read")), "{told}");
    choose(&mut page, "repeat", "5", "change");
    wait(&mut page, "document.getElementById('status').textContent.startsWith('5 runs')");
    assert_eq!(page.evaluate(said), "");
    page.evaluate("{ location.hash = '#s=%%%' }");
    wait(&mut page, &format!("{said} !== ''"));
    assert_eq!(page.complaints(), [""; 0]);
}
