//! How it looks: at the widths of a phone, a laptop and a large screen, light and dark.

use std::path::PathBuf;

use crate::browser;
use crate::desk::{Served, click, next_results, open, type_over, wait};

fn screenshots() -> PathBuf {
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
