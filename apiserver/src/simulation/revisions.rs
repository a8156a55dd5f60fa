//! `ControllerRevision`s: the versions of the template of a `StatefulSet` or `DaemonSet`.

use serde_json::{Value, json};

use super::{
    decision::{Decision, Write},
    object::{name, number, owner_reference, text},
    template,
};

/// The label of revisions and Pods with a hash or name.
pub(super) const HASH: &str = "controller-revision-hash";

/// The versions of a template, the oldest first.
#[derive(Debug)]
pub(super) struct Revisions<'a>(Vec<&'a Value>);

impl<'a> Revisions<'a> {
    /// Sorts them.
    pub(super) fn of(mut revisions: Vec<&'a Value>) -> Self {
        revisions.sort_by_key(|revision| number(&revision["revision"]));
        Self(revisions)
    }

    /// The revision of the present template. If there is none yet, or it is not the newest, that is written first.
    pub(super) fn newest(&self, owner: &Value, decision: &mut Decision) -> Option<&'a Value> {
        let data = data(owner);
        let next = self.0.last().map_or(0, |last| number(&last["revision"])) + 1;
        let Some(found) = self.0.iter().copied().find(|revision| revision["data"] == data) else {
            decision.write(Write::Create(revision(owner, &data, next)));
            return None;
        };
        if number(&found["revision"]) + 1 < next {
            decision.patch(found, json!({ "revision": next }));
            return None;
        }
        Some(found)
    }

    /// The revision of a name.
    pub(super) fn named(&self, wanted: &str) -> Option<&'a Value> {
        self.0.iter().copied().find(|revision| name(revision) == wanted)
    }

    /// Deletes the oldest that are not in use, beyond the limit.
    pub(super) fn delete_oldest(&self, owner: &Value, in_use: &[&str], decision: &mut Decision) {
        let limit = owner["spec"]["revisionHistoryLimit"].as_u64().unwrap_or(10);
        let spare: Vec<&Value> =
            self.0.iter().copied().filter(|revision| !in_use.contains(&name(revision))).collect();
        let surplus = spare.len().saturating_sub(usize::try_from(limit).unwrap_or(usize::MAX));
        spare.iter().take(surplus).for_each(|revision| decision.delete(revision));
    }
}

/// The hash of a revision.
pub(super) fn hash(revision: &Value) -> &str {
    text(&revision["metadata"]["labels"][HASH])
}

/// The template that a revision keeps.
pub(super) fn template(revision: &Value) -> Value {
    let mut template = revision["data"]["spec"]["template"].clone();
    if let Some(fields) = template.as_object_mut() {
        fields.remove("$patch");
    }
    template
}

fn revision(owner: &Value, data: &Value, number: i64) -> Value {
    let hash = template::hash(data, 0);
    let mut labels = owner["spec"]["template"]["metadata"]["labels"].clone();
    labels[HASH] = json!(hash);
    json!({
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {
            "name": format!("{}-{hash}", name(owner)),
            "namespace": owner["metadata"]["namespace"],
            "labels": labels,
            "ownerReferences": [owner_reference(owner)],
        },
        "data": data,
        "revision": number,
    })
}

/// A patch that leads back to a template.
fn data(owner: &Value) -> Value {
    let mut template = owner["spec"]["template"].clone();
    template["$patch"] = json!("replace");
    json!({ "spec": { "template": template } })
}
