//! Addresses of the web, and the parameters of their queries.

use std::{collections::BTreeMap, sync::Arc};

use crate::cel::{
    scalar::url::{parse, request_error, split_host},
    value::{Key, Map, Outcome, Text, Val, error, no_overload},
};

pub(super) fn call<'a>(function: &str, args: &[Val<'a>]) -> Outcome<'a> {
    match (function, args) {
        ("isURL", [Val::String(text)]) => Ok(Val::Bool(request_error(text).is_none())),
        ("url", [Val::String(text)]) => match request_error(text) {
            Some(reason) => {
                error(format!("URL parse error during conversion from string: {reason}"))
            }
            None => Ok(Val::Url(Arc::new(parse(text)))),
        },
        ("getScheme", [Val::Url(url)]) => Ok(Val::text(url.scheme.as_str())),
        ("getHost", [Val::Url(url)]) => Ok(Val::text(url.host.as_str())),
        ("getHostname", [Val::Url(url)]) => {
            let (name, _) = split_host(&url.host);
            Ok(Val::text(name.trim_start_matches('[').trim_end_matches(']')))
        }
        ("getPort", [Val::Url(url)]) => Ok(Val::text(split_host(&url.host).1)),
        ("getEscapedPath", [Val::Url(url)]) => Ok(Val::text(url.path.as_str())),
        ("getQuery", [Val::Url(url)]) => Ok(query(&url.query)),
        _ => no_overload(),
    }
}

fn query<'a>(query: &str) -> Val<'a> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        found.entry(name.into_owned()).or_default().push(value.into_owned());
    }
    let entry = |(name, values): (String, Vec<String>)| {
        (Key::String(Text::Owned(name.into())), Val::texts(values))
    };
    Val::Map(Map::own(found.into_iter().map(entry).collect()))
}
