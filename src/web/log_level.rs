//! `/log-level`: shows and changes the log filter while the process runs. The program parses and
//! applies it, because it sets up logging.

use std::sync::Arc;

use actix_web::web::{self, Data, Json, Payload};
use schemars::JsonSchema;
use serde::Serialize;
use tracing::info;

use super::{
    audit::AUDIT,
    body,
    endpoint::{Body, TEXT},
    program::LogLevel,
    state::WebState,
    status::Refused,
};

/// The log filter.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "LogLevel")]
pub(super) struct LogLevelView {
    /// The filter in force, for example `info,operetta=debug`.
    filter: String,
}

pub(super) const FILTER: Body = Body {
    media_type: TEXT,
    meaning: "the filter, for example `debug` or `info,operetta=debug`; at most 4096 bytes",
    fields: &[],
};

const MAX_FILTER: usize = 4096;

pub(super) async fn show(state: Data<WebState>) -> Result<Json<LogLevelView>, Refused> {
    Ok(Json(LogLevelView { filter: logs(&state)?.filter() }))
}

pub(super) async fn set(
    payload: Payload,
    state: Data<WebState>,
) -> Result<Json<LogLevelView>, Refused> {
    let logs = logs(&state)?;
    let text = body::text(payload, MAX_FILTER).await?;
    let wanted = text.trim();
    if wanted.is_empty() {
        return Err(Refused::BadRequest("the body is empty: send a log filter".to_owned()));
    }
    let (from, set) = (logs.filter(), wanted.to_owned());
    // The program parses it, for an unknown time: probes are answered meanwhile.
    let changing = web::block(move || logs.set_filter(&set).map(|()| logs.filter())).await;
    let changed = changing.map_err(|error| Refused::Internal(error.to_string()))?;
    let filter = changed.map_err(|error| Refused::BadRequest(format!("{error:#}")))?;
    info!(target: AUDIT, ?from, to = ?wanted, "log filter changed");
    Ok(Json(LogLevelView { filter }))
}

fn logs(state: &WebState) -> Result<Arc<dyn LogLevel>, Refused> {
    state.program.log_level.clone().ok_or(Refused::NoLogLevel)
}
