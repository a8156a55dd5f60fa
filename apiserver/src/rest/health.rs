//! Health: `/healthz`, `/livez`, `/readyz`, each of their checks below them, and a list with `?verbose`.
//!
//! A server that answers is healthy. The names are those of the real server's checks, of which this one has no
//! parts, so that whoever asks for one by name finds it.

use http::{HeaderValue, Response, StatusCode};

use super::{Body, reply};
use crate::query::Query;

/// What each of the three checks before its hooks.
const LIVE: [&str; 4] = ["ping", "log", "loopback-serving-certificate", "etcd"];
const READY: [&str; 5] = ["ping", "log", "etcd", "etcd-readiness", "informer-sync"];
/// The hooks, in their order.
const HOOKS: [&str; 30] = [
    "poststarthook/start-apiserver-admission-initializer",
    "poststarthook/generic-apiserver-start-informers",
    "poststarthook/priority-and-fairness-config-consumer",
    "poststarthook/priority-and-fairness-filter",
    "poststarthook/storage-object-count-tracker-hook",
    "poststarthook/start-apiextensions-informers",
    "poststarthook/start-apiextensions-controllers",
    "poststarthook/crd-informer-synced",
    "poststarthook/start-system-namespaces-controller",
    "poststarthook/peer-endpoint-reconciler-controller",
    "poststarthook/start-cluster-authentication-info-controller",
    "poststarthook/start-kube-apiserver-identity-lease-controller",
    "poststarthook/start-kube-apiserver-identity-lease-garbage-collector",
    "poststarthook/storage-readiness",
    "poststarthook/start-legacy-token-tracking-controller",
    "poststarthook/start-service-ip-repair-controllers",
    "poststarthook/rbac/bootstrap-roles",
    "poststarthook/scheduling/bootstrap-system-priority-classes",
    "poststarthook/priority-and-fairness-config-producer",
    "poststarthook/bootstrap-controller",
    "poststarthook/start-kubernetes-service-cidr-controller",
    "poststarthook/start-kube-aggregator-informers",
    "poststarthook/apiservice-status-local-available-controller",
    "poststarthook/apiservice-status-remote-available-controller",
    "poststarthook/apiservice-registration-controller",
    "poststarthook/apiservice-discovery-controller",
    "poststarthook/kube-apiserver-autoregistration",
    "autoregister-completion",
    "poststarthook/apiservice-openapi-controller",
    "poststarthook/apiservice-openapiv3-controller",
];

/// Answers `healthz`, `livez`, `readyz` or a check below one of them.
pub(super) fn answer(path: &str, query: &Query) -> Response<Body> {
    let (name, check) = path.split_once('/').unwrap_or((path, ""));
    if !check.is_empty() {
        let is_known = checks(name).any(|known| known == check);
        return if is_known { reply::text(StatusCode::OK, "ok") } else { reply::page_not_found() };
    }
    if query.texts("verbose").is_empty() {
        return without_guessing(reply::text(StatusCode::OK, "ok"));
    }
    let excluded = query.texts("exclude");
    let state = |check: &str| if excluded.contains(&check) { "excluded: ok" } else { "ok" };
    let mut lines: Vec<String> =
        checks(name).map(|check| format!("[+]{check} {}", state(check))).collect();
    let unknown: Vec<String> = excluded
        .iter()
        .filter(|excluded| !checks(name).any(|check| check == **excluded))
        .map(|excluded| format!("\"{excluded}\""))
        .collect();
    if !unknown.is_empty() {
        let unknown = unknown.join(", ");
        lines
            .push(format!("warn: some health checks cannot be excluded: no matches for {unknown}"));
    }
    lines.push(format!("{name} check passed\n"));
    without_guessing(reply::text(StatusCode::OK, lines.join("\n")))
}

fn checks(name: &str) -> impl Iterator<Item = &'static str> {
    let is_readiness = name == "readyz";
    let first: &[&str] = if is_readiness { &READY } else { &LIVE };
    let last: &[&str] = if is_readiness { &["shutdown"] } else { &[] };
    first.iter().chain(&HOOKS).chain(last).copied()
}

fn without_guessing(mut response: Response<Body>) -> Response<Body> {
    response.headers_mut().insert("x-content-type-options", HeaderValue::from_static("nosniff"));
    response
}
