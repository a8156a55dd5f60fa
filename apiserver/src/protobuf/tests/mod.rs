//! The codec against objects that Go wrote in both forms; `cases.jsonl` was made by the command
//! `extract` of the control-plane rig.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::Value;

use super::*;
use crate::builtin;

const CASES: &str = include_str!("cases.jsonl");

fn cases() -> impl Iterator<Item = (Value, Vec<u8>)> {
    CASES.lines().map(|line| {
        let mut case: Value = serde_json::from_str(line).unwrap();
        let bytes = BASE64_STANDARD.decode(case["protobuf"].as_str().unwrap()).unwrap();
        (case["object"].take(), bytes)
    })
}

#[test]
fn every_kind_is_written_as_go_writes_it() {
    for (object, bytes) in cases() {
        let written = encode(&object).unwrap();
        assert_eq!(written.as_ref(), bytes, "{}\n{object}", object["kind"]);
    }
}

#[test]
fn every_kind_is_read_as_go_reads_it() {
    for (object, bytes) in cases() {
        let mut read = decode(&bytes, ("", "")).unwrap();
        let (api_version, kind) = (object["apiVersion"].as_str(), object["kind"].as_str());
        match kind::find(api_version.unwrap(), kind.unwrap()).unwrap() {
            Shape::Object(root) => builtin::fill(root, &mut read),
            Shape::List(root) => {
                builtin::fill("meta.v1.ListMeta", &mut read["metadata"]);
                builtin::fill(root, &mut read["items"][0]);
            }
        }
        assert_eq!(read, object, "{}", object["kind"]);
    }
}

#[test]
fn bytes_that_are_cut_or_changed_are_read_or_refused() {
    for (_, bytes) in cases() {
        for at in (0..bytes.len()).step_by(31) {
            let _ = decode(&bytes[..at], ("v1", "Pod"));
            let mut changed = bytes.clone();
            changed[at] ^= 1 << (at % 8);
            let _ = decode(&changed, ("v1", "Pod"));
        }
    }
}

#[test]
fn schemas_within_schemas_are_read_to_a_limit() {
    let definition = |depth| {
        let schema = (0..depth).fold(Vec::new(), |inner, _| {
            let mut outer = Vec::new();
            wire::put_bytes(28, &inner, &mut outer); // not
            outer
        });
        // spec, its first version, the schema of that, and the schema in that
        let message = [1, 4, 7, 2].into_iter().fold(schema, |inner, number| {
            let mut outer = Vec::new();
            wire::put_bytes(number, &inner, &mut outer);
            outer
        });
        envelope::seal("apiextensions.k8s.io/v1", "CustomResourceDefinition", &message)
    };
    assert!(decode(&definition(50), ("", "")).is_ok());
    for depth in [97, 1000] {
        let refused = decode(&definition(depth), ("", "")).unwrap_err();
        assert!(refused.to_string().ends_with("the message is nested too deeply"), "{refused}");
    }
}

#[test]
fn any_bytes_are_an_object_or_refused() {
    let valid: Vec<Vec<u8>> = cases().map(|(_, bytes)| bytes).collect();
    operetta_harness::random::bytes(&valid, |bytes| {
        if let Ok(object) = decode(bytes, ("v1", "Pod")) {
            assert!(object.to_string().len() <= 64 * bytes.len() + 4_096);
        }
    });
}
