//! Formats an error for the user who started the process.

use operetta::{object::OneLine, supervisor::RunError};

/// An error and its causes on one line, without causes that its text already contains. A server may have chosen the text.
pub(crate) fn one_line(error: &anyhow::Error) -> String {
    let append = |text: String, cause: String| {
        if text.contains(&cause) { text } else { format!("{text}: {cause}") }
    };
    let causes = error.chain().skip(1).map(ToString::to_string);
    OneLine(causes.fold(error.to_string(), append).replace('\n', " ")).to_string()
}

/// Adds the flag that is wrong; an error of connecting names its flag already.
pub(crate) fn explain(error: RunError) -> anyhow::Error {
    match error {
        RunError::Web(error) => anyhow::Error::new(error).context("--listen"),
        RunError::Tls(error) => anyhow::Error::new(error).context("--tls-cert, --tls-key"),
        RunError::Connect(error) => error,
        error @ (RunError::NoOperators
        | RunError::Exposed(_)
        | RunError::Config(_)
        | RunError::ExternalOperator(_)
        | RunError::Election(_)
        | RunError::PanicAborts
        | RunError::WithinRuntime
        | RunError::System(_)
        | RunError::Abandoned
        | RunError::Died) => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;

    #[test]
    fn causes_follow_on_the_same_line_without_repetition() {
        let error = anyhow!("no\nroute").context("cannot connect: no\nroute").context("--cluster");
        assert_eq!(one_line(&error), "--cluster: cannot connect: no route");
    }

    #[test]
    fn an_error_cannot_control_the_terminal() {
        let error = anyhow!("\u{1b}[2Kdone\r\u{202e}");
        assert_eq!(one_line(&error), "\\u001b[2Kdone\\r\\u202e");
    }

    #[test]
    fn an_error_of_connecting_is_not_changed() {
        let error = explain(RunError::Connect(anyhow!("the port is taken").context("--flag")));
        assert_eq!(one_line(&error), "--flag: the port is taken");
    }
}
