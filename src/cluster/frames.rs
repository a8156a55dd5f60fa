//! Parses watch events and pages of lists, without I/O.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::WatchSpec;
use crate::{
    object::{K8sType, KeptManagers, Object, Outline, ResourceVersion, Undecodable},
    reply::Refusal,
};

/// One line of a watch.
pub(super) enum Frame<'a> {
    /// An object was added or modified.
    Changed(Outline<'a>),
    /// An object was deleted, or no longer matches the selector.
    Deleted(Outline<'a>),
    /// All events up to this version have been sent.
    Bookmark {
        version: ResourceVersion,
        /// Whether it ends the initial events of a streaming list.
        ends_initial: bool,
    },
    /// The watch has ended; code 410 requires a new list.
    Error(Refusal),
    /// An object that cannot be decoded was added or modified.
    Undecodable(Undecodable),
    /// An object that cannot be decoded was deleted.
    UndecodableDeletion(Undecodable),
}

#[derive(Debug)]
pub(super) struct Page {
    pub(super) version: ResourceVersion,
    pub(super) next: Option<String>,
    pub(super) objects: Vec<Object>,
    pub(super) undecodable: Vec<Undecodable>,
}

#[derive(Deserialize)]
struct RawFrame<'a> {
    #[serde(rename = "type", borrow)]
    ty: Cow<'a, str>,
    #[serde(borrow)]
    object: &'a RawValue,
}

#[derive(Deserialize)]
struct RawPage<'a> {
    metadata: ListMetadata,
    /// `null` from some servers when there are none.
    #[serde(borrow, default)]
    items: Option<Vec<&'a RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListMetadata {
    resource_version: String,
    #[serde(rename = "continue", default)]
    next: Option<String>,
}

#[derive(Deserialize)]
struct RawBookmark {
    metadata: BookmarkMetadata,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BookmarkMetadata {
    resource_version: String,
    #[serde(default)]
    annotations: std::collections::BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct RawError {
    #[serde(default)]
    code: u16,
}

/// The paths of all requests about such an object would not exist.
const NOT_CLUSTER_SCOPED: &str =
    "it has a namespace, but its type is declared as cluster-scoped: declare it as namespaced";
const NOT_NAMESPACED: &str =
    "it has no namespace, but its type is declared as namespaced: declare it as cluster-scoped";

/// Servers written in Go replace such bytes.
const NOT_UTF8: &str = "it contains bytes that are not UTF-8";

pub(super) fn frame<'a>(line: &'a [u8], ty: &K8sType) -> Result<Frame<'a>, serde_json::Error> {
    let raw: RawFrame<'_> = match serde_json::from_slice(line) {
        Ok(raw) => raw,
        Err(error) => return invalid_utf8_frame(line, ty).ok_or(error),
    };
    let object = || outline(raw.object.get(), ty);
    Ok(match raw.ty.as_ref() {
        "ADDED" | "MODIFIED" => object().map_or_else(Frame::Undecodable, Frame::Changed),
        "DELETED" => object().map_or_else(Frame::UndecodableDeletion, Frame::Deleted),
        "BOOKMARK" => bookmark(raw.object)?,
        "ERROR" => error(raw.object),
        other => {
            let why = format!("a watch event of the unknown type {other:.32?}");
            Frame::Undecodable(Undecodable::unknown(ty, why))
        }
    })
}

fn invalid_utf8_frame(line: &[u8], ty: &K8sType) -> Option<Frame<'static>> {
    let line = replace_invalid_utf8(line)?;
    let raw: RawFrame<'_> = serde_json::from_str(&line).ok()?;
    let object = Undecodable::read(ty, raw.object.get(), NOT_UTF8.to_owned());
    match raw.ty.as_ref() {
        "ADDED" | "MODIFIED" => Some(Frame::Undecodable(object)),
        "DELETED" => Some(Frame::UndecodableDeletion(object)),
        _ => None,
    }
}

/// Reads a page of a list, without the objects of other shards.
pub(super) fn page(
    answer: &[u8],
    spec: &WatchSpec,
    managers: &KeptManagers,
) -> Result<Page, serde_json::Error> {
    match serde_json::from_slice(answer) {
        Ok(raw) => Ok(page_of(raw, spec, |item| item_of(item, spec, managers))),
        Err(error) => invalid_utf8_page(answer, spec, managers).ok_or(error),
    }
}

/// An object of a page; none if it is of another shard.
fn item_of(
    item: &str,
    spec: &WatchSpec,
    managers: &KeptManagers,
) -> Result<Option<Object>, Undecodable> {
    let outline = outline(item, &spec.ty)?;
    Ok(spec.includes(&outline).then(|| outline.keep(&spec.ty, managers)))
}

