//! The commands that ask a running process: `status`, `explain`, `pause`, `resume`, `sync`.

use std::{fs, path::PathBuf, process::Command, time::Instant};

use kube::{Api, Client};
use operators::echo_server::EchoServer;
use rcgen::{CertificateParams, KeyPair};
use serde_json::Value;

use super::{DEADLINE, all, all_synced, create_one, is_ready};
use crate::{
    cluster::{client_of, new_folder},
    program::{Program, output, output_with},
    transcript::Transcript,
};

mod forwarded;

/// A running process on an embedded server of its own, with the parent `default/hello`.
pub(super) struct Asked {
    program: Program,
    folder: PathBuf,
    /// Scheme, host and port.
    pub(super) server: String,
}

impl Asked {
    pub(super) async fn start(flags: &[&str]) -> Self {
        let folder = new_folder();
        let mut program = Program::start_in(&folder, flags);
        let announced = program.ready().await;
        let server =
            announced.split("Dashboard: ").nth(1).and_then(|rest| rest.split("/\n").next());
        let server = server.expect("an address").to_owned();
        let asked = Self { program, folder, server };
        let parents = asked.parents().await;
        create_one(&parents, "hello".to_owned()).await;
        all(&parents, is_ready).await;
        asked
    }

    pub(super) async fn client(&self) -> Client {
        client_of(&self.kubeconfig()).await
    }

    pub(super) fn kubeconfig(&self) -> PathBuf {
        self.folder.join("target/operetta/kubeconfig")
    }

    async fn parents(&self) -> Api<EchoServer> {
        Api::default_namespaced(self.client().await)
    }

    /// The token of the embedded server's user.
    fn token(&self) -> String {
        let kubeconfig = fs::read_to_string(self.kubeconfig()).unwrap();
        let kubeconfig: Value = serde_yaml_ng::from_str(&kubeconfig).unwrap();
        kubeconfig["users"][0]["user"]["token"].as_str().unwrap().to_owned()
    }

    /// Waits until the process shows the parent as ready: its status is written before its reconcile has ended.
    async fn until_shown_as_ready(&self) {
        let started = Instant::now();
        loop {
            let shown = self.answer(&["status", "echo-server", "default/hello"]).await;
            if shown.contains(" ready") {
                return;
            }
            assert!(started.elapsed() < DEADLINE, "it is never shown as ready: {shown}");
        }
    }

    async fn asks(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        output(&[arguments, &["--server", &self.server]].concat()).await
    }

    /// The answer of a command that succeeds.
    async fn answer(&self, arguments: &[&str]) -> String {
        let (code, printed, errors) = self.asks(arguments).await;
        assert_eq!((code, &*errors), (Some(0), ""), "{arguments:?}: {printed}");
        printed
    }

    /// The error of a command that fails.
    async fn error(&self, arguments: &[&str]) -> String {
        let (code, printed, errors) = self.asks(arguments).await;
        assert_eq!((code, &*printed), (Some(1), ""), "{arguments:?}: {errors}");
        errors
    }
}

/// `UPDATE_EXPECT=1` writes the transcript.
#[operetta_harness::test]
async fn a_first_session_is_that_of_the_transcript() {
    let asked = Asked::start(&["--only", "echo-server,temp-namespace"]).await;
    asked.until_shown_as_ready().await;
    let file =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/testdata/operators/first-session.txt");
    let expected = fs::read_to_string(file).unwrap();
    let program = PathBuf::from(env!("CARGO_BIN_EXE_operators"));
    let (folder, server) = (asked.folder.clone(), asked.server.clone());
    let shell = move || {
        let mut shell = Command::new("sh");
        let path = format!("{}:/usr/bin:/bin", program.parent().unwrap().display());
        shell.current_dir(&folder).env("PATH", path).env("OPERETTA_SERVER", &server);
        shell
    };
    let transcript = Transcript::read(&expected);
    let seen = tokio::task::spawn_blocking(move || transcript.play(&shell)).await.unwrap();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(file, seen).unwrap();
    } else {
        let (expected, seen) = (Transcript::read(&expected), Transcript::read(&seen));
        let differences: Vec<String> = expected.differences(&seen).collect();
        assert!(differences.is_empty(), "\n{}", differences.join("\n"));
    }
}

