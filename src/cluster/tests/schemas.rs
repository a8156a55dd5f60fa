//! Schemas that are read of the published documents.

use http::{HeaderValue, StatusCode, header};

use super::*;

const TAG: HeaderValue = HeaderValue::from_static("\"1\"");

/// A server that publishes two types in one document, and sends the status code of each answer.
fn publishing(answered: mpsc::UnboundedSender<u16>) -> Cluster {
    let schema = |kind: &str| {
        let kinds = json!([{"group": "example.dev", "version": "v1", "kind": kind}]);
        let secret = json!({"type": "string", "format": "password"});
        let spec = json!({"properties": {"password": secret}});
        json!({"x-kubernetes-group-version-kind": kinds, "properties": {"spec": spec}})
    };
    let schemas = json!({"a": schema("Echo"), "b": schema("Song")});
    let document = json!({"paths": {}, "components": {"schemas": schemas}});
    cluster(tower::service_fn(move |request: Request<Body>| {
        let is_known = request.headers().get(header::IF_NONE_MATCH) == Some(&TAG);
        let code = if is_known { StatusCode::NOT_MODIFIED } else { StatusCode::OK };
        let _ = answered.send(code.as_u16());
        let body = if is_known { answer(Vec::new()) } else { line(&document) };
        let answer = Response::builder().status(code).header(header::ETAG, TAG).body(body);
        async move { Ok::<_, Infallible>(answer.unwrap()) }
    }))
}

#[tokio::test]
async fn concurrent_readers_share_a_request_and_an_unchanged_document_is_not_sent_again() {
    let (sender, mut answered) = mpsc::unbounded_channel();
    let cluster = publishing(sender);
    let operator = cluster.in_the_name_of("other");
    let ty = |kind: &str, plural: &str| K8sType::namespaced("example.dev/v1", kind, plural);
    let (echo, song, verse) = (ty("Echo", "echoes"), ty("Song", "songs"), ty("Verse", "verses"));
    let (a, b) = tokio::join!(cluster.schema(&echo), operator.schema(&song));
    for schema in [a, b] {
        assert!(!schema.unwrap().unwrap().secrets.as_ref().unwrap().is_empty());
    }
    assert!(operator.schema(&echo).await.unwrap().is_some());
    // What was read has all types of the document.
    assert!(cluster.schema(&verse).await.unwrap().is_none());
    let mut codes = Vec::new();
    answered.recv_many(&mut codes, 9).await;
    assert_eq!(codes, [200, 304, 304]);
}

#[tokio::test]
async fn a_schema_that_cannot_be_read_is_an_error_for_its_own_type_alone() {
    let schema = |kind: &str, depth: usize| {
        let spec = (0..depth).fold(json!({}), |inner, _| json!({"items": inner}));
        let kinds = json!([{"group": "example.dev", "version": "v1", "kind": kind}]);
        json!({"x-kubernetes-group-version-kind": kinds, "properties": {"spec": spec}})
    };
    let schemas = json!({"a": schema("Echo", 200), "b": schema("Song", 1)});
    let document = json!({"paths": {}, "components": {"schemas": schemas}});
    let cluster = served_by(move |_| (200, line(&document)));
    let ty = |kind: &str, plural: &str| K8sType::namespaced("example.dev/v1", kind, plural);
    assert!(cluster.schema(&ty("Song", "songs")).await.unwrap().is_some());
    let error = cluster.schema(&ty("Echo", "echoes")).await.unwrap_err();
    assert!(error.to_string().contains("unexpected JSON"), "{error}");
}

