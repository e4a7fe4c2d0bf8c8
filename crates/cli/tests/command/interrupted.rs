//! Commands that are interrupted, and what they keep.

use std::collections::BTreeMap;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use crate::desk::Desk;

/// Runs of a store, with the times at which they were written.
pub(crate) type Stored = BTreeMap<PathBuf, SystemTime>;

/// The runs that a store has.
pub(crate) fn stored(store: &Path) -> Stored {
    files(store).filter_map(|file| Some((file.path(), file.metadata().ok()?.modified().ok()?))).collect()
}

/// The files of the runs that a store has.
fn files(store: &Path) -> impl Iterator<Item = DirEntry> {
    let folders = std::fs::read_dir(store).into_iter().flatten().flatten();
    let folders = folders.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let files = folders.flat_map(|folder| std::fs::read_dir(folder.path()).into_iter().flatten().flatten());
    files.filter(|file| {
        let name = file.file_name().to_string_lossy().into_owned();
        !name.starts_with('.') && name.ends_with(".run")
    })
}

pub(crate) fn start(desk: &Desk, arguments: &[&str]) -> Child {
    Command::new(assert_cmd::cargo::cargo_bin("subflow"))
        .current_dir(desk.root())
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts")
}

/// Waits until the store has so many runs. Fails if the command ends before.
pub(crate) fn wait_for(count: usize, store: &Path, child: &mut Child) {
    let begin = Instant::now();
    while files(store).count() < count {
        assert!(
            child.try_wait().expect("it can be asked").is_none(),
            "the command ended before {count} runs were done"
        );
        assert!(begin.elapsed() < Duration::from_secs(120), "{count} runs take too long");
        // Looking takes longer than a run: done at once again, it would take most of a core.
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Starts a sweep whose results go to `cut`, and kills it when its store has `count` runs, or as many as `before` if
/// that is more. Returns the runs that the store has then. Fails if a run was lost, or done twice.
pub(crate) fn start_and_kill(desk: &Desk, arguments: &[&str], count: usize, before: &Stored) -> Stored {
    let store = desk.path("cut.runs");
    let mut child = start(desk, arguments);
    wait_for(count.max(before.len()), &store, &mut child);
    let seen = stored(&store);
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    let after = stored(&store);
    assert!(seen.iter().all(|(file, time)| after.get(file) == Some(time)), "a run that was done is lost");
    assert!(before.iter().all(|(file, time)| after.get(file) == Some(time)), "a run was done twice");
    assert!(!desk.path("cut/results.json").exists());
    after
}

/// All files of a folder of results and below, without the lines that tell CPU times.
fn results(folder: &Path, runs: usize) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(below) = folders.pop() {
        for entry in std::fs::read_dir(folder.join(&below)).expect("a folder").flatten() {
            let name = below.join(entry.file_name());
            if entry.path().is_dir() {
                folders.push(name);
                continue;
            }
            let mut bytes = std::fs::read(entry.path()).expect("a file");
            if name == Path::new("results.json") {
                let text = String::from_utf8(bytes).expect("UTF-8");
                let lines: Vec<&str> = text.lines().filter(|line| !line.contains("\"cpu_s\"")).collect();
                assert_eq!(text.lines().count() - lines.len(), runs);
                bytes = lines.join("\n").into_bytes();
            }
            files.insert(name, bytes);
        }
    }
    files
}

/// Fails unless two folders have the same results of so many runs, but for CPU times.
pub(crate) fn assert_equal(desk: &Desk, [one, other]: [&str; 2], runs: usize) {
    let (one, other) = (results(&desk.path(one), runs), results(&desk.path(other), runs));
    assert_eq!(one.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>());
    assert!(one.len() > 10, "{:?}", one.keys());
    for (name, bytes) in &one {
        assert!(*bytes == other[name], "{} differs", name.display());
    }
}
