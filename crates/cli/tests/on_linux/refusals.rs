//! What is missing, or in the way: the command says what and how to get it, and leaves nothing.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use subflow_prerequisite::Prerequisite;

use crate::support::{
    SCENARIO, in_one_line, left_behind, machine_serves, namespaces_of, results, scenario, subflow, text,
};

const PHONE_IPV6: &str =
    "[{ name = \"wifi\", address = \"2001:db8:1::1\" }, { name = \"lte\", address = \"2001:db8:2::1\" }]";

/// A copy of the command and a scenario that anybody may read, and a shell in a mount namespace of its own to run them.
pub(crate) struct Machine {
    folder: tempfile::TempDir,
}

impl Machine {
    pub(crate) fn new(text: &str) -> Self {
        let (folder, path) = scenario(text);
        let copy = folder.path().join("subflow");
        // Another process writes it: a child that another test forks meanwhile would inherit our descriptor of it until
        // it executes its program, and until then the kernel executes no file that is open for writing (ETXTBSY).
        let mut install = Command::new("install");
        install.args(["-m", "755"]).arg(assert_cmd::cargo::cargo_bin("subflow")).arg(&copy);
        assert!(install.status().expect("install starts").success());
        for (path, mode) in [(folder.path(), 0o755), (path.as_ref(), 0o644)] {
            std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).expect("readable");
        }
        Self { folder }
    }

    /// Runs `script`, in which `$SUBFLOW` is the command and `$RUN` its arguments, and looks whether namespaces are
    /// left of it. The command has to replace the shell (`exec`), so that both have one number.
    pub(crate) fn run(&self, script: &str) -> Output {
        let at = |name: &str| self.folder.path().join(name).to_string_lossy().into_owned();
        let mut shell = Command::new("unshare");
        shell.args(["--mount", "sh", "-ec", script]);
        shell.env("SUBFLOW", at("subflow")).env("RUN", format!("run {} --on linux --format json", at("two.toml")));
        let child = shell.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("unshare starts");
        let pid = child.id();
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(namespaces_of(pid), [""; 0], "{script}");
        output
    }

    /// The start of a script that gives its mount namespace a `/dev/net/tun` with this mode, whatever that of the machine
    /// is; `None` if that is not possible.
    fn tun_device_with(&self, mode: &str) -> Option<String> {
        let node = format!("mount -t tmpfs -o mode=755 none /dev/net; mknod -m {mode} /dev/net/tun c 10 200");
        let is_made =
            Path::new("/dev/net/tun").exists() && self.run(&format!("{node}; : <> /dev/net/tun")).status.success();
        is_made.then_some(node)
    }

    /// Runs `script`, which has to fail with all of `words`, and without results.
    fn refuses(&self, script: &str, words: &[&str]) {
        let output = self.run(script);
        let said = in_one_line(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{script}: {said}");
        for word in words {
            assert!(said.contains(word), "{script}: {word:?} is not in {said}");
        }
        assert_eq!(text(&output.stdout), "", "{script}");
    }
}

#[test]
fn missing_root_privileges_are_reported() {
    if machine_serves() {
        let machine = Machine::new(SCENARIO);
        let nobody = "exec setpriv --reuid=65534 --regid=65534 --clear-groups $SUBFLOW $RUN";
        machine.refuses(nobody, &["needs root rights", "sudo", "--cap-add=NET_ADMIN,SYS_ADMIN"]);
        // As root is in a container without further rights.
        let container = "exec setpriv --bounding-set=-sys_admin,-net_admin $SUBFLOW $RUN";
        machine.refuses(container, &["cannot create a network namespace", "--cap-add=NET_ADMIN,SYS_ADMIN"]);
    }
}

/// Without any rights on the machine: root in a user namespace, without real-time priority. There are TUN devices there
/// if everybody may open `/dev/net/tun`, as on Debian and Ubuntu, where udev gives it the mode 0666; otherwise veth
/// pairs take their place.
#[test]
fn a_user_namespace_replaces_root_privileges() {
    if machine_serves() {
        let nobody =
            "exec setpriv --reuid=65534 --regid=65534 --clear-groups unshare --user --map-root-user --net --mount";
        let machine = Machine::new(SCENARIO);
        if !machine.run(&format!("{nobody} mount -t tmpfs none /run")).status.success() {
            Prerequisite::UserNamespaces.missing("this machine lets nobody make user namespaces");
            return;
        }
        for (device, mode) in [("veth", "0600"), ("tun", "0666")] {
            let Some(node) = machine.tun_device_with(mode) else {
                Prerequisite::Kernel.missing("this machine has no TUN devices, or lets root make no device nodes");
                continue;
            };
            // Nothing runs ahead of others there, so it may take long.
            let run = "mount -t tmpfs none /run; exec $SUBFLOW $RUN --set duration=6s";
            let json = results(&machine.run(&format!("{node}; {nobody} sh -ec '{run}'")));
            assert_eq!(json["runs"][0]["flows"][0]["bytes_delivered"], 1_000_000, "mode {mode}");
            assert_eq!(json["runs"][0]["real_time"]["device"], device, "mode {mode}");
        }
    }
}

#[test]
fn without_tun_devices_another_device_is_used_or_an_error_reported() {
    if machine_serves() {
        let machine = Machine::new(SCENARIO);
        let without = "mkdir -p /dev/net; mount -t tmpfs none /dev/net; exec $SUBFLOW $RUN";
        machine.refuses(
            &format!("{without} --device tun"),
            &["/dev/net/tun cannot be opened", "modprobe tun", "--device veth"],
        );
        let output = machine.run(without);
        let json = results(&output);
        let real_time = &json["runs"][0]["real_time"];
        assert_eq!(real_time["device"], "veth");
        assert!(real_time["notes"].to_string().contains("TUN devices cannot be made here"), "{real_time}");
        assert_eq!(json["runs"][0]["flows"][0]["bytes_delivered"], 1_000_000);
    }
}

