//! The API for users: a handler, and the configuration of an operator.
//!
//! Layer 1. Nothing here does I/O or reads a clock: a handler can be called from a plain test.
//!
//! ```text
//! SyncRequest { parent, children } --Handler::sync--> SyncResponse { status, children, resync }
//!                                                     DecoratorResponse { response, decoration }
//! ```

pub mod admission;
mod any_operator;
mod as_json;
mod beside;
mod child_config;
mod child_status;
mod child_type;
mod children;
mod children_of_type;
mod condition_names;
mod conditions;
mod config;
pub mod conversion;
mod custom;
mod decoration;
mod decorator;
mod decorator_options;
mod decorator_response;
mod definition;
mod delete_with_finalizer;
mod deletion_limit;
mod depth;
mod desired_child;
mod error;
mod error_response;
mod finalize_response;
mod handler;
mod handler_event;
mod handler_metrics;
mod held_replicas;
mod initial_field;
mod key_index;
mod name;
mod namespaces;
mod order;
mod orphan_on_delete;
mod panic;
mod parent;
mod parsed;
mod pause;
mod predecessor;
mod qualified_name;
mod readiness;
mod reading;
mod ready_when;
mod related;
mod request;
mod response;
mod response_as_json;
mod role;
mod rolling;
mod schemas;
mod selection;
mod shallow;
mod shared_status;
mod stages;
mod stores;
mod validate;
mod view;

pub use crate::object::own_labels::{BUCKET_LABEL, ORPHAN_LABEL};
pub use any_operator::AnyOperator;
pub use as_json::ParseRequestError;
pub use child_config::{ChildConfig, ConflictPolicy, Propagation, UpdateStrategy};
pub use child_status::{ChildState, ChildStatus};
pub use child_type::ChildType;
pub use children::Children;
pub(crate) use condition_names::ConditionNames;
pub use conditions::{Condition, ConditionStatus, Conditions};
pub(crate) use conditions::{READY, SYNCED};
pub use config::{Labels, OperatorConfig};
pub use custom::CustomType;
pub use decoration::Decoration;
pub use decorator::DecoratorConfig;
pub(crate) use decorator_options::DecoratorOptions;
pub use decorator_response::DecoratorResponse;
pub(crate) use definition::Definition;
pub use deletion_limit::{ALLOW_DELETION_ANNOTATION, Allowance, DeletionLimit};
pub use desired_child::DesiredChild;
pub use error::{ChildConfigError, ConfigError, Permanent, RetryAfter};
pub use error_response::ErrorResponse;
pub use finalize_response::FinalizeResponse;
pub use handler::{
    AnyHandler, AsyncFinalize, AsyncHandler, AsyncOnError, Awaited, Finalize, Handler,
    HandlerResult, HasForm, IntoHandler, OnError, WithFinalizer, form, with_finalizer,
    with_related,
};
pub(crate) use handler::{Call, Failed};
pub(crate) use handler_event::checked_events;
pub use handler_event::{EventType, HandlerEvent};
pub use handler_metrics::{Counter, Gauge, HandlerMetrics, Histogram, MetricError};
pub(crate) use handler_metrics::{ExportedFamily, ExportedSeries, MetricKind, Overflow, PREFIX};
pub use held_replicas::{HeldPhase, HeldReplicas, ParseHeldError};
pub use name::{InvalidName, OperatorName};
pub use namespaces::Namespaces;
pub use order::{Prerequisite, Stage};
pub(crate) use orphan_on_delete::UNTIL_FINALIZED;
pub(crate) use panic::{panic_text, watch_places};
pub use parent::Parent;
pub(crate) use pause::{MAX_REASON, MisunderstoodPause, misunderstood_pause};
pub use pause::{PAUSED_ANNOTATION, Pause, is_paused};
pub use predecessor::Predecessor;
pub(crate) use qualified_name::{is_label_value, is_qualified_name};
pub use ready_when::ReadyWhen;
pub(crate) use related::{Ask, Asks, Selected};
pub use related::{Related, RelatedError, RelatedType};
pub use request::SyncRequest;
pub use response::SyncResponse;
#[cfg(feature = "testkit")]
pub(crate) use role::sealed::Narrowed;
pub(crate) use role::sealed::Untyped;
pub use role::{Decorates, DecoratorRole, Fits, Owns, Response, Role};
pub use rolling::{Rolling, Unavailable};
pub(crate) use selection::Selection;
pub(crate) use shallow::{Shallow, child_name};
pub(crate) use stores::ReadStores;
pub use stores::{Stores, StoresError};
pub use view::{RawView, TypedIter, TypedView};
