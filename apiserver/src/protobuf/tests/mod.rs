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
