//! Each view of the page for everyone: names, references and contrast, at the width of a phone, a laptop and a large
//! screen, light and dark; and the figures behind pictures, as tables.

use serde_json::json;

use crate::browser;
use crate::desk::{Served, click, open, wait};
use crate::devtools::Page;
use crate::looks::screenshots;

/// What is not as it must be, in words.
const RULES: &str = include_str!("rules.js");

/// The views with what leads from the one before to it, and what is true when it is there.
const VIEWS: [(&str, &str, &str); 9] = [
    (
        "text",
        "{ const of = document.getElementById('pin'); of.value = 'links.lte.delay'; of.dispatchEvent(new Event('change')) }",
        "document.querySelector('.pin') !== null",
    ),
    ("network", "document.getElementById('tab-picture').click()", "!document.getElementById('moment').hidden"),
    ("link", "document.querySelector('[data-link=lte]').dispatchEvent(new MouseEvent('click'))", "link.open"),
    (
        "gallery",
        "link.close(); document.getElementById('open-gallery').click()",
        "!!document.querySelector('.sketch svg')",
    ),
    (
        "history",
        "document.querySelector('dialog[open]').close(); document.getElementById('open-history').click()",
        "document.getElementById('history').open",
    ),
    (
        "share",
        "document.querySelector('dialog[open]').close(); document.getElementById('open-share').click()",
        "document.getElementById('share').open",
    ),
    (
        "variants",
        "document.querySelector('dialog[open]').close(); document.getElementById('tab-text').click(); \
         document.getElementById('compare').click()",
        "document.getElementById('status').textContent.startsWith('2 runs')",
    ),
    (
        "lesson",
        "document.getElementById('close-variant').click(); document.getElementById('open-lessons').click()",
        "document.querySelectorAll('#measured tbody tr').length === 1",
    ),
    (
        "problem",
        "{ const area = document.getElementById('text'), at = area.value.indexOf('\"50 Mbit/s\"'); area.focus(); \
         area.setSelectionRange(at, at + 11); document.execCommand('insertText', false, '\"50 Mbat/s\"') }",
        "document.querySelectorAll('#problems .problem').length === 1",
    ),
];

/// Applies the rules at all widths, light and dark.
pub(crate) fn assert_usable(page: &mut Page, view: &str) {
    for width in [390, 1400, 2560] {
        for scheme in ["light", "dark"] {
            page.look(width, scheme);
            page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100)))");
            page.screenshot(&screenshots().join(format!("view-{view}-{width}-{scheme}.png")));
            assert_eq!(page.evaluate(RULES), json!([]), "{view}, {width} pixels, {scheme}");
            let content = page.evaluate("document.scrollingElement.scrollWidth").as_u64();
            assert!(content.is_some_and(|content| content <= width.into()), "{view}: {content:?} of {width} pixels");
        }
    }
}

#[test]
fn every_view_has_names_contrast_and_keys() {
    let Some(mut browser) = browser() else { return };
    let served = Served::start();
    let mut page = open(&mut browser, &served.address);
    for (view, lead, is_there) in VIEWS {
        page.evaluate(lead);
        wait(&mut page, is_there);
        if view != "problem" {
            wait(&mut page, "document.getElementById('frames').getAttribute('aria-busy') === 'false'");
        }
        assert_usable(&mut page, view);
    }
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn the_report_has_names_contrast_and_the_numbers_of_each_figure_as_a_table() {
    let Some(mut browser) = browser() else { return };
    let served = Served::start();
    open(&mut browser, &served.address);
    let mut report = browser.open_url(&format!("{}results/1/frame", served.address));
    let tables = "document.querySelectorAll('.numbers table').length";
    let figures = report.evaluate("document.querySelectorAll('figure').length");
    report.evaluate("document.querySelectorAll('[aria-label^=\"Show the numbers\"]').forEach((of) => of.click())");
    assert_eq!(report.evaluate(tables), figures);
    let empty = "[...document.querySelectorAll('.numbers table')].filter((of) => of.rows.length < 2).length";
    assert_eq!(report.evaluate(empty), 0, "each has its numbers");
    assert_usable(&mut report, "report");
    click(&mut report, "[aria-label^=\"Show the numbers\"]");
    assert_eq!(report.evaluate(tables).as_u64(), figures.as_u64().map(|all| all - 1), "and goes again");
    assert_eq!(report.complaints(), [""; 0]);
}

#[test]
fn what_the_reader_has_chosen_in_a_figure_stays_when_the_figures_renew() {
    let Some(mut browser) = browser() else { return };
    let served = Served::start();
    let mut page = open(&mut browser, &served.address);
    let content = page.evaluate("fetch('results/1/content').then((answer) => answer.text())");
    let mut report = browser.open_url(&format!("{}results/1/frame", served.address));
    report.evaluate(
        "{ window.figure = document.querySelector('figure.curves'); figure.querySelector('button.key').click(); \
         figure.querySelector('.export button').click() }",
    );
    // Alone, the frame is its own parent, and takes from itself what it takes from the page.
    report.evaluate(&format!("postMessage({{ subflow: 'page', theme: 'dark', content: {content}, number: 7 }}, '*')"));
    wait(&mut report, "document.documentElement.dataset.theme === 'dark' && !figure.isConnected");
    let pressed = "document.querySelector('figure.curves button.key').getAttribute('aria-pressed')";
    assert_eq!(report.evaluate(pressed), "false", "the curve is still hidden");
    assert_eq!(report.evaluate("document.querySelectorAll('.numbers').length"), 1, "its table is still there");
    assert_eq!(report.complaints(), [""; 0]);
}
