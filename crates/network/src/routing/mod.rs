//! Which way packets go.

/// How a router chooses the next link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RouterMode {
    /// The shortest path to the destination interface; of equally short ones the link that was added first.
    #[default]
    ShortestPath,
}

/// What makes a path short.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RouteMetric {
    /// Few links.
    #[default]
    Hops,
    /// Little propagation delay, then few links.
    Delay,
}
