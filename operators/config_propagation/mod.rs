//! `config-propagation`: a `Propagation` copies a `ConfigMap` or a Secret into selected namespaces.
//!
//! Shows a cluster-scoped parent with children in many namespaces, and related objects: the source, and the
//! namespaces with the selected labels. A change of either reconciles the parent.
//!
//! Invariants:
//! - an object of the same name that is not a copy is never written: it is a `Conflict`;
//! - without a source the copies stay as they are, and still go from namespaces that are not selected;
//! - what a source contains is in the copies only, never in a status, an Event or an error.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
use operetta::{
    object::Object,
    operator::{
        AnyOperator, ChildConfig, Condition, Handler, OperatorConfig, Permanent, Related,
        SyncRequest, SyncResponse,
    },
};

use crate::selector::InvalidSelector;

mod children;
mod crd;

pub use crd::{Namespaces, Propagation, PropagationSpec, PropagationStatus, Source, SourceKind};

/// The operator as the binary registers it.
pub fn operator() -> AnyOperator {
    AnyOperator::new(config(), ConfigPropagation)
}

/// Its name and types. The type of a Secret is immutable, and so is the data of a copy that somebody made
/// immutable: such a copy is created again.
pub fn config() -> OperatorConfig {
    let copies = || ChildConfig::apply().recreate_if_immutable();
    OperatorConfig::custom::<Propagation>("config-propagation")
        .child::<ConfigMap>(copies())
        .child::<Secret>(copies())
        .related::<ConfigMap>()
        .related::<Secret>()
        .related_metadata::<Namespace>()
        .with_child_status()
}

/// The handler.
#[derive(Debug, Clone, Copy)]
pub struct ConfigPropagation;

impl Handler for ConfigPropagation {
    type Parent = Propagation;
    type Response = SyncResponse<PropagationStatus>;

    fn related(&self, parent: &Propagation) -> Related {
        let PropagationSpec { source, namespaces } = &parent.spec;
        // `sync` reports an invalid selector.
        let Ok(selector) = namespaces.selector.text() else { return Related::new() };
        let key = (source.namespace.as_str(), source.name.as_str());
        let related = match source.kind {
            SourceKind::ConfigMap => Related::new().named::<ConfigMap>(key),
            SourceKind::Secret => Related::new().named::<Secret>(key),
        };
        if selector.is_empty() {
            related.all::<Namespace>()
        } else {
            related.labelled::<Namespace>(&selector)
        }
    }

    fn sync(
        &self,
        request: &SyncRequest<Propagation>,
    ) -> anyhow::Result<SyncResponse<PropagationStatus>> {
        let spec = &request.parent.spec;
        // No retry fixes an invalid selector.
        spec.namespaces.selector.text().map_err(|error| invalid(&error))?;
        let selected = request.related::<Namespace>();
        let selected = selected.iter().collect::<Result<Vec<_>, _>>()?;
        let targets = children::namespaces(spec, selected);
        let key = (spec.source.namespace.as_str(), spec.source.name.as_str());
        let Some(source) = request.related_of_type(("v1", spec.source.kind.as_str())).get(key)
        else {
            return Ok(without_source(request, &targets));
        };
        if let Some(why) = children::refusal(source) {
            anyhow::bail!(Permanent(format!("{} is not copied: {why}", spec.source)));
        }
        let copies = targets.iter().map(|namespace| children::copy(source, namespace));
        Ok(SyncResponse::status(status(request, &targets)).children(copies))
    }
}

fn invalid(error: &InvalidSelector) -> Permanent {
    Permanent(format!("spec.namespaces.selector: {error}; the copies stay as they are"))
}

fn status(request: &SyncRequest<Propagation>, targets: &BTreeSet<String>) -> PropagationStatus {
    let source = &request.parent.spec.source;
    PropagationStatus {
        source: Some(format!("{}/{}", source.namespace, source.name)),
        namespaces: i64::try_from(targets.len()).ok(),
        // Also those that are to go.
        copies: i64::try_from(request.children.iter().count()).ok(),
        ..PropagationStatus::default()
    }
}

/// All copies stay in namespaces that are still selected, also those of another source: the name of the source
/// may be a mistake.
fn without_source(
    request: &SyncRequest<Propagation>,
    targets: &BTreeSet<String>,
) -> SyncResponse<PropagationStatus> {
    let why = format!("{} does not exist; the copies stay as they are", request.parent.spec.source);
    let missing = Condition::new("Ready", false, "SourceMissing", why);
    let conditions = vec![missing.into()];
    let response =
        SyncResponse::status(PropagationStatus { conditions, ..status(request, targets) });
    let is_selected = |copy: &&Object| copy.namespace().is_some_and(|it| targets.contains(it));
    let kept = request.children.iter().filter(is_selected).map(children::kept);
    kept.fold(response, SyncResponse::ensure)
}

#[cfg(test)]
mod tests;
