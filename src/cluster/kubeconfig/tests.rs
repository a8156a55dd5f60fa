//! Kubeconfigs as kubectl reads them; what is expected was seen with kubectl 1.36.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
};

use rcgen::{CertificateParams, KeyPair};
use secrecy::ExposeSecret;

use super::{authority::encoded, plugin::Plugin, *};

/// A folder of its own, which is removed with it.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("operetta-kubeconfigs-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let file = self.0.join(name);
        fs::write(&file, content).unwrap();
        file
    }

    /// A certificate and its key, in PEM.
    fn identity(&self, name: &str) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(vec![name.to_owned()]).unwrap();
        let (pem, key) = (certificate.self_signed(&key).unwrap().pem(), key.serialize_pem());
        self.write(&format!("{name}.crt"), &pem);
        self.write(&format!("{name}.key"), &key);
        (pem, key)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// One context `a` of this cluster and this user, and a second one.
fn kubeconfig(cluster: &str, user: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: a\n\
         contexts: [{{name: a, context: {{cluster: c, user: u}}}}, {{name: b, context: {{cluster: c}}}}]\n\
         clusters:\n- name: c\n  cluster:\n    {}\n\
         users:\n- name: u\n  user:\n    {}\n",
        cluster.replace('\n', "\n    "),
        user.replace('\n', "\n    "),
    )
}

const SERVER: &str = "server: https://a:6443";

fn of(files: &[PathBuf]) -> Result<Login, String> {
    of_files(files, None, &Environment::default()).map_err(|error| error.to_string())
}

fn login(folder: &Folder, cluster: &str, user: &str) -> Result<Login, String> {
    of(&[folder.write("config", kubeconfig(cluster, user))])
}

/// The text of a block, indented.
fn block(text: &str) -> String {
    text.lines().fold("|".to_owned(), |block, line| format!("{block}\n  {line}"))
}

fn wrapped(pem: &str, line_break: &str) -> String {
    let encoded = encoded(pem.as_bytes());
    let lines: Vec<_> =
        encoded.as_bytes().chunks(64).map(|it| String::from_utf8_lossy(it)).collect();
    lines.join(line_break)
}

#[test]
fn line_breaks_in_base64_count_for_nothing() {
    let folder = Folder::new();
    let (ca, _) = folder.identity("ca");
    let (certificate, key) = folder.identity("me");
    for quoted in [
        |pem: &str| block(&wrapped(pem, "\n")),
        |pem: &str| format!("\"{}\"", wrapped(pem, "\\r\\n")),
        |pem: &str| encoded(pem.as_bytes()),
    ] {
        let cluster = format!("{SERVER}\ncertificate-authority-data: {}", quoted(&ca));
        let user = format!(
            "client-certificate-data: {}\nclient-key-data: {}",
            quoted(&certificate),
            quoted(&key)
        );
        let config = login(&folder, &cluster, &user).unwrap().config;
        assert_eq!(config.root_cert.as_ref().unwrap().len(), 1);
        kube::client::ConfigExt::rustls_client_config(&config).unwrap();
    }
    let spaced = format!("{SERVER}\ncertificate-authority-data: '{}'", wrapped(&ca, " "));
    let why = login(&folder, &spaced, "{}").unwrap_err();
    assert!(why.contains("`certificate-authority-data` is not base64"), "{why}");
}

#[test]
fn a_file_of_a_list_that_is_missing_counts_for_nothing() {
    let folder = Folder::new();
    let first = folder.write("first", "users: [{name: u, user: {token: first}}]");
    let second = folder.write("second", kubeconfig(SERVER, "token: second"));
    let (empty, missing) = (folder.write("empty", ""), folder.0.join("missing"));
    let login = of(&[missing.clone(), empty.clone(), first.clone(), second.clone()]).unwrap();
    let token = login.config.auth_info.token.unwrap();
    assert_eq!(token.expose_secret(), "first", "of two entries the first counts");
    assert!(login.user.ends_with(&format!("of the kubeconfig {}", first.display())));
    let why = of(&[missing.clone(), folder.0.join("neither")]).unwrap_err();
    assert!(why.contains("missing") && why.contains("neither do not exist"), "{why}");
    let why = of(std::slice::from_ref(&missing)).unwrap_err();
    assert!(why.contains("missing does not exist"), "{why}");
    let why = of(std::slice::from_ref(&empty)).unwrap_err();
    assert!(why.contains("`current-context` of") && why.contains("empty is not set"), "{why}");
    let why = of(std::slice::from_ref(&folder.0)).unwrap_err();
    assert!(why.contains("directory") && why.contains(folder.0.to_str().unwrap()), "{why}");
}

