//! What the program around the supervisor tells of itself, and what it lends to the web endpoint.

use std::{fmt, sync::Arc};

use actix_web::web::ServiceConfig;

use super::LogLevel;
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
