//! The lessons of the page: small scenarios, each with a question, a key to change, and answers that figures decide.
//!
//! A lesson is a file in this folder, and its scenario one in `scenarios/`. No file says which answer is right: an answer
//! has a range for each figure, in which the ratio of the figure after the change to that before it lies if the answer
//! holds.

use std::path::Path;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use subflow_lab::results::metrics::{FLOW, Metric, SUBFLOW};
use subflow_lab::results::parameters::word;
use subflow_lab::results::{Experiment, RunResult};
use subflow_scenario::file::Document;
use subflow_scenario::sweep::Plan;

macro_rules! files {
    ($($name:literal),*) => {
        [$(($name, include_str!(concat!($name, ".toml")), include_str!(concat!("scenarios/", $name, ".toml")))),*]
    };
}

/// Names, lessons and scenarios, in the order in which they are taught.
const FILES: [(&str, &str, &str); 6] =
    files!["rtt", "coupling", "head-of-line", "buffers", "shared-bottleneck", "failure"];

/// A lesson.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Lesson {
    /// Its name, which is also that of its scenario.
    #[serde(skip_deserializing)]
    pub(crate) name: &'static str,
    title: String,
    /// What the scenario is, and what one has to know.
    text: String,
    /// The path of the value to change.
    key: String,
    /// The values that are offered for it.
    values: Vec<String>,
    /// Its value in the scenario.
    before: String,
    /// The value that the question is about.
    after: String,
    question: String,
    /// Why the figures are as they are.
    because: String,
    /// What else to try.
    further: String,
    figures: Vec<Figure>,
    answers: Vec<Answer>,
    /// The text of its scenario.
    #[serde(skip_deserializing)]
    scenario: &'static str,
}

/// A number that is taken from results.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Figure {
    label: String,
    flow: String,
    /// Of this subflow; without it, of the flow.
    subflow: Option<String>,
    /// The column of the metric in tables.
    metric: String,
    /// The unit of the metric.
    #[serde(skip_deserializing)]
    unit: &'static str,
}

/// An answer, and what figures have to be if it holds.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    text: String,
    /// For each figure, the least and the largest ratio of its value after the change to that before it.
    ratios: Vec<[f64; 2]>,
}

/// The figures of a lesson with one value of its key.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Measured {
    /// The value of the key.
    value: String,
    /// The mean of each figure over the runs; null if no run has it.
    figures: Vec<Option<f64>>,
}

/// All lessons.
pub(crate) fn lessons() -> &'static [Lesson] {
    static LESSONS: OnceLock<Vec<Lesson>> = OnceLock::new();
    LESSONS.get_or_init(|| {
        let read = |(name, text, scenario)| {
            Lesson::read(name, text, scenario).expect("the program has it, and a test reads it")
        };
        FILES.into_iter().map(read).collect()
    })
}

/// The lesson with this name.
pub(crate) fn lesson(name: &str) -> Option<&'static Lesson> {
    lessons().iter().find(|lesson| lesson.name == name)
}

impl Lesson {
    fn read(name: &'static str, text: &str, scenario: &'static str) -> Result<Self, String> {
        let document = Document::parse(Path::new(name), text.to_owned()).map_err(|problem| problem.message)?;
        let keys = document.leaves().into_iter().map(|leaf| (leaf.path, leaf.value)).collect();
        let mut lesson: Self = serde_json::from_value(Value::Object(keys)).map_err(|error| error.to_string())?;
        (lesson.name, lesson.scenario) = (name, scenario);
        for figure in &mut lesson.figures {
            figure.unit = figure.unit().ok_or_else(|| format!("no metric {}", figure.metric))?;
        }
        Ok(lesson)
    }

    /// Its figures in an experiment: for each point, the value of its key there.
    pub(crate) fn measured(&self, plan: &Plan, experiment: &Experiment) -> Vec<Measured> {
        let leaves = plan.document.leaves();
        let written = leaves.iter().find(|leaf| leaf.path == self.key).map(|leaf| &leaf.value);
        let points = plan.points.iter().enumerate().filter_map(|(index, point)| {
            let value = word(point.parameters.get(&self.key).or(written)?);
            let runs = || experiment.runs.iter().filter(|run| run.point == index).map(|run| &run.result);
            let mean = |figure: &Figure| {
                let values: Vec<f64> = runs().filter_map(|run| figure.of(run)).collect();
                (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
            };
            Some(Measured { value, figures: self.figures.iter().map(mean).collect() })
        });
        points.collect()
    }
}

impl Figure {
    /// The metric's unit; `None` if there is no such metric.
    fn unit(&self) -> Option<&'static str> {
        match self.subflow {
            Some(_) => metric(SUBFLOW, &self.metric).map(|metric| metric.unit),
            None => metric(FLOW, &self.metric).map(|metric| metric.unit),
        }
    }

