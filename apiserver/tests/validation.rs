//! Objects that are wrong in one place, and what the real server said of them.
//!
//! `objects.json` has a valid object of each kind, `answers.jsonl` one change of one of them a line and the
//! answer of kube-apiserver v1.36.2 to a dry run; `statuses.jsonl` has the same for statuses. Where this server
//! answers otherwise stands in `differences.txt` and `status_differences.txt`, which may only shrink:
//! `UPDATE_EXPECT=1` rewrites them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on")]

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
    #[serde(default)]
    status: Value,
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
async fn answer(client: &Client, method: &str, path: &str, object: &Value) -> (u16, String) {
    let request = http::Request::builder()
        .method(method)
        .uri(format!("{path}?dryRun=All"))
        .header("content-type", "application/json")
        .body(serde_json::to_vec(object).unwrap())
        .unwrap();
    match client.request::<Value>(request).await {
        Ok(_) if method == "PUT" => (200, String::new()),
        Ok(_) => (201, String::new()),
        Err(kube::Error::Api(status)) => (status.code, status.message),
        Err(other) => panic!("not an answer of the server: {other}"),
    }
}

/// The cases in which this server answers otherwise.
#[derive(Default)]
struct Differences {
    names: Vec<String>,
    details: Vec<String>,
}

impl Differences {
    fn compare(&mut self, case: &Case, (code, says): &(u16, String)) {
        if (*code, says) == (case.code, &case.says) {
            return;
        }
        let name = case.name();
        let (there, said) = (case.code, &case.says);
        self.details.push(format!("{name}\n  there {there} {said}\n  here  {code} {says}"));
        self.names.push(name + "\n");
    }

    fn are_those_of(&self, file: &str) {
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(folder().join(file), self.names.concat()).unwrap();
        }
        assert!(self.names.concat() == text(file), "{file}:\n{}", self.details.join("\n"));
    }
}

fn bases() -> BTreeMap<String, Base> {
    serde_json::from_str(&text("objects.json")).unwrap()
}

fn cases(file: &str) -> Vec<Case> {
    text(file).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn wrong_objects_are_refused_as_the_real_server_refuses_them() {
    let (_server, client) = server();
    let (bases, mut differences) = (bases(), Differences::default());
    for case in cases("answers.jsonl") {
        let base = &bases[&case.of];
        let object = case.applied_to(&base.object);
        differences.compare(&case, &answer(&client, "POST", &base.path, &object).await);
    }
    differences.are_those_of("differences.txt");
}

#[tokio::test]
async fn wrong_statuses_are_refused_as_the_real_server_refuses_them() {
    let (_server, client) = server();
    let (bases, mut differences) = (bases(), Differences::default());
    for (name, base) in bases.iter().filter(|(_, base)| !base.status.is_null()) {
        let (mut object, named) = (base.object.clone(), format!("st-{name}"));
        object["metadata"]["name"] = named.clone().into();
        let created = http::Request::post(&base.path)
            .header("content-type", "application/json")
            .body(serde_json::to_vec(&object).unwrap())
            .unwrap();
        client.request::<Value>(created).await.unwrap();
        object["status"] = base.status.clone();
        let place = format!("{}/{named}/status", base.path);
        for case in cases("statuses.jsonl").iter().filter(|case| case.of == *name) {
            let changed = case.applied_to(&object);
            differences.compare(case, &answer(&client, "PUT", &place, &changed).await);
        }
    }
    differences.are_those_of("status_differences.txt");
}