#[operetta_harness::test]
async fn the_answers_are_also_data() {
    let asked = Asked::start(&[]).await;
    asked.until_shown_as_ready().await;
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let operators = read(&asked.answer(&["status", "-o", "json"]).await);
    let mut listed = operators["items"].as_array().unwrap().iter();
    assert!(listed.any(|operator| operator["name"] == "echo-server"), "{operators}");
    let parents = read(&asked.answer(&["status", "echo-server", "-o", "json"]).await);
    assert_eq!(parents["items"][0]["name"], "hello");
    let explained = asked.answer(&["explain", "echo-server", "default/hello", "-o", "yaml"]).await;
    let explained: Value = serde_yaml_ng::from_str(&explained).unwrap();
    assert_eq!(explained["conditions"][0]["status"], "True", "{explained:#}");
    let wide = asked.answer(&["status", "-o", "wide"]).await;
    assert!(wide.contains("EchoServer"), "{wide}");
    let with = ["explain", "echo-server", "default/hello", "--diff", "--events"];
    let explained = asked.answer(&with).await;
    assert!(explained.contains("Pod default/hello"), "{explained}");
    let none = asked.answer(&["status", "echo-server", "--phase", "failing"]).await;
    assert_eq!(none, "The operator echo-server has no such parents.\n");
}

#[operetta_harness::test]
async fn commands_change_what_the_process_does() {
    let asked = Asked::start(&[]).await;
    let parents = asked.parents().await;
    let is_paused = async || {
        let hello = parents.get("hello").await.unwrap();
        hello.metadata.annotations.is_some_and(|it| it.contains_key("operetta.dev/paused"))
    };
    asked.answer(&["pause", "echo-server", "default/hello"]).await;
    assert!(is_paused().await);
    asked.answer(&["resume", "echo-server", "default/hello"]).await;
    assert!(!is_paused().await);
    asked.answer(&["pause", "echo-server"]).await;
    let status = asked.answer(&["status"]).await;
    assert!(status.contains("running, paused"), "{status}");
    asked.answer(&["resume", "echo-server"]).await;
    create_one(&parents, "second".to_owned()).await;
    all_synced(&parents).await;
    let synced = asked.answer(&["sync", "echo-server"]).await;
    let lines: Vec<&str> = synced.lines().collect();
    assert!(lines.len() == 2 && lines.iter().all(|it| it.contains("it is reconciled")), "{synced}");
    let log = asked.program.log();
    assert_eq!(log.matches("/sync").count(), 2, "the audit log has each: {log}");
}

#[operetta_harness::test]
async fn an_error_names_what_does_not_exist_and_what_was_meant() {
    let asked = Asked::start(&[]).await;
    for (arguments, sentence) in [
        (
            &["status", "echo-sever"][..],
            "`echo-sever` does not exist at <>; did you mean `echo-server`?",
        ),
        (&["pause", "nobody"], "`nobody` does not exist at <>; known are `config-propagation`, "),
        (
            &["explain", "echo-server", "default/helo"],
            "`echo-server` has no parent `default/helo`; did you mean `default/hello`?",
        ),
        (
            &["sync", "echo-server", "shop/hello"],
            "`echo-server` has no parent `shop/hello`; did you mean `default/hello`?",
        ),
        (&["explain", "echo-server", "hello"], "the path must end with /NAMESPACE/NAME"),
        (&["status", "echo-server", "--phase", "odd"], "phase: `odd` is not one of pending, "),
    ] {
        let error = asked.error(arguments).await;
        let sentence = sentence.replace("<>", &asked.server);
        assert!(
            error.starts_with("error: ") && error.contains(&sentence),
            "{arguments:?}: {error}"
        );
    }
}

#[operetta_harness::test]
async fn a_process_that_cannot_be_asked_is_an_error_with_what_to_do() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let nobody = format!("http://{port}");
    let (code, _, error) = output(&["status", "--server", &nobody]).await;
    let expected = format!("error: nothing listens at {nobody}: start `operators run`, or give ");
    assert!(code == Some(1) && error.starts_with(&expected), "{error}");
    let far = ["status", "--server", "http://ops.example:8080"];
    let (code, _, error) = output_with(&[("OPERETTA_TOKEN", "secret")], &far).await;
    assert!(code == Some(1) && error.contains("in clear text"), "{error}");
    assert!(!error.contains("secret"), "{error}");
    for token in ["se\ncret", "se\u{7}cret"] {
        let (code, _, error) = output_with(&[("OPERETTA_TOKEN", token)], &["status"]).await;
        assert!(code == Some(1) && error.contains("OPERETTA_TOKEN has a character"), "{error}");
        assert!(!error.contains("cret"), "{error}");
    }
    let far = "http://me:s3cret@ops.example";
    for (server, expected) in [(far, "in clear text"), ("http://me:s3cret@127.0.0.1:1", ":1")] {
        let (code, _, error) = output(&["status", "--server", server]).await;
        assert!(code == Some(1) && error.contains(expected), "{error}");
        assert!(!error.contains("s3cret"), "{error}");
    }
    let (code, _, error) = output(&["status", "--token-file", "/nonexistent/token"]).await;
    assert!(code == Some(1) && error.contains("--token-file /nonexistent/token"), "{error}");
    let (code, _, error) = output(&["status", "--server", "localhost:8080"]).await;
    assert!(code == Some(1) && error.contains("http://HOST:PORT"), "{error}");
}

