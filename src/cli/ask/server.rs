//! Requests to a running process. They carry a token, and neither an `Origin` nor a cookie: a process refuses those of
//! other sites.

use std::{env, fs, time::Duration};

use anyhow::{Context, bail};
use http::{Request, header};
use kube::{Client, Config, config::AuthInfo};
use serde_json::Value;

use super::{args::ServerArgs, forward, problem::Problem};

/// The variable with a token.
const TOKEN: &str = "OPERETTA_TOKEN";
/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(5);
/// How long a process may take to answer. A preview calls a handler, which has a deadline of its own.
const ANSWER: Duration = Duration::from_mins(1);

/// A running process.
pub(super) struct Server {
    client: Client,
    has_token: bool,
    /// How errors name it.
    at: String,
}

impl Server {
    /// Prepares requests; only a port-forward connects before the first.
    pub(super) async fn new(args: ServerArgs) -> anyhow::Result<Self> {
        let at = args.server.to_string().trim_end_matches('/').to_owned();
        let token = token(&args)?;
        let has_token = token.is_some();
        let has_secret = has_token || args.server.has_password();
        if has_secret && is_readable_on_the_way(&args) {
            return Err(Problem::ClearToken { at }.into());
        }
        let config = config(&args, token)?;
        let client = match args.port_forward {
            Some(target) => {
                let forward = forward::Forward::new(target, args.kubeconfig, args.context, &at);
                forward::client(&config, forward.await.context("--port-forward")?)
            }
            None => Client::try_from(config),
        };
        let client = client.context("--server, --token-file, --ca-file")?;
        Ok(Self { client, has_token, at })
    }

    /// How errors name it.
    pub(super) fn at(&self) -> &str {
        &self.at
    }

    /// Reads a path.
    pub(super) async fn get(&self, path: &str) -> Result<Value, Problem> {
        self.send("GET", path, Vec::new()).await
    }

    /// Sends a command; returns its result in words.
    pub(super) async fn post(&self, path: &str, body: &Value) -> Result<String, Problem> {
        let status = self.send("POST", path, body.to_string().into_bytes()).await?;
        Ok(status["message"].as_str().unwrap_or("done").to_owned())
    }

    async fn send(&self, method: &str, path: &str, body: Vec<u8>) -> Result<Value, Problem> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::ACCEPT, "application/json")
            // Without it a command could have been sent by a form of another site.
            .header(header::CONTENT_TYPE, "application/json")
            .body(body);
        let request = request.map_err(|error| self.not_operetta(&error))?;
        let answer = self.client.request_text(request).await;
        let text = answer.map_err(|error| Problem::of(error, &self.at, self.has_token))?;
        serde_json::from_str(&text).map_err(|error| self.not_operetta(&error))
    }

    fn not_operetta(&self, error: &dyn std::error::Error) -> Problem {
        Problem::NotOperetta { at: self.at.clone(), why: error.to_string() }
    }
}

fn token(args: &ServerArgs) -> anyhow::Result<Option<String>> {
    let (named, token) = match &args.token_file {
        Some(file) => {
            let named = format!("--token-file {}", file.display());
            let read = fs::read_to_string(file).with_context(|| named.clone())?;
            (named, read)
        }
        None => (TOKEN.to_owned(), env::var(TOKEN).unwrap_or_default()),
    };
    let token = token.trim();
    if header::HeaderValue::from_str(token).is_err() {
        bail!("{named} has a character that no header can carry: it must hold a token alone");
    }
    Ok(Some(token.to_owned()).filter(|token| !token.is_empty()))
}

fn is_readable_on_the_way(args: &ServerArgs) -> bool {
    let host = args.server.uri().host().unwrap_or_default().trim_matches(['[', ']']);
    let address = host.parse::<std::net::IpAddr>();
    let is_loopback = host == "localhost" || address.is_ok_and(|address| address.is_loopback());
    args.server.uri().scheme_str() == Some("http") && !is_loopback && args.port_forward.is_none()
}

fn config(args: &ServerArgs, token: Option<String>) -> anyhow::Result<Config> {
    let mut config = args.server.config();
    if token.is_some() {
        config.auth_info = AuthInfo { token: token.map(Into::into), ..AuthInfo::default() };
    }
    config.connect_timeout = Some(CONNECT);
    config.read_timeout = Some(ANSWER);
    config.accept_invalid_certs = args.insecure_skip_tls_verify;
    // What the process refuses is shown, not repeated.
    config.default_retry = false;
    if let Some(file) = &args.ca_file {
        // Its own error would not name the flag.
        fs::File::open(file).with_context(|| format!("--ca-file {}", file.display()))?;
        config.root_cert_file = Some(file.clone());
    }
    Ok(config)
}
