//! The workloads: an operator, its parents, and the child that is watched and changed.
//!
//! Each has a twin of its parent type that no operator watches, for the floor.

mod echo;
pub(crate) mod reader;
mod trio;

use anyhow::Result;
use clap::ValueEnum;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use operetta::{
    object::K8sType,
    operator::{AnyHandler, IntoHandler, OperatorConfig, SyncRequest, SyncResponse, with_related},
};
use serde_json::Value;

/// Every server has it from the start.
pub(crate) const NAMESPACE: &str = "default";

/// Which operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Workload {
    /// A parent with a `ConfigMap`, a headless Service and a Deployment without replicas
    Trio,
    /// The `echo-server` of this repository: a Pod, which is replaced, and a Service
    Echo,
    /// Parents that read a Secret each, or one `ConfigMap`
    Reader,
}

/// A type of parents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ParentType {
    api_version: &'static str,
    pub(crate) kind: String,
    pub(crate) plural: String,
}

impl Workload {
    /// The parent type of the operator with this number.
    pub(crate) fn parent(self, number: usize) -> ParentType {
        let suffix = if number == 0 { String::new() } else { number.to_string() };
        match self {
            Self::Trio => ParentType::new(trio::API_VERSION, format!("Trio{suffix}")),
            Self::Echo => ParentType::new(echo::API_VERSION, format!("EchoServer{suffix}")),
            Self::Reader => ParentType::new(reader::API_VERSION, format!("Reader{suffix}")),
        }
    }

    /// The twin of the first.
    pub(crate) fn floor(self) -> ParentType {
        let ParentType { api_version, kind, .. } = self.parent(0);
        ParentType::new(api_version, format!("Floor{kind}"))
    }

    pub(crate) fn crd(self, ty: &ParentType) -> Result<CustomResourceDefinition> {
        match self {
            Self::Trio => trio::crd(ty),
            Self::Echo => Ok(echo::crd(ty)),
            Self::Reader => reader::crd(ty),
        }
    }

    /// The operator for a parent type: its name begins with the workload's.
    pub(crate) fn config(self, ty: &ParentType) -> OperatorConfig {
        let parent = K8sType::namespaced(ty.api_version, &ty.kind, &ty.plural);
        match self {
            Self::Trio => trio::config(&ty.kind.to_lowercase(), parent),
            Self::Echo => echo::config(&ty.kind.to_lowercase(), parent),
            Self::Reader => reader::config(&ty.kind.to_lowercase(), parent),
        }
    }

    /// The operator's handler, as it is registered.
    pub(crate) fn handler(self) -> AnyHandler {
        let sync = move |request: &SyncRequest| self.sync(request);
        match self {
            Self::Trio | Self::Echo => sync.into_handler(),
            Self::Reader => with_related(sync, reader::related),
        }
    }

    /// The operator's handler.
    pub(crate) fn sync(self, request: &SyncRequest) -> Result<SyncResponse> {
        match self {
            Self::Trio => Ok(trio::sync(request)),
            Self::Echo => {
                let response = ::operators::echo_server::sync(&request.clone().typed()?)?;
                let status = serde_json::to_value(&response.status)?;
                Ok(response.with_status(status))
            }
            Self::Reader => Ok(reader::sync(request)),
        }
    }

    /// How many times as long as its floor a burst may take.
    pub(crate) fn burst_target(self) -> &'static str {
        match self {
            Self::Trio | Self::Reader => "at most 1.10",
            Self::Echo => "at most 1.50",
        }
    }

    /// How many writes so many new parents may cost: one for each child and one for the status, and a
    /// few more for concurrent controllers.
    pub(crate) fn burst_writes_target(self, parents: usize) -> String {
        match self {
            Self::Trio => format!("at most {}", parents * 4 + parents / 20),
            Self::Echo => format!("at most {}", parents * 3 + parents / 20),
            Self::Reader => format!("at most {}", parents * 2 + parents / 20),
        }
    }

    /// How many writes a change of a spec may cost: of the child and of the status. Before a child is
    /// replaced its write is tried twice, and the status reports the deletion.
    pub(crate) fn change_writes_target(self) -> &'static str {
        match self {
            Self::Trio | Self::Reader => "2",
            Self::Echo => "about 6",
        }
    }

    /// The spec of a parent whose watched child carries this mark.
    pub(crate) fn spec(self, mark: &str) -> Value {
        match self {
            Self::Trio | Self::Reader => trio::spec(mark),
            Self::Echo => echo::spec(mark),
        }
    }

    /// Where the children are.
    pub(crate) fn children(self) -> Vec<String> {
        match self {
            Self::Trio => trio::children(),
            Self::Echo => echo::children(),
            Self::Reader => reader::children(),
        }
    }

    /// The type of the child that is watched, changed and deleted; it has the parent's name.
    pub(crate) fn watched(self) -> String {
        match self {
            Self::Trio | Self::Reader => trio::watched(),
            Self::Echo => echo::watched(),
        }
    }

    /// The mark that the watched child carries.
    pub(crate) fn mark(self, child: &Value) -> Option<&str> {
        match self {
            Self::Trio | Self::Reader => trio::mark(child),
            Self::Echo => echo::mark(child),
        }
    }

    /// A merge patch by which another client gives the watched child another mark.
    pub(crate) fn edit(self, mark: &str) -> Value {
        match self {
            Self::Trio | Self::Reader => trio::edit(mark),
            Self::Echo => echo::edit(mark),
        }
    }
}

impl ParentType {
    fn new(api_version: &'static str, kind: String) -> Self {
        let plural = format!("{}s", kind.to_lowercase());
        Self { api_version, kind, plural }
    }

    pub(crate) fn api_version(&self) -> &'static str {
        self.api_version
    }

    pub(crate) fn collection(&self) -> String {
        self.collection_in(NAMESPACE)
    }

    pub(crate) fn collection_in(&self, namespace: &str) -> String {
        format!("/apis/{}/namespaces/{namespace}/{}", self.api_version, self.plural)
    }
}

/// Where the objects of a built-in type are.
fn collection(api: &str, plural: &str) -> String {
    format!("{api}/namespaces/{NAMESPACE}/{plural}")
}
