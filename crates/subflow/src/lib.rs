//! Subflow as a library: multipath transport from a scenario file down to single packets.
//!
//! A study is a scenario and what is swept in it. This one moves a file over two paths with two schedulers, five times
//! each:
//!
//! ```
//! use std::path::Path;
//! use subflow::lab::{execute::execute, simulate::RunOptions};
//! use subflow::scenario::{file::Document, sweep::Plan};
//!
//! let text = r#"
//! duration = "10 s"
//! repeat = 5
//! [hosts]
//! phone = ["wifi", "lte"]
//! server = ["eth"]
//! [routers]
//! internet = {}
//! [links]
//! wifi = { between = ["phone.wifi", "internet"], rate = "20 Mbit/s", delay = "10 ms", loss = "0.1 %" }
//! lte = { between = ["phone.lte", "internet"], rate = "10 Mbit/s", delay = "30 ms" }
//! core = { between = ["internet", "server"], rate = "1 Gbit/s" }
//! [flows.file]
//! from = "phone"
//! to = "server"
//! protocol = "mptcp"
//! send = "5 MB"
//! [sweep]
//! "flows.file.scheduler" = ["ll", "redundant"]
//! "#;
//! let document = Document::parse(Path::new("study.toml"), text.to_owned()).expect("it is TOML");
//! let plan = Plan::read(document).expect("the scenario is good");
//! let experiment = execute(&plan, 0, &RunOptions::default(), &|_| {}).expect("all runs succeed");
//! for point in &experiment.statistics {
//!     let goodput = point.flows[0].summaries.get("goodput_mbps").expect("a flow has a goodput");
//!     println!("{:?}: {:?} Mbit/s, 95 %: {:?}", point.parameters, goodput.mean, goodput.ci95_low..goodput.ci95_high);
//! }
//! let mean = |point: usize| experiment.statistics[point].flows[0].summaries.get("goodput_mbps").and_then(|of| of.mean);
//! assert!(mean(0) > mean(1), "copies cost goodput");
//! ```
//!
//! A study that takes long keeps each run in a store as it ends. The next call does what the store lacks, and tables of
//! the results are CSV files (`to_parquet` makes Parquet files, with the feature `parquet`):
//!
//! ```
//! use subflow::scenario::builder::{FlowBuilder, LinkBuilder, ScenarioBuilder};
//! use subflow::store::{Settings, Store, collect, fill, tables};
//!
//! let plan = ScenarioBuilder::new("transfer")
//!     .set("duration", "10 s")
//!     .host("client", ["eth"])
//!     .host("server", ["eth"])
//!     .link("cable", LinkBuilder::between("client", "server"))
//!     .flow("file", FlowBuilder::tcp("client", "server").set("send", "1 MB"))
//!     .sweep("links.cable.rate", ["8 Mbit/s", "16 Mbit/s"])
//!     .plan()
//!     .expect("a good scenario");
//! # let folder = tempfile::tempdir().expect("a folder");
//! # let path = folder.path().join("runs");
//! let store = Store::open(path).expect("a folder of its own");
//! let filled = fill(&plan, &plan.jobs(), &store, &Settings::default(), &|_| {}).expect("the store can be written");
//! assert_eq!((filled.finished, filled.missing), (2, 0));
//! let results = collect(&plan, false, |key| store.load(key)).expect("the store can be read").experiment;
//! let csv = tables::flows(&results).to_csv();
//! assert!(csv.starts_with("run,point,seed,links.cable.rate,links.cable.rate_mbps,flow,"));
//! ```
//!
//! The examples go further: `cargo run -p subflow --example study` takes differences to a baseline run by run, and
//! `--example two_hosts` moves real bytes between two MPTCP hosts without any network.
//!
//! | to | look in |
//! |---|---|
//! | read, change and sweep scenarios | [`scenario`] |
//! | run them, compare results, make statistics | [`lab`] |
//! | keep runs, and write tables as CSV and Parquet | [`store`] |
//! | write reports and figures | [`report`] |
//! | build a network of links, queues and routers by hand | [`network`] |
//! | use TCP, MPTCP or SCTP endpoints without a network | [`transport`] |
//! | write schedulers, congestion controls, path managers, detectors | [`policy`] |
//! | parse and emit packets | [`wire`] |
//! | rates, times, sizes | [`quantity`] |
//! | reproduce publications | `publications`, with the feature of this name |
//! | use MPTCP and SCTP as asynchronous streams | `tokio`, likewise |
//! | use the kernel's TCP and MPTCP, namespaces and devices | `linux`, likewise, on Linux only |
//! | run a SOCKS and HTTP proxy over several paths | `proxy`, likewise |
//!
//! Each module is a crate of its own; who needs one of them depends on that: `subflow-policy`, for example.

pub use subflow_lab as lab;
#[cfg(all(target_os = "linux", feature = "linux"))]
pub use subflow_linux as linux;
pub use subflow_network as network;
pub use subflow_policy as policy;
#[cfg(all(target_os = "linux", feature = "proxy"))]
pub use subflow_proxy as proxy;
#[cfg(feature = "publications")]
pub use subflow_publications as publications;
pub use subflow_quantity as quantity;
pub use subflow_report as report;
pub use subflow_scenario as scenario;
pub use subflow_store as store;
#[cfg(feature = "tokio")]
pub use subflow_tokio as tokio;
pub use subflow_transport as transport;
pub use subflow_wire as wire;
