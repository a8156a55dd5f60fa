//! What is said of a run, without what the schema of its parent marks as secret and what its Secrets
//! hold: handlers and API servers quote what they were given. Status, Events, logs and history are
//! made from what is left.

use super::{Context, Failure, Report, failure::ChildFailure};
use crate::{
    cluster::ApiError,
    object::{Object, SecretValues},
};

/// What is hidden in what others say of a parent.
#[derive(Debug)]
pub(super) enum Veil {
    Nothing,
    Values(SecretValues),
    /// What is secret is not known, so nothing of it is told.
    Everything {
        /// Whether it will be known in a moment.
        is_passing: bool,
    },
}

/// When it is told what failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tell {
    Now,
    /// By a later run, which knows what is secret in it.
    Later,
}

const WITHHELD: &str = "(withheld, as it is not known which fields of the parent are secret)";

/// Hides what is secret in the words of others that a report has so far.
pub(super) async fn draw(context: &Context, parent: &Object, report: &mut Report) {
    if report.quotes_others() {
        let veil = Veil::over(context, parent).await;
        report.tell = veil.tell();
        report.hide(&veil);
    }
}

impl Veil {
    /// What to hide of a parent and its children as they are.
    pub(super) async fn over(context: &Context, parent: &Object) -> Self {
        let mut values = of_secrets(context, parent);
        if parent.ty().may_be_custom() {
            let schema = match context.known_schema() {
                // It is read again with each status, where it is too old for that.
                Some(schema) => Ok(Some(schema)),
                None => context.schema().await,
            };
            match schema {
                Ok(Some(schema)) if schema.secrets.is_empty() => {}
                Ok(Some(schema)) => schema.secrets.collect_values(parent.to_value(), &mut values),
                Ok(None) => return Self::Everything { is_passing: true },
                Err(_) => return Self::Everything { is_passing: false },
            }
        }
        if values.is_empty() { Self::Nothing } else { Self::Values(values) }
    }

    fn tell(&self) -> Tell {
        match self {
            Self::Everything { is_passing: true } => Tell::Later,
            Self::Everything { is_passing: false } | Self::Values(_) | Self::Nothing => Tell::Now,
        }
    }

    /// A text as it may be told.
    pub(super) fn text(&self, text: &str) -> String {
        match self {
            Self::Nothing => text.to_owned(),
            Self::Values(values) => values.hidden(text).into_owned(),
            Self::Everything { .. } => WITHHELD.to_owned(),
        }
    }

    /// An error as it may be told: only a server that was reached can quote anything.
    pub(super) fn error(&self, error: &ApiError) -> String {
        match (self, error) {
            (Self::Everything { .. }, ApiError::Refused { request, refusal }) => {
                format!("{request}: {}: {WITHHELD}", refusal.name())
            }
            (Self::Everything { .. }, error) => error.to_string(),
            (veil, error) => veil.text(&error.to_string()),
        }
    }
}

/// What the Secrets among a parent and its children hold.
fn of_secrets(context: &Context, parent: &Object) -> SecretValues {
    let mut values = SecretValues::default();
    let is_secret = |object: &&Object| object.ty().is("v1", "Secret");
    let children = context.observed(parent);
    for secret in children.iter().chain([parent]).filter(is_secret) {
        values.add_secret(secret);
    }
    values
}

impl Report {
    fn quotes_others(&self) -> bool {
        let is_quoting = |failure: &Failure| match failure {
            Failure::Handler { .. } | Failure::Panicked(_) | Failure::Api(_) => true,
            Failure::Unavailable(_)
            | Failure::Overdue(_)
            | Failure::Refused(_)
            | Failure::Foreign(_)
            | Failure::Died => false,
        };
        !self.child_failures.is_empty() || self.failure().is_some_and(is_quoting)
    }

    fn hide(&mut self, veil: &Veil) {
        let failure = self.take_failure().map(|failure| match failure {
            Failure::Handler { message, permanent, retry_after } => {
                Failure::Handler { message: veil.text(&message), permanent, retry_after }
            }
            Failure::Panicked(message) => Failure::Panicked(veil.text(&message)),
            Failure::Api(failures) => {
                Failure::Api(failures.into_iter().map(|failure| hidden(failure, veil)).collect())
            }
            Failure::Unavailable(_)
            | Failure::Overdue(_)
            | Failure::Refused(_)
            | Failure::Foreign(_)
            | Failure::Died => failure,
        });
        if let Some(failure) = failure {
            self.fail(failure);
        }
        let failures = std::mem::take(&mut self.child_failures).into_iter();
        self.child_failures = failures.map(|failure| hidden(failure, veil)).collect();
        self.told.rephrase_failures(|why| veil.text(why));
    }
}

fn hidden(failure: ChildFailure, veil: &Veil) -> ChildFailure {
    ChildFailure { said: veil.error(&failure.error), ..failure }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use serde_json::json;

    use super::*;
    use crate::{
        cluster::Refusal,
        object::{K8sType, ObjectKey},
        plan::ChildId,
        reconcile::{Memory, conditions, decisions},
    };

    const SECRET: &str = "s3cret-value";

    fn refused() -> ApiError {
        let refusal = Refusal {
            code: 422,
            reason: "Invalid".to_owned(),
            message: format!("spec.x: Invalid value: \"{SECRET}\""),
            retry_after: None,
            causes: Vec::new(),
            names_object: true,
        };
        ApiError::Refused { request: "patch /x".to_owned(), refusal: Box::new(refusal) }
    }

    fn reports() -> Vec<Report> {
        let new = || Report::new(SystemTime::UNIX_EPOCH, Memory::default());
        let [mut handler, mut panic, mut api] = [new(), new(), new()];
        let message = format!("cannot log in with {SECRET}");
        handler.fail(Failure::Handler { message, permanent: false, retry_after: None });
        panic.fail(Failure::Panicked(SECRET.to_owned()));
        let ty = K8sType::namespaced("v1", "Pod", "pods");
        api.child_failed(&ChildId { ty, key: ObjectKey::namespaced("ns", "c") }, refused());
        vec![handler, panic, api]
    }

    /// All that is told of a report.
    fn told(report: &mut Report) -> String {
        report.close();
        let said = conditions::said(report);
        let decisions = decisions::made(report);
        format!("{said:?} {decisions:?} {:?}", report.failure())
    }

    #[test]
    fn what_handlers_and_servers_quote_is_hidden_wherever_it_is_told() {
        let mut values = SecretValues::default();
        values.add(&json!(SECRET));
        for veil in [Veil::Values(values), Veil::Everything { is_passing: false }] {
            for mut report in reports() {
                assert!(report.quotes_others());
                report.hide(&veil);
                let told = told(&mut report);
                assert!(!told.contains(SECRET), "{told}");
                assert!(told.contains("(redacted)") || told.contains(WITHHELD), "{told}");
            }
        }
        let mut shown = reports().remove(0);
        shown.hide(&Veil::Nothing);
        assert!(told(&mut shown).contains(SECRET), "where nothing is marked all is told");
    }

    #[test]
    fn what_a_server_refused_means_the_same_when_its_words_are_withheld() {
        let mut report = reports().remove(2);
        report.hide(&Veil::Everything { is_passing: true });
        report.close();
        let failure = report.failure().unwrap();
        assert!(failure.is_stalled(), "422 stays permanent");
        assert_eq!(failure.to_string(), format!("Pod.v1 ns/c: patch /x: 422 Invalid: {WITHHELD}"));
    }
}
