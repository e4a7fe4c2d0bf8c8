//! Each format that results can be saved in, opened again.

use crate::browser;
use crate::desk::{Served, click, next_results, open, property, type_over, wait};
use crate::devtools::Page;

/// Two variants with five seeds.
fn compared(page: &mut Page) -> u64 {
    click(page, "#compare");
    let last = next_results(page, 1);
    type_over(page, "\"lia\"", "\"cubic\"");
    next_results(page, last)
}

fn share(page: &mut Page) {
    click(page, "#open-share");
    wait(page, "document.querySelector('#share[open] pre')?.textContent.includes('#s=')");
}

/// What a file of the dialog contains, as a text in which each character is a byte.
fn saved(page: &mut Page, id: &str) -> Vec<u8> {
    let text = page.evaluate(&format!(
        "fetch(document.getElementById({id:?}).href).then((answer) => answer.arrayBuffer()) \
         .then((bytes) => btoa(Array.from(new Uint8Array(bytes), (byte) => String.fromCharCode(byte)).join('')))"
    ));
    data_encoding::BASE64.decode(text.as_str().expect("a text").as_bytes()).expect("base 64")
}

#[test]
fn one_file_with_both_variants_opens_in_another_page_and_by_itself() {
    let Some(mut browser) = browser() else { return };
    let served = Served::start();
    let mut page = open(&mut browser, &served.address);
    compared(&mut page);
    share(&mut page);
    let report = saved(&mut page, "save-report-html");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("both.html");
    std::fs::write(&file, &report).expect("written");
    let texts = page.evaluate("sessionStorage.getItem('texts')");
    // By itself, without a server.
    let mut alone = browser.open(&file);
    let shown = alone.evaluate("document.body.innerText");
    let shown = shown.as_str().expect("a text");
    assert!(shown.contains("Differences to variant = A") && shown.contains("Scenario B"), "{shown}");
    assert_eq!(alone.evaluate("JSON.parse(document.getElementById('subflow-results').textContent).runs.length"), 2);
    assert_eq!(alone.complaints(), [""; 0]);
    // In the page of another server.
    let other = Served::start();
    let mut page = open(&mut browser, &other.address);
    share(&mut page);
    page.pick("#picked", &file);
    wait(&mut page, "document.getElementById('variant-b') !== null");
    assert_eq!(page.evaluate("sessionStorage.getItem('texts')"), texts);
    next_results(&mut page, 1);
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn tables_are_saved_as_csv_json_and_parquet_with_the_same_figures() {
    let Some(mut browser) = browser() else { return };
    let served = Served::start();
    let mut page = open(&mut browser, &served.address);
    share(&mut page);
    let json: serde_json::Value = serde_json::from_slice(&saved(&mut page, "save-results-json")).expect("JSON");
    let goodput = json["runs"][0]["flows"][0]["goodput_mbps"].as_f64().expect("a number");
    let csv = String::from_utf8(saved(&mut page, "save-results-csv")).expect("text");
    assert!(csv.contains(&goodput.to_string()), "{csv}");
    let bytes = bytes::Bytes::from(saved(&mut page, "save-flows-parquet"));
    let builder = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(bytes).expect("Parquet");
    let batch = builder.build().expect("a reader").next().expect("a batch").expect("rows");
    let column = format!("{:?}", batch.column_by_name("goodput_mbps").expect("a column"));
    assert!(column.contains(&goodput.to_string()), "{column}");
    for id in ["save-runs-parquet", "save-series-parquet"] {
        assert!(saved(&mut page, id).starts_with(b"PAR1"), "{id}");
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let toml = folder.path().join("mine.toml");
    let text = property(&mut page, "text", "value").as_str().expect("a text").replace("50 Mbit/s", "48 Mbit/s");
    std::fs::write(&toml, &text).expect("written");
    page.pick("#picked", &toml);
    wait(&mut page, "!document.getElementById('share').open");
    assert_eq!(property(&mut page, "text", "value"), text);
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn the_report_in_sight_is_printed_on_few_pages_with_all_of_its_figures() {
    let Some(mut browser) = browser() else { return };
    let served = Served::start();
    let mut page = open(&mut browser, &served.address);
    share(&mut page);
    click(&mut page, "#print");
    wait(&mut page, "document.getElementById('frames').dataset.printed === 'true'");
    assert_eq!(page.complaints(), [""; 0]);
    // What the dialog prints is the document in the frame.
    let mut report = browser.open_url(&format!("{}results/1/frame", served.address));
    let figures = report.evaluate("document.querySelectorAll('figure').length").as_u64().expect("a count");
    let pdf = report.print(&crate::looks::screenshots().join("report.pdf"));
    let text = String::from_utf8_lossy(&pdf);
    let pages = text.matches("/Type /Page\n").count().max(text.matches("/Type /Page ").count());
    assert!(pdf.starts_with(b"%PDF") && figures >= 10, "{figures} figures");
    assert!((1..=12).contains(&pages), "{pages} pages for {figures} figures");
    report.look_as_printed(794);
    let hidden = report.evaluate(
        "[...document.querySelectorAll('figure')].filter((of) => of.getBoundingClientRect().height < 50).length",
    );
    assert_eq!(hidden, 0, "each figure has its place on paper");
}
