//! With the feature `ebpf`: compiles the programs of `bpf/` into objects that `src/congestion/object.rs` includes.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var_os("CARGO_FEATURE_EBPF").is_none() {
        return;
    }
    println!("cargo::rerun-if-env-changed=CLANG");
    let variable = |name| PathBuf::from(env::var_os(name).unwrap_or_else(|| panic!("cargo sets {name}")));
    // A symbolic link to the folder beside crates/; a published crate has the files themselves.
    let programs = variable("CARGO_MANIFEST_DIR").join("bpf").canonicalize().expect("bpf/ is in the crate");
    println!("cargo::rerun-if-changed={}", programs.display());
    // libbpf's headers, of the version that is linked: its crate names their folder.
    let headers = variable("DEP_BPF_INCLUDE");
    // A test makes another program with them.
    println!("cargo::rustc-env=SUBFLOW_LIBBPF_HEADERS={}", headers.display());
    for entry in fs::read_dir(&programs).expect("bpf/ can be read") {
        let source = entry.expect("bpf/ can be read").path();
        if let Some(name) = source.file_name().and_then(|name| name.to_str()?.strip_suffix(".bpf.c")) {
            compile(&programs, &headers, &source, &variable("OUT_DIR").join(format!("{name}.bpf.o")));
        }
    }
}

fn compile(programs: &Path, headers: &Path, source: &Path, object: &Path) {
    let clang = env::var_os("CLANG").unwrap_or_else(|| "clang".into());
    let mut command = Command::new(&clang);
    // -g: the program's types, by which the kernel's are found when it is loaded. Without this machine's paths in them.
    command.args(["-target", "bpf", "-mcpu=v3", "-O2", "-g", "-nostdinc"]);
    command.args(["-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter"]);
    command.arg(format!("-ffile-prefix-map={}=bpf", programs.display()));
    command.arg(format!("-ffile-prefix-map={}=libbpf", headers.display()));
    command.arg("-isystem").arg(headers).arg("-c").arg(source).arg("-o").arg(object);
    match command.status() {
        Ok(status) if status.success() => {}
        Ok(_) => panic!("clang cannot compile {}; what it says is above", source.display()),
        Err(error) => panic!(
            "the feature `ebpf` needs clang 14 or newer (Debian: apt-get install clang; or CLANG=/path/to/clang): {}: \
             {error}",
            clang.to_string_lossy()
        ),
    }
}
