//! The report as a reader meets it: a real run's `report.html` in a real browser. Screenshots and the printed pages
//! stay in `target/tmp/report/`.

mod chromium;
mod desk;
#[allow(dead_code, reason = "the tests of the page also type and choose files")]
mod devtools;
mod exported;
mod legible;
mod swept_names;

use std::path::PathBuf;

use serde_json::Value;
use subflow_prerequisite::Prerequisite;

use chromium::Chromium;
use desk::Desk;

/// The browser; `None` where there is none.
fn browser() -> Option<Chromium> {
    let browser = Chromium::start();
    if browser.is_none() {
        Prerequisite::Chromium.missing("Debian's package chromium has it");
    }
    browser
}

fn screenshots() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("report");
    std::fs::create_dir_all(&folder).expect("a folder for screenshots");
    folder
}

#[test]
fn a_report_shows_the_numbers_of_the_json_and_can_be_zoomed() {
    let Some(mut browser) = browser() else { return };
    let desk = Desk::new();
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/wifi-lte.toml");
    let results = desk.run(&[scenario]);
    let mut page = browser.open(&desk.report());

    let run = &results["runs"][0];
    let flow = &run["flows"][0];
    let shown = page.evaluate(
        "[...document.querySelectorAll('#flows tbody td, #subflows tbody td, #links tbody td')]
            .map((cell) => cell.dataset.value).filter((value) => value !== undefined).map(Number)",
    );
    let mut expected = vec![
        flow["goodput_mbps"].clone(),
        (flow["bytes_delivered"].as_f64().expect("a count") / 1e6).into(),
        flow["completion_s"].clone(),
        flow["retransmissions"].clone(),
        flow["timeouts"].clone(),
    ];
    for subflow in flow["subflows"].as_array().expect("subflows") {
        let columns = ["goodput_mbps", "packets_sent", "retransmissions", "srtt_ms", "cwnd_packets"];
        expected.extend(columns.map(|column| subflow[column].clone()));
    }
    for link in run["links"].as_array().expect("links") {
        expected.extend(["packets", "drops", "losses"].map(|column| link[column].clone()));
        for direction in ["up", "down"] {
            let of = &link[direction];
            let percent = of["utilisation"].as_f64().expect("a share") * 100.0;
            expected.extend([percent.into(), of["max_queue_packets"].clone(), of["mean_queue_packets"].clone()]);
        }
    }
    let numbers = |values: &[Value]| values.iter().map(|value| value.as_f64().expect("a number")).collect::<Vec<_>>();
    let (shown, expected) = (numbers(shown.as_array().expect("cells")), numbers(&expected));
    assert_eq!(shown.len(), expected.len());
    for (shown, expected) in shown.iter().zip(&expected) {
        assert!((shown - expected).abs() <= 1e-6 * expected.abs().max(1.0), "{shown} instead of {expected}");
    }

    // The whole run to begin with; then what lies between a quarter and a half of it, in every figure over time.
    let ticks =
        "[...document.querySelectorAll('#congestion-window .x-ticks span')].map((tick) => Number(tick.textContent))";
    let last = |ticks: &Value| ticks.as_array().and_then(|ticks| ticks.last()?.as_f64());
    assert_eq!(last(&page.evaluate(ticks)), Some(10.0));
    let (left, top, width, height) = page.rectangle("#congestion-window .plot");
    let middle = top + height / 2.0;
    page.drag((left + width * 0.25, middle), (left + width * 0.5, middle));
    assert_eq!(last(&page.evaluate(ticks)), Some(5.0), "{}", page.evaluate(ticks));
    let zoomed = "document.querySelectorAll('#over-time figure.zoomed').length";
    let figures = page.evaluate("document.querySelectorAll('#over-time figure').length");
    assert_eq!(page.evaluate(zoomed), figures, "the figures over time are zoomed together");
    assert_eq!(page.evaluate("document.querySelectorAll('.cursor:not([hidden])').length"), figures);
    let tip = page.evaluate("document.getElementById('tip').textContent");
    assert!(tip.as_str().is_some_and(|tip| tip.contains("phone.lte-server.eth")), "{tip}");
    page.screenshot(&screenshots().join("zoomed.png"));
    page.evaluate("document.querySelector('#congestion-window .plot').focus()");
    page.press("0", "0");
    assert_eq!(page.evaluate(zoomed), 0);
    assert_eq!(last(&page.evaluate(ticks)), Some(10.0));

    // A curve can be taken away, and each be shown alone.
    page.evaluate("document.querySelector('#goodput-of-subflows .key').click()");
    assert_eq!(page.evaluate("document.querySelectorAll('#goodput-of-subflows .series.hidden').length"), 1);
    page.evaluate("document.querySelector('#goodput-of-subflows .key').click()");
    page.evaluate("document.querySelector('#queues [data-switch]').click()");
    assert_eq!(page.evaluate("document.querySelector('#queues .panels').getBoundingClientRect().height > 50"), true);
    page.evaluate("document.querySelector('#queues [data-switch]').click()");

    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn the_time_sequence_view_shows_each_packet_and_can_be_zoomed_to_it() {
    let Some(mut browser) = browser() else { return };
    let desk = Desk::new();
    let results = desk.run(&[concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/wifi-lte.toml")]);
    let mut page = browser.open(&desk.report());
    let drawn = |page: &mut devtools::Page, what: &str| {
        let of = format!("g.series[data-name*=\"{what}\"] .points:not(.hole)");
        let count = "[...document.querySelectorAll(`#time-and-sequence OF`)]
            .map((path) => path.getAttribute('d').split('M').length - 1).reduce((sum, one) => sum + one, 0)";
        page.evaluate(&count.replace("OF", &of)).as_u64().expect("a count")
    };
    let flow = &results["runs"][0]["flows"][0];
    assert_eq!(drawn(&mut page, "sent again"), flow["retransmissions"].as_u64().expect("a count"));
    assert_eq!(drawn(&mut page, "sent ·"), 20_000_000_u64.div_ceil(1424), "each packet that carries new data");
    assert!(drawn(&mut page, "lost") > 600);
    for (device, width) in [("phone", 390), ("desktop", 1280)] {
        for scheme in ["light", "dark"] {
            page.look(width, scheme);
            page.evaluate("document.getElementById('time-and-sequence').scrollIntoView()");
            page.screenshot(&screenshots().join(format!("sequence-{device}-{scheme}.png")));
        }
    }
    page.evaluate("document.querySelector('#time-and-sequence .plot').focus()");
    (0..24).for_each(|_| page.press("ArrowLeft", ""));
    (0..11).for_each(|_| page.press("+", "+"));
    let ticks = page.evaluate(
        "[...document.querySelectorAll('#time-and-sequence .x-ticks span')].map((tick) => Number(tick.textContent))",
    );
    let ticks: Vec<f64> = ticks.as_array().expect("ticks").iter().filter_map(Value::as_f64).collect();
    assert!(ticks.len() > 2 && ticks[1] - ticks[0] < 0.0011, "{ticks:?}: a packet takes 0.24 ms");
    page.screenshot(&screenshots().join("sequence-zoomed.png"));
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn a_report_fits_phones_and_screens_in_light_and_dark_and_on_paper() {
    let Some(mut browser) = browser() else { return };
    let desk = Desk::new();
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/loss-sweep.toml");
    desk.run(&[scenario, "--repeat", "6"]);
    let mut page = browser.open(&desk.report());
    let mut grounds = Vec::new();
    for (device, width) in [("phone", 390), ("desktop", 1280)] {
        for scheme in ["light", "dark"] {
            page.look(width, scheme);
            assert_eq!(page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches"), scheme == "dark");
            let overflow = page.evaluate("document.scrollingElement.scrollWidth - innerWidth");
            assert!(overflow.as_f64().is_some_and(|overflow| overflow <= 0.0), "{device}: {overflow} too wide");
            grounds.push(page.evaluate("getComputedStyle(document.body).backgroundColor"));
            let png = page.screenshot(&screenshots().join(format!("{device}-{scheme}.png")));
            // The width stands in the header of a PNG file, at byte 16.
            assert_eq!(png.get(16..20).map(|be| be.iter().fold(0, |n, &byte| n << 8 | u32::from(byte))), Some(width));
        }
    }
    assert!(grounds[0] == grounds[2] && grounds[1] == grounds[3] && grounds[0] != grounds[1], "{grounds:?}");
    // The button goes round: system, light, dark.
    page.evaluate("document.getElementById('theme').click()");
    assert_eq!(page.evaluate("getComputedStyle(document.body).backgroundColor"), grounds[0]);
    let pdf = page.print(&screenshots().join("printed.pdf"));
    assert!(pdf.starts_with(b"%PDF"));
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn any_points_of_a_sweep_are_picked_and_seen_in_the_same_figures() {
    let Some(mut browser) = browser() else { return };
    let desk = Desk::new();
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/loss-sweep.toml");
    desk.run(&[scenario, "--set", "duration=4 s", "--repeat", "2"]);
    let mut page = browser.open(&desk.report());
    let texts = |page: &mut devtools::Page, selector: &str| {
        let texts = page.evaluate(&format!("[...document.querySelectorAll({selector:?})].map((e) => e.textContent)"));
        serde_json::from_value::<Vec<String>>(texts).expect("texts")
    };
    let goodput = "#points-goodput-bulk .key";
    assert_eq!(texts(&mut page, goodput), ["none, lia", "none, olia", "none, balia", "none, wvegas"]);

    // Another point, found by its values; it takes the look of one that is taken away.
    page.evaluate("document.querySelector('#points input').click()");
    let filter = "{ const menu = document.querySelectorAll('.picker select')[0];
        menu.value = '=3 %'; menu.dispatchEvent(new Event('change')) }";
    page.evaluate(filter);
    let listed = "[...document.querySelectorAll('#points tbody tr')].filter((row) => !row.hidden)";
    assert_eq!(page.evaluate(&format!("{listed}.length")), 4);
    page.evaluate(&format!("{listed}[1].querySelector('input').click()"));
    page.evaluate("document.querySelector('.picker button[data-metric=\"1\"]').click()");
    for key in [goodput, "#points-goodput-of-subflows-bulk-client-b-server-eth .key"] {
        assert_eq!(texts(&mut page, key), ["none, olia", "none, balia", "none, wvegas", "3 %, olia"]);
        assert_eq!(page.evaluate(&format!("[...document.querySelectorAll('{key}')].at(-1).className")), "key c0");
    }
    let drawn = "document.querySelectorAll('#points-goodput-bulk svg .series.c0 .band').length";
    assert_eq!(page.evaluate(drawn), 1);
    let (left, top, width, height) = page.rectangle("#points-goodput-bulk .plot");
    page.drag((left + width * 0.25, top + height / 2.0), (left + width * 0.5, top + height / 2.0));
    let ends = texts(&mut page, "#points-goodput-bulk .x-ticks span");
    assert_eq!((ends[0].as_str(), ends[ends.len() - 1].as_str()), ("1.0", "2.0"));
    let tip = page.evaluate("document.getElementById('tip').textContent");
    assert!(tip.as_str().is_some_and(|tip| tip.contains("3 %, olia") && tip.contains('\u{2013}')), "{tip}");
    for (device, width) in [("phone", 390), ("desktop", 1280)] {
        for scheme in ["light", "dark"] {
            page.look(width, scheme);
            page.evaluate("document.getElementById('points-together').scrollIntoView()");
            let overflow = page.evaluate("document.scrollingElement.scrollWidth - innerWidth");
            assert!(overflow.as_f64().is_some_and(|overflow| overflow <= 0.0), "{device}: {overflow} too wide");
            page.screenshot(&screenshots().join(format!("points-{device}-{scheme}.png")));
        }
    }
    let none = "[...document.querySelectorAll('.picker button')].find((b) => b.textContent === 'pick none').click()";
    page.evaluate(none);
    assert!(texts(&mut page, goodput).is_empty());
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn the_time_axis_of_points_ends_with_the_last_of_those_that_are_picked() {
    let Some(mut browser) = browser() else { return };
    let desk = Desk::new();
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/wifi-lte.toml");
    let sizes = r#"sweep = { "flows.file.send" = ["1 MB", "2 MB", "3 MB", "4 MB", "8 MB"] }"#;
    desk.run(&[scenario, "--set", sizes, "--set", "duration=30 s", "--repeat", "1"]);
    let mut page = browser.open(&desk.report());
    let plot = "#points-goodput-file";
    let ticks =
        format!("[...document.querySelectorAll('{plot} .x-ticks span')].map((tick) => Number(tick.textContent))");
    let last = |page: &mut devtools::Page| {
        page.evaluate(&ticks).as_array().and_then(|ticks| ticks.last()?.as_f64()).expect("ticks")
    };
    let of_four = last(&mut page);
    assert!(of_four < 3.0, "4 MB take about a second, of a run of 30 s: {of_four}");
    let pick = |page: &mut devtools::Page, row: usize| {
        page.evaluate(&format!("document.querySelectorAll('#points input')[{row}].click()"));
    };
    pick(&mut page, 4);
    let of_five = last(&mut page);
    assert!(of_five > of_four, "8 MB take longer: {of_five} {of_four}");
    // A zoom goes back to the range of what is picked.
    let (left, top, width, height) = page.rectangle(&format!("{plot} .plot"));
    page.drag((left + width * 0.75, top + height / 2.0), (left + width * 0.99, top + height / 2.0));
    assert!(page.evaluate(&format!("document.querySelectorAll('{plot}.zoomed .reset').length")) == 1);
    page.evaluate(&format!("document.querySelector('{plot} .reset').click()"));
    assert_eq!(last(&mut page), of_five);
    (1..5).for_each(|row| pick(&mut page, row));
    assert!(last(&mut page) < of_four, "1 MB alone");
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn a_table_of_more_columns_than_a_page_is_wide_is_printed_whole() {
    let Some(mut browser) = browser() else { return };
    let desk = Desk::new();
    let columns = "case,protocol,cc,paths,loss_pct,duration_s,rep,flow,goodput_mbps,path1_bytes,path2_bytes";
    desk.write(
        "cases.csv",
        &format!("{columns}\nD,mptcp,cubic,50/10/100;10/40/50,0;0,3,1,1,50.1,373105300,71453240\n"),
    );
    desk.reproduce(&["linux612", "--cases", "cases.csv"]);
    let mut page = browser.open(&desk.report());
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
    let widest =
        "Math.max(...[...document.querySelectorAll('table')].map((table) => table.tHead.rows[0].cells.length))";
    assert!(page.evaluate(widest).as_f64().is_some_and(|columns| columns > 25.0));
    let beyond =
        "Math.max(...[...document.querySelectorAll('td, th')].map((cell) => cell.getBoundingClientRect().right))
        - document.documentElement.clientWidth";
    // Letter, the shortest of usual papers turned sideways, less its margins: 259 mm.
    page.look_as_printed(979);
    let beyond = page.evaluate(beyond).as_f64().expect("pixels");
    assert!(beyond <= 0.5, "{beyond} pixels are cut off");
    page.look(1280, "light");
    page.print(&screenshots().join("wide.pdf"));
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn text_of_a_scenario_is_not_interpreted_as_markup() {
    let Some(mut browser) = browser() else { return };
    let desk = Desk::new();
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/wifi-lte.toml");
    let title = "</title></script><script>window.taken = 1</script><img src=x onerror='window.taken = 2'>";
    let hostile = format!("title={title:?}");
    let flow = "flows.\"<b onmouseover=alert(1)>\"={from=\"phone\",to=\"server\",protocol=\"tcp\",send=\"1 MB\"}";
    let sweep = "sweep.\"flows.file.congestion\"=[\"lia\",\"olia\"]";
    desk.run(&[scenario, "--set", &hostile, "--set", sweep]);
    let mut page = browser.open(&desk.report());
    assert_eq!(page.evaluate("typeof window.taken"), "undefined");
    assert_eq!(page.evaluate("document.querySelector('h1').textContent"), title);
    assert_eq!(page.evaluate("document.querySelectorAll('img').length"), 0);
    assert_eq!(page.complaints(), [""; 0]);

    // Where a name may hold anything, it is text in tables, legends and tips, too.
    let (code, stderr) = desk.try_run(&[scenario, "--set", flow]);
    if code == Some(0) {
        let mut page = browser.open(&desk.report());
        assert_eq!(page.evaluate("document.querySelectorAll('b[onmouseover]').length"), 0);
        assert_eq!(page.complaints(), [""; 0]);
    } else {
        assert!(stderr.contains("onmouseover"), "{stderr}");
    }
}

#[test]
fn twenty_five_subflows_of_a_minute_are_few_elements() {
    let Some(mut browser) = browser() else { return };
    let desk = Desk::new();
    desk.write("mesh.toml", &desk::mesh(5));
    let results = desk.run(&["mesh.toml"]);
    assert_eq!(results["runs"][0]["flows"][0]["subflows"].as_array().map(Vec::len), Some(25));
    let size = std::fs::metadata(desk.report()).expect("a report").len();
    assert!(size < 5_000_000, "{size} bytes");
    let mut page = browser.open(&desk.report());
    let opened = page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd").as_f64().expect("ms");
    let elements = page.evaluate("document.getElementsByTagName('*').length").as_u64().expect("a count");
    eprintln!("25 subflows over 60 s: {size} bytes, {elements} elements, open after {opened:.0} ms");
    // How long it takes depends on what else the machine does; what takes the time is elements, not values.
    assert!(elements < 5_000, "{elements} elements");
    assert_eq!(page.evaluate("document.querySelectorAll('#congestion-window .panel').length"), 25);
    page.look(1280, "light");
    page.screenshot(&screenshots().join("mesh.png"));
    assert_eq!(page.complaints(), [""; 0]);
}
