//! Readers wait for those who reconcile, not the reverse: the web thread steps back when the
//! processor is short.

/// A thread of this niceness gets a tenth of what one without gets, and all that nobody wants.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 10;

/// Lowers the priority of the calling thread. Elsewhere than on Linux priorities are those of
/// whole processes, and it does nothing.
pub(super) fn step_back() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, NICENESS) {
        tracing::debug!(%error, "the web thread keeps its priority");
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::thread;

    use rustix::process::getpriority_process;

    use super::*;

    #[test]
    fn only_the_thread_that_steps_back_does() {
        let before = getpriority_process(None).unwrap();
        let of_another = thread::spawn(|| {
            step_back();
            getpriority_process(None).unwrap()
        });
        assert_eq!(of_another.join().unwrap(), NICENESS);
        assert_eq!(getpriority_process(None).unwrap(), before);
    }
}
