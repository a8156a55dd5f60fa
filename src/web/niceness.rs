//! Lowers the priority of the web thread, so that reconciles take precedence when CPU time is scarce.

/// A thread of this niceness gets a tenth of the share of one with niceness zero.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 10;

/// Lowers the priority of the calling thread. Only Linux has priorities of threads.
pub(super) fn lower_priority() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, NICENESS) {
        tracing::debug!(%error, "cannot lower the priority of the web thread");
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::thread;

    use rustix::process::getpriority_process;

    use super::*;

    #[test]
    fn only_the_priority_of_the_calling_thread_is_lowered() {
        let before = getpriority_process(None).unwrap();
        let of_another = thread::spawn(|| {
            lower_priority();
            getpriority_process(None).unwrap()
        });
        assert_eq!(of_another.join().unwrap(), NICENESS);
        assert_eq!(getpriority_process(None).unwrap(), before);
    }
}
