//! Prints the page of requirements, `docs/src/conformance-requirements.md`.

use std::path::Path;

use subflow_conformance::{load, load_requirements, requirements_page, scripts_of};

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let paths = scripts_of(&root.join("conformance")).unwrap_or_else(|problem| panic!("{problem:?}"));
    let name = |path: &Path| path.strip_prefix(&root).unwrap_or(path).display().to_string();
    let read = |path: &Path| load(path).unwrap_or_else(|problem| panic!("{problem:?}"));
    let scripts: Vec<_> = paths.iter().map(|path| (name(path), read(path))).collect();
    let lists = load_requirements(&root.join("conformance")).unwrap_or_else(|problem| panic!("{problem:?}"));
    print!("{}", requirements_page(&scripts, &lists));
}
