//! What a MultiFlow controller does as published, and what it can do better.

/// The switches of a [`Multiflow`](super::Multiflow) controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MultiflowOptions {
    /// What becomes of a connection's initial subflow.
    pub initial: InitialSubflow,
    /// Which of equally short paths is taken.
    pub ties: Ties,
    /// How many disjoint paths are looked for at once, at least one. One is greedy, as published: the shortest path in
    /// what is left. Two find a disjoint pair wherever there is one, and the shortest of them.
    pub set: usize,
    /// Which way the other direction of a subflow goes.
    pub return_path: ReturnPath,
}

impl MultiflowOptions {
    /// MultiFlow as published.
    pub const PUBLISHED: Self =
        Self { initial: InitialSubflow::Apart, ties: Ties::First, set: 1, return_path: ReturnPath::Default };

    /// With all that is better: no subflow left out, spread over equal paths by load, optimal pairs, and both directions
    /// of a subflow on one path.
    pub const IMPROVED: Self =
        Self { initial: InitialSubflow::Included, ties: Ties::LeastLoaded, set: 2, return_path: ReturnPath::Forward };
}

/// What becomes of the subflow that opens a connection, whose SYN shows no token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialSubflow {
    /// It takes the shortest path, and the subflows that join know nothing of it (as published): one may share its path.
    Apart,
    /// Its path counts as used. The SYN/ACK shows the server's key, whose hash is the token of the client's joins. (Of
    /// joins that the server opens, which show the client's token, the controller knows nothing: the client's key comes
    /// with the third ACK, which switches do not send up.)
    Included,
}

/// Which of equally short paths is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ties {
    /// The one over the links added first, for every connection (as published: Dijkstra's algorithm gives no other).
    First,
    /// Any of them, at random for each subflow.
    Random,
    /// The one whose links carry the fewest subflows that this controller has placed; of several, any.
    LeastLoaded,
}

/// Which way the packets go that answer a subflow's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReturnPath {
    /// The default route: the shortest path, wherever the subflow goes (as published: the SYN/ACK of a join has no token).
    Default,
    /// The subflow's own path, backwards.
    Forward,
}