    /// Its value in a run.
    fn of(&self, run: &RunResult) -> Option<f64> {
        let flow = run.flows.iter().find(|flow| flow.name == self.flow)?;
        match &self.subflow {
            Some(name) => {
                let subflow = flow.subflows.iter().find(|subflow| subflow.name == *name)?;
                metric(SUBFLOW, &self.metric)?.value(subflow)
            }
            None => metric(FLOW, &self.metric)?.value(flow),
        }
    }
}

/// The metric in this column.
fn metric<T>(known: &'static [&'static [Metric<T>]], column: &str) -> Option<&'static Metric<T>> {
    known.iter().copied().flatten().find(|metric| metric.column == column)
}

#[cfg(test)]
mod tests {
    use subflow_lab::execute::execute;
    use subflow_lab::simulate::RunOptions;

    use super::*;

    /// The figures with a value of the key.
    fn with(lesson: &Lesson, value: &str) -> Vec<f64> {
        let path = Path::new(lesson.name).with_extension("toml");
        let mut document = Document::parse(&path, lesson.scenario.to_owned()).expect("TOML");
        document.set("--set", &format!("{}={value}", lesson.key)).expect("a key of the scenario");
        let plan = Plan::read(document).unwrap_or_else(|problems| panic!("{}: {problems}", lesson.name));
        let options = RunOptions { series: true, ..RunOptions::default() };
        let experiment = execute(&plan, 1, &options, &|_| {}).expect("it runs");
        let [measured] = <[Measured; 1]>::try_from(lesson.measured(&plan, &experiment)).expect("one point");
        assert_eq!(measured.value, value);
        measured.figures.into_iter().map(|figure| figure.expect("the run has it")).collect()
    }

    #[test]
    fn the_figures_of_each_lesson_move_as_exactly_one_of_its_answers_says() {
        for lesson in lessons() {
            let ratios: Vec<f64> = with(lesson, &lesson.after)
                .into_iter()
                .zip(with(lesson, &lesson.before))
                .map(|(after, before)| after / before)
                .collect();
            let holds = |answer: &&Answer| {
                assert_eq!(answer.ratios.len(), ratios.len(), "{}: a range for each figure", lesson.name);
                answer.ratios.iter().zip(&ratios).all(|([least, most], ratio)| (*least..=*most).contains(ratio))
            };
            let held: Vec<&str> = lesson.answers.iter().filter(holds).map(|answer| answer.text.as_str()).collect();
            assert_eq!(held.len(), 1, "{}: {ratios:?} {held:?}", lesson.name);
        }
    }

    #[test]
    fn each_lesson_offers_its_values_and_begins_with_its_scenario() {
        assert_eq!(lessons().len(), FILES.len());
        for lesson in lessons() {
            let document = Document::parse(Path::new("lesson.toml"), lesson.scenario.to_owned()).expect("TOML");
            let leaf = document.leaves().into_iter().find(|leaf| leaf.path == lesson.key).expect("the key");
            assert_eq!(leaf.value, lesson.before, "{}", lesson.name);
            assert!(lesson.values.contains(&lesson.before) && lesson.values.contains(&lesson.after));
            assert!(lesson.question.ends_with('?') && lesson.answers.len() > 2, "{}", lesson.name);
        }
    }

    #[test]
    fn a_sweep_over_the_key_gives_a_row_for_each_value() {
        let lesson = lesson("failure").expect("a lesson");
        let mut document = Document::parse(Path::new("f.toml"), lesson.scenario.to_owned()).expect("TOML");
        document.set("--set", "sweep={\"flows.upload.protocol\"=[\"tcp\", \"mptcp\"]}").expect("a sweep");
        let plan = Plan::read(document).expect("a scenario");
        let experiment = execute(&plan, 1, &RunOptions::default(), &|_| {}).expect("it runs");
        let rows = lesson.measured(&plan, &experiment);
        assert_eq!(rows.iter().map(|row| row.value.as_str()).collect::<Vec<_>>(), ["tcp", "mptcp"]);
        assert!(rows[1].figures[0] < rows[0].figures[0], "{rows:?}");
    }

    #[test]
    fn a_lesson_whose_metric_is_unknown_is_refused() {
        let (name, text, scenario) = FILES[0];
        let broken = text.replace("completion_s", "completion_h");
        assert!(Lesson::read(name, &broken, scenario).is_err_and(|why| why.contains("completion_h")));
    }
}
