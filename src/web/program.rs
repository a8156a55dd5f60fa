//! What the program around the supervisor tells of itself, and what it lends to the web endpoint.

use std::{fmt, sync::Arc};

use actix_web::web::ServiceConfig;

use crate::cluster::ClusterSettings;

/// Adds routes to the endpoint.
pub type Routes = Arc<dyn Fn(&mut ServiceConfig) + Send + Sync>;

/// What the program tells and lends. Cheap to clone.
#[derive(Clone, Default)]
pub struct Program {
    /// Its name and its version.
    pub name: Option<(String, String)>,
    /// How its logs are changed, if they can be.
    pub log_level: Option<Arc<dyn LogLevel>>,
    /// Routes of its own.
    pub routes: Vec<Routes>,
    /// How it asks the API server.
    pub settings: ClusterSettings,
}

/// The logs of a program, as far as they can be changed while it runs.
pub trait LogLevel: Send + Sync + 'static {
    /// The filter in force, for example `info,operetta=debug`.
    fn filter(&self) -> String;

    /// Puts another filter in force. What has the target [`AUDIT`](super::AUDIT) is to be written
    /// whatever it says: otherwise who may use `/log-level` can hide what they do next.
    ///
    /// # Errors
    /// What is wrong with the filter, in words for whoever sent it; nothing has changed then.
    fn set_filter(&self, filter: &str) -> anyhow::Result<()>;
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, log_level, routes, settings } = self;
        f.debug_struct("Program")
            .field("name", name)
            .field("log_level", &log_level.is_some())
            .field("routes", &routes.len())
            .field("settings", settings)
            .finish()
    }
}