#[operetta_harness::test]
async fn a_process_that_asks_for_a_token_gets_it_over_tls() {
    let folder = new_folder();
    let key = KeyPair::generate().unwrap();
    let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
    let certificate = CertificateParams::new(names).unwrap().self_signed(&key).unwrap();
    let (cert_file, key_file) = (folder.join("cert.pem"), folder.join("key.pem"));
    fs::write(&cert_file, certificate.pem()).unwrap();
    fs::write(&key_file, key.serialize_pem()).unwrap();
    let (cert, key) = (cert_file.to_str().unwrap(), key_file.to_str().unwrap());
    let asked = Asked::start(&["--auth", "delegated", "--tls-cert", cert, "--tls-key", key]).await;

    let error = asked.error(&["status"]).await;
    assert!(error.contains("is not trusted: ") && error.contains("by --ca-file"), "{error}");
    let error = asked.error(&["status", "--ca-file", cert]).await;
    assert!(error.contains("needs a token: give it by --token-file"), "{error}");
    let token = folder.join("token");
    let with_token = ["status", "--ca-file", cert, "--token-file", token.to_str().unwrap()];
    fs::write(&token, "wrong\n").unwrap();
    let error = asked.error(&with_token).await;
    assert!(error.contains("refuses the token: ") && !error.contains("wrong"), "{error}");
    fs::write(&token, format!("{}\n", asked.token())).unwrap();
    assert!(asked.answer(&with_token).await.contains("echo-server"));
    let pause = ["pause", "echo-server", "--insecure-skip-tls-verify", "--server", &asked.server];
    let (code, _, error) = output_with(&[("OPERETTA_TOKEN", &asked.token())], &pause).await;
    assert_eq!(code, Some(0), "{error}");
}

#[operetta_harness::test]
async fn every_flag_is_a_variable_too() {
    let asked = Asked::start(&["--only", "echo-server"]).await;
    let variables = [("OPERETTA_SERVER", &*asked.server), ("OPERETTA_OUTPUT", "json")];
    let (code, printed, error) = output_with(&variables, &["status"]).await;
    assert_eq!(code, Some(0), "{error}");
    let printed: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(printed["items"].as_array().unwrap().len(), 1, "--only: {printed:#}");
    // A variable of another command: the process is asked, and nothing is run.
    let variables =
        [("OPERETTA_SERVER", &*asked.server), ("OPERETTA_LEADER_ELECT_LEASE_DURATION", "5")];
    assert_eq!(output_with(&variables, &["status"]).await.0, Some(0));
    let (_, help, _) =
        output_with(&[("OPERETTA_SERVER", "http://hidden")], &["status", "--help"]).await;
    assert!(help.contains("[env: OPERETTA_SERVER]"), "{help}");
    assert!(
        help.contains("[default: http://127.0.0.1:8080]") && !help.contains("hidden"),
        "{help}"
    );
    let (code, _, error) = output_with(&[("OPERETTA_ONLY", "echo-sever")], &[]).await;
    assert!(code == Some(1) && error.contains("did you mean `echo-server`?"), "{error}");
}

#[operetta_harness::test]
async fn usage_errors_completions_and_the_version_need_no_process() {
    let (code, _, error) = output(&["plan", "--nonsense"]).await;
    assert!(code == Some(1) && error.contains("--nonsense"), "2 is for changes: {error}");
    let (code, version, _) = output(&["--version"]).await;
    let expected = format!("operators {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!((code, version), (Some(0), expected));
    for shell in ["bash", "zsh", "fish"] {
        let (code, script, _) = output(&["completions", shell]).await;
        assert!(code == Some(0) && script.contains("explain"), "{script}");
    }
}
