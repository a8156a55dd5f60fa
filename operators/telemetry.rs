//! Logs: compact lines on standard error. What is logged can be changed while the process runs.

use std::io::{self, IsTerminal};

use anyhow::Context;
use operetta::web::LogLevel;
use tracing_subscriber::{EnvFilter, fmt, reload};

/// The filter of logs that have started.
struct Filter<S>(reload::Handle<EnvFilter, S>);

/// Starts logging for the whole process; gives what changes its filter.
pub(crate) fn start(log_level: &str) -> anyhow::Result<impl LogLevel + use<>> {
    let filter = EnvFilter::try_new(log_level).context("--log-level (or RUST_LOG)")?;
    let logs = fmt()
        .compact()
        .with_env_filter(filter)
        .with_ansi(io::stderr().is_terminal())
        .with_writer(io::stderr)
        .with_filter_reloading();
    let filter = Filter(logs.reload_handle());
    logs.try_init().map_err(|error| anyhow::anyhow!("cannot start logging: {error}"))?;
    Ok(filter)
}

impl<S: 'static> LogLevel for Filter<S> {
    fn filter(&self) -> String {
        // The logs last as long as the process.
        self.0.with_current(ToString::to_string).unwrap_or_default()
    }

    fn set_filter(&self, filter: &str) -> anyhow::Result<()> {
        // Its error says all that its sources say.
        let parsed = EnvFilter::try_new(filter)
            .map_err(|error| anyhow::anyhow!("`{filter}` is not a log filter: {error}"))?;
        Ok(self.0.reload(parsed)?)
    }
}

#[cfg(test)]
mod tests {
    use tracing_subscriber::Registry;

    use super::*;

    #[test]
    fn a_filter_is_changed_unless_it_is_none() {
        let (_layer, handle) = reload::Layer::<_, Registry>::new(EnvFilter::new("info"));
        let logs = Filter(handle);
        logs.set_filter("warn,operetta=debug").unwrap();
        assert_eq!(logs.filter(), "operetta=debug,warn");
        let error = format!("{:#}", logs.set_filter("operetta=loud").unwrap_err());
        assert!(error.contains("`operetta=loud` is not a log filter: "), "{error}");
        assert_eq!(logs.filter(), "operetta=debug,warn");
    }
}
