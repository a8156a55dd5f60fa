//! Many objects in one server: 100,000 parents of a custom type with three `ConfigMap`s each, of about 1.1 KB of JSON
//! each. How much memory they take, and how fast they are listed: at once, in pages, and as the first events of a watch.
//!
//! The lists are counted, and not parsed: the client must not be what is measured.

use std::{sync::Arc, time::Instant};

use bytes::Bytes;
use futures::future::join_all;
use http_body_util::BodyExt;
use kube::Client;
use serde_json::{Value, json};

use crate::{Measured, floor, memory_of, print};

/// The objects of a parent, and itself.
const FAMILY: usize = 4;
/// How many parents are in one namespace.
const PER_NAMESPACE: usize = 1_000;
/// How many requests are in progress at a time.
const WRITERS: usize = 32;
/// How often each list is read; the best time counts.
const ROUNDS: usize = 3;

const GROUP: &str = "many.example.com";
const PARENTS: &str = "/apis/many.example.com/v1/parents";
const CHILDREN: &str = "/api/v1/configmaps";

/// What is measured of one server.
struct Figures {
    objects: usize,
    seconds: f64,
    json: f64,
    resident: f64,
    peak: f64,
    per_object: f64,
    whole: Rates,
    pages: Rates,
    stream: Rates,
    peak_of_lists: f64,
}

/// MB of JSON in a second.
struct Rates {
    built_in: f64,
    custom: f64,
}

/// How a list is read.
#[derive(Clone, Copy)]
enum Way {
    Whole,
    Pages,
    Stream,
}

/// Prints the figures of the embedded server, and beside them those of the real one with fewer objects.
pub(crate) async fn measure(
    embedded: (&Measured, usize),
    writer: Client,
    real: Option<(&Measured, usize)>,
) {
    let ours = of(embedded.0, writer, embedded.1).await;
    let theirs = match real {
        Some((real, objects)) => {
            let writer = Client::try_from(real.config.clone()).unwrap();
            Some(of(real, writer, objects).await)
        }
        None => None,
    };
    let row = |name: &str, of: fn(&Figures) -> f64, target: &str| {
        print(name, of(&ours), theirs.as_ref().map(of), target);
    };
    row("objects", |it| it.objects as f64, "");
    row("creates per second", |it| it.objects as f64 / it.seconds, "");
    row("bytes of JSON per object", |it| it.json, "");
    row("MB of memory with them", |it| it.resident, "1200 for 400,000");
    row("  at most, while they were created", |it| it.peak, "");
    row("  at most, with all lists", |it| it.peak_of_lists, "");
    row("bytes of memory per object", |it| it.per_object, "3000");
    let floor = floor::rate().await;
    println!("{:<52}{floor:>14.2}", "MB per second of as many bytes without a server");
    row("MB per second of a list of ConfigMaps", |it| it.whole.built_in, "at least 3");
    row("  in pages of 500", |it| it.pages.built_in, "at least 3");
    row("  as the first events of a watch", |it| it.stream.built_in, "at least 3");
    row("MB per second of a list of custom objects", |it| it.whole.custom, "at least 3");
    row("  in pages of 500", |it| it.pages.custom, "at least 3");
    row("  as the first events of a watch", |it| it.stream.custom, "at least 3");
}

async fn of(server: &Measured, writer: Client, objects: usize) -> Figures {
    define(&writer, objects / FAMILY).await;
    let before = memory_of(&server.processes).resident;
    let begun = Instant::now();
    create(&writer, objects / FAMILY).await;
    let seconds = begun.elapsed().as_secs_f64();
    let created = memory_of(&server.processes);
    let reader = Client::try_from(server.config.clone()).unwrap();
    let mut length = length_of(&reader, PARENTS).await;
    length += length_of(&reader, CHILDREN).await;
    let whole = rates(&reader, Way::Whole).await;
    let pages = rates(&reader, Way::Pages).await;
    let stream = rates(&reader, Way::Stream).await;
    let megabytes = |kibibytes: u64| kibibytes as f64 * 1024.0 / 1e6;
    let grown = megabytes(created.resident.saturating_sub(before));
    Figures {
        objects,
        seconds,
        json: length as f64 / objects as f64,
        resident: megabytes(created.resident),
        peak: megabytes(created.peak),
        per_object: grown * 1e6 / objects as f64,
        whole,
        pages,
        stream,
        peak_of_lists: megabytes(memory_of(&server.processes).peak),
    }
}

/// Makes the type of the parents, and the namespaces.
async fn define(writer: &Client, parents: usize) {
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let version = json!({
        "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": schema, "status": schema}}},
    });
    let names = json!({"plural": "parents", "kind": "Parent"});
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("parents.{GROUP}")},
        "spec": {"group": GROUP, "scope": "Namespaced", "names": names, "versions": [version]},
    });
    post(writer, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &definition).await;
    for number in 0..=parents / PER_NAMESPACE {
        let name = format!("many-{number}");
        let namespace =
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        post(writer, "/api/v1/namespaces", &namespace).await;
    }
    // The real server serves a new type a little later.
    while writer.request_text(get(PARENTS)).await.is_err() {
        tokio::task::yield_now().await;
    }
}

/// Creates the parents with their children, and writes the parents' statuses.
async fn create(writer: &Client, parents: usize) {
    let next = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let writers = (0..WRITERS).map(|_| {
        let (writer, next) = (writer.clone(), Arc::clone(&next));
        tokio::spawn(async move {
            loop {
                let number = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                if number >= parents {
                    return;
                }
                create_one(&writer, number).await;
            }
        })
    });
    for written in join_all(writers).await {
        written.unwrap();
    }
}

