//! Hostile texts within objects: deep, repeated, or such that each step of a search finds more.

use base64::{Engine, prelude::BASE64_STANDARD};

use super::{Attempt, CONFIG_MAPS};

const JSON: &str = "application/json";
const DEFAULT: &str = "/api/v1/namespaces/default";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const GROWING: &str = "/apis/texts.example.com/v1/growings";

type Make = fn() -> String;

/// Collections, and an object for each.
const OBJECTS: &[(&str, &str, Make)] = &[
    ("a registry that is deep", "/api/v1/namespaces/default/secrets", || {
        let data = BASE64_STANDARD.encode("[".repeat(1_000_000));
        format!(
            r#"{{"metadata":{{"name":"deep"}},"type":"kubernetes.io/dockerconfigjson","data":{{".dockerconfigjson":"{data}"}}}}"#
        )
    }),
    ("many time zones", "/apis/batch/v1/namespaces/default/cronjobs", || {
        let schedule = "TZ=UTC ".repeat(300_000);
        format!(
            r#"{{"metadata":{{"name":"zones"}},"spec":{{"schedule":"{schedule}","jobTemplate":{{"spec":{{"template":{{}}}}}}}}}}"#
        )
    }),
    ("many beginnings", "/apis/certificates.k8s.io/v1/certificatesigningrequests", || {
        let request = BASE64_STANDARD.encode("-----BEGIN A-----".repeat(100_000));
        format!(
            r#"{{"metadata":{{"name":"many"}},"spec":{{"request":"{request}","signerName":"a.b/c","usages":["client auth"]}}}}"#
        )
    }),
    ("an amount beyond numbers", "/api/v1/namespaces/default/pods", || {
        let amounts =
            r#"{"cpu":"1e2147483647","memory":"170141183460469231731687303715884105727n"}"#;
        format!(
            r#"{{"metadata":{{"name":"much"}},"spec":{{"containers":[{{"name":"a","image":"a","resources":{{"limits":{amounts}}}}}]}}}}"#
        )
    }),
];

/// All attempts with texts.
pub(super) fn attempts() -> Vec<Attempt> {
    let objects = OBJECTS.iter().map(|(name, path, make)| {
        Attempt::new(*name, |process| {
            drop(process.send("POST", path, JSON, make().as_bytes()));
        })
    });
    objects.chain([growing(), finalizers(), ranges()]).collect()
}

/// Columns whose paths find more with each step, and tables of them.
fn growing() -> Attempt {
    Attempt::new("paths that find ever more", |process| {
        drop(process.send("POST", DEFINITIONS, JSON, definition().as_bytes()));
        let deep = format!("{}1{}", r#"{"a":"#.repeat(80), "}".repeat(80));
        for at in 0..50 {
            let object = format!(
                r#"{{"apiVersion":"texts.example.com/v1","kind":"Growing","metadata":{{"name":"g{at}"}},"spec":{{"list":[{deep}],"deep":{deep}}}}}"#
            );
            drop(process.send("POST", GROWING, JSON, object.as_bytes()));
        }
        let accept = "Accept: application/json;as=Table;v=v1;g=meta.k8s.io\r\n";
        for _ in 0..4 {
            let head = process.head("GET", GROWING, accept);
            drop(process.send_raw(head.as_bytes(), b""));
        }
    })
}

fn definition() -> String {
    let paths = [
        "..a".repeat(100),
        format!(".spec.list{}", "[0,0]".repeat(100)),
        format!(".spec{}", "['deep','deep']..a".repeat(50)),
        r".metadata.labels['a\\.b/c']".to_owned(),
        r".metadata.labels['a\\\\.b/c']".to_owned(),
        ".spec".to_owned(),
    ];
    let columns: Vec<String> = (0..600)
        .map(|at| {
            let path = &paths[at % paths.len()];
            format!(r#"{{"name":"C{at}","type":"string","jsonPath":"{path}"}}"#)
        })
        .collect();
    format!(
        r#"{{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{{"name":"growings.texts.example.com"}},
        "spec":{{"group":"texts.example.com","scope":"Cluster","names":{{"plural":"growings","singular":"growing","kind":"Growing","listKind":"GrowingList"}},
        "versions":[{{"name":"v1","served":true,"storage":true,"additionalPrinterColumns":[{}],
        "schema":{{"openAPIV3Schema":{{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}}]}}}}"#,
        columns.join(",")
    )
}

/// A list of scalars that is merged as a set.
fn finalizers() -> Attempt {
    Attempt::new("many finalizers, merged as a set", |process| {
        let path = format!("{DEFAULT}/configmaps/target");
        let all: Vec<String> = (0..150_000).map(|at| format!("\"a.b/{at}\"")).collect();
        let patch = format!(r#"{{"metadata":{{"finalizers":[{}]}}}}"#, all.join(","));
        let media = "application/strategic-merge-patch+json";
        drop(process.send("PATCH", &path, media, patch.as_bytes()));
    })
}

/// Media types of which each comes before all that were read.
fn ranges() -> Attempt {
    Attempt::new("media types in the worst order", |process| {
        let accept = format!("Accept: {}{}\r\n", "a/*,".repeat(14_000), "a/b,".repeat(14_000));
        for _ in 0..4 {
            let head = process.head("GET", CONFIG_MAPS, &accept);
            drop(process.send_half(head.as_bytes()));
        }
    })
}
