//! Logs, and traces where they are asked for. Logs are compact lines on standard error. The filter can be changed while the process runs; the
//! audit lines of commands are always written.

use std::{
    borrow::Cow,
    io::{self, IsTerminal, Write},
};

use anyhow::Context;
use operetta::{
    object::legible,
    web::{AUDIT, LogLevel},
};
use tracing::{Subscriber, level_filters::LevelFilter};
use tracing_subscriber::{
    EnvFilter, Layer, Registry,
    filter::{FilterExt, ParseError, filter_fn},
    fmt::{self, MakeWriter},
    layer::SubscriberExt,
    registry::LookupSpan,
    reload,
    util::SubscriberInitExt,
};

use crate::traces::Traces;

/// The filter of the running logs.
struct Filter(reload::Handle<EnvFilter, Registry>);

/// Starts logging and tracing for the whole process; returns the handle that changes the filter of the logs.
pub(crate) fn start(
    log_level: &str,
    traces: Option<&Traces>,
) -> anyhow::Result<impl LogLevel + use<>> {
    let filter = parsed(log_level).context("--log-level (or RUST_LOG)")?;
    let (lines, filter) = logs(filter, io::stderr().is_terminal(), io::stderr);
    let all = lines.with(traces.map(Traces::layer));
    all.try_init().map_err(|error| anyhow::anyhow!("cannot start logging: {error}"))?;
    Ok(filter)
}

/// Without regular expressions, whose compilation can take seconds.
fn parsed(filter: &str) -> Result<EnvFilter, ParseError> {
    EnvFilter::builder().with_regex(false).parse(filter)
}

fn logs<W>(
    filter: EnvFilter,
    ansi: bool,
    writer: W,
) -> (impl Subscriber + for<'a> LookupSpan<'a> + use<W>, Filter)
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let (filter, handle) = reload::Layer::new(filter);
    // Not a further directive: a more specific one would override it.
    let audit = filter_fn(|line| line.target() == AUDIT).with_max_level_hint(LevelFilter::INFO);
    let lines = fmt::layer().compact().with_ansi(ansi).with_writer(Legible(writer));
    let lines = lines.with_filter(filter.or(audit));
    (tracing_subscriber::registry().with(lines), Filter(handle))
}

/// Escapes characters that change the direction of text.
struct Legible<W>(W);

impl<'a, W: MakeWriter<'a>> MakeWriter<'a> for Legible<W> {
    type Writer = Legible<W::Writer>;

    fn make_writer(&'a self) -> Self::Writer {
        Legible(self.0.make_writer())
    }
}

impl<W: Write> Write for Legible<W> {
    /// Writes the whole buffer: a line is written at once.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        match std::str::from_utf8(line).map(legible) {
            Ok(Cow::Owned(shown)) => self.0.write_all(shown.as_bytes())?,
            Ok(Cow::Borrowed(_)) | Err(_) => self.0.write_all(line)?,
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl LogLevel for Filter {
    fn filter(&self) -> String {
        // The logs live as long as the process.
        self.0.with_current(ToString::to_string).unwrap_or_default()
    }

    fn set_filter(&self, filter: &str) -> anyhow::Result<()> {
        // Its error contains those of its sources.
        let parsed = parsed(filter)
            .map_err(|error| anyhow::anyhow!("`{filter}` is not a log filter: {error}"))?;
        Ok(self.0.reload(parsed)?)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex, PoisonError};

    use super::*;

    /// The written bytes.
    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn characters_that_change_the_direction_of_a_line_are_escaped() {
        let written = Written::default();
        let log = written.clone();
        let (lines, _filter) = logs(EnvFilter::new("info"), false, move || log.clone());
        let name = "web\u{202e}bew";
        tracing::subscriber::with_default(lines, || tracing::info!(%name, "of {name}"));
        let written = written.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let written = String::from_utf8(written).unwrap();
        assert_eq!(written.matches(r"web\u202ebew").count(), 2, "{written}");
        assert!(!written.contains('\u{202e}') && written.ends_with('\n'), "{written}");
    }

    #[test]
    fn an_invalid_filter_is_refused() {
        let (_lines, logs) = logs(EnvFilter::new("info"), false, io::sink);
        logs.set_filter("warn,operetta=debug").unwrap();
        assert_eq!(logs.filter(), "operetta=debug,warn");
        let error = format!("{:#}", logs.set_filter("operetta=loud").unwrap_err());
        assert!(error.contains("`operetta=loud` is not a log filter: "), "{error}");
        assert_eq!(logs.filter(), "operetta=debug,warn");
    }

    #[test]
    fn values_of_fields_are_no_regular_expressions() {
        let (_lines, logs) = logs(parsed("info").unwrap(), false, io::sink);
        // As a regular expression it is invalid.
        logs.set_filter("[request{path=(}]=debug").unwrap();
        // As one it takes 2 GB and seconds.
        logs.set_filter("[request{path=((((a{99}){99}){99}){99})}]=debug").unwrap();
    }

    #[test]
    fn audit_lines_are_written_whatever_the_filter() {
        let written = Written::default();
        let writer = written.clone();
        let (lines, logs) = logs(EnvFilter::new("off"), false, move || writer.clone());
        let _default = lines.set_default();
        let command = || tracing::info!(target: AUDIT, user = "ann", "a command");
        command();
        for filter in
            ["off", "error", "operetta::audit=off", "operetta::audit[{user}]=off", "info", "trace"]
        {
            logs.set_filter(filter).unwrap();
            tracing::debug!(target: "operetta::audits", "after {filter}");
            command();
        }
        let written = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
        assert_eq!(written.matches("a command user=\"ann\"").count(), 7, "{written}");
        assert_eq!(written.matches("operetta::audits").count(), 1, "{written}");
        assert!(written.contains("after trace"), "{written}");
    }
}