#[test]
fn a_kernel_that_is_too_old_or_lacks_mptcp_is_named() {
    if machine_serves() {
        let machine = Machine::new(SCENARIO);
        // The kernel can pretend to be an old one, for programs that know no numbers above 2.6.
        machine
            .refuses("exec setarch --uname-2.6 $SUBFLOW $RUN", &["the kernel is Linux 2.6.", "expected 5.19 or newer"]);
        let hidden = "mount -t tmpfs none /proc/sys/net/mptcp; exec $SUBFLOW $RUN";
        machine.refuses(hidden, &["this kernel does not support MPTCP", "CONFIG_MPTCP"]);
        // TCP asks for none.
        let tcp = SCENARIO.replace("\"mptcp\"", "\"tcp\"").replace("scheduler = \"linux-default\"\n", "");
        results(&Machine::new(&tcp).run(hidden));
    }
}

/// Each namespace has its own switch, and a new one is on.
#[test]
fn mptcp_is_enabled_in_the_namespace_if_it_is_off_outside() {
    if machine_serves() {
        let off = "exec unshare --net sh -ec 'echo 0 > /proc/sys/net/mptcp/enabled; exec $SUBFLOW $RUN'";
        let output = Machine::new(SCENARIO).run(off);
        let json = results(&output);
        assert_eq!(json["runs"][0]["flows"][0]["fallback"], false);
    }
}

#[test]
fn a_name_in_use_is_reported_and_kept() {
    if machine_serves() {
        let _mine = left_behind();
        let machine = Machine::new(SCENARIO);
        let mut shell = Command::new("sh");
        let path = |name: &str| machine.folder.path().join(name).to_string_lossy().into_owned();
        // The shell becomes the command, so this is the name that it will want.
        let taken = "mkdir -p /run/netns; : > /run/netns/subflow-$$.$(cut -d ' ' -f 22 /proc/$$/stat)-server";
        shell.args(["-ec", &format!("{taken}; exec $SUBFLOW $RUN")]);
        shell.env("SUBFLOW", path("subflow")).env("RUN", format!("run {} --on linux --format json", path("two.toml")));
        let child = shell.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("sh starts");
        let pid = child.id();
        let output = child.wait_with_output().expect("it ends");
        let said = in_one_line(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("-server already exists") && said.contains("subflow cleanup"), "{said}");
        let [left] = &namespaces_of(pid)[..] else { panic!("the phone's is gone, the other one is not ours") };
        assert!(left.ends_with("-server"), "{left}");
        assert!(subflow(&["cleanup"]).status.success());
        assert_eq!(namespaces_of(pid), [""; 0]);
    }
}

#[test]
fn a_port_in_use_is_reported() {
    if machine_serves() {
        let second = "[flows.second]\nfrom = \"phone\"\nto = \"server\"\nprotocol = \"tcp\"\ncongestion = \
            \"cubic\"\nsend = \"1 MB\"\n";
        let machine = Machine::new(&format!("{}{second}port = 5001\n", SCENARIO.to_owned() + "port = 5001\n"));
        let output = machine.run("exec $SUBFLOW $RUN");
        let said = text(&output.stderr);
        // Each host has all of its ports to itself, so the scenario tells.
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("port 5001 of server is taken") && said.contains("another port"), "{said}");
    }
}

#[test]
fn what_linux_does_not_support_is_reported() {
    if machine_serves() {
        // The packets of TCP and of SCTP leave through the same devices.
        let bulk = "[flows.bulk]\nfrom = \"phone\"\nto = \"server\"\nprotocol = \"sctp\"\nsctp = { mtu = \"2 kB\" }\n";
        let both = Machine::new(&format!("{SCENARIO}{bulk}"));
        both.refuses("exec $SUBFLOW $RUN", &["bulk", "MTU of 2000", "at most 1500, that of TCP on phone"]);
        // Only whole packets pass, so that datagrams must not be larger than what TCP's connections of the host need.
        let voice = "[flows.voice]\nfrom = \"phone\"\nto = \"server\"\nprotocol = \"udp\"\n\
                     on_off = { rate = \"1 Mbit/s\", packet = \"2 kB\" }\n";
        let large = Machine::new(&format!("{SCENARIO}{voice}"));
        large.refuses("exec $SUBFLOW $RUN", &["voice", "packets of 2028", "expected at most 1500, the MTU of phone"]);
        let ipv6 = SCENARIO.replace("[\"eth\"]", "[{ name = \"eth\", address = \"2001:db8::1\" }]");
        let ipv6 = Machine::new(&ipv6.replace("[\"wifi\", \"lte\"]", PHONE_IPV6));
        ipv6.refuses("exec $SUBFLOW $RUN --set 'tcp.mtu=\"600 bytes\"'", &["an MTU of 600 bytes", "at least 1280"]);
        // Before the first run, which could do without.
        let sweep = "[sweep]\n\"flows.voice.on_off.packet\" = [\"1 kB\", \"2 kB\"]\n";
        let last = format!("{SCENARIO}{voice}{sweep}");
        let last = Machine::new(&last);
        last.refuses("exec timeout 100 $SUBFLOW $RUN --set 'duration=\"300 s\"'", &["run 1", "packets of 2028"]);
        let output = subflow(&["validate", "--case", "tcp-rino"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains("tcp-reno"), "{}", text(&output.stderr));
    }
}
