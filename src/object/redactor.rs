//! Text that handlers and API servers wrote, which may quote a secret. It is shown only through a
//! [`Redactor`]: nothing else can open a [`Quoted`].

use std::fmt;

use super::SecretValues;

/// A text of others. Until a [`Redactor`] has processed it, it shows as withheld.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Quoted {
    text: String,
    is_redacted: bool,
}

/// The secrets that are hidden in texts of other components about a parent.
#[derive(Debug)]
pub(crate) enum Redactor {
    /// Nothing of it is secret.
    Nothing,
    /// These values.
    Values(SecretValues),
    /// The secrets are not known, so nothing is shown.
    Everything {
        /// Whether they will be known soon.
        is_passing: bool,
    },
}

/// Replaces a text whose secrets are not known.
pub(crate) const WITHHELD: &str =
    "(withheld, as it is not known which fields of the parent are secret)";

// === Quoted ===

impl Quoted {
    /// A text as somebody wrote it.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_redacted: false }
    }
}

impl fmt::Display for Quoted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_redacted { &self.text } else { WITHHELD })
    }
}

impl fmt::Debug for Quoted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

// === Redactor ===

impl Default for Redactor {
    /// Without knowledge of the secrets nothing is shown.
    fn default() -> Self {
        Self::Everything { is_passing: false }
    }
}

impl Redactor {
    /// Hides these values.
    pub(crate) fn of(values: SecretValues) -> Self {
        if values.is_empty() { Self::Nothing } else { Self::Values(values) }
    }

    /// A text as it may be shown.
    #[must_use]
    pub(crate) fn shown(&self, quoted: &Quoted) -> Quoted {
        let text = match self {
            _ if quoted.is_redacted => quoted.text.clone(),
            Self::Nothing => quoted.text.clone(),
            Self::Values(values) => values.hidden(&quoted.text).into_owned(),
            Self::Everything { .. } => WITHHELD.to_owned(),
        };
        Quoted { text, is_redacted: true }
    }

    /// Whether nothing that others wrote is shown.
    pub(crate) fn hides_everything(&self) -> bool {
        matches!(self, Self::Everything { .. })
    }

    /// Whether that will end soon, so that a text is better shown later.
    pub(crate) fn is_passing(&self) -> bool {
        matches!(self, Self::Everything { is_passing: true })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_a_redactor_opens_what_others_wrote() {
        let quoted = Quoted::new("cannot log in with s3cret-value");
        for shown in [quoted.to_string(), format!("{quoted:?}")] {
            assert_eq!(shown, WITHHELD);
        }
        let mut values = SecretValues::default();
        values.add(&json!("s3cret-value"));
        for (redactor, expected) in [
            (Redactor::Nothing, "cannot log in with s3cret-value"),
            (Redactor::Values(values), "cannot log in with (redacted)"),
            (Redactor::Everything { is_passing: true }, WITHHELD),
        ] {
            assert_eq!(redactor.shown(&quoted).to_string(), expected);
        }
    }
}
