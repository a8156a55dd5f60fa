//! `/version` and `/debug/config`: the versions and the configuration of the process. The
//! configuration contains no credentials.

use std::env::consts::{ARCH, OS};

use actix_web::{
    HttpRequest,
    web::{Data, Json},
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    page::{DEFAULT_LIMIT, MAX_LIMIT},
    program::Program,
    request_rules::RequestRules,
    state::WebState,
    tls::Certificates,
    views::{ConfigurationView, ServingView},
};

/// The versions, with the field names of a Kubernetes API server.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Version")]
pub(super) struct VersionView {
    /// Of the framework.
    major: &'static str,
    /// Of the framework.
    minor: &'static str,
    /// The version of the framework, such as `v0.1.0`.
    git_version: &'static str,
    /// Operating system and processor.
    platform: String,
    /// The program, if it set its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<ProgramView>,
}

/// The program around the framework.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Program")]
struct ProgramView {
    name: String,
    version: String,
}

/// The configuration of the process.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Configuration")]
pub(super) struct ConfigView {
    version: VersionView,
    operators: Vec<OperatorConfigView>,
    timeouts: TimeoutsView,
    /// How long deletions of a type are held after the API server returned an earlier resourceVersion.
    deletions_held_seconds: f64,
    /// Whether lists are streamed instead of read in pages.
    streaming_lists: bool,
    web: WebView,
}

/// The configuration of an operator.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "OperatorConfiguration")]
struct OperatorConfigView {
    name: String,
    #[serde(flatten)]
    configuration: ConfigurationView,
}

/// How long the Kubernetes API server may be silent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Timeouts")]
#[expect(clippy::struct_field_names, reason = "a figure has its unit")]
struct TimeoutsView {
    /// How long any request but a watch may take.
    request_seconds: f64,
    /// How long a watch may be silent.
    silence_seconds: f64,
    /// How long a watch lasts.
    watch_seconds: f64,
}

/// The web endpoint.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Web")]
struct WebView {
    /// Whether `/log-level` can change what is logged.
    log_level: bool,
    /// Whether AI assistants are served at `/mcp`.
    mcp: bool,
    /// Whether the program has added its own routes.
    own_routes: bool,
    default_page: usize,
    max_page: usize,
    #[serde(flatten)]
    serving: ServingView,
}

pub(super) async fn version(state: Data<WebState>) -> Json<VersionView> {
    Json(VersionView::of(&state.program))
}

pub(super) async fn config(
    request: HttpRequest,
    rules: Data<RequestRules>,
    state: Data<WebState>,
) -> Json<ConfigView> {
    let certificates = request.app_data::<Option<Certificates>>().and_then(Option::as_ref);
    let (program, timeouts) = (&state.program, state.program.settings.timeouts);
    let operators = state.board.operators().into_iter().map(|operator| OperatorConfigView {
        name: operator.info.name.to_string(),
        configuration: (&operator.info).into(),
    });
    Json(ConfigView {
        version: VersionView::of(program),
        operators: operators.collect(),
        timeouts: TimeoutsView {
            request_seconds: timeouts.request.as_secs_f64(),
            silence_seconds: timeouts.silence.as_secs_f64(),
            watch_seconds: timeouts.watch.as_secs_f64(),
        },
        deletions_held_seconds: program.settings.deletions_held.as_secs_f64(),
        streaming_lists: program.settings.streaming_lists,
        web: WebView {
            log_level: program.log_level.is_some(),
            mcp: program.mcp,
            own_routes: !program.routes.is_empty(),
            default_page: DEFAULT_LIMIT,
            max_page: MAX_LIMIT,
            serving: ServingView::new(&rules, certificates),
        },
    })
}

impl VersionView {
    fn of(program: &Program) -> Self {
        let program = program.name.clone().map(|(name, version)| ProgramView { name, version });
        Self {
            major: env!("CARGO_PKG_VERSION_MAJOR"),
            minor: env!("CARGO_PKG_VERSION_MINOR"),
            git_version: concat!("v", env!("CARGO_PKG_VERSION")),
            platform: format!("{OS}/{ARCH}"),
            program,
        }
    }
}
