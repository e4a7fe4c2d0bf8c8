//! `family`: which addresses a flow begins with where interfaces have several.

use std::net::IpAddr;
use std::path::Path;

use subflow_scenario::Scenario;
use subflow_scenario::file::Document;

/// A phone and a server with addresses of both families, those of IPv4 first, and a printer with IPv6 only.
fn read(flow: &str) -> Result<Scenario, String> {
    let text = format!(
        "duration = '1 s'\n[hosts]\nphone = [{{ name = 'wifi', address = ['192.0.2.1', '2001:db8::1'] }}]\n\
         server = [{{ name = 'eth', address = ['198.51.100.1', '2001:db8::2'] }}]\n\
         printer = [{{ name = 'eth', address = '2001:db8::3' }}]\n[routers]\nr = {{}}\n[links]\n\
         a = {{ between = ['phone', 'r'], rate = '10 Mbit/s' }}\nb = {{ between = ['r', 'server'], rate = '10 Mbit/s' }}\n\
         c = {{ between = ['r', 'printer'], rate = '10 Mbit/s' }}\n[flows.f]\nfrom = 'phone'\n{flow}\n"
    );
    let document = Document::parse(Path::new("families.toml"), text).expect("it is TOML");
    Scenario::read(&document).map_err(|problems| problems.to_string())
}

fn ends(flow: &str) -> [IpAddr; 2] {
    read(flow).unwrap_or_else(|problems| panic!("{problems}")).flows[0].addresses
}

#[test]
fn a_flow_begins_with_addresses_of_the_family_that_it_names() {
    let [v4, v6] = [["192.0.2.1", "198.51.100.1"], ["2001:db8::1", "2001:db8::2"]]
        .map(|ends| ends.map(|end| end.parse::<IpAddr>().expect("an address")));
    for protocol in ["tcp", "mptcp", "sctp"] {
        let of = |family: &str| ends(&format!("to = 'server'\nprotocol = '{protocol}'\n{family}"));
        assert_eq!([of(""), of("family = 'ipv4'"), of("family = 'ipv6'")], [v4, v4, v6], "{protocol}");
    }
    assert_eq!(ends("to = 'printer'")[1], "2001:db8::3".parse::<IpAddr>().expect("an address"), "the only one");
}

#[test]
fn a_family_that_an_end_lacks_is_refused_with_the_way_out() {
    let said = read("to = 'printer'\nfamily = 'ipv4'").expect_err("the printer has IPv6 only");
    assert!(said.contains("family ipv4 at both ends") && said.contains("give one of them an address"), "{said}");
    let unknown = read("to = 'server'\nfamily = 'ipv5'").expect_err("there is none");
    assert!(unknown.contains("ipv4") && unknown.contains("ipv6"), "{unknown}");
}
