//! A scenario's text, checked: its problems with their places, its values, and what a page shows of it.

use std::ops::Range;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use subflow_lab::Stop;
use subflow_lab::results::parameters::word;
use subflow_scenario::file::{Document, Leaf, Origin, Place, Problem, Problems, Reach};
use subflow_scenario::sweep::{Bounds, Plan, SeriesKept};

use crate::picture::Picture;

/// The scenario that the page shows first.
#[derive(Clone, Debug)]
pub struct Opened {
    /// Its path, which names it and has the directory of its traces.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
    /// Which files it may name.
    pub reach: Reach,
}

impl Opened {
    /// A scenario that is in no file: it may name none.
    pub fn without_file(name: &str, text: &str) -> Self {
        Self { path: PathBuf::from(format!("{name}.toml")), text: text.to_owned(), reach: Reach::None }
    }
}

/// A scenario as the page sends it: a text, and changes to it as `subflow run` takes them.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Draft {
    pub(crate) text: String,
    /// `PATH=VALUE` each.
    #[serde(default)]
    set: Vec<String>,
    /// The name of the scenario, if it is not that of the file that was opened.
    #[serde(default)]
    name: Option<String>,
}

/// What a check finds.
#[derive(Debug, Serialize)]
pub(crate) struct Checked {
    problems: Vec<Shown>,
    /// Further problems, which are not shown.
    more: usize,
    warnings: Vec<Shown>,
    /// The values in the text; none if it is not TOML.
    values: Vec<ShownValue>,
    /// What the scenario describes, if it is valid.
    #[serde(flatten)]
    described: Option<Described>,
}

/// A problem for the page.
#[derive(Debug, Serialize)]
struct Shown {
    /// First and last position in the text, in UTF-16; null if it is elsewhere.
    span: Option<[usize; 2]>,
    /// Line and column, or the option that is meant.
    place: String,
    message: String,
    label: String,
    help: String,
}

#[derive(Debug, Serialize)]
struct ShownValue {
    path: String,
    span: [usize; 2],
    value: Value,
}

#[derive(Debug, Serialize)]
struct Described {
    name: String,
    title: String,
    description: String,
    points: usize,
    runs: usize,
    duration_s: f64,
    sweep: Vec<String>,
    picture: Picture,
}

impl Draft {
    /// The document with all changes.
    fn document(&self, opened: &Opened) -> Result<Document, Problem> {
        let mut document = Document::parse(&self.path(opened), self.text.clone())?;
        document.restrict(opened.reach.clone());
        self.set.iter().try_for_each(|assignment| document.set("--set", assignment))?;
        Ok(document)
    }

    /// The text with all changes, which are in it afterwards; comments are kept.
    pub(crate) fn changed(&self, opened: &Opened) -> Result<String, String> {
        self.document(opened).map(|document| document.text()).map_err(|problem| problem.message)
    }

    /// The file that it would be, in the directory of the one that was opened. A name is letters, digits, `-` and `_`.
    fn path(&self, opened: &Opened) -> PathBuf {
        let is_plain = |name: &&String| {
            !name.is_empty() && name.len() <= 64 && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
        };
        match self.name.as_ref().filter(is_plain) {
            Some(name) => opened.path.with_file_name(format!("{name}.toml")),
            None => opened.path.clone(),
        }
    }

    /// The runs that it describes, if it is valid and no larger than `bounds`.
    fn plan(&self, opened: &Opened, bounds: Bounds, stop: &Stop) -> Result<Plan, Problems> {
        let plan = Plan::read_within(self.document(opened)?, bounds, stop)?;
        let runs = plan.jobs().len();
        Ok(Plan { series: SeriesKept::usual(runs), ..plan })
    }