#[test]
fn the_list_is_that_of_the_environment_without_empty_elements() {
    let list = |text: &str| files(None, Some(text.as_ref())).unwrap();
    assert_eq!(list(":/a::/b:"), [Path::new("/a"), Path::new("/b")]);
    for default in ["", ":"] {
        assert!(list(default)[0].ends_with(".kube/config"), "{default}");
    }
    assert_eq!(files(Some(Path::new("/c")), Some("/a".as_ref())).unwrap(), [Path::new("/c")]);
}

#[test]
fn a_file_that_is_no_kubeconfig_is_named_with_its_line_and_not_quoted() {
    let folder = Folder::new();
    for (text, expected) in [
        ("clusters:\n- name: c\n  cluster: {server: [s3cret\nusers: []\n", ", line "),
        ("users:\n- name: u\n  user: s3cret\n", ", line 3: "),
        ("kind: Secret\ndata: {a: s3cret}\n", "its `kind` is not `Config`"),
        ("apiVersion: v2\n", "its `apiVersion` is not `v1`"),
        ("users: [{name: u}, {name: u}]\n", "user \"u\" of the kubeconfig"),
        ("\u{0}s3cret", ""),
    ] {
        let file = folder.write("config", text);
        let why = of(std::slice::from_ref(&file)).unwrap_err();
        assert!(why.contains(expected) && why.contains(file.to_str().unwrap()), "{why}");
        assert!(!why.contains("s3cret"), "{why}");
    }
}

#[test]
fn a_context_that_cannot_be_used_is_named() {
    let folder = Folder::new();
    let contexts = "contexts: [{name: a, context: {cluster: x, user: u}}, \
                    {name: b, context: {cluster: c, user: y}}, {name: d}, \
                    {name: e, context: {cluster: ''}}]\n\
                    clusters: [{name: c, cluster: {server: 'https://a'}}, {name: f}]\n";
    for (context, expected) in [
        ("a", "context \"a\" of the kubeconfig"),
        ("a", "its cluster \"x\" does not exist"),
        ("b", "its user \"y\" does not exist"),
        ("d", "`context` is empty"),
        ("e", "it names no cluster"),
        ("z", "there is no context \"z\" in"),
        ("z", "known are a, b, d, e"),
        ("", "`current-context` of"),
        ("", "known are a, b, d, e"),
    ] {
        let file = folder.write("config", format!("current-context: \"{context}\"\n{contexts}"));
        let why = of(std::slice::from_ref(&file)).unwrap_err();
        assert!(why.contains(expected) && why.contains(file.to_str().unwrap()), "{why}");
        let plain = folder.write("plain", contexts);
        let named = of_files(&[plain], Some(context), &Environment::default());
        assert!(named.unwrap_err().to_string().contains(expected));
    }
}

