//! How it looks: at the widths of a phone, a laptop and a large screen, light and dark.

use std::path::PathBuf;

use crate::accessible::assert_usable;
use crate::browser;
use crate::desk::{Served, click, next_results, open, property, type_over, wait};

pub(crate) fn screenshots() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("serve");
    std::fs::create_dir_all(&folder).expect("a folder for screenshots");
    folder
}

#[test]
fn the_page_fits_phones_and_screens_in_light_and_dark() {
    let Some(mut browser) = browser() else { return };
    let served = Served::start();
    let mut page = open(&mut browser, &served.address);
    page.evaluate("{ const of = document.getElementById('pin'); of.value = 'links.lte.delay'; of.dispatchEvent(new Event('change')) }");
    page.evaluate("{ const of = document.getElementById('pin'); of.value = 'flows.file.congestion'; of.dispatchEvent(new Event('change')) }");
    for width in [390, 1400, 2560] {
        for scheme in ["light", "dark"] {
            page.look(width, scheme);
            let content = page.evaluate("document.scrollingElement.scrollWidth");
            let beyond = page.evaluate(&format!(
                "[...document.querySelectorAll('body *')].filter((of) => of.getBoundingClientRect().right > {width}) \
                 .map((of) => of.tagName + '#' + of.id).join(' ')"
            ));
            let fits = content.as_u64().is_some_and(|content| content <= width.into());
            assert!(fits, "{width}: {content} wide: {beyond}");
            // The frame is as high as its report, also after another width.
            wait(&mut page, "parseFloat(document.querySelector('#frames .shown').style.height) > 1500");
            // Two frames later all layers are drawn with the new width.
            page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 400)))");
            let file = screenshots().join(format!("{width}-{scheme}.png"));
            // The first picture of a new width makes the frame of the report draw itself.
            page.screenshot(&file);
            page.screenshot(&file);
        }
    }
    page.look(1400, "light");
    click(&mut page, "#tab-picture");
    wait(&mut page, "!document.getElementById('moment').hidden");
    page.evaluate(
        "{ const of = document.getElementById('instant'); of.value = 200; of.dispatchEvent(new Event('input')) }",
    );
    page.screenshot(&screenshots().join("picture.png"));
    click(&mut page, "#open-gallery");
    page.screenshot(&screenshots().join("gallery.png"));
    click(&mut page, "#gallery .card[data-name=schedulers]");
    next_results(&mut page, 1);
    click(&mut page, "#open-share");
    wait(&mut page, "document.querySelector('#share[open] pre') !== null");
    page.screenshot(&screenshots().join("share.png"));
    click(&mut page, "#share .row button");
    click(&mut page, "#tab-text");
    type_over(&mut page, "\"rr\"", "\"rx\"");
    wait(&mut page, "document.querySelectorAll('#problems .problem').length > 0");
    page.screenshot(&screenshots().join("problem.png"));
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn the_button_of_the_theme_is_in_sight_and_chooses_it_at_each_width() {
    let Some(mut browser) = browser() else { return };
    let served = Served::start();
    let mut page = open(&mut browser, &served.address);
    let ground = "getComputedStyle(document.body).backgroundColor";
    for width in [390, 1400, 2560] {
        page.look(width, "dark");
        let dark = page.evaluate(ground);
        page.look(width, "light");
        let light = page.evaluate(ground);
        assert_ne!(light, dark);
        // Further down on a phone, too.
        page.evaluate("scrollTo(0, 500)");
        let at = page.evaluate(
            "{ const of = document.getElementById('theme'), { left, top, width, height } = of.getBoundingClientRect(); \
             const at = [left + width / 2, top + height / 2]; document.elementFromPoint(...at) === of && left >= 0 \
             && left + width <= innerWidth ? at : [] }",
        );
        let (Some(x), Some(y)) = (at[0].as_f64(), at[1].as_f64()) else { panic!("{width}: it is not in sight") };
        for (theme, there) in [("light", &light), ("dark", &dark), ("system", &light)] {
            page.drag((x, y), (x, y));
            assert_eq!(property(&mut page, "theme", "textContent"), format!("theme: {theme}"), "{width}");
            assert_eq!(page.evaluate(ground), *there, "{width}, {theme}");
        }
    }
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn connections_of_this_machine_are_shown_or_it_is_said_why_not() {
    let Some(mut browser) = browser() else { return };
    let served = Served::start();
    let mut page = open(&mut browser, &served.address);
    click(&mut page, "#open-live");
    wait(&mut page, "/MPTCP connection|cannot be shown/.test(document.getElementById('live-view').textContent)");
    click(&mut page, "#open-live");
    assert_eq!(
        page.evaluate("document.getElementById('frames').checkVisibility()"),
        true,
        "the figures are there again"
    );
    // What the kernel would say of a connection with two paths.
    page.evaluate(LIVE);
    assert_usable(&mut page, "live");
    let shown = page.evaluate("document.getElementById('live-view').innerText");
    let shown = shown.as_str().expect("a text");
    assert!(!shown.contains("null") && !shown.contains("false"), "{shown}");
    assert!(shown.contains("10.0.0.1:40000") && shown.contains("share a bottleneck (0.91, from 0.8 on)"), "{shown}");
    assert_eq!(page.complaints(), [""; 0]);
}

/// Shows forty reports, with a name in which there is a script.
const LIVE: &str = "import('./live.js').then(({ LiveView }) => {
    const subflow = (number, sent) => ({ number, local: `10.0.${number}.1:40000`, remote: '10.9.0.1:80', state: 'established',
        backup: number === 1, cwnd: 42, ssthresh: number ? 20 : null, in_flight: 12, srtt_ms: 21.4, min_rtt_ms: 20.1,
        sent_mbps: sent, received_mbps: 0.1, retransmissions: 3, timeouts: 0 });
    const pairs = [{ subflows: [0, 1], degree: 0.91, shared: true }];
    const view = new LiveView(document.getElementById('live-view'));
    view.set(true);
    for (let step = 0; step < 40; step++) {
        const subflows = [subflow(0, 9 + 3 * Math.sin(step / 4)), subflow(1, 4 + Math.cos(step / 3))];
        const connection = { token: '0000000a', local: '10.0.0.1:40000', remote: '<script>', client: true, subflows,
            reinjected_bytes: 0, shared_bottlenecks: [{ detector: 'red-cpi', threshold: 0.8, pairs }] };
        view.take({ missed: 0, report: { time_s: step / 2, connections: [connection], events: [], events_unread: null } });
    }
})";
