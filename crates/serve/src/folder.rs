//! A folder of results: what commands have written there, and the stores of sweeps, also of those that are being done.
//! No file is read that a command has not written, and nothing is written but the request to end a sweep.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use subflow_lab::results::{Experiment, Run, StoredResults};
use subflow_report::output::Written;
use subflow_scenario::file::{Document, Reach};
use subflow_scenario::sweep::Plan;
use subflow_store::{Collected, Share, Store, StoreError, collect};

/// How deep results are looked for, and in how many folders.
const DEEPEST: usize = 4;
const MOST_FOLDERS: usize = 2000;
/// The most plans of a store that are listed: those of a publication may be hundreds.
const MOST_PLANS: usize = 20;
/// The most plans that are kept, because reading a large one takes a second.
const MOST_KEPT: usize = 2 * MOST_PLANS;

/// The report of results, and the files of which it can be made anew.
const REPORT: &str = "report.html";
const SOURCES: [&str; 2] = ["results.json", "scenario.toml"];

/// A plan of a store, by the store's folder and the ID in it.
type Known = ((PathBuf, String), Arc<Plan>);

/// The folder.
#[derive(Debug)]
pub(crate) struct Folder {
    root: PathBuf,
    plans: Mutex<VecDeque<Known>>,
}

/// Something in the folder that can be opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Entry {
    /// The path of its folder below the one that was opened; `.` for that one itself.
    pub(crate) path: String,
    /// The ID of a plan in a store; null for results.
    pub(crate) plan: Option<String>,
    /// What it is, in words.
    what: String,
    /// The files that were written, of results.
    files: Vec<String>,
    /// How many runs there are, of a plan.
    #[serde(flatten)]
    share: Option<Share>,
    /// The number of the process that does the runs; empty if only that it works is known.
    user: Option<String>,
    /// Files of results that are not there any more.
    missing: Vec<String>,
    /// Whether the report of results is missing and can be made anew of what is there.
    remade: bool,
    /// Why it cannot be opened.
    problem: Option<String>,
}

/// Runs that are there.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) plan: Plan,
    pub(crate) experiment: Experiment,
    /// Of a sweep, how many of all they are.
    pub(crate) share: Option<Share>,
}

impl Folder {
    pub(crate) fn new(root: PathBuf) -> Self {
        Self { root, plans: Mutex::default() }
    }

    /// Its path, as it was given.
    pub(crate) fn path(&self) -> &Path {
        &self.root
    }

