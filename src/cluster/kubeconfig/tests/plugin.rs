//! The plugins of kubeconfigs.

use std::{fs, io::Read, os::unix::fs::PermissionsExt, process::Command, time::Duration};

use operetta_harness::Folder;
use secrecy::ExposeSecret;

use super::{
    super::plugin::Plugin,
    folder::{SERVER, login},
};

/// What a plugin that is this script issues, or what is wrong.
async fn issued(folder: &Folder, script: &str, more: &str) -> Result<Option<String>, String> {
    issued_by(&Plugin::default(), folder, script, more).await
}

async fn issued_by(
    plugin: &Plugin,
    folder: &Folder,
    script: &str,
    more: &str,
) -> Result<Option<String>, String> {
    let file = folder.write("plugin", format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(file, PermissionsExt::from_mode(0o755)).unwrap();
    let user = format!(
        "exec: {{command: ./plugin, apiVersion: client.authentication.k8s.io/v1, \
         interactiveMode: Never{more}}}"
    );
    let config = login(folder, "server: https://a:6443", &user)?.config;
    let (user, _) = plugin.log_in(config.auth_info, false).await?;
    Ok(user.token.map(|token| token.expose_secret().to_owned()))
}

const ANSWER: &str =
    r#"{"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1""#;

#[tokio::test]
async fn a_plugin_is_told_what_it_needs_and_issues_a_token() {
    let folder = Folder::new();
    let script = format!(r#"echo '{ANSWER}, "status": {{"token": "'$NAME-$1'"}}}}'"#);
    let more = ", args: [x], env: [{name: NAME, value: v}]";
    assert_eq!(issued(&folder, &script, more).await.unwrap().unwrap(), "v-x");
    let of_info = format!(
        r#"case $KUBERNETES_EXEC_INFO in *'"server":"https://a:6443"'*) t=told;; *) t=not;; esac
           echo '{ANSWER}, "status": {{"token": "'$t'"}}}}'"#
    );
    assert_eq!(issued(&folder, &of_info, "").await.unwrap().unwrap(), "not");
    let told = issued(&folder, &of_info, ", provideClusterInfo: true").await;
    assert_eq!(told.unwrap().unwrap(), "told");
    let yaml = "printf 'kind: ExecCredential\\napiVersion: client.authentication.k8s.io/v1\\n\
                status: {token: t}\\n'";
    assert_eq!(issued(&folder, yaml, "").await.unwrap().unwrap(), "t");
}

#[tokio::test]
async fn what_is_wrong_with_a_plugin_is_said_and_nothing_that_it_prints() {
    let folder = Folder::new();
    let answer = |rest: &str| format!("echo s3cret >&2; echo '{ANSWER}{rest}}}'");
    for (script, expected) in [
        ("echo s3cret; echo s3cret >&2; exit 3".to_owned(), "failed: exit status: 3"),
        ("echo s3cret".to_owned(), "printed no ExecCredential"),
        (r#"echo '{"kind": "Secret", "token": "s3cret"}'"#.to_owned(), "no ExecCredential"),
        (answer("").replace("/v1", "/v1beta1"), "answered in another version"),
        (answer(""), "printed no `status`"),
        (answer(r#", "status": {}"#), "printed no token and no certificate"),
        (answer(r#", "status": {"token": "s3cret\u0007"}"#), "that no header can carry"),
        (answer(r#", "status": {"clientKeyData": "s3cret"}"#), "or a key alone"),
        (
            answer(r#", "status": {"clientKeyData": "s3cret", "clientCertificateData": "s3cret"}"#),
            "no certificate in PEM",
        ),
        (answer(r#", "status": {"token": "s3cret", "expirationTimestamp": "soon"}"#), "printed no"),
        ("yes s3cret".to_owned(), "printed more than"),
    ] {
        let more = ", args: [s3cret], env: [{name: s3cret, value: s3cret}], installHint: get it";
        let why = issued(&folder, &script, more).await.unwrap_err();
        assert!(why.contains(expected) && why.contains("plugin\" "), "{why}");
        assert!(!why.contains("s3cret") && why.ends_with("; get it"), "{why}");
    }
    let user = "exec: {command: operetta-no-such-plugin, interactiveMode: Never, \
                apiVersion: client.authentication.k8s.io/v1, installHint: \"get it\\e[1m\"}";
    let user = login(&folder, SERVER, user).unwrap().config.auth_info;
    let why = Plugin::default().log_in(user, false).await.unwrap_err();
    assert!(why.contains("cannot be run") && why.ends_with("; get it [1m"), "{why}");
}

#[tokio::test]
async fn a_plugin_does_not_run_beside_other_credentials() {
    let folder = Folder::new();
    assert_eq!(
        issued(&folder, "exit 1", "}\ntoken: t\nusername: ''\nx: {").await.unwrap().unwrap(),
        "t"
    );
}

/// A plugin that never ends, with a process in the background. Both hold a pipe open.
struct Hanging {
    folder: Folder,
    both_ends: fs::File,
    reader: fs::File,
}

impl Hanging {
    fn new() -> Self {
        let folder = Folder::new();
        let pipe = folder.join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let both_ends = fs::OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
        let reader = fs::File::open(&pipe).unwrap();
        Self { folder, both_ends, reader }
    }

    async fn run(&self, plugin: &Plugin) -> String {
        let pipe = self.folder.join("pipe");
        let script = format!("exec 9>'{}'; sleep 600 & echo >&9; sleep 600", pipe.display());
        issued_by(plugin, &self.folder, &script, "").await.unwrap_err()
    }

    /// Waits until both run.
    async fn begun(&self) {
        let mut reader = self.reader.try_clone().unwrap();
        let read = tokio::task::spawn_blocking(move || reader.read_exact(&mut [0]).unwrap());
        read.await.unwrap();
    }

    /// Waits until both have ended. Returns what they wrote.
    async fn ended(self) -> String {
        let Self { folder: _folder, both_ends, reader } = self;
        drop(both_ends);
        let read = tokio::task::spawn_blocking(move || std::io::read_to_string(reader).unwrap());
        read.await.unwrap()
    }
}

#[tokio::test]
async fn a_plugin_that_hangs_is_named_and_killed_with_what_it_started() {
    let hanging = Hanging::new();
    let why = hanging.run(&Plugin::within(Duration::from_secs(2))).await;
    assert!(why.contains("plugin\" has not ended within 2 s, and was killed"), "{why}");
    assert_eq!(hanging.ended().await, "\n", "it had begun");
}

#[tokio::test]
async fn a_plugin_that_nobody_waits_for_is_killed() {
    let (hanging, plugin) = (Hanging::new(), Plugin::default());
    tokio::select! {
        () = hanging.begun() => {}
        why = hanging.run(&plugin) => panic!("{why}"),
    }
    hanging.ended().await;
}

#[tokio::test]
async fn a_plugin_is_killed_at_the_end_of_the_process_and_not_run_again() {
    let (hanging, plugin) = (Hanging::new(), Plugin::default());
    let end = async {
        hanging.begun().await;
        plugin.end();
    };
    let (why, ()) = tokio::join!(hanging.run(&plugin), end);
    assert!(why.contains("was killed: this process ends"), "{why}");
    hanging.ended().await;
    let folder = Folder::new();
    let why = issued_by(&plugin, &folder, "touch run", "").await.unwrap_err();
    assert!(why.contains("was killed: this process ends"), "{why}");
}