async fn create_one(writer: &Client, number: usize) {
    let namespace = format!("many-{}", number / PER_NAMESPACE);
    let name = format!("parent-{number}");
    let metadata = |name: &str| json!({"name": name, "namespace": namespace, "labels": {"app": name, "tier": "backend"}});
    let parent = json!({
        "apiVersion": format!("{GROUP}/v1"), "kind": "Parent", "metadata": metadata(&name),
        "spec": {"replicas": number % 7, "settings": settings(number, 8)},
    });
    let parents = format!("/apis/{GROUP}/v1/namespaces/{namespace}/parents");
    let created = post(writer, &parents, &parent).await;
    let created: Value = serde_json::from_str(&created).unwrap();
    let status = json!({"status": {"observedGeneration": 1, "ready": true}}).to_string();
    let patch = http::Request::patch(format!("{parents}/{name}/status?fieldManager=bench"))
        .header("content-type", "application/merge-patch+json");
    writer.request_text(patch.body(status.into_bytes()).unwrap()).await.unwrap();
    for child in 0..FAMILY - 1 {
        let mut metadata = metadata(&format!("{name}-{child}"));
        metadata["ownerReferences"] = json!([{
            "apiVersion": format!("{GROUP}/v1"), "kind": "Parent", "name": name,
            "uid": created["metadata"]["uid"], "controller": true, "blockOwnerDeletion": true,
        }]);
        let data = json!({"settings.ini": settings(number * FAMILY + child, 9)});
        let child =
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data});
        post(writer, &format!("/api/v1/namespaces/{namespace}/configmaps"), &child).await;
    }
}

/// A text whose lines differ between objects in their numbers.
fn settings(seed: usize, lines: usize) -> String {
    let mut number = seed as u64 + 1;
    let mut line = |at: usize| {
        // Knuth's multiplier: neighbours have nothing in common.
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(at as u64);
        format!("setting-{at} = https://host-{:x}.example.com/\n", number >> 20)
    };
    (0..lines).map(&mut line).collect()
}

async fn rates(reader: &Client, way: Way) -> Rates {
    Rates { built_in: rate(reader, CHILDREN, way).await, custom: rate(reader, PARENTS, way).await }
}

async fn rate(reader: &Client, path: &str, way: Way) -> f64 {
    let mut best: f64 = 0.0;
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        let length = match way {
            Way::Whole => length_of(reader, path).await,
            Way::Pages => length_of_pages(reader, path).await,
            Way::Stream => length_of_stream(reader, path).await,
        };
        best = best.max(length as f64 / 1e6 / begun.elapsed().as_secs_f64());
    }
    best
}

pub(crate) async fn length_of(reader: &Client, path: &str) -> usize {
    let mut length = 0;
    read(reader, path, |piece| {
        length += piece.len();
        true
    })
    .await;
    length
}

async fn length_of_pages(reader: &Client, path: &str) -> usize {
    let (mut length, mut next) = (0, String::new());
    loop {
        let mut page = Vec::new();
        read(reader, &format!("{path}?limit=500{next}"), |piece| {
            page.extend_from_slice(piece);
            true
        })
        .await;
        length += page.len();
        match token(&page) {
            Some(token) => next = format!("&continue={token}"),
            None => return length,
        }
    }
}

/// The token for the next page: built-in types have it at the beginning, others may have it at the end.
fn token(page: &[u8]) -> Option<String> {
    const FIELD: &str = "\"continue\":\"";
    let near = page.len().min(1_000);
    [&page[..near], &page[page.len() - near..]].into_iter().find_map(|part| {
        let part = String::from_utf8_lossy(part);
        let (_, rest) = part.split_once(FIELD)?;
        let (token, _) = rest.split_once('"')?;
        (!token.is_empty()).then(|| token.to_owned())
    })
}

async fn length_of_stream(reader: &Client, path: &str) -> usize {
    const END: &[u8] = b"k8s.io/initial-events-end";
    let query = "watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan\
                 &timeoutSeconds=290";
    let (mut length, mut last) = (0, Vec::new());
    read(reader, &format!("{path}?{query}"), |piece| {
        length += piece.len();
        last.extend_from_slice(&piece[piece.len().saturating_sub(1_000)..]);
        let before = last.len().saturating_sub(1_000);
        last.drain(..before);
        !last.windows(END.len()).any(|window| window == END)
    })
    .await;
    length
}

/// Reads an answer for as long as its reader wants more.
async fn read(reader: &Client, path: &str, mut more: impl FnMut(&Bytes) -> bool) {
    let request = http::Request::get(path).body(kube::client::Body::empty()).unwrap();
    let answer = reader.send(request).await.unwrap();
    assert!(answer.status().is_success(), "{path}: {}", answer.status());
    let mut body = answer.into_body();
    while let Some(frame) = body.frame().await {
        if frame.unwrap().into_data().is_ok_and(|piece| !more(&piece)) {
            return;
        }
    }
}

fn get(path: &str) -> http::Request<Vec<u8>> {
    http::Request::get(format!("{path}?limit=1")).body(Vec::new()).unwrap()
}

async fn post(writer: &Client, path: &str, object: &Value) -> String {
    let request = http::Request::post(format!("{path}?fieldManager=bench"));
    let request = request.header("content-type", "application/json");
    writer.request_text(request.body(object.to_string().into_bytes()).unwrap()).await.unwrap()
}
