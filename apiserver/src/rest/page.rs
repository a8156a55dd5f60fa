//! Lists in pages: `limit` and `continue`.
//!
//! A token has the version of the list and the last key, so that all pages are of one version. When that
//! version has been compacted, the list has to begin again.

use std::sync::Arc;

use base64::{DecodeError, Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use super::{call::Call, json_fault, selection::Selection};
use crate::{
    group_resource::GroupResource,
    log::{Found, Log, ObjectKey, Part},
    resource::Resource,
    status::StatusError,
};

/// The version in a token that continues with the current state.
const NEWEST: u64 = 0;

/// The minimum number of objects that are read together for a selection.
const STRETCH: usize = 500;

/// The requested part of a list.
#[derive(Debug)]
pub(super) struct Page {
    limit: usize,
    after: Option<(u64, ObjectKey)>,
}

impl Page {
    /// The page that a request asks for.
    pub(super) fn of(call: &Call<'_>) -> Result<Self, StatusError> {
        let limit = call.query.number("limit")?.filter(|limit| *limit > 0);
        let limit = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
        let Some(token) = call.query.text("continue") else {
            return Ok(Self { limit, after: None });
        };
        if call.query.text("resourceVersion").is_some_and(|version| version != "0") {
            let message = "specifying resource version is not allowed when using continue";
            return Err(StatusError::bad_request(message));
        }
        let after = parse(token).map_err(|why| {
            let what = "invalid continue token: continue key is not valid";
            StatusError::bad_request(format!("{what}: {why}"))
        })?;
        Ok(Self { limit, after: Some(after) })
    }

    /// The version that the list began at.
    pub(super) fn version(&self) -> Option<u64> {
        self.after.as_ref().map(|(version, _)| *version).filter(|version| *version != NEWEST)
    }

    /// The objects of this page, at a version or now. The number of remaining ones is known only without a
    /// selection; otherwise only whether there are any.
    pub(super) fn find(
        &self,
        (log, resource): (&Log, &GroupResource),
        selection: &Selection,
        version: Option<u64>,
    ) -> Result<Found, StatusError> {
        let read = |version, after: Option<ObjectKey>| {
            self.stretch(log, resource, selection, version, after.as_ref())
        };
        let mut stretch = read(version, self.after.as_ref().map(|(_, key)| key.clone()))?;
        let mut chosen = Vec::new();
        loop {
            let last = stretch.entries.last().map(|(key, _)| key.clone());
            let chooses = |(key, object): &(_, Arc<_>)| selection.chooses(key, object);
            chosen.extend(stretch.entries.into_iter().filter(chooses));
            let is_full = chosen.len() > self.limit || selection.is_everything();
            // Without a last key the next stretch would be this one again.
            if is_full || stretch.remaining == 0 || last.is_none() {
                break;
            }
            stretch = read(Some(stretch.version), last)?;
        }
        let remaining = stretch.remaining + chosen.len().saturating_sub(self.limit);
        chosen.truncate(self.limit);
        Ok(Found { version: stretch.version, entries: chosen, remaining })
    }

    /// The next part, small enough not to block the log for long.
    fn stretch(
        &self,
        log: &Log,
        resource: &GroupResource,
        selection: &Selection,
        version: Option<u64>,
        after: Option<&ObjectKey>,
    ) -> Result<Found, StatusError> {
        // For a selection the number of remaining objects is not sent.
        let counts = selection.is_everything();
        let limit = if counts { self.limit } else { self.limit.max(STRETCH) };
        let part = Part { scope: &selection.scope, after, limit, counts };
        match version {
            None => Ok(log.part(resource, part)),
            Some(at) => log.part_at(resource, at, part).map_err(|_| self.expired(at)),
        }
    }

    /// The failure when the version of a list has been compacted.
    pub(super) fn expired(&self, version: u64) -> StatusError {
        let mut error = StatusError::expired(version, version);
        match &self.after {
            None => "The resourceVersion for the provided list is too old.",
            Some((_, key)) => {
                error.continue_token = Some(token(NEWEST, key).into());
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
}

/// The list metadata, with the token for the next page if there is one.
pub(super) fn metadata(resource: &Resource, found: &Found, unselected: bool) -> Value {
    let mut metadata = json!({ "resourceVersion": found.version.to_string() });
    if resource.is_custom() {
        metadata["continue"] = json!("");
    }
    if found.remaining > 0
        && let Some((key, _)) = found.entries.last()
    {
        metadata["continue"] = json!(token(found.version, key));
        if unselected {
            metadata["remainingItemCount"] = json!(found.remaining);
        }
    }
    metadata
}

fn token(version: u64, key: &ObjectKey) -> String {
    let text = format!("{version}/{}/{}", key.namespace, key.name);
    BASE64_URL_SAFE_NO_PAD.encode(text)
}

/// The version and the key in a token; the error is what Go says of one that it did not make.
fn parse(token: &str) -> Result<(u64, ObjectKey), String> {
    let text = BASE64_URL_SAFE_NO_PAD.decode(token).map_err(|error| {
        let at = match error {
            DecodeError::InvalidByte(at, _) => at,
            _ => token.len() - token.len() % 4,
        };
        format!("illegal base64 data at input byte {at}")
    })?;
    let ours = || {
        let mut parts = std::str::from_utf8(&text).ok()?.splitn(3, '/');
        let version = parts.next()?.parse().ok()?;
        Some((version, ObjectKey::new(parts.next()?, parts.next()?)))
    };
    ours().ok_or_else(|| {
        // The tokens of the real server are JSON.
        json_fault::of(&text).unwrap_or_else(|| {
            "continue token: server does not recognize this encoded version \"\"".to_owned()
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_leads_back_to_version_and_key() {
        let key = ObjectKey::new("ns", "a.b/c");
        assert_eq!(parse(&token(7, &key)), Ok((7, key)));
        assert_eq!(parse("x").unwrap_err(), "illegal base64 data at input byte 0");
        assert!(parse("abcd").unwrap_err().starts_with("invalid character"));
    }

    #[test]
    fn any_text_is_a_token_or_refused() {
        const TOKENS: [&str; 10] =
            ["7", "/", "ns", "A", "-", "_", "=", "{\"v\":", "}", "18446744073709551616"];
        let parser = |text: &str| {
            drop(parse(text));
            drop(parse(&BASE64_URL_SAFE_NO_PAD.encode(text)));
        };
        operetta_harness::random::texts(&TOKENS, parser);
        operetta_harness::random::long_texts(&TOKENS, parser);
    }
}
