//! Programs in hosts.

use std::sync::LazyLock;

use subflow_policy::catalogue::Catalogue;
use subflow_policy::path_manager::PathManagement;

use crate::table::{Default, TableSchema, named, optional, required, value};

/// `[programs.NAME]`.
pub(crate) static PROGRAM: LazyLock<TableSchema> = LazyLock::new(|| TableSchema {
    path: "[programs.NAME]",
    doc: "A program that runs in a host with `--on linux`; its traffic passes the links of the scenario. Names of hosts \
          and of interfaces (phone, phone.wifi) resolve in it. In `run` and `environment`, {address:server.eth} is \
          replaced by the address of that interface, and {address:server} by that of the host's first interface.",
    fields: vec![
        required("on", "the name of a host", "the host that it runs in, which has the kernel's stack"),
        required(
            "run",
            "a list of words, or a line for the shell",
            "the program and its arguments, or a line that `sh -c` runs",
        ),
        value("start", "a duration before the end of the run", "'0 s'", "its start, counted from the event in `after`"),
        optional("stop", "a duration before the end of the run", "the end of the run", "the time at which it is ended"),
        optional(
            "after",
            "the name of a program, or a table",
            "nothing",
            "what it waits for: the start of the named program, or what the table says",
        ),
        optional("environment", "a table of variables", "none", "variables in addition to those of the command"),
        optional("user", "the name of a user", "that of the command", "the user that it runs as"),
        optional(
            "directory",
            "a path",
            "that of the command",
            "its working directory; a relative path starts at the scenario's file",
        ),
        value("mptcp", "true or false", "false", "whether its TCP sockets become MPTCP sockets, by `mptcpize run`"),
        optional(
            "congestion",
            "the name of a congestion control of the kernel",
            "that of the machine",
            "the congestion control of all connections of its host: one that the kernel has, or that is loaded for the \
             run",
        ),
        named(
            "path_manager",
            "the name of a path manager, or a table with a name and options",
            PathManagement::ALL.to_vec(),
            Default::described("the kernel's own, with subflows between all addresses"),
            "the path manager of the MPTCP connections of all programs of its host",
        ),
    ],
});

/// `after = { … }`.
pub(crate) static AFTER: LazyLock<TableSchema> = LazyLock::new(|| TableSchema {
    path: "programs.NAME.after = { … }",
    doc: "What a program waits for: exactly one of start, exit and port.",
    fields: vec![
        optional("start", "the name of a program", "none", "the program that has to start"),
        optional("exit", "the name of a program", "none", "the program that has to exit"),
        optional("port", "a whole number from 1 to 65535", "none", "the TCP port on which a program has to listen"),
        optional("on", "the name of a host", "the program's own host", "the host of the port"),
    ],
});
