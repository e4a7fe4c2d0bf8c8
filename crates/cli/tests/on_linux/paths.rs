//! `subflow paths`: the policies of the simulator on connections of the kernel.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::process::{Command, Stdio};

use subflow_linux::netlink::{MptcpPathManager, MptcpSocket, SocketDiag, SubflowSocket};
use subflow_linux::{Namespace, NamespaceId, Sysctl};

use crate::support::{command, left_behind, machine_serves, text};
use crate::two_hosts::{TwoHosts, output_in, pm_type, subflows, wait_for_subflows, wait_until};

const MESH: [&str; 2] = ["--policy", "full-mesh"];

#[test]
fn a_connection_has_25_subflows_and_loses_and_regains_those_of_an_address() {
    if !machine_serves() {
        return;
    }
    let hosts = TwoHosts::new("mesh", 1);
    hosts.number(0, [5, 5]);
    for host in [&hosts.client, &hosts.server] {
        // The first address of an interface may be lost without the others.
        host.run(|| Sysctl("ipv4/conf/all/promote_secondaries").write("1")).expect("set");
    }
    let [server, client] = [&hosts.server, &hosts.client].map(|host| hosts.daemon(host, &MESH));
    let transfer = hosts.transfer(["10.77.0.1", "10.77.0.101"], "0.0.0.0");
    wait_for_subflows(&hosts.client, 25, &client);
    hosts.ip(&hosts.client, "address del 10.77.0.3/24 dev v0");
    wait_for_subflows(&hosts.client, 20, &client);
    // The REMOVE_ADDR may still be on its way.
    hosts.ip(&hosts.client, "address add 10.77.0.3/24 dev v0");
    wait_for_subflows(&hosts.client, 25, &client);
    wait_for_subflows(&hosts.server, 25, &server);
    // The addresses of the initial subflow, too.
    for (host, address) in [(&hosts.client, "10.77.0.1/24"), (&hosts.server, "10.77.0.101/24")] {
        hosts.ip(host, &format!("address del {address} dev v0"));
        wait_for_subflows(&hosts.client, 20, &client);
        hosts.ip(host, &format!("address add {address} dev v0"));
        wait_for_subflows(&hosts.client, 25, &client);
    }
    // As the kernel does where it comes to the REMOVE_ADDR late.
    close(&hosts.client, "10.77.0.2", "10.77.0.101");
    wait_until("closed", || client.log().matches("no subflow 10.77.0.2").count() == 2, || client.log());
    wait_for_subflows(&hosts.client, 25, &client);
    hosts.ip(&hosts.server, "address del 10.77.0.105/24 dev v0");
    wait_for_subflows(&hosts.server, 20, &server);
    transfer.complete();
    assert_eq!([server.end("TERM"), client.end("INT")], [Some(0), Some(0)]);
    assert_eq!([&hosts.client, &hosts.server].map(pm_type), ["0", "0"]);
}

/// Both ends lose the carrier of their addresses, so many each, between which a client with this policy has `count`
/// subflows.
fn outage_at_both_ends(name: &str, addresses: u8, policy: &str, count: usize) {
    if !machine_serves() {
        return;
    }
    let hosts = TwoHosts::new(name, 1);
    hosts.number(0, [addresses; 2]);
    let server = hosts.daemon(&hosts.server, &MESH);
    let client = hosts.daemon(&hosts.client, &["--policy", policy]);
    let transfer = hosts.transfer(["10.77.0.1", "10.77.0.101"], "0.0.0.0");
    wait_for_subflows(&hosts.client, count, &client);
    hosts.ip(&hosts.client, "link set v0 down");
    for daemon in [&client, &server] {
        daemon.wait_for("keeping 10.77.0.");
    }
    hosts.ip(&hosts.client, "link set v0 up");
    wait_until("the subflows again", || subflows(&hosts.client).len() >= count, || client.log() + &server.log());
    transfer.complete();
}

