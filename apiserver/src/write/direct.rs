//! Changes an object past its field managers and its validation, as the endpoints of the server itself do:
//! a binding, the condition of an evicted Pod.

use std::sync::Arc;

use serde_json::Value;

use super::{Complaints, FieldValidation, decode::decode, strategy};
use crate::{
    cluster::Cluster,
    log::{Event, Expect, Object, ObjectKey, Refused, Write},
    resource::Resource,
    status::{Result, StatusError},
};

/// Changes an object; `change` is called again on a newer one after a concurrent write.
pub(crate) fn change_directly(
    cluster: &Cluster,
    resource: &Resource,
    key: &ObjectKey,
    dry_run: bool,
    change: &dyn Fn(&mut Value) -> Result<()>,
) -> Result<Arc<Object>> {
    loop {
        let Some((object, live)) = cluster.read(resource, key) else {
            return Err(StatusError::not_found(&resource.id, &key.name));
        };
        let mut next = live.clone();
        change(&mut next)?;
        decode(resource, &mut next, FieldValidation::Ignore, Complaints::default())
            .map_err(|error| StatusError::internal(error.to_string()))?;
        if next == live {
            return Ok(object);
        }
        let value = strategy::to_storage(resource, next);
        if dry_run {
            return Ok(Arc::new(Object::encode(
                Event::Modified,
                &value,
                strategy::epoch(resource),
            )));
        }
        let write = Write {
            resource: &resource.storage,
            key: key.clone(),
            expect: Expect::Version(object.meta.resource_version),
            delete: false,
            value,
            epoch: strategy::epoch(resource),
        };
        match cluster.log.commit(write) {
            Ok(object) => return Ok(object),
            Err(Refused::Outrun(_)) => {}
            Err(Refused::TooLarge(why)) => return Err(StatusError::internal(why)),
        }
    }
}
