//! From a scenario file to its runs: combinations of the values in `[sweep]`, each repeated `repeat` times.

mod axis;
mod canonical;
mod design;
mod measure;
mod range;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use indexmap::IndexMap;
use sha2::{Digest, Sha256};
use subflow_network::Stop;

use crate::Scenario;
use crate::file::{Collector, Document, Field, Problem, Problems};
pub use crate::schema::Sampling;
use crate::{Traces, idle_axes, schema, without_effect};
use axis::Axis;
pub use canonical::canonical;
use canonical::digest;
pub use design::Design;
pub use measure::{Measure, measures};
pub use range::first_of_range;

/// The maximum number of runs. More are assumed to be a mistake; they would need too much memory.
const MOST_RUNS: u64 = 1_000_000;

/// The maximum number of points of a sweep: each is read, checked and kept before the first run.
const MOST_POINTS: usize = 100_000;

/// All runs of a scenario file; the scenario at every point of the sweep is valid.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The scenario file.
    pub document: Document,
    /// The combinations of swept values, in the order of the design; in that of a full one, the last path varies fastest.
    /// Without a sweep, one point without parameters.
    pub points: Vec<Point>,
    /// The swept paths by key of `[sweep]`: those of one key change together.
    pub together: Vec<Vec<String>>,
    /// Which combinations they are.
    pub design: Design,
    /// Trace files that the points use: their paths as written in the scenario, and resolved.
    pub traces: Vec<(String, PathBuf)>,
    /// Warnings: keys that have no effect at any point.
    pub without_effect: Vec<Problem>,
    /// Of which runs metrics over time are wanted. No scenario says so; it is for whoever does the runs.
    pub series: SeriesKept,
    /// Whether [`identify_by`](Self::identify_by) was told what the scenario does not say.
    pub is_identified: bool,
}

/// How large a plan may be for whoever reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The most points of a sweep.
    pub points: usize,
    /// The most hosts, routers, links and flows, of all points together: a plan takes about a kilobyte for each.
    pub parts: usize,
}

impl Bounds {
    /// Those of a plan that has no narrower ones.
    const WIDEST: Self = Self { points: MOST_POINTS, parts: usize::MAX };

    /// The most points of a sweep, in words.
    fn most_points(self) -> String {
        if self.is_narrow() { format!("at most {} here", self.points) } else { format!("at most {MOST_POINTS}") }
    }

    /// What to do about a sweep with more: one of `ways`, or the command that has no narrower bounds.
    fn ways_out(self, ways: &[&str]) -> String {
        let command = self.is_narrow().then_some("use `subflow run`");
        let ways: Vec<&str> = ways.iter().copied().chain(command).collect();
        match ways.split_last() {
            Some((last, first)) if !first.is_empty() => format!("{}, or {last}", first.join(", ")),
            _ => ways.concat(),
        }
    }

    /// Whether a sweep that has too many points here can be done elsewhere.
    fn is_narrow(self) -> bool {
        self.points < MOST_POINTS
    }

    fn check(self, parts: usize, document: &Document) -> Result<(), Problem> {
        if parts <= self.parts {
            return Ok(());
        }
        let found = format!(
            "found more than {} hosts, routers, links and flows at all points of the sweep together, which is too many here",
            self.parts
        );
        Err(Problem::at(&document.root.place, found).help("make the network smaller, or use `subflow run`"))
    }
}

/// Of which runs metrics over time are kept. Those of a run take about a thousand times the memory of its figures, and
/// some of its CPU time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SeriesKept {
    /// Of none.
    None,
    /// Of the first run of each point, and of the first 100 points.
    #[default]
    First,
    /// Of all runs.
    All,
}

impl SeriesKept {
    /// Up to this number of runs all have metrics over time unless something else is asked for: reports show means and
    /// bands of several runs.
    const ALL_OF: usize = 100;

    /// Of which runs they are kept where nothing else is asked for.
    pub fn usual(runs: usize) -> Self {
        if runs <= Self::ALL_OF { Self::All } else { Self::First }
    }
}

/// Swept paths and their values, in the order of the scenario file.
pub type Parameters = IndexMap<String, serde_json::Value>;

/// One combination of swept values.
#[derive(Clone, Debug)]
pub struct Point {
    /// The swept paths and their values at this point.
    pub parameters: Parameters,
    /// The scenario with these values.
    pub scenario: Arc<Scenario>,
    /// SHA-256 of everything in the file that decides on results, with these values, and of the traces that it names.
    /// Titles, `seed`, `repeat` and `[sweep]` do not count.
    pub digest: [u8; 32],
    /// Messages of keys that have no effect at this point: the path, that it has none, and why.
    pub without_effect: Vec<String>,
}

/// One run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// The number of the run, counted from 0 across all points.
    pub run: usize,
    /// Index into [`Plan::points`].
    pub point: usize,
    /// The seed of the run: the scenario's seed plus the number of the repetition.
    pub seed: u64,
}

/// Keys without effect, by message, with the number of points where they have none.
#[derive(Default)]
struct Idle(BTreeMap<String, (usize, Problem)>);

impl Idle {
    fn add(&mut self, found: Vec<Problem>) {
        for problem in found {
            self.0.entry(problem.message.clone()).or_insert((0, problem)).0 += 1;
        }
    }

    /// Those that have no effect at any of `points`.
    fn everywhere(self, points: usize) -> Vec<Problem> {
        self.0.into_values().filter(|(count, _)| *count == points).map(|(_, problem)| problem).collect()
    }
}

impl Plan {
    /// Reads the scenario at every point of its sweep.
    pub fn read(document: Document) -> Result<Self, Problems> {
        Self::read_within(document, Bounds::WIDEST, &Stop::default())
    }

