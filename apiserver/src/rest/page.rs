//! Lists in pages: `limit` and `continue`.
//!
//! A token has the version of the list and the last key, so that all pages are of one version. When that
//! version has been compacted, the list has to begin again. Tokens are those of the real server.

use std::sync::Arc;

use base64::{DecodeError, Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use super::{call::Call, json_fault, selection::Selection};
use crate::{
    builtin,
    group_resource::GroupResource,
    log::{Found, Log, ObjectKey, Part},
    status::StatusError,
};

/// The version in a token that continues with the current state.
const NEWEST: i64 = -1;
const TOKEN_VERSION: &str = "meta.k8s.io/v1";

/// The minimum number of objects that are read together for a selection.
const STRETCH: usize = 500;

/// The requested part of a list.
#[derive(Debug)]
pub(super) struct Page {
    limit: usize,
    after: Option<(i64, ObjectKey)>,
    /// Whether all objects are of one namespace.
    is_of_one: bool,
}

impl Page {
    /// The page that a request asks for.
    pub(super) fn of(call: &Call<'_>) -> Result<Self, StatusError> {
        let limit = call.query.number("limit")?.filter(|limit| *limit > 0);
        let limit = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
        let is_of_one = is_of_one(call);
        let Some(token) = call.query.text("continue") else {
            // What may be of any version comes whole.
            let is_any = call.query.text("resourceVersion") == Some("0");
            let limit = if is_any { usize::MAX } else { limit };
            return Ok(Self { limit, after: None, is_of_one });
        };
        if call.query.text("resourceVersion").is_some_and(|version| version != "0") {
            let message = "specifying resource version is not allowed when using continue";
            return Err(StatusError::bad_request(message));
        }
        let (version, start) = parse(token).map_err(|why| {
            let what = "invalid continue token: continue key is not valid";
            StatusError::bad_request(format!("{what}: {why}"))
        })?;
        let key = match (&call.path.namespace, start.split_once('/')) {
            (Some(namespace), _) => ObjectKey::new(namespace.as_str(), start),
            (None, Some((namespace, name))) => ObjectKey::new(namespace, name),
            (None, None) => ObjectKey::new("", start),
        };
        Ok(Self { limit, after: Some((version, key)), is_of_one })
    }

    /// The version that the list began at.
    pub(super) fn version(&self) -> Option<u64> {
        self.after.as_ref().and_then(|(version, _)| u64::try_from(*version).ok())
    }

    /// The objects of this page, at a version or now. The number of remaining ones is known only without a
    /// selection; otherwise only whether there are any, selected or not.
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
        if selection.is_everything() {
            return Ok(stretch);
        }
        let mut chosen = Vec::new();
        loop {
            let last = stretch.entries.last().map(|(key, _)| key.clone());
            let mut entries = std::mem::take(&mut stretch.entries).into_iter();
            let room = self.limit.saturating_sub(chosen.len());
            let chooses = |(key, object): &(_, Arc<_>)| selection.chooses(key, object);
            chosen.extend(entries.by_ref().filter(chooses).take(room));
            // What is left behind a full page counts, whether it is selected or not.
            stretch.remaining += entries.len();
            let is_full = chosen.len() >= self.limit;
            // Without a last key the next stretch would be this one again.
            if is_full || stretch.remaining == 0 || last.is_none() {
                break;
            }
            stretch = read(Some(stretch.version), last)?;
        }
        // The real server reads the one object that there can be, and no page.
        let remaining = if self.is_of_one && selection.names_one() { 0 } else { stretch.remaining };
        Ok(Found { entries: chosen, remaining, ..stretch })
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
                error.continue_token = Some(token(NEWEST, key, self.is_of_one).into());
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
pub(super) fn metadata(call: &Call<'_>, found: &Found, selection: &Selection) -> Value {
    let mut metadata = json!({ "resourceVersion": found.version.to_string() });
    if call.resource.is_custom() {
        metadata["continue"] = json!("");
    }
    if found.remaining > 0
        && let Some((key, _)) = found.entries.last()
    {
        let version = i64::try_from(found.version).unwrap_or(NEWEST);
        metadata["continue"] = json!(token(version, key, is_of_one(call)));
        if selection.is_everything() {
            metadata["remainingItemCount"] = json!(found.remaining);
        }
    }
    // Lists of custom objects do not say it there.
    if let Some(info) = selection.shard_info().filter(|_| !call.resource.is_custom()) {
        metadata["shardInfo"] = info;
    }
    metadata
}

fn is_of_one(call: &Call<'_>) -> bool {
    call.path.namespace.is_some() || !call.resource.namespaced
}

/// The token that continues behind a key.
fn token(version: i64, key: &ObjectKey, is_of_one: bool) -> String {
    let ObjectKey { namespace, name } = key;
    let start = if is_of_one { format!("{name}\0") } else { format!("{namespace}/{name}\0") };
    let text = json!({ "v": TOKEN_VERSION, "rv": version, "start": start }).to_string();
    BASE64_URL_SAFE_NO_PAD.encode(text)
}

/// The version and the key in a token; the error is what Go says of one that is wrong.
fn parse(token: &str) -> Result<(i64, String), String> {
    let text = BASE64_URL_SAFE_NO_PAD.decode(token).map_err(|error| {
        let at = match error {
            DecodeError::InvalidByte(at, _) => at,
            _ => token.len() - token.len() % 4,
        };
        format!("illegal base64 data at input byte {at}")
    })?;
    let token: Value = serde_json::from_slice(&text)
        .map_err(|error| json_fault::of(&text).unwrap_or_else(|| error.to_string()))?;
    let (version, start) = fields(&token)?;
    if token["v"] != TOKEN_VERSION {
        let given = token["v"].as_str().unwrap_or_default();
        return Err(format!("server does not recognize this encoded version {given}"));
    }
    match (version, start) {
        (0, _) => Err(format!("incorrect encoded start resourceVersion (version {TOKEN_VERSION})")),
        (_, "") => Err(format!("encoded start key empty (version {TOKEN_VERSION})")),
        (_, start) if !is_clean(start) => Err(start.to_owned()),
        (version, start) => {
            let start = start.strip_prefix('/').unwrap_or(start);
            Ok((version, start.strip_suffix('\0').unwrap_or(start).to_owned()))
        }
    }
}

fn fields(token: &Value) -> Result<(i64, &str), String> {
    let unfit = |value: &Value, into: &str| {
        let found = builtin::json_name(value);
        Err(format!("json: cannot unmarshal {found} into Go {into}"))
    };
    if !matches!(token, Value::Object(_) | Value::Null) {
        return unfit(token, "value of type storage.continueToken");
    }
    for field in ["v", "start"] {
        if !matches!(token[field], Value::String(_) | Value::Null) {
            return unfit(
                &token[field],
                &format!("struct field continueToken.{field} of type string"),
            );
        }
    }
    match &token["rv"] {
        Value::Null => Ok((0, token["start"].as_str().unwrap_or_default())),
        rv => match rv.as_i64() {
            Some(rv) => Ok((rv, token["start"].as_str().unwrap_or_default())),
            None => unfit(rv, "struct field continueToken.rv of type int64"),
        },
    }
}

/// Whether a key leads nowhere else.
fn is_clean(start: &str) -> bool {
    let steps = start.strip_prefix('/').unwrap_or(start).split('/');
    steps.into_iter().all(|step| !matches!(step, "" | "." | ".."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_leads_back_to_version_and_key() {
        let key = ObjectKey::new("ns", "a.b");
        assert_eq!(parse(&token(7, &key, false)), Ok((7, "ns/a.b".to_owned())));
        assert_eq!(parse(&token(NEWEST, &key, true)), Ok((NEWEST, "a.b".to_owned())));
    }

    #[test]
    fn what_is_wrong_with_a_token_is_said_as_by_go() {
        assert_eq!(parse("x").unwrap_err(), "illegal base64 data at input byte 0");
        for (token, why) in [
            ("i\u{7}", "invalid character 'i' looking for beginning of value"),
            ("{}", "server does not recognize this encoded version "),
            (r#"{"v":"x","rv":1,"start":"a"}"#, "server does not recognize this encoded version x"),
            (
                r#"{"v":"meta.k8s.io/v1","start":"a"}"#,
                "incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
            ),
            (
                r#"{"v":"meta.k8s.io/v1","rv":1}"#,
                "encoded start key empty (version meta.k8s.io/v1)",
            ),
            (r#"{"v":"meta.k8s.io/v1","rv":1,"start":"../a"}"#, "../a"),
            ("[]", "json: cannot unmarshal array into Go value of type storage.continueToken"),
            (
                r#"{"rv":"1"}"#,
                "json: cannot unmarshal string into Go struct field continueToken.rv of type int64",
            ),
        ] {
            assert_eq!(parse(&BASE64_URL_SAFE_NO_PAD.encode(token)).unwrap_err(), why, "{token}");
        }
    }

    #[test]
    fn any_text_is_a_token_or_refused() {
        const TOKENS: [&str; 12] = [
            "7",
            "/",
            "ns",
            "A",
            "-",
            "_",
            "=",
            "{\"v\":",
            "}",
            "18446744073709551616",
            "\"rv\":",
            "\"start\":",
        ];
        let parser = |text: &str| {
            drop(parse(text));
            drop(parse(&BASE64_URL_SAFE_NO_PAD.encode(text)));
        };
        operetta_harness::random::texts(&TOKENS, parser);
        operetta_harness::random::long_texts(&TOKENS, parser);
    }
}