    /// Checks it as `subflow check` does. With the answer are the runs that it describes, if it is valid. What is found
    /// means nothing if `stop` is requested meanwhile.
    pub(crate) fn checked(&self, opened: &Opened, bounds: Bounds, stop: &Stop) -> (Checked, Option<Plan>) {
        let places = Places::of(&self.text);
        let values = Document::parse(&opened.path, self.text.clone()).map_or_else(|_| Vec::new(), |of| of.leaves());
        let shown_value = |leaf: Leaf| {
            let span = places.span(&leaf.place.span);
            ShownValue { path: leaf.path, span, value: leaf.value }
        };
        let values = values.into_iter().map(shown_value).collect();
        match self.plan(opened, bounds, stop) {
            Err(problems) => {
                let problems_shown = problems.first.iter().map(|problem| Shown::of(problem, &places)).collect();
                let more = problems.count - problems.first.len();
                let warnings = Vec::new();
                (Checked { problems: problems_shown, more, warnings, values, described: None }, None)
            }
            Ok(plan) => {
                let warnings = plan.without_effect.iter().map(|problem| Shown::of(problem, &places)).collect();
                let described = Some(Described::of(&plan));
                (Checked { problems: Vec::new(), more: 0, warnings, values, described }, Some(plan))
            }
        }
    }
}

impl Shown {
    fn of(problem: &Problem, places: &Places) -> Self {
        let in_text = |place: &&Place| place.source.origin == Origin::User;
        let place = |place: &Place| {
            let (line, column) = place.line_and_column();
            format!("line {line}, column {column}")
        };
        let also = problem.also.iter().map(|(at, what)| format!("{}: {what}", place(at)));
        let help: Vec<String> = std::iter::once(problem.help.clone()).chain(also).filter(|of| !of.is_empty()).collect();
        Self {
            span: problem.place.as_ref().filter(in_text).map(|place| places.span(&place.span)),
            place: match &problem.place {
                Some(of) if of.source.origin == Origin::User => place(of),
                Some(of) => of.source.name.clone(),
                None => String::new(),
            },
            message: problem.message.clone(),
            label: if problem.label == "here" { String::new() } else { problem.label.clone() },
            help: help.join("\n"),
        }
    }
}

impl Described {
    fn of(plan: &Plan) -> Self {
        let scenario = &plan.points[0].scenario;
        let sweep = plan.parameters().into_iter().map(|path| {
            let mut values: Vec<String> = Vec::new();
            for value in plan.points.iter().filter_map(|point| point.parameters.get(path)).map(word) {
                if !values.contains(&value) {
                    values.push(value);
                }
            }
            format!("{path}: {}", values.join(", "))
        });
        Self {
            name: scenario.name.clone(),
            title: scenario.title.clone(),
            description: scenario.description.clone(),
            points: plan.points.len(),
            runs: plan.jobs().len(),
            duration_s: scenario.duration.as_secs_f64(),
            sweep: sweep.collect(),
            picture: Picture::of(scenario),
        }
    }
}

/// Places in one text as a browser counts them: in units of UTF-16.
struct Places {
    /// For each byte its position in UTF-16; empty for a text of ASCII, where both are the same.
    positions: Vec<u32>,
    length: usize,
}

impl Places {
    /// Those in `text`.
    fn of(text: &str) -> Self {
        let mut positions = Vec::new();
        if !text.is_ascii() {
            let mut position = 0;
            for character in text.chars() {
                positions.extend(std::iter::repeat_n(position, character.len_utf8()));
                position += character.len_utf16() as u32;
            }
            positions.push(position);
        }
        Self { positions, length: text.len() }
    }

    /// A range of bytes in units of UTF-16.
    fn span(&self, bytes: &Range<usize>) -> [usize; 2] {
        [bytes.start, bytes.end].map(|byte| self.position(byte.min(self.length)))
    }

