//! Kubeconfigs as kubectl reads them; what is expected was seen with kubectl 1.36.

mod folder;
mod plugin;

use std::path::Path;

use operetta_harness::Folder;
use secrecy::ExposeSecret;

use self::folder::{SERVER, identity, kubeconfig, login, of};
use super::{authority::encoded, *};

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
    let (ca, _) = identity(&folder, "ca");
    let (certificate, key) = identity(&folder, "me");
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
    let (empty, missing) = (folder.write("empty", ""), folder.join("missing"));
    let login = of(&[missing.clone(), empty.clone(), first.clone(), second.clone()]).unwrap();
    let token = login.config.auth_info.token.unwrap();
    assert_eq!(token.expose_secret(), "first", "of two entries the first counts");
    assert!(login.user.ends_with(&format!("of the kubeconfig {}", first.display())));
    let why = of(&[missing.clone(), folder.join("neither")]).unwrap_err();
    assert!(why.contains("missing") && why.contains("neither do not exist"), "{why}");
    let why = of(std::slice::from_ref(&missing)).unwrap_err();
    assert!(why.contains("missing does not exist"), "{why}");
    let why = of(std::slice::from_ref(&empty)).unwrap_err();
    assert!(why.contains("`current-context` of") && why.contains("empty is not set"), "{why}");
    let why = of(std::slice::from_ref(&folder.to_path_buf())).unwrap_err();
    assert!(why.contains("directory") && why.contains(folder.to_str().unwrap()), "{why}");
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
    let (ca, _) = identity(&folder, "ca");
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
    let (_, _) = (identity(&folder, "me"), identity(&folder, "other"));
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

/// As kubectl sends it.
#[test]
fn a_password_in_the_address_is_sent_and_not_kept_there() {
    let folder = Folder::new();
    for user in ["{}", "token: t0ken", "username: other"] {
        let config = login(&folder, "server: 'https://me:s3%40cret@a:6443'", user).unwrap().config;
        assert_eq!(config.cluster_url, "https://a:6443/", "{user}");
        let AuthInfo { username, password, token, .. } = config.auth_info;
        assert_eq!(username.as_deref(), Some("me"), "{user}");
        assert_eq!(password.unwrap().expose_secret(), "s3@cret", "{user}");
        assert!(token.is_none(), "{user}");
    }
    let why = login(&folder, "server: 'https://me:s3cret@a b'", "{}").unwrap_err();
    assert!(!why.contains("s3cret"), "{why}");
}

#[test]
fn a_configuration_of_a_program_is_checked_and_not_quoted() {
    let of = |change: fn(&mut Config)| {
        let mut config = Config::new("https://me:s3cret@a:6443".parse().unwrap());
        change(&mut config);
        of_config(config).map(|login| login.config)
    };
    assert_eq!(of(|_| {}).unwrap().cluster_url, "https://a:6443/");
    let proxy: fn(&mut Config) =
        |config| config.proxy_url = Some("ftp://me:s3cret@p".parse().unwrap());
    let token: fn(&mut Config) = |config| config.auth_info.token = Some("s3cret\n".into());
    for (change, expected) in [(proxy, "`proxy_url` has a scheme"), (token, "`token` has a line")] {
        let why = of(change).unwrap_err();
        assert!(why.contains(expected) && !why.contains("s3cret"), "{why}");
    }
}

#[test]
fn files_are_beside_the_kubeconfig_that_names_them() {
    let (folder, other) = (Folder::new(), Folder::new());
    identity(&folder, "ca");
    identity(&other, "me");
    let cluster = format!("{SERVER}\ncertificate-authority: ca.crt");
    let user = "users: [{name: u, user: {client-certificate: me.crt, client-key: me.key}}]";
    let files = [other.write("users", user), folder.write("config", kubeconfig(&cluster, "{}"))];
    let config = of(&files).unwrap().config;
    assert!(config.root_cert.is_some());
    assert!(config.auth_info.client_key.unwrap().starts_with(other.to_str().unwrap()));
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
