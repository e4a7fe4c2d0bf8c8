//! The scenarios of the validation. They use only features that the kernel has, too.

use std::path::Path;

use subflow_scenario::Scenario;
use subflow_scenario::file::Document;

/// A scenario that runs both in the simulator and on the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// Its name.
    pub name: &'static str,
    /// A short description.
    pub title: &'static str,
    /// Default number of runs on the kernel: several if the results are random.
    pub runs: u32,
    /// Known causes of the remaining differences.
    pub notes: &'static [&'static str],
    text: &'static str,
}

/// A client and a server with one path.
macro_rules! one_path {
    ($link:literal, $flows:literal) => {
        concat!(
            "duration = \"10 s\"\n[hosts]\nclient = [\"eth\"]\nserver = [\"eth\"]\n[links.path]\n",
            "between = [\"client.eth\", \"server.eth\"]\n",
            $link,
            $flows
        )
    };
}

/// A client with two paths to a server.
macro_rules! two_paths {
    ($one:literal, $two:literal, $flow:literal) => {
        concat!(
            "duration = \"10 s\"\n[hosts]\nclient = [\"one\", \"two\"]\nserver = [\"eth\"]\n[routers]\ninternet = {}\n",
            "[links.one]\nbetween = [\"client.one\", \"internet\"]\n",
            $one,
            "[links.two]\nbetween = [\"client.two\", \"internet\"]\n",
            $two,
            "[links.core]\nbetween = [\"internet\", \"server.eth\"]\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n",
            "[flows.file]\nfrom = \"client\"\nto = \"server\"\nprotocol = \"mptcp\"\ncongestion = \"cubic\"\n",
            "scheduler = \"linux-default\"\nmptcp = { stale_loss_count = 4, subflows_open_window = true }\n",
            $flow
        )
    };
}

/// All cases.
pub const CASES: &[Case] = &[
    Case {
        name: "tcp-reno",
        title: "one TCP connection with Reno, 50 Mbit/s",
        runs: 1,
        notes: &[],
        text: one_path!(
            "rate = \"50 Mbit/s\"\ndelay = \"10 ms\"\nqueue = \"100 packets\"\n",
            "[flows.file]\nfrom = \"client\"\nto = \"server\"\nprotocol = \"tcp\"\ncongestion = \"reno\"\n"
        ),
    },
    Case {
        name: "tcp-cubic",
        title: "one TCP connection with CUBIC, 50 Mbit/s",
        runs: 1,
        notes: &[],
        text: one_path!(
            "rate = \"50 Mbit/s\"\ndelay = \"10 ms\"\nqueue = \"100 packets\"\n",
            "[flows.file]\nfrom = \"client\"\nto = \"server\"\nprotocol = \"tcp\"\ncongestion = \"cubic\"\n"
        ),
    },
    Case {
        name: "lossy-path",
        title: "one TCP connection with CUBIC, 20 Mbit/s and 0.5 % random loss",
        runs: 10,
        notes: &[],
        text: one_path!(
            "rate = \"20 Mbit/s\"\ndelay = \"10 ms\"\nqueue = \"100 packets\"\n\
             loss = { up = \"0.5 %\", down = \"0 %\" }\n",
            "[flows.file]\nfrom = \"client\"\nto = \"server\"\nprotocol = \"tcp\"\ncongestion = \"cubic\"\n"
        ),
    },
    Case {
        name: "shared-bottleneck",
        title: "two TCP connections with Reno on 40 Mbit/s",
        runs: 3,
        notes: &[],
        text: one_path!(
            "rate = \"40 Mbit/s\"\ndelay = \"10 ms\"\nqueue = \"100 packets\"\n",
            "[flows.first]\nfrom = \"client\"\nto = \"server\"\nprotocol = \"tcp\"\ncongestion = \"reno\"\n\
             port = 5001\n\
             [flows.second]\nfrom = \"client\"\nto = \"server\"\nprotocol = \"tcp\"\ncongestion = \"reno\"\n\
             port = 5002\nstart = \"500 ms\"\n"
        ),
    },
    Case {
        name: "mptcp-equal",
        title: "MPTCP over two equal paths of 20 Mbit/s",
        runs: 1,
        notes: &[],
        text: two_paths!(
            "rate = \"20 Mbit/s\"\ndelay = \"10 ms\"\nqueue = \"100 packets\"\n",
            "rate = \"20 Mbit/s\"\ndelay = \"10 ms\"\nqueue = \"100 packets\"\n",
            ""
        ),
    },
    Case {
        name: "mptcp-unequal",
        title: "MPTCP over 40 Mbit/s and 10 ms, and 10 Mbit/s and 40 ms",
        runs: 1,
        notes: &[],
        text: two_paths!(
            "rate = \"40 Mbit/s\"\ndelay = \"10 ms\"\nqueue = \"100 packets\"\n",
            "rate = \"10 Mbit/s\"\ndelay = \"40 ms\"\nqueue = \"100 packets\"\n",
            ""
        ),
    },
    Case {
        name: "mptcp-file",
        title: "10 MB by MPTCP over 30 Mbit/s and 10 ms, and 15 Mbit/s and 30 ms",
        runs: 1,
        notes: &[],
        text: two_paths!(
            "rate = \"30 Mbit/s\"\ndelay = \"10 ms\"\nqueue = \"100 packets\"\n",
            "rate = \"15 Mbit/s\"\ndelay = \"30 ms\"\nqueue = \"100 packets\"\n",
            "send = \"10 MB\"\n"
        ),
    },
    Case {
        name: "path-failure",
        title: "MPTCP over two paths of 20 Mbit/s, one of which is down from 3 s to 6 s",
        runs: 1,
        notes: &[
            "The kernel counts all data that a subflow received, including copies of data that another one delivered; \
             the simulator leaves these out. Both reinject about 1 MB over path one when path two becomes stale.",
            "The next retransmission, at about 7.6 s, finds that the path is up again. The kernel's timer wheel fires \
             timeouts of more than 2 s up to 256 ms late, as in the simulator, but its phase depends on the machine.",
        ],
        text: two_paths!(
            "rate = \"20 Mbit/s\"\ndelay = \"10 ms\"\nqueue = \"100 packets\"\n",
            "rate = \"20 Mbit/s\"\ndelay = \"20 ms\"\nqueue = \"100 packets\"\n",
            "[[timeline]]\nat = \"3 s\"\nlink = \"two\"\ndown = true\n\
             [[timeline]]\nat = \"6 s\"\nlink = \"two\"\nup = true\n"
        ),
    },
];

impl Case {
    /// The text of the scenario file.
    pub fn text(&self) -> String {
        format!("title = \"{}\"\n{}", self.title, self.text)
    }

    pub(super) fn scenario(&self) -> Scenario {
        let path = format!("{}.toml", self.name);
        let document = Document::parse(Path::new(&path), self.text()).expect("we write TOML");
        Scenario::read(&document).unwrap_or_else(|problems| panic!("{}: {problems:?}", self.name))
    }
}
