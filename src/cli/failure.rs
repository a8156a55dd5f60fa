//! Formats an error for the user who started the process.

#[cfg(feature = "embedded")]
use crate::supervisor::EmbeddedError;
use crate::{object::OneLine, supervisor::RunError};

/// An error and its causes on one line, without causes that its text already contains. A server may have chosen the text.
pub(super) fn one_line(error: &anyhow::Error) -> String {
    let append = |text: String, cause: String| {
        if text.contains(&cause) { text } else { format!("{text}: {cause}") }
    };
    let causes = error.chain().skip(1).map(ToString::to_string);
    OneLine(causes.fold(error.to_string(), append).replace('\n', " ")).to_string()
}

/// Adds the flag that is wrong; `cluster` is the one that chose the cluster.
pub(super) fn explain(error: RunError, cluster: &'static str) -> anyhow::Error {
    match error {
        RunError::Web(error) => anyhow::Error::new(error).context("--listen"),
        RunError::Tls(error) => anyhow::Error::new(error).context("--tls-cert, --tls-key"),
        RunError::Connect(error) => {
            let flag = of_embedded(&error).unwrap_or(cluster);
            error.context(flag)
        }
        error @ (RunError::WebhooksWithoutTls | RunError::WebhookUrl(_)) => {
            anyhow::Error::new(error).context("--webhook-url")
        }
        error @ (RunError::NoOperators
        | RunError::Exposed(_)
        | RunError::Config(_)
        | RunError::Crd(_)
        | RunError::Install(_)
        | RunError::ExternalOperator(_)
        | RunError::Election(_)
        | RunError::Sharding(_)
        | RunError::PanicAborts
        | RunError::WithinRuntime
        | RunError::System(_)
        | RunError::Webhooks(_)
        | RunError::WebhooksWithoutAddress
        | RunError::NoWebhooks
        | RunError::WebhookCertificate(_)
        | RunError::Abandoned
        | RunError::Died) => error.into(),
    }
}

/// The flag of what the embedded server lacks.
#[cfg(feature = "embedded")]
fn of_embedded(error: &anyhow::Error) -> Option<&'static str> {
    Some(match error.downcast_ref()? {
        EmbeddedError::Data(_) => "--data",
        EmbeddedError::Listen(_) => "--embedded-listen",
        EmbeddedError::Kubeconfig(_) => "--kubeconfig-out",
    })
}

#[cfg(not(feature = "embedded"))]
fn of_embedded(_: &anyhow::Error) -> Option<&'static str> {
    None
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
    fn an_error_of_connecting_names_the_flag_of_the_cluster() {
        let error = RunError::Connect(anyhow!("the server is away"));
        let error = explain(error, "--cluster kubeconfig");
        assert_eq!(one_line(&error), "--cluster kubeconfig: the server is away");
    }
}
