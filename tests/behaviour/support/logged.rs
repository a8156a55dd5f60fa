//! The log of our crates, as a program with the default format of `tracing-subscriber` writes it.

use std::{
    io,
    sync::{Mutex, Once, PoisonError},
};

use tracing_subscriber::{Layer, fmt, layer::SubscriberExt, util::SubscriberInitExt};

/// What is kept of the log of all tests of the process.
const KEPT: [&str; 4] = ["s3ntinel", "czNudGluZWwt", "(redacted)", "f0rged"];

static LOGGED: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Log;

impl io::Write for Log {
    /// Each event is written at once.
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        if KEPT.iter().any(|part| text.contains(part)) {
            LOGGED.lock().unwrap_or_else(PoisonError::into_inner).push(text.into_owned());
        }
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Captures the log of our crates at the level trace.
pub(crate) fn watch_logs() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let crates = ["operetta", "operators", "operetta_apiserver"];
        let ours = crates.map(|name| (name, tracing::Level::TRACE));
        let ours = tracing_subscriber::filter::Targets::new().with_targets(ours);
        let lines = fmt::layer().with_ansi(false).with_writer(|| Log).with_filter(ours);
        tracing_subscriber::registry().with(lines).init();
    });
}

/// The events so far that contain this.
pub(crate) fn logged(part: &str) -> Vec<String> {
    let events = LOGGED.lock().unwrap_or_else(PoisonError::into_inner);
    events.iter().filter(|text| text.contains(part)).cloned().collect()
}
