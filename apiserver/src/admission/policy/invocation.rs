//! Which bindings of a policy a write meets, with their parameters.

use std::sync::Arc;

use serde_json::Value;

use super::{
    frame::{Binding, Frame},
    params,
};
use crate::{
    admission::{
        attributes::{Attributes, Form},
        pass::Pass,
    },
    resource::Resource,
};

/// One evaluation of a policy.
#[derive(Debug)]
pub(super) struct Invocation<'p> {
    pub binding: &'p Binding,
    pub form: Form,
    /// Null where there are none.
    pub params: Value,
}

/// Why a policy could not be evaluated, and the binding that is to blame for it.
pub(super) type Misconfigured<'p> = (Option<&'p Binding>, String);

/// The evaluations of a policy that a write needs, and what prevents others.
pub(super) fn invocations<'p>(
    pass: &Pass<'_>,
    attributes: &Attributes<'_>,
    frame: &'p Frame,
) -> (Vec<Invocation<'p>>, Vec<Misconfigured<'p>>) {
    let misconfigured = |why: String| (Vec::new(), vec![(None, why)]);
    let form = match frame.matching.form(pass.cluster, attributes) {
        Ok(Some(form)) => form,
        Ok(None) => return (Vec::new(), Vec::new()),
        Err(error) => {
            return misconfigured(format!("failed to configure policy: {}", error.message));
        }
    };
    let resource = match params::resource_of(pass.cluster, frame) {
        Ok(resource) => resource,
        Err(why) => return misconfigured(format!("failed to configure policy: {why}")),
    };
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    for binding in &frame.bindings {
        match params_of(pass, attributes, resource.as_ref(), binding) {
            Ok(all) => found.extend(all.into_iter().map(|params| Invocation {
                binding,
                form: form.clone(),
                params,
            })),
            Err(why) => {
                problems.push((Some(binding), format!("failed to configure binding: {why}")));
            }
        }
    }
    (found, problems)
}

/// The parameters of a binding; none if it does not match.
fn params_of(
    pass: &Pass<'_>,
    attributes: &Attributes<'_>,
    resource: Option<&Arc<Resource>>,
    binding: &Binding,
) -> Result<Vec<Value>, String> {
    if let Some(matching) = &binding.matching
        && matching.form(pass.cluster, attributes).map_err(|error| error.message)?.is_none()
    {
        return Ok(Vec::new());
    }
    let resource = resource.map(|resource| &**resource);
    params::collect(pass.cluster, resource, binding, &attributes.asked.namespace)
}
