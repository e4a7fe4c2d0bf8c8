//! The folder of a paper, which the crate contains.

/// The files of a folder by their paths in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Folder {
    /// The paper's name.
    pub(crate) name: &'static str,
    /// Path and text.
    pub(crate) files: &'static [(&'static str, &'static str)],
}

/// The folder `papers/NAME` with these files.
macro_rules! folder {
    ($name:literal: $($file:literal),+ $(,)?) => {
        $crate::study::Folder {
            name: $name,
            files: &[$(($file, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/papers/", $name, "/", $file)))),+],
        }
    };
}
pub(crate) use folder;

impl Folder {
    /// The text of a file.
    ///
    /// # Panics
    ///
    /// Without such a file.
    pub(crate) fn text(&self, path: &str) -> &'static str {
        let file = self.files.iter().find(|(known, _)| *known == path);
        file.unwrap_or_else(|| panic!("{}: there is no file {path}", self.name)).1
    }
}
