//! The picture of the network edits the text, however the text writes its links.

use subflow_serve::{Opened, Source};

use crate::browser;
use crate::desk::{Served, click, next_results, property, wait};

/// Links in an inline table, with dotted keys, and below a header.
const TEXT: &str = r#"duration = "1 s"
[hosts]
phone = ["wifi", "lte"]
server = ["eth"]
[routers.r]
[links]
wifi = { between = ["phone.wifi", "r"], rate = "10 Mbit/s", delay = "10 ms" }
lte.between = ["phone.lte", "r"]
lte.rate = "10 Mbit/s"
[links.core]
between = ["r", "server"]
rate = "100 Mbit/s"
queue = { discipline = "codel" }
[flows.file]
from = "phone"
to = "server"
protocol = "mptcp"
"#;

/// Types another value into a field of the dialog of a link.
const TYPE: &str = "window.typed = (link, key, value) => { \
    document.querySelector(`[data-link=${link}]`).dispatchEvent(new MouseEvent('click')); \
    const of = document.getElementById(`link-${key}`); of.value = value; of.dispatchEvent(new Event('change')); \
    const said = document.querySelector('#link [role=alert]').textContent; document.getElementById('link').close(); \
    return said; }";

#[test]
fn links_are_edited_however_they_are_written_and_what_cannot_be_is_said() {
    let Some(mut browser) = browser() else { return };
    let served = Served::begin_with(Source::Scenario(Opened::without_file("links", TEXT)));
    let mut page = browser.open_url(&served.address);
    wait(&mut page, "document.getElementById('frames').dataset.shown === '1'");
    click(&mut page, "#tab-picture");
    page.evaluate(TYPE);
    for (link, key, value) in
        [("wifi", "loss", "5 %"), ("wifi", "delay", ""), ("lte", "loss", "1 %"), ("core", "rate", "90 Mbit/s")]
    {
        let said = page.evaluate(&format!("typed('{link}', '{key}', '{value}')"));
        assert_eq!(said, "", "{link} {key} {value}");
    }
    let expected = TEXT
        .replace("\"10 Mbit/s\", delay = \"10 ms\" }", "\"10 Mbit/s\", loss = \"5 %\" }")
        .replace("lte.rate = \"10 Mbit/s\"\n", "lte.rate = \"10 Mbit/s\"\nlte.loss = \"1 %\"\n")
        .replace("100 Mbit/s", "90 Mbit/s");
    assert_eq!(property(&mut page, "text", "value"), expected);
    next_results(&mut page, 1);
    wait(&mut page, "document.querySelector('[data-link=wifi]').textContent.includes('5 %')");
    // A table has several values: the field says so.
    page.evaluate("document.querySelector('[data-link=core]').dispatchEvent(new MouseEvent('click'))");
    let field = property(&mut page, "link-queue", "textContent");
    assert!(field.as_str().is_some_and(|text| text.contains("edit them in the text")), "{field}");
    page.evaluate("document.getElementById('link').close()");
    // The text has changed since the picture was drawn: its place is gone.
    page.evaluate(
        "{ const area = document.getElementById('text'); \
         area.value = area.value.replace('lte.rate = \"10 Mbit/s\"', 'lte.rate = { up = \"1 Mbit/s\"'); }",
    );
    let said = page.evaluate("typed('lte', 'rate', '7 Mbit/s')");
    assert!(said.as_str().is_some_and(|said| said.contains("links.lte.rate cannot be changed here")), "{said}");
    assert_eq!(page.complaints(), [""; 0]);
}
