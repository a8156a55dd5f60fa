//! One object that the server creates for itself.

use serde_json::Value;

use crate::{
    cluster::Cluster,
    log::ObjectKey,
    resource::Resource,
    write::{self, Applied, Complaints, WriteOptions},
};

/// Creates an object that does not exist; says whether it did so.
pub(super) fn create(
    cluster: &Cluster,
    resource: &Resource,
    mut object: Value,
    manager: &str,
) -> bool {
    let key = ObjectKey::new("", object["metadata"]["name"].as_str().unwrap_or_default());
    if cluster.log.get(&resource.storage, &key).is_some() {
        return false;
    }
    let options = WriteOptions { manager: manager.to_owned(), ..WriteOptions::default() };
    let decoded = write::decode(resource, &mut object, options.validation, Complaints::default());
    // Another request may have created it meanwhile.
    decoded.is_ok() && write::create(cluster, resource, "", object, Applied::No, &options).is_ok()
}
