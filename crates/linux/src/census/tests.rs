//! Tests of the census: each way to hold a namespace, as root; the rest on texts.

use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use subflow_prerequisite::{network_namespaces, programs};

use super::*;
use crate::Namespace;

fn presence(id: NamespaceId) -> Presence {
    Census::take().expect("taken").presence(id)
}

/// Whether nothing holds the namespace. A census of another test holds all namespaces while it is taken.
fn is_gone(id: NamespaceId) -> bool {
    (0..100).any(|_| {
        let is_gone = presence(id) == Presence::Gone;
        if !is_gone {
            sleep(Duration::from_millis(50));
        }
        is_gone
    })
}

#[test]
fn a_thread_or_a_descriptor_alone_holds_a_namespace() {
    if !network_namespaces() {
        return;
    }
    let namespace = Namespace::create("census-thread").expect("a namespace");
    let id = namespace.run(NamespaceId::of_this_thread).expect("it has one");
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let (entered, inside) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        let waits = scope.spawn(move || {
            namespace.enter().expect("entered");
            // Its name and its descriptor go.
            drop(namespace);
            entered.send(()).expect("somebody waits");
            let _ = ended.recv();
            File::open(THREAD_NAMESPACE).expect("open")
        });
        inside.recv().expect("it has entered");
        assert_eq!(presence(id), Presence::Exists, "by a thread");
        drop(end);
        let descriptor = waits.join().expect("no panic");
        assert_eq!(presence(id), Presence::Exists, "by a descriptor");
        drop(descriptor);
    });
    assert!(is_gone(id));
}

#[test]
fn a_name_or_a_process_alone_holds_a_namespace() {
    if !network_namespaces() {
        return;
    }
    if !programs(&["ip"]) {
        return;
    }
    let named = Namespace::create("census-named").expect("a namespace");
    let id = named.run(NamespaceId::of_this_thread).expect("it has one");
    let second = Path::new("/run/netns").join(format!("{}-second", named.name()));
    File::create(&second).expect("a place");
    rustix::mount::mount_bind(Path::new("/run/netns").join(named.name()), &second).expect("mounted");
    let mut child = named.run(|| Ok(Command::new("sleep").arg("1000").spawn().expect("it starts"))).expect("spawned");
    drop(named);
    child.kill().and_then(|()| child.wait()).expect("killed");
    assert_eq!(presence(id), Presence::Exists, "by its second name");
    let mut child = Command::new("ip");
    let name = second.file_name().expect("it has one").to_string_lossy().into_owned();
    let mut child = child.args(["netns", "exec", &name, "sleep", "1000"]).spawn().expect("it starts");
    let process = format!("/proc/{}/comm", child.id());
    while fs::read_to_string(&process).is_ok_and(|name| name.trim() != "sleep") {
        sleep(Duration::from_millis(10));
    }
    rustix::mount::unmount(&second, rustix::mount::UnmountFlags::DETACH).expect("unmounted");
    fs::remove_file(&second).expect("removed");
    assert_eq!(presence(id), Presence::Exists, "by the process");
    child.kill().and_then(|()| child.wait()).expect("killed");
    assert!(is_gone(id));
}

#[test]
fn a_namespace_may_exist_where_something_is_not_identified() {
    let census = |unidentified| Census { ids: [NamespaceId::Cookie(1)].into(), unidentified };
    for unidentified in [0, 1] {
        assert_eq!(census(unidentified).presence(NamespaceId::Cookie(1)), Presence::Exists);
        assert_eq!(census(unidentified).presence(NamespaceId::Inode(1)), Presence::Unknown, "it may be another one's");
    }
    assert_eq!(census(0).presence(NamespaceId::Cookie(2)), Presence::Gone);
    assert_eq!(census(1).presence(NamespaceId::Cookie(2)), Presence::Unknown);
}

#[test]
fn a_thread_that_cannot_be_looked_into_counts_unless_its_files_are_those_of_a_known_namespace() {
    if !network_namespaces() {
        return;
    }
    let identified = |closed: u64| {
        in_thread(|| {
            let mut holders = Holders { closed: vec![closed], ..Holders::default() };
            holders.add(Path::new(THREAD_NAMESPACE)).expect("it is open");
            Ok(holders.identify())
        })
    };
    let here = fs::metadata("/proc/thread-self/net/dev").expect("it is there").ino();
    assert_eq!(identified(here).expect("identified").unidentified, 0);
    let other = Namespace::create("census-other").expect("a namespace");
    let there = other.run(|| Ok(fs::metadata("/proc/thread-self/net/dev").expect("it is there").ino()));
    assert_eq!(identified(there.expect("read")).expect("identified").unidentified, 1);
}

#[test]
fn mounts_of_namespaces_are_recognised_at_any_place() {
    let line = "412 33 0:4 net:[4026532183] /run/netns/a\\040b\\134 rw shared:9 - nsfs nsfs rw";
    assert_eq!(mounted(line), Some((4_026_532_183, PathBuf::from("/run/netns/a b\\"))));
    assert_eq!(mounted("412 33 0:4 mnt:[4026532183] /run/x rw - nsfs nsfs rw"), None);
    assert_eq!(mounted("22 27 0:21 / /proc rw,relatime - proc proc rw"), None);
    assert_eq!(mounted("short"), None);
    assert_eq!(unescaped("\\0"), PathBuf::from("\\0"), "no complete number");
}
