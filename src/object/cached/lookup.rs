//! Single values of an object, without a Rust type of it. Parses what it returns.

use std::borrow::Cow;

use serde_json::Value;

use super::Object;
use crate::object::json::RawFields;

impl Object {
    /// The value at a JSON pointer (RFC 6901), for example `/spec/replicas`. Not the whole object,
    /// and not `apiVersion` and `kind`, which are in [`ty`](Object::ty).
    pub fn pointer(&self, pointer: &str) -> Option<Value> {
        let rest = pointer.strip_prefix('/')?;
        let (name, inner) = rest.split_once('/').unwrap_or((rest, ""));
        let field = self.field(&name.replace("~1", "/").replace("~0", "~"))?;
        match inner {
            "" => Some(field),
            inner => field.pointer(&format!("/{inner}")).cloned(),
        }
    }

    /// The value of a label.
    pub fn label(&self, name: &str) -> Option<Cow<'_, str>> {
        if self.0.fields.lack_label(name) {
            return None;
        }
        self.of_metadata("labels", |text| {
            let labels: RawFields<'_> = serde_json::from_str(text).ok()?;
            labels.text(name).ok()?.map(|value| Cow::Owned(value.into_owned()))
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::object::{K8sType, KeptManagers};

    #[test]
    fn values_are_found_by_pointer_and_labels_by_name() {
        let value = json!({
            "metadata": {"name": "a", "uid": "u", "resourceVersion": "1", "labels": {"l": "v"}},
            "spec": {"list": [{"x": 1}], "a/b": "slash"},
        });
        let ty = K8sType::cluster_scoped("v1", "Thing", "things");
        let object = Object::from_value(&ty, &value, &KeptManagers::default()).unwrap();
        for (pointer, found) in [
            ("/spec/list/0/x", Some(json!(1))),
            ("/spec/a~1b", Some(json!("slash"))),
            ("/spec", Some(value["spec"].clone())),
            ("/metadata/labels/l", Some(json!("v"))),
            ("/spec/nothing", None),
            ("/nothing/x", None),
            ("spec", None),
        ] {
            assert_eq!(object.pointer(pointer), found, "{pointer}");
        }
        assert_eq!((object.label("l").as_deref(), object.label("m")), (Some("v"), None));
    }
}
