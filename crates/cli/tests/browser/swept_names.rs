//! Heat maps and bars over swept names, and the choice of a baseline.

use serde_json::Value;

use crate::desk::Desk;
use crate::devtools::Page;
use crate::{browser, screenshots};

/// 3 × 4 × 2 points with three runs each: names in two dimensions, a number in the third.
const SWEEP: &str = r#"sweep = {
    "flows.file.congestion" = ["lia", "cubic", "olia"],
    "flows.file.scheduler" = ["rr", "ll", "ecf", "redundant"],
    "links.wifi.loss" = ["0.1 %", "2 %"] }"#;

/// All that is drawn of the quantity with this title: numbers, colours, marks, ticks, tooltips, titles and captions.
fn drawn(page: &mut Page) -> Value {
    page.evaluate(
        "{ const block = document.querySelector('.compared'); const all = (selector, of) =>
        [...block.querySelectorAll(selector)].map(of);
        const marks = (g) => [...g.children].map((mark) => [...mark.attributes].map((a) => a.name + '=' + a.value).sort());
        ({ cells: all('td', (td) => [td.textContent, td.className, td.dataset.tip,
            getComputedStyle(td).backgroundColor]),
        bars: all('g[data-number]', marks),
        tips: all('.targets span', (span) => span.dataset.tip), values: all('.values span', (span) => span.textContent),
        ticks: all('.x-ticks', (ticks) => ticks.textContent), titles: all('.x-title', (title) => title.textContent),
        scales: all('.scale b', (end) => end.textContent), captions: all('figcaption p', (p) => p.textContent) }) }",
    )
}

fn choose(page: &mut Page, menu: &str, text: &str) {
    page.evaluate(&format!(
        "{{ const menu = document.querySelector('.compared [{menu}]');
        menu.value = [...menu.options].find((option) => option.textContent === '{text}').value;
        menu.dispatchEvent(new Event('change')) }}"
    ));
}

#[test]
fn a_baseline_that_is_chosen_in_the_page_is_drawn_like_that_of_the_command_line() {
    let Some(mut browser) = browser() else { return };
    let desk = Desk::new();
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/wifi-lte.toml");
    let arguments = [scenario, "--set", SWEEP, "--set", "duration=2 s", "--repeat", "3"];
    desk.run(&arguments);
    let values = drawn(&mut browser.open(&desk.report()));
    let baseline = ["--baseline", "scheduler=ll", "--force"];
    let results = desk.run(&[&arguments[..], &baseline[..]].concat());
    let mut page = browser.open(&desk.report());
    let changes = drawn(&mut page);
    assert!(values != changes && changes["captions"][0].as_str().is_some_and(|text| text.contains("scheduler ll")));

    choose(&mut page, "data-baseline", "nothing: the values themselves");
    assert_eq!(drawn(&mut page), values);
    choose(&mut page, "data-baseline", "ll");
    assert_eq!(drawn(&mut page), changes);

    // A difference in Mbit/s, as in the JSON.
    choose(&mut page, "data-as", "difference in Mbit/s");
    let differences = results["baseline"]["differences"].as_array().expect("differences");
    let first = differences.iter().find(|row| {
        let parameters = &row["parameters"];
        let is = |path: &str, value: &str| parameters[path] == value;
        row["metric"] == "goodput_mbps" && is("flows.file.scheduler", "rr") && is("links.wifi.loss", "0.1 %")
    });
    let difference = first.expect("the first row")["difference"].as_f64().expect("a number");
    let cell = page.evaluate("document.querySelector('.compared td').textContent");
    let shown: f64 = cell.as_str().expect("text").replace('\u{2212}', "-").parse().expect("a number");
    assert!((shown - difference).abs() <= 0.005 * difference.abs(), "{shown} {difference}");
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn heat_maps_and_bars_fit_phones_and_screens_and_are_read_with_the_keyboard() {
    let Some(mut browser) = browser() else { return };
    let desk = Desk::new();
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/wifi-lte.toml");
    desk.run(&[scenario, "--set", SWEEP, "--set", "duration=2 s", "--repeat", "2", "--baseline", "scheduler=ll"]);
    let mut page = browser.open(&desk.report());
    page.evaluate("document.querySelector('.heat').focus()");
    ["ArrowRight", "ArrowRight", "ArrowDown"].iter().for_each(|key| page.press(key, ""));
    let tip = page.evaluate("document.getElementById('tip').textContent");
    assert!(tip.as_str().is_some_and(|tip| tip.starts_with("ll, cubic: 0")), "the second row and column: {tip}");
    for (device, width) in [("phone", 400), ("desktop", 1280)] {
        for scheme in ["light", "dark"] {
            page.look(width, scheme);
            page.evaluate("document.getElementById('comparison').scrollIntoView()");
            let overflow = page.evaluate("document.scrollingElement.scrollWidth - innerWidth");
            assert!(overflow.as_f64().is_some_and(|overflow| overflow <= 0.0), "{device}: {overflow} too wide");
            page.screenshot(&screenshots().join(format!("names-{device}-{scheme}.png")));
        }
    }
    assert_eq!(page.complaints(), [""; 0]);
}
