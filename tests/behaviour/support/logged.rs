//! The log of our crates, as a program with the default format of `tracing-subscriber` writes it.

use std::{
    io,
    sync::{Mutex, Once, PoisonError},
};

use tracing_subscriber::{Layer, fmt, layer::SubscriberExt, util::SubscriberInitExt};

/// What all planted secrets begin with, in clear text and in base64.
const SENTINELS: [&str; 2] = ["s3ntinel", "czNudGluZWwt"];
/// What is kept of the log of all tests of the process, besides.
const KEPT: [&str; 3] = ["(redacted)", "f0rged", "no CRD serves"];

static LOGGED: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Log;

impl io::Write for Log {
    /// Each event is written at once.
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        if leaks(&text) || KEPT.iter().any(|part| text.contains(part)) {
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

/// Whether a text shows a planted secret.
pub(crate) fn leaks(text: &str) -> bool {
    SENTINELS.iter().any(|sentinel| text.contains(sentinel))
}

/// The events so far that show one.
pub(crate) fn leaked() -> Vec<String> {
    logged("").into_iter().filter(|event| leaks(event)).collect()
}

/// The events so far that contain this.
pub(crate) fn logged(part: &str) -> Vec<String> {
    let events = LOGGED.lock().unwrap_or_else(PoisonError::into_inner);
    events.iter().filter(|text| text.contains(part)).cloned().collect()
}
