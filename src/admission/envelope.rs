//! What the reviews of admission and of conversion have in common: a kind, a version, and a request.

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, error::Category};

/// The kind and the version of a review.
pub(super) type Kind = (&'static str, &'static str);

/// A body that is no question. No text of it is quoted: it may hold a Secret.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ReviewError {
    #[error("the body is no JSON: line {line}, column {column}")]
    NoJson { line: usize, column: usize },
    #[error("the body is of kind {kind:?} and version {api_version:?}: send a {} of {}", expected.0, expected.1)]
    Version { kind: String, api_version: String, expected: Kind },
    #[error("the {0} has no `request`")]
    NoRequest(&'static str),
    #[error("the request of the {0} has no `uid`")]
    NoUid(&'static str),
    #[error("the request of the {0} cannot be read: {1}")]
    Request(&'static str, String),
    #[error("the request of the {0} has neither an object nor an old one")]
    NoObject(&'static str),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Review<T> {
    #[serde(default)]
    api_version: String,
    #[serde(default)]
    kind: String,
    request: Option<T>,
}

/// The request of a review of this kind and version.
pub(super) fn request_of<T: DeserializeOwned>(
    body: &[u8],
    expected: Kind,
) -> Result<T, ReviewError> {
    match serde_json::from_slice(body) {
        Ok(Review { api_version, kind, request: Some(request) })
            if (kind.as_str(), api_version.as_str()) == expected =>
        {
            Ok(request)
        }
        _ => step_by_step(body, expected),
    }
}

/// The same, and what is wrong with it.
fn step_by_step<T: DeserializeOwned>(body: &[u8], expected: Kind) -> Result<T, ReviewError> {
    let Review::<Value> { api_version, kind, request } =
        serde_json::from_slice(body).map_err(|error| unreadable(expected.0, &error))?;
    if (kind.as_str(), api_version.as_str()) != expected {
        return Err(ReviewError::Version { kind, api_version, expected });
    }
    let request = request.ok_or(ReviewError::NoRequest(expected.0))?;
    serde_path_to_error::deserialize(request)
        .map_err(|error| ReviewError::Request(expected.0, error.path().to_string()))
}

fn unreadable(kind: &'static str, error: &serde_json::Error) -> ReviewError {
    match error.classify() {
        Category::Data => ReviewError::NoRequest(kind),
        Category::Io | Category::Syntax | Category::Eof => {
            ReviewError::NoJson { line: error.line(), column: error.column() }
        }
    }
}
