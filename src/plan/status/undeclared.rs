//! Fields of a status that are not written because the parent's type does not declare them.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// A field of a status that is not written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UndeclaredField {
    /// The path, with `*` for items of lists and free names.
    pub(crate) path: String,
    /// `handler`: the handler returned it; `framework`: only Operetta writes it.
    #[schemars(with = "String")]
    pub(crate) wanted_by: WantedBy,
}

/// Who wants a field written. The handler comes first: its author expects to find it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum WantedBy {
    Handler,
    /// Only the framework has something to write there: conditions, the list of children.
    Framework,
}

impl UndeclaredField {
    /// One that the handler returned.
    pub(crate) fn returned(path: String) -> Self {
        Self { path, wanted_by: WantedBy::Handler }
    }

    /// A field of the status that is the framework's.
    pub(crate) fn own(name: &str) -> Self {
        Self { path: format!(".status.{name}"), wanted_by: WantedBy::Framework }
    }

    /// The whole status, of the handler or of the framework: the type has no status subresource.
    pub(crate) fn subresource(handler: Option<&Value>) -> Self {
        let is_returned = handler.is_some_and(|status| !status.is_null());
        let wanted_by = if is_returned { WantedBy::Handler } else { WantedBy::Framework };
        Self { path: "the status subresource".to_owned(), wanted_by }
    }
}

impl fmt::Display for UndeclaredField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        match self.wanted_by {
            WantedBy::Handler => f.write_str(" (returned by the handler)"),
            WantedBy::Framework => Ok(()),
        }
    }
}

impl WantedBy {
    pub(crate) const ALL: [Self; 2] = [Self::Handler, Self::Framework];

    /// The name in metrics and the API.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Handler => "handler",
            Self::Framework => "framework",
        }
    }
}
