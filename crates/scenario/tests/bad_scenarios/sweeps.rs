//! What can be wrong with sweeps, and with what the command line sets.

/// Lines appended to the good scenario.
pub(crate) const SWEEPS: &[(&str, &str)] = &[
    ("a sweep over the sweep", "[sweep]\n\"sweep.x\" = [1, 2]\n"),
    ("a sweep over itself", "[sweep]\n\"sweep\" = [1, 2]\n"),
    ("an empty sweep list", "[sweep]\n\"flows.album.congestion\" = []\n"),
    ("an empty sweep", "[sweep]\n"),
    ("one value", "[sweep]\n\"flows.album.congestion\" = \"lia\"\n"),
    ("a range without a step", "[sweep]\n\"links.wifi.delay\" = \"1 ms .. 5 ms\"\n"),
    ("a range of two units", "[sweep]\n\"links.wifi.delay\" = [\"none\", \"1 ms .. 1 s step 1 ms\"]\n"),
    ("a range without a step in a list", "[sweep]\n\"links.wifi.delay\" = [\"none\", \"1 ms .. 5 ms\"]\n"),
    ("an unknown design", "[sweep]\ndesign = { name = \"latin\", points = 3 }\n\"links.wifi.delay\" = [\"1 ms\"]\n"),
    ("a design without a number of points", "[sweep]\ndesign = \"random\"\n\"links.wifi.delay\" = [\"1 ms\"]\n"),
    ("a full design with points", "[sweep]\ndesign = { name = \"full\", points = 3 }\nrepeat = [1, 2, 3]\n"),
    ("a design with too many points", "[sweep]\ndesign = { name = \"random\", points = 4 }\nrepeat = [1, 2, 3]\n"),
    (
        "a design with too coarse a range",
        "[sweep]\ndesign = { name = \"latin-hypercube\", points = 90 }\nrepeat = \"1 .. 100 log\"\n",
    ),
    ("a bad value in the list", "[sweep]\n\"flows.album.congestion\" = [\"lia\", \"oila\"]\n"),
    ("an unknown key", "[sweep]\n\"flows.album.congestoin\" = [\"lia\"]\n"),
    ("an unknown flow", "[sweep]\n\"flows.albun.congestion\" = [\"lia\"]\n"),
    ("an unknown section", "[sweep]\n\"flow.album.congestion\" = [\"lia\"]\n"),
    ("a value swept twice", "[sweep]\nlinks.wifi.loss = [\"1 %\"]\n\"links.lte.loss, links.wifi.loss\" = [\"1 %\"]\n"),
    ("part of another sweep", "[sweep]\n\"flows.album\" = [{}]\n\"flows.album.send\" = [\"1 MB\"]\n"),
    ("too few values for paths that move together", "[sweep]\n\"links.wifi.loss, links.lte.loss\" = [[\"1 %\"]]\n"),
    ("no path", "[sweep]\n\"flows..album\" = [1]\n"),
    ("through a value", "[sweep]\n\"links.wifi.rate.up\" = [\"1 Mbit/s\"]\n"),
];

/// What is given with --set.
pub(crate) const SETS: &[(&str, &str)] = &[
    ("an unknown algorithm", "flows.album.congestion=lai"),
    ("an unknown link", "links.wfi.rate=1 Mbit/s"),
    ("an unknown key", "links.wifi.rte=1 Mbit/s"),
    ("no unit", "links.wifi.rate=20"),
    ("no =", "links.wifi.rate"),
    ("no path", "=20"),
    ("a position that is not there", "timeline.7.at=1 s"),
    ("an event after the end", "duration=5 s"),
    ("a value that is swept together with another", "links.wifi.loss=2 %"),
];
