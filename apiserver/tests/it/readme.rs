//! The parts of the README that are generated: from tests, from `--help`, and from discovery.
//!
//! `UPDATE_EXPECT=1` writes them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    process::Command,
};

use bytes::Bytes;
use http::Request;
use http_body_util::BodyExt;
use operetta_apiserver::Server;
use serde_json::Value;

/// The resources of a group version; subresources follow their resource.
type Surface = BTreeMap<String, BTreeSet<String>>;

#[operetta_harness::test]
async fn the_generated_parts_of_the_readme_are_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    let readme = fs::read_to_string(path).expect("there is a README");
    let mut expected = replace(&readme, "test", &fenced("rust", &shown_test()));
    expected = replace(&expected, "go", &fenced("go", &shown("start/start_test.go")));
    expected = replace(&expected, "python", &fenced("python", &shown("start.py")));
    expected = replace(&expected, "help", &fenced("text", &help()));
    expected = replace(&expected, "resources", &table(&served().await, &real()));
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(path, &expected).expect("it can be written");
        return;
    }
    assert!(
        readme == expected,
        "it is outdated: UPDATE_EXPECT=1 cargo test -p operetta-apiserver --test it readme"
    );
}

fn replace(readme: &str, part: &str, text: &str) -> String {
    let begin = format!("<!-- generated: {part} -->\n");
    let (before, rest) = readme.split_once(&begin).expect("the part has a beginning");
    let (_, after) = rest.split_once("<!-- end -->\n").expect("the part has an end");
    format!("{before}{begin}{text}<!-- end -->\n{after}")
}

fn fenced(language: &str, text: &str) -> String {
    format!("\n```{language}\n{}\n```\n\n", text.trim())
}

fn shown_test() -> String {
    let text = include_str!("in_five_lines.rs");
    let (_, rest) = text.split_once("// README: begin\n").expect("it is marked");
    let shown = rest.split_once("// README: end\n").expect("it is marked").0;
    // Readers have no harness of their own.
    shown.replace("operetta_harness::test", "tokio::test")
}

/// The marked lines of a program in another language.
fn shown(file: &str) -> String {
    let path = format!("{}/../tests/clients/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(path).expect("the program is there");
    let lines = text.lines().skip_while(|line| !line.ends_with("README: begin")).skip(1);
    let lines = lines.take_while(|line| !line.ends_with("README: end"));
    lines.map(|line| line.strip_prefix('\t').unwrap_or(line)).collect::<Vec<_>>().join("\n")
}

fn help() -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_operetta-apiserver")).arg("--help").output();
    let text = String::from_utf8(output.expect("it runs").stdout).expect("the help is text");
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n")
}

/// One row per group version, with what is announced and refused, or not there.
fn table(served: &Surface, real: &Surface) -> String {
    let head = "| group version | resources (subresources) | missing |\n|---|---|---|";
    let none = BTreeSet::new();
    let row = |version: &String| {
        let here = served.get(version).unwrap_or(&none);
        let missing = real.get(version).unwrap_or(&none).difference(here);
        let missing: Vec<&str> = missing.map(String::as_str).collect();
        format!("| {version} | {} | {} |", nested(here), missing.join(", "))
    };
    let versions: BTreeSet<&String> = served.keys().chain(real.keys()).collect();
    let rows: Vec<String> = versions.into_iter().map(row).collect();
    format!("\n{head}\n{}\n\n", rows.join("\n"))
}

/// Resources with their subresources in brackets.
fn nested(names: &BTreeSet<String>) -> String {
    let resources = names.iter().filter(|name| !name.contains('/'));
    let with_subresources = |resource: &String| {
        let prefix = format!("{resource}/");
        let inner: Vec<&str> = names.iter().filter_map(|name| name.strip_prefix(&prefix)).collect();
        if inner.is_empty() {
            resource.clone()
        } else {
            format!("{resource} ({})", inner.join(", "))
        }
    };
    let all: Vec<String> = resources.map(with_subresources).collect();
    all.join(", ")
}

/// What this server serves: what it announces, without what it refuses with 501.
async fn served() -> Surface {
    let server = Server::start();
    let mut paths = vec![("v1".to_owned(), "/api/v1".to_owned())];
    for group in list(&get(&server, "/apis").await["groups"]) {
        for version in list(&group["versions"]) {
            let name = text(&version["groupVersion"]);
            paths.push((name.clone(), format!("/apis/{name}")));
        }
    }
    let mut surface = Surface::new();
    for (version, path) in paths {
        let names = surface.entry(version).or_default();
        for resource in list(&get(&server, &path).await["resources"]) {
            if is_implemented(&server, &path, resource).await {
                names.insert(text(&resource["name"]));
            }
        }
    }
    surface
}

/// Whether every verb of a resource leads to anything: 501 is the answer to what is missing.
async fn is_implemented(server: &Server, path: &str, resource: &Value) -> bool {
    let name = text(&resource["name"]);
    let (plural, subresource) = name.split_once('/').unwrap_or((&name, ""));
    let collection = if resource["namespaced"] == true {
        format!("{path}/namespaces/default/{plural}")
    } else {
        format!("{path}/{plural}")
    };
    let object = format!("{collection}/probe/{subresource}");
    for verb in list(&resource["verbs"]).filter_map(Value::as_str) {
        let (method, path) = match verb {
            "create" if subresource.is_empty() => ("POST", &collection),
            "create" => ("POST", &object),
            "list" => ("GET", &collection),
            "get" => ("GET", &object),
            "update" => ("PUT", &object),
            _ => continue,
        };
        let request = Request::builder().method(method).uri(path.trim_end_matches('/'));
        let request = request.header("content-type", "application/json").body(Bytes::from("{}"));
        let code = server.handle(request.expect("it is a request")).await.status().as_u16();
        let is_nowhere = code == 404 && *path == collection;
        if is_nowhere || [405, 501].contains(&code) {
            return false;
        }
    }
    true
}

/// What the real server serves.
fn real() -> Surface {
    let text_of_both = include_str!("../../../tests/controlplane/cmd/extract/discovery/1.37.json");
    let documents: Value = serde_json::from_str(text_of_both).expect("it is JSON");
    let mut surface = Surface::new();
    for group in list(&documents).flat_map(|document| list(&document["items"])) {
        for version in list(&group["versions"]) {
            let name = match group["metadata"]["name"].as_str() {
                Some(group) => format!("{group}/{}", text(&version["version"])),
                None => text(&version["version"]),
            };
            let names = surface.entry(name).or_default();
            for resource in list(&version["resources"]) {
                let resource_name = text(&resource["resource"]);
                let subresources = list(&resource["subresources"]);
                names.extend(
                    subresources.map(|it| format!("{resource_name}/{}", text(&it["subresource"]))),
                );
                names.insert(resource_name);
            }
        }
    }
    surface
}

async fn get(server: &Server, path: &str) -> Value {
    let request = Request::get(path).body(Bytes::new()).expect("it is a request");
    let body = server.handle(request).await.into_body().collect().await.expect("it has a body");
    serde_json::from_slice(&body.to_bytes()).expect("it is JSON")
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().expect("it is a text").to_owned()
}
