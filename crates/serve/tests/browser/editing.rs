//! Typing: errors and their ends, completion, undo, cancelling, reloading, and a server that ends.

use crate::browser;
use crate::desk::{Served, click, next_results, open, property, type_over, wait};
use crate::devtools::Page;

#[test]
fn an_error_is_shown_at_its_place_as_one_types_and_goes_when_it_is_mended() {
    let Some(mut browser) = browser() else { return };
    let served = Served::start();
    let mut page = open(&mut browser, &served.address);
    type_over(&mut page, "\"lia\"", "\"lya\"");
    wait(&mut page, "document.querySelectorAll('#problems .problem').length === 1");
    let said = property(&mut page, "problems", "innerText");
    assert!(said.as_str().is_some_and(|said| said.contains("did you mean \"lia\"?")), "{said}");
    assert_eq!(page.evaluate("document.querySelector('.code-area pre .problem').textContent"), "\"lya\"");
    assert_eq!(page.evaluate("document.querySelectorAll('.gutter .problem').length"), 1);
    click(&mut page, "#problems button");
    let selected = "{ const t = document.getElementById('text'); t.value.slice(t.selectionStart, t.selectionEnd) }";
    assert_eq!(page.evaluate(selected), "\"lya\"", "a click leads to the place");
    type_over(&mut page, "\"lya\"", "\"olia\"");
    wait(&mut page, "document.querySelectorAll('#problems .problem').length === 0");
    next_results(&mut page, 1);
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn keys_and_values_are_completed_and_explained() {
    let Some(mut browser) = browser() else { return };
    let served = Served::start();
    let mut page = open(&mut browser, &served.address);
    type_over(&mut page, "\"lia\"", "\"bal");
    let labels = "[...document.querySelectorAll('#completion b')].map((of) => of.textContent).join(' ')";
    wait(&mut page, &format!("{labels} === 'balia'"));
    page.press("Enter", "");
    let text = property(&mut page, "text", "value");
    assert!(text.as_str().is_some_and(|text| text.contains("= \"balia\"")), "{text}");
    type_over(&mut page, "scheduler    = \"ll\"", "sched");
    wait(&mut page, &format!("{labels} === 'scheduler'"));
    page.press("Tab", "");
    wait(&mut page, &format!("{labels}.includes('blest')"));
    page.press("Escape", "");
    assert_eq!(page.evaluate("document.getElementById('completion').hidden"), true);
    page.press("ArrowLeft", "");
    let help = page.evaluate("document.querySelector('.key-help').innerText");
    assert!(help.as_str().is_some_and(|help| help.contains("flows.file.scheduler")), "{help}");
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn the_numbers_of_lines_stay_beside_their_lines_at_the_end_of_the_text() {
    let Some(mut browser) = browser() else { return };
    let served = Served::start();
    let mut page = open(&mut browser, &served.address);
    // The scrollbar of a long line takes room of the text, but not of the numbers. This browser shows none: a border does.
    let scrolled = "(async () => { const area = document.getElementById('text'); \
         area.style.borderBottom = '20px solid'; area.scrollTop = area.scrollHeight; \
         await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50))); \
         return [area.scrollTop, document.querySelector('.gutter').scrollTop]; })()";
    let at = page.evaluate(scrolled);
    assert!(at[0].as_f64().is_some_and(|top| top > 0.0) && at[0] == at[1], "{at}");
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn changes_are_undone_and_the_text_survives_a_reload() {
    let Some(mut browser) = browser() else { return };
    let served = Served::start();
    let mut page = open(&mut browser, &served.address);
    let before = property(&mut page, "text", "value");
    type_over(&mut page, "\"50 Mbit/s\"", "\"51 Mbit/s\"");
    let changed = property(&mut page, "text", "value");
    click(&mut page, "#undo");
    assert_eq!(property(&mut page, "text", "value"), before);
    click(&mut page, "#redo");
    assert_eq!(property(&mut page, "text", "value"), changed);
    next_results(&mut page, 1);
    page.evaluate("{ window.isOld = true; location.reload() }");
    wait(&mut page, "!window.isOld && document.getElementById('frames')?.dataset.shown > 1");
    assert_eq!(property(&mut page, "text", "value"), changed);
    // In another tab of its own the page begins with the scenario of the command.
    let mut other = browser.open_url(&served.address);
    wait(&mut other, "document.getElementById('frames').dataset.shown > 0");
    assert_eq!(property(&mut other, "text", "value"), before);
}

#[test]
fn figures_of_a_text_that_has_changed_since_stay_marked() {
    let Some(mut browser) = browser() else { return };
    let served = Served::start();
    let mut page = open(&mut browser, &served.address);
    // Each report waits until it is let through.
    page.evaluate(
        "{ const { fetch } = window; window.fetch = async (address, options) => { \
         const answer = await fetch(address, options); \
         if (String(address).endsWith('/content')) await new Promise((done) => { window.pass = done }); return answer; } }",
    );
    let pass = |page: &mut Page| {
        wait(page, "window.pass !== undefined");
        page.evaluate("{ const { pass } = window; window.pass = undefined; pass() }");
    };
    let marked = "document.getElementById('frames').classList.contains('old')";
    type_over(&mut page, "\"50 Mbit/s\"", "\"51 Mbit/s\"");
    wait(&mut page, "window.pass !== undefined");
    click(&mut page, "#live");
    type_over(&mut page, "\"51 Mbit/s\"", "\"52 Mbit/s\"");
    wait(&mut page, "document.getElementById('status').textContent.startsWith('changed')");
    pass(&mut page);
    wait(&mut page, "document.getElementById('frames').dataset.shown === '2'");
    assert_eq!(page.evaluate(marked), true, "these are the figures of 51 Mbit/s");
    page.key("Enter", 2);
    pass(&mut page);
    wait(&mut page, "document.getElementById('frames').dataset.shown === '3'");
    assert_eq!(page.evaluate(marked), false);
    assert_eq!(page.complaints(), [""; 0]);
}
