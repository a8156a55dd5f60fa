//! The user that the headers of a request name.

use std::collections::BTreeMap;

use http::HeaderMap;

use crate::{schema::go_value::quote, status::StatusError, users::User};

const USER: &str = "impersonate-user";
const UID: &str = "impersonate-uid";
const GROUPS: &str = "impersonate-group";
const EXTRA: &str = "impersonate-extra-";

/// The user that the headers name.
pub(super) fn wanted(headers: &HeaderMap) -> Result<Option<User>, StatusError> {
    let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let first = |name: &str| headers.get(name).map(text).unwrap_or_default();
    let mut extra: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in headers {
        if let Some(key) = name.as_str().strip_prefix(EXTRA) {
            let key = percent_encoding::percent_decode_str(key).decode_utf8_lossy();
            extra.entry(key.into_owned()).or_default().push(text(value));
        }
    }
    let groups: Vec<String> = headers.get_all(GROUPS).iter().map(text).collect();
    let user = User { name: first(USER), uid: first(UID), groups, extra };
    if !user.name.is_empty() {
        return Ok(Some(user));
    }
    if user == User::default() {
        return Ok(None);
    }
    let message = format!("requested {} without impersonating a user name", go(&user));
    Err(StatusError::bad_request(message))
}

/// As a Go program prints the user.
fn go(user: &User) -> String {
    let list = |ty: &str, values: Vec<String>| match values.as_slice() {
        [] => format!("{ty}(nil)"),
        values => format!("{ty}{{{}}}", values.join(", ")),
    };
    let texts =
        |values: &[String]| list("[]string", values.iter().map(|value| quote(value)).collect());
    let extra = user.extra.iter();
    let extra = extra.map(|(key, values)| format!("{}:{}", quote(key), texts(values))).collect();
    format!(
        "&user.DefaultInfo{{Name:\"\", UID:{}, Groups:{}, Extra:{}}}",
        quote(&user.uid),
        texts(&user.groups),
        list("map[string][]string", extra),
    )
}
