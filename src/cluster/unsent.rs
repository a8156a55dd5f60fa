//! Why a request was not sent, without possible secrets: the output and the arguments of a credential plugin, the answer of
//! a provider of tokens, and the address of a proxy.
//!
//! [`Plugin`](super::Plugin) runs the plugins of kubeconfigs and of configurations, and its errors have no secrets. This
//! module is for the clients that a program makes itself.

use std::{error::Error, iter};

use kube::client::AuthError;

/// The error in words.
pub(crate) fn described(error: kube::Error) -> Box<dyn Error + Send + Sync> {
    match (harmless(&error), error) {
        (Some(text), _) => text.into(),
        (None, kube::Error::Service(error)) => error,
        (None, other) => other.into(),
    }
}

/// The same of what a program returned.
pub(crate) fn described_error(error: anyhow::Error) -> anyhow::Error {
    harmless(error.as_ref()).map_or(error, anyhow::Error::msg)
}

/// The text in place of an error that quotes something.
fn harmless(error: &(dyn Error + 'static)) -> Option<String> {
    let mut chain = iter::successors(Some(error), |&cause| cause.source());
    chain.find_map(|cause| {
        let of_credentials = cause.downcast_ref::<AuthError>().map(of_credentials);
        of_credentials.or_else(|| of_proxy(cause.downcast_ref::<kube::Error>()?))
    })
}

fn of_credentials(error: &AuthError) -> String {
    match error {
        AuthError::AuthExecRun { out, .. } => {
            format!("the credential plugin of the kubeconfig failed: {}", out.status)
        }
        AuthError::AuthExecStart(why) => {
            format!("the credential plugin of the kubeconfig cannot be run: {why}")
        }
        AuthError::AuthExecParse(_)
        | AuthError::ParseTokenKey(_)
        | AuthError::ExecPluginFailed
        | AuthError::MalformedTokenExpirationDate(_)
        | AuthError::UnrefreshableTokenResponse => {
            "the credential plugin of the kubeconfig printed no ExecCredential with a token"
                .to_owned()
        }
        AuthError::InvalidBasicAuth(_)
        | AuthError::InvalidBearerToken(_)
        | AuthError::ReadTokenFile(..)
        | AuthError::MissingCommand
        | AuthError::ExecMissingClusterInfo => error.to_string(),
        // Also those of providers, which kube has with features that another crate may enable.
        _ => "the credentials of the kubeconfig cannot be obtained".to_owned(),
    }
}

fn of_proxy(error: &kube::Error) -> Option<String> {
    match error {
        kube::Error::ProxyProtocolUnsupported { .. } => {
            Some("the proxy has a scheme other than http, https and socks5".to_owned())
        }
        kube::Error::ProxyProtocolDisabled { protocol_feature, .. } => {
            Some(format!("the proxy needs the feature {protocol_feature} of kube"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::{io, os::unix::process::ExitStatusExt, process};

    use http::{Request, Uri};
    use kube::{Client, Config, config::ExecConfig};

    use super::*;

    fn failed() -> AuthError {
        let out = process::Output {
            status: process::ExitStatus::from_raw(3 << 8),
            stdout: b"s3cret".to_vec(),
            stderr: b"s3cret".to_vec(),
        };
        AuthError::AuthExecRun { cmd: "TOKEN=s3cret plugin s3cret".to_owned(), out: Box::new(out) }
    }

    fn proxy() -> Uri {
        Uri::from_static("ftp://me:s3cret@proxy")
    }

    fn errors() -> Vec<(kube::Error, &'static str)> {
        let of = |error: AuthError| kube::Error::Service(error.into());
        let no_json = serde_json::from_str::<u8>("\"s3cret\"").unwrap_err();
        let no_date = "s3cret".parse::<k8s_openapi::jiff::Timestamp>().unwrap_err();
        let disabled = kube::Error::ProxyProtocolDisabled {
            proxy_url: Box::new(proxy()),
            protocol_feature: "kube/socks5",
        };
        vec![
            (kube::Error::Auth(failed()), "failed: exit status: 3"),
            (of(failed()), "failed: exit status: 3"),
            // As the client of a client has it.
            (kube::Error::Service(of(failed()).into()), "failed: exit status: 3"),
            (of(AuthError::ParseTokenKey(no_json)), "printed no ExecCredential"),
            (of(AuthError::MalformedTokenExpirationDate(no_date)), "printed no ExecCredential"),
            (of(AuthError::AuthExec("s3cret".to_owned())), "cannot be obtained"),
            (of(AuthError::AuthExecStart(io::ErrorKind::NotFound.into())), "cannot be run"),
            (
                kube::Error::ProxyProtocolUnsupported { proxy_url: Box::new(proxy()) },
                "a scheme other than",
            ),
            (disabled, "kube/socks5"),
        ]
    }

    #[test]
    fn no_error_quotes_a_plugin_its_arguments_or_a_proxy() {
        for (error, expected) in errors() {
            let error = described(error);
            let shown = format!("{error} {error:?}");
            assert!(shown.contains(expected) && !shown.contains("s3cret"), "{shown}");
        }
        for (error, expected) in errors() {
            let error = described_error(anyhow::Error::new(error).context("the program"));
            let shown = format!("{error:#} {error:?}");
            assert!(shown.contains(expected) && !shown.contains("s3cret"), "{shown}");
        }
        let other = described_error(anyhow::anyhow!("no route").context("the program"));
        assert_eq!(format!("{other:#}"), "the program: no route");
    }

    /// A plugin that answers once, and fails when its token has expired.
    #[tokio::test]
    async fn a_client_of_kube_whose_plugin_fails_later_is_described_without_its_output() {
        let answer = r#"{"kind": "ExecCredential", "status": {"token": "t",
            "expirationTimestamp": "2000-01-01T00:00:00Z"}}"#;
        let script = format!(
            "if [ -n \"$KEPT\" ] && mkdir \"$KEPT\"; then echo '{answer}'; else echo s3cret; exit 3; fi"
        );
        let folder = operetta_harness::Folder::new();
        let kept = folder.join("kept");
        let env = [("name", "KEPT"), ("value", kept.to_str().unwrap())];
        let env = env.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let exec: ExecConfig = serde_json::from_value(serde_json::json!({
            "command": "sh", "args": ["-c", script], "interactiveMode": "Never",
        }))
        .unwrap();
        let mut config = Config::new("http://127.0.0.1:1".parse().unwrap());
        config.auth_info.exec = Some(ExecConfig { env: Some(vec![env.into()]), ..exec });
        // kube runs it once for the identity of TLS, and that is not an error.
        let client = Client::try_from(config).unwrap();
        let asked = client.request_text(Request::get("/version").body(Vec::new()).unwrap()).await;
        let shown = described(asked.unwrap_err()).to_string();
        assert_eq!(shown, "the credential plugin of the kubeconfig failed: exit status: 3");
    }
}
