//! `/metrics`: a few figures of the real server under its names, in the text format of Prometheus.
//!
//! Labels are verbs and names of resources, which need no escapes.

use std::{collections::BTreeMap, fmt::Write};

use crate::{requests::Counted, shared::Shared};

/// The media type of the text format.
pub(super) const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// All figures.
pub(super) fn text(server: &Shared) -> String {
    let mut text = String::new();
    requests(&mut text, server.requests.counts());
    let open = server.requests.open().into_iter().map(|watch| watch.resource);
    watches(&mut text, open);
    let counts = server.cluster.log.counts();
    objects(&mut text, counts.iter().map(|(resource, count)| (resource.to_string(), *count)));
    text
}

fn requests(text: &mut String, counts: BTreeMap<Counted, u64>) {
    let name = "apiserver_request_total";
    begin(text, name, "counter", "Counter of apiserver requests.");
    for (Counted { verb, resource, code }, count) in counts {
        let (verb, place) = (verb.to_uppercase(), labels(&resource));
        sample(text, name, &format!("code=\"{code}\",{place},verb=\"{verb}\""), count);
    }
}

fn watches(text: &mut String, open: impl Iterator<Item = String>) {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    open.for_each(|resource| *counts.entry(resource).or_default() += 1);
    let name = "apiserver_longrunning_requests";
    begin(text, name, "gauge", "Gauge of all active long-running apiserver requests.");
    for (resource, count) in counts {
        sample(text, name, &format!("{},verb=\"WATCH\"", labels(&resource)), count);
    }
}

fn objects(text: &mut String, counts: impl Iterator<Item = (String, usize)>) {
    let counts: BTreeMap<String, usize> = counts.collect();
    // The older name has the group in the resource.
    let name = "apiserver_storage_objects";
    begin(text, name, "gauge", "Number of stored objects split by kind.");
    for (resource, count) in &counts {
        sample(text, name, &format!("resource=\"{resource}\""), *count as u64);
    }
    let name = "apiserver_resource_objects";
    begin(text, name, "gauge", "Number of stored objects split by kind.");
    for (resource, count) in &counts {
        sample(text, name, &labels(resource), *count as u64);
    }
}

/// `deployments.apps` as labels.
fn labels(resource: &str) -> String {
    let (plural, group) = resource.split_once('.').unwrap_or((resource, ""));
    format!("group=\"{group}\",resource=\"{plural}\"")
}

fn begin(text: &mut String, name: &str, kind: &str, help: &str) {
    // Writing to a string does not fail.
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

fn sample(text: &mut String, name: &str, labels: &str, value: u64) {
    let _ = writeln!(text, "{name}{{{labels}}} {value}");
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use futures::FutureExt;
    use http::Request;
    use http_body_util::BodyExt;

    use crate::Server;

    async fn get(server: &Server, path: &str) -> Bytes {
        let request = Request::get(path).body(Bytes::new()).unwrap();
        BodyExt::collect(server.handle(request).await.into_body()).await.unwrap().to_bytes()
    }

    #[tokio::test]
    async fn requests_watches_and_objects_are_counted() {
        let server = Server::start();
        get(&server, "/api/v1/namespaces").await;
        get(&server, "/apis/apps/v1/deployments/a").await;
        get(&server, "/nope").await;
        let watch = Request::get("/api/v1/namespaces?watch=1").body(Bytes::new()).unwrap();
        let watch = server.handle(watch).now_or_never().unwrap();
        let metrics = get(&server, "/metrics").await;
        let metrics = std::str::from_utf8(&metrics).unwrap();
        for line in [
            r#"apiserver_request_total{code="200",group="",resource="namespaces",verb="LIST"} 1"#,
            r#"apiserver_request_total{code="200",group="",resource="namespaces",verb="WATCH"} 1"#,
            r#"apiserver_request_total{code="404",group="",resource="",verb="GET"} 1"#,
            r#"apiserver_longrunning_requests{group="",resource="namespaces",verb="WATCH"} 1"#,
            r#"apiserver_storage_objects{resource="namespaces"} 4"#,
            r#"apiserver_resource_objects{group="",resource="namespaces"} 4"#,
        ] {
            assert!(metrics.lines().any(|it| it == line), "{line}\n{metrics}");
        }
        drop(watch);
    }
}
