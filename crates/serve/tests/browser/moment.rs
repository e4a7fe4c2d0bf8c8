//! The instant of a run beside the picture: it is always that of what is in sight.

use subflow_serve::{Opened, Source};

use crate::browser;
use crate::desk::{Served, choose, click, next_results, open, type_over, wait};
use crate::devtools::Page;

/// The window of a subflow in the table.
const WINDOWS: &str =
    "[...document.querySelectorAll('#moment tbody tr')].map((row) => row.cells[2].textContent).join(' ')";

/// Changes the text, which is not in sight beside the picture.
fn change(page: &mut Page, part: &str, by: &str) {
    click(page, "#tab-text");
    type_over(page, part, by);
    click(page, "#tab-picture");
}

#[test]
fn the_instant_is_of_the_variant_in_sight_and_of_the_run_that_is_chosen() {
    let Some(mut browser) = browser() else { return };
    let served = Served::start();
    let mut page = open(&mut browser, &served.address);
    click(&mut page, "#tab-picture");
    wait(&mut page, "!document.getElementById('moment').hidden");
    assert_eq!(page.evaluate("document.getElementById('instant-run').checkVisibility()"), false, "there is one run");
    click(&mut page, "#compare");
    let last = next_results(&mut page, 1);
    change(&mut page, "\"35 ms\"", "\"200 ms\"");
    choose(&mut page, "repeat", "5", "change");
    next_results(&mut page, last);
    wait(&mut page, "document.getElementById('status').textContent.startsWith('10 runs')");
    let chosen = "document.getElementById('instant-run').selectedOptions[0]?.text";
    let at = "{ const of = document.getElementById('instant'); of.value = 250; of.dispatchEvent(new Event('input')) }";
    wait(&mut page, &format!("{chosen} === 'B, seed 1' && !document.querySelector('#moment.old')"));
    page.evaluate(at);
    let of_b = page.evaluate(WINDOWS);
    click(&mut page, "#variant-a");
    wait(&mut page, &format!("{chosen} === 'A, seed 1' && !document.querySelector('#moment.old')"));
    page.evaluate(at);
    assert_ne!(page.evaluate(WINDOWS), of_b);
    page.evaluate(
        "{ const of = document.getElementById('instant-run'); \
         of.value = [...of.options].find(({ text }) => text === 'B, seed 3').value; of.dispatchEvent(new Event('change')) }",
    );
    wait(&mut page, &format!("{chosen} === 'B, seed 3' && !document.querySelector('#moment.old')"));
    choose(&mut page, "repeat", "10", "change");
    wait(&mut page, "document.getElementById('status').textContent.startsWith('20 runs')");
    wait(&mut page, "document.getElementById('instant-run').length === 20");
    assert_eq!(page.evaluate(chosen), "B, seed 3", "it has another number now");
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn the_instant_of_an_earlier_text_is_marked_and_goes_when_there_is_none() {
    let Some(mut browser) = browser() else { return };
    let served = Served::start();
    let mut page = open(&mut browser, &served.address);
    click(&mut page, "#tab-picture");
    wait(&mut page, "!document.getElementById('moment').hidden && !document.querySelector('#moment.old')");
    change(&mut page, "\"lia\"", "\"lya\"");
    wait(&mut page, "document.querySelectorAll('#problems .problem').length === 1");
    assert_eq!(page.evaluate("document.querySelector('#moment.old') !== null"), true);
    change(&mut page, "\"lya\"", "\"lia\"");
    wait(&mut page, "!document.querySelector('#moment.old')");
    // So short a run has nothing over time.
    change(&mut page, "\"10 s\"", "\"1 us\"");
    wait(&mut page, "document.getElementById('moment').hidden");
    assert_eq!(page.evaluate("document.querySelectorAll('#picture .queue').length"), 0);
    change(&mut page, "\"1 us\"", "\"10 s\"");
    wait(&mut page, "!document.getElementById('moment').hidden");
    wait(&mut page, "document.querySelectorAll('#picture .queue').length === 3");
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn a_flow_with_one_path_has_its_window_and_its_packets() {
    let Some(mut browser) = browser() else { return };
    let text = include_str!("../../src/gallery/single-tcp.toml");
    let served = Served::begin_with(Source::Scenario(Opened::without_file("single-tcp", text)));
    let mut page = open(&mut browser, &served.address);
    click(&mut page, "#tab-picture");
    wait(&mut page, "document.querySelector('#packets svg') !== null");
    let table = page.evaluate("document.querySelector('#moment table').innerText");
    let table = table.as_str().expect("a text");
    assert!(table.starts_with("flow") && table.contains("bulk"), "{table}");
    let window = page.evaluate(WINDOWS);
    assert!(window.as_str().is_some_and(|of| of.parse::<f64>().is_ok_and(|of| of >= 1.0)), "{window}");
    assert_eq!(page.complaints(), [""; 0]);
}

/// The classes with the colour that something of this name has in the legend of the first figure of the report that has it.
fn in_report(page: &mut Page, number: u64, name: &str) -> String {
    let found = page.evaluate(&format!(
        "fetch('results/{number}/content').then((of) => of.text()).then((text) => \
         new RegExp('class=\"key ([^\"]*)\"[^>]*><i></i>' + {name:?} + '<').exec(text)?.[1])"
    ));
    found.as_str().unwrap_or_else(|| panic!("{name} is in no legend")).to_owned()
}

#[test]
fn a_path_has_one_colour_in_the_report_the_picture_and_the_table() {
    let Some(mut browser) = browser() else { return };
    // The connection begins on the second interface, so its first subflow is that of LTE.
    let text = include_str!("../../src/gallery/wifi-lte.toml");
    let text = text.replace("\"phone\"\n", "\"phone.lte\"\n");
    let served = Served::begin_with(Source::Scenario(Opened::without_file("lte-first", &text)));
    let mut page = open(&mut browser, &served.address);
    click(&mut page, "#tab-picture");
    wait(&mut page, "document.querySelector('#packets svg') !== null");
    let class = |page: &mut Page, of: &str| {
        let class = page.evaluate(&format!("document.querySelector({of:?}).getAttribute('class')"));
        class.as_str().expect("an element with a class").to_owned()
    };
    for (link, subflow) in [("lte", "phone.lte-server.eth"), ("wifi", "phone.wifi-server.eth")] {
        let colour = in_report(&mut page, 1, &format!("file: {subflow}"));
        assert_eq!(colour, if link == "lte" { "c0" } else { "c1" });
        assert_eq!(class(&mut page, &format!("[data-link={link}] .link")), format!("link {colour}"));
        let row = format!("#moment tr:has([data-of='file/{}'])", usize::from(link == "wifi"));
        assert_eq!(class(&mut page, &format!("{row} .dot")), format!("dot {colour}"));
        assert_eq!(page.evaluate(&format!("document.querySelector({row:?}).cells[0].textContent")), subflow);
        page.evaluate(&format!("document.querySelector({row:?}).querySelector('button').click()"));
        assert_eq!(class(&mut page, "#packets svg"), format!("packets {colour}"));
    }
    let core = in_report(&mut page, 1, "core.up");
    assert_eq!(class(&mut page, "[data-link=core] .link"), format!("link {core}"), "both paths have it");
    assert_eq!(page.complaints(), [""; 0]);
}
