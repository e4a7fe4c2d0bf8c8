//! Interfaces that can never carry anything are told, and no others.

use std::path::Path;

use subflow_scenario::file::Document;
use subflow_scenario::sweep::Plan;

/// The warnings of a scenario that the command line changes.
fn warnings(text: String, sets: &[&str]) -> Vec<String> {
    let mut document = Document::parse(Path::new("idle.toml"), text).expect("TOML");
    sets.iter().for_each(|set| document.set("--set", set).expect("it is good"));
    let plan = Plan::read(document).unwrap_or_else(|problems| panic!("{problems}"));
    plan.without_effect.into_iter().map(|problem| problem.message).collect()
}

/// The interfaces that are told in a network of a phone and a server, each interface with a link to one router.
fn idle([phone, server]: [&[&str]; 2], flow: &str, more: &str, sets: &[&str]) -> Vec<String> {
    let ends = [("phone", phone), ("server", server)].map(|(host, all)| all.iter().map(move |one| (host, one)));
    let link = |(host, one): (&str, &&str)| {
        format!("links.{one} = {{ between = [\"{host}.{one}\", \"r\"], rate = \"10 Mbit/s\" }}\n")
    };
    let links: String = ends.into_iter().flatten().map(link).collect();
    let text = format!(
        "duration = \"9 s\"\nrouters.r = {{}}\nhosts.phone = {phone:?}\nhosts.server = {server:?}\n{links}\
         [flows.f]\nfrom = \"phone\"\nto = \"server\"\n{flow}\n{more}"
    );
    let path = |message: String| {
        let (path, why) = message.split_once(" has no effect: ").expect("a warning");
        assert_eq!(why, "no path of a flow can begin or end there");
        path.to_owned()
    };
    warnings(text, sets).into_iter().map(path).collect()
}

const NONE: [&str; 0] = [];

#[test]
fn an_interface_that_no_path_of_a_flow_can_use_is_told() {
    let of_phone = |flow: &str| idle([&["wifi", "lte"], &["eth"]], flow, "", &[]);
    let of_server = |flow: &str| idle([&["lte"], &["e0", "e1"]], flow, "", &[]);
    for (flow, at_phone, at_server) in [
        ("protocol = \"tcp\"", true, true),
        ("protocol = \"quic\"", true, true),
        ("protocol = \"udp\"\non_off = { rate = \"1 Mbit/s\" }", true, true),
        ("protocol = \"sctp\"", false, false),
        ("protocol = \"mptcp\"\npath_manager = \"default\"", true, true),
        ("protocol = \"mptcp\"\npath_manager = \"ndiffports\"", true, true),
        ("protocol = \"mptcp\"\npath_manager = \"single-mesh\"", false, false),
        ("protocol = \"mptcp\"\npath_manager = \"full-mesh\"", false, false),
        ("protocol = \"mpquic\"\npath_manager = \"default\"", true, true),
        ("protocol = \"mpquic\"\npath_manager = \"full-mesh\"", false, true),
    ] {
        let expected = |is_told: bool, interface: &'static str| is_told.then_some(interface).into_iter();
        assert!(of_phone(flow).iter().eq(expected(at_phone, "hosts.phone: lte")), "{flow}: {:?}", of_phone(flow));
        assert!(of_server(flow).iter().eq(expected(at_server, "hosts.server: e1")), "{flow}: {:?}", of_server(flow));
    }
}

#[test]
fn a_binder_uses_the_addresses_of_the_opening_host_and_one_of_the_other() {
    let through = |name: &str| format!("{{ name = \"{name}\", gateways = [\"r\"] }}");
    let text = format!(
        "duration = \"1 s\"\nrouters.r = {{}}\nhosts.phone = [{}, {}]\nhosts.server = [\"e0\", \"e1\"]\n[links]\n\
         wifi = {{ between = [\"phone.wifi\", \"r\"], rate = \"1 Mbit/s\" }}\n\
         lte = {{ between = [\"phone.lte\", \"r\"], rate = \"1 Mbit/s\" }}\n\
         e0 = {{ between = [\"server.e0\", \"r\"], rate = \"1 Mbit/s\" }}\n\
         e1 = {{ between = [\"server.e1\", \"r\"], rate = \"1 Mbit/s\" }}\n\
         [flows.f]\nfrom = \"phone\"\nto = \"server\"\nprotocol = \"mptcp\"\npath_manager = \"binder\"\n",
        through("wifi"),
        through("lte"),
    );
    assert_eq!(warnings(text, &[]), ["hosts.server: e1 has no effect: no path of a flow can begin or end there"]);
}

