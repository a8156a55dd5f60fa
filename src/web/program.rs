//! What the program around the supervisor provides to the web endpoint.

use std::{fmt, sync::Arc};

use actix_web::web::ServiceConfig;

use crate::{board::ActivityLimit, cluster::ClusterSettings};

/// Adds routes to the endpoint.
pub type Routes = Arc<dyn Fn(&mut ServiceConfig) + Send + Sync>;

/// What the program provides. Cheap to clone.
#[derive(Clone, Default)]
pub struct Program {
    /// Its name and its version.
    pub name: Option<(String, String)>,
    /// Changes its log filter, if it can be changed.
    pub log_level: Option<Arc<dyn LogLevel>>,
    /// Its own routes.
    pub routes: Vec<Routes>,
    /// Whether it serves AI assistants, with the feature `mcp`.
    pub mcp: bool,
    /// The settings of its client.
    pub settings: ClusterSettings,
    /// How much of the timeline is kept.
    pub(crate) activity: ActivityLimit,
}

/// The log filter of a program, which can be changed while it runs.
pub trait LogLevel: Send + Sync + 'static {
    /// The filter in force, for example `info,operetta=debug`.
    fn filter(&self) -> String;

    /// Sets the filter. It must not hide the target [`AUDIT`](super::AUDIT): otherwise users of
    /// `/log-level` could hide their next commands.
    ///
    /// # Errors
    /// When the filter is invalid, with a message for the user. The old filter stays in force.
    fn set_filter(&self, filter: &str) -> anyhow::Result<()>;
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, log_level, routes, mcp, settings, activity } = self;
        f.debug_struct("Program")
            .field("name", name)
            .field("log_level", &log_level.is_some())
            .field("routes", &routes.len())
            .field("mcp", mcp)
            .field("settings", settings)
            .field("activity", activity)
            .finish()
    }
}
