//! Credential plugins that are run by the supervisor, and those of a client that a program made itself.

use std::{fs, os::unix::fs::PermissionsExt};

use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use operetta::{election::LeaderElection, prelude::*, supervisor::SupervisorBuilder};
use operetta_apiserver::{Running, Server};
use operetta_harness::Folder;
use serde_json::{Value, json};

use crate::{
    recipe,
    world::{Operators, eventually},
};

/// What no text may have.
const SECRET: &str = "s3cret-of-a-plugin";

/// A kubeconfig of a server, with a plugin that is a script.
struct Plugin {
    folder: Folder,
    server: Server,
    _running: Running,
}

impl Plugin {
    /// In the script `$ANSWER` is the answer with the token of the administrator, which expires then.
    fn new(script: &str, expires: &str) -> Self {
        let folder = Folder::new();
        let server = Server::start();
        let running = server.serve("127.0.0.1:0".parse().unwrap()).unwrap();
        let mut kubeconfig: Value = serde_yaml_ng::from_str(running.kubeconfig()).unwrap();
        let api = "client.authentication.k8s.io/v1";
        let status = json!({
            "token": kubeconfig["users"][0]["user"]["token"], "expirationTimestamp": expires,
        });
        let answer = json!({"kind": "ExecCredential", "apiVersion": api, "status": status});
        let user = json!({"exec": {
            "command": "./plugin", "args": [SECRET], "apiVersion": api, "interactiveMode": "Never",
            "env": [{"name": "ANSWER", "value": answer.to_string()}],
            "installHint": "it is at example.com",
        }});
        kubeconfig["users"][0]["user"] = user;
        folder.write("kubeconfig", kubeconfig.to_string());
        let script = format!("#!/bin/sh\ncd '{}'\n{script}\n", folder.display());
        let file = folder.write("plugin", script);
        fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
        Self { folder, server, _running: running }
    }

    fn connect(&self) -> Connect {
        Connect::kubeconfig_file(self.folder.join("kubeconfig"))
    }

    async fn config(&self) -> Config {
        let kubeconfig = Kubeconfig::read_from(self.folder.join("kubeconfig")).unwrap();
        let options = KubeConfigOptions::default();
        Config::from_custom_kubeconfig(kubeconfig, &options).await.unwrap()
    }

    /// As a supervisor has it in production.
    async fn start(&self, builder: SupervisorBuilder) -> Result<Operators, String> {
        let crd = recipe::crd(Some(recipe::status()));
        operetta::supervisor::install_crds(&self.server.client(), &[crd]).await.unwrap();
        let election = LeaderElection::new("cooks").in_namespace("default");
        let builder = builder.leader_election(election).serve("127.0.0.1:0");
        let builder = builder.register(recipe::config("cook"), recipe::handler());
        let started = builder.start().await;
        started.map(Operators::new).map_err(|error| format!("{error} {error:?}"))
    }
}

const LATER: &str = "2100-01-01T00:00:00Z";

#[operetta_harness::test]
async fn a_plugin_is_run_once_for_all_connections_of_a_start() {
    for is_config in [false, true] {
        let plugin = Plugin::new("echo >> runs; echo \"$ANSWER\"", LATER);
        let builder = Supervisor::builder();
        let config = plugin.config().await;
        let builder = if is_config {
            builder.connect(|| async { Ok(config) })
        } else {
            builder.connect_to(plugin.connect())
        };
        let operators = plugin.start(builder).await.unwrap();
        let leads = || async { operators.http("/metrics").await.1 };
        let is_leading =
            |text: &String| text.contains("operetta_leader{lease=\"default/cooks\"} 1");
        eventually("that it leads", leads, is_leading).await;
        operators.stop().await;
        assert_eq!(fs::read_to_string(plugin.folder.join("runs")).unwrap(), "\n", "{is_config}");
    }
}

#[operetta_harness::test]
async fn what_a_plugin_prints_is_in_no_error_of_a_start() {
    let script = format!("echo {SECRET}; echo {SECRET} >&2; exit 3");
    let plugin = Plugin::new(&script, LATER);
    let (config, own) = (plugin.config().await, plugin.config().await);
    let ours = "its plugin";
    for (builder, expected) in [
        (Supervisor::builder().connect_to(plugin.connect()), ours),
        (Supervisor::builder().connect(|| async { Ok(config) }), ours),
        (
            Supervisor::builder().connect(|| async { Ok(Client::try_from(own)?) }),
            "the credential plugin of the kubeconfig",
        ),
    ] {
        let Err(why) = plugin.start(builder).await else { panic!("it starts") };
        assert!(why.contains(expected) && why.contains("failed: exit status: 3"), "{why}");
        assert!(!why.contains(SECRET), "{why}");
        if expected == ours {
            assert!(why.contains("plugin\" ") && why.contains("; it is at example.com"), "{why}");
        }
    }
}

#[operetta_harness::test]
async fn what_a_plugin_prints_later_is_shown_nowhere() {
    let script = format!("if [ -e fails ]; then echo {SECRET}; exit 3; fi; echo \"$ANSWER\"");
    // kube runs it for each request.
    let plugin = Plugin::new(&script, "2000-01-01T00:00:00Z");
    let own = plugin.config().await;
    let builder = Supervisor::builder().connect(|| async { Ok(Client::try_from(own)?) });
    let operators = plugin.start(builder).await.unwrap();
    operators.running().ready().await;
    plugin.folder.write("fails", "");
    let operator = || async { operators.http("/api/v1/operators/cook").await.1 };
    let is_failing = |text: &String| text.contains("failed: exit status: 3");
    eventually("the failure of the plugin", operator, is_failing).await;
    for path in ["/readyz?verbose", "/api/v1/operators", "/api/v1/operators/cook", "/", "/metrics"]
    {
        let (_, shown) = operators.http(path).await;
        assert!(!shown.contains(SECRET), "{path}: {shown}");
    }
    operators.stop().await;
}

/// It would be sent with a header, which cannot have it.
#[operetta_harness::test]
async fn a_token_of_a_configuration_with_a_line_break_is_an_error_that_names_it() {
    let plugin = Plugin::new("exit 1", LATER);
    for token in [format!("{SECRET}\n"), format!("{SECRET}\u{7}")] {
        let mut config = plugin.config().await;
        (config.auth_info.exec, config.auth_info.token) = (None, Some(token.into()));
        let builder = Supervisor::builder().connect(|| async { Ok(config) });
        let Err(why) = plugin.start(builder).await else { panic!("it starts") };
        assert!(why.contains("`token` has a line break"), "{why}");
        assert!(!why.contains(SECRET), "{why}");
    }
}