fn page_of(
    raw: RawPage<'_>,
    spec: &WatchSpec,
    read: impl Fn(&str) -> Result<Option<Object>, Undecodable>,
) -> Page {
    let mut page = Page {
        version: ResourceVersion::new(&raw.metadata.resource_version),
        next: raw.metadata.next.filter(|token| !token.is_empty()),
        objects: Vec::new(),
        undecodable: Vec::new(),
    };
    for item in raw.items.unwrap_or_default() {
        match read(item.get()) {
            Ok(object) => page.objects.extend(object),
            Err(undecodable) if !spec.may_include(&undecodable) => {}
            Err(undecodable) => page.undecodable.push(undecodable),
        }
    }
    page
}

/// Parses a page in which some objects contain invalid UTF-8: only those are undecodable.
fn invalid_utf8_page(answer: &[u8], spec: &WatchSpec, managers: &KeptManagers) -> Option<Page> {
    let answer = replace_invalid_utf8(answer)?;
    let read = |item: &str| {
        if item.contains(char::REPLACEMENT_CHARACTER) {
            return Err(Undecodable::read(&spec.ty, item, NOT_UTF8.to_owned()));
        }
        item_of(item, spec, managers)
    };
    Some(page_of(serde_json::from_str(&answer).ok()?, spec, read))
}

/// Replaces invalid UTF-8 by U+FFFD; `None` if there is none.
fn replace_invalid_utf8(bytes: &[u8]) -> Option<String> {
    std::str::from_utf8(bytes).is_err().then(|| String::from_utf8_lossy(bytes).into_owned())
}

fn outline<'a>(text: &'a str, ty: &K8sType) -> Result<Outline<'a>, Undecodable> {
    let outline = Outline::read(text);
    let outline = outline.map_err(|error| Undecodable::read(ty, text, error.to_string()))?;
    match (outline.key().namespace.is_some(), ty.is_namespaced()) {
        (true, false) => Err(Undecodable::misplaced(ty, text, NOT_CLUSTER_SCOPED.to_owned())),
        (false, true) => Err(Undecodable::misplaced(ty, text, NOT_NAMESPACED.to_owned())),
        (true, true) | (false, false) => Ok(outline),
    }
}

fn bookmark(object: &RawValue) -> Result<Frame<'static>, serde_json::Error> {
    let RawBookmark { metadata } = serde_json::from_str(object.get())?;
    let initial_end = metadata.annotations.get("k8s.io/initial-events-end");
    Ok(Frame::Bookmark {
        version: ResourceVersion::new(&metadata.resource_version),
        ends_initial: initial_end.is_some_and(|value| value == "true"),
    })
}