#[test]
fn an_interface_that_some_flow_names_or_may_come_to_is_not_told() {
    let of_phone = |flow: &str, more: &str| idle([&["wifi", "lte"], &["eth"]], flow, more, &[]);
    let [tcp, default] = ["protocol = \"tcp\"", "protocol = \"mptcp\"\npath_manager = \"default\""];
    assert_eq!(of_phone(tcp, "[flows.g]\nfrom = \"phone.lte\"\nto = \"server\""), NONE);
    let named = format!("{default}\nsubflows = [{{ from = \"phone.lte\", to = \"server.eth\" }}]");
    assert_eq!(of_phone(&named, ""), NONE);
    // Connections that begin while the host does not have the first address begin from the second.
    let outage = "[[timeline]]\nat = \"1 s\"\ninterface = \"phone.wifi\"\ndown = true";
    assert_eq!(of_phone(tcp, outage), NONE);
    assert_eq!(of_phone(tcp, &outage.replace("wifi", "lte")), ["hosts.phone: lte"]);
    let failure = "[[timeline]]\nat = \"1 s\"\nlink = \"wifi\"\ndown = true";
    assert_eq!(of_phone(tcp, failure), ["hosts.phone: lte"], "the address is still there");
}

#[test]
fn what_is_chosen_for_once_or_swept_makes_no_interface_a_mistake() {
    let of_phone = |flow: &str, more: &str, sets: &[&str]| idle([&["wifi", "lte"], &["eth"]], flow, more, sets);
    let mptcp = "protocol = \"mptcp\"";
    assert_eq!(of_phone(mptcp, "", &["flows.f.path_manager=ndiffports"]), NONE);
    assert_eq!(of_phone(mptcp, "", &["flows.f.protocol=tcp"]), NONE);
    assert_eq!(of_phone("", "[sweep]\nflows.f.protocol = [\"tcp\", \"mptcp\"]", &[]), NONE);
    let sweep = "[sweep]\nflows.f.path_manager = [\"default\", \"ndiffports\"]";
    assert_eq!(of_phone(mptcp, sweep, &[]), ["hosts.phone: lte"], "neither uses it");
}

#[test]
fn programs_may_use_all_interfaces() {
    let program = "[programs.web]\non = \"server\"\nrun = [\"true\"]";
    assert_eq!(idle([&["wifi", "lte"], &["eth"]], "protocol = \"tcp\"", program, &[]), NONE);
}

#[test]
fn a_backup_is_told_where_no_flow_has_a_protocol_with_backups() {
    let of = |flow: &str, swept: &str| {
        let text = format!(
            "duration = \"1 s\"\nhosts.phone = [\"wifi\", {{ name = \"lte\", backup = true }}]\nhosts.server = [\"eth\"]\n\
             routers.r = {{}}\n[links]\nwifi = {{ between = [\"phone.wifi\", \"r\"], rate = \"1 Gbit/s\" }}\n\
             lte = {{ between = [\"phone.lte\", \"r\"], rate = \"1 Gbit/s\" }}\n\
             eth = {{ between = [\"r\", \"server\"], rate = \"1 Gbit/s\" }}\n\
             [flows.f]\nfrom = \"phone\"\nto = \"server\"\n{flow}\n{swept}"
        );
        warnings(text, &[])
    };
    let told = "hosts.phone: backup of lte has no effect: no flow of this host has MPTCP or multipath QUIC, which alone \
                have backups";
    assert_eq!(of("protocol = \"sctp\"", ""), [told]);
    assert_eq!(of("protocol = \"mptcp\"\npath_manager = \"full-mesh\"", ""), NONE);
    assert_eq!(of("protocol = \"mpquic\"\npath_manager = \"full-mesh\"", ""), NONE);
    assert_eq!(of("protocol = \"sctp\"", "[sweep]\nflows.f.protocol = [\"sctp\", \"mptcp\"]"), NONE);
}

