//! Links, queues, routers and whole networks, with simple hosts.

mod fusion;
mod link;
mod middleboxes;
mod parts;
mod radios;
mod routing;
mod simple_hosts;
mod support;
mod wifi;