/// A server that cannot read a definition itself publishes it without fields.
#[tokio::test]
async fn a_schema_without_fields_does_not_say_what_is_secret_and_references_are_followed() {
    let kinds = json!([{"group": "example.dev", "version": "v1", "kind": "Echo"}]);
    let spec = json!({"properties": {"password": {"format": "password"}}});
    let refers = json!({"spec": {"$ref": "#/components/schemas/Spec"}});
    for (properties, is_marked) in [
        (json!(null), None),
        (json!({}), None),
        (json!({"metadata": {}}), Some(false)),
        (refers, Some(true)),
    ] {
        let echo = json!({"x-kubernetes-group-version-kind": kinds, "properties": properties});
        let schemas = json!({"Echo": echo, "Spec": spec});
        let document = json!({"paths": {}, "components": {"schemas": schemas}});
        let cluster = served_by(move |_| (200, line(&document)));
        let echo = K8sType::namespaced("example.dev/v1", "Echo", "echoes");
        let schema = cluster.schema(&echo).await.unwrap().unwrap();
        assert_eq!(schema.secrets.as_ref().map(|fields| !fields.is_empty()), is_marked);
    }
}

#[tokio::test]
async fn a_type_without_a_document_has_no_schema() {
    let cluster = served_by(|_| (404, line(&json!({}))));
    let echo = K8sType::namespaced("example.dev/v1", "Echo", "echoes");
    assert!(cluster.schema(&echo).await.unwrap().is_none());
}

#[tokio::test]
async fn a_failed_request_for_a_document_is_repeated() {
    let refusals = Arc::new(AtomicUsize::new(0));
    let cluster = served_by(move |_| match refusals.fetch_add(1, Ordering::Relaxed) {
        0 => (503, line(&json!({}))),
        _ => (200, line(&json!({}))),
    });
    let echo = K8sType::namespaced("example.dev/v1", "Echo", "echoes");
    assert_eq!(cluster.schema(&echo).await.unwrap_err().code(), Some(503));
    assert!(cluster.schema(&echo).await.unwrap().is_none());
}

/// It may have a status that is not declared.
#[tokio::test]
async fn a_type_that_preserves_unknown_fields_at_its_root_has_an_open_status() {
    let kinds = json!([{"group": "example.dev", "version": "v1", "kind": "Echo"}]);
    let root = |keeps: bool| {
        let properties = json!({"spec": {"type": "object"}});
        let mut root = json!({"x-kubernetes-group-version-kind": kinds, "properties": properties});
        root["x-kubernetes-preserve-unknown-fields"] = json!(keeps);
        root
    };
    let path = "/apis/example.dev/v1/namespaces/{namespace}/echoes/{name}";
    for (keeps, path, has_none) in [
        (true, format!("{path}/status"), false),
        (true, path.to_owned(), true),
        (false, format!("{path}/status"), true),
    ] {
        let document = json!({"paths": {&path: {}}, "components": {"schemas": {"a": root(keeps)}}});
        let cluster = served_by(move |_| (200, line(&document)));
        let echo = K8sType::namespaced("example.dev/v1", "Echo", "echoes");
        let schema = cluster.schema(&echo).await.unwrap().unwrap();
        assert_eq!(schema.status.is_none(), has_none, "{keeps} {path}");
    }
}

#[tokio::test]
async fn a_built_in_type_has_a_status_if_it_has_a_status_path() {
    let of = |kind: &str| {
        let kinds = json!([{"group": "", "version": "v1", "kind": kind}]);
        json!({"x-kubernetes-group-version-kind": kinds, "type": "object"})
    };
    let paths = json!({"/api/v1/namespaces/{namespace}/pods/{name}/status": {}});
    let schemas = json!({"a": of("Pod"), "b": of("ConfigMap")});
    let document = json!({"paths": paths, "components": {"schemas": schemas}});
    let cluster = served_by(move |_| (200, line(&document)));
    for (kind, plural, has_none) in [("Pod", "pods", false), ("ConfigMap", "configmaps", true)] {
        let ty = K8sType::namespaced("v1", kind, plural);
        let schema = cluster.schema(&ty).await.unwrap().unwrap();
        assert_eq!(schema.status.is_none(), has_none, "{kind}");
    }
}
