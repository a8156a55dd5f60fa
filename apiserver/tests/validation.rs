//! Objects that are wrong in one place, and what the real server said of them.
//!
//! `objects.json` has a valid object of each kind, `answers.jsonl` one change of one of them a line and the
//! answer of kube-apiserver v1.36.2 to a dry run. Where this server answers otherwise stands in
//! `differences.txt`, which may only shrink: `UPDATE_EXPECT=1` rewrites it.

mod common;

use std::{collections::BTreeMap, fs, path::PathBuf};

use common::server;
use kube::Client;
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Base {
    path: String,
    object: Value,
}

/// A change of one place, and the answer to it.
#[derive(Deserialize)]
struct Case {
    of: String,
    #[serde(default)]
    at: String,
    #[serde(default, deserialize_with = "present")]
    is: Option<Value>,
    code: u16,
    #[serde(default)]
    says: String,
}

fn present<'de, D: serde::Deserializer<'de>>(source: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(source).map(Some)
}

impl Case {
    fn name(&self) -> String {
        let is = self.is.as_ref().map(|value| format!("={value}")).unwrap_or_default();
        format!("{} {}{is}", self.of, self.at)
    }

    fn applied_to(&self, object: &Value) -> Value {
        let mut object = object.clone();
        let Some((parent, last)) = self.at.rsplit_once('/') else { return object };
        let last = last.replace("~1", "/").replace("~0", "~");
        match (object.pointer_mut(parent), &self.is) {
            (Some(Value::Object(fields)), Some(value)) => {
                fields.insert(last, value.clone());
            }
            (Some(Value::Object(fields)), None) => {
                fields.remove(&last);
            }
            (Some(Value::Array(items)), value) => {
                let index: usize = last.parse().unwrap();
                match value {
                    Some(value) => items[index] = value.clone(),
                    None => drop(items.remove(index)),
                }
            }
            (other, _) => panic!("{} leads to {other:?}", self.at),
        }
        object
    }
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/testdata/validation")
}

fn text(name: &str) -> String {
    fs::read_to_string(folder().join(name)).unwrap()
}

/// The code and the message of a dry run.
async fn answer(client: &Client, path: &str, object: &Value) -> (u16, String) {
    let request = http::Request::post(format!("{path}?dryRun=All"))
        .header("content-type", "application/json")
        .body(serde_json::to_vec(object).unwrap())
        .unwrap();
    match client.request::<Value>(request).await {
        Ok(_) => (201, String::new()),
        Err(kube::Error::Api(status)) => (status.code, status.message),
        Err(other) => panic!("not an answer of the server: {other}"),
    }
}

#[tokio::test]
async fn wrong_objects_are_refused_as_the_real_server_refuses_them() {
    let (_server, client) = server();
    let bases: BTreeMap<String, Base> = serde_json::from_str(&text("objects.json")).unwrap();
    let (mut differing, mut details) = (String::new(), String::new());
    for line in text("answers.jsonl").lines() {
        let case: Case = serde_json::from_str(line).unwrap();
        let base = &bases[&case.of];
        let (code, says) = answer(&client, &base.path, &case.applied_to(&base.object)).await;
        if (code, &says) != (case.code, &case.says) {
            differing += &format!("{}\n", case.name());
            details += &format!(
                "{}\n  there {} {}\n  here  {code} {says}\n",
                case.name(),
                case.code,
                case.says
            );
        }
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(folder().join("differences.txt"), &differing).unwrap();
    }
    assert_eq!(differing, text("differences.txt"), "{details}");
}
