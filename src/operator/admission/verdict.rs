//! What an admission handler answers.

/// The answer of an admission handler.
///
/// A denial reads like one of the API server's own: kubectl prints `admission webhook ".." denied the request: `, then the
/// message and the causes.
///
/// ```
/// use operetta::operator::admission::{Admission, DenialReason};
///
/// let allowed = Admission::allow().warn("`spec.size` is deprecated: use `spec.storage.size`");
/// assert!(allowed.is_allowed());
/// let denied = Admission::deny(DenialReason::Forbidden, "it is Friday");
/// assert!(!denied.is_allowed());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Admission {
    pub(crate) warnings: Vec<String>,
    pub(crate) denial: Option<Denial>,
}

/// Why a request is denied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denial {
    pub(crate) reason: DenialReason,
    pub(crate) message: String,
    /// Field path and message.
    pub(crate) causes: Vec<(String, String)>,
}

/// The kind of a denial: `reason` and `code` of the `Status` that the client gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DenialReason {
    /// The object has invalid fields: 422.
    Invalid,
    /// The user may not do this: 403.
    Forbidden,
    /// The object is in a state that does not allow it now: 409.
    Conflict,
    /// The request makes no sense: 400.
    BadRequest,
    /// It may be tried again later: 429.
    TooManyRequests,
}

/// The most warnings that are sent, and the longest of them, in bytes. The API server cuts all warnings of a request
/// together at 4096.
const MAX_WARNINGS: usize = 16;
const MAX_WARNING: usize = 256;

impl Admission {
    /// Allows the request.
    #[must_use]
    pub fn allow() -> Self {
        Self::default()
    }

    /// Denies the request.
    #[must_use]
    pub fn deny(reason: DenialReason, message: impl Into<String>) -> Self {
        let denial = Denial { reason, message: message.into(), causes: Vec::new() };
        Self { denial: Some(denial), ..Self::default() }
    }

    /// Denies the request because of a field, such as `spec.restoreFrom`.
    #[must_use]
    pub fn invalid(field: impl Into<String>, message: impl Into<String>) -> Self {
        let (field, message) = (field.into(), message.into());
        Self::deny(DenialReason::Invalid, format!("{field}: {message}")).cause(field, message)
    }

    /// Adds a warning, which kubectl prints. At most 16, each of at most 256 bytes, are sent.
    #[must_use]
    pub fn warn(mut self, warning: impl Into<String>) -> Self {
        if self.warnings.len() < MAX_WARNINGS {
            let mut warning = warning.into();
            warning.truncate(warning.floor_char_boundary(MAX_WARNING));
            self.warnings.push(warning);
        }
        self
    }

    /// Adds a cause to a denial: the path of a field, and what is wrong with it. Without a denial it has no effect.
    #[must_use]
    pub fn cause(mut self, field: impl Into<String>, message: impl Into<String>) -> Self {
        if let Some(denial) = &mut self.denial {
            denial.causes.push((field.into(), message.into()));
        }
        self
    }

    /// Whether the request is allowed.
    #[must_use]
    pub fn is_allowed(&self) -> bool {
        self.denial.is_none()
    }

    /// The message of the denial.
    #[must_use]
    pub fn denial(&self) -> Option<&str> {
        self.denial.as_ref().map(|denial| denial.message.as_str())
    }

    /// The warnings.
    pub fn warnings(&self) -> impl Iterator<Item = &str> {
        self.warnings.iter().map(String::as_str)
    }
}

impl DenialReason {
    pub(crate) fn code(self) -> u16 {
        match self {
            Self::Invalid => 422,
            Self::Forbidden => 403,
            Self::Conflict => 409,
            Self::BadRequest => 400,
            Self::TooManyRequests => 429,
        }
    }

    /// The `reason` of a `Status`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Invalid => "Invalid",
            Self::Forbidden => "Forbidden",
            Self::Conflict => "Conflict",
            Self::BadRequest => "BadRequest",
            Self::TooManyRequests => "TooManyRequests",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_denial_has_causes_and_an_allowed_request_has_none() {
        let denied = Admission::invalid("spec.a", "too large").cause("spec.b", "too small");
        let denial = denied.denial.unwrap();
        assert_eq!(denial.message, "spec.a: too large");
        let fields: Vec<_> = denial.causes.iter().map(|(field, _)| field.as_str()).collect();
        assert_eq!(fields, ["spec.a", "spec.b"]);
        assert_eq!(Admission::allow().cause("spec.a", "wrong"), Admission::allow());
    }

    #[test]
    fn warnings_are_limited_in_number_and_length() {
        let many = (0..40).fold(Admission::allow(), |it, _| it.warn("ä".repeat(200)));
        assert_eq!(many.warnings.len(), MAX_WARNINGS);
        assert!(many.warnings().all(|warning| warning.len() <= MAX_WARNING));
    }
}