    /// What can be opened: sweeps that are being done first, then what changed last.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        let mut found = Vec::new();
        for folder in self.folders() {
            // A folder that cannot be asked for its time is the oldest one.
            let changed = folder.metadata().and_then(|metadata| metadata.modified()).ok();
            let path = self.below(&folder);
            let entries = match Store::existing(&folder) {
                Ok(store) => self.of_store(&path, &store),
                Err(StoreError::Missing { .. }) => of_results(&path, &folder).into_iter().collect(),
                Err(error) => vec![Entry { problem: Some(error.to_string()), ..Entry::new(&path, "runs in a store") }],
            };
            found.extend(entries.into_iter().map(|entry| (changed, entry)));
        }
        found.sort_by(|(a, one), (b, other)| {
            let is_done = |entry: &Entry| entry.user.is_none();
            is_done(one).cmp(&is_done(other)).then(b.cmp(a)).then_with(|| one.path.cmp(&other.path))
        });
        found.into_iter().map(|(_, entry)| entry).collect()
    }

    /// The file of results with this name, if a command has written it.
    pub(crate) fn file(&self, path: &str, name: &str) -> Option<PathBuf> {
        let folder = self.folders().into_iter().find(|folder| self.below(folder) == path)?;
        Written::read(&folder).ok()??.file(name)
    }

    /// The runs of a plan that its store has.
    pub(crate) fn sweep(&self, path: &str, id: &str) -> Result<Opened, String> {
        self.collected(&self.store_at(path)?, id).map_err(|error| error.to_string())
    }

    /// The runs of results whose report is missing.
    pub(crate) fn results(&self, path: &str) -> Result<Opened, String> {
        let known = self.folders().into_iter().find(|folder| self.below(folder) == path);
        let folder = known.ok_or_else(|| "these results are not there any more".to_owned())?;
        match Written::read(&folder) {
            Ok(Some(written)) => remade(&written),
            Ok(None) => Err("no command has written results there".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Asks the process that does runs for a store to end, and returns its number.
    pub(crate) fn stop(&self, path: &str) -> Result<String, String> {
        let stop = |folder: &Path| Store::existing(folder)?.request_stop();
        let asked = stop(&self.store_at(path)?).map_err(|error| error.to_string())?;
        asked.ok_or_else(|| "no process that can be asked does runs there any more".to_owned())
    }

    fn store_at(&self, path: &str) -> Result<PathBuf, String> {
        let known = self.folders().into_iter().find(|folder| self.below(folder) == path);
        known.ok_or_else(|| "this store is not there any more: its command may have ended".to_owned())
    }

    fn collected(&self, folder: &Path, id: &str) -> Result<Opened, StoreError> {
        let store = Store::existing(folder)?;
        let plan = self.plan(&store, id)?;
        let Collected { experiment, missing } = collect(&plan, true, |key| store.load(key))?;
        let (finished, failed) = (experiment.runs.len(), experiment.failed.len());
        let share = Share { finished, failed, total: finished + failed + missing.len() };
        Ok(Opened { plan: (*plan).clone(), experiment, share: Some(share) })
    }

    /// All folders that results or stores may be in, up to a number.
    fn folders(&self) -> Vec<PathBuf> {
        let mut folders = vec![self.root.clone()];
        let mut waiting = VecDeque::from([(self.root.clone(), 0)]);
        while let Some((folder, depth)) = waiting.pop_front() {
            if depth == DEEPEST || Store::is_at(&folder) {
                continue;
            }
            // A folder that cannot be read has nothing to show.
            let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
            // Symbolic links are not followed.
            let below = entries.filter(|entry| {
                entry.file_type().is_ok_and(|kind| kind.is_dir())
                    && !entry.file_name().to_string_lossy().starts_with('.')
            });
            let mut below: Vec<PathBuf> = below.map(|entry| entry.path()).collect();
            below.sort();
            below.truncate(MOST_FOLDERS.saturating_sub(folders.len()));
            waiting.extend(below.iter().map(|path| (path.clone(), depth + 1)));
            folders.extend(below);
        }
        folders
    }

    fn below(&self, folder: &Path) -> String {
        let path = folder.strip_prefix(&self.root).unwrap_or(folder).to_string_lossy().replace('\\', "/");
        if path.is_empty() { ".".to_owned() } else { path }
    }

    fn of_store(&self, path: &str, store: &Store) -> Vec<Entry> {
        let user = store.user();
        let failed = |what: &str, error: StoreError| Entry {
            problem: Some(error.to_string()),
            user: user.clone(),
            ..Entry::new(path, what)
        };
        let ids = match store.noted() {
            Ok(ids) if ids.is_empty() => return Vec::new(),
            Ok(ids) => ids,
            Err(error) => return vec![failed("runs in a store", error)],
        };
        let one = |id: &String| {
            let counted = self.plan(store, id).and_then(|plan| Ok((store.share(&plan)?, plan)));
            match counted {
                Ok((share, plan)) => Entry {
                    plan: Some(id.clone()),
                    share: Some(share),
                    user: user.clone(),
                    ..Entry::new(path, &titled(&plan))
                },
                Err(error) => failed("runs of a scenario", error),
            }
        };
        let mut entries: Vec<Entry> = ids.iter().take(MOST_PLANS).map(one).collect();
        if ids.len() > MOST_PLANS {
            let others = ids.len() - MOST_PLANS;
            entries.push(Entry {
                problem: Some(format!("{others} more are in this store: `subflow export` prints all of its runs")),
                ..Entry::new(path, "further scenarios")
            });
        }
        entries
    }

    /// The plan of a store, read or kept.
    fn plan(&self, store: &Store, id: &str) -> Result<Arc<Plan>, StoreError> {
        let key = (store.path().to_owned(), id.to_owned());
        let plans = || self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, plan)) = plans().iter().find(|(known, _)| *known == key) {
            return Ok(Arc::clone(plan));
        }
        let plan = Arc::new(store.plan(id)?);
        let mut plans = plans();
        plans.truncate(MOST_KEPT - 1);
        plans.push_front((key, Arc::clone(&plan)));
        Ok(plan)
    }
}

impl Entry {
    fn new(path: &str, what: &str) -> Self {
        let (path, what) = (path.to_owned(), what.to_owned());
        let (files, missing) = (Vec::new(), Vec::new());
        Self { path, plan: None, what, files, share: None, user: None, missing, remade: false, problem: None }
    }
}

/// Name and title of a scenario; one without a title has its name as title.
fn titled(plan: &Plan) -> String {
    let (name, title) = (&plan.document.name, &plan.points[0].scenario.title);
    if name == title { name.clone() } else { format!("{name}: {title}") }
}

