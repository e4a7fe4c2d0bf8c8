//! What can be wrong with programs.

/// What is added to the good scenario.
pub(crate) const CASES: &[(&str, &str)] = &[
    ("a program of nobody", "on = \"tablet\"\nrun = [\"true\"]"),
    ("a program that runs nothing", "on = \"phone\""),
    ("no words", "on = \"phone\"\nrun = []"),
    ("a word without a name", "on = \"phone\"\nrun = [\" \", \"-s\"]"),
    ("a line of blanks", "on = \"phone\"\nrun = \"  \""),
    ("a command that is a number", "on = \"phone\"\nrun = 5"),
    ("an address of nobody", "on = \"phone\"\nrun = [\"ping\", \"{address:sevrer}\"]"),
    ("an address of no interface", "on = \"phone\"\nrun = \"ping {address:server.wifi}\""),
    ("an address without an end", "on = \"phone\"\nrun = \"ping {address:server\""),
    ("a start after the end", "on = \"phone\"\nrun = [\"true\"]\nstart = \"30 s\""),
    ("a stop before the start", "on = \"phone\"\nrun = [\"true\"]\nstart = \"2 s\"\nstop = \"1 s\""),
    ("after a program that is not there", "on = \"phone\"\nrun = [\"true\"]\nafter = \"two\""),
    ("after itself", "on = \"phone\"\nrun = [\"true\"]\nafter = { exit = \"one\" }"),
    ("after two events", "on = \"phone\"\nrun = [\"true\"]\nafter = { exit = \"one\", port = 80 }"),
    ("after the exit on a host", "on = \"phone\"\nrun = [\"true\"]\nafter = { exit = \"one\", on = \"server\" }"),
    ("after a port that cannot be", "on = \"phone\"\nrun = [\"true\"]\nafter = { port = 70000 }"),
    ("a variable that is a number", "on = \"phone\"\nrun = [\"true\"]\nenvironment = { DEPTH = 3 }"),
    ("an unknown key", "on = \"phone\"\nrun = [\"true\"]\nenviroment = {}"),
];
