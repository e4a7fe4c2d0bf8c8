//! The folder of a paper: one that the program contains, or one on disk.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use subflow_scenario::file::{Document, Origin, Problem, Source};
use subflow_scenario::input;

include!(concat!(env!("OUT_DIR"), "/folders.rs"));

/// A larger file is assumed to be a mistake.
const LARGEST_FILE_MIB: u64 = 64;

/// Files by their paths in a folder, and their texts.
type Files = &'static [(&'static str, &'static str)];

#[derive(Clone, Debug)]
pub(crate) struct Folder {
    pub(crate) name: String,
    place: PlaceOfFiles,
}

#[derive(Clone, Debug)]
enum PlaceOfFiles {
    Program(Files),
    Disk(PathBuf),
}

impl Folder {
    /// The folder `papers/NAME` of this crate.
    pub(crate) fn in_program(name: &str) -> Option<Self> {
        let (name, files) = FOLDERS.iter().find(|(known, _)| *known == name)?;
        Some(Self { name: (*name).to_owned(), place: PlaceOfFiles::Program(files) })
    }

    pub(crate) fn names_in_program() -> impl Iterator<Item = &'static str> {
        FOLDERS.iter().map(|(name, _)| *name)
    }

    pub(crate) fn on_disk(path: &Path) -> Self {
        let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let name = whole.file_name().map_or_else(|| "study".to_owned(), |name| name.to_string_lossy().into_owned());
        Self { name, place: PlaceOfFiles::Disk(path.to_owned()) }
    }

    /// The text of a file, as the source that problems show.
    pub(crate) fn source(&self, file: &str) -> Result<Arc<Source>, Problem> {
        let path = self.path_of(file);
        let PlaceOfFiles::Program(files) = &self.place else { return source_at(&path) };
        let name = path.display().to_string();
        match files.iter().find(|(known, _)| *known == file) {
            Some((_, text)) => Ok(Arc::new(Source { origin: Origin::User, name, text: (*text).to_owned() })),
            None => Err(Problem::nowhere(format!("{name}: there is no such file"))),
        }
    }

    /// A scenario. Traces that it names are beside it.
    pub(crate) fn scenario(&self, file: &str) -> Result<Document, Problem> {
        let path = self.path_of(file);
        let PlaceOfFiles::Program(files) = self.place else { return Document::load(&path) };
        let mut document = Document::parse(&path, self.source(file)?.text.clone())?;
        let directory = file.rsplit_once('/').map_or(0, |(directory, _)| directory.len() + 1);
        for (path, text) in files.iter().filter(|(path, _)| path.ends_with(".up")) {
            document.add_trace(&path[directory..], text);
        }
        Ok(document)
    }

    /// The files of published figures: `published.csv`, and all tables in the folder `published`.
    pub(crate) fn published(&self) -> Vec<String> {
        let mut found: Vec<String> = match &self.place {
            PlaceOfFiles::Program(files) => files.iter().map(|(path, _)| (*path).to_owned()).collect(),
            PlaceOfFiles::Disk(root) => {
                let entries = std::fs::read_dir(root.join("published")).into_iter().flatten().flatten();
                let tables = entries.map(|entry| format!("published/{}", entry.file_name().to_string_lossy()));
                tables.chain(root.join("published.csv").exists().then(|| "published.csv".to_owned())).collect()
            }
        };
        found.retain(|path| path == "published.csv" || (path.starts_with("published/") && path.ends_with(".csv")));
        found.sort();
        found
    }

    fn path_of(&self, file: &str) -> PathBuf {
        match &self.place {
            PlaceOfFiles::Program(_) => Path::new(&self.name).join(file),
            PlaceOfFiles::Disk(root) => root.join(file),
        }
    }
}

/// The text of the file at `path`, as the source that problems show.
pub(crate) fn source_at(path: &Path) -> Result<Arc<Source>, Problem> {
    let name = path.display().to_string();
    let unreadable = |why: String| Problem::nowhere(format!("{name}: cannot read the file: {why}"));
    let bytes = input::read(path, LARGEST_FILE_MIB).map_err(|error| unreadable(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|error| unreadable(error.utf8_error().to_string()))?;
    Ok(Arc::new(Source { origin: Origin::User, name, text }))
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Folder {
        /// A folder of these files.
        pub(crate) fn of_files(name: &str, files: Files) -> Self {
            Self { name: name.to_owned(), place: PlaceOfFiles::Program(files) }
        }
    }
}
