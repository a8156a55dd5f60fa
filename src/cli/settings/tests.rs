//! The settings for combinations of flags.

use clap::{CommandFactory, Parser};

use super::*;
use crate::cli::command_line::Cli;

fn args(flags: &str) -> RunArgs {
    let words = std::iter::once("operators").chain(flags.split_whitespace());
    Cli::try_parse_from(words).unwrap().run
}

fn suggested() -> Vec<String> {
    vec!["kubectl apply -f hello.yaml".to_owned()]
}

/// Of a program that is a demonstration.
fn resolve(flags: &str, is_inside: bool) -> Result<Settings, UsageError> {
    let surroundings = Surroundings { is_inside, prefers_embedded: true, suggested: suggested() };
    Settings::resolve(args(flags), surroundings)
}

#[test]
fn the_command_line_is_valid() {
    Cli::command().debug_assert();
}

#[test]
fn without_flags_the_surrounding_cluster_is_used_or_an_embedded_server() {
    let outside = resolve("", false).unwrap();
    assert_eq!(outside.cluster, Embedded::default().suggest(suggested()).into());
    assert_eq!(resolve("", true).unwrap().cluster, Connect::InCluster);
}

#[test]
fn the_embedded_server_is_as_its_flags_say() {
    let flags =
        "--embedded-listen 127.0.0.1:1 --data d --kubeconfig-out f --simulate-workloads=false";
    let server = Embedded::default().listen("127.0.0.1:1".parse().unwrap());
    let server = server.data("d").kubeconfig("f").without_workloads().suggest(suggested());
    assert_eq!(resolve(flags, false).unwrap().cluster, server.into());
}

#[test]
fn other_programs_use_the_cluster_of_the_environment_unless_they_are_asked() {
    let of = |flags: &str, is_inside| {
        let surroundings = Surroundings { is_inside, prefers_embedded: false, suggested: vec![] };
        Settings::resolve(args(flags), surroundings).unwrap()
    };
    for is_inside in [true, false] {
        assert_eq!(of("", is_inside).cluster, Connect::infer());
        assert_eq!(of("--embedded", is_inside).cluster, Connect::embedded());
        assert_eq!(of("--cluster embedded", is_inside).cluster, Connect::embedded());
    }
    assert_eq!((of("", true).web.auth, of("", false).web.auth), (Auth::delegated(), Auth::None));
}

#[test]
fn a_kubeconfig_is_used_only_on_request() {
    let kubeconfig = |file: Option<&str>, context: Option<&str>| Connect::Kubeconfig {
        file: file.map(PathBuf::from),
        context: context.map(str::to_owned),
    };
    let target = |flags| resolve(flags, false).unwrap().cluster;
    assert_eq!(target("--cluster kubeconfig"), kubeconfig(None, None));
    assert_eq!(
        target("--cluster kubeconfig --kubeconfig f --context c"),
        kubeconfig(Some("f"), Some("c"))
    );
}

#[test]
fn a_flag_of_another_cluster_is_refused_by_name() {
    for (flags, flag, needs) in [
        ("--kubeconfig f", "--kubeconfig", "--cluster kubeconfig"),
        ("--context c", "--context", "--cluster kubeconfig"),
        ("--cluster in-cluster --kubeconfig-out f", "--kubeconfig-out", "--cluster embedded"),
        ("--cluster in-cluster --data d", "--data", "--cluster embedded"),
        (
            "--cluster kubeconfig --embedded-listen 127.0.0.1:1",
            "--embedded-listen",
            "--cluster embedded",
        ),
    ] {
        let error = resolve(flags, false).unwrap_err().to_string();
        assert!(error.starts_with(flag) && error.contains(needs), "{error}");
    }
}

#[test]
fn crds_are_installed_on_a_real_cluster_only_on_request() {
    assert!(!resolve("--cluster kubeconfig", false).unwrap().install_crds);
    assert!(!resolve("", true).unwrap().install_crds);
    assert!(resolve("--install-crds", true).unwrap().install_crds);
}

#[test]
fn listening_beyond_loopback_needs_tls_or_an_explicit_flag() {
    for address in ["0.0.0.0:8080", "[::]:8080", "192.0.2.1:8080"] {
        let listen = address.parse().unwrap();
        let with = |flags: &str| resolve(&format!("--listen {address} {flags}"), false);
        let tls = "--tls-self-signed";
        assert_eq!(with("").unwrap_err(), UsageError::ClearListen(listen));
        assert_eq!(with("--auth delegated").unwrap_err(), UsageError::ClearListen(listen));
        assert_eq!(with("--auth none").unwrap_err(), UsageError::OpenListen(listen));
        assert_eq!(
            with(&format!("--auth none {tls}")).unwrap_err(),
            UsageError::OpenListen(listen)
        );
        for flags in [tls, "--tls-cert c --tls-key k", "--insecure-listen"] {
            assert_eq!(with(flags).unwrap().web.auth, Auth::delegated(), "{flags}");
        }
        assert_eq!(with("--auth none --insecure-listen").unwrap().web.auth, Auth::None);
    }
    assert!(resolve("--listen [::1]:9090", false).is_ok());
    let proxied = "--behind-tls-proxy ops.example";
    let exposed = resolve(&format!("--listen 0.0.0.0:8080 {proxied}"), false);
    assert!(exposed.is_err(), "tokens can be intercepted behind the proxy");
    assert_eq!(resolve(proxied, false).unwrap().web.tls_proxy, "ops.example".parse().ok());
}

#[test]
fn the_cluster_authorizes_users_unless_only_this_machine_reaches_the_endpoint() {
    for (flags, inside_a_cluster, expected) in [
        ("", false, Auth::None),
        ("--cluster kubeconfig", false, Auth::None),
        ("--auth delegated", false, Auth::delegated()),
        ("", true, Auth::delegated()),
        ("--auth none", true, Auth::None),
        (
            "--auth-audience a --auth-audience b",
            true,
            Auth::Delegated { audiences: vec!["a".to_owned(), "b".to_owned()] },
        ),
    ] {
        assert_eq!(resolve(flags, inside_a_cluster).unwrap().web.auth, expected, "{flags}");
    }
    let error = resolve("--auth-audience a", false).unwrap_err();
    assert_eq!(error, UsageError::AudienceWithoutAuth);
}

#[test]
fn a_certificate_comes_with_its_key_from_one_place() {
    let certificate = |flags| resolve(flags, false).unwrap().web.certificate;
    let files = Certificate::Files { certificate: "c".into(), key: "k".into() };
    assert_eq!(certificate("--tls-cert c --tls-key k"), Some(files));
    assert_eq!(certificate("--tls-self-signed"), Some(Certificate::SelfSigned));
    assert_eq!(certificate(""), None);
    for flags in ["--tls-cert c", "--tls-key k", "--tls-cert c --tls-key k --tls-self-signed"] {
        let words = std::iter::once("operators").chain(flags.split_whitespace());
        assert!(Cli::try_parse_from(words).is_err(), "{flags}");
    }
}

#[test]
fn the_pod_of_the_leader_is_labelled_only_in_an_election() {
    let pod = |flags| resolve(flags, false).unwrap().election.unwrap().pod;
    assert_eq!(pod("--leader-elect --leader-elect-pod=operetta-0").as_deref(), Some("operetta-0"));
    assert_eq!(pod("--leader-elect=ns/lease"), None);
    assert!(Cli::try_parse_from(["operators", "--leader-elect-pod=operetta-0"]).is_err());
}
