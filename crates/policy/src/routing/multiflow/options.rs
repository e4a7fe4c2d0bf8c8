//! The options of a MultiFlow controller: the published behaviour and improvements.

/// The options of a [`Multiflow`](super::Multiflow) controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MultiflowOptions {
    /// How a connection's initial subflow is placed.
    pub initial: InitialSubflow,
    /// Which of equally short paths is taken.
    pub ties: Ties,
    /// The number of disjoint paths to search for at once, at least one. With one the search is greedy, as published:
    /// the shortest path in the remaining links. With two it finds the shortest disjoint pair, if there is a pair.
    pub set: usize,
    /// The path of the reverse direction of a subflow.
    pub return_path: ReturnPath,
}

impl MultiflowOptions {
    /// MultiFlow as published.
    pub const PUBLISHED: Self =
        Self { initial: InitialSubflow::Apart, ties: Ties::First, set: 1, return_path: ReturnPath::Default };

    /// All improvements: the initial subflow is included, equal paths are chosen by load, disjoint pairs are optimal,
    /// and both directions of a subflow use one path.
    pub const IMPROVED: Self =
        Self { initial: InitialSubflow::Included, ties: Ties::LeastLoaded, set: 2, return_path: ReturnPath::Forward };
}

/// How the subflow that opens a connection is placed. Its SYN contains no token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialSubflow {
    /// It takes the shortest path and is not recorded (as published): a subflow that joins may share its path.
    Apart,
    /// It takes the default route of all other traffic and is not recorded (algorithm 1 of the paper).
    DefaultRoute,
    /// Its path counts as used. The SYN/ACK contains the server's key, whose hash is the token of the client's joins.
    /// (The controller cannot assign joins that the server opens: they contain the client's token, and the client's key
    /// is in the third ACK, which switches do not send to the controller.)
    Included,
}

/// Which of equally short paths is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ties {
    /// The one over the links added first, for every connection (as published: the result of Dijkstra's algorithm).
    First,
    /// Any of them, at random for each subflow.
    Random,
    /// The one whose links carry the fewest subflows placed by this controller; a random one of several.
    LeastLoaded,
}

/// The path of the packets in the reverse direction of a subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReturnPath {
    /// The default route: the shortest path, independent of the subflow's path (as published: the SYN/ACK of a join has
    /// no token).
    Default,
    /// The subflow's own path in reverse.
    Forward,
}
