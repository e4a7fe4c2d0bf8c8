//! Sliders, variants, the picture, history, links and files.

use crate::browser;
use crate::desk::{Served, click, next_results, open, property, type_over, wait};

const PIN: &str = "document.querySelector('[data-path=\"links.wifi.rate\"]')";

#[test]
fn a_slider_of_a_pinned_key_changes_the_text_and_the_figures_follow() {
    let Some(mut browser) = browser() else { return };
    let served = Served::start();
    let mut page = open(&mut browser, &served.address);
    page.evaluate("{ const of = document.getElementById('pin'); of.value = 'links.wifi.rate'; of.dispatchEvent(new Event('change')) }");
    page.evaluate(
        "new MutationObserver(() => { window.took = performance.now() - window.moved }) \
         .observe(document.getElementById('frames'), { attributeFilter: ['data-shown'] })",
    );
    let (mut last, mut took) = (1, Vec::new());
    for step in 0..10 {
        page.evaluate(&format!(
            "{{ const range = {PIN}.querySelector('input'); range.focus(); range.value = {}; \
             window.moved = performance.now(); range.dispatchEvent(new Event('input')) }}",
            4 * step
        ));
        last = next_results(&mut page, last);
        took.push(page.evaluate("window.took").as_f64().expect("milliseconds"));
    }
    // How long it takes depends on what else the machine does, so nothing is asserted.
    took.sort_by(f64::total_cmp);
    eprintln!("from the slider to new figures: median {:.0} ms of {}", took[took.len() / 2], took.len());
    let shown = page.evaluate(&format!("{PIN}.querySelector('output').textContent"));
    let text = property(&mut page, "text", "value");
    let written = format!("\"{}\"", shown.as_str().expect("a value"));
    assert!(text.as_str().is_some_and(|text| text.contains(&written)) && written != "\"50 Mbit/s\"", "{written}");
    page.evaluate(&format!("[...{PIN}.querySelectorAll('button')].find((b) => b.textContent === 'sweep').click()"));
    wait(&mut page, "document.getElementById('status').textContent.startsWith('6 runs')");
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn two_variants_are_edited_and_compared() {
    let Some(mut browser) = browser() else { return };
    let served = Served::start();
    let mut page = open(&mut browser, &served.address);
    click(&mut page, "#compare");
    let last = next_results(&mut page, 1);
    type_over(&mut page, "\"lia\"", "\"cubic\"");
    page.evaluate(
        "{ const of = document.getElementById('repeat'); of.value = '5'; of.dispatchEvent(new Event('change')) }",
    );
    next_results(&mut page, last);
    wait(&mut page, "document.getElementById('status').textContent.startsWith('10 runs')");
    let note = page.evaluate("document.querySelector('#variants .note').title");
    assert_eq!(note, "flows.file.congestion: \"lia\" → \"cubic\"");
    for width in [390, 1400, 2560] {
        page.look(width, "light");
        let tops =
            page.evaluate("['undo', 'redo'].map((id) => document.getElementById(id).getBoundingClientRect().top)");
        assert_eq!(tops[0], tops[1], "they are in one line, {width} pixels");
    }
    click(&mut page, "#variant-a");
    let text = property(&mut page, "text", "value");
    assert!(text.as_str().is_some_and(|text| text.contains("\"lia\"")), "{text}");
    click(&mut page, "#close-variant");
    wait(&mut page, "document.getElementById('status').textContent.startsWith('5 runs')");
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn a_link_of_the_picture_is_edited_and_a_node_is_moved() {
    let Some(mut browser) = browser() else { return };
    let served = Served::start();
    let mut page = open(&mut browser, &served.address);
    click(&mut page, "#tab-picture");
    assert_eq!(page.evaluate("document.querySelectorAll('#view-picture .node').length"), 3);
    let (left, top, width, height) = page.rectangle("[data-name=internet]");
    let place = "document.querySelector('[data-name=internet]').getAttribute('transform')";
    let before = page.evaluate(place);
    let middle = (left + width / 2.0, top + height / 2.0);
    page.drag(middle, (middle.0 + 30.0, middle.1 + 40.0));
    assert_ne!(page.evaluate(place), before);
    page.evaluate("document.querySelector('[data-link=lte]').dispatchEvent(new MouseEvent('click'))");
    for (id, value) in [("link-delay", "80 ms"), ("link-loss", "2 %")] {
        page.evaluate(&format!(
            "{{ const of = document.getElementById('{id}'); of.value = '{value}'; of.dispatchEvent(new Event('change')) }}"
        ));
    }
    let text = property(&mut page, "text", "value");
    let text = text.as_str().expect("a text");
    let lte = text.split("[links.lte]").nth(1).and_then(|of| of.split("\n[").next()).expect("a link");
    assert!(lte.contains("\"80 ms\"") && lte.contains("loss = \"2 %\""), "{lte}");
    next_results(&mut page, 1);
    wait(&mut page, "document.querySelector('#view-picture').textContent.includes('80 ms')");
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn a_shared_scenario_opens_elsewhere_and_history_goes_back() {
    let Some(mut browser) = browser() else { return };
    let served = Served::start();
    let mut page = open(&mut browser, &served.address);
    type_over(&mut page, "\"50 Mbit/s\"", "\"49 Mbit/s\"");
    let changed = property(&mut page, "text", "value");
    let last = next_results(&mut page, 1);
    click(&mut page, "#open-share");
    wait(&mut page, "document.querySelector('#share[open] pre')?.textContent.includes('#s=')");
    let command = page.evaluate("document.querySelector('#share pre').textContent");
    let command = command.as_str().expect("a command").to_owned();
    let token = served.address.trim_end_matches('/').rsplit('/').next().expect("a token");
    assert!(command.starts_with("subflow serve '#s=") && !command.contains(token), "{command}");
    let shown = property(&mut page, "share", "innerText");
    assert!(shown.as_str().is_some_and(|of| of.contains("subflow run wifi-lte.toml") && of.contains("Scenario.read")));
    let files = page.evaluate(
        "Promise.all([...document.querySelectorAll('#share a.button')].map(async ({ href }) => (await fetch(href)).status))",
    );
    let files = files.as_array().expect("a list");
    assert!(files.len() >= 3 && files.iter().all(|status| status == 200), "{files:?}");
    let fragment = command.trim_start_matches("subflow serve '").trim_end_matches('\'');
    let mut other = browser.open_url(&format!("{}{fragment}", served.address));
    wait(&mut other, "document.getElementById('frames').dataset.shown > 0");
    assert_eq!(property(&mut other, "text", "value"), changed);
    click(&mut page, "#share .row button");
    click(&mut page, "#open-history");
    let entries = "document.querySelectorAll('#history .runs > li').length";
    assert_eq!(page.evaluate(entries), 2);
    page.evaluate("[...document.querySelectorAll('#history li:last-child button')].at(-1).click()");
    let text = property(&mut page, "text", "value");
    assert!(text.as_str().is_some_and(|text| text.contains("\"50 Mbit/s\"")), "{text}");
    next_results(&mut page, last);
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn an_instant_of_the_run_is_scrubbed_on_the_picture() {
    let Some(mut browser) = browser() else { return };
    let served = Served::start();
    let mut page = open(&mut browser, &served.address);
    click(&mut page, "#tab-picture");
    wait(&mut page, "!document.getElementById('moment').hidden");
    let queue = "document.querySelector('[data-link=lte] .queue').textContent";
    let mut seen = Vec::new();
    for step in [0, 100, 300, 500] {
        page.evaluate(&format!(
            "{{ const of = document.getElementById('instant'); of.value = {step}; of.dispatchEvent(new Event('input')) }}"
        ));
        seen.push(page.evaluate(queue).as_str().expect("a text").to_owned());
    }
    assert!(seen.iter().all(|text| text.starts_with("queue ")) && seen[1] != seen[0], "{seen:?}");
    let rows = page.evaluate("document.querySelectorAll('#moment tbody tr').length");
    assert_eq!(rows, 2, "a row for each subflow");
    click(&mut page, "#play");
    wait(&mut page, "document.getElementById('instant').value > 20");
    click(&mut page, "#play");
    assert_eq!(property(&mut page, "play", "textContent"), "play");
    assert_eq!(page.complaints(), [""; 0]);
}
