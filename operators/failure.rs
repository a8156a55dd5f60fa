//! How a failure is told to whoever started the process.

use operetta::supervisor::RunError;

/// An error and its causes on one line, without those that its text already says.
pub(crate) fn one_line(error: &anyhow::Error) -> String {
    let say = |text: String, cause: String| {
        if text.contains(&cause) { text } else { format!("{text}: {cause}") }
    };
    let causes = error.chain().skip(1).map(ToString::to_string);
    causes.fold(error.to_string(), say).replace('\n', " ")
}

/// Names the flag that helps; what failed while connecting says itself what it is.
pub(crate) fn explain(error: RunError) -> anyhow::Error {
    match error {
        RunError::Web(error) => anyhow::Error::new(error).context("--listen"),
        RunError::Tls(error) => anyhow::Error::new(error).context("--tls-cert, --tls-key"),
        RunError::Connect(error) => error,
        error @ (RunError::NoOperators
        | RunError::Exposed(_)
        | RunError::Config(_)
        | RunError::PanicAborts
        | RunError::WithinRuntime
        | RunError::System(_)
        | RunError::Died) => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;

    #[test]
    fn causes_follow_on_the_same_line_and_nothing_is_said_twice() {
        let error = anyhow!("no\nroute").context("cannot connect: no\nroute").context("--cluster");
        assert_eq!(one_line(&error), "--cluster: cannot connect: no route");
    }

    #[test]
    fn what_failed_while_connecting_speaks_for_itself() {
        let error = explain(RunError::Connect(anyhow!("the port is taken").context("--flag")));
        assert_eq!(one_line(&error), "--flag: the port is taken");
    }
}
