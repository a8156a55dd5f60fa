//! Logs, and traces where they are asked for. Logs are compact lines or JSON on standard error, one line for each event
//! whatever its text is. The filter can be changed while the process runs; the audit lines of commands are always written.

use std::{
    backtrace::{Backtrace, BacktraceStatus},
    fmt::Write as _,
    io::{self, IsTerminal},
    panic::{self, PanicHookInfo},
    thread,
};

use crate::{
    object::OneLine,
    web::{AUDIT, LogLevel},
};
use anyhow::Context;
use tracing::{Subscriber, level_filters::LevelFilter};
use tracing_subscriber::{
    EnvFilter, Layer, Registry,
    field::RecordFields,
    filter::{FilterExt, ParseError, filter_fn},
    fmt::{
        self, FormatFields, MakeWriter,
        format::{DefaultFields, Writer},
    },
    layer::SubscriberExt,
    registry::LookupSpan,
    reload,
    util::SubscriberInitExt,
};

use super::{command_line::LogFormat, legible_lines::LegibleLines, traces::Traces};

/// The target of panics in JSON, which are always written, as they are in text.
const PANIC: &str = "operetta::panic";

/// The filter of the running logs.
struct Filter(reload::Handle<EnvFilter, Registry>);

/// Starts logging and tracing for the whole process; returns the handle that changes the filter of the logs.
pub(super) fn start(
    log_level: Option<&str>,
    format: LogFormat,
    traces: Option<&Traces>,
) -> anyhow::Result<impl LogLevel + use<>> {
    let filter = parsed(log_level.unwrap_or(usual_level(format)));
    let filter = filter.context("--log-level (or RUST_LOG)")?;
    let (lines, filter) = logs(filter, Style::of(format), io::stderr);
    let all = lines.with(traces.map(Traces::layer));
    all.try_init().map_err(|error| anyhow::anyhow!("cannot start logging: {error}"))?;
    panic::set_hook(match format {
        LogFormat::Text => Box::new(|panic| eprint!("{}", printed(panic))),
        LogFormat::Json => {
            Box::new(|panic| tracing::error!(target: PANIC, "{}", OneLine(printed(panic))))
        }
    });
    Ok(filter)
}

/// A developer sees each write. In a cluster there may be thousands, and the endpoint shows the last ones of each parent.
fn usual_level(format: LogFormat) -> &'static str {
    match format {
        LogFormat::Text => {
            "info,operetta::writes=debug,actix_server=warn,actix_http=off,kube_client=off,rmcp=warn"
        }
        LogFormat::Json => "info,actix_server=warn,actix_http=off,kube_client=off,rmcp=warn",
    }
}

/// How the lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    Plain,
    Coloured,
    Json,
}

impl Style {
    fn of(format: LogFormat) -> Self {
        match format {
            LogFormat::Json => Self::Json,
            LogFormat::Text if io::stderr().is_terminal() => Self::Coloured,
            LogFormat::Text => Self::Plain,
        }
    }
}

/// Without regular expressions, whose compilation can take seconds.
fn parsed(filter: &str) -> Result<EnvFilter, ParseError> {
    EnvFilter::builder().with_regex(false).parse(filter)
}

fn logs<W>(
    filter: EnvFilter,
    style: Style,
    writer: W,
) -> (impl Subscriber + for<'a> LookupSpan<'a> + use<W>, Filter)
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let (filter, handle) = reload::Layer::new(filter);
    // Not a further directive: a more specific one would override it.
    let always = filter_fn(|line| [AUDIT, PANIC].contains(&line.target()));
    let always = always.with_max_level_hint(LevelFilter::INFO);
    let lines = if style == Style::Json {
        let lines = fmt::layer().json().flatten_event(true).with_writer(LegibleLines(writer));
        lines.with_current_span(false).with_span_list(false).boxed()
    } else {
        let lines = fmt::layer().compact().with_ansi(style == Style::Coloured).with_writer(writer);
        lines.fmt_fields(OnOneLine(DefaultFields::new())).boxed()
    };
    let lines = lines.with_filter(filter.or(always));
    (tracing_subscriber::registry().with(lines), Filter(handle))
}

/// The default format of the message and the fields of an event, on one line: others may have chosen their text, and all
/// else of a line is ours.
struct OnOneLine(DefaultFields);

impl<'writer> FormatFields<'writer> for OnOneLine {
    fn format_fields<R: RecordFields>(
        &self,
        mut writer: Writer<'writer>,
        fields: R,
    ) -> std::fmt::Result {
        let mut text = String::new();
        self.0.format_fields(Writer::new(&mut text), fields)?;
        write!(writer, "{}", OneLine(text))
    }
}

