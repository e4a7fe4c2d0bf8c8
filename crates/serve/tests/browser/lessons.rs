//! The six lessons: each is begun, measured, changed and answered as a reader does it.

use std::path::PathBuf;

use serde_json::json;

use crate::browser;
use crate::desk::{Served, click, open, property, wait};
use crate::devtools::Page;

/// The number of the lesson that is open, from 1.
const STEP: &str = "document.querySelector('.steps [aria-current=step]')?.textContent";

fn screenshot(page: &mut Page, name: &str) {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("serve");
    std::fs::create_dir_all(&folder).expect("a folder for screenshots");
    page.screenshot(&folder.join(name));
}

/// Chooses an answer and has it judged: `holds`, `fails`, or nothing where something is missing.
fn judged(page: &mut Page, answer: u64) -> String {
    click(page, &format!("#lesson input[value='{answer}']"));
    click(page, "#judge");
    let class = property(page, "verdict", "className");
    class.as_str().expect("a class").trim_start_matches("verdict").trim().to_owned()
}

/// Moves the pinned control of the lesson to the value that the question is about, and waits until it is measured.
fn change(page: &mut Page, after: &str) {
    page.evaluate(&format!(
        "{{ const control = document.querySelector('.pin input, .pin select'), after = {after:?}; \
         if (control.tagName === 'SELECT') {{ control.value = JSON.stringify(after); \
           control.dispatchEvent(new Event('change')); }} \
         else {{ const output = document.querySelector('.pin output'); \
           for (let at = 0; at <= +control.max; at++) {{ control.value = at; control.dispatchEvent(new Event('input')); \
             if (output.textContent === after) break; }} }} }}"
    ));
    wait(
        page,
        &format!("[...document.querySelectorAll('#measured tbody th')].some((of) => of.textContent === {after:?})"),
    );
}

#[test]
fn all_six_lessons_are_answered_by_what_their_figures_say() {
    let Some(mut browser) = browser() else { return };
    let served = Served::start();
    let mut page = open(&mut browser, &served.address);
    page.look(1400, "light");
    let lessons = page.evaluate("fetch('start.json').then((answer) => answer.json()).then(({ lessons }) => lessons)");
    let lessons = lessons.as_array().expect("lessons").clone();
    assert_eq!(lessons.len(), 6);
    click(&mut page, "#open-lessons");
    for (index, lesson) in lessons.iter().enumerate() {
        let text = |key: &str| lesson[key].as_str().expect("a text").to_owned();
        assert_eq!(page.evaluate(STEP), (index + 1).to_string());
        wait(&mut page, "document.querySelectorAll('#measured tbody tr').length > 0");
        wait(&mut page, "document.querySelector('.pin') !== null");
        assert_eq!(page.evaluate("document.querySelector('.pin').dataset.path"), text("key"));
        assert_eq!(judged(&mut page, 0), "", "nothing is judged before it is measured");
        let said = property(&mut page, "verdict", "innerText");
        assert!(said.as_str().is_some_and(|said| said.contains(&text("after"))), "{said}");
        change(&mut page, &text("after"));
        let answers = lesson["answers"].as_array().expect("answers").len() as u64;
        let verdicts: Vec<String> = (0..answers).map(|answer| judged(&mut page, answer)).collect();
        let right: Vec<u64> = (0..answers).filter(|answer| verdicts[*answer as usize] == "holds").collect();
        assert!(right.len() == 1 && verdicts.iter().all(|of| of == "holds" || of == "fails"), "{lesson}: {verdicts:?}");
        judged(&mut page, right[0]);
        screenshot(&mut page, &format!("lesson-{}.png", index + 1));
        let said = property(&mut page, "verdict", "innerText");
        assert!(said.as_str().is_some_and(|said| said.contains(&text("because")) && said.contains('→')), "{said}");
        if index + 1 < lessons.len() {
            click(&mut page, "#next-lesson");
        }
    }
    assert_eq!(page.evaluate("document.querySelectorAll('.steps .solved').length"), 6);
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn a_lesson_survives_a_reload_fits_a_phone_and_forgets_figures_of_another_scenario() {
    let Some(mut browser) = browser() else { return };
    let served = Served::start();
    let mut page = open(&mut browser, &served.address);
    click(&mut page, "#open-lessons");
    wait(&mut page, "document.querySelectorAll('#measured tbody tr').length === 1");
    change(&mut page, "20 ms");
    let rows = "[...document.querySelectorAll('#measured tbody th')].map((of) => of.textContent)";
    assert!(page.evaluate(&format!("{rows}.length")).as_u64().is_some_and(|rows| rows >= 2));
    crate::desk::type_over(&mut page, "\"50 Mbit/s\"", "\"100 Mbit/s\"");
    wait(&mut page, &format!("JSON.stringify({rows}) === '[\"20 ms\"]'"));
    page.evaluate("{ window.isOld = true; location.reload() }");
    wait(&mut page, "!window.isOld && document.querySelectorAll('#measured tbody tr').length === 1");
    assert_eq!(page.evaluate(STEP), "1");
    for scheme in ["light", "dark"] {
        page.look(390, scheme);
        assert_eq!(page.evaluate("document.scrollingElement.scrollWidth <= 390"), true);
        screenshot(&mut page, &format!("lesson-390-{scheme}.png"));
    }
    // Each control of the panel is reached by the keyboard, has a name, and shows that it has the focus.
    let unnamed = page.evaluate(
        "[...document.querySelectorAll('#lesson button, #lesson input')].filter((of) => { of.focus(); \
         const name = of.getAttribute('aria-label') ?? (of.closest('label') ?? of).textContent; \
         return document.activeElement !== of || !name.trim() || of.tabIndex < 0 }).map((of) => of.outerHTML)",
    );
    assert_eq!(unnamed, json!([]));
    click(&mut page, "#close-lesson");
    assert_eq!(page.evaluate("document.activeElement.id"), "open-lessons");
    assert_eq!(page.evaluate("document.getElementById('lesson').hidden"), true);
    assert_eq!(page.complaints(), [""; 0]);
}