#[test]
fn a_connection_whose_only_address_is_lost_at_both_ends_keeps_a_subflow_until_it_returns() {
    outage_at_both_ends("last", 1, "ndiffports", 2);
}

#[test]
fn the_only_subflow_of_a_connection_outlives_the_loss_of_its_address_at_both_ends() {
    outage_at_both_ends("only", 1, "default", 1);
}

#[test]
fn a_connection_outlives_the_loss_of_all_its_addresses_at_both_ends() {
    outage_at_both_ends("all", 2, "full-mesh", 4);
}

#[test]
fn an_address_may_be_lost_before_the_daemon_hears_of_a_connection_with_it() {
    if !machine_serves() {
        return;
    }
    let hosts = TwoHosts::new("late", 1);
    hosts.number(0, [1, 1]);
    let [_server, client] = [&hosts.server, &hosts.client].map(|host| hosts.daemon(host, &["--policy", "default"]));
    client.signal("STOP");
    let transfer = hosts.transfer(["10.77.0.1", "10.77.0.101"], "0.0.0.0");
    wait_for_subflows(&hosts.client, 1, &client);
    hosts.ip(&hosts.client, "link set v0 down");
    client.signal("CONT");
    client.wait_for("keeping 10.77.0.1:");
    hosts.ip(&hosts.client, "link set v0 up");
    transfer.complete();
}

/// Closes a subflow in the place of the daemon.
fn close(host: &Namespace, local: &str, remote: &str) {
    let ends = |subflow: &SubflowSocket| [subflow.info.local.ip(), subflow.info.remote.ip()].map(|ip| ip.to_string());
    let subflow = subflows(host).into_iter().find(|subflow| ends(subflow) == [local, remote]).expect("a subflow");
    host.run(|| {
        let token = SocketDiag::open()?.connections()?[0].token;
        MptcpPathManager::open()?.close_subflow(token, subflow.info.local, subflow.info.remote)
    })
    .expect("closed");
}

#[test]
fn a_backup_of_the_side_that_accepts_is_one_for_both() {
    if !machine_serves() {
        return;
    }
    let hosts = TwoHosts::new("backup", 2);
    hosts.number(0, [1, 1]);
    hosts.number(1, [0, 1]);
    hosts.ip(&hosts.client, "route add 10.77.1.0/24 dev v1 src 10.77.0.1");
    let configuration = hosts.folder.path().join("paths.toml");
    std::fs::write(&configuration, "policy = \"full-mesh\"\n[interfaces.v1]\nbackup = true\n").expect("written");
    let server = hosts.daemon(&hosts.server, &["--config", configuration.to_str().expect("UTF-8")]);
    let client = hosts.daemon(&hosts.client, &MESH);
    let transfer = hosts.transfer(["10.77.0.1", "10.77.0.101"], "0.0.0.0");
    wait_for_subflows(&hosts.client, 2, &client);
    let is_backup = |host: &Namespace| {
        let all = subflows(host);
        let of_v1 = all.iter().filter(|subflow| {
            [subflow.info.local, subflow.info.remote].iter().any(|end| end.ip().to_string() == "10.77.1.101")
        });
        of_v1.map(|subflow| subflow.backup).collect::<Vec<_>>()
    };
    for host in [&hosts.client, &hosts.server] {
        wait_until("a backup", || is_backup(host) == [true], || client.log() + &server.log());
    }
    transfer.complete();
}

