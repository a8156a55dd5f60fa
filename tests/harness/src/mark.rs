//! What a test depends on, so that the tests that a change can break are found.

/// A mark of a test, written in its attribute: `#[operetta_harness::test(server)]`.
///
/// An unknown word is refused by the compiler:
///
/// ```compile_fail
/// #[operetta_harness::test(sever)]
/// fn a_test() {}
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// It depends on what the API server does, so that it is worth running against another one.
    Server,
}

impl Mark {
    /// All marks. The crate of the attribute lists their words too.
    pub(crate) const ALL: [Self; 1] = [Self::Server];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Server => "server",
        }
    }
}
