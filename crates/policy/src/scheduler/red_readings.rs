//! The readings of red2018 that the scheduler `red-diversity` has as options.
//!
//! The paper says that "allocation begins with the path of the lowest degree of correlation among the others" (section
//! 3.2), and not what happens while the window of that path is full. The schedulers that it builds upon allocate over the
//! available paths, which are those with window space, and none of that kernel's waits. Its model copies every segment to
//! all weakly correlated paths (section 3.2); its implementation copies only segments that no path has sent (section 4.2).

use crate::catalogue::Choice;

/// Which subflows may carry a segment first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RedAllocation {
    /// The least correlated of those with window space.
    #[default]
    Available,
    /// The least correlated of all live ones: new data waits while its window is full.
    LeastCorrelated,
    /// The members of a set of uncorrelated subflows. The others carry neither new data nor copies. The set begins with
    /// the least correlated subflow; the next member is the one that is least correlated with those in the set, as long as
    /// its c with each of them is below φ.
    UncorrelatedSet,
}

/// When a segment is copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RedCopies {
    /// When it is first sent.
    #[default]
    WhenSent,
    /// Until it is acknowledged: a subflow whose window was full gets its copies when it has space again, oldest first.
    UntilAcknowledged,
}

impl RedAllocation {
    pub(super) const ALL: [Choice<Self>; 3] = [
        Choice::new("available", Self::Available, "the least correlated of the subflows with window space"),
        Choice::new(
            "least-correlated",
            Self::LeastCorrelated,
            "the least correlated of all live subflows; new data waits while it is full",
        ),
        Choice::new(
            "uncorrelated-set",
            Self::UncorrelatedSet,
            "a set of uncorrelated subflows; the others carry no data",
        ),
    ];
}

impl RedCopies {
    pub(super) const ALL: [Choice<Self>; 2] = [
        Choice::new("when-sent", Self::WhenSent, "when it is first sent, on the subflows with window space"),
        Choice::new("until-acknowledged", Self::UntilAcknowledged, "at any time, as subflows have window space"),
    ];
}