#[test]
fn a_connection_that_its_program_has_closed_is_not_taken_over() {
    if !machine_serves() {
        return;
    }
    let hosts = TwoHosts::new("ended", 1);
    hosts.number(0, [2, 2]);
    let [_server, client] = [&hosts.server, &hosts.client].map(|host| hosts.daemon(host, &MESH));
    let ([closed, _open], _listener) = hosts.connected(["10.77.0.1", "10.77.0.101"], "0.0.0.0");
    wait_for_subflows(&hosts.client, 4, &client);
    assert_eq!(client.end("TERM"), Some(0));
    // The other end does not close it, so that it is there for a minute.
    drop(closed);
    let states = || {
        let all = hosts.client.run(|| SocketDiag::open()?.connections()).expect("a list");
        all.iter().map(MptcpSocket::is_established).collect::<Vec<_>>()
    };
    wait_until("a connection that is closed at one end", || states() == [false], || format!("{:?}", states()));
    let successor = hosts.daemon(&hosts.client, &MESH);
    // From this address a connection that goes on would get subflows.
    hosts.ip(&hosts.client, "address add 10.77.0.9/24 dev v0");
    successor.wait_for("address 10.77.0.9");
    std::thread::sleep(std::time::Duration::from_millis(500));
    let log = successor.log();
    assert!(!log.contains("taking over") && !log.contains("cannot open"), "{log}");
    assert_eq!(states(), [false], "it was there all the time");
}

#[test]
fn a_killed_daemon_s_successor_takes_the_connections_over() {
    if !machine_serves() {
        return;
    }
    let hosts = TwoHosts::new("killed", 1);
    hosts.number(0, [2, 2]);
    let [_server, client] = [&hosts.server, &hosts.client].map(|host| hosts.daemon(host, &MESH));
    let transfer = hosts.transfer(["10.77.0.1", "10.77.0.101"], "0.0.0.0");
    wait_for_subflows(&hosts.client, 4, &client);
    assert_eq!(client.end("KILL"), None);
    assert_eq!(pm_type(&hosts.client), "1", "for connections that begin meanwhile");
    hosts.ip(&hosts.client, "address del 10.77.0.2/24 dev v0");
    hosts.ip(&hosts.client, "address add 10.77.0.3/24 dev v0");
    let client = hosts.daemon(&hosts.client, &MESH);
    assert!(client.log().contains("took over 1 connection"), "{}", client.log());
    let count =
        |address: &str| subflows(&hosts.client).iter().filter(|s| s.info.local.ip().to_string() == address).count();
    let counts = || ["10.77.0.1", "10.77.0.2", "10.77.0.3"].map(count);
    // One address went and one came while nobody looked.
    wait_until(
        "no subflow of the lost address",
        || counts() == [2, 0, 2],
        || format!("{:?}\n{}", counts(), client.log()),
    );
    transfer.complete();
    assert_eq!(client.end("TERM"), Some(0));
    assert_eq!(pm_type(&hosts.client), "0", "what the first one had found");
}

