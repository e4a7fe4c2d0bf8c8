//! Writes the list of the papers' folders and of their files, which `src/study/folder.rs` includes.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let variable = |name| PathBuf::from(env::var_os(name).unwrap_or_else(|| panic!("cargo sets {name}")));
    let papers = variable("CARGO_MANIFEST_DIR").join("papers");
    println!("cargo::rerun-if-changed=papers");
    let mut code = String::from("static FOLDERS: &[(&str, Files)] = &[\n");
    for folder in entries(&papers) {
        let mut files = Vec::new();
        collect(&folder, &mut files);
        let _ = writeln!(code, "({:?}, &[", folder.file_name().expect("it has a name"));
        for file in files {
            let name = file.strip_prefix(&folder).expect("it is below the folder").display().to_string();
            let _ = writeln!(code, "({:?}, include_str!({:?})),", name.replace('\\', "/"), file);
        }
        code += "]),\n";
    }
    code += "];\n";
    fs::write(variable("OUT_DIR").join("folders.rs"), code).expect("cargo's folder for it can be written");
}

/// The files in `folder` and below it.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for path in entries(folder) {
        match path.is_dir() {
            true => collect(&path, files),
            false => files.push(path),
        }
    }
}

/// What is in `folder`, by name.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be read").path()).collect();
    paths.sort();
    paths
}
