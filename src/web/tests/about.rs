//! `/version` and `/debug/config`.

use std::{fs, time::Duration};

use actix_web::http::Method;
use rcgen::{CertificateParams, KeyPair};
use serde_json::json;

use super::{
    access::with_token, ask_through, get, open_gate, request, reviewer::Reviewer, world::World,
};
use crate::{
    cluster::{ClusterSettings, Timeouts},
    web::{Auth, Tls, request_rules::RequestRules, views::ServingView},
};

#[actix_web::test]
async fn the_version_names_the_framework_and_the_program() {
    let mut state = World::running().state;
    let version = get(&state, "/version").await.json();
    assert_eq!(version["gitVersion"], concat!("v", env!("CARGO_PKG_VERSION")));
    assert!(version["platform"].as_str().unwrap().contains('/'), "{version}");
    assert_eq!(version.get("program"), None);
    state.program.name = Some(("operators".to_owned(), "1.2.3".to_owned()));
    let version = get(&state, "/version").await.json();
    assert_eq!(version["program"], json!({"name": "operators", "version": "1.2.3"}));
}

#[actix_web::test]
async fn the_configuration_of_the_process_is_shown() {
    let mut state = World::running().state;
    let timeouts = Timeouts {
        request: Duration::from_secs(7),
        silence: Duration::from_secs(70),
        watch: Duration::from_secs(700),
    };
    state.program.settings = ClusterSettings {
        timeouts,
        deletions_held: Duration::from_secs(90),
        streaming_lists: true,
    };
    let config = get(&state, "/debug/config").await.json();
    assert_eq!(
        config["timeouts"],
        json!({"requestSeconds": 7.0, "silenceSeconds": 70.0, "watchSeconds": 700.0})
    );
    assert_eq!(config["deletionsHeldSeconds"], 90.0);
    assert_eq!(config["streamingLists"], true);
    let operator = &config["operators"][0];
    assert_eq!([&operator["name"], &operator["parent"]["kind"]], ["echo-server", "EchoServer"]);
    assert_eq!(operator["labels"]["managedBy"], "app.kubernetes.io/managed-by");
    assert_eq!(operator["limits"]["debounceSeconds"], 0.0);
    assert_eq!([&config["web"]["logLevel"], &config["web"]["ownRoutes"]], [false, false]);
}

#[actix_web::test]
async fn the_configuration_of_the_endpoint_is_shown() {
    let world = World::running();
    let web = get(&world.state, "/debug/config").await.json()["web"].clone();
    assert_eq!(
        [&web["access"], &web["loopbackNamesOnly"]],
        [&json!({"mode": "none"}), &json!(true)]
    );
    assert_eq!([web.get("tls"), web.get("listen")], [None, None]);
    let expected = json!({
        "connections": 1536, "connectionsPerPeer": 1152, "connectionsForProbes": 64,
        "pathAndQueryBytes": 8192, "headerBytes": 16384, "bodyBytes": 65536,
        "headerSeconds": 5.0, "bodySeconds": 5.0, "idleSeconds": 60.0, "stalledSeconds": 30.0,
    });
    assert_eq!(web["limits"], expected);
    let rules = Reviewer::default().gate_of(Auth::Delegated { audiences: vec!["us".to_owned()] });
    let rules = RequestRules { address: Some("127.0.0.1:8080".parse().unwrap()), ..rules };
    let asked = with_token(request(Method::GET, "/debug/config"), "token-of-ann");
    let web = ask_through(rules, &world.state, asked).await.json()["web"].clone();
    let expected = json!({
        "mode": "delegated", "audiences": ["us"],
        "sessions": {
            "max": 1024, "maxPerUser": 8, "lifeSeconds": 43200.0, "idleSeconds": 3600.0,
            "maxFailures": 10,
        },
    });
    assert_eq!((&web["access"], &web["listen"]), (&expected, &json!("127.0.0.1:8080")));
}

#[test]
fn certificate_files_are_named_and_their_contents_are_not_shown() {
    let folder = operetta_harness::Folder::new();
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let certificate = params.self_signed(&key).unwrap().pem();
    let (at, key_at) = (folder.join("tls.crt"), folder.join("tls.key"));
    fs::write(&at, &certificate).unwrap();
    fs::write(&key_at, key.serialize_pem()).unwrap();
    let shown = |tls: Tls| {
        let certificates = tls.load().unwrap();
        serde_json::to_value(ServingView::new(&open_gate(), Some(&certificates))).unwrap()
    };
    let from_files = shown(Tls::from_files(&at, &key_at));
    let given = shown(Tls::from_pem(certificate.clone(), key.serialize_pem()));
    let expected =
        json!({"certificateFile": at.to_str(), "keyFile": key_at.to_str(), "checkSeconds": 10.0});
    assert_eq!(from_files["tls"], expected);
    assert_eq!(given["tls"], json!({}));
    let line = |pem: &str| pem.lines().nth(1).unwrap().to_owned();
    for secret in [line(&key.serialize_pem()), line(&certificate)] {
        assert!(!from_files.to_string().contains(&secret));
    }
}
