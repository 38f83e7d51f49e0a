//! Faults that are put into the protocol, which the explorer has to find.

/// A step of the protocol that is left out, or done at another time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mutation {
    /// An entry is created although there is one.
    CreateOverwrites,
    /// The last file of a commit does not become visible.
    LastFileForgotten,
    /// Removed files stay.
    NothingRemoved,
    /// An entry is marked as finished when it is created.
    MarkedFirst,
    /// Files are removed before others are visible.
    RemovedFirst,
    /// Writers take every entry for finished.
    PreviousNotFinished,
    /// A process reads the log once.
    LogReadOnce,
    /// A process lists the files once.
    ListedOnce,
    /// When a staged file is lost, an undone commit leaves the others as they are.
    OthersKept,
    /// A request that has failed is taken for one that changes nothing.
    ErrorsAreFinal,
    /// A commit does not compare the position of the log.
    PositionIgnored,
    /// A marker has no schema.
    SchemaForgotten,
    /// Listings of files show an earlier state. The protocol needs a store whose listings are consistent.
    ListingLate,
}

impl Mutation {
    pub(crate) const ALL: [Mutation; 13] = [
        Mutation::CreateOverwrites,
        Mutation::LastFileForgotten,
        Mutation::NothingRemoved,
        Mutation::MarkedFirst,
        Mutation::RemovedFirst,
        Mutation::PreviousNotFinished,
        Mutation::LogReadOnce,
        Mutation::ListedOnce,
        Mutation::OthersKept,
        Mutation::ErrorsAreFinal,
        Mutation::PositionIgnored,
        Mutation::SchemaForgotten,
        Mutation::ListingLate,
    ];
}
