//! Programs get into the kernel and out of it, and leave nothing behind.

use std::path::Path;
use std::process::Command;

use libbpf_rs::{Link, MapCore, MapType, ObjectBuilder};
use subflow_linux::congestion::{Lease, Loaded, PROGRAMS, Place, Program, Unloaded, list, load, unload};
use subflow_linux::{KernelHost, KernelSettings, Sysctl};

use crate::machine::{assert_gone, in_the_kernel, is_offered, program, serves, turn};

const PINS: &str = "/sys/fs/bpf/subflow";

#[test]
fn what_is_loaded_stays_until_it_is_unloaded_and_leaves_nothing() {
    let _turn = turn();
    if serves() {
        let all: Vec<&Program> = PROGRAMS.iter().collect();
        assert_eq!(load(&all).expect("they load"), vec![Loaded::Now; all.len()]);
        assert_eq!(load(&all).expect("once more"), vec![Loaded::Before; all.len()]);
        assert!(all.iter().all(|program| is_offered(program) && Path::new(PINS).join(program.kernel_name).exists()));
        assert!(list().expect("a list").iter().all(|status| status.place == Place::Pinned));
        assert_eq!(unload(&all).expect("they unload"), vec![Unloaded::Now; all.len()]);
        assert_eq!(unload(&all).expect("once more"), vec![Unloaded::Before; all.len()]);
        assert!(list().expect("a list").iter().all(|status| status.place == Place::Nowhere));
        assert!(!Path::new(PINS).exists());
        all.iter().for_each(|program| assert_gone(program));
    }
}

#[test]
fn a_lease_holds_a_program_that_another_lease_loaded() {
    let _turn = turn();
    if serves() {
        let lia = program("lia");
        let first = Lease::take(&[lia]).expect("it loads");
        let second = Lease::take(&[lia]).expect("it is there");
        drop(first);
        assert!(is_offered(lia));
        assert_eq!(list().expect("a list")[0].place, Place::Held);
        drop(second);
        assert_gone(lia);
    }
}

#[test]
fn leases_that_are_taken_and_dropped_at_once_never_lack_the_program() {
    let _turn = turn();
    if serves() {
        let lia = program("lia");
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..25 {
                        let lease = Lease::take(&[lia]).expect("there or loaded");
                        assert!(is_offered(lia));
                        drop(lease);
                    }
                });
            }
        });
        assert_gone(lia);
    }
}

#[test]
fn a_program_of_a_run_can_be_loaded_permanently_and_unloading_keeps_it_for_the_run() {
    let _turn = turn();
    if serves() {
        let lia = program("lia");
        let run = Lease::take(&[lia]).expect("it loads");
        assert_eq!(load(&[lia]).expect("a pin is made"), [Loaded::Now]);
        assert_eq!(unload(&[lia]).expect("the pin is removed"), [Unloaded::WhenRunEnds]);
        assert!(is_offered(lia));
        drop(run);
        assert_gone(lia);
    }
}

#[test]
fn if_one_program_cannot_be_loaded_none_is() {
    let _turn = turn();
    if serves() {
        let (lia, olia) = (program("lia"), program("olia"));
        // A folder where the second one's pin is to be.
        drop(load(&[lia]).expect("it loads"));
        let in_the_way = Path::new(PINS).join("olia");
        std::fs::create_dir(&in_the_way).expect("it is a file system");
        unload(&[lia]).expect("it unloads");
        let error = load(&[lia, olia]).expect_err("the name of the pin is taken").to_string();
        std::fs::remove_dir(&in_the_way).expect("it is empty");
        assert!(error.contains("cannot replace the pin of olia"), "{error}");
        [lia, olia].iter().for_each(|program| assert_gone(program));
        unload(&[lia]).expect("nothing to do but to tidy up");
        assert!(!Path::new(PINS).exists());
    }
}

#[test]
fn the_default_congestion_control_is_not_unloaded() {
    let _turn = turn();
    if serves() {
        let balia = program("balia");
        load(&[balia]).expect("it loads");
        let (host, _) = KernelHost::create("default", &[], &KernelSettings::default()).expect("a namespace");
        let refusal = host.namespace().run(|| {
            Sysctl("ipv4/tcp_congestion_control").write("balia")?;
            let refusal = unload(&[balia]).expect_err("it is the default here").to_string();
            Sysctl("ipv4/tcp_congestion_control").write("reno")?;
            Ok(refusal)
        });
        let refusal = refusal.expect("the setting takes it: it is not restricted");
        assert!(refusal.contains("is the default of new connections") && refusal.contains("sysctl -w"), "{refusal}");
        assert!(is_offered(balia) && in_the_kernel(balia) > 0);
        assert_eq!(unload(&[balia]).expect("it is the default nowhere"), [Unloaded::Now]);
        assert_gone(balia);
    }
}

/// Offers LIA as another version of these programs could have it: it looks at two subflows.
fn attach_another_lia() -> Link {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bpf");
    let object = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("another-lia-{}.bpf.o", std::process::id()));
    let mut clang = Command::new(std::env::var_os("CLANG").unwrap_or_else(|| "clang".into()));
    clang.args(["-target", "bpf", "-mcpu=v3", "-O2", "-g", "-nostdinc", "-DSUBFLOWS_MAX=2"]);
    clang.args(["-isystem", env!("SUBFLOW_LIBBPF_HEADERS"), "-c"]).arg(programs.join("lia.bpf.c"));
    assert!(clang.arg("-o").arg(&object).status().expect("clang built the others").success());
    let mut loaded = ObjectBuilder::default().open_file(&object).and_then(|object| object.load()).expect("it loads");
    std::fs::remove_file(&object).expect("it is ours");
    let mut operations = loaded.maps_mut().find(|map| map.map_type() == MapType::StructOps).expect("it has some");
    operations.attach_struct_ops().expect("the name is free")
}

#[test]
fn the_program_of_another_version_is_told_and_not_used() {
    let _turn = turn();
    if serves() {
        let lia = program("lia");
        let current = || list().expect("a list")[0].current;
        let ours = Lease::take(&[lia]).expect("it loads");
        assert!(current());
        drop(ours);
        assert_gone(lia);
        let another = attach_another_lia();
        assert!(!current());
        for refusal in [load(&[lia]).err(), Lease::take(&[lia]).err()] {
            let refusal = refusal.expect("it is not ours").to_string();
            assert!(refusal.contains("from another version") && refusal.contains("cc unload lia"), "{refusal}");
        }
        drop(another);
        assert_gone(lia);
        assert!(!Path::new(PINS).exists());
    }
}
