//! What a version cannot hold: kept in an annotation, and restored. Pure.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// The annotation: for each version the fields that only it has, by path.
pub(crate) const FIELDS_OF_VERSIONS: &str = "operetta.dev/fields-of-versions";

/// Field paths with their values.
type Fields = BTreeMap<String, Value>;

/// Puts the fields of `from` that `to` cannot hold into the annotation of the converted object, and the fields of `to` that
/// are in that annotation into their place. The converted object has the metadata of the original.
pub(super) fn carry(
    original: &Value,
    mut converted: Value,
    (from, lost): (&str, &[String]),
    to: &str,
) -> Value {
    let mut kept = annotation(&converted);
    let found = lost.iter().filter_map(|path| Some((path.clone(), at(original, path)?.clone())));
    let found: Fields = found.collect();
    if found.is_empty() {
        kept.remove(from);
    } else {
        kept.insert(from.to_owned(), found);
    }
    for (path, value) in kept.remove(to).unwrap_or_default() {
        restore(&mut converted, &path, value);
    }
    annotate(&mut converted, &kept);
    converted
}

fn annotation(object: &Value) -> BTreeMap<String, Fields> {
    let text = object["metadata"]["annotations"][FIELDS_OF_VERSIONS].as_str().unwrap_or_default();
    // Somebody may have edited it: what cannot be read is not restored.
    serde_json::from_str(text).unwrap_or_default()
}

fn annotate(object: &mut Value, kept: &BTreeMap<String, Fields>) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    if kept.is_empty() {
        if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
            annotations.remove(FIELDS_OF_VERSIONS);
            if annotations.is_empty() {
                metadata.remove("annotations");
            }
        }
        return;
    }
    let text = serde_json::to_string(kept).unwrap_or_default();
    let annotations = metadata.entry("annotations").or_insert_with(|| Value::Object(Map::new()));
    if let Some(annotations) = annotations.as_object_mut() {
        annotations.insert(FIELDS_OF_VERSIONS.to_owned(), Value::String(text));
    }
}

/// The value at a path such as `spec.storage.class`.
fn at<'a>(object: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(object, |value, name| value.get(name)).filter(|value| !value.is_null())
}

/// Sets a field that is not there. The object above it may have been removed meanwhile: then the field has no place.
fn restore(object: &mut Value, path: &str, value: Value) {
    let (above, name) = path.rsplit_once('.').unwrap_or(("", path));
    let mut names = above.split('.').filter(|name| !name.is_empty());
    let place =
        names.try_fold(object, |value, name| value.get_mut(name)).and_then(Value::as_object_mut);
    if let Some(place) = place
        && place.get(name).is_none_or(Value::is_null)
    {
        place.insert(name.to_owned(), value);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn lost(path: &str) -> Vec<String> {
        vec![path.to_owned()]
    }

    fn without(object: &Value, name: &str) -> Value {
        let mut object = object.clone();
        object["spec"].as_object_mut().unwrap().remove(name);
        object
    }

    #[test]
    fn a_field_that_a_version_cannot_hold_comes_back() {
        let new = json!({"metadata": {"name": "a"}, "spec": {"size": 1, "class": "fast"}});
        let old = carry(&new, without(&new, "class"), ("v1", &lost("spec.class")), "v1alpha1");
        assert_eq!(
            old["metadata"]["annotations"][FIELDS_OF_VERSIONS],
            json!(r#"{"v1":{"spec.class":"fast"}}"#)
        );
        let back = carry(&old, old.clone(), ("v1alpha1", &[]), "v1");
        assert_eq!(back, new, "without the annotation");
    }

    #[test]
    fn what_was_changed_meanwhile_wins() {
        let new = json!({"metadata": {}, "spec": {"class": "fast"}});
        let old = carry(&new, without(&new, "class"), ("v1", &lost("spec.class")), "v1alpha1");
        let mut changed = old.clone();
        changed["spec"]["class"] = json!("slow");
        assert_eq!(carry(&old, changed, ("v1alpha1", &[]), "v1")["spec"]["class"], "slow");
        let removed = json!({"metadata": {}});
        let back = carry(&old, removed.clone(), ("v1alpha1", &[]), "v1");
        assert_eq!(back, removed, "what contained it is gone");
    }

    #[test]
    fn other_annotations_stay_and_one_that_somebody_edited_restores_nothing() {
        let text = |text: &str| json!({"metadata": {"annotations": {FIELDS_OF_VERSIONS: text, "own": "1"}}, "spec": {}});
        for edited in ["", "{", "[]", "{\"v1\":3}"] {
            let converted = carry(&text(edited), text(edited), ("v1alpha1", &[]), "v1");
            assert_eq!(converted["metadata"]["annotations"], json!({"own": "1"}), "{edited}");
        }
    }

    #[test]
    fn the_fields_of_several_versions_are_kept_apart() {
        let of_alpha = json!({"metadata": {}, "spec": {"old": 1}});
        let hub =
            carry(&of_alpha, without(&of_alpha, "old"), ("v1alpha1", &lost("spec.old")), "v1");
        let mut hub = hub;
        hub["spec"]["new"] = json!(2);
        let beta = carry(&hub, without(&hub, "new"), ("v1", &lost("spec.new")), "v1beta1");
        let kept = annotation(&beta);
        assert_eq!(kept.keys().collect::<Vec<_>>(), ["v1", "v1alpha1"]);
        let hub = carry(&beta, beta.clone(), ("v1beta1", &[]), "v1");
        let alpha = carry(&hub, without(&hub, "new"), ("v1", &lost("spec.new")), "v1alpha1");
        assert_eq!(alpha["spec"], json!({"old": 1}));
    }
}