/// The runs that a command has written, read back from their files.
fn remade(written: &Written) -> Result<Opened, String> {
    let file = |name| written.file(name).ok_or_else(|| format!("{name} is not there any more"));
    let [results, scenario] = SOURCES.map(file);
    let stored = StoredResults::read(&results?).map_err(|error| format!("{}; {}", error.message, error.help))?;
    let scenario = scenario?;
    let text = std::fs::read_to_string(&scenario).map_err(|error| format!("scenario.toml: {error}"))?;
    let is_plain = |name: &&str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "-_".contains(c));
    // The file is called scenario.toml whatever the scenario is called; its traces are beside it.
    let name = Some(stored.scenario.as_str()).filter(is_plain).unwrap_or("scenario");
    let mut document = Document::parse(&scenario.with_file_name(format!("{name}.toml")), text)
        .map_err(|problem| format!("scenario.toml: {}", problem.message))?;
    document.restrict(Reach::Directory);
    let plan = Plan::read(document).map_err(|problems| format!("scenario.toml: {problems}"))?;
    let is_known = |run: &Run| plan.points.get(run.point).is_some_and(|point| point.parameters == run.parameters);
    if let Some(run) = stored.runs.iter().find(|run| !is_known(run)) {
        return Err(format!("results.json: run {} is not one of scenario.toml beside it", run.run));
    }
    let experiment = Experiment::new(&plan, stored.runs);
    Ok(Opened { plan, experiment, share: None })
}

/// The results that a command has written to a folder, if there are some.
fn of_results(path: &str, folder: &Path) -> Option<Entry> {
    match Written::read(folder) {
        Ok(None) => None,
        Ok(Some(written)) => {
            let what = written.content.to_string();
            let missing = written.missing();
            let has = |name: &&str| written.files.contains(*name) && !missing.iter().any(|gone| gone == name);
            let remade = !has(&REPORT) && SOURCES.iter().all(has);
            let files = written.files.iter().filter(|name| has(&name.as_str())).cloned().collect();
            Some(Entry { files, missing, remade, ..Entry::new(path, &what) })
        }
        Err(error) => Some(Entry { problem: Some(error.to_string()), ..Entry::new(path, "results") }),
    }
}

#[cfg(test)]
mod tests {
    use subflow_lab::execute::execute;
    use subflow_lab::simulate::RunOptions;
    use subflow_report::output::Folder as Output;
    use subflow_store::{Settings, fill};

    use super::*;

    fn plan() -> Plan {
        let text = include_str!("gallery/wifi-lte.toml").to_owned();
        let mut document = Document::parse(Path::new("wifi-lte.toml"), text).expect("TOML");
        for assignment in ["duration=200 ms", "repeat=3"] {
            document.set("--set", assignment).expect("a value");
        }
        Plan::read(document).expect("a scenario")
    }

    fn settings() -> Settings {
        Settings { options: RunOptions { series: true, ..RunOptions::default() }, ..Settings::default() }
    }

    #[test]
    fn results_and_a_sweep_that_is_being_done_are_found_and_the_sweep_comes_first() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let plan = plan();
        let experiment = execute(&plan, 1, &RunOptions::default(), &|_| {}).expect("it runs");
        let out = Output::for_plan(root.path().join("a/done"), &plan, false).expect("absent");
        out.write_experiment(&plan, &experiment, None).expect("written");
        let store = Store::open_journal(root.path().join("z.runs")).expect("a new store");
        fill(&plan, &plan.jobs()[..2], &store, &settings(), &|_| {}).expect("it can be written");
        let folder = Folder::new(root.path().to_owned());
        let [sweep, results] = &folder.entries()[..] else { panic!("{:?}", folder.entries()) };
        assert_eq!((sweep.path.as_str(), sweep.share), ("z.runs", Some(Share { finished: 2, failed: 0, total: 3 })));
        assert!(sweep.user.is_some() && sweep.what.contains("A phone moves a file"), "{sweep:?}");
        assert_eq!((results.path.as_str(), results.what.as_str()), ("a/done", "3 runs of wifi-lte"));
        assert!(results.files.contains(&"report.html".to_owned()), "{results:?}");
        let opened = folder.sweep("z.runs", sweep.plan.as_deref().expect("an ID")).expect("it can be read");
        assert_eq!((opened.experiment.runs.len(), opened.share.map(|share| share.total)), (2, Some(3)));
        assert!(folder.file("a/done", "report.html").is_some());
        for (path, name) in [("a/done", "../../secret"), ("a", "report.html"), ("../x", "report.html")] {
            assert_eq!(folder.file(path, name), None, "{path} {name}");
        }
        drop(store);
        let is_used = |entry: &Entry| entry.user.is_some();
        assert!(!folder.entries().iter().any(is_used), "the command has ended");
        assert!(folder.sweep("gone.runs", "0").is_err_and(|why| why.contains("not there any more")));
    }

    #[cfg(unix)]
    #[test]
    fn links_to_other_folders_are_not_followed_and_damage_is_shown() {
        let [root, other] = [(), ()].map(|()| tempfile::tempdir().expect("a temporary folder"));
        std::fs::write(other.path().join(".subflow-results"), "{}").expect("written");
        std::os::unix::fs::symlink(other.path(), root.path().join("link")).expect("linked");
        let folder = Folder::new(root.path().to_owned());
        assert_eq!(folder.entries(), []);
        std::fs::write(root.path().join(".subflow-results"), "{}").expect("written");
        let entries = folder.entries();
        assert!(entries.len() == 1 && entries[0].problem.is_some(), "{entries:?}");
    }
}
