//! What would go beyond the limits of packets, clocks and ports.

/// Two hosts, a link and a flow, to which each case adds or in which it replaces: what, and by what.
pub(crate) const PLAIN: &str = r#"duration = "10 s"

[hosts]
a = ["x", "y"]
b = ["x", "y"]

[links.first]
between = ["a.x", "b.x"]
rate = "unlimited"
delay = "1 ms"

[links.second]
between = ["a.y", "b.y"]
rate = "10 Gbit/s"

[flows.f]
from = "a"
to = "b"
"#;

/// What each case replaces in the plain scenario, and by what.
pub(crate) const CASES: &[(&str, &[(&str, &str)])] = &[
    ("a run longer than any", &[("\"10 s\"", "\"1000001 s\"")]),
    (
        "a run longer than the clock of so many links",
        &[
            ("\"10 s\"", "\"700000 s\""),
            ("[hosts]", "[topology]\nkind = \"ring\"\nswitches = 1000\nhosts = 9\nrate = \"1 Gbit/s\"\n[hosts]"),
        ],
    ),
    (
        "a pause longer than any run",
        &[("to = \"b\"", "to = \"b\"\nrequests = { response = \"1 kB\", think = \"300 h\" }")],
    ),
    ("a timeout longer than any run", &[("to = \"b\"", "to = \"b\"\ntcp = { max_rto = \"1000001 s\" }")]),
    ("a rate above that of any link", &[("10 Gbit/s", "10001 Gbit/s")]),
    ("a link that takes no time", &[("delay = \"1 ms\"\n", "")]),
    ("a round trip of 999 ns", &[("1 ms", "{ up = \"998 ns\", down = \"1 ns\" }")]),
    (
        "a second path that takes no time",
        &[("to = \"b\"", "to = \"b\"\nprotocol = \"mptcp\""), ("10 Gbit/s", "unlimited")],
    ),
    ("a delay that nobody waits for", &[("1 ms\"", "1 ms\"\nreorder = { probability = \"100 %\" }")]),
    (
        "a link that takes no time later",
        &[
            (
                "\"10 Gbit/s\"",
                "\"10 Gbit/s\"\ndelay = \"1 s\"\n[[timeline]]\nat = \"2 s\"\nlink = \"second\"\nrate = \
                 \"unlimited\"\n[[timeline]]\nat = \"1 s\"\nlink = \"second\"\ndelay = \"0 s\"",
            ),
            ("from = \"a\"", "from = \"a.y\""),
        ],
    ),
    (
        "requests over routers that take no time",
        &[
            (
                "[links.first]\nbetween = [\"a.x\", \"b.x\"]\nrate = \"unlimited\"\ndelay = \"1 ms\"",
                "[routers]\nr = {}\n[links.near]\nbetween = [\"a.x\", \"r\"]\nrate = \
                 \"unlimited\"\n[links.far]\nbetween = [\"r\", \"b.x\"]\nrate = \"unlimited\"",
            ),
            ("to = \"b\"", "to = \"b\"\nprotocol = \"sctp\"\nrequests = { response = \"1 kB\" }"),
        ],
    ),
    (
        "a datagram that is no packet of IPv4",
        &[("to = \"b\"", "to = \"b\"\nprotocol = \"udp\"\non_off = { rate = \"1 Mbit/s\", packet = \"65508 B\" }")],
    ),
    (
        "a datagram that is no packet of IPv6",
        &[
            ("a = [\"x\"", "a = [{ name = \"x\", address = \"fd00::1\" }"),
            ("b = [\"x\"", "b = [{ name = \"x\", address = \"fd00::2\" }"),
            ("to = \"b\"", "to = \"b\"\nprotocol = \"udp\"\non_off = { rate = \"1 Mbit/s\", packet = \"65488 B\" }"),
        ],
    ),
    (
        "ends without addresses of the same family",
        &[("a = [\"x\"", "a = [{ name = \"x\", address = \"fd00::1\" }"), ("from = \"a\"", "from = \"a.x\"")],
    ),
    (
        "gateways of a host whose name is taken",
        &[(
            "[hosts]",
            "[topology]\nkind = \"dumbbell\"\nrate = \"1 Gbit/s\"\n\n[hosts]\nh0 = [\"eth\", { name = \"wifi\", \
             gateways = [\"left\"] }]",
        )],
    ),
];
