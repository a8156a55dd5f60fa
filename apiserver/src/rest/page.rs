//! Lists in pages: `limit` and `continue`.
//!
//! A token says at which version the list began and after which key to go on, so that all pages
//! are of one version; when that version has been compacted away, the list has to begin again.

use std::sync::Arc;

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use super::call::Call;
use crate::{
    log::{Object, ObjectKey},
    status::StatusError,
};

/// The version in a token that goes on with whatever is there now.
const NEWEST: u64 = 0;

/// Which part of a list is asked for.
#[derive(Debug)]
pub(super) struct Page {
    limit: usize,
    after: Option<(u64, ObjectKey)>,
}

impl Page {
    /// The page that a request asks for.
    pub(super) fn of(call: &Call<'_>) -> Result<Self, StatusError> {
        let limit = call.query.number("limit")?.unwrap_or_default();
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let Some(token) = call.query.text("continue") else {
            return Ok(Self { limit, after: None });
        };
        if call.query.text("resourceVersion").is_some_and(|version| version != "0") {
            let message = "specifying resource version is not allowed when using continue";
            return Err(StatusError::bad_request(message));
        }
        let after = parse(token).ok_or_else(|| {
            StatusError::bad_request("invalid continue token: continue key is not valid")
        })?;
        Ok(Self { limit, after: Some(after) })
    }

    /// The version that the list began at.
    pub(super) fn version(&self) -> Option<u64> {
        self.after.as_ref().map(|(version, _)| *version).filter(|version| *version != NEWEST)
    }

    /// The key after which the list goes on.
    pub(super) fn after(&self) -> Option<&ObjectKey> {
        self.after.as_ref().map(|(_, key)| key)
    }

    /// The failure when the version of a list has been compacted away.
    pub(super) fn expired(&self, version: u64) -> StatusError {
        let mut error = StatusError::expired(version, version);
        match &self.after {
            None => "The resourceVersion for the provided list is too old.",
            Some((_, key)) => {
                error.continue_token = Some(token(NEWEST, key));
                "The provided continue parameter is too old to display a consistent list result. \
                 You can start a new list without the continue parameter, or use the continue \
                 token in this response to retrieve the remainder of the results. Continuing with \
                 the provided token results in an inconsistent list - objects that were created, \
                 modified, or deleted between the time the first chunk was returned and now may \
                 show up in the list."
            }
        }
        .clone_into(&mut error.message);
        error
    }

    /// The entries of this page, and the list metadata that leads to the next one.
    pub(super) fn cut(
        &self,
        mut entries: Vec<(ObjectKey, Arc<Object>)>,
        version: u64,
        unselected: bool,
    ) -> (Vec<(ObjectKey, Arc<Object>)>, Value) {
        if let Some(after) = self.after() {
            entries.retain(|(key, _)| key > after);
        }
        let mut metadata = json!({});
        let remaining = entries.len().saturating_sub(self.limit);
        if self.limit > 0 && remaining > 0 {
            entries.truncate(self.limit);
            if let Some((key, _)) = entries.last() {
                metadata["continue"] = json!(token(version, key));
            }
            if unselected {
                metadata["remainingItemCount"] = json!(remaining);
            }
        }
        (entries, metadata)
    }
}

fn token(version: u64, key: &ObjectKey) -> String {
    let text = format!("{version}/{}/{}", key.namespace, key.name);
    BASE64_URL_SAFE_NO_PAD.encode(text)
}

fn parse(token: &str) -> Option<(u64, ObjectKey)> {
    let text = String::from_utf8(BASE64_URL_SAFE_NO_PAD.decode(token).ok()?).ok()?;
    let mut parts = text.splitn(3, '/');
    let version = parts.next()?.parse().ok()?;
    Some((version, ObjectKey::new(parts.next()?, parts.next()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_leads_back_to_version_and_key() {
        let key = ObjectKey::new("ns", "a.b/c");
        assert_eq!(parse(&token(7, &key)), Some((7, key)));
        assert_eq!(parse("abc"), None);
    }
}
