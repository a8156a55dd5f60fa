//! Checks that a handler is deterministic.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use serde_json::Value;

use crate::{
    diff::path::{MAX_PATHS, Path, Segment},
    operator::{
        AnyHandler, Call, Decoration, DecoratorResponse, DesiredChild, ErrorResponse, Failed,
        HasForm, IntoHandler, Narrowed, Role, SyncRequest, SyncResponse, child_name,
    },
};

/// Calls `sync` twice with the same request, checks that both calls return the same, and returns that: a
/// [`SyncResponse`], or the [`DecoratorResponse`] of a decorator.
///
/// A handler that returns something else each time, such as the time or a random name, makes the operator
/// write for ever. Of a child that is only created ([`SyncResponse::ensure`]) the content may differ, and the
/// order of the children may.
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use operetta::{prelude::*, testkit::assert_pure};
/// use serde_json::json;
///
/// fn sync(request: &SyncRequest) -> Result<SyncResponse> {
///     let metadata = json!({"name": request.parent.name()});
///     let child = json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata});
///     Ok(SyncResponse::new().child(child))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// let parent = json!({"metadata": {"name": "a"}});
/// let request = SyncRequest::example(&K8sType::of::<ConfigMap>(), parent)?;
/// assert_eq!(assert_pure(sync, &request).await?.children.len(), 1);
/// # Ok(())
/// # }
/// ```
///
/// # Panics
/// The calls return different things. It names the children and the JSON paths, and quotes no values, which
/// may be those of a Secret.
///
/// # Errors
/// The error of the handler, if both calls return the same.
pub async fn assert_pure<Form, H, P>(
    handler: H,
    request: &SyncRequest<P>,
) -> Result<<H::Role as Role>::Response>
where
    H: HasForm<Form> + IntoHandler<Form>,
{
    let (handler, request) = (handler.into_handler().erased(), request.untyped());
    let first = called(&handler, request.clone()).await;
    let second = called(&handler, request.clone()).await;
    let differences = differences(&request, &first, &second);
    assert!(
        differences.is_empty(),
        "two calls of the handler with the same request return different things:\n- {}\n\
         The response must depend on nothing but the request.",
        differences.join("\n- ")
    );
    first.map(H::Role::narrowed).map_err(|failed| anyhow::anyhow!("{:#}", failed.error))
}

async fn called(handler: &AnyHandler, request: SyncRequest) -> Result<DecoratorResponse, Failed> {
    match handler.sync(request) {
        Call::Blocking(call) => call(),
        Call::Async(call) => call.await,
    }
}

type Returned = Result<DecoratorResponse, Failed>;

fn differences(request: &SyncRequest, first: &Returned, second: &Returned) -> Vec<String> {
    match (first, second) {
        (Ok(first), Ok(second)) => of_responses(request, first, second),
        (Err(first), Err(second)) => of_errors(first, second),
        (Ok(_), Err(_)) => vec!["only the second call returns an error".to_owned()],
        (Err(_), Ok(_)) => vec!["only the first call returns an error".to_owned()],
    }
}

fn of_errors(first: &Failed, second: &Failed) -> Vec<String> {
    let shown = |failed: &Failed| format!("{:#}", failed.error);
    let ErrorResponse { status, retry, events, unserializable: _ } = &*first.response;
    let mut all =
        of_values("the status of the error", status.as_ref(), second.response.status.as_ref());
    all.extend((shown(first) != shown(second)).then(|| "the text of the error".to_owned()));
    all.extend((*events != second.response.events).then(|| "the Events of the error".to_owned()));
    all.extend((*retry != second.response.retry).then(|| "the retry of the error".to_owned()));
    all
}

fn of_responses(
    request: &SyncRequest,
    DecoratorResponse { response: first, decoration: one }: &DecoratorResponse,
    DecoratorResponse { response: second, decoration: other }: &DecoratorResponse,
) -> Vec<String> {
    let Decoration { labels, annotations, replicas } = one;
    let SyncResponse { status, children, resync, events, stages, unserializable } = first;
    let mut all = of_values("the status", status.as_ref(), second.status.as_ref());
    let (mine, theirs) = (by_name(request, children), by_name(request, &second.children));
    for name in mine.keys().chain(theirs.keys()).collect::<BTreeSet<_>>() {
        match (mine.get(name), theirs.get(name)) {
            (Some(one), Some(other)) => all.extend(of_children(name, one, other)),
            (Some(_), None) => all.push(format!("only the first call returns {name}")),
            (None, _) => all.push(format!("only the second call returns {name}")),
        }
    }
    all.extend((*labels != other.labels).then(|| "the labels".to_owned()));
    all.extend((*annotations != other.annotations).then(|| "the annotations".to_owned()));
    all.extend((*replicas != other.replicas).then(|| "the replicas".to_owned()));
    all.extend((*resync != second.resync).then(|| "the time of the resync".to_owned()));
    all.extend((*events != second.events).then(|| "the Events".to_owned()));
    all.extend((*stages != second.stages).then(|| "the stages".to_owned()));
    let is_other = *unserializable != second.unserializable;
    all.extend(is_other.then(|| "what cannot be serialized".to_owned()));
    all
}

fn by_name<'a>(
    request: &SyncRequest,
    children: &'a [DesiredChild],
) -> BTreeMap<String, &'a DesiredChild> {
    let namespace = request.parent.namespace();
    let name = |index, child: &DesiredChild| child_name(index, &child.object, namespace);
    children.iter().enumerate().map(|(index, child)| (name(index, child), child)).collect()
}

fn of_children(name: &str, first: &DesiredChild, second: &DesiredChild) -> Vec<String> {
    let DesiredChild { object, ensure, config, stage, after, initial } = first;
    let is_other = *ensure != second.ensure || *config != second.config;
    if is_other || *initial != second.initial {
        return vec![format!("the options of {name}")];
    }
    if *stage != second.stage || *after != second.after {
        return vec![format!("what {name} waits for")];
    }
    // It is written once: its content does not matter afterwards.
    if *ensure { Vec::new() } else { of_values(name, Some(object), Some(&second.object)) }
}

fn of_values(what: &str, first: Option<&Value>, second: Option<&Value>) -> Vec<String> {
    let (first, second) = (first.unwrap_or(&Value::Null), second.unwrap_or(&Value::Null));
    let mut paths = Vec::new();
    compare(first, second, &mut Path::default(), &mut paths);
    paths.truncate(MAX_PATHS);
    if paths.is_empty() { paths } else { vec![format!("{what}: {}", paths.join(", "))] }
}

fn compare<'a>(first: &'a Value, second: &'a Value, path: &mut Path<'a>, paths: &mut Vec<String>) {
    let mut within = |segment, first, second| {
        path.enter(segment);
        compare(first, second, path, paths);
        path.leave();
    };
    match (first, second) {
        (Value::Object(one), Value::Object(other)) => {
            let keys: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
            let value =
                |of: &'a serde_json::Map<String, Value>, key| of.get(key).unwrap_or(&Value::Null);
            for key in keys {
                within(Segment::Field(key), value(one, key), value(other, key));
            }
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            for (index, (one, other)) in one.iter().zip(other).enumerate() {
                within(Segment::Index(index), one, other);
            }
        }
        _ if first != second => paths.push(path.render()),
        _ => {}
    }
}