#[test]
fn a_host_without_flows_is_told_once() {
    let text = |flow: &str| {
        format!(
            "duration = \"1 s\"\nhosts = {{ a = [\"x\"], b = [\"x\"], c = [\"x\", \"y\"] }}\nrouters.r = {{}}\n\
             [links]\nl = {{ between = [\"a\", \"b\"], rate = \"1 Gbit/s\" }}\n\
             x = {{ between = [\"c.x\", \"r\"], rate = \"1 Gbit/s\" }}\ny = {{ between = [\"c.y\", \"r\"], rate = \"1 Gbit/s\" }}\n{flow}"
        )
    };
    let flow = "[flows.f]\nfrom = \"a\"\nto = \"b\"\n";
    assert_eq!(warnings(text(flow), &[]), ["hosts.c has no effect: no flow begins or ends there"]);
}

#[test]
fn interfaces_that_can_never_carry_anything_are_told() {
    let more = |lte: &str, link: &str| {
        format!(
            "[hosts]\na = [\"x\", {{ name = \"lte\", {lte} }}]\nb = [\"x\"]\nother = [\"x\"]\n[routers]\nr = {{}}\n\
             [links.lte]\nbetween = [\"a.lte\", \"{link}\"]\nrate = \"1 Mbit/s\"\n\
             [links.o]\nbetween = [\"r\", \"other.x\"]\nrate = \"1 Mbit/s\"\n"
        )
    };
    let said = |lte: &str, more: &str| {
        let text = format!(
            "duration = \"1 s\"\n{more}[links.l]\nbetween = [\"a.x\", \"b.x\"]\nrate = \"1 Gbit/s\"\n\
             [flows.f]\nfrom = \"a\"\nto = \"b\"\nprotocol = \"mptcp\"\n{lte}"
        );
        let mut of_a = warnings(text, &[]);
        of_a.retain(|message| message.starts_with("hosts.a"));
        of_a
    };
    let unjoined =
        "hosts.a: lte has no effect: no chain of links and routers joins it to a host that a communicates with";
    assert_eq!(said("", &more("address = \"192.0.2.1\"", "r")), [unjoined]);
    let to_other = "[flows.g]\nfrom = \"other\"\nto = \"a\"\nprotocol = \"tcp\"\n";
    assert_eq!(said(to_other, &more("address = \"192.0.2.1\"", "r")), [""; 0], "it carries the second flow");
    let family = "hosts.a: lte has no effect: it has IPv6 only, which no host has that a communicates with";
    assert_eq!(said("", &more("address = \"2001:db8::1\"", "r")), [family]);
}

#[test]
fn interfaces_of_a_family_that_no_association_can_use_are_told() {
    let said = |flow: &str| {
        let link =
            |(name, end): (&str, &str)| format!("{name} = {{ between = [\"{end}\", \"r\"], rate = \"1 Mbit/s\" }}\n");
        let links: String = [("four", "a.x"), ("six", "a.six"), ("both", "b.x")].map(link).concat();
        let text = format!(
            "duration = \"1 s\"\n[hosts]\n\
             a = [{{ name = \"x\", address = \"192.0.2.1\" }}, {{ name = \"six\", address = \"2001:db8::1\" }}]\n\
             b = [{{ name = \"x\", address = [\"192.0.2.9\", \"2001:db8::9\"] }}]\n\
             [routers]\nr = {{}}\n[links]\n{links}[flows.f]\nto = \"b\"\n{flow}"
        );
        warnings(text, &[])
    };
    assert_eq!(said("from = \"a\"\nprotocol = \"mptcp\"\n"), [""; 0]);
    let why = |interface: &str, family: &str, other: &str| {
        format!(
            "hosts.a: {interface} has no effect: it has {family} only, and an SCTP association has one family, which \
             is {other} here"
        )
    };
    assert_eq!(said("from = \"a\"\nprotocol = \"sctp\"\n"), [why("six", "IPv6", "IPv4")]);
    assert_eq!(said("from = \"a.six\"\nprotocol = \"sctp\"\n"), [why("x", "IPv4", "IPv6")]);
    let both = "from = \"a\"\nprotocol = \"sctp\"\n[flows.g]\nfrom = \"a.six\"\nto = \"b\"\nprotocol = \"sctp\"\n";
    assert_eq!(said(both), [""; 0], "each has its association");
}