#[test]
fn cleanup_puts_the_setting_back_that_a_killed_daemon_has_left() {
    if !machine_serves() {
        return;
    }
    let _alone = left_behind();
    let hosts = TwoHosts::new("paths-cleanup", 0);
    let cleanup = || {
        let output = output_in(&hosts.client, command().arg("cleanup"));
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let daemon = hosts.daemon(&hosts.client, &MESH);
    assert!(!cleanup().contains("pm_type"), "it is at work");
    assert_eq!((daemon.end("KILL"), pm_type(&hosts.client).as_str()), (None, "1"));
    // As if it had been killed while it wrote the setting down.
    let id = hosts.client.run(NamespaceId::of_this_thread).expect("it has one").to_string();
    std::fs::write(format!("/run/subflow/pm_type.{id}.new"), "0").expect("root may");
    let of_this_namespace = || {
        let files = std::fs::read_dir("/run/subflow").into_iter().flatten().filter_map(Result::ok);
        files.filter(|file| file.file_name().to_string_lossy().split('.').any(|part| part == id)).count()
    };
    assert_eq!(of_this_namespace(), 3, "the setting, twice, and the lock");
    assert!(cleanup().contains("restored net.mptcp.pm_type to 0"));
    assert_eq!((pm_type(&hosts.client).as_str(), of_this_namespace()), ("0", 0));
    assert!(!cleanup().contains("pm_type"), "once");
}

#[test]
fn cleanup_removes_the_setting_of_a_namespace_that_has_ended() {
    if !machine_serves() {
        return;
    }
    let _alone = left_behind();
    let hosts = TwoHosts::new("paths-gone", 0);
    let daemon = hosts.daemon(&hosts.client, &MESH);
    assert_eq!(daemon.end("KILL"), None);
    drop(hosts);
    let said = || text(&command().arg("cleanup").output().expect("the command starts").stdout);
    let line = "removed the setting of a path manager of a network namespace that no longer exists";
    let first = said();
    assert!(first.contains(line), "{first}");
    assert!(!said().contains(line), "once");
}

#[test]
fn a_socket_that_any_user_may_bind_does_not_keep_the_path_manager_out() {
    if !machine_serves() {
        return;
    }
    let _alone = left_behind();
    let hosts = TwoHosts::new("place", 0);
    let address = SocketAddr::from_abstract_name("subflow-paths").expect("a name");
    let _user = hosts.client.run(|| Ok(UnixListener::bind_addr(&address).expect("bound"))).expect("a thread in it");
    let daemon = hosts.daemon(&hosts.client, &MESH);
    assert_eq!(daemon.end("KILL"), None);
    let output = output_in(&hosts.client, command().arg("cleanup"));
    assert!(text(&output.stdout).contains("restored net.mptcp.pm_type to 0"), "{}", text(&output.stderr));
    assert_eq!(pm_type(&hosts.client), "0");
}

#[test]
fn sighup_reads_the_configuration_again_unless_it_is_broken() {
    if !machine_serves() {
        return;
    }
    let hosts = TwoHosts::new("reload", 2);
    hosts.number(0, [1, 1]);
    hosts.number(1, [1, 1]);
    let file = hosts.folder.path().join("paths.toml");
    let (write, path) = (|text: &str| std::fs::write(&file, text).expect("written"), file.to_string_lossy());
    write("policy = \"full-mesh\"\n[interfaces.v1]\nbackup = true\n");
    let [_server, client] = [hosts.daemon(&hosts.server, &MESH), hosts.daemon(&hosts.client, &["--config", &path])];
    let transfer = hosts.transfer(["10.77.0.1", "10.77.0.101"], "0.0.0.0");
    wait_for_subflows(&hosts.client, 4, &client);
    let backups = || subflows(&hosts.client).iter().filter(|subflow| subflow.backup).count();
    assert_eq!(backups(), 2, "{}", client.log());
    write("policy = \"full-mesh\"\n[interfaces.v1]\nbackup = 3\n");
    client.signal("HUP");
    client.wait_for("paths.toml:3");
    client.wait_for("the configuration is unchanged");
    assert_eq!(backups(), 2);
    write("policy = { name = \"ndiffports\", n = 3 }\n");
    client.signal("HUP");
    client.wait_for("ndiffports (n = 3, retry = true) for new connections");
    wait_until("no backup", || backups() == 0, || client.log());
    write("policy = \"default\"\n[interfaces.v1]\nuse = false\n");
    client.signal("HUP");
    wait_for_subflows(&hosts.client, 2, &client);
    transfer.complete();
}

#[test]
fn ipv6_and_mapped_ipv4_addresses_have_subflows_too() {
    if !machine_serves() {
        return;
    }
    // IPv6 sockets have subflows of both families, for which IPv4 addresses are mapped; an IPv4 client has one family.
    let cases = [
        ("ipv6", ["2001:db8::1", "2001:db8::101"], "2001:db8::102/64", [8, 6]),
        ("mapped", ["10.77.0.1", "10.77.0.101"], "10.77.0.102/24", [4, 2]),
    ];
    for (name, addresses, lost, [before, after]) in cases {
        let hosts = TwoHosts::new(name, 1);
        hosts.number(0, [2, 2]);
        for (host, last) in [(&hosts.client, 1), (&hosts.client, 2), (&hosts.server, 101), (&hosts.server, 102)] {
            hosts.ip(host, &format!("address add 2001:db8::{last}/64 dev v0 nodad"));
        }
        // A busy kernel may not send one of several announcements. It repeats them, by default after two minutes.
        let set = || std::fs::write("/proc/sys/net/mptcp/add_addr_timeout", "1");
        hosts.server.run(|| Ok(set())).expect("entered").expect("root may");
        let [server, client] = [&hosts.server, &hosts.client].map(|host| hosts.daemon(host, &MESH));
        let transfer = hosts.transfer(addresses, "::");
        wait_for_subflows(&hosts.client, before, &client);
        hosts.ip(&hosts.server, &format!("address del {lost} dev v0"));
        wait_for_subflows(&hosts.server, after, &server);
        transfer.complete();
    }
}

#[test]
fn what_is_missing_or_in_the_way_is_reported_and_nothing_changed() {
    if !machine_serves() {
        return;
    }
    let hosts = TwoHosts::new("refused", 0);
    let host = &hosts.client;
    let folder = hosts.folder.path().to_string_lossy().into_owned();
    let refuses = |script: &str, words: &[&str]| {
        let copy = format!("cp \"$SUBFLOW\" {folder}/subflow; chmod 755 {folder} {folder}/subflow; {script}");
        let mut shell = Command::new("unshare");
        shell.args(["--mount", "sh", "-ec", &copy]).env("SUBFLOW", command().get_program());
        let output = output_in(host, shell.current_dir(&folder));
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{script}: {said}");
        words.iter().for_each(|word| assert!(said.contains(word), "{script}: {word:?} is not in {said}"));
    };
    let run = "exec ./subflow paths --policy full-mesh";
    refuses(&format!("exec setpriv --reuid=65534 --regid=65534 --clear-groups {}", &run[5..]), &["root", "sudo"]);
    refuses(&format!("mount -t tmpfs none /proc/sys/net/mptcp; {run}"), &["does not support MPTCP", "CONFIG_MPTCP"]);
    let nobody = "exec setpriv --reuid=65534 --regid=65534 --clear-groups ./subflow watch";
    refuses(nobody, &["needs root rights", "sudo"]);
    refuses("exec ./subflow paths --policy full-mash", &["--policy", "\"full-mash\"", "did you mean \"full-mesh\"?"]);
    refuses("exec ./subflow paths --config absent.toml", &["absent.toml", "cannot read the configuration"]);
    refuses(
        "printf '[interfaces.v0]\\n' >e.toml; exec ./subflow paths --config e.toml",
        &["e.toml", "the policy is missing"],
    );
    let wrong = "printf 'policy = \"default\"\\n[interfaces.v0]\\nbackup = 1\\n' >w.toml";
    refuses(&format!("{wrong}; exec ./subflow paths --config w.toml"), &["w.toml:3:10", "expected true or false"]);
    assert_eq!(pm_type(host), "0");
    let daemon = hosts.daemon(host, &MESH);
    refuses(run, &[&format!("process {} (subflow) manages the paths", daemon.id())]);
    assert_eq!((pm_type(host).as_str(), daemon.end("TERM")), ("1", Some(0)));
    refuse_beside_another(&hosts, |words| refuses(run, words));
    assert_eq!(pm_type(host), "1", "the other's");
}

/// Another program listens to the events, with the setting of a userspace path manager.
fn refuse_beside_another(hosts: &TwoHosts, refuses: impl Fn(&[&str])) {
    let host = &hosts.client;
    let written = host.run(|| Sysctl("mptcp/pm_type").write("1"));
    written.expect("set");
    let mut monitor = Command::new("ip");
    monitor.args(["mptcp", "monitor"]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut monitor = host.run(|| Ok(monitor.spawn().expect("it starts"))).expect("spawned");
    let listens = || host.run(subflow_linux::netlink::event_listeners).expect("a list").contains(&monitor.id());
    wait_until("the other listens", listens, String::new);
    refuses(&["net.mptcp.pm_type is 1", &format!("process {} (ip) listens", monitor.id())]);
    monitor.kill().expect("killed");
    monitor.wait().expect("it ends");
}