fn error(object: &RawValue) -> Frame<'static> {
    let code = serde_json::from_str(object.get()).map_or(0, |RawError { code }| code);
    Frame::Error(Refusal::read(code, None, object.get().as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Frame<'_> {
        let ty = K8sType::namespaced("v1", "ConfigMap", "configmaps");
        frame(line.as_bytes(), &ty).unwrap()
    }

    #[test]
    fn the_types_of_watch_events_are_distinguished() {
        let object = r#"{"metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"1"}}"#;
        let event = |ty: &str| format!(r#"{{"type":"{ty}","object":{object}}}"#);
        assert!(matches!(read(&event("ADDED")), Frame::Changed(_)));
        assert!(matches!(read(&event("MODIFIED")), Frame::Changed(_)));
        assert!(matches!(read(&event("DELETED")), Frame::Deleted(_)));
        assert!(matches!(read(&event("NEWS")), Frame::Undecodable(_)));
        let broken = |ty: &str| format!(r#"{{"type":"{ty}","object":{{"metadata":7}}}}"#);
        assert!(matches!(read(&broken("MODIFIED")), Frame::Undecodable(_)));
        assert!(matches!(read(&broken("DELETED")), Frame::UndecodableDeletion(_)));
    }

    #[test]
    fn the_bookmark_that_ends_the_initial_events_is_recognised() {
        let plain = r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7"}}}"#;
        assert!(matches!(read(plain), Frame::Bookmark { ends_initial: false, .. }));
        let end = r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7",
            "annotations":{"k8s.io/initial-events-end":"true"}}}}"#;
        assert!(matches!(read(end), Frame::Bookmark { ends_initial: true, .. }));
    }

    #[test]
    fn an_in_stream_error_keeps_its_code() {
        let gone = r#"{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired",
            "message":"too old resource version: 1 (9)"}}"#;
        match read(gone) {
            Frame::Error(refusal) => assert_eq!((refusal.code, &*refusal.reason), (410, "Expired")),
            _ => panic!("not an error"),
        }
    }

    #[test]
    fn one_broken_object_does_not_hide_the_others() {
        let ty = K8sType::namespaced("v1", "ConfigMap", "configmaps");
        let good = r#"{"metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"1"}}"#;
        let list = format!(
            r#"{{"metadata":{{"resourceVersion":"5","continue":""}},"items":[{{"metadata":7}},{good}]}}"#
        );
        let spec = WatchSpec::of(ty);
        let page = page(list.as_bytes(), &spec, &KeptManagers::default()).unwrap();
        assert_eq!((page.objects.len(), page.undecodable.len(), page.next), (1, 1, None));
        assert!(super::page(&list.as_bytes()[..40], &spec, &KeptManagers::default()).is_err());
    }

    #[test]
    fn invalid_utf8_makes_only_its_own_object_undecodable() {
        let ty = K8sType::namespaced("v1", "ConfigMap", "configmaps");
        let object = |name: &str, data: &[u8]| {
            let head = format!(
                r#"{{"metadata":{{"name":"{name}","namespace":"n","uid":"{name}","resourceVersion":"1"}},"data":{{"k":""#
            );
            [head.as_bytes(), data, br#""}}"#].concat()
        };
        let (bad, good) = (object("bad", b"\xff\xfe"), object("good", "\u{e9}".as_bytes()));
        let line = |ty: &str, object: &[u8]| {
            [br#"{"type":""#, ty.as_bytes(), br#"","object":"#, object, b"}"].concat()
        };
        let (changed, gone) = (line("MODIFIED", &bad), line("DELETED", &bad));
        match frame(&changed, &ty).unwrap() {
            Frame::Undecodable(it) => assert_eq!(it.key().unwrap().to_string(), "n/bad"),
            _ => panic!("read"),
        }
        assert!(matches!(frame(&gone, &ty).unwrap(), Frame::UndecodableDeletion(_)));
        let odd = b"{\"metadata\":{\"uid\":\"\xff\",\"resourceVersion\":\"\xff\"}}";
        match frame(&line("DELETED", odd), &ty).unwrap() {
            Frame::UndecodableDeletion(it) => {
                assert!(it.uid().is_none() && it.resource_version().is_none());
            }
            _ => panic!("read"),
        }
        assert!(matches!(frame(&line("ADDED", &good), &ty).unwrap(), Frame::Changed(_)));
        assert!(frame(&line("BOOKMARK", &bad), &ty).is_err() && frame(b"\xff", &ty).is_err());
        let head = br#"{"metadata":{"resourceVersion":"5"},"items":["#;
        let list = [head, &*bad, b",", &*good, b"]}"].concat();
        let page = page(&list, &WatchSpec::of(ty), &KeptManagers::default()).unwrap();
        let names = (page.undecodable[0].key().unwrap(), page.objects[0].key());
        assert_eq!((&*names.0.name, &*names.1.name), ("bad", "good"));
        assert_eq!((page.undecodable.len(), page.objects.len()), (1, 1));
    }

    #[test]
    fn an_object_whose_scope_differs_from_the_declared_one_is_undecodable() {
        let object = |namespace: &str| {
            let rest = r#""name":"a","uid":"u","resourceVersion":"1""#;
            format!(r#"{{"type":"ADDED","object":{{"metadata":{{{namespace}{rest}}}}}}}"#)
        };
        let [inside, outside] = [object(r#""namespace":"n","#), object("")];
        let namespaced = K8sType::namespaced("example.dev/v1", "Thing", "things");
        let cluster_scoped = K8sType::cluster_scoped("example.dev/v1", "Thing", "things");
        for (text, ty, why) in [
            (&inside, &namespaced, None),
            (&outside, &cluster_scoped, None),
            (&inside, &cluster_scoped, Some("declare it as namespaced")),
            (&outside, &namespaced, Some("declare it as cluster-scoped")),
        ] {
            match (frame(text.as_bytes(), ty).unwrap(), why) {
                (Frame::Changed(_), None) => {}
                (Frame::Undecodable(undecodable), Some(why)) => {
                    assert!(undecodable.why().contains(why), "{undecodable:?}");
                    let key = undecodable.key().expect("its name is complete");
                    assert_eq!(key.namespace.is_some(), !ty.is_namespaced());
                }
                _ => panic!("{text} as {ty}"),
            }
        }
    }
}
