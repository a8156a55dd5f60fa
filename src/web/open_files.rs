//! How many files the process may have open: a connection takes two, one to end it by, and what
//! the operators need for their own requests must be left to them.

/// Raises that limit as far as the process may itself, and returns it; `None` where it is not
/// known or there is none.
#[cfg(target_os = "linux")]
pub(super) fn raise() -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: maximum, maximum };
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => maximum,
        Err(error) => {
            tracing::debug!(%error, "the limit of open files stays");
            current
        }
    }
}

/// Elsewhere than on Linux it is not known.
#[cfg(not(target_os = "linux"))]
pub(super) fn raise() -> Option<u64> {
    None
}