    fn position(&self, byte: usize) -> usize {
        self.positions.get(byte).map_or(byte, |position| *position as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = include_str!("gallery/wifi-lte.toml");

    fn checked(text: &str, set: &[&str]) -> Value {
        let set = set.iter().map(|&text| text.to_owned()).collect();
        let draft = Draft { text: text.to_owned(), set, name: None };
        let bounds = Bounds { points: 20, parts: 1000 };
        let (checked, plan) = draft.checked(&Opened::without_file("test", ""), bounds, &Stop::default());
        let answer = serde_json::to_value(checked).expect("plain data");
        assert_eq!(plan.is_some(), answer["problems"] == serde_json::json!([]));
        answer
    }

    /// The part of a text that a browser finds at a span.
    fn part(text: &str, span: &Value) -> String {
        let at = |index: usize| span[index].as_u64().expect("a position") as usize;
        let utf16: Vec<u16> = text.encode_utf16().collect();
        String::from_utf16_lossy(&utf16[at(0)..at(1)])
    }

    #[test]
    fn a_problem_has_the_message_of_the_command_and_its_place() {
        let text = GOOD.replace("\"lia\"", "\"lya\"");
        let answer = checked(&text, &[]);
        let problem = &answer["problems"][0];
        assert!(problem["message"].as_str().is_some_and(|text| text.contains("flows.file.congestion: found \"lya\"")));
        assert_eq!(problem["label"], "did you mean \"lia\"?");
        assert_eq!(part(&text, &problem["span"]), "\"lya\"");
        assert!(answer.get("title").is_none());
    }

    #[test]
    fn a_good_scenario_has_values_a_picture_and_its_number_of_runs() {
        let answer = checked(GOOD, &["repeat=3"]);
        assert_eq!(answer["problems"], serde_json::json!([]));
        assert_eq!((&answer["runs"], &answer["points"]), (&3.into(), &1.into()));
        let values = answer["values"].as_array().expect("values");
        let rate = values.iter().find(|value| value["path"] == "links.wifi.rate").expect("a rate");
        assert_eq!(part(GOOD, &rate["span"]), "\"50 Mbit/s\"");
        assert_eq!(answer["picture"]["links"].as_array().map(Vec::len), Some(3));
    }

    #[test]
    fn problems_of_changes_name_the_option_and_large_sweeps_are_refused() {
        let answer = checked(GOOD, &["links.wifi.loss=many"]);
        assert_eq!(answer["problems"][0]["span"], Value::Null);
        assert_eq!(answer["problems"][0]["place"], "--set");
        let answer = checked(GOOD, &["sweep={\"links.wifi.delay\"=\"1 ms .. 1000000 ms step 1 ms\"}"]);
        assert!(answer["problems"][0]["message"].as_str().is_some_and(|text| text.contains("1000000")), "{answer}");
        let answer = checked(GOOD, &["sweep={\"links.wifi.delay\"=\"1 ms .. 21 ms step 1 ms\"}"]);
        assert!(answer["problems"][0]["message"].as_str().is_some_and(|text| text.contains("at most 20")), "{answer}");
    }

    #[test]
    fn a_check_ends_when_it_is_asked_to() {
        let (draft, stop) = (Draft { text: GOOD.to_owned(), ..Draft::default() }, Stop::default());
        let bounds = Bounds { points: 20, parts: 1000 };
        let plan = |stop: &Stop| draft.checked(&Opened::without_file("test", ""), bounds, stop).1;
        assert!(plan(&stop).is_some());
        stop.request();
        assert!(plan(&stop).is_none());
    }

    #[test]
    fn a_name_leads_to_no_other_directory() {
        let opened = Opened::without_file("inside/mine", "");
        let path = |name: &str| Draft { name: Some(name.to_owned()), ..Draft::default() }.path(&opened);
        assert_eq!(path("wifi-lte"), PathBuf::from("inside/wifi-lte.toml"));
        for name in ["", "../other", "a/b", "..", "a.b", "ü", &"a".repeat(65)] {
            assert_eq!(path(name), opened.path, "{name}");
        }
    }

    #[test]
    fn places_in_ascii_are_bytes() {
        assert_eq!(Places::of("a = 1\n").span(&(4..5)), [4, 5]);
        assert_eq!(Places::of("a").span(&(0..9)), [0, 1]);
    }

    #[test]
    fn characters_of_several_bytes_count_as_a_browser_counts_them() {
        let text = "title = \"ü€😀\"\nx = 1";
        let places = Places::of(text);
        let utf16: Vec<u16> = text.encode_utf16().collect();
        for (word, start) in [("x = 1", text.find("x = 1")), ("😀", text.find('😀'))] {
            let start = start.expect("it is there");
            let [from, to] = places.span(&(start..start + word.len()));
            assert_eq!(String::from_utf16_lossy(&utf16[from..to]), word);
        }
    }
}
