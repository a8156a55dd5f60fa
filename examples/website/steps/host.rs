//! The name of a website in the zone.

use kube::ResourceExt;
use operetta::{
    operator::admission::{Admission, AdmissionRequest, Operation, Webhook},
    prelude::*,
};

use super::Website;

// ANCHOR: host
pub(crate) fn host(website: &Website) -> String {
    let default = || format!("{}.{}", website.name_any(), website.namespace().unwrap_or_default());
    website.spec.host.clone().unwrap_or_else(default)
}
// ANCHOR_END: host

// ANCHOR: webhook
/// Refuses a website with the host of another one. A host cannot be changed, so the creation is enough.
pub(crate) fn webhook() -> Webhook {
    Webhook::validate("host", is_free).on([Operation::Create])
}

pub(crate) fn is_free(request: &AdmissionRequest<Website>) -> Result<Admission> {
    let website = request.subject();
    let key = |it: &Website| (it.namespace(), it.name_any());
    let websites = request.stores.list::<Website>()?;
    let mut others = websites.iter().filter(|other| key(other) != key(website));
    Ok(match others.find(|other| host(other) == host(website)) {
        Some(other) => {
            let why = format!("the website {} has the host {}", other.name_any(), host(website));
            Admission::invalid("spec.host", why)
        }
        None => Admission::allow(),
    })
}
// ANCHOR_END: webhook