    /// Like [`read`](Self::read), but refuses what is larger than `bounds`: a sweep of more points before the first of
    /// them is read, and one of more parts as soon as there are more. Ends with a problem soon after `stop` is requested.
    pub fn read_within(document: Document, bounds: Bounds, stop: &Stop) -> Result<Self, Problems> {
        let Sweep { axes, design, choices, idle_design } = Sweep::read(&document, bounds)?;
        let mut parts = 0;
        let traces = Traces::new(&document);
        let mut problems = Collector::default();
        let mut points = Vec::new();
        let mut idle = Idle::default();
        for choice in choices {
            if stop.is_requested() {
                return Err(Problem::nowhere("stopped on request".to_owned()).into());
            }
            let mut root = document.root.clone();
            let mut parameters = Parameters::new();
            for (axis, &place) in axes.iter().zip(&choice) {
                for (path, value) in axis.values_at(place) {
                    parameters.insert(path.shown(), value.to_json());
                    path.assign(&mut root, value)?;
                }
            }
            match Scenario::read_from(&document, &root, &traces) {
                Ok(scenario) => {
                    parts += scenario.parts();
                    bounds.check(parts, &document)?;
                    let found = without_effect(&root, &scenario, &traces);
                    let messages = found.iter().map(|problem| problem.message.clone()).collect();
                    idle.add(found);
                    let digest = digest(&root, &traces);
                    points.push(Point { parameters, scenario: Arc::new(scenario), digest, without_effect: messages });
                }
                Err(found) => problems.merge(found),
            }
        }
        let mut without_effect = idle.everywhere(points.len());
        without_effect.extend(idle_design);
        let together = axes.iter().map(Axis::shown_paths).collect();
        let (traces, series) = (traces.files(), SeriesKept::default());
        let is_identified = false;
        let mut plan = Self { document, points, together, design, traces, without_effect, series, is_identified };
        problems.finish(())?;
        let idle = idle_axes(&plan.document, &plan.parameters());
        plan.without_effect.extend(idle);
        let runs: u64 = plan.points.iter().map(|point| u64::from(point.scenario.repeat)).sum();
        if runs > MOST_RUNS {
            return Err(Problem::nowhere(format!(
                "{}: found {} sweep points with {runs} runs in all, expected at most {MOST_RUNS} runs",
                plan.document.path.display(),
                plan.points.len()
            ))
            .help("sweep over fewer values, or lower `repeat`")
            .into());
        }
        Ok(plan)
    }

    /// The runs, in the order of their results.
    pub fn jobs(&self) -> Vec<Job> {
        let repeated = self.points.iter().enumerate().flat_map(|(point, Point { scenario, .. })| {
            let (first, repeat) = (scenario.seed, u64::from(scenario.repeat));
            (0..repeat).map(move |repetition| (point, first + repetition))
        });
        repeated.enumerate().map(|(run, (point, seed))| Job { run, point, seed }).collect()
    }

    /// SHA-256 of the digests of all points, as hexadecimal digits: the same for all files that describe the same runs
    /// of the same points, whatever their number and seeds are.
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        self.points.iter().for_each(|point| hash.update(point.digest));
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Makes its runs differ, in stores, from those of the same scenarios that something else does: a kernel, or an
    /// algorithm of which the file has only the name.
    pub fn identify_by(&mut self, what: &str) {
        self.is_identified = true;
        for point in &mut self.points {
            point.digest = Sha256::new().chain_update(point.digest).chain_update(what).finalize().into();
        }
    }

    /// The swept paths, in the order of the file.
    pub fn parameters(&self) -> Vec<&str> {
        self.points.first().map_or_else(Vec::new, |point| point.parameters.keys().map(String::as_str).collect())
    }

    /// Known keys at the top of a scenario file.
    pub(crate) fn is_known_root(key: &str) -> bool {
        schema::ROOT.keys().any(|known| known == key)
    }
}

/// What `[sweep]` describes.
struct Sweep {
    axes: Vec<Axis>,
    design: Design,
    /// For each point, the place of its value on every axis.
    choices: Vec<Vec<u64>>,
    /// The warning of a design that has nothing to draw from.
    idle_design: Option<Problem>,
}

impl Sweep {
    /// The sweep of a document, with at most so many points; without one, a single point without swept values.
    fn read(document: &Document, bounds: Bounds) -> Result<Self, Problem> {
        let Some(sweep) = document.root.entry("sweep") else {
            let choices = vec![Vec::new()];
            return Ok(Self { axes: Vec::new(), design: Design::Full, choices, idle_design: None });
        };
        let root = Field::root(&document.root);
        let given = root.section(&schema::ROOT)?.entries_of("sweep").find(|(key, _)| *key == "design");
        let given = given.map(|(_, field)| field);
        let design = given.as_ref().map_or(Ok(Design::Full), Design::read)?;
        // A design that draws its points may draw them from more values than it has points.
        let of_values = if design == Design::Full { bounds } else { Bounds::WIDEST };
        let axes = Axis::read_all(sweep, of_values)?;
        let design = if axes.is_empty() { Design::Full } else { design };
        let idle_design = given
            .filter(|_| axes.is_empty() && !document.has_ended_sweep)
            .map(|field| field.without_effect("sweep.design", "no path is swept"));
        if design == Design::Full {
            axes.iter().try_for_each(Axis::check_steps)?;
        }
        let whole = |message| Problem::at(&sweep.node.place, format!("sweep: {message}"));
        let choices = design.choices(&axes, bounds, whole)?;
        Ok(Self { axes, design, choices, idle_design })
    }
}