/// A panic as Rust prints it, but on one line, because the message may quote text of others.
fn printed(panic: &PanicHookInfo<'_>) -> String {
    let thread = thread::current();
    let (thread, message) = (thread.name().unwrap_or("a thread"), panic.payload_as_str());
    let place = panic.location().map(ToString::to_string).unwrap_or_default();
    let message = OneLine(message.unwrap_or("no text"));
    let mut text = format!("thread '{thread}' panicked at {place}: {message}\n");
    let backtrace = Backtrace::capture();
    if backtrace.status() == BacktraceStatus::Captured {
        // A text in memory takes everything.
        let _ = writeln!(text, "{backtrace}");
    }
    text
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

    use operetta_harness::logs_alone;

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
    fn no_text_forges_a_line_or_controls_a_terminal() {
        let _alone = logs_alone();
        for style in [Style::Plain, Style::Coloured, Style::Json] {
            let written = Written::default();
            let log = written.clone();
            let (lines, _filter) = logs(EnvFilter::new("info"), style, move || log.clone());
            let forged =
                "x\u{202e}\n2026-01-01T00:00:00Z  INFO operetta::audit: done\r\u{1b}[2J\u{9b}K";
            tracing::subscriber::with_default(lines, || {
                let _span = tracing::info_span!("of", %forged).entered();
                tracing::info!(%forged, quoted = forged, "of {forged}");
            });
            let written = written.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let written = String::from_utf8(written).unwrap();
            let line = written.strip_suffix('\n').unwrap();
            assert!(!line.contains(['\n', '\r', '\u{202e}', '\u{9b}']), "{line}");
            assert!(!line.contains("\u{1b}[2J"), "{line}");
            assert!(line.matches(r"\u202e\n2026").count() >= 2, "{line}");
            if style == Style::Json {
                let line: serde_json::Value = serde_json::from_str(line).unwrap();
                assert_eq!((&line["quoted"], &line["level"]), (&forged.into(), &"INFO".into()));
            }
        }
    }

    #[test]
    fn a_panic_is_printed_on_one_line() {
        let hook = panic::take_hook();
        let seen: Arc<Mutex<String>> = Arc::default();
        let to = seen.clone();
        let others = panic::take_hook();
        panic::set_hook(Box::new(move |panic| match thread::current().name() {
            Some("it") => *to.lock().unwrap() = printed(panic),
            _ => others(panic),
        }));
        let panicking = || panic!("no {}", "x\nINFO operetta::audit: done");
        let _ = thread::Builder::new().name("it".to_owned()).spawn(panicking).unwrap().join();
        panic::set_hook(hook);
        let shown = seen.lock().unwrap_or_else(PoisonError::into_inner);
        let line = shown.lines().next().unwrap();
        assert!(line.starts_with("thread 'it' panicked at src/cli/telemetry.rs:"), "{line}");
        assert!(line.ends_with(r": no x\nINFO operetta::audit: done"), "{line}");
    }

    #[test]
    fn an_invalid_filter_is_refused() {
        let _alone = logs_alone();
        let (_lines, logs) = logs(EnvFilter::new("info"), Style::Plain, io::sink);
        logs.set_filter("warn,operetta=debug").unwrap();
        assert_eq!(logs.filter(), "operetta=debug,warn");
        let error = format!("{:#}", logs.set_filter("operetta=loud").unwrap_err());
        assert!(error.contains("`operetta=loud` is not a log filter: "), "{error}");
        assert_eq!(logs.filter(), "operetta=debug,warn");
    }

    #[test]
    fn values_of_fields_are_no_regular_expressions() {
        let _alone = logs_alone();
        let (_lines, logs) = logs(parsed("info").unwrap(), Style::Plain, io::sink);
        // As a regular expression it is invalid.
        logs.set_filter("[request{path=(}]=debug").unwrap();
    }

    #[test]
    fn audit_lines_are_written_whatever_the_filter() {
        let _alone = logs_alone();
        let written = Written::default();
        let writer = written.clone();
        let (lines, logs) = logs(EnvFilter::new("off"), Style::Plain, move || writer.clone());
        let _default = lines.set_default();
        let command = || {
            tracing::info!(target: AUDIT, user = "ann", "a command");
            tracing::error!(target: PANIC, "a panic");
        };
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
        assert_eq!(written.matches("a panic").count(), 7, "{written}");
        assert_eq!(written.matches("operetta::audits").count(), 1, "{written}");
        assert!(written.contains("after trace"), "{written}");
    }
}
