//! All text of all kinds of figures can be read, at two widths, in light and dark.

use serde_json::Value;

use crate::desk::Desk;
use crate::devtools::Page;
use crate::{browser, screenshots};

/// What cannot be read on the page, in words.
const PROBLEMS: &str = r#"{
    const problems = [];
    const seen = (element) => element.offsetParent !== null && element.getBoundingClientRect().width > 0;
    const all = (root, selector) => [...root.querySelectorAll(selector)].filter(seen);
    const right = document.documentElement.clientWidth;
    if (document.scrollingElement.scrollWidth > innerWidth) problems.push('the page scrolls sideways');

    for (const figure of all(document, 'figure')) {
        const say = (what) => problems.push(`${figure.querySelector('h4').textContent}: ${what}`);
        const ticks = all(figure, '.x-ticks span');
        const boxes = ticks.map((tick) => tick.getBoundingClientRect());
        ticks.forEach((tick, n) => {
            if (n && boxes[n].left < boxes[n - 1].right + 2) say(`the tick ${tick.textContent} meets the one before`);
            if (boxes[n].left < 0 || boxes[n].right > right) say(`the tick ${tick.textContent} is cut`);
        });
        const zero = [...figure.querySelectorAll('.x-ticks span')].find((tick) => tick.textContent === '0');
        if (zero && figure.querySelector('.x-ticks').offsetParent && !seen(zero)) say('the tick at zero is hidden');
        const titles = all(figure, '.x-title, .y-title, .axes');
        if (titles.some((title) => !title.textContent.trim())) say('an axis has no title');
        for (const label of all(figure, '.labels span, .key, .x-title, .y-title')) {
            if (label.scrollWidth > label.clientWidth + 1 && getComputedStyle(label).display !== 'inline') {
                say(`${label.textContent} is cut`);
            }
        }
        for (const panel of all(figure, '.panel small')) {
            const [low, high, scale] = figure.querySelector('.plot').dataset.x.split(' ');
            const frame = panel.getBoundingClientRect();
            for (const label of scale === 'linear' ? panel.children : []) {
                const at = frame.left + (label.textContent - low) / (high - low) * frame.width;
                const box = label.getBoundingClientRect();
                if (at < box.left - 1 || at > box.right + 1) say(`${label.textContent} is not at its place`);
            }
        }
    }

    // WCAG 2.2, criterion 1.4.3.
    const channels = (colour) => {
        const numbers = colour.match(/[\d.]+/g).map(Number).slice(0, 3);
        return colour.startsWith('color(') ? numbers : numbers.map((number) => number / 255);
    };
    const luminance = (colour) => {
        const linear = (c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
        const [red, green, blue] = channels(colour).map(linear);
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    for (const cell of all(document, '.heat td.shade')) {
        const style = getComputedStyle(cell);
        const [a, b] = [luminance(style.color), luminance(style.backgroundColor)].sort((a, b) => b - a);
        const contrast = (a + 0.05) / (b + 0.05);
        if (contrast < 4.45) problems.push(`${cell.dataset.tip} has a contrast of ${contrast.toFixed(2)}`);
    }
    for (const menu of all(document, 'select')) {
        const width = menu.offsetWidth;
        menu.style.maxWidth = 'none';
        if (menu.offsetWidth > width) problems.push(`the menu ${menu.selectedOptions[0].textContent} is cut`);
        menu.style.maxWidth = '';
    }
    problems
}"#;

/// Fails if text on a report cannot be read. `name` is that of the screenshots.
fn assert_legible(page: &mut Page, name: &str) {
    for (device, width) in [("phone", 500), ("desktop", 1280)] {
        for scheme in ["light", "dark"] {
            page.look(width, scheme);
            page.screenshot(&screenshots().join(format!("{name}-{device}-{scheme}.png")));
            assert_eq!(page.evaluate(PROBLEMS), Value::Array(Vec::new()), "{name}, {width} pixels, {scheme}");
        }
    }
    assert_eq!(page.complaints(), [""; 0]);
}

fn choose_first_baseline(page: &mut Page) {
    page.evaluate(
        "for (const menu of document.querySelectorAll('[data-baseline]')) {
            menu.selectedIndex = 1; menu.dispatchEvent(new Event('change')) }",
    );
}

const WIFI_LTE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/wifi-lte.toml");

#[test]
fn figures_of_names_can_be_read_with_and_without_a_baseline() {
    let Some(mut browser) = browser() else { return };
    let desk = Desk::new();
    let sweep = r#"sweep = {
        "flows.file.scheduler" = ["rr", "ll", "redundant", "linux-default"],
        "flows.file.congestion" = ["lia", "cubic", "wvegas", "reno"],
        "links.wifi.loss" = ["0.1 %", "2 %", "5 %"] }"#;
    desk.run(&[WIFI_LTE, "--set", sweep, "--set", "duration=2 s", "--repeat", "2"]);
    let mut page = browser.open(&desk.report());
    assert!(page.evaluate("document.querySelectorAll('.panel small b').length").as_u64().is_some_and(|ends| ends > 8));
    assert_legible(&mut page, "three-names");
    choose_first_baseline(&mut page);
    assert_legible(&mut page, "three-names-changes");
}

#[test]
fn figures_over_a_number_can_be_read_with_and_without_a_baseline() {
    let Some(mut browser) = browser() else { return };
    let desk = Desk::new();
    let sweep = ["--sweep", "links.wifi.loss=0 %,0.5 %,1 %,4 %"];
    desk.run(&[&[WIFI_LTE, "--set", "duration=2 s", "--repeat", "5"], &sweep[..]].concat());
    let mut page = browser.open(&desk.report());
    assert_legible(&mut page, "one-number");
    choose_first_baseline(&mut page);
    assert_legible(&mut page, "one-number-changes");
}

#[test]
fn figures_of_designs_events_and_associations_can_be_read() {
    let Some(mut browser) = browser() else { return };
    for (scenario, more) in [("path-space", "duration=4 s"), ("path-failure", "seed=2"), ("sctp-two-paths", "seed=2")] {
        let desk = Desk::new();
        let path = format!("{}/../../scenarios/{scenario}.toml", env!("CARGO_MANIFEST_DIR"));
        desk.run(&[&path, "--set", more, "--repeat", "2"]);
        assert_legible(&mut browser.open(&desk.report()), scenario);
    }
}
