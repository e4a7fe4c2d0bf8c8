//! What a reader takes out of a report: files of a figure, and events, legends and tables as they stand on the page.

use serde_json::Value;

use crate::desk::Desk;
use crate::devtools::Page;
use crate::{browser, screenshots};

/// A change of the scenario: its timeline has events, and its flow is watched packet by packet.
const CHANGES: &str = r#"timeline = [
    { at = "1 s", link = "wifi", rate = "5 Mbit/s" },
    { at = "2 s", link = "wifi", rate = "50 Mbit/s" } ]"#;

fn count(page: &mut Page, selector: &str) -> u64 {
    page.evaluate(&format!("document.querySelectorAll({selector:?}).length")).as_u64().expect("a count")
}

fn text(page: &mut Page, expression: &str) -> String {
    page.evaluate(expression).as_str().expect("a text").to_owned()
}

#[test]
fn events_are_listed_once_and_their_lines_have_numbers_that_follow_a_zoom() {
    let Some(mut browser) = browser() else { return };
    let desk = Desk::new();
    desk.run(&[concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/wifi-lte.toml"), "--set", CHANGES]);
    let mut page = browser.open(&desk.report());
    assert_eq!(count(&mut page, ".events"), 1);
    let items = text(&mut page, "[...document.querySelectorAll('.events li')].map((li) => li.textContent).join('|')");
    let mut items = items.split('|');
    assert!(items.next().is_some_and(|first| first.starts_with("1 s: ")) && items.next().is_some());
    let figures = count(&mut page, "#over-time figure.curves");
    assert!(count(&mut page, "#over-time .moment") >= 2 * figures);
    assert_eq!(count(&mut page, "#over-time .legend .reference"), 0);
    // The legend of the time-sequence view is not taller than its plot, on a phone either.
    for width in [390, 1400] {
        for scheme in ["light", "dark"] {
            page.look(width, scheme);
            let heights = page.evaluate(
                "['.legend', '.plot'].map((part) => document.querySelector('#time-and-sequence ' + part)
                    .getBoundingClientRect().height)",
            );
            assert!(heights[0].as_f64() <= heights[1].as_f64(), "{width}: {heights}");
            page.evaluate("document.getElementById('over-time').scrollIntoView()");
            page.screenshot(&screenshots().join(format!("events-{width}-{scheme}.png")));
        }
    }
    let place = "Number.parseFloat(document.querySelector('#congestion-window .moment').style.left)";
    let before = page.evaluate(place).as_f64().expect("a share");
    let (left, top, width, height) = page.rectangle("#congestion-window .plot");
    page.drag((left + width * 0.02, top + height / 2.0), (left + width * 0.5, top + height / 2.0));
    let after = page.evaluate(place).as_f64().expect("a share");
    assert!((after - (before - 2.0) / 0.48).abs() < 1.0, "{before} becomes {after}");
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn a_figure_is_saved_as_svg_png_and_csv_with_the_titles_that_were_edited() {
    let Some(mut browser) = browser() else { return };
    let desk = Desk::new();
    let results = desk.run(&[concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/wifi-lte.toml")]);
    let mut page = browser.open(&desk.report());
    // What would be saved is kept instead.
    page.evaluate(
        "window.saved = {}; HTMLAnchorElement.prototype.click = function () { saved[this.download] = this.href }",
    );
    let figure = "document.getElementById('congestion-window')";
    let press = |page: &mut Page, of: &str, name: &str| {
        page.evaluate(&format!(
            "[...document.querySelectorAll('#{of} .export button')].find((b) => b.textContent === '{name}').click()"
        ));
    };
    press(&mut page, "congestion-window", "edit titles");
    page.evaluate(&format!("{figure}.querySelector('.y-title').textContent = 'Fenster & in <Paketen>'"));
    for name in ["SVG", "CSV", "PNG"] {
        press(&mut page, "congestion-window", name);
    }
    press(&mut page, "use-of-the-links", "CSV");
    let svg = text(&mut page, "decodeURIComponent(saved['congestion-window.svg'])");
    let read = |of: &str| format!("new DOMParser().parseFromString({of}, 'image/svg+xml')");
    let shown = "decodeURIComponent(saved['congestion-window.svg'].split(',').slice(1).join(','))";
    let texts =
        text(&mut page, &format!("[...{}.querySelectorAll('text')].map((t) => t.textContent).join('|')", read(shown)));
    assert!(texts.contains("Fenster & in <Paketen>") && texts.contains("Congestion window"), "{texts}");
    assert!(svg.contains("vector-effect") && !svg.contains("foreignObject") && !svg.contains("class="), "{svg}");
    let csv = text(&mut page, "decodeURIComponent(saved['congestion-window.csv'])");
    let subflow = &results["runs"][0]["flows"][0]["subflows"][0];
    assert!(csv.contains(r#"curve,time in s,Fenster & in <Paketen>,interval from,to"#), "{csv}");
    assert!(csv.contains(subflow["name"].as_str().expect("a name")), "{csv}");
    assert!(text(&mut page, "decodeURIComponent(saved['use-of-the-links.csv'])").contains("wifi.up,"));
    let png = "new Promise((done) => { const wait = () => saved['congestion-window.png']
        ? createImageBitmap(new Blob([Uint8Array.from(atob(saved['congestion-window.png'].split(',')[1]),
            (c) => c.charCodeAt(0))])).then((image) => done(image.width)) : setTimeout(wait, 50); wait(); })";
    let twice = format!("Math.ceil(2 * {figure}.getBoundingClientRect().width)");
    assert_eq!(page.evaluate(png), page.evaluate(&twice));
    let kept: Value = page.evaluate("Object.keys(saved).length");
    assert_eq!(kept, 4);
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn key_figures_and_figures_come_before_a_long_table() {
    let Some(mut browser) = browser() else { return };
    let desk = Desk::new();
    let sizes: Vec<String> = (1..=41).map(|n| format!("\"{} kB\"", 10 * n)).collect();
    let sweep = format!("sweep = {{ \"flows.file.send\" = [{}] }}", sizes.join(", "));
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/wifi-lte.toml");
    desk.run(&[scenario, "--set", &sweep, "--set", "duration=2 s", "--repeat", "1"]);
    let mut page = browser.open(&desk.report());
    let order = text(&mut page, "[...document.querySelectorAll('section')].map((section) => section.id).join(' ')");
    let place = |id: &str| order.split(' ').position(|known| known == id).unwrap_or_else(|| panic!("{id}: {order}"));
    assert!(place("key-figures") < place("comparison") && place("comparison") < place("summary"), "{order}");
    assert!(count(&mut page, ".key-figures li") >= 1);
    page.look(1400, "light");
    page.screenshot(&screenshots().join("key-figures.png"));
    assert_eq!(page.complaints(), [""; 0]);
}
