//! Everything without a mouse: keys alone edit, run, choose views, open dialogs and go through results.

use serde_json::json;

use crate::browser;
use crate::desk::{Served, next_results, open, property, wait};
use crate::devtools::Page;

/// The modifiers of the keys Control and Shift.
const CONTROL: u32 = 2;
const SHIFT: u32 = 8;

/// Presses Tab, or Shift+Tab, until the element with this ID has the focus.
fn tab_to(page: &mut Page, id: &str, modifiers: u32) {
    for _ in 0..80 {
        if page.evaluate("document.activeElement?.id") == id {
            return;
        }
        page.key("Tab", modifiers);
    }
    panic!("Tab does not lead to {id}");
}

fn select(page: &mut Page, part: &str) {
    page.evaluate(&format!(
        "{{ const area = document.getElementById('text'), at = area.value.indexOf({part:?}); \
         area.setSelectionRange(at, at + {part:?}.length) }}"
    ));
}

#[test]
fn keys_alone_edit_run_and_choose() {
    let Some(mut browser) = browser() else { return };
    let served = Served::start();
    let mut page = open(&mut browser, &served.address);
    tab_to(&mut page, "text", 0);
    select(&mut page, "\"50 Mbit/s\"");
    page.insert("\"45 Mbit/s\"");
    let last = next_results(&mut page, 1);
    page.key("Enter", CONTROL);
    next_results(&mut page, last);
    tab_to(&mut page, "tab-text", SHIFT);
    page.key("ArrowRight", 0);
    assert_eq!(page.evaluate("document.activeElement.id"), "tab-picture");
    wait(&mut page, "!document.getElementById('moment').hidden");
    tab_to(&mut page, "instant", 0);
    let before = page.evaluate("document.querySelector('#moment output').textContent");
    (0..50).for_each(|_| page.key("ArrowRight", 0));
    assert_ne!(page.evaluate("document.querySelector('#moment output').textContent"), before, "it is scrubbed");
    page.evaluate("document.querySelector('[data-link=lte]').focus()");
    page.key("Enter", 0);
    assert_eq!(property(&mut page, "link", "open"), true);
    page.key("Escape", 0);
    assert_eq!(property(&mut page, "link", "open"), false);
    tab_to(&mut page, "open-gallery", SHIFT);
    page.key("Enter", 0);
    assert_eq!(property(&mut page, "gallery", "open"), true);
    page.key("Tab", 0);
    page.key("Tab", 0);
    let card = page.evaluate("document.activeElement.dataset.name");
    page.key("Enter", 0);
    wait(&mut page, "!document.getElementById('gallery').open");
    let shared = page.evaluate("JSON.parse(sessionStorage.getItem('texts')).name");
    assert_eq!(shared, json!(card), "the card is open");
    assert_eq!(page.complaints(), [""; 0]);
}
