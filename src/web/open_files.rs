//! The limit of open files. A connection needs two, and operators need some for their own requests.

/// Raises the limit to the hard limit, and returns it; `None` if it is unknown or unlimited.
#[cfg(target_os = "linux")]
pub(super) fn raise() -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: maximum, maximum };
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => maximum,
        Err(error) => {
            tracing::debug!(%error, "cannot raise the limit of open files");
            current
        }
    }
}

/// It is known only on Linux.
#[cfg(not(target_os = "linux"))]
pub(super) fn raise() -> Option<u64> {
    None
}