#[test]
fn what_is_wrong_with_a_cluster_is_said() {
    let folder = Folder::new();
    let (ca, _) = folder.identity("ca");
    let data = encoded(ca.as_bytes());
    for (cluster, expected) in [
        ("{}".to_owned(), "it has no `server`"),
        ("server: ''".to_owned(), "it has no `server`"),
        ("server: unix:///run/s".to_owned(), "`server`"),
        ("server: 'a/path'".to_owned(), "has a path and no scheme"),
        (format!("{SERVER}\ncertificate-authority: /none.crt"), "/none.crt cannot be read"),
        (format!("{SERVER}\ncertificate-authority-data: '?'"), "is not base64"),
        (format!("{SERVER}\ncertificate-authority-data: aGVsbG8="), "no certificate in PEM"),
        (
            format!("{SERVER}\ncertificate-authority-data: {data}\ncertificate-authority: ca.crt"),
            "are both set",
        ),
        (
            format!("{SERVER}\ninsecure-skip-tls-verify: true\ncertificate-authority: ca.crt"),
            "`insecure-skip-tls-verify` is set",
        ),
        (format!("{SERVER}\nproxy-url: 'ftp://s3cret@p'"), "`proxy-url` has a scheme other"),
        (format!("{SERVER}\nproxy-url: 'p:3128'"), "`proxy-url` has a scheme other"),
        (format!("{SERVER}\ntls-server-name: 'a b'"), "`tls-server-name` is no name"),
    ] {
        let why = login(&folder, &cluster, "{}").unwrap_err();
        assert!(why.contains(expected) && why.contains("cluster \"c\" of the kubeconfig"), "{why}");
        assert!(!why.contains("s3cret"), "{why}");
    }
}

#[test]
fn what_is_wrong_with_a_user_is_said_and_not_quoted() {
    let folder = Folder::new();
    let (_, _) = (folder.identity("me"), folder.identity("other"));
    folder.write("no-token", "\n");
    folder.write("odd-token", "s3cret\u{7}s3cret");
    folder.write("no.crt", "s3cret");
    let exec = |more: &str| format!("exec: {{command: plugin{more}}}");
    let v1 = ", apiVersion: client.authentication.k8s.io/v1";
    for (user, expected) in [
        ("tokenFile: missing".to_owned(), "missing cannot be read"),
        ("tokenFile: no-token".to_owned(), "no-token is empty"),
        ("tokenFile: odd-token".to_owned(), "odd-token has a character"),
        ("token: |\n  s3cret".to_owned(), "`token` has a line break"),
        ("token: s3cret\nusername: me\npassword: s3cret".to_owned(), "a token and a password"),
        ("client-certificate: me.crt".to_owned(), "has no `client-key`"),
        ("client-certificate: me.crt\nclient-key: other.key".to_owned(), "used together"),
        ("client-certificate: no.crt\nclient-key: me.key".to_owned(), "no certificate in PEM"),
        ("client-certificate: me.crt\nclient-key: no.crt".to_owned(), "no private key in PEM"),
        ("client-certificate: gone.crt\nclient-key: me.key".to_owned(), "gone.crt cannot be read"),
        ("client-certificate-data: s3cret!\nclient-key: me.key".to_owned(), "is not base64"),
        ("as-groups: [g]".to_owned(), "need `as`"),
        ("as-uid: x".to_owned(), "need `as`"),
        ("as: \"a\\nb\"".to_owned(), "that no header can carry"),
        (exec(""), "`exec` has no `apiVersion`"),
        ("exec: {apiVersion: client.authentication.k8s.io/v1}".to_owned(), "no `command`"),
        (exec(", apiVersion: client.authentication.k8s.io/v1alpha1"), "is neither"),
        (exec(v1), "no `interactiveMode`"),
        (exec(&format!("{v1}, interactiveMode: Never, env: [{{value: x}}]")), "has no `name`"),
        ("auth-provider: {name: gcp}".to_owned(), "gke-gcloud-auth-plugin"),
        ("auth-provider: {name: azure}".to_owned(), "kubelogin"),
        ("auth-provider: {name: s3cret}".to_owned(), "does not exist"),
    ] {
        let why = login(&folder, SERVER, &user).unwrap_err();
        assert!(why.contains(expected) && why.contains("user \"u\" of the kubeconfig"), "{why}");
        assert!(!why.contains("s3cret"), "{why}");
    }
}

#[test]
fn the_token_is_that_of_the_file_without_line_breaks_around_it() {
    let folder = Folder::new();
    let token = |user: &str| {
        let info = login(&folder, SERVER, user).unwrap().config.auth_info;
        let inline = info.token.map(|token| token.expose_secret().to_owned());
        (inline, info.token_file.is_some())
    };
    let is = |text: &str| (Some(text.to_owned()), false);
    for content in ["t0ken\n", "t0ken\r\n", "\nt0ken ", "t0ken\n\n"] {
        folder.write("token", content);
        assert_eq!(token("tokenFile: token"), is("t0ken"), "{content:?}");
        assert_eq!(token("token: inline\ntokenFile: token"), is("t0ken"), "{content:?}");
    }
    folder.write("token", "t0ken");
    assert_eq!(token("tokenFile: token"), (None, true), "kube reads it again");
    assert_eq!(token("token: inline\ntokenFile: token"), (None, true));
    folder.write("token", "");
    assert_eq!(token("token: inline\ntokenFile: token"), is("inline"));
    assert_eq!(token("token: inline\ntokenFile: missing"), is("inline"));
    assert_eq!(token("token: ''"), (None, false));
}

#[test]
fn what_is_empty_is_as_what_is_not_there() {
    let folder = Folder::new();
    let cluster = format!(
        "{SERVER}\ncertificate-authority-data: ''\ncertificate-authority: ''\nproxy-url: ''\n\
         tls-server-name: ''"
    );
    let user = "token: ''\nusername: ''\nclient-certificate-data: ''\nclient-key-data: ''\nas: ''";
    let config = login(&folder, &cluster, user).unwrap().config;
    assert!(config.root_cert.is_none() && config.proxy_url.is_none());
    assert!(config.tls_server_name.is_none() && config.auth_info.impersonate.is_none());
    assert_eq!(config.default_namespace, "default");
    let config = login(&folder, SERVER, "username: me").unwrap().config;
    assert!(config.auth_info.password.is_some(), "an empty one is sent");
    assert!(login(&folder, SERVER, "client-key: /none.key").is_ok(), "a key alone is not read");
}

#[test]
fn files_are_beside_the_kubeconfig_that_names_them() {
    let (folder, other) = (Folder::new(), Folder::new());
    folder.identity("ca");
    other.identity("me");
    let cluster = format!("{SERVER}\ncertificate-authority: ca.crt");
    let user = "users: [{name: u, user: {client-certificate: me.crt, client-key: me.key}}]";
    let files = [other.write("users", user), folder.write("config", kubeconfig(&cluster, "{}"))];
    let config = of(&files).unwrap().config;
    assert!(config.root_cert.is_some());
    assert!(config.auth_info.client_key.unwrap().starts_with(other.0.to_str().unwrap()));
}

#[test]
fn the_proxy_of_the_kubeconfig_counts_before_that_of_the_environment() {
    let folder = Folder::new();
    let environment = Environment {
        https: "http://environment:3128".to_owned(),
        no: "a".to_owned(),
        ..Environment::default()
    };
    let proxy = |cluster: &str| {
        let file = folder.write("config", kubeconfig(cluster, "{}"));
        let config = of_files(&[file], None, &environment).unwrap().config;
        config.proxy_url.map(|proxy| proxy.to_string())
    };
    assert_eq!(proxy("server: https://b").unwrap(), "http://environment:3128/");
    assert_eq!(proxy(SERVER), None, "NO_PROXY names it");
    let named = format!("{SERVER}\nproxy-url: socks5://p");
    assert_eq!(proxy(&named).unwrap(), "socks5://p:1080/", "NO_PROXY is for the environment");
}

/// What a plugin that is this script issues, or what is wrong.
async fn issued(folder: &Folder, script: &str, more: &str) -> Result<Option<String>, String> {
    let plugin = folder.write("plugin", format!("#!/bin/sh\n{script}\n"));
    let allowed = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(plugin, allowed).unwrap();
    let user = format!(
        "exec: {{command: ./plugin, apiVersion: client.authentication.k8s.io/v1, \
         interactiveMode: Never{more}}}"
    );
    let config = login(folder, "server: https://a:6443", &user)?.config;
    let (user, _) = Plugin::default().log_in(config.auth_info, false).await?;
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
    ] {
        let why = issued(&folder, &script, "").await.unwrap_err();
        assert!(why.contains(expected) && why.contains("its plugin"), "{why}");
        assert!(!why.contains("s3cret"), "{why}");
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
